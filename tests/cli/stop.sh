# Stopping by signal saves what is finished and says how to go on: 75 for SIGTERM and SIGUSR1, 130 for Ctrl-C, whatever the
# program is doing. The sweep is of many short jobs: there is always a finished one
# to save, and always more to do when the signal comes.
. "$(dirname "$0")/lib.sh"
rm -rf stopped undisturbed long blocked fifo
cat >many.json <<'END'
{"model": "pocket", "max_new_tokens": 60, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 1000}],
 "policies": ["full", {"name": "quest", "k_pages": 4}]}
END

# start COMMAND...: the sweep in the background, as pid; returns after its first record.
start() {
    before=$(journal_keys stopped | wc -l)
    # Without this, a shell without job control would make the child ignore Ctrl-C.
    (trap - INT; exec "$program" sweep many.json -o stopped --max-batch 4) &
    pid=$!
    for _ in $(seq 1500); do
        [ "$(journal_keys stopped | wc -l)" -gt "$before" ] && return
        kill -0 $pid 2>/dev/null || break
        sleep 0.02
    done
    fail "no record was written: $(cat stop.txt)"
}
# decodes DIR: returns when the sweep into DIR, as pid, has decoded something and knows how fast it does.
decodes() {
    for _ in $(seq 6000); do
        grep '"tokens":[1-9]' "$1"/status*.json 2>/dev/null | grep -q '"eta_seconds":[0-9]' && return
        kill -0 $pid 2>/dev/null || break
        sleep 0.02
    done
    fail "nothing was decoded: $(cat stop.txt)"
}
twice=
# stop_with SIGNAL CODE
stop_with() {
    local got=0
    start 2>stop.txt
    kill -s "$1" $pid
    [ -z "$twice" ] || { sleep 0.01; kill -s "$1" $pid 2>/dev/null; }
    wait $pid || got=$?
    [ "$got" = "$2" ] || fail "SIG$1 exited $got, want $2: $(cat stop.txt)"
    mentions stop.txt stopped: 'of 2000 jobs' saved
    [ "$(journal_keys stopped | wc -l)" -gt "$before" ] || fail "SIG$1 lost what was finished"
    [ "$(journal_keys stopped | wc -l)" -lt 2000 ] || fail "SIG$1 came after the end"
}
small || stop_with TERM 75
twice=1 # as timeout does: to the process and to its group
stop_with TERM 75
twice=
stop_with USR1 75
stop_with INT 130

# A stop says what it throws away, and what to change where nothing was finished.
cat >long.json <<'END'
{"model": "pocket", "max_new_tokens": 3000, "ignore_eos": true, "tasks": [{"name": "pocket.relay", "steps": 3, "problems": 40}], "policies": ["full"]}
END
"$program" sweep long.json -o long --max-batch 2 2>stop.txt >stdout.txt </dev/null &
pid=$!
decodes long
kill -s TERM $pid
wait $pid && fail "a stopped sweep exited 0"
grep -q 'about [1-9][0-9]* tokens .* are lost' stop.txt || fail "what a stop throws away: $(cat stop.txt)"
mentions stop.txt lost '3000 tokens'

# stops CODE SECONDS: what pid exits with, and that it does not take longer.
stops() {
    local got=0 began=$SECONDS
    wait $pid || got=$?
    [ $got = "$1" ] || fail "it exited $got, want $1: $(cat stop.txt)"
    [ $((SECONDS - began)) -le "$2" ] || fail "it took $((SECONDS - began)) s: $(cat stop.txt)"
}

# A pipe that nobody empties keeps the program at its last words, but not longer than its grace of 10 seconds.
mkfifo fifo
exec 9<>fifo
start 2>&9
dd if=/dev/zero of=fifo bs=4096 oflag=nonblock 2>/dev/null # as much as the pipe takes
kill -s TERM $pid
stops 75 15
exec 9>&-

# A read that never returns, before anything is decoded: the run file comes out of a pipe that nobody fills.
rm -f fifo
mkfifo fifo
exec 9<>fifo
for signal in TERM:75 USR1:75 INT:130; do
    (trap - INT; exec "$program" sweep fifo -o blocked 2>stop.txt) &
    pid=$!
    for _ in $(seq 500); do
        # the thread that waits for signals is there
        [ "$(ls /proc/$pid/task 2>/dev/null | wc -l)" -gt 1 ] && break
        sleep 0.02
    done
    kill -s "${signal%:*}" $pid
    stops "${signal#*:}" 9
    [ "$(cat stop.txt)" = "kveval: stopped before anything was decoded" ] || fail "a blocked read: $(cat stop.txt)"
done
exec 9>&-

# Ctrl-C lets completions under way end and starts no other; a second one does not wait.
start 2>stop.txt
kill -s INT $pid
stops 130 30 # when they have ended: a worker that had nothing left once waited for more, the whole minute
mentions stop.txt stopping: '60 s'
! grep -q 'are lost' stop.txt || fail "the first Ctrl-C lost completions: $(cat stop.txt)"
rm -rf long
(trap - INT; exec "$program" sweep long.json -o long --max-batch 2 2>stop.txt >stdout.txt) &
pid=$!
decodes long
kill -s INT $pid
for _ in $(seq 250); do
    grep -q 'press again to abort' stop.txt && break
    sleep 0.02
done
kill -0 $pid || fail "it did not wait for what was under way: $(cat stop.txt)"
kill -s INT $pid
stops 130 9
mentions stop.txt aborted
if ! small; then # Without time for them they are lost.
    rm -rf long
    (trap - INT; exec "$program" sweep long.json -o long --max-batch 2 --drain 1 --devices cpu:0-1 2>stop.txt >stdout.txt) &
    pid=$!
    decodes long
    kill -s INT $pid
    stops 130 20
fi

run 0 report stopped
mentions stderr.txt 'of 2000 jobs' missing
grep -q '^\* incomplete' stdout.txt || fail "the table of an unfinished folder: $(cat stdout.txt)"
run 0 sweep many.json -o stopped --limit 16
run 0 sweep many.json -o undisturbed --limit 16
same_results stopped undisturbed
[ "$(journal_keys stopped | sort | uniq -d | wc -l)" = 0 ] || fail "finished jobs were decoded twice"
finish
