# Stopping by signal saves what is finished and says how to go on: 75 for SIGTERM and SIGUSR1, 130 for Ctrl-C; a second
# SIGTERM while that is being said cuts it short with 143. The sweep is of many short jobs: there is always a finished one
# to save, and always more to do when the signal comes.
. "$(dirname "$0")/lib.sh"
rm -rf stopped undisturbed long fifo
cat >many.json <<'END'
{"model": "pocket", "max_new_tokens": 60, "tasks": [{"name": "lookup", "steps": 8, "problems": 1000}],
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
# stop_with SIGNAL CODE
stop_with() {
    local got=0
    start 2>stop.txt
    kill -s "$1" $pid
    wait $pid || got=$?
    [ "$got" = "$2" ] || fail "SIG$1 exited $got, want $2: $(cat stop.txt)"
    grep -q "^kveval: stopped: [0-9]* of 2000 jobs are done and saved; repeat the command to go on$" stop.txt ||
        fail "SIG$1 said: $(cat stop.txt)"
    [ "$(journal_keys stopped | wc -l)" -gt "$before" ] || fail "SIG$1 lost what was finished"
    [ "$(journal_keys stopped | wc -l)" -lt 2000 ] || fail "SIG$1 came after the end"
}
stop_with TERM 75
stop_with USR1 75
stop_with INT 130

# A stop says what it throws away, and what to change where nothing was finished.
cat >long.json <<'END'
{"model": "pocket", "max_new_tokens": 3000, "ignore_eos": true, "tasks": [{"name": "relay", "steps": 3, "problems": 40}], "policies": ["full"]}
END
"$program" sweep long.json -o long --max-batch 2 2>stop.txt >stdout.txt </dev/null &
pid=$!
for _ in $(seq 1500); do
    [ -e long/manifest.json ] && break
    sleep 0.02
done
sleep 3
kill -s TERM $pid
wait $pid && fail "a stopped sweep exited 0"
grep -q '^kveval: about [1-9][0-9]* tokens of completions under way are lost; none was finished: give the sweep more time' stop.txt ||
    fail "what a stop throws away: $(cat stop.txt)"

# A pipe that nobody empties keeps the program at its last words; then the second signal comes.
mkfifo fifo
exec 9<>fifo
start 2>&9
dd if=/dev/zero of=fifo bs=4096 oflag=nonblock 2>/dev/null # as much as the pipe takes
kill -s TERM $pid
for _ in $(seq 500); do
    grep -q '^SigBlk:.*0000$' /proc/$pid/status 2>/dev/null && break # signals are open again
    sleep 0.02
done
kill -s TERM $pid
got=0
wait $pid || got=$?
exec 9>&-
[ $got = 143 ] || fail "a second SIGTERM exited $got, want 143"

run 0 report stopped
grep -q 'of 2000 jobs are missing' stderr.txt || fail "report of an unfinished folder: $(cat stderr.txt)"
grep -q '^\* incomplete' stdout.txt || fail "the table of an unfinished folder: $(cat stdout.txt)"
run 0 sweep many.json -o stopped --limit 16
run 0 sweep many.json -o undisturbed --limit 16
same_results stopped undisturbed
[ "$(journal_keys stopped | sort | uniq -d | wc -l)" = 0 ] || fail "finished jobs were decoded twice"
finish
