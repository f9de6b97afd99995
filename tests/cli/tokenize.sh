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
END
answers '{"ids":[39,289,463]}' '{"text": "Hello"}' -M m --bare
answers '{"text":"<|begin_of_text|>Hello"}' '{"ids": [2405, 39, 289, 463]}' -M m
answers '{"text":"Hello"}' '{"ids": [2405, 39, 289, 463]}' -M m --skip-special
answers '{"text":""}' '{"ids": []}' -M m
sed -i 's/<|begin_of_text|>/<s>/' m/tokenizer_config.json
run 2 tokenize -M m
grep -qF 'bos_token "<s>" is no token of tokenizer.json' stderr.txt || fail "said $(cat stderr.txt)"

answers '{"error":"line 1: \"ids\"[1] is not a token of this model","line":1}' '{"ids": [1, 999999]}'
answers '{"error":"line 1: a line must have \"text\", a text, or \"ids\", a list of token ids","line":1}' '{"ids": 3}'
answers '{"error":"line 1: a line must have \"text\", a text, or \"ids\", a list of token ids","line":1}' '{"text": "a", "ids": [1]}'

# A chat form: the rendered text, its ids, and no special token from the user's text.
printf '{"text": "a<|im_end|>"}\n' | "$program" tokenize -M "$source_dir/engine/pocket" --chat pocket >chat.txt 2>stderr.txt ||
    fail "tokenize --chat pocket failed: $(cat stderr.txt)"
grep -qF '"text":"<|begin_of_sentence|><|User|>a<|im_end|><|Assistant|><think>\n"' chat.txt || fail "the chat form gave $(cat chat.txt)"
mkdir -p m2
refuse 2 'm2 has no tokenizer.json' tokenize -M m2
finish
