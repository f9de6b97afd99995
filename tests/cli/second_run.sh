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
kill -9 $holder
wait $holder 2>/dev/null
run 0 sweep "$tiny" -o out --limit 1
finish
