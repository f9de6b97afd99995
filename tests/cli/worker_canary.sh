# Workers that decode other tokens after their restart, while canaries take longer than a report of progress: each verdict is
# of one worker against another that is believed, and the results are those of an undisturbed run.
. "$(dirname "$0")/lib.sh"
can_fault || skip "kv_fault.so is not beside the program, or cannot be preloaded"
rm -rf calm disturbed ./*.mark
cat >long.json <<'END2'
{"model": "pocket", "max_new_tokens": 700, "ignore_eos": true, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 5}],
 "policies": ["full", {"name": "quest", "k_pages": 4}]}
END2

says() {
    grep -qE -- "$1" stderr.txt || fail "\"$1\" is missing in: $(cat stderr.txt)"
}
never() {
    ! grep -qE -- "$1" stderr.txt || fail "\"$1\" is in: $(cat stderr.txt)"
}
# start DEVICES FAULT [MARK:...]: a sweep in the background whose workers have the fault in lives that begin while there is a
# when.mark, and with marks only in as many lives as these are.
start() {
    rm -rf disturbed
    env KV_FAULT="worker $2" KV_FAULT_WHEN="$PWD/when.mark" ${3:+KV_FAULT_ONCE="$3"} LD_PRELOAD="$fault" timeout 400 \
        "$program" sweep long.json -o disturbed --max-batch 1 --devices "$1" --threads 1 --worker-timeout 300 >stdout.txt 2>stderr.txt </dev/null &
    pid=$!
}
records() {
    cat disturbed/journal/*.jsonl 2>/dev/null | grep -c "$1"
}
# kill_workers: those of the sweep, which is the child of timeout.
kill_workers() {
    local sweep
    sweep=$(children $pid)
    # shellcheck disable=SC2046
    kill -9 $(children "$sweep")
}
# worker I: the process of worker I.
worker() {
    worker_of "$(children $pid)" "$1"
}
# both_wrote: waits until both workers have written a completion. One that was first stands still until the other has: on a
# busy machine it would do all jobs before the other is ready.
both_wrote() {
    local first
    until_true '[ "$(records "(cpu:[01])")" -ge 1 ]'
    first=$(cat disturbed/journal/*.jsonl | grep -om 1 '(cpu:[01])' | tr -dc 01)
    first=$(worker "$first")
    kill -STOP "$first"
    until_true '[ "$(cat disturbed/journal/*.jsonl | grep -o "(cpu:[01])" | sort -u | wc -l)" = 2 ]'
    kill -CONT "$first"
}
ended() {
    local got=0
    wait $pid || got=$?
    [ $got = "$1" ] || fail "the sweep exited $got, want $1: $(cat stderr.txt)"
    never 'was not given'
    same_results calm disturbed
}

run 0 sweep long.json -o calm --max-batch 2 --threads 1

# One device, which is judged by what it found itself: its second life lies, not the third, which begins a second after the
# verdict. A job that is withdrawn is no job that was never given.
start cpu 'lie 1' once.mark
until_true '[ "$(records .)" -ge 2 ]'
touch when.mark
kill_workers
ended 0
rm when.mark
says '^kveval: warning: cpu:0: [1-9] completions that it wrote in this sweep before its restart may be wrong: withdrawn, and '
[ "$(grep -c 'do not trust this device' stderr.txt)" = 1 ] || fail "it is judged again: $(cat stderr.txt)"

# Two devices that were wrong test each other after their restart. The first that is found to be wrong tests the other one no
# more, which is then judged by what it found itself; until then the first is not judged again.
touch when.mark
start cpu:0-1 'lie 1'
both_wrote
rm when.mark
second=$(worker 1)
kill_workers
# One stands still as soon as it is back, while the other is judged by what it found, starts again, and could be judged again.
until_true '[ -n "$(worker 1)" ] && [ "$(worker 1)" != "$second" ]'
second=$(worker 1)
kill -STOP "$second"
until_true 'grep -q "to other tokens than cpu:1 did" stderr.txt'
sleep 5
kill -CONT "$second"
ended 0
[ "$(grep -cE 'to other tokens than cpu:[01] did' stderr.txt)" = 1 ] || fail "one trial is to count: $(cat stderr.txt)"
says 'to other tokens than before: do not trust this device'

# The sweep does not end before the last verdict.
start cpu:0-1 'late 1'
both_wrote
touch when.mark
first=$(worker 0)
second=$(worker 1)
kill -STOP "$first" # it would do all that is left before the other is back
kill -9 "$second"
until_true '[ -n "$(worker 1)" ] && [ "$(worker 1)" != "$second" ]'
kill -CONT "$first"
until_true '[ "$(records .)" = 10 ]'
rm when.mark
ended 0
says '^kveval: warning: cpu:1: [1-9] completions? that it wrote in this sweep before its restart may be wrong: withdrawn, and '
never 'untested'
[ "$(records '"withdrawn":1,')" -gt 0 ] || fail "nothing was withdrawn"

# One that dies when nothing is left for it is not started again, and that is said.
start cpu:0-1 'lie 1'
# One worker is held with its job while the other does the rest; both would end within milliseconds of each other.
until_true '[ "$(records .)" -ge 6 ]'
kill -STOP "$(worker 0)"
until_true '[ "$(records .)" = 9 ]'
kill -9 "$(worker 1)"
until_true 'grep -q "by signal 9" stderr.txt'
kill -CONT "$(worker 0)"
ended 0
written=$(records "(cpu:1)")
says "^kveval: warning: cpu:1: it died and the sweep ended before it could be tested: $written completions? that it wrote in this sweep "

# What an untrusted device wrote is withdrawn, its errors, too.
touch when.mark
start cpu 'spoil 1' first.mark:second.mark
until_true '[ "$(records .)" -ge 3 ]'
[ "$(records '"finish":"error"')" = 1 ] || fail "no error was written"
kill_workers
ended 0
says 'that it wrote'
rm when.mark
grep -q '"failed":0,' disturbed/status.json || fail "a withdrawn error counts as failed: $(cat disturbed/status.json)"
finish
