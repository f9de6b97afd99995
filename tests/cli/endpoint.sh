#!/bin/bash
# A sweep through an OpenAI-compatible server, against endpoint_server.py: whatever the server does, no sample is lost or
# doubled, and what comes out is the same; what cannot be had is said, and never made up.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not there"
. "$here/servers.sh"
rm -rf run.json port served client.pid ends a b c d f g h k l n out_* ./*.log
cat >run.json <<'JSON'
{"model": {"endpoint": "http://127.0.0.1:1/v1", "name": "mock", "tokenizer": "pocket", "retry_wait": 0.005, "retries": 6},
 "temperature": 0.7, "samples": 5, "max_new_tokens": 10,
 "tasks": [{"name": "pocket.relay", "problems": 20, "steps": 6}, {"name": "pocket.lookup", "problems": 20, "steps": 12}],
 "policies": ["full"]}
JSON
sweep() { # sweep CODE DIR ARGS...
    local code=$1 dir=$2
    shift 2
    run "$code" sweep run.json -o "$dir" --quiet --set "model.endpoint=$at" "$@"
}
says() {
    grep -qF "$1" stderr.txt || fail "said $(cat stderr.txt), want $1"
}
whole() { # whole DIR N: N jobs, each recorded once
    [ "$(journal_keys "$1" | wc -l)" = "$2" ] || fail "$1 has $(journal_keys "$1" | wc -l) records, want $2"
    [ "$(journal_keys "$1" | sort -u | wc -l)" = "$2" ] || fail "$1 has a record twice"
}

# --- without a server
run 0 sweep run.json --dry-run
grep -q "The server was not asked" stdout.txt || fail "a dry run does not say that the server was not asked"
at=http://127.0.0.1:1/v1
sweep 3 a
says "http://127.0.0.1:1/v1 cannot be asked for its models"
[ ! -e a ] || fail "a folder was made for a server that is not there"
for option in --devices=cpu --threads=2; do
    refuse 2 "${option%=*} says nothing to an endpoint; leave it out" sweep run.json -o a "$option"
done

# --- a list of models without end
serve_endpoint models=long
sweep 2 l
says "is longer than 4 MiB"
[ ! -e l ] || fail "a folder was made for a server whose list is too long"
stop_server

# --- only kveval's own server has other policies
serve_endpoint
sweep 2 l --set 'policies=["full","quest:k_pages=8"]'
says "policies.1 (quest): an endpoint decodes policy full alone, unless kveval serves it"
[ ! -e l ] || fail "a folder was made for policies that the server lacks"
stop_server

# --- one undisturbed run; the server counts what it gave
serve_endpoint log=served
sweep 0 a
whole a 200
[ "$(wc -l <served)" = 200 ] || fail "the server was asked $(wc -l <served) times for 200 jobs"
[ "$(sort -u served | wc -l)" = 200 ] || fail "two samples have the same seed"
grep -q '"kv_reads"\|"curve"' a/journal/*.jsonl && fail "a record has KV counts"
[ "$(grep -c '"kv_counts":false.*"ids_from":"text"' a/journal/*.jsonl)" = 200 ] || fail "records do not say what they lack"
python3 - <<'PY' || fail "tables have KV counts that nobody made"
import csv
for name, columns in (("accuracy", ["kv_density", "aux_density", "total_density", "peak_tokens", "prefill_density", "key_density"]),
                      ("lengths", ["kv_reads", "kv_reads_full", "aux_reads", "peak_tokens", "prefill_reads"])):
    rows = list(csv.DictReader(open(f"a/report/{name}.csv")))
    assert rows and all(r[c] == "" for r in rows for c in columns), name
PY
for format in lm-eval inspect lighteval csv; do
    run 0 export a --format $format -o out_$format
    grep -rqi 'nan' out_$format && fail "export $format has a NaN"
done
grep -rq '"kv_reads": *null' out_inspect || fail "inspect: kv_reads is not null"
run 0 show a relay 0 --sample 0
grep -q "KV read: not counted" stdout.txt || fail "show tells reads that nobody counted"
sweep 0 a # nothing is left to do
whole a 200
[ "$(wc -l <served)" = 200 ] || fail "a finished sweep asked for completions again"

# --- the same through a server that fails four times in a row, in any way
for seed in 1 2 3; do
    rm -rf f
    serve_endpoint faults=$seed delay=0.00$((seed == 1))
    sweep 0 f
    whole f 200
    same_results a f
done
# The tokens of tries that broke were added up again and again.
python3 - <<'PY' || fail "status.json counts tokens that nobody sent"
import glob, json
sent = sum(json.loads(l).get("tokens", 0) for f in glob.glob("f/journal/*.jsonl") for l in open(f))
shown = json.load(open("f/status.json"))["tokens"]
assert 0 < sent <= shown <= sent + 160, (sent, shown)
PY
serve_endpoint faults=4
sweep 0 g --set model.stream=false --set model.concurrency=3
whole g 200
same_results a g

# --- stopped and killed in the middle; the server that goes away ends the sweep and no job
serve_endpoint faults=5 delay=0.02
"$program" sweep run.json -o b --quiet --set "model.endpoint=$at" 2>stderr.txt >/dev/null &
pid=$!
for ((i = 0; i < 200; i++)); do
    [ "$(journal_keys b 2>/dev/null | wc -l)" -gt 20 ] && break
    sleep 0.05
done
kill -TERM $pid
wait $pid
got=$?
[ $got = 75 ] || fail "SIGTERM ended a sweep with $got"
n=$(journal_keys b | wc -l)
[ "$n" -gt 20 ] && [ "$n" -lt 200 ] || fail "SIGTERM came at $n of 200"
"$program" sweep run.json -o b --quiet --set "model.endpoint=$at" 2>stderr.txt >/dev/null &
pid=$!
for ((i = 0; i < 200; i++)); do
    [ "$(journal_keys b | wc -l)" -gt $((n + 20)) ] && break
    sleep 0.05
done
kill -KILL $pid
wait $pid 2>/dev/null
n=$(journal_keys b | wc -l)
[ "$n" -lt 200 ] || fail "kill -9 came too late"
serve_endpoint die=40
sweep 3 b --set model.retries=2
says "Couldn't connect to server; nothing comes through any more: see to the server"
grep -q "stopped with [0-9]* of 200 jobs saved, repeat the command to go on" stderr.txt || fail "it does not say what is saved"
grep -q '"finish":"error"' b/journal/*.jsonl && fail "jobs became errors because the server went away"
serve_endpoint
sweep 0 b
whole b 200
same_results a b
serve_endpoint always=503
sweep 3 h --limit 4 --set model.retries=1
says "the server answered 503: out of order; nothing comes through any more: see to the server"

# --- something accepts connections in the place of a server that is gone, or nothing answers: jobs became errors
for gone in close full; do
    rm -rf k
    serve_endpoint die=40 gone=$gone
    sweep 3 k --set model.retries=2 --set model.retry_wait=0.2 --set model.timeout=1 # longer than the last answers take
    says "nothing comes through any more: see to the server"
    [ $gone = close ] || says "cannot be reached: no connection came about in time"
    [ "$(journal_keys k | wc -l)" -ge 20 ] || fail "$gone: too few were decoded to begin with"
    grep -q '"finish":"error"' k/journal/*.jsonl && fail "$gone: jobs became errors because the server went away"
done
# A server that takes requests and never ends one made a night of errors after one good answer.
serve_endpoint good=5 then=drop
rm -rf k
sweep 3 k --set model.retries=1 --set model.concurrency=4
says "the last 20 jobs all failed, this one because the connection broke"
n=$(grep -c '"finish":"error"' k/journal/*.jsonl)
[ "$n" -ge 20 ] && [ "$n" -lt 60 ] || fail "a row of errors ended after $n"

# --- one request at a time and 429 for the others: "nothing comes through any more", while it was at work
for stream in true false; do
    serve_endpoint busy=1 delay=0.04
    rm -rf k
    sweep 0 k --limit 3 --set samples=2 --set model.retries=2 --set model.retry_wait=0.1 --set model.concurrency=4 --set model.stream=$stream
    whole k 12
done

# --- completions that came together with the answer that ends the sweep were dropped
serve_endpoint revoke=4
rm -rf k client.pid
"$program" sweep run.json -o k --quiet --set "model.endpoint=$at" --set model.concurrency=4 2>stderr.txt >/dev/null &
echo $! >client.pid
wait $!
says "the key has run out"
whole k 3

serve_endpoint always=400
sweep 3 h --retry-errors
says "the first 20 jobs all failed, this one because the server answered 400: I will not say this; see to it and add --retry-errors"
grep -q '"finish":"error"' h/journal/*.jsonl || fail "failed jobs are not recorded"

# --- SIGTERM while nothing comes
for kind in silent stuck; do
    serve_endpoint always=$kind
    "$program" sweep run.json -o k --quiet --set "model.endpoint=$at" 2>stderr.txt >/dev/null &
    pid=$!
    sleep 0.6
    begun=$(date +%s%N)
    kill -TERM $pid
    wait $pid
    got=$?
    [ $got = 75 ] || fail "SIGTERM ended a sweep that waits ($kind) with $got"
    [ $((($(date +%s%N) - begun) / 1000000)) -lt 5000 ] || fail "SIGTERM was noticed late ($kind)"
done
for limit in timeout stall; do # a silent server is given up, job by job
    serve_endpoint always=stuck
    rm -rf k
    sweep 5 k --limit 1 --set samples=1 --set model.retries=1 --set model.$limit=1
    [ "$(grep -c '"error":"the server was silent for too long, or was not done in time.*(after 2 tries)"' k/journal/*.jsonl)" = 2 ] ||
        fail "$limit: $(cut -c 1-600 k/journal/*.jsonl)"
done

# --- what never comes right is an error with its reason, in the denominator, and can be tried again
serve_endpoint faults=7 bad=1 ids=1
sweep 5 c
whole c 200
says "jobs failed; they count as error in the tables"
serve_endpoint faults=8 bad=1 ids=1
sweep 5 d
same_results c d
for why in "the server counted 1[0-9]* tokens in a prompt of" 'ended with the finish_reason' 'more text than 10 tokens' \
    'answered 500: out of order (after 7 tries)' 'answered 400: I will not say this' 'has no ..usage' 'cut the completion off after [0-9] of 10' \
    'another choice than the one'; do
    grep -q "\"error\":\"[^}]*$why" c/journal/*.jsonl || fail "no job failed with: $why"
done
grep -q '"ids_from":"server"' c/journal/*.jsonl || fail "the server's token ids were not taken"
bad=$(cat c/journal/*.jsonl | grep -c '"finish":"error"')
[ "$(cut -d, -f 13 c/report/lengths.csv | grep -c '^error$')" = "$bad" ] ||
    fail "failed jobs are not all in the tables"
serve_endpoint ids=1
sweep 5 c
[ "$(cat c/journal/*.jsonl | grep -c '"finish":"error"')" = "$bad" ] || fail "errors were tried again unasked"
sweep 0 c --retry-errors
sweep 0 d --retry-errors
same_results c d

# --- keys stay secret, and other mistakes are sentences
serve_endpoint key=hush-hush models='{"id": "mock", "max_model_len": 512}'
sweep 2 n
says "refuses access (401)"
sweep 2 n --set model.api_key_env=KVEVAL_TEST_KEY
says "run.json: the variable that model.api_key_env names is not set"
sweep 2 n --set model.api_key_env=hf_AbCdEf # the key itself, by mistake
grep -q hf_AbCdEf stderr.txt && fail "a key that stands in the place of the variable's name is printed"
KVEVAL_TEST_KEY=wrong-key sweep 2 n --set model.api_key_env=KVEVAL_TEST_KEY
says "bad key: Bearer *********"
KVEVAL_TEST_KEY=hush-hush sweep 2 n --set model.api_key_env=KVEVAL_TEST_KEY
says 'write "max_context": 512 into "model"'
KVEVAL_TEST_KEY=hush-hush sweep 0 n --set model.api_key_env=KVEVAL_TEST_KEY --set model.max_context=512
grep -rq hush-hush n stderr.txt stdout.txt && fail "the key was written down"
# Cut to 200 bytes first, the key was not found any more.
long=hush/$(printf 'Hush%.0s' {1..60})
serve_endpoint always=echo
rm -rf n
KVEVAL_TEST_KEY=$long sweep 3 n --set model.api_key_env=KVEVAL_TEST_KEY
says "answered 400: ......"
grep -riq hush n stderr.txt && fail "the beginning of a key was written down"
serve_endpoint models='{"id": "other"}'
sweep 2 n
says 'has no model "mock"; it has other'
serve_endpoint models=none
rm -rf n
sweep 0 n --limit 2
grep -q "cell" n/report/accuracy.csv || fail "a server without a list of models"

# --- the same model from another folder was decoded anew; where its weights are from is said all the same
serve_endpoint models='{"id": "mock", "root": "/old/place"}'
rm -rf n
sweep 0 n --limit 2
whole n 20
grep -q 'weights from /old/place' n/config.resolved.json || fail "the weights' place is not kept"
serve_endpoint log=served models='{"id": "mock", "root": "/new/place"}'
rm -f served
sweep 0 n --limit 2
[ ! -e served ] || fail "a model that moved was decoded anew"

# --- another model answers; all end tokens are asked for
serve_endpoint as=other
rm -rf n
run 0 sweep run.json -o n --set "model.endpoint=$at" --limit 2
[ "$(grep -c 'answers as "other", and "mock" was asked for' stderr.txt)" = 1 ] || fail "another model: $(cat stderr.txt)"
mkdir -p ends # the chat form has an end of its own
cp "$source_dir"/engine/pocket/{config,tokenizer}*.json ends
sed -i 's/"eos_token_id": *[0-9]*/"eos_token_id": [2, 5]/' ends/config.json
serve_endpoint ends='[2, 5, 450]'
rm -rf n
sweep 0 n --limit 2 --set model.tokenizer=ends
# One completion that cannot be tokenized ended the sweep.
sed -i 's/"Regex": *"/&(?:(?:q+)+)!|/' ends/tokenizer.json
serve_endpoint ends='[2, 5, 450]' queue=1
rm -rf n
sweep 5 n --limit 2 --set model.tokenizer=ends
whole n 20
grep -q '"error":"the tokenizer.s split pattern gave up' n/journal/*.jsonl || fail "$(cat stderr.txt)"
grep -q '"finish":"stop"' n/journal/*.jsonl || fail "all jobs failed because one cannot be tokenized"

# --- prompts as text: tokenized again by the server, to the same number of tokens
serve_endpoint
rm -rf n
sweep 0 n --limit 2 --set samples=1 --set model.prompt=text
whole n 4
finish
