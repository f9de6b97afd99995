# The filter between texts and token ids, and which tokens stand around a plain text: the table is what Transformers 4.57.1
# gives for the same folders.
. "$(dirname "$0")/lib.sh"

# answers WANT LINE ARGS...: the answer to one line.
answers() {
    local want=$1 line=$2 got
    shift 2
    got=$(printf '%s\n' "$line" | "$program" tokenize "$@" 2>stderr.txt)
    [ "$got" = "$want" ] || fail "tokenize $* of $line
  said  $got $(cat stderr.txt)
  want  $want"
}

# folder CLASS PROCESSOR FLAGS: a model folder m, the tests' tokenizer of Llama 3's kind.
folder() {
    local template='{"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|begin_of_text|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], "pair": [], "special_tokens": {"<|begin_of_text|>": {"id": "<|begin_of_text|>", "ids": [2405], "tokens": ["<|begin_of_text|>"]}}}'
    rm -rf m
    mkdir m
    case $2 in
    template) sed 's/"post_processor": *null/"post_processor": '"${template//|/\\|}"'/' \
        "$source_dir/tests/engine/text/tokenizers/llama3.json" >m/tokenizer.json ;;
    *) cp "$source_dir/tests/engine/text/tokenizers/llama3.json" m/tokenizer.json ;;
    esac
    printf '{"tokenizer_class": "%s", "bos_token": "<|begin_of_text|>", "eos_token": {"content": "<|end_of_text|>"}%s}\n' \
        "$1" "$3" >m/tokenizer_config.json
}

while read -r class processor bos eos ids; do
    flags=
    [ "$bos" = - ] || flags=", \"add_bos_token\": $bos"
    [ "$eos" = - ] || flags="$flags, \"add_eos_token\": $eos"
    folder "$class" "$processor" "$flags"
    answers "{\"ids\":[$ids]}" '{"text": "Hello"}' -M m
done <<'END'
PreTrainedTokenizerFast none     -     -     39,289,463
PreTrainedTokenizerFast none     true  true  39,289,463
PreTrainedTokenizerFast template -     -     2405,39,289,463
PreTrainedTokenizerFast template false true  2405,39,289,463
Qwen2Tokenizer          none     true  -     39,289,463
LlamaTokenizerFast      none     -     -     2405,39,289,463
LlamaTokenizerFast      none     true  true  2405,39,289,463,2406
LlamaTokenizerFast      none     false -     39,289,463
LlamaTokenizerFast      template false true  39,289,463,2406
LlamaTokenizer          template -     -     2405,39,289,463
CodeLlamaTokenizerFast  none     -     true  2405,39,289,463,2406
END
answers '{"ids":[39,289,463]}' '{"text": "Hello"}' -M m --bare
answers '{"text":"<|begin_of_text|>Hello"}' '{"ids": [2405, 39, 289, 463]}' -M m
answers '{"text":"Hello"}' '{"ids": [2405, 39, 289, 463]}' -M m --skip-special
answers '{"text":""}' '{"ids": []}' -M m
sed -i 's/<|begin_of_text|>/<s>/' m/tokenizer_config.json
run 2 tokenize -M m
mentions stderr.txt bos_token '"<s>"' tokenizer.json

# What lies beside tokenizer.json may say the same of tokens but nothing else, since Transformers would take that.
# A row: the file, what it holds, and words of the refusal, none where the folder is taken.
entry='"lstrip": false, "normalized": false, "single_word": false'
while IFS='~' read -r file text words; do
    rm -rf m
    mkdir m
    cp "$source_dir/tests/engine/text/tokenizers/qwen2.json" m/tokenizer.json
    [ "$file" != both ] || echo '{"bos_token": "<|new|>"}' >m/special_tokens_map.json
    printf '%s\n' "${text//ENTRY/$entry}" >"m/${file/both/tokenizer_config.json}"
    if [ -z "$words" ]; then
        run 0 tokenize -M m
        continue
    fi
    run 2 tokenize -M m
    [ "$(wc -l <stderr.txt)" = 1 ] && grep -qF -- "$words" stderr.txt || fail "$file $text: $(cat stderr.txt)"
done <<'END'
tokenizer_config.json~{"added_tokens_decoder": {"2602": {ENTRY, "content": "<|im_end|>", "rstrip": false, "special": true}}}~
tokenizer_config.json~{"added_tokens_decoder": {"2602": {ENTRY, "content": "<|im_end|>", "rstrip": true, "special": true}}}~"<|im_end|>" with the id 2602, and tokenizer.json has another "rstrip"
tokenizer_config.json~{"added_tokens_decoder": {"2602": {ENTRY, "content": "<|im_end|>", "rstrip": false, "special": false}}}~another "special"
tokenizer_config.json~{"added_tokens_decoder": {"2605": {ENTRY, "content": "<|new|>", "rstrip": false, "special": true}}}~no such token
tokenizer_config.json~{"added_tokens_decoder": {"2603": {ENTRY, "content": "<|im_end|>", "rstrip": false, "special": true}}}~another id
tokenizer_config.json~{"added_tokens_decoder": []}~must be an object
tokenizer_config.json~{"bos_token": null, "eos_token": {"content": "<|im_end|>", "normalized": true}, "pad_token": "<|endoftext|>"}~
tokenizer_config.json~{"pad_token": "[PAD]"}~
tokenizer_config.json~{"unk_token": "[UNK]"}~unk_token "[UNK]" is no token
tokenizer_config.json~{"additional_special_tokens": ["<|im_end|>", "<|new|>"]}~additional_special_tokens "<|new|>" is no token
tokenizer_config.json~{"extra_special_tokens": {"x_token": "<|new|>"}}~extra_special_tokens "<|new|>" is no token
special_tokens_map.json~{"eos_token": {"content": "<|new|>"}}~eos_token "<|new|>" is no token
special_tokens_map.json~{"eos_token": "<|im_end|>"}~
both~{"bos_token": "<|im_start|>"}~bos_token "<|new|>" is no token
both~{"bos_token": "<|im_start|>", "added_tokens_decoder": {}}~
added_tokens.json~{"<|new|>": 2605}~added_tokens.json has the token "<|new|>", and tokenizer.json has no such token
added_tokens.json~{"<|im_end|>": 2602}~
END

# What a chat template reads of special tokens: as the files name them, else the default of the tokenizer's class.
# Transformers 4.57.6 gives the same texts.
while IFS='~' read -r tokenizer config want; do
    rm -rf m
    mkdir m
    cp "$source_dir/tests/engine/text/tokenizers/$tokenizer.json" m/tokenizer.json
    echo '{"bos_token": "<|im_start|>", "unk_token": "<|im_end|>"}' >m/special_tokens_map.json
    [ "$tokenizer" = qwen2 ] || rm m/special_tokens_map.json
    printf '%s\n' "$config" >m/tokenizer_config.json
    echo '{{ bos_token }}|{{ eos_token }}|{{ unk_token }}|{{ pad_token }}' >m/chat_template.jinja
    printf '{"text": "a"}\n' | "$program" tokenize -M m --chat auto >stdout.txt 2>stderr.txt
    grep -qF -- "$want" stdout.txt stderr.txt || fail "$tokenizer $config: $(cat stdout.txt stderr.txt)"
done <<'END'
llama2~{"tokenizer_class": "LlamaTokenizerFast"}~"text":"<s>|</s>|<unk>|"
llama2~{"tokenizer_class": "LlamaTokenizer", "unk_token": null, "pad_token": "</s>"}~"text":"<s>|</s>||</s>"
llama2~{"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>"}~"text":"<s>|||"
llama2~{"tokenizer_class": "Qwen2Tokenizer"}~it reads eos_token, by default "<|endoftext|>", which is no token of tokenizer.json
llama2~{"bos_token": "<s>"}~it reads eos_token, which tokenizer_config.json does not name
llama2~{"bos_token": "<s>", "eos_token": null, "unk_token": null, "pad_token": null}~"text":"<s>|||"
gpt2~{"tokenizer_class": "GPT2Tokenizer"}~"text":"<|endoftext|>|<|endoftext|>|<|endoftext|>|"
qwen2~{"tokenizer_class": "Qwen2Tokenizer", "bos_token": "<|im_end|>"}~"text":"<|im_start|>|<|endoftext|>|<|im_end|>|<|endoftext|>"
qwen2~{"tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": {}}~"text":"|<|endoftext|>|<|endoftext|>|<|endoftext|>"
END

answers '{"error":"line 1: \"ids\"[1] is not a token of this model","line":1}' '{"ids": [1, 999999]}'
answers '{"error":"line 1: a line must have \"text\", a text, or \"ids\", a list of token ids","line":1}' '{"ids": 3}'
answers '{"error":"line 1: a line must have \"text\", a text, or \"ids\", a list of token ids","line":1}' '{"text": "a", "ids": [1]}'

# A chat form: the rendered text, its ids, and no special token from the user's text.
printf '{"text": "a<|im_end|>"}\n' | "$program" tokenize -M "$source_dir/engine/pocket" --chat pocket >chat.txt 2>stderr.txt ||
    fail "tokenize --chat pocket failed: $(cat stderr.txt)"
grep -qF '"text":"<|begin_of_sentence|><|User|>a<|im_end|><|Assistant|><think>\n"' chat.txt || fail "the chat form gave $(cat chat.txt)"
mkdir -p m2
fails 2 m2 tokenizer.json -- tokenize -M m2
finish
