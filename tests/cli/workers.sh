# A sweep on several devices, here two workers on the CPU: the results of one process, whatever happens to workers and
# coordinator on the way, and a sentence when no worker is left.
. "$(dirname "$0")/lib.sh"
rm -rf one two calm disturbed
jobs=120
if small; then jobs=50; fi
cat >many.json <<END
{"model": "pocket", "max_new_tokens": 60, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": $((jobs / 2))}],
 "policies": ["full", {"name": "quest", "k_pages": 4}]}
END

# workers PID: its children. Through cat, which goes on when a process of the list has ended since; awk would stop.
workers() {
    # pid (name) state parent ...
    cat /proc/[0-9]*/stat 2>/dev/null | awk -v parent="$1" '{ pid = $1; sub(/.*\) /, ""); if ($2 == parent) print pid }'
}
# until_gone PID...
until_gone() {
    local p
    for p in "$@"; do
        for _ in $(seq 500); do
            kill -0 "$p" 2>/dev/null || break
            sleep 0.02
        done
        kill -0 "$p" 2>/dev/null && fail "worker $p is still there"
    done
}
# start: the sweep on two workers in the background, as pid with workers w1 and w2; returns when each has written a record.
# One that still loads when it is killed does not come back.
start() {
    "$program" sweep many.json -o disturbed --max-batch 4 --devices cpu:0-1 >start.txt 2>&1 &
    pid=$!
    for _ in $(seq 1500); do
        if [ "$(cat disturbed/journal/*.$pid.*.jsonl 2>/dev/null | grep -o '(cpu:[01])' | sort -u | wc -l)" = 2 ]; then
            set -- $(workers $pid)
            if [ $# != 2 ]; then
                fail "there are $# workers: $(cat start.txt)"
                kill -9 $pid
                finish
            fi
            w1=$1
            w2=$2
            return
        fi
        kill -0 $pid 2>/dev/null || break
        sleep 0.02
    done
    fail "no record was written: $(cat start.txt)"
    finish
}
# ends CODE: what the sweep of `start` exits with; its workers end too.
ends() {
    local got=0
    wait $pid 2>/dev/null || got=$?
    [ "$got" = "$1" ] || fail "the sweep exited $got, want $1: $(cat start.txt)"
    until_gone "$w1" "$w2"
}

# The same as in one process, with two types of K and V: each worker has an engine for each.
both='kv_dtype=["fp32","bf16"]'
run 0 sweep "$here/tiny.json" -o one --limit 1 --set "$both"
run 0 sweep "$here/tiny.json" -o two --limit 1 --set "$both" --devices cpu:0-1
same_results one two
[ "$(journal_keys one | sort)" = "$(journal_keys two | sort)" ] || fail "two workers decoded other jobs"
run 0 sweep "$here/tiny.json" -o two --limit 1 --set "$both" --devices cpu:0-2
[ "$(ls two/journal | wc -l)" = 1 ] || fail "a finished sweep was decoded again"

# One worker dies: the other goes on, and it comes back.
run 0 sweep many.json -o calm
start
kill -9 "$w1"
ends 0
mentions start.txt warning: 'signal 9'
same_results calm disturbed
[ "$(journal_keys disturbed | sort | uniq -d | wc -l)" = 0 ] || fail "finished jobs were decoded twice"

if ! small; then
    # Both die: both come back. A worker that died once ended the sweep when it was the last.
    rm -rf disturbed
    start
    kill -9 "$w1" "$w2"
    ends 0
    [ "$(grep -c '; it starts again$' start.txt)" = 2 ] || fail "the death of all workers was not told: $(cat start.txt)"
    same_results calm disturbed

    # One is stopped, and was waited for without end: the other finishes. Both hold jobs when twenty of 120 are done.
    rm -rf disturbed
    "$program" sweep many.json -o disturbed --max-batch 4 --devices cpu:0-1 --worker-timeout 3 >start.txt 2>&1 &
    pid=$!
    for _ in $(seq 1500); do
        [ "$(journal_keys disturbed | wc -l)" -gt 20 ] && break
        sleep 0.02
    done
    set -- $(workers $pid)
    [ $# = 2 ] || fail "there are $# workers: $(cat start.txt)"
    w1=$1
    w2=$2
    kill -s STOP "$w1"
    ends 0
    mentions start.txt warning: '3 s' --worker-timeout
    same_results calm disturbed
fi
rm -rf disturbed

# SIGTERM, also when the whole process group gets it.
start
kill -s TERM $pid "$w1" "$w2"
ends 75
grep -q "stopped: [1-9][0-9]* of $jobs jobs" start.txt || fail "SIGTERM said: $(cat start.txt)"

# The coordinator dies: its workers do not stay.
start
kill -9 $pid
ends 137

run 0 sweep many.json -o disturbed --devices cpu:0-1
same_results calm disturbed
[ "$(journal_keys disturbed | sort | uniq -d | wc -l)" = 0 ] || fail "finished jobs were decoded twice"

# Nor does one whose coordinator died before the worker could ask to end with it: here another process started it, and the
# one that made its socket never says a word.
if command -v python3 >/dev/null; then
    timeout 60 python3 - "$program" many.json <<'END' || fail "a worker without its coordinator stays"
import os, socket, subprocess, sys
ours, theirs = socket.socketpair()
kept = os.dup(ours.fileno()) # 3 may be its number
os.dup2(theirs.fileno(), 3)
os.set_inheritable(3, True)
for arguments in (["worker", "0", sys.argv[2], "-o", "none"], ["grader", "disturbed"]):
    subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", sys.argv[1], *arguments], pass_fds=[3], timeout=20)
END
fi

# Mistakes are told once, before anything is decoded. What only an engine finds comes from a worker.
rm -rf disturbed
fails 2 cpu:0-1 '"cpu:1"' -- sweep many.json -o disturbed --devices cpu:1
sed 's/"quest", "k_pages": 4/"dms", "gate": "nothing.gate"/' many.json >no_gate.json
run 2 sweep no_gate.json -o disturbed
cp stderr.txt want.txt
run 2 sweep no_gate.json -o disturbed --devices cpu:0-1
[ "$(wc -l <stderr.txt)" = 1 ] && grep -qF "$(sed 's/^kveval: //' want.txt)" stderr.txt ||
    fail "a missing gate file, said in one process: $(cat want.txt)
by workers: $(cat stderr.txt)"
[ ! -e disturbed ] || fail "a mistake left a folder"
run 0 sweep many.json --dry-run --calibrate no --devices cpu:0-1
fails 2 worker 'kveval sweep --devices' -- worker 0 many.json
finish
