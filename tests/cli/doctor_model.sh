# doctor MODEL: each check on a sound model, and on copies of its folder with one thing broken. The model is the embedded
# one, as it is and as a folder.
. "$(dirname "$0")/lib.sh"

# folder: a sound copy of the embedded model's folder in m.
folder() {
    rm -rf m
    mkdir m
    cp "$source_dir"/engine/pocket/config.json "$source_dir"/engine/pocket/tokenizer.json \
        "$source_dir"/engine/pocket/model.safetensors m
}
# line FINDING WHAT WORDS: the output has such a line.
line() {
    grep -q "^$(printf '%-8s %-12s' "$1" "$2") .*$3" stdout.txt || fail "no line $1 $2 ... $3 in:
$(cat stdout.txt)"
}
# finds CODE N_FAULTS ARGS...
finds() {
    local code=$1 faults=$2
    shift 2
    run "$code" doctor "$@"
    [ "$(grep -c '^fault ' stdout.txt)" = "$faults" ] || fail "doctor $*: not $faults faults in: $(cat stdout.txt)"
    [ "$faults" = 0 ] || grep -q '^ *-> ' stdout.txt || fail "doctor $*: a fault without a way out: $(cat stdout.txt)"
}

finds 0 0 pocket
line ok model 'qwen2, 8 layers, 4 query and 2 KV heads of 64, hidden 256, MLP 768, vocabulary 512, context 4096'
line ok weights '6,430,976 parameters, bf16'
line ok tokenizer 'all 13 came back equal'
line ok template 'the form pocket'
line ok prompt 'What is the capital of France'
grep -q '^ *449 <|begin_of_sentence|> | 451 <|User|> | 54 W |.* 274  is$' stdout.txt || fail "no ids: $(cat stdout.txt)"
grep -qF '<|begin_of_sentence|><|User|>What is the capital of France?<|Assistant|><think>\n' stdout.txt || fail "no prompt: $(cat stdout.txt)"
line ok end '450 <|end_of_sentence|>'
line ok answer '"'
mentions stdout.txt '24 tokens' tokens/s cpu
# its ids are those of generate
run 0 generate --prompt 'What is the capital of France?' -n 24
cp stdout.txt text.txt
run 0 doctor pocket
grep -qF "$(head -n 1 text.txt)" stdout.txt || fail "another answer than generate's: $(cat text.txt stdout.txt)"

# memory: 8,192 bytes a token in fp32, half of it in bf16
run 0 doctor pocket --context 1024 --batch 2
line ok memory 'K and V (fp32) 8.0 KiB a token: 8.0 MiB for a sequence of 1024, 16.0 MiB for 2 of them$'
grep -q '^ *[0-9.]* .iB are free$' stdout.txt || fail "how much is free? $(cat stdout.txt)"
grep -q 'the cache holds' stdout.txt && fail "16 MiB are more than the cache has: $(cat stdout.txt)"
run 0 doctor pocket --batch 300
mentions stdout.txt cache '512.0 MiB'
run 0 doctor pocket --context 1025 --batch 1 --kv-dtype bf16
line ok memory 'K and V (bf16) 4.0 KiB a token: 4.1 MiB for a sequence of 1025,'
finds 3 1 pocket --context 5000
line fault budget 'a context of 5000 tokens is asked for; this model has 1 to 4096'

# a folder: what is missing is said, and no fault when nothing needs it
folder
finds 0 0 m
line ok files 'config.json, tokenizer.json, model.safetensors'
grep -q '^ *without generation_config.json: ' stdout.txt || fail "which files are missing? $(cat stdout.txt)"
line ok weights '6,430,976 parameters, bf16, 12.3 MiB'

rm m/tokenizer.json
finds 3 1 m
line fault tokenizer 'no tokenizer.json'
line warning answer 'the weights load and fit config.json'
folder
sed 's/"type": *"BPE"/"type": "Unigram"/' "$source_dir/engine/pocket/tokenizer.json" >m/tokenizer.json
finds 3 1 m
line fault tokenizer Unigram

folder
rm m/model.safetensors
finds 3 1 m
line fault weights 'none: '
line ok tokenizer 'all 13'
line ok end '450 <|end_of_sentence|>'
line warning answer none
folder
head -c 1000000 "$source_dir/engine/pocket/model.safetensors" >m/model.safetensors
finds 3 1 m
line fault weights 'is the download complete?'
: >m/model.safetensors
finds 3 1 m
line fault weights 'is empty'

folder
sed 's/"hidden_size": *256/"hidden_size": 128/; s/"head_dim": *[0-9]*/"head_dim": 64/' "$source_dir/engine/pocket/config.json" >m/config.json
finds 3 1 m
line fault weights "has the shape"
folder
sed 's/"model_type": *"[a-z0-9]*"/"model_type": "mamba"/' "$source_dir/engine/pocket/config.json" >m/config.json
finds 3 1 m
line fault model mamba
rm m/config.json
finds 3 1 m
line fault model 'cannot read m/config.json'
line ok tokenizer 'all 13'

# chat templates
folder
echo '{"chat_template": "{% include 1 %}", "eos_token": "<|end_of_sentence|>"}' >m/tokenizer_config.json
finds 3 1 m
line fault template 'the tag "include" is not supported'
mentions stdout.txt --set chat=NAME pocket
line ok answer '"'
echo '{"chat_template": "{% for m in messages %}<|User|>{{ m.content }}<|im_end|>{% endfor %}", "eos_token": "<|end_of_sentence|>"}' >m/tokenizer_config.json
finds 0 0 m
line ok template "the model's own"
line warning prompt '<|im_end|> is no token here'
echo '{"chat_template": "{% for m in messages %}{% if m.role == \"user\" %}<|User|>{% else %}<|Assistant|>{% endif %}{{ m.content }}{% endfor %}", "eos_token": "<|end_of_sentence|>"}' >m/tokenizer_config.json
finds 0 0 m
line warning end 'closes an answer with 451 <|User|>, which ends no completion'
echo nonsense >m/tokenizer_config.json
finds 3 1 m

# end tokens
folder
sed 's/"eos_token_id": *[0-9]*/"eos_token_id": 500/' "$source_dir/engine/pocket/config.json" >m/config.json
finds 0 0 m
line warning end '500'

# what other engines would do to the distribution
folder
echo '{"repetition_penalty": 1.0, "suppress_tokens": [], "bad_words_ids": null}' >m/generation_config.json
finds 0 0 m
grep -q 'is not applied' stdout.txt && fail "nothing of it would be applied"
echo '{"repetition_penalty": 1.05, "suppress_tokens": [3], "min_new_tokens": 0}' >m/generation_config.json
finds 0 0 m
mentions stdout.txt generation_config.json repetition_penalty suppress_tokens
echo '{"model": "m", "tasks": ["pocket.relay"], "policies": ["full"]}' >unapplied.json
run 0 sweep unapplied.json -o unapplied --limit 1 --dry-run
grep -q 'generation_config.json has repetition_penalty, suppress_tokens' stdout.txt stderr.txt || fail "a sweep does not say it"

# tokens around a plain text, and a vocabulary that cannot spell everything
folder
echo '{"add_bos_token": true, "tokenizer_class": "LlamaTokenizerFast", "bos_token": "<|begin_of_sentence|>"}' >m/tokenizer_config.json
finds 0 0 m
line ok 'plain text' '1 token stands around it'
# replace FROM TO: a normalizer that changes texts
replace() {
    sed "s/\"normalizer\": *null/\"normalizer\": {\"type\": \"Replace\", \"pattern\": {\"String\": \"$1\"}, \"content\": \"$2\"}/" \
        "$source_dir/engine/pocket/tokenizer.json" >m/tokenizer.json
    finds 0 0 m
    line ok tokenizer 'of 13 scripts and kinds 12 came back equal'
}
folder
replace fox cat
line warning tokenizer 'English: "The quick brown fox .*comes back as "The quick brown cat .*each character alone survives'
replace ż z
line warning tokenizer 'Latin with marks: "ż" comes back as "z"'

# a vocabulary without all bytes, which has no line end
folder
cp "$source_dir/tests/engine/text/tokenizers/few.json" m/tokenizer.json
run 0 doctor m
line warning tokenizer 'program text: "\\n" comes back as "", so the vocabulary cannot spell it'
line ok tokenizer '418 tokens; of texts of 13 scripts and kinds 3 came back equal'

# by its id in the Hub's cache
folder
commit=0123456789abcdef0123456789abcdef01234567
rm -rf hf
mkdir -p "hf/hub/models--own--Model-1.5B/refs" "hf/hub/models--own--Model-1.5B/snapshots"
printf '%s' "$commit" >hf/hub/models--own--Model-1.5B/refs/main
mv m "hf/hub/models--own--Model-1.5B/snapshots/$commit"
HF_HUB_CACHE=$PWD/hf/hub finds 0 0 own/Model-1.5B
line ok files 'config.json, tokenizer.json, model.safetensors'

refuse 2 'doctor: nosuch is no folder; give "pocket", a folder with config.json, tokenizer.json and *.safetensors, or the id of a model in the Hub'"'"'s cache' doctor nosuch
fails 2 doctor: --batch 512 '"0"' -- doctor pocket --batch 0
mkdir -p empty
finds 3 4 empty
finish
