# A device that fails in the middle (kernels/fault.h): its worker starts again, and after some times in vain the sweep ends with
# one sentence and exit code 3, without a hang. What was finished is in the record, and the same command completes the rest. On the CPU, and with KVEVAL_TEST_DEVICE=cuda:0
# on a GPU.
. "$2/tests/cli/lib.sh"
device=${KVEVAL_TEST_DEVICE:-cpu:0}
variable=KVEVAL_CPU_FAULT
pair=cpu:0-1
if [ "$device" = cuda:0 ]; then
    variable=KVEVAL_CUDA_FAULT
    "$program" list devices >devices.txt
    grep -q '^cuda:0 ' devices.txt || skip "no GPU"
    pair=
    grep -q '^cuda:1 ' devices.txt && pair=cuda:0-1
fi
if small; then pair=; fi
rm -rf calm broken
cat >many.json <<'END'
{"model": "pocket", "max_new_tokens": 60, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 12}],
 "policies": ["full", {"name": "quest", "k_pages": 4}]}
END

# faulty FAULT CODE DEVICES: a sweep into `broken` on devices that fail so.
faulty() {
    local got=0
    env "$variable=$1" timeout 120 "$program" sweep many.json -o broken --max-batch 4 --devices "$3" \
        >stdout.txt 2>stderr.txt </dev/null || got=$?
    [ "$got" = "$2" ] || fail "with $1 on $3 the sweep exited $got, want $2: $(cat stderr.txt)"
}
# says PATTERN: the last line on standard error.
says() {
    tail -n 1 stderr.txt | grep -qE -- "$1" || fail "\"$1\" is missing in: $(cat stderr.txt)"
}

run 0 sweep many.json -o calm --max-batch 4 --devices "$device"
for devices in $device $pair; do
    rm -rf broken
    # Before there is anything to save: no folder.
    for fault in alloc:1 alloc:20; do
        faulty $fault 3 "$devices"
        says '^kveval: .*memory.*; use a '
        [ ! -e broken ] || fail "$fault left a folder"
    done
    faulty open:999 3 "$devices"
    says '^kveval: .*(fails on request|the GPUs cannot be counted)'

    # Workers that fail again and again, each after some jobs, in a decode step or in a prefill: they come back each time. A
    # job that is alone on two of them may be blamed for it.
    faults=replay:130
    [ "$devices" = cpu:0 ] && faults='replay:130 launch:2500'
    for fault in $faults; do
        rm -rf broken
        got=0
        env "$variable=$fault" timeout 120 "$program" sweep many.json -o broken --max-batch 4 --devices "$devices" \
            >stdout.txt 2>stderr.txt </dev/null || got=$?
        [ $got = 0 ] || grep -q '^kveval: [0-9] jobs failed; ' stderr.txt || fail "with $fault the sweep exited $got: $(cat stderr.txt)"
        grep -qE '^kveval: warning: .*(fails on request|the GPU failed: ).*; its [0-9]+ unfinished jobs begin anew; it starts again' stderr.txt ||
            fail "with $fault the sweep said: $(cat stderr.txt)"
        run 0 sweep many.json -o broken --max-batch 4 --devices "$devices" --retry-errors
        same_results calm broken
    done
    # And those that finish nothing: an end after five restarts each.
    rm -rf broken
    faulty replay:20 3 "$devices"
    says '^kveval: stopped with [0-9]* of 24 jobs saved, repeat the command to go on: no worker is left: '
    saved=$(sed -n 's/^kveval: stopped with \([0-9]*\) of .*/\1/p' stderr.txt)
    [ "$(journal_keys broken | wc -l)" = "$saved" ] ||
        fail "$saved jobs are said to be saved, $(journal_keys broken | wc -l) are"
    run 0 sweep many.json -o broken --max-batch 4 --devices "$devices" --retry-errors
    same_results calm broken
done
finish
