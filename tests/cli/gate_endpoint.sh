# kveval gate --run through an endpoint, against endpoint_server.py: the exit codes of nights whose truth is known, tier 1
# by the server's log-probabilities, and that nothing which cannot be compared passes.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not there"
. "$here/servers.sh"
rm -rf port base* night* local ./*.jsonl
python3 - <<'END'
import json
with open("sums.jsonl", "w") as f:
    for i in range(12):
        f.write(json.dumps({"problem": f"Find the number ({7 * i + 3}) .", "answer": str(7 * i + 3)}) + "\n")
END
cat >run.json <<'END'
{"model": {"endpoint": "http://127.0.0.1:1/v1", "name": "mock", "tokenizer": "pocket", "prompt": "text", "retry_wait": 0.005, "retries": 3},
 "seed": 1, "temperature": 0.7, "samples": 16, "max_new_tokens": 20, "policies": ["full"],
 "tasks": [{"kind": "math", "file": "sums.jsonl", "as": "sums", "prompts": {"plain": "{problem}"}}]}
END
serve() {
    serve_endpoint "vocabulary=$source_dir/engine/pocket/tokenizer.json" "$@"
}
baseline() { # baseline CODE FILE ARGS...
    local code=$1 file=$2
    shift 2
    rm -rf base
    run "$code" gate --run run.json --rebaseline --samples 8 --base "$file" -o base --set "model.endpoint=$at" "$@"
}
night() { # night CODE FILE ARGS...: in a new folder, with another seed than the baseline's
    local code=$1 file=$2
    shift 2
    rm -rf night
    run "$code" gate --run run.json --base "$file" -o night --set "model.endpoint=$at" --set seed=2 "$@"
}

for option in --device=cpu --threads=2 --step-timeout=5; do
    fails 2 "${option%=*}" endpoint -- gate --run run.json --rebaseline --base base.jsonl -o base "$option"
done

# --- the same server twice, with noise: within the band, and 0
serve right=1 logprobs=prompt noise=0.05
baseline 0 base.jsonl
[ "$(grep -c '"kind":"scores"' base.jsonl)" = 3 ] || fail "scores are not kept: $(cut -c 1-200 base.jsonl)"
grep -q '"kv_reads"' base.jsonl && fail "reads that nobody counted"
night 0 base.jsonl
mentions stdout.txt replays: '3 of 3' noise
mentions stdout.txt gate: pass
python3 - <<'END' || fail "the band is not in gate.json"
import json
r = json.load(open("night/gate/gate.json"))["replays"]
assert len(r) == 3 and all(0 < x["kl"] <= x["kl_limit"] and x["reads"] is None and not x["failed"] for x in r), r
END
# A night that was judged is over: its answers passed for those of another build.
run 2 gate --run run.json --base base.jsonl -o night --set "model.endpoint=$at" --set seed=2
mentions stderr.txt night judged -o
grep -q '"verdict": "error"' night/gate/gate.json || fail "an old pass stayed"

# --- a planted loss: 1, with the problems that turned; a planted shift of log-probabilities: 1, and what it costs
serve right=0.4 logprobs=prompt noise=0.05
night 1 base.jsonl
mentions stdout.txt replays: '3 of 3'
mentions stdout.txt regression full
[ "$(python3 -c 'import json; print(len(json.load(open("night/gate/gate.json"))["largest_losses"]))')" = 10 ] || fail "the problems that turned are not named"
serve right=1 logprobs=prompt noise=0.05 shift=0.3
night 1 base.jsonl
mentions stdout.txt replays: '0 of 3'
mentions stdout.txt regression: '3 of 3 replays have changed' 'within 5 points'
[ "$(journal_keys night | wc -l)" = 48 ] || fail "not one look was taken after a change: $(journal_keys night | wc -l) records"

# --- the same scores as an echo of texts and of ids; an echo of the next place is none
for how in echo ids; do
    serve right=1 logprobs=$how noise=0.05
    night 0 base.jsonl
    mentions stdout.txt replays: '3 of 3' noise
done
serve right=1 logprobs=next
night 2 base.jsonl
mentions stderr.txt base.jsonl log-probabilities 'next place'

# --- a server without log-probabilities: the baseline has them, 2; the baseline has none, and accuracy decides
for how in none 500; do
    serve right=1 "logprobs=$how"
    [ $how = none ] && serve right=1
    night 2 base.jsonl
    mentions stderr.txt log-probabilities --rebaseline
    grep -q '"verdict": "error"' night/gate/gate.json || fail "$how: gate.json does not say error"
done
serve right=1
baseline 0 bare.jsonl
mentions stdout.txt '0 replays' log-probabilities
grep -q '"kind":"unscored"' bare.jsonl || fail "the base file does not say why it has no replays"
night 0 bare.jsonl
mentions stdout.txt replays: none log-probabilities
grep -q '"replays_missing": "the server gives no' night/gate/gate.json || fail "gate.json does not say why there are no replays"

# --- the server goes away in the middle: 3; repeated, it goes on; too few answers: 4
serve right=1 die=40
rm -rf night
run 3 gate --run run.json --base bare.jsonl -o night --set "model.endpoint=$at" --set seed=2
mentions stderr.txt 'repeat the command'
grep -q '"verdict": "error"' night/gate/gate.json || fail "gate.json does not say error"
n=$(journal_keys night | wc -l)
[ "$n" -gt 0 ] && [ "$n" -lt 48 ] || fail "the server went away after $n answers"
serve right=1
run 0 gate --run run.json --base bare.jsonl -o night --set "model.endpoint=$at" --set seed=2
[ "$(journal_keys night | wc -l)" = 96 ] || fail "a night that was cut short did not go on"
serve right=1 bad=1 # some requests never come right: failed jobs are an error, asked again when the command is repeated
night 3 bare.jsonl
mentions stdout.txt 'jobs failed'
serve right=1
run 0 gate --run run.json --base bare.jsonl -o night --set "model.endpoint=$at" --set seed=2
cp sums.jsonl all.jsonl
head -n 3 all.jsonl >sums.jsonl
baseline 0 few.jsonl
night 4 few.jsonl
mentions stdout.txt gate: inconclusive
cp all.jsonl sums.jsonl

# --- another name, another number of bytes, and a baseline of this program's own: 2, unless it is asked for
serve right=1 'models={"id": "other"}' as=other
night 2 bare.jsonl --set model.name=other
mentions stderr.txt endpoint:other --other-numerics
serve right=1 'models={"id": "mock", "meta": {"n_params": 5, "size": 7}}'
night 2 bare.jsonl
mentions stderr.txt 'other weights' mock --other-numerics
night 0 bare.jsonl --other-numerics
run 0 gate --run run.json --rebaseline --samples 1 --base own.jsonl -o local --model pocket -q
serve right=1 logprobs=prompt
night 2 own.jsonl
mentions stderr.txt endpoint:mock --other-numerics
night 1 own.jsonl --other-numerics # this server's log-probabilities are not those of the pocket model
mentions stdout.txt numerics: endpoint:mock 'cannot be told'
mentions stdout.txt replays: '0 of 3'
finish
