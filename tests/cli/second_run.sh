# A second run on the same folder and shard is refused with the holder's host and pid; after kill -9 of the holder the
# same command goes on at once.
. "$(dirname "$0")/lib.sh"
rm -rf out
tiny=$here/tiny.json

"$program" sweep "$tiny" -o out 2>first.txt &
holder=$!
for _ in $(seq 600); do
    [ -s out/lock ] && break
    sleep 0.02
done
[ -s out/lock ] || fail "no lock was taken: $(cat first.txt)"
run 3 sweep "$tiny" -o out
[ "$(cat stderr.txt)" = "kveval: out is in use by host $(uname -n) pid $holder (lock out/lock); wait for it, or use another folder" ] ||
    fail "the second run said: $(cat stderr.txt)"
# A shard is a part of what the whole decodes already.
run 3 sweep "$tiny" -o out --shard 0/2
grep -q "out is in use by host $(uname -n) pid $holder (lock out/lock)" stderr.txt || fail "a shard beside the whole said: $(cat stderr.txt)"
kill -9 $holder
wait $holder 2>/dev/null
run 0 sweep "$tiny" -o out --limit 1

# The other way round, and shards of another N.
rm -rf out
"$program" sweep "$tiny" -o out --shard 0/2 2>first.txt &
holder=$!
for _ in $(seq 600); do
    [ -s out/lock.0-of-2 ] && break
    sleep 0.02
done
for args in "" "--shard 0/2" "--shard 1/3"; do
    run 3 sweep "$tiny" -o out $args
    [ "$(cat stderr.txt)" = "kveval: out is in use by host $(uname -n) pid $holder (lock out/lock.0-of-2); wait for it, or use another folder" ] ||
        fail "sweep $args beside shard 0/2 said: $(cat stderr.txt)"
done
kill -9 $holder
wait $holder 2>/dev/null

# Two that start at once in a new folder: one decodes, the other is refused, whatever the first has written when the
# second looks. Once the second found the configuration just after it had looked for it, and called the folder no
# run folder.
for i in $(seq 12); do
    rm -rf out
    "$program" sweep "$tiny" -o out --limit 1 2>first.txt &
    holder=$!
    sleep "0.0$((i * 7 % 10))"
    "$program" sweep "$tiny" -o out --limit 1 2>second.txt
    second=$?
    wait $holder
    both=$?/$second
    case $both in
    0/0 | 0/3 | 3/0) ;;
    *) fail "two at once exited $both: $(cat first.txt second.txt)" ;;
    esac
done
finish
