# list, doctor and generate.
. "$(dirname "$0")/lib.sh"

run 0 list policies
for policy in full quest raas delta kascade dms oracle streamingllm omnikv lessismore deltallm random tova h2o snapkv rkv; do
    grep -q "^$policy: " stdout.txt || fail "list policies lacks $policy"
done
# The pages that name families of models follow the table.
run 0 list families
while IFS=: read -r family models; do
    grep -qF '| `'"$family"'` |'"$models"' |' "$source_dir/docs/models.md" || fail "docs/models.md has no row of $family with$models"
    grep -qF '`'"$family"'`' "$source_dir/README.md" || fail "README.md does not name $family"
done <stdout.txt
[ "$(wc -l <stdout.txt)" -ge 16 ] || fail "list families: $(cat stdout.txt)"
# One task: what is known of it, and its prompts for a made-up row.
run 0 list tasks aime26
mentions stdout.txt 'kind: math'
mentions stdout.txt 30 'SHA-256'
mentions stdout.txt 'MathArena/aime_2026'
mentions stdout.txt unchecked
mentions stdout.txt 'prompt nemo' 'made-up'
mentions stdout.txt '| What is $3 + 4$?'
for task in $("$program" list tasks | sed -n 's/^\([a-z0-9_.]*\): .*/\1/p'); do
    run 0 list tasks "$task"
    mentions stdout.txt "$task: "
done
run 0 list tasks gpqa_diamond
mentions stdout.txt '| C) 7'
# an answer of the made-up row once named no option, and the bare template was shown
run 0 list tasks mmlu
mentions stdout.txt 'about colours'
mentions stdout.txt '| D. black'
run 0 list tasks pocket.relay
mentions stdout.txt '| Find the value of'
mkdir -p own
echo '{"name": "quiz", "kind": "choice", "rows": {"file": "none.csv"}, "fields": {"theme": "t"}, "prompts": {"x": "{theme}: {problem} {options}"}}' >own/quiz.json
run 0 list tasks own/quiz.json
mentions stdout.txt own/none.csv MISSING
mentions stdout.txt "| (the row's theme): What is 3 + 4? A) 5"
fails 2 '"aime62"' '"aime26"' -- list tasks aime62
fails 2 own/missing.json 'No such file' -- list tasks own/missing.json
fails 2 'list tasks NAME' -- list devices cpu
run 0 list tasks
for task in pocket.relay pocket.choice pocket.algebra pocket.lookup aime24 aime25 math500 gsm8k gpqa_diamond longbench ruler text; do
    grep -q "^$task: " stdout.txt || fail "list tasks lacks $task"
done
mentions stdout.txt DATA/aime/aime24.jsonl --data
mkdir -p data/aime
echo '{}' >data/aime/aime24.jsonl
run 0 list tasks --data data
grep -q 'data/aime/aime24.jsonl, there$' stdout.txt || fail "aime24 is there"
grep -q 'data/aime/aime25.jsonl, MISSING$' stdout.txt || fail "aime25 is missing"
mkdir -p data/longbench
: >data/longbench/qasper.jsonl
run 0 list tasks --data data
grep -q '^        there: qasper$' stdout.txt || fail "qasper is there"
grep -q '^        MISSING: narrativeqa, multifieldqa_en, multifieldqa_zh, hotpotqa, 2wikimqa, musique, dureader, .*, repobench-p$' stdout.txt ||
    fail "which LongBench files are missing?"
grep -q '^    problems: generated$' stdout.txt || fail "where do ruler's problems come from?"
mentions stdout.txt niah_single_1 vt cwe fwe
# all but RULER's, which are generated
[ "$(grep -c '^    its fields: ' stdout.txt)" = $(($(grep -c '^    problems: ' stdout.txt) - 1)) ] || fail "list tasks does not say what a file must hold"
run 0 list devices
grep -q '^cpu:0: ' stdout.txt || fail "list devices lacks the CPU"
gpus=$(grep -c '^cuda:[0-9][0-9]* ' stdout.txt) # rows of the table
if [ "$gpus" = 0 ]; then
    [ "$(grep -c cuda stdout.txt)" = 1 ] && grep -q '^cuda: ..........' stdout.txt || fail "why is there no GPU? $(cat stdout.txt)"
    grep -q '^device ' stdout.txt && fail "an empty table: $(cat stdout.txt)"
else
    column=$(sed -n 's/peers$//p' stdout.txt | head -n 1 | wc -c) # where the last column starts
    [ "$(grep '^cuda:' stdout.txt | grep -v 'not available' | cut -c "$((column - 2))-$((column - 1))" | sort -u)" = "  " ] ||
        fail "the table is not aligned: $(cat stdout.txt)"
fi

rm -rf newdir
run 0 doctor -o newdir/deep
[ "$(grep -c '^ok ' stdout.txt)" = 11 ] || fail "doctor: $(cat stdout.txt)"
grep -qE '^ok     kveval       [0-9.]+, built with (gcc|clang) [0-9D]' stdout.txt || fail "doctor: $(cat stdout.txt)"
grep -q "^ok     system       .*, Linux $(uname -r), $(uname -m)\$" stdout.txt || fail "doctor: $(cat stdout.txt)"
env -u XDG_CACHE_HOME HOME="$PWD" "$program" doctor >stdout.txt || fail "doctor with a home"
grep -q '^ok     cache        ~/.cache/kveval$' stdout.txt || fail "doctor names the home: $(cat stdout.txt)"
[ "$gpus" != 0 ] || grep -q '^ok     gpu          none: ..........' stdout.txt || fail "doctor: $(cat stdout.txt)"
grep -qE '^ok     sandbox      (bubblewrap, Python 3|none, so tasks of programs)' stdout.txt || fail "doctor: $(cat stdout.txt)"
mentions stdout.txt '180 tokens' equal
[ -z "$(ls -A | grep 'doctor\|newdir')" ] || fail "doctor leaves files behind: $(ls -A)"

prompt='Apply the rules in order , all values modulo 1000 .
 rule 3 : wr = hu + 2 * qt
 rule 1 : qt = 694
 rule 2 : hu = 524
Find the value of wr .'
run 0 generate --prompt "$prompt"
cp stdout.txt full.txt
grep -q '912' full.txt || fail "generate: $(cat full.txt)"
# A budget above the context reads everything: the same text.
run 0 generate --prompt "$prompt" --policy quest:k_pages=64
same full.txt stdout.txt
printf '%s' "$prompt" >prompt.txt
"$program" generate <prompt.txt >piped.txt 2>/dev/null || fail "generate from standard input exited $?"
same full.txt piped.txt
# The chat form by hand gives the same ids.
run 0 generate --raw --prompt "<|User|>$prompt<|Assistant|><think>
"
same full.txt stdout.txt
run 0 generate --prompt "$prompt" --ids --max-new-tokens 5
[ "$(cat stdout.txt)" = '266 220 16 267 300' ] || fail "generate --ids: $(cat stdout.txt)"
run 0 generate --prompt "$prompt" --temperature 1 --seed 3 --max-new-tokens 40
cp stdout.txt sampled.txt
run 0 generate --prompt "$prompt" --temperature 1 --seed 3 --max-new-tokens 40
same sampled.txt stdout.txt
fails 2 '"qest"' '"quest"' -- generate --prompt x --policy qest
fails 2 '"qwen"' r1-distill r1-first qwen3 qwen2.5 smollm2 -- generate --prompt x --chat qwen
# A reader that has seen enough ended a command with an error. More than a pipe holds, so that it is written to after its end.
for ((i = 0; i < 3000; i++)); do echo '{"text": "What is two and three, and what is left of it?"}'; done >many.jsonl
for command in "list policies" "tokenize many.jsonl" "help"; do
    # shellcheck disable=SC2086
    { "$program" $command 2>pipe.txt; echo $? >code.txt; } | true
    case $(cat code.txt) in 0 | 141) [ ! -s pipe.txt ] ;; *) false ;; esac || fail "$command into a closed pipe: exit code $(cat code.txt), $(cat pipe.txt)"
done
"$program" list policies >/dev/full 2>pipe.txt && fail "a full disk passed for written"
mentions pipe.txt 'standard output'
finish
