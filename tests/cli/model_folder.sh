# What --dry-run finds in a model's folder without reading its weights, what it prints, and missing problem files.
. "$(dirname "$0")/lib.sh"
rm -rf good bad out out_head data
mkdir good data
cp "$source_dir"/tests/engine/hf/llama/config.json "$source_dir"/tests/engine/hf/llama/model.safetensors \
    good
# The embedded model's tokenizer without its merges, for this model has fewer tokens: 256 bytes and 7 special ones.
awk '/"id": 4/ { sub(/[0-9]+/, $2 - 192) } /": 255,$/ { sub(/,$/, ""); print $0 "}, \"merges\": []}}"; exit } 1' \
    "$source_dir/engine/pocket/tokenizer.json" >good/tokenizer.json
# dry MODEL: a dry run over four problems.
dry() {
    echo "{\"model\": \"$1\", \"max_new_tokens\": 30, \"tasks\": [{\"name\": \"pocket.lookup\", \"steps\": 4, \"problems\": 4}],
           \"policies\": [${policies-\"full\"}]}" >run.json
    run "$2" sweep run.json --dry-run "${@:3}"
}
# broken PATTERN: the folder bad is refused with that.
broken() {
    dry bad 2
    grep -q "$1" stderr.txt || fail "want '$1': $(cat stderr.txt)"
    [ ! -s stdout.txt ] || fail "$1: a table was printed"
}
fresh() {
    rm -rf bad
    cp -r good bad
}

dry good 0 --calibrate no
mentions stdout.txt speed: 'not measured'
dry good 0
mentions stdout.txt speed: '4 sequences'
grep -q '^time: about ' stdout.txt || fail "time: $(cat stdout.txt)"
grep -q "^device: this machine's memory, .* free" stdout.txt || fail "device: $(cat stdout.txt)"
mentions stdout.txt 'K and V' fit
# the time is that of each policy, and one that drops is not measured behind its budget
policies='"full", {"name": "quest", "k_pages": 2}, {"name": "h2o", "budget_tokens": [20, 40]}' dry good 0
# (on a machine that is busy the time for measuring may be up before the last of them)
for policy in full quest 'h2o budget_tokens=20' 'h2o budget_tokens=40'; do
    grep -qE "^  $policy +[0-9.]+ ms at [1-9]|^  not measured: .*$policy" stdout.txt || fail "the speed of $policy: $(cat stdout.txt)"
done
grep -qE '^  full +[0-9.]+ ms at [1-9]' stdout.txt || fail "the first policy is always measured: $(cat stdout.txt)"
grep -qE '^  h2o .*; own prefill [1-9][0-9]* tokens/s|^  not measured: .*h2o' stdout.txt || fail "own prefill: $(cat stdout.txt)"
[ "$(grep -c '^time: about ' stdout.txt)" = 1 ] || fail "time: $(cat stdout.txt)"
# a device that fails meanwhile ends nothing
echo '{"model": "pocket", "max_new_tokens": 30, "tasks": [{"name": "pocket.lookup", "steps": 4, "problems": 4}], "policies": ["full"]}' >run.json
KVEVAL_CPU_FAULT=launch:1 run 0 sweep run.json --dry-run
mentions stdout.txt speed: 'no time' 'fails on request'
! grep -q '^time: ' stdout.txt || fail "a time without a speed: $(cat stdout.txt)"
dry good 2 --calibrate perhaps
mentions stderr.txt calibrate '"perhaps"'
# K and V for this run's own limits, in whole pages: 2 layers, 1 KV head of 64, K and V, 4 bytes a value
dry good 0 --calibrate no --limit 1
longest=$(sed -n 's/.*longest sequence can have \([0-9]*\) tokens.*/\1/p' stdout.txt)
kib=$(sed -n 's/^  K and V *\([0-9.]*\) KiB.*/\1/p' stdout.txt)
[ "$(awk "BEGIN {print ($kib == int(($longest + 15) / 16) * 16)}")" = 1 ] ||
    fail "K and V of $longest tokens take $kib KiB, not 1 KiB each"

fresh; rm bad/model.safetensors
broken 'bad: holds neither model.safetensors nor model.safetensors.index.json'
fresh; head -c 40000 good/model.safetensors >bad/model.safetensors
broken 'but the file holds [0-9]* bytes of data; is the download complete?'
fresh; mv bad/model.safetensors bad/model-00001-of-00002.safetensors
cat >bad/model.safetensors.index.json <<'END'
{"weight_map": {"model.norm.weight": "model-00001-of-00002.safetensors", "lm_head.weight": "model-00002-of-00002.safetensors"}}
END
broken 'the file bad/model-00002-of-00002.safetensors that it names is missing'
sed -i 's/, "lm_head.*"}}/}}/' bad/model.safetensors.index.json
broken 'the tensor "model.embed_tokens.weight" is missing'
fresh; sed -i 's/"intermediate_size": 64/"intermediate_size": 80/' bad/config.json
broken 'mlp.gate_proj.weight" has the shape \[64, 128\], but config.json asks for \[80, 128\]'
# the same of a run on several devices, before workers start
run 2 sweep run.json -o out --devices cpu:0-1
mentions stderr.txt config.json '[80, 128]'
[ ! -e out ] || fail "a folder was made"

# YaRN with max_position_embeddings left alone: the refusal of a long prompt says which field to raise
fresh
sed -i 's/"max_position_embeddings": *[0-9]*/"max_position_embeddings": 32/
s/"rope_scaling": null/"rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 32}/' bad/config.json
broken '"max_position_embeddings" in config.json from 32'
mentions stderr.txt 128
# an empty rope_scaling hides nothing
sed -i 's/"rope_scaling"/"rope_scaling": {}, "rope_parameters"/' bad/config.json
broken '"max_position_embeddings" in config.json from 32'
sed -i 's/"rope_scaling": {}/"rope_scaling": "yarn"/' bad/config.json
broken '"rope_scaling" must be an object'

# An output head beside a tied embedding. head NAME ROWS: weights with lm_head.weight, which has the embedding's rows
# as they are, "other" rows, or as fp32; "alone": without the embedding.
head() {
    python3 - "$1" bad/model.safetensors <<'END'
import json, struct, sys
kind, path = sys.argv[1:]
raw = open(path, "rb").read()
n, = struct.unpack("<Q", raw[:8])
header, data = json.loads(raw[8:8 + n]), raw[8 + n:]
header.pop("__metadata__", None)
t = {k: (v["dtype"], v["shape"], data[v["data_offsets"][0]:v["data_offsets"][1]]) for k, v in header.items()}
dtype, shape, rows = t["model.embed_tokens.weight"]
if kind == "other":
    rows = rows[shape[1] * 2:] + rows[:shape[1] * 2]
if kind == "fp32":
    dtype, rows = "F32", b"".join(b"\0\0" + rows[i:i + 2] for i in range(0, len(rows), 2))
t["lm_head.weight"] = dtype, shape, rows
if kind == "alone":
    del t["model.embed_tokens.weight"]
at, header, data = 0, {}, b""
for k, (dtype, shape, rows) in t.items():
    header[k] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(rows)]}
    at += len(rows)
    data += rows
text = json.dumps(header).encode()
open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
END
}
answer() {
    run 0 generate --model bad --max-new-tokens 12 --prompt x7
    cp stdout.txt "$1.txt"
}
untie() { sed -i 's/"tie_word_embeddings": true/"tie_word_embeddings": false/' bad/config.json; }
fresh
answer tied
for kind in same fp32 alone; do
    fresh; head $kind
    answer $kind
    cmp tied.txt $kind.txt || fail "lm_head $kind: another answer than the tied model's"
    ! grep -q warning stderr.txt || fail "lm_head $kind: $(cat stderr.txt)"
done
fresh; head other
answer other
[ "$(grep -c 'lm_head.weight, which is used; set "tie_word_embeddings" to false' stderr.txt)" = 1 ] ||
    fail "own head: $(cat stderr.txt)"
cmp -s tied.txt other.txt && fail "the file's own head is not used"
dry bad 0 --calibrate no --limit 1
[ "$(grep -c 'lm_head.weight, which is used' stderr.txt)" = 1 ] || fail "own head, dry run: $(cat stderr.txt)"
run 0 sweep run.json -o out_head --devices cpu:0-1 --limit 1
[ "$(grep -c 'lm_head.weight, which is used' stderr.txt)" = 1 ] || fail "own head, two workers: $(cat stderr.txt)"
untie
answer untied
cmp other.txt untied.txt || fail "tie_word_embeddings false: another answer"
! grep -q warning stderr.txt || fail "tie_word_embeddings false: $(cat stderr.txt)"
fresh; untie
broken '"lm_head.weight" is missing.*"tie_word_embeddings"'
# an adapter beside full weights
fresh; echo '{"base_model_name_or_path": "a/b", "peft_type": "LORA"}' >bad/adapter_config.json
answer adapter
[ "$(grep -c 'adapter_config.json: the adapter is not applied' stderr.txt)" = 1 ] || fail "adapter: $(cat stderr.txt)"
cmp tied.txt adapter.txt || fail "adapter: another answer"

# a begin token that "prefix" writes and the tokenizer adds again
begins() { # TEXT COUNT: a dry run with that prefix warns so often
    echo "{\"model\": \"bad\", \"max_new_tokens\": 4, \"prefix\": \"$1\", \"chat\": \"none\", \"tasks\": [{\"name\": \"pocket.lookup\",
        \"steps\": 4, \"problems\": 2}], \"policies\": [\"full\", {\"name\": \"quest\", \"k_pages\": 2}]}" >begin.json
    run 0 sweep begin.json --dry-run --calibrate no
    [ "$(grep -c '"prefix" begins with the token' stderr.txt)" = "$2" ] || fail "prefix $1, want $2: $(cat stderr.txt)"
}
fresh
begins '<|User|>' 0
echo '{"tokenizer_class": "LlamaTokenizerFast", "bos_token": "<|User|>", "eos_token": "<|end_of_sentence|>"}' >bad/tokenizer_config.json
begins '<|User|>' 1
begins '<|User|>x' 1
begins 'x<|User|>' 0
begins '' 0
begins '<|Assistant|>' 0
sed -i 's/}/, "add_bos_token": false}/' bad/tokenizer_config.json
begins '<|User|>' 0

# layers that nobody has published, and a line to write
policies='{"name": "delta", "k_pages": 2, "l_pages": 1}' dry good 2
mentions stderr.txt '2 layers' 'good' '"layers": [0, 1]'
policies='{"name": "delta", "k_pages": 2, "l_pages": 1, "layers": [0, 1], "dense_layers": 0}' dry good 0 --calibrate no
policies='"full"' dry good 2 --set model_name=a/b
mentions stderr.txt '"model_name"'
# what a run took, and from where
echo '{"model": "pocket", "max_new_tokens": 20, "tasks": [{"name": "pocket.lookup", "steps": 4, "problems": 1}],
       "policies": [{"name": "delta", "k_pages": 2, "l_pages": 1}, {"name": "delta", "k_pages": 4}]}' >run.json
run 0 sweep run.json -o out
[ "$(grep -c 'policy delta: layers 2+5+7, published for pocket, which is the embedded model$' stderr.txt)" = 1 ] ||
    fail "layers taken: $(cat stderr.txt)"
grep -q 'delta: layers 2+5+7, published for pocket' out/report/report.md || fail "the report does not name the layers"

# all missing files at once
echo '{"model": "pocket", "tasks": ["aime24", "pocket.relay", {"name": "longbench", "as": "qasper", "subset": "qasper"}, "aime25"],
       "policies": ["full"]}' >run.json
fails 2 run.json data/aime/aime24.jsonl data/longbench/qasper.jsonl data/aime/aime25.jsonl '"file"' -- \
    sweep run.json --dry-run --data data
fails 2 run.json --data aime/aime24.jsonl aime/aime25.jsonl '"file"' -- \
    sweep run.json --dry-run -t aime24,aime25
run 0 sweep run.json --dry-run --data data -t relay --limit 1 --calibrate no
finish
