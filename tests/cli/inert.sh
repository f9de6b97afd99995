# What is printed steers nothing: prompts, completions, references, paths, labels and messages with escape sequences, controls
# of one byte more, overrides of direction or orders to GitHub Actions come out visible; spreadsheets compute no label.
. "$(dirname "$0")/lib.sh"
rm -rf out* bad*
nasty=$'\e[31m\a\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\b'
seen='\x1b[31m\x07\u009b\u202e\u2066\x08'
# inert FILE WHAT: nothing in it can steer a terminal.
inert() {
    LC_ALL=C grep -nP '[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r.|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]' "$1" >found.txt &&
        fail "$2: $(head -n 2 found.txt | cat -v | cut -c 1-300)"
}
both() { # both CODE ARGS...: standard output and error are inert and show what was there, as the last line of `want`
    run "$@"
    inert stdout.txt "standard output of kveval ${*:2}"
    inert stderr.txt "standard error of kveval ${*:2}"
}
json=$(printf '%s' "$nasty" | sed 's/\x1b/\\u001b/; s/\x07/\\u0007/; s/\x08/\\u0008/')

# Messages that quote what was given.
both 2 "sweep$nasty" && mentions stderr.txt "sweep$seen"
both 2 sweep "run$nasty.json" -o out && mentions stderr.txt "run$seen.json"
both 2 sweep run.json "--limit$nasty" && mentions stderr.txt "limit$seen"
both 2 show "out$nasty" a b && mentions stderr.txt "out$seen"
both 2 list "tasks$nasty" && mentions stderr.txt "tasks$seen"
both 2 generate --policy "quest$nasty" --prompt x && mentions stderr.txt "quest$seen"
printf '{"model": "pocket", "max%s": 1}' "$json" >bad.json
both 2 sweep bad.json -o out && mentions stderr.txt "max$seen"
both 2 sweep $'bad\n::error::x' -o out && mentions stderr.txt 'bad\n:\u003aerror::x'
[ "$(wc -l <stderr.txt)" = 1 ] || fail "a name brought a line of its own: $(<stderr.txt)"

# A sweep with such labels and texts, in such a folder.
printf '{"rendered": "<|User|>What%s?\\r\\n room jc holds the walnut <|Assistant|>", "gold": "saffron%s"}\n' "$json" "$json" >rows.jsonl
cat >run.json <<END2
{"model": "pocket", "max_new_tokens": 4, "tasks": [{"name": "pocket.lookup", "file": "rows.jsonl", "as": "t$json"}],
 "policies": [{"name": "full", "as": "a$json"}, {"name": "quest", "k_pages": 4, "as": "::error::no"},
              {"name": "quest", "k_pages": 5, "as": "=1+2"}, {"name": "quest", "k_pages": 6, "as": "@SUM(A1)|\`b\`<script>"},
              {"name": "quest", "k_pages": 7, "as": "-0.5"}, {"name": "quest", "k_pages": 8, "as": "'quoted"}]}
END2
dir="out$nasty"
export GITHUB_ACTIONS=true
both 0 sweep run.json -o "$dir"
mentions stdout.txt "out$seen/report"
! grep -qE '^[[:space:]]*::' stdout.txt stderr.txt || fail "a label is an order to GitHub: $(grep -E '^[[:space:]]*::' stdout.txt stderr.txt)"
mentions stdout.txt ':\u003aerror::no'
both 0 status "$dir" && mentions stdout.txt "out$seen"
unset GITHUB_ACTIONS
both 0 report "$dir"
mentions stdout.txt '::error::no' # nobody takes orders here
cell=$(tail -n +2 "$dir/report/accuracy.csv" | head -n 1 | cut -d, -f1)
both 0 show "$dir" "$cell" 0
mentions stdout.txt "What$seen?"
mentions stdout.txt "saffron$seen"
both 0 compare "$dir" =1+2 ::error::no
both 0 journal verify "$dir"
for f in "$dir"/report/*.md "$dir"/report/*.svg "$dir/report/index.html"; do inert "$f" "$(basename "$f")"; done
! grep '^|.*<script>' "$dir/report/report.md" || fail "a label is markup in report.md"

# JSON keeps its meaning.
if command -v python3 >/dev/null; then
    both 0 compare "$dir" =1+2 ::error::no --json
    python3 -c 'import json; json.load(open("stdout.txt"))' || fail "compare --json is no JSON: $(head -c 300 stdout.txt)"
fi

# CSV: text that a spreadsheet would compute has a mark, numbers have none, and the mark is said.
csv="$dir/report/settings.csv"
for want in "'=1+2" "'@SUM(A1)|\`b\`<script>" "''quoted" "-0.5"; do
    cut -d, -f1-3 "$csv" | grep -qF -e "$want," || fail "settings.csv has no $want: $(cut -d, -f1-3 "$csv" | cat -v)"
done
! grep -qE "(^|,)\"?[=@+]" "$dir"/report/*.csv || fail "a spreadsheet computes: $(grep -hE '(^|,)"?[=@+]' "$dir"/report/*.csv | head -n 2 | cut -c 1-200)"
mentions "$dir/report/columns.md" '=' '@' spreadsheet
finish
