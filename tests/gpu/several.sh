# Several GPUs of one machine: one fails in the middle, another's worker is killed, a third's stands still; then the sweep itself
# is killed, and resumed on other numbers of GPUs. The results are those of one GPU. KVEVAL_TEST_DEVICES=cpu:0-3: on the CPU.
. "$2/tests/cli/lib.sh"
can_fault || skip "kv_fault.so is not beside the program, or cannot be preloaded"
n=$("$program" list devices | grep -c '^cuda:[0-9]')
[ "$n" -ge 2 ] || [ -n "${KVEVAL_TEST_DEVICES-}" ] || skip "fewer than two GPUs"
devices=${KVEVAL_TEST_DEVICES:-cuda:0-$((n - 1))}
kind=${devices%%:*}
last=${devices##*-}
rm -rf calm broken killed ./*.mark
cat >many.json <<'END'
{"model": "pocket", "max_new_tokens": 600, "ignore_eos": true, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 32}],
 "policies": ["full", {"name": "quest", "k_pages": 4}]}
END

# start FOLDER DEVICES ARGS...: a sweep in the background.
start() {
    local out=$1 on=$2
    shift 2
    "$program" sweep many.json -o "$out" --max-batch 2 --threads 1 --devices "$on" "$@" >stdout.txt 2>stderr.txt </dev/null &
    pid=$!
}
ended() {
    local got=0
    wait $pid 2>/dev/null || got=$?
    [ "$got" = "$1" ] || fail "the sweep exited $got, want $1: $(cat stderr.txt)"
}
records() {
    cat "$1"/journal/*.jsonl 2>/dev/null | wc -l
}
# all_wrote FOLDER: has every device written a completion?
all_wrote() {
    [ "$(cat "$1"/journal/*.jsonl 2>/dev/null | grep -o "($kind:[0-9]*)" | sort -u | wc -l)" = $((last + 1)) ]
}
says() {
    grep -qE -- "$1" stderr.txt || fail "\"$1\" is missing in: $(cat stderr.txt)"
}

run 0 sweep many.json -o calm --max-batch 8 --threads 1 --devices "$kind"

# The device that starts first fails in its 400th step; then, when every device has written something, another's worker is
# killed and the last one's stands still.
export KV_FAULT='worker device replay:400' KV_FAULT_ONCE=$PWD/one.mark LD_PRELOAD=$fault
start broken "$devices" --worker-timeout 5
unset KV_FAULT KV_FAULT_ONCE LD_PRELOAD
until_true 'grep -qE "(fails on request|the GPU failed: )" stderr.txt'
kill -9 "$(worker_of $pid 0)"
[ "$last" -lt 2 ] || kill -STOP "$(worker_of $pid "$last")"
ended 0
says "^kveval: warning: $kind:[0-9]+: .*(fails on request|the GPU failed: ).*; it starts again"
says "^kveval: warning: $kind:0: the worker was ended by signal 9 "
[ "$last" -lt 2 ] || says "^kveval: warning: $kind:$last: the worker was ended: it has said nothing for 5 s "
same_results calm broken

# The coordinator is killed, and the sweep is resumed on fewer devices, then on one.
start killed "$devices"
until_true 'all_wrote killed'
kill -9 $pid
ended 137
start killed "$kind:0-$((last > 1 ? last - 1 : 1))"
n=$(records killed)
until_true '[ "$(records killed)" -ge $((n + 8)) ]'
kill -9 $pid
ended 137
[ "$(records killed)" -lt 64 ] || fail "nothing was left to resume"
run 0 sweep many.json -o killed --max-batch 8 --threads 1 --devices "$kind"
same_results calm killed
[ "$(journal_keys killed | sort | uniq -d | wc -l)" = 0 ] || fail "finished jobs were decoded twice"
finish
