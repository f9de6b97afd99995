# Several models in one run file: the same results whatever the number of workers, shards, deaths and restarts, and those of
# a sweep for each model; a worker changes its model no more often than it must; a model that cannot be loaded costs
# no job of another.
. "$(dirname "$0")/lib.sh"
rm -rf bee twin twins gone calm short one_1 one_2 out part half alone_p alone_b x ./*.json ./*.txt
mkdir bee
cp "$source_dir"/engine/pocket/config.json "$source_dir"/engine/pocket/tokenizer.json "$source_dir"/engine/pocket/model.safetensors bee
# a model of its own: some other weights
python3 -c '
data = bytearray(open("bee/model.safetensors", "rb").read())
first = 8 + int.from_bytes(data[:8], "little")
for i in range(200):
    data[first + 5000 + 74 * i] ^= 0x10
open("bee/model.safetensors", "wb").write(data)'
cat >two.json <<'END'
{"models": ["pocket", {"model": "bee", "as": "b"}], "max_new_tokens": 50,
 "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 12}],
 "policies": ["full", {"name": "quest", "k_pages": 4, "models": ["b"]}, {"name": "dms", "cr": 4, "models": ["pocket"]}]}
END

# completions DIR...: keys and digests of the tokens of what is in the journals.
completions() {
    local dir
    for dir in "$@"; do
        cat "$dir"/journal/*.jsonl
    done | python3 -c '
import json, sys
print("\n".join(sorted({r["key"] + " " + r["ids_sha256"] for r in map(json.loads, sys.stdin)})))'
}
# switches N FILE: a sweep said at most so often that a worker goes on with another model.
switches() {
    local n
    n=$(grep -c ' and goes on with ' "$2")
    [ "$n" -le "$1" ] || fail "workers changed their model $n times, $1 would do: $(cat "$2")"
}
# in_background DIR ARGS...: a sweep as $pid; returns once it has written ten more records.
in_background() {
    local before
    before=$(journal_keys "$1" | wc -l)
    "$program" sweep two.json -o "$1" --max-batch 2 --threads 1 "${@:2}" >start.txt 2>&1 &
    pid=$!
    for _ in $(seq 1500); do
        [ "$(journal_keys "$1" | wc -l)" -ge $((before + 10)) ] && return
        kill -0 $pid 2>/dev/null || break
        sleep 0.02
    done
    fail "no ten records were written: $(cat start.txt)"
}

# Two sweeps with one model each, in folders of their own, are what all must agree with.
run 0 sweep two.json -o alone_p --model pocket
run 0 sweep two.json -o alone_b --model b
[ "$(completions alone_p | wc -l)" = 24 ] && [ "$(completions alone_b | wc -l)" = 24 ] || fail "--model picked other cells"
completions alone_p alone_b >want.txt
[ "$(wc -l <want.txt)" = 48 ] || fail "two models have completions in common"

run 0 sweep two.json -o calm --max-batch 4 --threads 1
[ "$(grep -c ' has nothing more to start of \(pocket and goes on with b\|b and goes on with pocket\)$' stderr.txt)" = 1 ] ||
    fail "one worker, two models: $(cat stderr.txt)"
completions calm >got.txt
same want.txt got.txt
for n in 1 2; do
    run 0 sweep two.json -o "one_$n" --max-batch 4 --threads 1 --devices cpu:0-$n
    switches $n stderr.txt
    same_results calm "one_$n"
    completions "one_$n" >got.txt
    same want.txt got.txt
done
run 0 sweep two.json -o one_1 --devices cpu:0-1
[ "$(ls one_1/journal | wc -l)" = 1 ] || fail "a finished sweep was decoded again"

# Shards, with a limit of time, within which loading fits.
run 0 sweep two.json -o part --shard 1/2 --threads 1 --time-limit 10m
run 0 sweep two.json -o part --shard 0/2 --threads 1 --devices cpu:0-1
same_results calm part

# The coordinator is killed in the middle, and in the next run a worker.
in_background out
kill -9 $pid
wait $pid 2>/dev/null
in_background out --devices cpu:0-1
kill -9 "$(children $pid | head -n 1)"
wait $pid || fail "after a worker was killed: $(cat start.txt)"
same_results calm out
[ "$(journal_keys out | sort | uniq -d | wc -l)" = 0 ] || fail "finished jobs were decoded twice"

# A folder with one model done: the worker begins with the other.
cp -r alone_p half
run 0 sweep two.json -o half --threads 1
switches 0 stderr.txt
same_results calm half

# A model that is gone when its turn comes costs no job of the other; once it is back, the command goes on.
rm -rf out
in_background out
mv bee gone
got=0
wait $pid || got=$?
[ $got = 3 ] || fail "without a model the sweep exited $got: $(cat start.txt)"
mentions start.txt '24 of 48' 'model b'
run 2 sweep two.json -o out
mentions stderr.txt 'model b' bee folder
mv gone bee
run 0 sweep two.json -o out --threads 1
switches 0 stderr.txt
same_results calm out

# Models are out of reach for a moment, while a worker is started again that had one, and others hold it.
rm -rf out
in_background out --devices cpu:0-2
for worker in $(children $pid); do
    grep -qz '^--model=b$' /proc/$worker/cmdline 2>/dev/null && break
done
mv bee gone
kill -9 "$worker"
for _ in $(seq 500); do
    grep -q 'there is no such folder' start.txt && break
    sleep 0.01
done
mv gone bee
wait $pid || fail "a model that was gone for a moment: $(cat start.txt)"
grep -q ': model bee: there is no such folder.*; it starts again in 1 s$' start.txt && ! grep -q 'left out' start.txt ||
    fail "a worker did not wait for its model: $(cat start.txt)"
same_results calm out

# A worker that is killed three times, each time with its model loaded and at work, keeps both models.
rm -rf out
in_background out
for _ in 1 2 3; do
    for _ in $(seq 1000); do
        worker=$(children $pid)
        [ -n "$worker" ] && [ "$worker" != "${last:-}" ] && break
        sleep 0.01
    done
    kill -9 "$worker"
    last=$worker
done
wait $pid || fail "a worker that was killed three times: $(cat start.txt)"
! grep -q 'left out' start.txt || fail "models are blamed for kills: $(cat start.txt)"
same_results calm out

# A device that opens no model is at fault itself, whatever models there are.
got=0
KVEVAL_CPU_FAULT=open:999 "$program" sweep two.json -o x --threads 1 >start.txt 2>&1 || got=$?
[ $got = 3 ] && ! grep -q 'left out' start.txt || fail "a dead device exited $got: $(cat start.txt)"

# A stop before any completion is over says which limit would do, as with one model.
"$program" sweep two.json -o short --threads 1 --set max_new_tokens=7000 --set ignore_eos=true >stdout.txt 2>stderr.txt &
pid=$!
for _ in $(seq 600); do # until its speed is known, which takes a busy machine seconds
    "$program" status short 2>/dev/null | grep -q ' [1-9][0-9]* tokens/s, ' && break
    sleep 0.1
done
kill -s TERM $pid
wait $pid && fail "a stopped sweep of two models exited 0"
mentions stderr.txt finished --time-limit

# Which model a device holds.
run 0 sweep two.json -o x --max-batch 2 --threads 1 --display json
grep -q '"devices":.*"model":"\(pocket\|b\)","switches":1' stderr.txt || fail "no device holds a model: $(cat stderr.txt)"

cp -r bee twin
fails 2 two.json '"b"' '"twin"' weights -- \
    sweep two.json -o twins --set 'models=["pocket",{"model":"bee","as":"b"},"twin"]'
[ ! -e twins ] || fail "two models with the same weights made a folder"

# What takes one model says so, and a baseline may be another model's where the prompts are the same.
fails 2 two.json --model '"pocket"' -- \
    gate --run two.json --base base.json -o nowhere
base='baseline={"policy":"full","model":"pocket"}'
run 0 sweep two.json -o calm --set "$base"
grep -q '^full on b  ' stdout.txt || fail "two models under one name: $(cat stdout.txt)"
[ "$(cut -d , -f 8 calm/report/pairs.csv | sort | uniq -c | grep -c '^ *3 pocket\.full\.')" = 1 ] ||
    fail "pairs with the baseline of another model: $(cat calm/report/pairs.csv)"
run 0 sweep two.json -o alone_b --model b --set "$base"
mentions stderr.txt warning: '--model b' baseline pocket
cp calm/config.resolved.json before.json
fails 2 calm pocket '--model b' -o -- \
    sweep two.json -o calm --model b
same before.json calm/config.resolved.json
run 0 compare calm 'full on pocket' 'full on b'
mentions stdout.txt differ model weights
# Another chat template asks otherwise, so answers are no pairs.
printf '{"chat_template": "{%% for m in messages %%}{{ m.content }}{%% endfor %%}="}\n' >bee/tokenizer_config.json
printf '{"id": "q%d", "prompt": "%s", "gold": "2"}\n' 1 1+1 2 2+0 >mine.jsonl
run 2 sweep two.json -o x --set 'tasks=[{"name":"pocket.relay","file":"mine.jsonl"}]' --set "$base"
mentions stderr.txt q1 relay 'model b' tokens
run 0 sweep two.json -o x --set 'tasks=[{"name":"pocket.relay","file":"mine.jsonl"}]' --threads 1
rm bee/tokenizer_config.json
run 0 sweep two.json --dry-run --calibrate no
[ "$(grep -c '^model[ b]*: ' stdout.txt)" = 2 ] || fail "a dry run of two models: $(cat stdout.txt)"
finish
