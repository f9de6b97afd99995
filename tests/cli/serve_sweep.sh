#!/bin/bash
# A sweep through kveval's own server writes the journal of a local sweep: tokens, texts and counts of every policy, greedy
# and sampled, with one worker and with two, 64 requests at once.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not there"
. "$here/servers.sh"
rm -rf ./*.log run*.json local served*
list=full,quest:k_pages=4,raas:budget_tokens=48,delta:k_pages=4,l_pages=2,kascade:ratio=0.2,min_tokens=32,dms:cr=4
list+=,oracle:budget_tokens=32,streamingllm:window_tokens=48,form=evict,omnikv:ratio=0.2,min_tokens=32
list+=,lessismore:ratio=0.2,min_tokens=32,deltallm:theta=0.6,random:budget_tokens=40,recent=16,every=16
list+=,tova:budget_tokens=60,h2o:budget_tokens=60,snapkv:budget_tokens=40,window=16,every=16,when=decode
list+=,rkv:budget_tokens=40,every=16
problems=2
tokens=64
small && problems=1 tokens=48
python3 - "$list" $problems $tokens <<'PY'
import json, re, sys
# a comma before "name:" or "name," begins a policy, one before "key=" goes on with it
policies = re.split(r",(?=[a-z0-9]+(?::|,|$))", sys.argv[1])
run = {"tasks": [{"name": "pocket.relay", "problems": int(sys.argv[2]), "steps": 5},
                 {"name": "pocket.lookup", "problems": int(sys.argv[2]), "steps": 12}],
       "policies": policies, "samples": 2, "seed": 11, "temperature": [0, 0.8], "top_p": 0.95, "max_new_tokens": int(sys.argv[3]),
       "stop": ["Answer: 7"]}
json.dump({"model": "pocket", **run}, open("run_local.json", "w"))
json.dump({"model": {"endpoint": "http://127.0.0.1:1/v1", "name": "pocket", "tokenizer": "pocket", "concurrency": 64}, **run},
          open("run.json", "w"))
assert len(policies) == 16, policies
PY
compare() { # compare DIR: its records are those of the local sweep
    python3 - "$1" <<'PY' || fail "$1 differs from the local sweep"
import glob, json, sys
COUNTS = ["kv_reads", "kv_reads_full", "aux_reads", "peak_tokens", "prefill_peak_tokens", "prefill_reads", "prefill_aux_reads",
          "key_elements", "kv_selected"]
def records(folder):
    out = {}
    for path in glob.glob(folder + "/journal/*.jsonl"):
        for line in open(path):
            r = json.loads(line)
            # the folder of a cell ends in digits of its identity, in which the endpoint is
            key = r["cell"].split(".", 1)[1].rsplit("-", 1)[0], r.get("temperature"), r["problem"], r["sample"]
            out.setdefault(key, []).append(tuple([r["ids"], r["text"], r["finish"]] + [r[c] for c in COUNTS]))
    return {k: sorted(map(repr, v)) for k, v in out.items()}
local, served = records("local"), records(sys.argv[1])
assert local and local.keys() == served.keys(), (len(local), len(served))
bad = [k for k in local if local[k] != served[k]]
assert not bad, (len(bad), bad[:3], local[bad[0]], served[bad[0]])
print(sum(map(len, local.values())), "records are equal", file=sys.stderr)
PY
}
run 0 sweep run_local.json -o local --quiet --threads 1
serve_model pocket --policy "$list" --threads 1
run 0 sweep run.json -o served --quiet --set "model.endpoint=http://127.0.0.1:$port/v1"
compare served
# an option that the server does not have
fails 2 quest --policy -- sweep run.json -o other --quiet --set "model.endpoint=http://127.0.0.1:$port/v1" \
    --set 'policies=["quest:k_pages=5"]'
kill "$server"
server_ends 0
serve_model pocket --policy "$list" --devices cpu:0-1 --max-batch 16 --threads 1
run 0 sweep run.json -o served2 --quiet --set "model.endpoint=http://127.0.0.1:$port/v1" --set model.stream=false
compare served2
kill "$server"
server_ends 0
finish
