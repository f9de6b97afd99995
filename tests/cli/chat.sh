# The chat template in a model's folder: the same prompt as by the form of the same turns, every way in which it cannot be
# used is one sentence, and "system" and "thinking" go into it or are refused. The model is the embedded one as a folder.
. "$(dirname "$0")/lib.sh"

# template TEXT [FILE]: a model folder m whose tokenizer_config.json has this chat_template, as JSON.
template() {
    rm -rf m
    mkdir m
    cp "$source_dir"/engine/pocket/config.json "$source_dir"/engine/pocket/tokenizer.json \
        "$source_dir"/engine/pocket/model.safetensors m
    printf '{"bos_token": {"content": "<|begin_of_sentence|>"}, "eos_token": "<|end_of_sentence|>", "chat_template": %s}\n' \
        "$1" >m/tokenizer_config.json
}
# says WORDS ARGS...: generate exits 2 with one line that holds the words.
says() {
    local words=$1
    shift
    run 2 generate -M m --prompt "$prompt" -n 20 "$@"
    [ "$(wc -l <stderr.txt)" = 1 ] || fail "$words: not one line: $(cat stderr.txt)"
    grep -qF -- "$words" stderr.txt || fail "\"$words\" is missing in: $(cat stderr.txt)"
}
ids() { # ids WANT ARGS...: the completion's ids are those of the file WANT
    local want=$1
    shift
    run 0 generate --prompt "$prompt" -n 20 --ids "$@"
    same "$want" stdout.txt
}

rm -rf out plain system
prompt='Find the value of wr .'
turns='{{ bos_token }}{% for m in messages %}{% if m.role == \"system\" %}{{ m.content }}{% else %}<|User|>{{ m.content }}{% endif %}{% endfor %}'
open='{% if add_generation_prompt %}<|Assistant|><think>\n{% endif %}'
run 0 generate --prompt "$prompt" -n 20 --ids
cp stdout.txt own.txt
run 0 generate --raw --prompt "rule 1<|User|>$prompt<|Assistant|><think>
" -n 20 --ids
cp stdout.txt system.txt
run 0 generate --raw --prompt "<|User|>$prompt<|Assistant|><think>

</think>" -n 20 --ids
cp stdout.txt off.txt
cmp -s own.txt system.txt && fail "a system message makes no difference"
cmp -s own.txt off.txt && fail "an empty block of thoughts makes no difference"

template "\"$turns$open\""
ids own.txt -M m
ids own.txt -M m --chat pocket
ids system.txt -M m --system 'rule 1'
says 'does not switch thinking' --thinking off
says 'holds a special token' --system '<|User|>'
says 'has no place for a system message' --system x --chat pocket
says '"system" is set, but prompts' --system x --chat none
says '--thinking: thinking must be one of auto, on, off' --thinking maybe

template "[{\"name\": \"tools\", \"template\": \"{{ 1 }}\"}, {\"name\": \"default\", \"template\": \"$turns$open\"}]"
ids own.txt -M m
template "[{\"name\": \"tools\", \"template\": \"$turns$open\"}]"
says 'list with an entry "default"'
template '{}'
says 'neither a text nor a list'
template 'null'
ids own.txt -M m

# A file of its own wins.
template '"wrong"'
says 'leaves the system message out' --system x
printf '%s' "{{ bos_token }}<|User|>{{ messages[-1].content }}<|Assistant|><think>
{% if enable_thinking is defined and not enable_thinking %}

</think>{% endif %}" >m/chat_template.jinja
ids own.txt -M m
ids own.txt -M m --thinking on
ids off.txt -M m --thinking off

# Of LongBench some data sets take no form: without one nothing opens a block of thoughts, so only "on" is refused there.
rm -rf long
mkdir -p long/longbench
for subset in qasper triviaqa; do
    printf '{"_id": "1", "dataset": "%s", "input": "Who slept?", "context": "The cat.", "answers": ["cat"]}\n' "$subset" \
        >long/longbench/$subset.jsonl
done
echo '{"model": "m", "tasks": [{"name": "longbench", "subset": ["qasper", "triviaqa"]}], "policies": ["full"], "max_new_tokens": 4}' >long.json
for thinking in auto off; do
    run 0 sweep long.json --data long -o long/$thinking --set thinking=$thinking
    for subset in qasper triviaqa; do
        grep -h "\"subset\":\"$subset\"" long/$thinking/problems/*.jsonl | grep -o '"prompt_sha256":"[0-9a-f]*"' >long/$thinking.$subset
        [ -s long/$thinking.$subset ] || fail "$subset was not asked with thinking $thinking"
    done
done
cmp -s long/auto.qasper long/off.qasper && fail "thinking off changes no prompt with a chat form"
same long/auto.triviaqa long/off.triviaqa
# Special tokens of a suffix count there, and a block of thoughts that it opens is seen; within a chat form it opens none.
# The embedded model's tokens <|Assistant|> and <think>.
run 0 sweep long.json --data long -o long/suffix --set 'suffix="<|Assistant|><think>"'
run 0 sweep long.json --data long -o long/none --set 'suffix="<|Assistant|><think>"' --set chat=none
tokens() { # DIR SUBSET: of its prompt, and whether thoughts are open
    grep -h "\"subset\":\"$2\"" "$1"/problems/*.jsonl | sed 's/.*"prompt_tokens":\([0-9]*\).*"thinking_open":\([a-z]*\).*/\1 \2/'
}
read -r plain thoughts <<<"$(tokens long/auto triviaqa)"
[ "$thoughts" = false ] || fail "thoughts are open in a prompt without a chat form"
[ "$(tokens long/suffix triviaqa)" = "$((plain + 2)) true" ] || fail "triviaqa with a suffix: $plain, $(tokens long/suffix triviaqa)"
[ "$(tokens long/none triviaqa)" = "$((plain + 2)) true" ] || fail "triviaqa without a form: $(tokens long/none triviaqa)"

run 2 sweep long.json --data long -o long/on --set thinking=on
mentions stderr.txt triviaqa 'chat form'
printf '%s' "{{ bos_token }}<|User|>{{ messages[-1].content }}<|Assistant|>" >m/chat_template.jinja
run 0 sweep long.json --data long -o long/turn --set 'suffix="Begin with <think>."'
[ "$(tokens long/turn qasper | cut -d ' ' -f 2)" = false ] || fail "a suffix in the user's turn opens thoughts"

for row in '{{ strftime_now(1) }}|writes today' '{% include 2 %}|line 1: the tag \"include\"' '{{ 1|pprint }}|the filter' \
    '{{ raise_exception(3) }}|refuses these messages: 3' '{% if 1 %}|is missing at the end'; do
    template "\"${row%|*}\""
    case $row in *include*) words='line 1: the tag "include"' ;; *) words=${row##*|} ;; esac
    says "$words"
    says "$words" --chat auto
    grep -qF 'it looks' stderr.txt || grep -qF 'looks like pocket' stderr.txt || fail "no form is named: $(cat stderr.txt)"
    ids own.txt -M m --chat pocket
done

# In a sweep: refused before anything is written, and "system" changes the prompts.
template '"{{ strftime_now(1) }}"'
printf '{"prompt": "Find the value of %s .", "gold": "1"}\n' wr hu >problems.jsonl
echo '{"model": "m", "tasks": [{"name": "pocket.relay", "file": "problems.jsonl"}], "policies": ["full"], "max_new_tokens": 4}' >run.json
run 2 sweep run.json -o out --limit 1
[ ! -e out ] || fail "a refused sweep left a folder"
grep -qF -- '--set chat=NAME' stderr.txt || fail "no way out: $(cat stderr.txt)"
template "\"$turns$open\""
run 0 sweep run.json -o plain --limit 2
run 0 sweep run.json -o system --limit 2 --set 'system="rule 1"'
grep -q '"chat": *"template"' plain/config.resolved.json || fail "the template is not named in the configuration"
grep -q '"thinking_open":true' plain/problems/*.jsonl || fail "the open block of thoughts was not seen"
grep -q '"system"' plain/config.resolved.json && fail "an unset system message is in the configuration"
grep -q '"system": *"rule 1"' system/config.resolved.json || fail "the system message is not in the configuration"
cat plain/problems/*.jsonl | grep -o '"prompt_sha256":"[0-9a-f]*"' >a.txt
cat system/problems/*.jsonl | grep -o '"prompt_sha256":"[0-9a-f]*"' >b.txt
[ "$(wc -l <a.txt)" = 2 ] || fail "two prompts are expected"
cmp -s a.txt b.txt && fail "the system message does not change the prompts"
run 2 sweep run.json -o out --limit 1 --set thinking=off
mentions stderr.txt 'switch thinking'
run 2 sweep run.json -o out --limit 1 --set 'system="x"' --set 'tasks=["pocket.relay"]'
mentions stderr.txt 'chat form'
finish
