# Problems that stand in a file more than once, and files that are not the set whose name they bear: made-up problems with
# the answers of AIME.
. "$(dirname "$0")/lib.sh"
rm -rf data out other
mkdir -p data/aime data/longbench
answers24='204 25 809 116 104 294 540 197 480 113 371 385 110 104 721 73 236 45 33 80 55 699 127 902 468 601 23 321 211 315'
answers25='70 588 16 117 279 504 821 77 62 81 259 510 204 60 735 468 49 82 106 336 293 237 610 149 907 113 19 248 104 240'
problems() { # problems ANSWER...: a row for each, without ids
    local i=0 answer
    for answer; do
        i=$((i + 1))
        echo "{\"problem\": \"Which number did bird $i sing?\", \"answer\": \"$answer\"}"
    done
}
problems $answers24 >a24.jsonl
problems $answers25 >a25.jsonl
problems $(seq 1000 1029) >invented.jsonl
for _ in 1 2 3 4; do cat a24.jsonl; done >x4.jsonl
{ head -n 3 a24.jsonl; sed 's/bird/cow/' invented.jsonl | tail -n 27; } >three.jsonl
head -n 2 a24.jsonl >two.jsonl
cat >run.json <<'END'
{"model": "pocket", "max_new_tokens": 4, "policies": ["full", {"name": "quest", "k_pages": 8}], "tasks": ["aime24"],
 "published": {"file": "figures.jsonl"}}
END
for policy in '"full", "settings": {"problems": 30}' '"quest", "settings": {"k_pages": 8, "problems": 30}'; do
    echo "{\"paper\": \"p\", \"where\": \"Table 1\", \"model\": \"pocket\", \"task\": \"aime24\", \"metric\": \"accuracy\", \"value\": 50.4, \"unit\": \"percent\", \"policy\": $policy}"
done >figures.jsonl
task() { # task FIELDS: the options that set the run file's only task
    printf 'tasks=[{"name": %s}]' "$1"
}
dry() { # dry CODE FIELDS
    run "$1" sweep run.json --dry-run --calibrate no --data data --set "$(task "$2")"
}

# Repeated problems: refused with the rows, or one problem.
fails 2 x4.jsonl 90 120 'line 31' 'line 1,' '"samples": 4' '"duplicates": "fold"' -- \
    sweep run.json -o out --set "$(task '"aime24", "file": "x4.jsonl"')"
[ ! -e out ] || fail "a refused file made a folder"
run 0 sweep run.json -o out --set "$(task '"aime24", "file": "x4.jsonl", "duplicates": "fold"')"
mentions stderr.txt 90 'are folded' '30 problems'
mentions stderr.txt aime24 'AIME 2024, all 30' 'by their answers'
[ "$(wc -l <"$(ls out/problems/*.jsonl)")" = 30 ] || fail "folded: $(wc -l out/problems/*.jsonl)"
# With texts of their own they are not what the paper asked.
mentions out/report/report.md 'left out' 'AIME 2024, all 30 by their answers'
[ "$(wc -l <out/report/published.csv)" = 1 ] || fail "figures stand beside other texts: $(cat out/report/published.csv)"
mentions out/report/report.md 'published set'
run 0 report out # from the folder alone
mentions out/report/report.md 'left out' 'AIME 2024, all 30 by their answers'
{ cat a24.jsonl; echo '{"problem": "Which number did bird 7 sing?", "answer": "541"}'; } >two_answers.jsonl
fails 2 two_answers.jsonl:31 'line 7' answer -- sweep run.json -o other --set "$(task '"aime24", "file": "two_answers.jsonl", "duplicates": "fold"')"
fails 2 duplicates refuse fold -- sweep run.json -o other --set "$(task '"aime24", "file": "x4.jsonl", "duplicates": "keep"')"
# Texts that differ, but not for the model, whose tokenizer drops nothing: the same prompt by another way in.
printf '{"id": "%s", "%s": "%s", "gold": "2"}\n' a prompt '1+1' b rendered '<|User|>1+1<|Assistant|><think>\n' >ways.jsonl
fails 2 relay 'same prompt' a b -- sweep run.json -o other --set "$(task '"pocket.relay", "file": "ways.jsonl"')"

# What a file is, beside its name.
while IFS='|' read -r code fields words; do
    dry "$code" "$fields"
    IFS=';' read -ra list <<<"$words"
    [ "$code" = 0 ] && mentions stdout.txt "${list[@]}" || mentions stderr.txt "${list[@]}"
done <<'END'
0|"aime24", "file": "a24.jsonl"|aime24: AIME 2024, all 30
0|"aime25", "file": "a25.jsonl"|aime25: AIME 2025, all 30
0|"aime24", "file": "a24.jsonl", "problems": 15|aime24: 15 of AIME 2024's 30
0|"aime24", "file": "two.jsonl"|aime24: 2 of AIME 2024's 30
0|"aime24", "file": "three.jsonl"|aime24: not AIME 2024: 3 of 30 answers;name the task otherwise
0|"aime24", "file": "invented.jsonl"|aime24: not AIME 2024: 0 of 30 answers
0|"aime24", "file": "invented.jsonl", "as": "aime26"|aime26: not AIME 2026: 0 of 30 answers;otherwise
0|"math500", "file": "invented.jsonl"|math500: not MATH-500: 0 of 500 problems
END
run 0 sweep run.json --dry-run --calibrate no --set "$(task '"aime24", "file": "a24.jsonl"')" --sample-ids '{"aime24": [1, 2, 4]}'
mentions stdout.txt "3 of AIME 2024's 30"
dry 0 '"aime24", "file": "invented.jsonl", "as": "mine"'
mentions stdout.txt 'mine: not AIME 2024'
grep -q 'name the task otherwise' stdout.txt && fail "a task that is named otherwise shall be named otherwise"
fails 2 a25.jsonl 'AIME 2025' 'not of AIME 2024' 'name the task "aime25"' -- sweep run.json -o other --set "$(task '"aime24", "file": "a25.jsonl"')"
fails 2 a24.jsonl 'AIME 2024' 'AIME 2026' -- sweep run.json -o other --set "$(task '"aime24", "file": "a24.jsonl", "as": "aime26"')"
fails 2 math500 'AIME 2024' '"aime24"' -- sweep run.json -o other --set "$(task '"math500", "file": "a24.jsonl"')"
cp a25.jsonl data/aime/aime24.jsonl # under the default name, too
fails 2 data/aime/aime24.jsonl 'AIME 2025' -- sweep run.json -o other --data data
echo '{"_id": "t", "dataset": "trec", "input": "Who?", "context": "C", "answers": ["x"], "all_classes": ["x"]}' >data/longbench/qasper.jsonl
fails 2 data/longbench/qasper.jsonl:1 trec qasper subset -- sweep run.json -o other --data data --set "$(task '"longbench", "subset": "qasper"')"
printf '%s\n' 'Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3' r1,What,a,b,c,d >g.csv
fails 2 g.csv order simple-evals 'fetch gpqa_diamond' -- sweep run.json -o other --set "$(task '"gpqa_diamond", "file": "g.csv", "order": "simple-evals"')"
dry 0 '"gpqa_diamond", "file": "g.csv"'
mentions stdout.txt 'not GPQA-Diamond' published

# list tasks says it of every file that is there; the console and the report of a run that is misnamed warn.
cp a24.jsonl data/aime/aime25.jsonl
run 0 list tasks --data data
mentions stdout.txt data/aime/aime24.jsonl 'AIME 2025'
mentions stdout.txt data/aime/aime25.jsonl 'AIME 2024'
mentions stdout.txt data/longbench/qasper.jsonl:1 trec
cp a24.jsonl data/aime/aime24.jsonl
run 0 list tasks --data data
mentions stdout.txt 'AIME 2024, all 30'
run 0 sweep run.json -o other --set "$(task '"aime24", "file": "three.jsonl"')"
mentions stderr.txt warning aime24 'not AIME 2024: 3 of 30 answers'
mentions other/report/report.md 'not AIME 2024: 3 of 30 answers'
[ "$(wc -l <other/report/published.csv)" = 1 ] || fail "figures stand beside invented problems: $(cat other/report/published.csv)"
# The same run with the set itself, as the folder would say it.
sed -i 's/"set": "not[^"]*"/"set": "AIME 2024, all 30"/; s/"set_size": 30/"set_first": 30, &/; /"misnamed"/d' other/config.resolved.json
run 0 report other
[ "$(wc -l <other/report/published.csv)" = 3 ] || fail "no figures beside the set: $(cat other/report/published.csv)"
sed -i 's/"set_first": 30/"set_first": 15/' other/config.resolved.json
run 0 report other
[ "$(wc -l <other/report/published.csv)" = 1 ] || fail "figures of 30 beside 15: $(cat other/report/published.csv)"
finish
