# One sweep cut in other ways gives the same files: on 1, 2 and 4 CPU workers, as shards of three in any order, and begun
# as shards of four and of two and ended as a whole.
. "$(dirname "$0")/lib.sh"
rm -rf one two four shards mixed boxes
cat >many.json <<'END'
{"model": "pocket", "max_new_tokens": 24, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 6}, {"name": "pocket.relay", "steps": 3, "problems": 6}],
 "policies": ["full", {"name": "quest", "k_pages": 4}]}
END
# ids DIR: key and digest of the tokens of every record, whichever file it is in.
ids() {
    cat "$1"/journal/*.jsonl | sed -n 's/.*"key":"\([0-9a-f]*\)".*"ids_sha256":"\([0-9a-f]*\)".*/\1 \2/p' | sort
}
alike() {
    local file
    ids "$1" >"$1.ids"
    same one.ids "$1.ids"
    same_results one "$1"
    for file in one/grades/*.jsonl one/report/*.csv; do
        same "$file" "$1/${file#one/}"
    done
}

run 0 sweep many.json -o one
ids one >one.ids
[ "$(wc -l <one.ids)" = 24 ] || fail "there are $(wc -l <one.ids) records of 24"
run 0 sweep many.json -o two --devices cpu:0-1
alike two
run 0 sweep many.json -o four --devices cpu:0-3
alike four
run 0 sweep many.json -o shards --shard 2/3
run 0 sweep many.json -o shards --shard 0/3 --devices cpu:0-1
run 0 sweep many.json -o shards --shard 1/3
alike shards
run 0 sweep many.json -o mixed --shard 3/4
run 0 sweep many.json -o mixed --shard 0/2
run 0 sweep many.json -o mixed --devices cpu:0-1
alike mixed

# Two containers with one host name, in which both shards are process 1: no name of theirs is the same.
if ! small && unshare --pid --fork true 2>/dev/null; then
    unshare --pid --fork "$program" sweep many.json -o boxes --quiet --shard 0/2 >/dev/null 2>first.txt &
    first=$!
    unshare --pid --fork "$program" sweep many.json -o boxes --quiet --shard 1/2 >/dev/null 2>second.txt ||
        fail "the second container's shard: $(<second.txt)"
    wait $first || fail "the first container's shard: $(<first.txt)"
    alike boxes
    [ -z "$(find boxes -name '*.tmp')" ] || fail "temporary files stay: $(find boxes -name '*.tmp')"
fi
finish
