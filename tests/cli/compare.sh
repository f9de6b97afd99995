# kveval compare: what the two sides may be, the verdict, what it refuses, its files, and hostile answers.
. "$(dirname "$0")/lib.sh"
rm -rf out other part asked *.md *.html *.json
cat >run.json <<'END'
{"model": "pocket", "max_new_tokens": 250, "tasks": [{"name": "pocket.lookup", "steps": 12, "problems": 12}, {"name": "pocket.relay", "steps": 3, "problems": 4}],
 "policies": ["full", {"name": "quest", "k_pages": [1, 1000]}], "baseline": "full"}
END
run 0 sweep run.json -o out --quiet

# Two policy settings over all tasks; two cells; a run and itself.
run 0 compare out full 'quest k_pages=1' --flips 1
cp stdout.txt one.txt
grep -q '^A  out:full, reads 100 %$' one.txt || fail "no line on A: $(cat one.txt)"
grep -q '^lookup  *12 ' one.txt && grep -q '^all  *16 ' one.txt || fail "no table: $(cat one.txt)"
mentions one.txt 'B solves' fewer chance
grep -q '^[0-9]* problems flipped; 1 of them, --flips -1 shows all:$' one.txt || fail "no flips: $(cat one.txt)"
grep -q '^  A correct, [0-9]* tokens: .* | B ' one.txt || fail "the answers do not stand side by side: $(cat one.txt)"
sed 's/[^ -~]\{1,3\}/x/g' one.txt | LC_ALL=C awk 'length > 80' | grep . && fail "lines are longer than the terminal"
# The same numbers as the report's.
row=$(grep 'k_pages1.lookup' out/report/pairs.csv)
both=$(awk '/^lookup/ { print $3 "," $4 "," $5 "," $6; exit }' one.txt)
grep -q ",12,$both," <<<"$row" || fail "pairs.csv has $row, compare $both"
run 0 compare out:full 'quest k_pages=1' --flips 1
same one.txt stdout.txt
cells=$(sed -n '2,$s/,.*//p' out/report/accuracy.csv)
full=$(grep full.lookup <<<"$cells") quest=$(grep k_pages1.lookup <<<"$cells") relay=$(grep full.relay <<<"$cells")
run 0 compare out "$full" "$quest"
grep -q '^all' stdout.txt && fail "one pair of cells has a row of all"
run 0 compare out out
grep -q '^[^ ]*.*, full' stdout.txt || fail "runs: the policies are not named: $(cat stdout.txt)"
[ "$(grep -c '^over all tasks$' stdout.txt)" = 1 ] && grep -q '^quest k_pages=1000  *16 ' stdout.txt || fail "runs: no row a setting: $(cat stdout.txt)"
mentions stdout.txt '3 policy settings'
grep -q flipped stdout.txt && fail "a run and itself flip problems"
run 0 compare out full 'quest k_pages=1000' --margin 50
mentions stdout.txt '50 points'
# A sign adjusted for the number of cells stood beside a p that was not.
run 0 compare out full 'quest k_pages=1000' --margin 25
grep -q '^relay .* 1.000 *0.316 *$' stdout.txt && grep -q '^lookup .* 1.000 *0.063  ?$' stdout.txt || fail "the p of a loss is not adjusted: $(cat stdout.txt)"
run 0 compare out full 'quest k_pages=1000' --margin 25 --json
grep -q '"p_noninferior":0.0316[0-9]*,"p_noninferior_holm":0.063' stdout.txt || fail "JSON: the p of a loss is not adjusted: $(head -c 1500 stdout.txt)"

# What must not differ unless that is said.
run 0 sweep run.json -o other --quiet --limit 3 --tasks lookup --set 'policies=["full"]'
fails 2 '9 problems' lookup12-s1-003 '--allow problems' -- compare "out:$full" other:full
run 0 compare "out:$full" other:full --allow problems
mentions stdout.txt '!' '9 problems'
grep -q '^lookup  *3  *3  ' stdout.txt || fail "the shared problems: $(cat stdout.txt)"
fails 2 '1 cells' out:full other:full '--allow problems' -- compare out:full other:full
cp -r other asked
sed -i 's/"id":"lookup12-s1-002",\(.*\)"prompt_sha256":"..../"id":"lookup12-s1-002",\1"prompt_sha256":"0000/' asked/problems/lookup*.jsonl
reseal asked
fails 2 '1 problems' lookup12-s1-002 '--allow prompts' -- compare other:full asked:full
run 0 compare other:full asked:full --allow prompts --allow partial
grep -q '^lookup  *2  *2  ' stdout.txt || fail "two problems are shared: $(cat stdout.txt)"
cp -r out part
sed -i 's/"golds":\["[a-z ]*"\],"id":"lookup12-s1-000"/"golds":["x|<script>\\u001b[31m"],"id":"lookup12-s1-000"/' part/problems/lookup*.jsonl
reseal part
fails 2 '1 problems' lookup12-s1-000 '--allow problems' -- compare "out:$full" "part:$full"
sed -i '/lookup12-s1-003/d' part/journal/*.jsonl
run 3 compare part full 'quest k_pages=1'
[ "$(cat stderr.txt)" = 'kveval: 2 answers are missing, and short ones finish first; --allow partial compares them all the same' ] || fail "a part: $(cat stderr.txt)"
# A run that lacked answers was "lower" all the same.
run 0 compare part full 'quest k_pages=1' --allow partial --flips 0
tr '\n' ' ' <stdout.txt | grep -q '; no verdict, because answers are missing\.' || fail "a part: $(cat stdout.txt)"
grep -Eq '[▼▲=]$|more than chance' stdout.txt && fail "a verdict while answers are missing: $(cat stdout.txt)"
run 0 compare part full 'quest k_pages=1' --allow partial --json
grep -q '"all":{[^}]*"mark":"incomplete"' stdout.txt || fail "JSON: a verdict while answers are missing: $(head -c 1500 stdout.txt)"
run 0 compare out part --allow partial --allow problems
tr '\n' ' ' <stdout.txt | grep -q '3 lack answers and get no verdict: full, quest k_pages=1,'  || fail "runs: a verdict while answers are missing: $(cat stdout.txt)"

# One problem that fails under every setting was counted once a setting, and a run was "lower" for it.
cat >one.json <<'END'
{"model": "pocket", "max_new_tokens": 250, "tasks": [{"name": "pocket.lookup", "steps": 12, "problems": 3}],
 "policies": ["full", {"name": "quest", "k_pages": [1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007]}], "baseline": "full"}
END
rm -rf settings changed
run 0 sweep one.json -o settings --quiet
cp -r settings changed
sed -i 's/"golds":\["[a-z ]*"\],"id":"lookup12-s1-000"/"golds":["nothing"],"id":"lookup12-s1-000"/' changed/problems/lookup*.jsonl
reseal changed
run 0 compare settings changed --allow problems
grep -q '^9 problems flipped' stdout.txt || fail "one problem under nine settings: $(cat stdout.txt)"
grep -Eq '▼|more than chance|is lower|are lower|^all' stdout.txt && fail "one problem was counted nine times: $(cat stdout.txt)"
[ "$(grep -c ' 3  *2  *1 ' stdout.txt)" = 18 ] || fail "no row a cell and a setting: $(cat stdout.txt)"
run 0 compare settings changed --allow problems --json
grep -q '"all":null' stdout.txt || fail "settings were pooled: $(head -c 300 stdout.txt)"

# Every name that a table of the report or of a comparison prints can be copied, also one that the terminal cut. (The
# papers' table has methods, whose budgets stand in another column.)
cat >names.json <<'END'
{"model": "pocket", "max_new_tokens": 20, "tasks": [{"name": "pocket.lookup", "problems": 2}, {"name": "pocket.relay", "as": "a, \"b\"", "problems": 2}],
 "policies": ["full", {"name": "quest", "as": "a label of more than forty characters that is cut", "k_pages": 1},
  {"name": "quest", "as": "two labels that begin with the same forty characters", "k_pages": [2, 3]}], "baseline": "full"}
END
rm -rf names warm
run 0 sweep names.json -o names --quiet
of_tables() { # the first column of Markdown tables
    grep '^| ' | cut -d'|' -f2 | sed 's/^ *//; s/ *$//; s/\\//g' | grep -E "^($1)"
}
run 0 report names
grep -oE '^(full|a label|two labels)( ?[^ ]+)*' stdout.txt >printed.txt
sed '/^## Table as papers/,/^## Health/d' names/report/report.md | of_tables 'full|a label|two labels' >>printed.txt
tail -n +2 names/report/accuracy.csv | cut -d, -f1 >>printed.txt
run 0 compare names names --md
of_tables 'lookup, |a, "b", ' <stdout.txt >>printed.txt
run 0 compare names names
grep -oE '^(full|a label|two labels|lookup, |a, "b", )( ?[^ ]+)*' stdout.txt >>printed.txt
sort -u printed.txt -o printed.txt
[ "$(wc -l <printed.txt)" -ge 24 ] && [ "$(grep -c '…$' printed.txt)" -ge 5 ] || fail "too few names: $(cat printed.txt)"
while IFS= read -r name; do
    said=$("$program" compare names "$name" "$name" 2>&1) ||
        case $name in
        *'two labels'*…) [[ $said == *'" may be "'*' k_pages=2" or "'*' k_pages=3"; write the whole name' ]] || echo "$said" ;;
        *) echo "$said" ;;
        esac
done <printed.txt >refused.txt
[ ! -s refused.txt ] || fail "names that were printed are refused: $(cat refused.txt)"
run 0 sweep names.json -o warm --quiet --set 'policies=["full"]' --set 'temperature=[0, 0.5]'
run 0 compare warm 'lookup, full temperature=0' 'lookup, full temperature=0.5'
fails 2 out: '"quest k_page=1"' '"quest k_pages=1"' -- compare out full 'quest k_page=1'
fails 2 out: '"nothing"' k_pages=1000 -- compare out full nothing
run 0 compare out 'lookup, full' 'lookup, quest k_pages=1'
grep -q '^all' stdout.txt && fail "one pair of cells has a row of all"

# Mistakes.
fails 2 '"nothing"' RUN:CELL -- compare nothing out
fails 2 RUN:CELL -- compare out other:full
fails 2 --allow '"all"' -- compare out other --allow all
run 2 compare out full pocket
mentions stderr.txt out: '"pocket"' pocket.full

# Files: markdown, a page and JSON; a file that is there stays; nothing in an answer is live.
run 0 compare out "$full" "$quest" -o c.md
fails 2 c.md --force -- compare out "$full" "$quest" -o c.md
run 0 compare out "$full" "$quest" -o c.md --force
grep -q '^## Flipped problems' c.md || fail "c.md: $(head -n 30 c.md)"
run 0 compare out "$full" "$quest" --md
same c.md stdout.txt
fails 2 d.html --json -- compare out "$full" "$quest" -o d.html --json
fails 2 .md .html .json '"c.txt"' -- compare out "$full" "$quest" -o c.txt
run 0 compare part full 'quest k_pages=1000' --allow partial -o c.html
grep -q '<script>.\[31m' c.html && fail "a reference answer is live in the page"
run 0 compare part "$quest" "$full" --allow partial --flips -1
grep -q "$(printf '\033')" stdout.txt && fail "a reference answer steers the terminal"
run 0 compare out "$full" "$quest" --json
if command -v python3 >/dev/null; then
    python3 - stdout.txt <<'END' || fail "JSON: $(head -c 300 stdout.txt)"
import json, sys
c = json.load(open(sys.argv[1]))
assert c["all"]["mark"] == "lower" and c["all"]["p"] < 0.05 and c["all"]["problems"] == 12
assert len(c["flips"]) == c["n_flips"] == c["all"]["only_a"] + c["all"]["only_b"]
assert all(f["a"]["verdict"] == "correct" and f["b"]["verdict"] != "correct" for f in c["flips"] if f["solved_by"] == "a")
END
fi
finish
