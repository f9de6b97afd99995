# Workers that die, hang, talk nonsense or decode nonsense are started again, a job that kills them ends as error, and
# the results are those of an undisturbed run. tests/faults/process_fault.c makes the faults.
. "$(dirname "$0")/lib.sh"
can_fault || skip "kv_fault.so is not beside the program, or cannot be preloaded"
rm -rf calm disturbed one.mark when.mark
cat >many.json <<'END'
{"model": "pocket", "max_new_tokens": 40, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 16}],
 "policies": ["full", {"name": "quest", "k_pages": 4}]}
END

# disturb CODE FAULT ARGS...: the sweep into a new folder, where the first worker that starts has the fault; with ONCE= set
# to nothing every worker has it.
disturb() {
    local want=$1 got=0 once=${ONCE-$PWD/one.mark}
    shift
    rm -rf disturbed one.mark
    env KV_FAULT="$1" ${once:+KV_FAULT_ONCE="$once"} LD_PRELOAD="$fault" \
        timeout 120 "$program" sweep many.json -o disturbed --max-batch 4 --devices cpu:0-1 --threads 1 "${@:2}" \
        >stdout.txt 2>stderr.txt </dev/null || got=$?
    [ "$got" = "$want" ] || fail "with $1 the sweep exited $got, want $want: $(cat stderr.txt)"
}
# says PATTERN
says() {
    grep -qE -- "$1" stderr.txt || fail "\"$1\" is missing in: $(cat stderr.txt)"
}

run 0 sweep many.json -o calm --max-batch 4 --threads 1 --devices cpu:0-1

# One life ends in each way that a life can end. The third message is its first request for jobs.
while read -r kind n words; do
    disturb 0 "worker $kind $n" --worker-timeout 2
    says "^kveval: warning: cpu:[01]: the worker $words; its [0-9]+ unfinished jobs begin anew; it starts again\$"
    same_results calm disturbed
    [ "$(journal_keys disturbed | sort | uniq -d | wc -l)" = 0 ] || fail "$kind: finished jobs were decoded twice"
done <<'END'
sigkill 8 was ended by signal 9 \(Killed\)
exit 8 ended with exit code 0
garbage 12 was ended: a message of [0-9]+ bytes arrived damaged
stop 8 was ended: it has said nothing for 2 s \(--worker-timeout\)
mute 8 was ended: it has said nothing for 2 s \(--worker-timeout\)
END

# A device that hangs, while the thread of signs of life goes on.
rm -rf disturbed
KVEVAL_CPU_FAULT=hang:110 run 0 sweep many.json -o disturbed --max-batch 4 --devices cpu:0-1 --threads 1 --step-timeout 2
says "^kveval: warning: cpu:[01]: the worker was ended: it has not finished a step for 2 s \(--step-timeout\); its "
same_results calm disturbed

# A job that kills whoever gets it: an error in the end, after every other job is done, and other workers go on.
key=$(journal_keys calm | sed -n 5p | cut -d '"' -f 4)
ONCE='' disturb 5 "worker poison $key"
says "^kveval: warning: job ${key:0:16} ends as error: it ended [2-7] workers, the last one alone: cpu:[01]: the worker was ended by signal 9 "
says '^kveval: 1 jobs failed; '
[ "$(journal_keys disturbed | wc -l)" = 32 ] || fail "beside a poisoned job $(journal_keys disturbed | wc -l) of 32 are done"
run 0 sweep many.json -o disturbed --max-batch 4 --devices cpu:0-1 --retry-errors
same_results calm disturbed

# The same with one worker: what stops it or ends it does so no more to the sweep.
disturb 0 'worker stop 8' --worker-timeout 2 --devices cpu
says '^kveval: warning: cpu:0: the worker was ended: it has said nothing for 2 s \(--worker-timeout\); its '
same_results calm disturbed
ONCE='' disturb 5 "worker poison $key" --devices cpu
says "^kveval: warning: job ${key:0:16} ends as error: it ended [2-7] workers, the last one alone: "
[ "$(journal_keys disturbed | wc -l)" = 32 ] || fail "beside a poisoned job $(journal_keys disturbed | wc -l) of 32 are done"

# A worker whose tokens are others after its restart is not believed, and stays out after five restarts. What it wrote before
# is withdrawn and decoded again.
rm -rf disturbed when.mark
KV_FAULT='worker lie 1' KV_FAULT_WHEN=$PWD/when.mark LD_PRELOAD=$fault \
    "$program" sweep many.json -o disturbed --max-batch 2 --devices cpu:0-1 --threads 1 >stdout.txt 2>stderr.txt &
pid=$!
for _ in $(seq 500); do
    [ "$(cat disturbed/journal/* 2>/dev/null | grep -o '(cpu:[01])' | sort | uniq -c | awk '$1 > 1' | wc -l)" = 2 ] && break
    sleep 0.02
done
touch when.mark
# The other one stands still meanwhile: a fast one could finish everything before.
# shellcheck disable=SC2046
set -- $(children $pid)
kill -STOP "$2"
kill -9 "$1"
for _ in $(seq 1000); do
    grep -q 'do not trust this device' stderr.txt && break
    sleep 0.02
done
kill -CONT "$2"
got=0
wait $pid || got=$?
[ $got = 0 ] || fail "a worker that lies: the sweep exited $got: $(cat stderr.txt)"
says 'after its restart it decodes job [0-9a-f]{16} to other tokens than cpu:[01] did: do not trust this device; '
says '^kveval: warning: cpu:[01]: [0-9]+ completions? that it wrote in this sweep before its restart may be wrong: withdrawn, and '
same_results calm disturbed
withdrawn=$(grep -h '"withdrawn":1,' disturbed/journal/* | grep -c '"error":"withdrawn: after a restart cpu:[01] decoded ')
[ "$withdrawn" = "$(sed -n 's/.*: \([0-9]*\) completions\? that it wrote .*/\1/p' stderr.txt)" ] || fail "other records are withdrawn than it said: $withdrawn"
[ "$withdrawn" = "$(cat disturbed/journal/* | grep -c '"withdrawn":2,')" ] || fail "withdrawn jobs were not decoded again"
# Had the sweep ended before it decoded them again, the next one would.
sed -i '/"withdrawn":2,/d' disturbed/journal/*
run 0 journal verify disturbed
grep -q " 0 retried, $withdrawn withdrawn, 0 conflicts" stdout.txt || fail "withdrawn records: $(cat stdout.txt)"
grep -q "^$((32 - withdrawn)) of the configuration's 32 jobs have a record" stdout.txt || fail "withdrawn jobs: $(cat stdout.txt)"
# Until then such a job is none that failed, but one that is missing.
rm -f disturbed/status.json
run 3 status disturbed
grep -q ": $((32 - withdrawn)) of 32 jobs, 0 failed, " stdout.txt || fail "withdrawn jobs: $(cat stdout.txt)"
run 0 report disturbed
says "^kveval: $withdrawn of 32 jobs are missing; "
run 3 export disturbed --format csv -o part.csv
run 0 sweep many.json -o disturbed --dry-run
[ "$(awk '/ completions$/ { n += $(NF - 1) } END { print n + 0 }' stdout.txt)" = $((32 - withdrawn)) ] ||
    fail "a withdrawn completion has a length: $(cat stdout.txt)"
run 0 sweep many.json -o disturbed --max-batch 4 --threads 1
grep -q " 32 jobs, $((32 - withdrawn)) done" stderr.txt || fail "withdrawn jobs: $(cat stderr.txt)"
same_results calm disturbed
run 0 journal compact disturbed
grep -q "^left out: 0 repeated, 0 retried, $((2 * withdrawn)) withdrawn, " stdout.txt || fail "compacted: $(cat stdout.txt)"
same_results calm disturbed
finish
