# kveval export: what it refuses, what it says, and that nothing is left behind when it cannot finish.
. "$(dirname "$0")/lib.sh"
tiny=$here/tiny.json
rm -rf out lm light logs all.csv part small file made.* invented
run 0 sweep "$tiny" -o out --limit 2 --tasks relay --quiet

fails 2 --format lm-eval csv -- export out -o lm
fails 2 -o missing -- export out --format csv
fails 2 '"lmeval"' lm-eval csv -- export out --format lmeval -o lm
fails 2 nowhere: RUN.json -- export nowhere --format csv -o all.csv

run 0 export out --format csv -o all.csv
[ "$(cat stdout.txt)" = '1 file with 16 completions: all.csv' ] || fail "csv said: $(cat stdout.txt)"
fails 2 all.csv --force -- export out --format csv -o all.csv
run 0 export out --format csv -o all.csv --force
fails 2 out already -- export out --format csv -o out --force
run 0 export out --format lm-eval -o lm
[ "$(ls lm | wc -l)" = 8 ] || fail "systems: $(ls lm)"
run 0 export out --format lighteval -o light
run 0 export out --format inspect -o logs
[ "$(ls logs/*.json | wc -l)" = 8 ] || fail "logs: $(ls logs)"
# The same run folder gives the same bytes.
cp -r lm before
run 0 export out --format lm-eval -o lm --force
diff -r lm before >/dev/null || fail "a second export differs: $(diff -rq lm before)"
rm -rf before

# Made-up problems left as "aime24", a name that says whose problems they are; under a name of their own they keep it.
printf '%s\n' '{"id": "one", "problem": "What is 2 + 3?", "answer": "5"}' '{"id": "two", "problem": "What is 2 + 4?", "answer": "6"}' >made.jsonl
echo '{"id": "three", "problem": "What is 9 + 4?", "answer": "13"}' >made.sums.jsonl
cat >made.json <<'END'
{"model": "pocket", "max_new_tokens": 4, "policies": ["full"],
 "tasks": [{"name": "aime24", "file": "made.jsonl"}, {"name": "aime24", "as": "sums", "file": "made.sums.jsonl"}]}
END
run 0 sweep made.json -o invented -q
for format in lm-eval lighteval inspect csv; do
    run 0 export invented --format $format -o made.$format
    mentions stderr.txt warning: aime24 'not AIME 2024'
    grep -rqF aime24_other_problems made.$format || fail "$format calls made-up problems those of AIME"
    grep -rqF sums made.$format || fail "$format has another name for \"as\""
    ! grep -rqF sums_other made.$format || fail "$format renames \"as\""
done
[ -e made.lm-eval/*/samples_aime24_other_problems_*.jsonl ] || fail "samples of made-up problems: $(find made.lm-eval)"
grep -q '"problems": "not AIME 2024' made.lm-eval/*/results_*.json || fail "the results do not say whose problems they are not"

# A part of a run, only when that is asked for.
cp -r out part
sed -i '$d' part/journal/*.jsonl
fails 3 '1 of 16' --partial -- export part --format inspect -o none
[ ! -e none ] || fail "a refused export left a folder"
run 0 export part --format inspect -o logs/part --partial
mentions stderr.txt '1 of 16'

# No room: one sentence, and nothing stays, not even the folder.
for format in lm-eval lighteval inspect; do
    message=$(
        trap '' XFSZ
        ulimit -f 1
        "$program" export out --format $format -o small 2>&1
        echo "exit $?"
    )
    [ "$(sed '$d' <<<"$message" | wc -l)" = 1 ] || fail "no room for $format said: $message"
    grep -q '^kveval: cannot write small/.*: the file size limit is reached; nothing was exported' <<<"$message" || fail "no room for $format: $message"
    [ "${message##* }" = 3 ] || fail "no room for $format: $message"
    [ ! -e small ] || fail "no room for $format left $(find small)"
done
# The report's LaTeX tables, where it is installed.
if command -v pdflatex >/dev/null; then
    printf '%s\n' '\documentclass{article}' '\usepackage{booktabs}' '\begin{document}' '\input{out/report/tables.tex}' '\end{document}' >tables_test.tex
    pdflatex -interaction=nonstopmode -halt-on-error tables_test.tex >latex.txt 2>&1 || fail "tables.tex: $(tail -n 20 latex.txt)"
else
    echo "pdflatex is not installed: tables.tex was not compiled" >&2
fi
if [ "$(id -u)" != 0 ]; then
    mkdir file
    chmod 500 file
    run 3 export out --format csv -o file/all.csv
    mentions stderr.txt file/all.csv
    chmod 700 file
fi
finish
