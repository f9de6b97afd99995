# The tasks that read files, end to end on small made-up files: sweep --data, report, score, show. The embedded model
# cannot solve them; the way through the program must hold.
. "$(dirname "$0")/lib.sh"
rm -rf data out again one old zh gpqa
mkdir -p data/aime data/math500 data/gpqa data/longbench

cat >data/aime/aime24.jsonl <<'END'
{"id": "a24-1", "problem": "A shelf holds 12 jars of 17 marbles. How many marbles?", "answer": "204"}
{"id": "a24-2", "problem": "Half of a flock of 90 birds flies off. How many stay?", "answer": "045"}
END
cat >data/aime/aime25.jsonl <<'END'
{"problem_idx": 1, "problem": "What is the remainder of 1001 modulo 7?", "answer": 0}
END
cat >data/math500/test.jsonl <<'END'
{"unique_id": "made/up/1.json", "problem": "Simplify $\\frac{6}{8}$.", "answer": "\\frac{3}{4}", "solution": "Divide."}
END
cat >data/gpqa/gpqa_diamond.csv <<'END'
Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3,Record ID
"ZEBRAQUESTION, which of
these floats?",ZEBRACORK,ZEBRALEAD,ZEBRAIRON,ZEBRAGOLD,recOne
ZEBRAQUESTION again?,ZEBRAA,ZEBRAB,ZEBRAC,ZEBRAD,recTwo
ZEBRAQUESTION once more?,ZEBRAE,ZEBRAF,ZEBRAG,ZEBRAH,recThree
END
cat >data/longbench/qasper.jsonl <<'END'
{"_id": "q1", "dataset": "qasper", "input": "Who slept?", "context": "The grey cat slept on the mat.", "answers": ["the grey cat", "a cat"]}
END
# triviaqa is of the kind where no chat form is added and only the first line counts.
cat >data/longbench/triviaqa.jsonl <<'END'
{"_id": "t1", "dataset": "triviaqa", "input": "Who barked?\nAnswer:", "context": "The dog barked.", "answers": ["dog"]}
END
cat >run.json <<'END'
{"model": "pocket", "max_new_tokens": 4, "min_new_tokens": 4, "policies": ["full"],
 "tasks": ["aime24", "aime25", "math500", "gpqa_diamond",
           {"name": "longbench", "subset": "qasper"}, {"name": "longbench", "subset": "triviaqa"}]}
END

# column NAME LABEL: a column of the rows with that label. No field before the last ones holds a comma here.
column() {
    awk -F, -v name="$1" -v label="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        $2 == label { out = out (out == "" ? "" : " ") $at } END { print out }' out/report/accuracy.csv
}
check_column() { # check_column NAME LABEL WANT
    [ "$(column "$1" "$2")" = "$3" ] || fail "$1 of $2 is $(column "$1" "$2"), want $3"
}

fails 2 run.json tasks.0 --data aime/aime24.jsonl -- sweep run.json -o out -t aime24
fails 2 run.json --data aime/aime24.jsonl aime/aime25.jsonl math500/test.jsonl gpqa/gpqa_diamond.csv -- sweep run.json -o out
run 0 sweep run.json --data data --dry-run --calibrate no
grep -q '^total  *9 ' stdout.txt || fail "dry run: $(cat stdout.txt)"
run 0 sweep run.json -o out --data data
grep -q '^report: out/report/report.md' stdout.txt || fail "sweep said: $(cat stdout.txt)"
qasper='full/longbench subset=qasper'
trivia='full/longbench subset=triviaqa'
check_column jobs full '2 1 1 3'
check_column task full 'aime24 aime25 math500 gpqa_diamond'
check_column correct full '0 0 0 0'
check_column errors full '0 0 0 0'
check_column task "$trivia" longbench
check_column jobs "$qasper" 1
check_column unfinished "$trivia" 0 # without a chat form no thinking is open
verdicts=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^(correct|wrong|ambiguous|unparsed|unfinished|truncated|errors)$/) at[i] }
    NR > 1 { for (i in at) n += $i } END { print n }' out/report/accuracy.csv)
[ "$verdicts" = 9 ] || fail "the verdict columns add up to $verdicts, not 9: $(cat out/report/accuracy.csv)"
run 0 score out
grep -q '^grader .*, 9 of 9 completions: .* 0 error$' stdout.txt || fail "score said: $(cat stdout.txt)"

# The grader gets the data set's name back: the answer that was decoded, made the accepted one, is correct.
rm -rf lm
run 0 export out --format lm-eval -o lm/out
said=$(sed -n 's/.*"resps":\[\["\([^"\\]*\).*/\1/p' lm/out/*/samples_*triviaqa*.jsonl)
[ -n "$said" ] || fail "nothing was decoded: $(cat lm/out/*/samples_*triviaqa*.jsonl)"
sed -i "s/\"answers\": \[\"dog\"\]/\"answers\": [\"cow\", \"$said\"]/" data/longbench/triviaqa.jsonl
run 0 sweep run.json -o out --data data
grep -q '9 jobs, 9 done' stderr.txt || fail "another reference answer decoded again: $(cat stderr.txt)"
check_column correct "$trivia" 1
check_column accuracy "$trivia" 1
check_column accuracy "$qasper" 0
run 0 report out
check_column accuracy "$trivia" 1
run 0 report out --against out
[ "$(wc -l <out/report/against.csv)" = 7 ] || fail "two data sets were taken for one: $(cat out/report/against.csv)"
# A folder whose problems lack the data set's name is not graded, and does not crash.
cp -r out old
sed -i 's/"subset":"[a-z]*",//' old/problems/longbench*.jsonl
reseal old
run 0 score old
grep -q ' 2 error$' stdout.txt || fail "problems without their data set: $(cat stdout.txt)"
run 0 show out triviaqa t1
mentions stdout.txt correct: qa_f1_score 1.0000
grep -q 'The dog barked.' stdout.txt || fail "show has no prompt: $(cat stdout.txt)"
run 0 show out aime24 a24-2
grep -q '^045$' stdout.txt || fail "show has no reference answer: $(cat stdout.txt)"

# Problems that are left out take no answers with them.
rm -rf picked
for n in 204 25 809 116 104; do
    echo "{\"problem\": \"Which number did bird $n sing?\", \"answer\": \"$n\"}"
done >birds.jsonl
run 0 sweep run.json -o picked --set 'tasks=[{"name": "aime24", "file": "birds.jsonl"}]' --sample-ids '{"aime24": [1, 2, 4]}'
[ "$(grep -o '"golds":[^]]*' picked/problems/*.jsonl | tr -dc '0-9\n' | tr '\n' ' ')" = '25 809 104 ' ] ||
    fail "answers of other problems: $(cat picked/problems/*.jsonl)"

# trec is scored as a classification, by the classes that its problems keep in the folder.
cat >data/longbench/trec.jsonl <<'END'
{"_id": "c1", "dataset": "trec", "input": "Question: Who barked?\nType:", "context": "Question: Who slept?\nType: Person", "answers": ["Person"], "all_classes": ["Person", "Date"]}
END
cat >trec.json <<'END'
{"model": "pocket", "max_new_tokens": 4, "policies": ["full"], "tasks": [{"name": "longbench", "subset": "trec"}]}
END
run 0 sweep trec.json -o one --data data
run 0 score one
grep -q ', 1 of 1 completions: .* 0 error$' stdout.txt || fail "trec: $(cat stdout.txt)"
grep -q '"all_classes":\["Person","Date"\]' one/problems/longbench*.jsonl || fail "the classes are not kept"
if grep -rq segmenter one/report; then
    fail "a segmenter is named where none was used"
fi

# Chinese texts: the results say which segmenter made them; kept grades stay when the dictionary is not there.
cat >data/longbench/vcsum.jsonl <<'END'
{"_id": "v1", "dataset": "vcsum", "input": "", "context": "研究生命的起源", "answers": ["研究生命的起源"]}
END
sed 's/trec/vcsum/; s/"max_new/"chat": "none", &/' trec.json >vcsum.json
run 0 sweep vcsum.json -o zh --data data --zh-dict "$source_dir/tests/answer_check/textscore/zh_dict"
grep -q 'grader [0-9]*, segmenter=jieba' zh/report/report.md || fail "the report names no segmenter"
run 0 export zh --format lm-eval -o lm/zh
grep -q '"segmenters":\["jieba"\]' lm/zh/*/samples_*.jsonl || fail "the samples name no segmenter"
cp zh/grades/*.jsonl kept.jsonl
run 0 report zh
same kept.jsonl "$(ls zh/grades/*.jsonl)"
grep -q segmenter=jieba zh/report/report.md || fail "the report changed its segmenter"
sed -i 's/"jieba"/"char"/' zh/grades/*.jsonl
reseal zh
run 0 report zh --zh-dict "$source_dir/tests/answer_check/textscore/zh_dict"
same kept.jsonl "$(ls zh/grades/*.jsonl)"
# The option held for one of the two runs only (shows where python3-jieba is not installed).
rm -rf zh_old
cp -r zh zh_old
rm -r zh_old/grades
run 0 report zh --against zh_old --zh-dict "$source_dir/tests/answer_check/textscore/zh_dict"
[ "$(wc -l <zh/report/against.csv)" = 2 ] || fail "nothing is compared: $(cat zh/report/against.csv)"
grep -q grader zh/report/against.csv && fail "the other run has another segmenter: $(cat zh/report/against.csv)"
fails 2 nowhere/dict.txt -- report zh --zh-dict nowhere
fails 2 nowhere/dict.txt -- score zh --zh-dict nowhere

# GPQA: no text of a problem anywhere in the folder; the order of the options is the record's own and stands with it.
if grep -rl ZEBRA out; then
    fail "a GPQA text is kept"
fi
run 0 show out gpqa recTwo
grep -q '^options shown as A, B, ...: the record.s [ABCD]\{4\}$' stdout.txt || fail "show: $(cat stdout.txt)"
mentions stdout.txt 'not kept'
orders() { # orders DIR: record, order and letter of the correct option (A of the record)
    sed -n 's/.*"golds":\["\([A-D]\)"\],"id":"\([^"]*\)".*"option_order":"\([A-D]*\)".*/\2 \3 \1/p' "$1"/problems/gpqa*.jsonl | sort
}
orders out >orders.txt
[ "$(wc -l <orders.txt)" = 3 ] || fail "not every problem has its order: $(cat out/problems/gpqa*.jsonl)"
while read -r record order letter; do
    before=${order%%A*}
    [ "$(printf 'ABCD' | cut -c $((${#before} + 1)))" = "$letter" ] || fail "$record: order $order, but the answer is $letter"
    grep -q "\"option_order\":\"$order\".*\"id\":\"$record\"\|\"id\":\"$record\".*\"option_order\":\"$order\"" lm/out/*/samples_*gpqa*.jsonl ||
        fail "the sample of $record lacks its order $order"
    grep -q "\"problem\":\"$record\".*\"option_order\":\"$order\"" out/journal/*.jsonl || fail "the journal of $record lacks $order"
done <orders.txt
# An export spreads GPQA's completions only on an explicit word.
cp -r out gpqa
run 0 export gpqa --format inspect -o lm/logs
mentions stderr.txt '3 completions' withheld
[ "$(grep -l 'withheld: the data set' lm/logs/*.json | wc -l)" = 1 ] || fail "withheld: $(grep -l withheld lm/logs/*)"
run 0 export gpqa --format inspect -o lm/logs --force --restricted-texts
grep -q withheld stderr.txt && fail "export said: $(cat stderr.txt)"
grep -rq withheld lm/logs && fail "texts are withheld in spite of --restricted-texts"
# So does a comparison, in files and on standard output, which may be a log: with other verdicts its problems flip.
rm -rf flipped
cp -r gpqa flipped
sed -i 's/"score":[0-9.]*,/"score":1.0,/; s/"verdict":"[a-z]*"/"verdict":"correct"/' flipped/grades/*.jsonl
reseal flipped
for form in '' --md --json; do
    run 0 compare gpqa:gpqa_diamond flipped:gpqa_diamond --flips -1 $form
    grep -q recTwo stdout.txt || fail "compare $form flips nothing: $(cat stdout.txt)"
    mentions stdout.txt withheld:
done
run 0 compare gpqa:aime24 flipped:aime24 --flips -1
grep -q a24-1 stdout.txt && ! grep -q withheld stdout.txt || fail "compare withholds AIME: $(cat stdout.txt)"
# It depends neither on the other records nor on their sequence.
{ head -n 1 data/gpqa/gpqa_diamond.csv; tail -n 1 data/gpqa/gpqa_diamond.csv; sed -n 4p data/gpqa/gpqa_diamond.csv; } >two.csv
mv two.csv data/gpqa/gpqa_diamond.csv
run 0 sweep run.json -o again --data data --tasks gpqa_diamond
orders again >again.txt
[ "$(cat again.txt)" = "$(grep -v recOne orders.txt)" ] || fail "orders changed: $(cat again.txt), before $(cat orders.txt)"
# samsum ends at the token of a line end, which cannot be its first: here it is the likeliest first one.
cat >data/longbench/samsum.jsonl <<'END'
{"_id": "s1", "dataset": "samsum", "input": "boxed{912}", "context": "C", "answers": ["x"]}
END
echo '{"model": "pocket", "max_new_tokens": 40, "policies": ["full"], "tasks": [{"name": "longbench", "subset": "samsum"}]}' >samsum.json
rm -rf samsum
run 0 sweep samsum.json -o samsum --data data
run 0 export samsum --format lm-eval -o lm/samsum
grep -q '"resps":\[\["[^"\\]\+"\]\]' lm/samsum/*/samples_*.jsonl || fail "samsum: $(cat lm/samsum/*/samples_*.jsonl)"
grep -q '^pocket.*,s1,0,[1-9][0-9]*,stop,' samsum/report/lengths.csv || fail "samsum: $(cat samsum/report/lengths.csv)"
finish
