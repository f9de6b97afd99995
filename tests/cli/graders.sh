# A completion that makes its grader loop, crash, take all memory or talk nonsense is an error with a reason, the others
# keep their grades, and the next report tries it again. tests/faults/grader_fault.c makes the faults.
. "$(dirname "$0")/lib.sh"
fault=${KVEVAL_GRADER_FAULT_LIBRARY:?tests/faults/grader_fault.c as a library}
rm -rf run calm
cat >many.json <<'END'
{"model": "pocket", "max_new_tokens": 30, "tasks": [{"name": "pocket.lookup", "steps": 4, "problems": 40}],
 "policies": ["full", {"name": "quest", "k_pages": 2}]}
END

# report DIR CODE [FAULT]: everything is graded anew.
report() {
    local got=0
    rm -rf "$1/grades" "$1/report"
    env ${3:+KV_FAULT="$3" LD_PRELOAD="$fault"} timeout 100 "$program" report "$1" >stdout.txt 2>stderr.txt || got=$?
    [ "$got" = "$2" ] || fail "with \"${3-}\" the report exited $got, want $2: $(cat stderr.txt)"
}

run 0 sweep many.json -o run
key=$(journal_keys run | sed -n 57p | cut -d '"' -f 4)
OMP_NUM_THREADS=1 report run 0
cp -r run calm
[ ! -s stderr.txt ] || fail "an undisturbed report says: $(cat stderr.txt)"
[ "$(cat calm/grades/*.jsonl | wc -l)" = 80 ] || fail "not every completion has a grade"

# How many graders there are changes nothing.
OMP_NUM_THREADS=3 report run 0
same calm/grades/*.jsonl run/grades/*.jsonl
same_results calm run

while read -r kind words; do
    OMP_NUM_THREADS=2 report run 0 "$kind $key"
    pattern="^kveval: warning: run: 1 completion could not be graded and counts as not correct until a later report can; first,"
    pattern="$pattern job ${key:0:16}, sample 0 of [^ ]+ of task lookup: The grader failed: it $words\.\$"
    [ "$(grep -cE "$pattern" stderr.txt)" = 1 ] || fail "$kind: the sentence is missing in: $(cat stderr.txt)"
    [ "$(wc -l <stderr.txt)" = 1 ] || fail "$kind: more than one sentence: $(cat stderr.txt)"
    grep -v "\"key\":\"$key\"" calm/grades/*.jsonl >want.txt
    cp run/grades/*.jsonl got.txt
    same want.txt got.txt
    grep -q '1 job failed, in 1 cell\. They count as not correct' run/report/report.md || fail "$kind: the page has no error"
    errors=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "errors") at = i } NR > 1 { n += $at } END { print n }' \
        run/report/accuracy.csv)
    [ "$errors" = 1 ] || fail "$kind: accuracy.csv has $errors errors"
    # What was not graded is tried again.
    run 0 report run
    [ ! -s stderr.txt ] || fail "$kind: the next report says: $(cat stderr.txt)"
    same calm/grades/*.jsonl run/grades/*.jsonl
    same_results calm run
done <<'END'
crash was ended by signal 11 \(Segmentation fault\)
memory needed more than 2048 MiB of memory
garbage sent what cannot be read
loop needed more than 10 seconds of processor time
END

# Nothing is graded in the process itself instead.
report run 3 "none -"
words='kveval: completions are graded in processes of their own: cannot start a grader: Resource temporarily unavailable;'
grep -qx "$words repeat the command when the machine has room for one" stderr.txt || fail "without processes the report says: $(cat stderr.txt)"
report run 3 "early -"
grep -qx 'kveval: a process that grades completions did not begin: it ended with exit code 5' stderr.txt ||
    fail "without graders the report says: $(cat stderr.txt)"
fails 2 grader 'kveval grade' -- grader
finish
