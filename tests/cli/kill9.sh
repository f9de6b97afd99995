# kill -9 at 20 random moments of a sweep, each followed by the same command: at the end the results equal those of an
# undisturbed run, byte for byte, and no finished sample was decoded twice.
. "$(dirname "$0")/lib.sh"
rm -rf killed undisturbed
tiny=$here/tiny.json
args=(--set tasks.relay.steps=4 --set tasks.relay.problems=6 --set tasks.lookup.problems=6 --set max_new_tokens=300)

start=$(date +%s%N)
run 0 sweep "$tiny" -o undisturbed "${args[@]}"
whole=$((($(date +%s%N) - start) / 1000000)) # milliseconds
RANDOM=${KILL_SEED:-20}
kills=0
for _ in $(seq 400); do
    [ $kills -lt 20 ] || break
    "$program" sweep "$tiny" -o killed "${args[@]}" --quiet 2>killed.txt &
    pid=$!
    ms=$((RANDOM % (whole / 6 + 60) + 5))
    sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
    if kill -9 $pid 2>/dev/null; then
        kills=$((kills + 1))
    fi
    wait $pid 2>/dev/null
    if [ -s killed.txt ]; then
        fail "a restart complained: $(cat killed.txt)"
        break
    fi
done
[ $kills = 20 ] || fail "only $kills kills hit a running sweep"
find killed -name '*.tmp' -exec touch -d '2 hours ago' {} +
run 0 sweep "$tiny" -o killed "${args[@]}"
same_results undisturbed killed
[ "$(journal_keys killed | sort | uniq -d | wc -l)" = 0 ] || fail "finished jobs were decoded twice"
[ "$(journal_keys killed | wc -l)" = "$(journal_keys undisturbed | wc -l)" ] || fail "the journals hold other jobs"
[ -z "$(find killed -name '*.tmp')" ] || fail "temporary files of killed processes stay: $(find killed -name '*.tmp')"
echo "$kills kills, $(ls killed/journal | wc -l) journals, undisturbed run $whole ms" >&2
finish
