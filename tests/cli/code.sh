# Tasks whose answers are programs: their completions run in a sandbox, or nowhere. Where there is none the task is refused
# before anything is decoded. Completions are put into a journal by hand, since no model that is here writes programs.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not there"
rm -rf out moved data hidden
mkdir data
cp "$source_dir/tests/tasks/sets/livecodebench.jsonl" data/rows.jsonl
cat >run.json <<'END'
{"model": "pocket", "temperature": 0.7, "samples": 4, "max_new_tokens": 2, "policies": ["full"],
 "tasks": [{"name": "livecodebench", "as": "programs", "file": "data/rows.jsonl"}]}
END

# hide CODE ARGS...: the program where there is no bubblewrap.
hide() {
    if [ -x /usr/bin/bwrap ]; then
        local want=$1 got=0
        shift
        bwrap --dev-bind / / --ro-bind /dev/null /usr/bin/bwrap "$program" "$@" >stdout.txt 2>stderr.txt </dev/null || got=$?
        [ "$got" = "$want" ] || fail "without bubblewrap kveval $* exited $got, want $want: $(head -c 500 stderr.txt)"
    else
        run "$@"
    fi
}
can_hide() {
    [ ! -x /usr/bin/bwrap ] || bwrap --dev-bind / / --ro-bind /dev/null /usr/bin/bwrap true
}
if can_hide; then
    hide 3 sweep run.json -o out
    mentions stderr.txt /usr/bin/bwrap "apt-get install bubblewrap" doctor
    [ ! -e out/journal ] || fail "something was decoded that cannot be graded"
    hide 3 sweep run.json -o out --dry-run
    hide 0 doctor
    mentions stdout.txt sandbox livecodebench /usr/bin/bwrap
fi
[ "$failures" = 0 ] || finish
run 0 doctor
grep -q '^ok  *sandbox  *bubblewrap, Python 3' stdout.txt || skip "programs have no sandbox here: $(grep sandbox stdout.txt)"

run 0 sweep run.json -o out
python3 - "$here" <<'END'
import glob, json, sys
sys.path.insert(0, sys.argv[1])
from reseal import seal_line
right = {"abc900_a": "a, b = map(int, input().split())\nprint(a + b)",
         "9001": "class Solution:\n    def kthFromEnd(self, nums, k):\n        return nums[-k]",
         "1900_C": "for _ in range(int(input())):\n    print(int(input()) / 2)"}
bomb = "import posix\nwhile True:\n    posix.fork()"
texts = [lambda p: f"so\n</think>\n```python\n{right[p]}\n```", lambda p: "</think>\n```python\nprint(7)\n```",
         lambda p: f"</think>\n```python\n{bomb}\n```", lambda p: "</think>\nI cannot."]
for path in glob.glob("out/journal/*.jsonl"):
    lines = [json.loads(line) for line in open(path)]
    with open(path, "wb") as f:
        for o in lines:
            o["finish"] = "stop"
            # of the second problem no sample is right
            o["text"] = texts[1 if o["problem"] == "9001" and o["sample"] == 0 else o["sample"]](o["problem"])
            f.write(seal_line(json.dumps(o, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"))
END
regrade() {
    rm -rf out/grades out/report
    run "$1" report out
}
regrade 0
python3 - <<'END' || fail "the grades are not those of the programs: $(cat out/grades/*.jsonl)"
import glob, json
grades = [json.loads(line) for path in glob.glob("out/grades/*.jsonl") for line in open(path)]
by = {}
for g in grades:
    by.setdefault(g["verdict"], []).append(g)
assert {k: len(v) for k, v in by.items()} == {"correct": 2, "wrong": 7, "unparsed": 3}, by
assert all(g["segmenter"].startswith("Python 3.") for g in by["correct"] + by["wrong"])
assert sum("PermissionError" in g["reason"] for g in by["wrong"]) == 3
assert all("tests, sha256" in g["gold_form"] for g in by["correct"])
END
mentions out/report/report.md "programs by Python 3."
mentions out/report/report.md "pass@4"
# One of four is right for two problems of three: pass@4 is 66.7; no answer votes.
grep -q '| 16\.7 .*| 66\.7 *|[^0-9]*|$' out/report/report.md || fail "pass@4 or a majority: $(grep -A6 'pass@4' out/report/report.md)"
cp out/grades/*.jsonl grades.txt

# Kept grades need neither sandbox nor tests; a new one does.
if can_hide; then
    hide 0 report out
    rm -rf out/grades
    hide 3 report out
    mentions stderr.txt bubblewrap
    [ ! -e out/grades ] || [ -z "$(ls out/grades)" ] || fail "grades were written without a sandbox"
fi
mv data moved
regrade 0
mentions stderr.txt "could not be graded" data/rows.jsonl
mkdir data
sed 's/1000000000 /1000000001 /; s/weekly-contest-900/weekly-contest-90/' moved/rows.jsonl >data/rows.jsonl
regrade 0
mentions stderr.txt "could not be graded"
cp moved/rows.jsonl data/
regrade 0
[ ! -s stderr.txt ] || fail "with its tests again the report says: $(cat stderr.txt)"
same grades.txt out/grades/*.jsonl

# Nothing fetches the files, so the way to them is said.
run 2 sweep run.json -o hidden --data nowhere --set 'tasks=["livecodebench"]'
mentions stderr.txt nowhere/livecodebench/release_v5.jsonl "fetch livecodebench"

# A window without a contest, and rows that are not what they should be.
run 2 sweep run.json -o hidden --set 'tasks=[{"name": "livecodebench", "file": "data/rows.jsonl", "subset": "2020-01..2020-12"}]'
mentions stderr.txt 2020-01..2020-12 2024-07-27 2025-01-31
window() { # window SUBSET WORDS...: it is refused
    run 2 sweep run.json -o hidden --set "tasks=[{\"name\": \"livecodebench\", \"file\": \"data/rows.jsonl\", \"subset\": \"$1\"}]"
    shift
    mentions stderr.txt "$@"
}
window 2025-01..2024-08 'before it begins' '2024-08..2025-01'
window 2024-08..2025-13 window '01 to 12'
window 2024-08..2024-08-010000000000000000000000 window
sed 's/eJ[^"]*"/gASVBQAAAAAAAACMBWNvcy4u"/' moved/rows.jsonl >data/rows.jsonl
run 2 sweep run.json -o hidden
mentions stderr.txt rows.jsonl:1 private_test_cases
[ ! -e hidden ] || fail "a folder was made for what cannot be read"
finish
