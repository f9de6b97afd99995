# Stopping by signal saves what is finished and says how to go on: 75 for SIGTERM and SIGUSR1, 130 for Ctrl-C.
. "$(dirname "$0")/lib.sh"
rm -rf stopped undisturbed
tiny=$here/tiny.json

# stop_with SIGNAL CODE: starts the sweep, waits for the first record, sends the signal.
stop_with() {
    local before pid got=0
    before=$(journal_keys stopped | wc -l)
    # Without this, a shell without job control would make the child ignore Ctrl-C.
    (trap - INT; exec "$program" sweep "$tiny" -o stopped --set max_new_tokens=$3 2>stop.txt) &
    pid=$!
    for _ in $(seq 600); do
        [ "$(journal_keys stopped | wc -l)" -gt "$before" ] && break
        kill -0 $pid 2>/dev/null || break
        sleep 0.05
    done
    kill -s "$1" $pid 2>/dev/null
    wait $pid || got=$?
    [ "$got" = 0 ] && return 0 # it was faster than the signal
    [ "$got" = "$2" ] || fail "SIG$1 exited $got, want $2: $(cat stop.txt)"
    grep -q 'jobs are done and saved; repeat the command to go on' stop.txt || fail "SIG$1 said: $(cat stop.txt)"
    [ "$(journal_keys stopped | wc -l)" -gt "$before" ] || fail "SIG$1 lost what was finished"
}
stop_with TERM 75 250
stop_with USR1 75 250
run 0 report stopped
grep -q 'jobs are missing' stderr.txt || [ "$(journal_keys stopped | wc -l)" = 64 ] || fail "report of an unfinished folder: $(cat stderr.txt)"
run 0 sweep "$tiny" -o stopped
run 0 sweep "$tiny" -o undisturbed
same_results stopped undisturbed
[ "$(journal_keys stopped | sort | uniq -d | wc -l)" = 0 ] || fail "finished jobs were decoded twice"
finish
