#!/usr/bin/env bash
# A model's folder is edited between two sweeps: results of before are never shown for the model that is there now. Which
# field does what is tests/evalcore/plan/test_model_fields.c, which decodes nothing; here a few of them are decoded.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$PWD/cache

rm -rf ./*
pocket=$source_dir/engine/pocket
mkdir m
cp "$pocket/config.json" "$pocket/tokenizer.json" "$pocket/model.safetensors" m/
cat >run.json <<'EOF'
{"model": "m", "max_new_tokens": 24, "tasks": [{"name": "pocket.lookup", "problems": 3, "steps": 8}], "policies": ["full"]}
EOF
sweep() {
    run 0 sweep run.json --threads 1 --display json "$@"
}
records() {
    cat "$1"/journal/*.jsonl | wc -l
}
# fact DIR NAME: what the configuration says of the model.
fact() {
    grep -o "^ \"$2\": \"[0-9a-f]*\"" "$1/config.resolved.json" || fail "$1 does not say its $2"
}
# tokens DIR: of each problem, whatever its key.
tokens() {
    grep -ho '"ids":\[[0-9,]*\]' "$1"/journal/*.jsonl | sort
}

sweep -o x
cp -r m kept
grep -q '"eos_token_id": 450' m/config.json && grep -q '"rope_theta": 10000.0' m/config.json ||
    fail "the embedded model's config.json is another: edit the lines below"

# anew NAME COMMAND: after the edit, status and report warn, the sweep decodes all jobs, and its table is a fresh folder's.
anew() {
    rm -rf m y "$1"
    cp -r kept m
    cp -r x y
    (cd m && eval "$2")
    run 0 status y
    mentions stderr.txt warning 'model m' y || echo "  after $1" >&2
    run 0 report y
    mentions stderr.txt warning 'model m' || echo "  after $1" >&2
    mentions y/report/report.md Warning 'model m' || echo "  after $1" >&2
    sweep -o y
    mentions stderr.txt warning 'model m' anew || echo "  after $1" >&2
    [ "$(records y)" = 6 ] || fail "$1: $(records y) records, want 6"
    sweep -o "$1"
    same_results y "$1"
    [ "$(fact y configuration)" != "$(fact x configuration)" ] || fail "$1: the same configuration"
    run 0 journal verify y
    mentions stdout.txt '3 of no cell'
    run 0 status y
    [ ! -s stderr.txt ] || fail "$1, decoded anew: $(cat stderr.txt)"
    grep -q 'Warning.*model m' y/report/report.md && fail "$1, decoded anew: the report warns"
}
anew theta 'sed -i s/10000.0/100.0/ config.json'
[ "$(tokens theta)" != "$(tokens x)" ] || fail "theta 100 gives the same tokens: the test shows nothing"
small || anew ends 'echo "{\"eos_token_id\": [450, 220]}" >generation_config.json'
small || anew eps 'sed -i "s/\"rms_norm_eps\": 1e-06/\"rms_norm_eps\": 1e-02/" config.json'
small || anew yarn 'sed -i "s/\"hidden_act\"/\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4.0}, \"hidden_act\"/" config.json'
small || anew special 'sed -i "s/\"special\": false/\"special\": true/" tokenizer.json'

# What changes no result changes no key: names, dtypes, another way to write the same. Nor does it warn.
rm -rf m y
mkdir m
cp kept/tokenizer.json m/
if command -v python3 >/dev/null; then
    cp kept/model.safetensors m/another-name.safetensors
    python3 - <<'EOF'
import json, struct
data = open("m/another-name.safetensors", "rb").read()
names = json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])
index = {"weight_map": {name: "another-name.safetensors" for name in names if name != "__metadata__"}}
json.dump(index, open("m/model.safetensors.index.json", "w"))
EOF
else
    cp kept/model.safetensors m/
fi
sed 's/bfloat16/float32/; s/Qwen2ForCausalLM/Another/; s/"rope_theta": 10000.0/"rope_theta": 1e4, "_name_or_path": "elsewhere"/' kept/config.json >m/config.json
echo '{"eos_token_id": [450, 450], "temperature": 0.6}' >m/generation_config.json
cp -r x y
run 0 status y
[ ! -s stderr.txt ] || fail "the same model otherwise written: $(cat stderr.txt)"
sweep -o y
[ "$(records y)" = 3 ] || fail "the same model otherwise written was decoded again"
sweep -o same
[ "$(tokens same)" = "$(tokens x)" ] || fail "other completions under the same keys"
[ "$(journal_keys same | sort)" = "$(journal_keys x | sort)" ] || fail "other keys for the same model"

# A part of a sweep before the edit and the rest after it never make one table.
rm -rf m
cp -r kept m
sweep -o part --limit 1
sed -i s/10000.0/100.0/ m/config.json
sweep -o part
[ "$(records part)" = 4 ] || fail "after a --limit: $(records part) records, want 4"
same_results part theta
mentions part/report/report.md '1 finished' 'no longer'

# The folder is gone: what is there is read as before. One that is no model any more is said.
mv m away
run 0 status part
[ ! -s stderr.txt ] || fail "without the model's folder: $(cat stderr.txt)"
run 0 report part
mv away m
echo '{' >m/config.json
run 0 status part
mentions stderr.txt warning 'model m' config.json

# What makes other prompts, or another context, is said too. These jobs have prompts of their own and end before.
rm -rf m y
cp -r kept m
edited() {
    rm -rf y
    cp -r x y
    run 0 status y
    mentions stderr.txt warning 'model m' "$1"
    sweep -o y
    mentions stderr.txt warning 'model m' "$1"
    [ "$(records y)" = 3 ] || fail "a change that says nothing to these jobs decoded $(records y) records"
    run 0 status y
    [ ! -s stderr.txt ] || fail "after the sweep: $(cat stderr.txt)"
}
sed -i 's/"max_position_embeddings": 4096/"max_position_embeddings": 2048/' m/config.json
edited context
cp kept/config.json m/
echo "<|User|>{{ messages[0]['content'] }}" >m/chat_template.jinja
small || edited prompts

# Two configurations over one file of weights are two models of one sweep; two folders of one model are not.
rm -rf m
cp -r kept m
mkdir m-theta
ln -s ../m/model.safetensors ../m/tokenizer.json m-theta/
sed s/10000.0/100.0/ m/config.json >m-theta/config.json
sed 's/"model": "m"/"models": ["m", "m-theta"]/' run.json >two.json
run 0 sweep two.json -o two --threads 1 --display json
[ "$(records two)" = 6 ] || fail "two models over one file: $(records two) records, want 6"
[ "$(tokens two | sort)" = "$({ tokens x; tokens theta; } | sort)" ] || fail "two models over one file: other tokens"
cp -r m twin
sed -i s/bfloat16/float32/ twin/config.json
fails 2 '"m"' '"twin"' -- sweep two.json -o twins --set 'models=["m","twin"]'

# Weights of the same size and time of change, in the same inode or another: the cache knows them apart.
sleep 3 # what was changed a moment ago is not cached
sweep -o before
ls cache/kveval/weights-* >/dev/null || fail "no hash was cached"
cp -p m/model.safetensors time
size=$(stat -c %s m/model.safetensors)
printf '\001\002' | dd of=m/model.safetensors bs=1 seek=$((size - 4096)) conv=notrunc status=none
touch -r time m/model.safetensors
sweep -o after
[ "$(fact after weights)" != "$(fact before weights)" ] || fail "weights replaced in place have the old hash"
run 0 status before
mentions stderr.txt warning 'model m' weights
mv time m/model.safetensors
sweep -o before
[ "$(records before)" = 3 ] || fail "the old weights in a new inode were decoded again"

# A folder of an earlier version does not say of which configuration its records are.
sed -i 's/"schema": 2,/"schema": 1,/' before/config.resolved.json
for command in "sweep run.json -o before" "report before" "status before" "journal verify before"; do
    run 2 $command
    mentions stderr.txt before/config.resolved.json 'version 1' 'version 2' || echo "  after $command" >&2
done
finish
