#!/bin/bash
# Log-probabilities of prompts through kveval serve: those of a sweep that scores the same options as a block, under policies
# of decode steps and of the prompt, and tier 1 of a gate whose endpoint is this server.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not there"
. "$here/servers.sh"
rm -rf ./*.log ./*.json ./*.jsonl local base night
python3 - <<'PY'
import json
with open("rows.jsonl", "w") as f:
    for i in range(4):
        a, b = 17 * i + 5, 3 * i + 2
        f.write(json.dumps({"question": f"Apply the rules in order .\n rule 1 : xp = {a}\n rule 2 : kg = {b}\n rule 3 : gb = xp + kg\nFind gb .",
                            "options": [str(a + b), str(a - b), f"{a} + {b} = {a + b} \u00e9"], "answer": "A"}) + "\n")
PY
cat >local.json <<'END'
{"model": "pocket", "policies": ["full", "quest:k_pages=1", "dms:cr=4", "kascade:ratio=0.2,min_tokens=16,prefill=sparse"],
 "tasks": [{"kind": "likelihood", "file": "rows.jsonl", "as": "rows", "scored": "block"}]}
END
run 0 sweep local.json -o local --quiet --threads 1
serve_model pocket --policy full,quest:k_pages=1,dms:cr=4,kascade:ratio=0.2,min_tokens=16,prefill=sparse --threads 1 --max-batch 8
python3 "$here/serve_client.py" "$port" scores local || fail "the server's log-probabilities are not the sweep's"

# --- a gate whose endpoint is this server: scores in its base file, and bits as long as the server is the same
cat >run.json <<'END'
{"model": {"endpoint": "http://127.0.0.1:1/v1", "name": "pocket", "tokenizer": "pocket", "concurrency": 16},
 "seed": 1, "temperature": 0.7, "samples": 8, "max_new_tokens": 40, "policies": ["full"],
 "tasks": [{"name": "pocket.relay", "problems": 4, "steps": 4}]}
END
night() { # night CODE ARGS...
    rm -rf night
    run "$1" gate --run run.json --base base.jsonl -o night --set "model.endpoint=http://127.0.0.1:$port/v1" --set seed=2 "${@:2}"
}
run 0 gate --run run.json --rebaseline --samples 8 --base base.jsonl -o base --set "model.endpoint=http://127.0.0.1:$port/v1"
mentions stdout.txt '3 replays'
[ "$(grep -c '"kind":"scores"' base.jsonl)" = 3 ] || fail "scores are not kept: $(cut -c 1-200 base.jsonl)"
night 4 # four problems decide nothing
mentions stdout.txt replays: '3 of 3'
python3 - <<'END' || fail "replays of one server are not the same bits"
import json
r = json.load(open("night/gate/gate.json"))["replays"]
assert len(r) == 3 and all(x["kl"] == 0 and not x["failed"] for x in r), r
END
kill "$server"
server_ends 0
# another class of numerics is another build
serve_model pocket --threads 1 --kv-dtype bf16
night 2
mentions stderr.txt --other-numerics
night 4 --other-numerics
mentions stdout.txt replays: '3 of 3'
kill "$server"
server_ends 0

# --- where the tokens of an echo begin
mkdir -p folder/pocket
cp "$source_dir"/engine/pocket/{config.json,model.safetensors} folder/pocket
sed 's/"rstrip": *false/"rstrip": true/' "$source_dir/engine/pocket/tokenizer.json" >folder/pocket/tokenizer.json
serve_model folder/pocket --threads 1 --max-batch 8
python3 "$here/serve_client.py" "$port" swallowed || fail "behind swallowed white space offsets are wrong"
kill "$server"
server_ends 0
sed 's/"normalizer": null/"normalizer": {"type": "NFC"}/' "$source_dir/engine/pocket/tokenizer.json" >folder/pocket/tokenizer.json
serve_model folder/pocket --threads 1 --max-batch 8
python3 "$here/serve_client.py" "$port" composed || fail "behind a composed character offsets are wrong"
kill "$server"
server_ends 0
finish
