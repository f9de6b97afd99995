# A second run on the same folder and shard is refused with the holder's host and pid; after kill -9 of the holder the
# same command goes on at once.
. "$(dirname "$0")/lib.sh"
rm -rf out
tiny=short.json
cat >short.json <<'END'
{"model": "pocket", "max_new_tokens": 12, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 6}],
 "policies": ["full", {"name": "quest", "k_pages": 2}]}
END
sed 's/"max_new_tokens": 12/"max_new_tokens": 4000, "ignore_eos": true/' short.json >long.json # ends when it is killed

"$program" sweep long.json -o out --max-batch 1 2>first.txt &
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

# --wait: a second run that waits is refused after that time, ends at once on a signal, and goes on when the holder has ended.
rm -rf out
"$program" sweep long.json -o out --max-batch 1 --quiet 2>first.txt &
holder=$!
for _ in $(seq 600); do
    [ -s out/lock ] && break
    sleep 0.02
done
waits="kveval: out is in use by host $(uname -n) pid $holder (lock out/lock); waiting up to"
fails 2 --wait 3h 90m 1h30m 3600 '"soon"' -- sweep "$tiny" -o out --wait soon
began=$(date +%s%N)
run 3 sweep "$tiny" -o out --wait 2
[ $((($(date +%s%N) - began) / 1000000)) -ge 2000 ] || fail "it did not wait: $(cat stderr.txt)"
[ "$(cat stderr.txt)" = "$waits 2 for it
kveval: out is in use by host $(uname -n) pid $holder (lock out/lock); wait for it, or use another folder" ] || fail "it waited and said: $(cat stderr.txt)"
for command in stop go; do
    "$program" sweep "$tiny" -o out --limit 1 --wait 1m >second.out 2>second.txt &
    second=$!
    for _ in $(seq 200); do
        grep -qF "$waits 1m for it" second.txt && break
        sleep 0.02
    done
    if [ $command = stop ]; then
        kill -s TERM $second
        wait $second
        code=$?
        [ $code = 75 ] && grep -q 'stopped before anything was decoded' second.txt || fail "SIGTERM while it waits: $code, $(cat second.txt)"
    else
        kill -9 $holder
        wait $holder 2>/dev/null
        wait $second || fail "after the holder's end it did not go on: $(cat second.txt)"
        [ "$(grep -c waiting second.txt)" = 1 ] || fail "it said more than once that it waits: $(cat second.txt)"
    fi
done

# The other way round, and shards of another N.
rm -rf out
"$program" sweep long.json -o out --max-batch 1 --shard 0/2 2>first.txt &
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
rounds=12
if small; then rounds=5; fi
for i in $(seq $rounds); do
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
