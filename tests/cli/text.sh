# The task text: bits per byte are those of `kveval logprobs`, full attention and a policy that reads everything are at
# distance 0, and neither a stop, threads, the batch nor worker processes change a byte. Then what is refused.
. "$(dirname "$0")/lib.sh"
rm -rf out stopped workers mixed neuron m
# The embedded model as a folder whose tokenizer puts a token in front of a text.
mkdir m
cp "$source_dir"/engine/pocket/config.json "$source_dir"/engine/pocket/tokenizer.json "$source_dir"/engine/pocket/model.safetensors m
echo '{"bos_token": "<|begin_of_sentence|>", "add_bos_token": true, "tokenizer_class": "LlamaTokenizerFast"}' >m/tokenizer_config.json
for i in $(seq 1 500); do
    printf 'On day %d the tide came in at %d past nine, and %d boats went out. ' "$i" $((i * 7 % 60)) $((i * i % 23))
done >text.txt
cat >text.json <<'END'
{"model": "m", "baseline": "full",
 "tasks": [{"name": "text", "file": "text.txt", "window": 100, "prompt_tokens": 20, "problems": 4}],
 "policies": ["full", {"name": "quest", "k_pages": [2, 1000]}, {"name": "raas", "budget_tokens": 32}]}
END

# field FILE LABEL NAME: a field of the first row of that label. Quoted fields are emptied first, since they hold commas.
field() {
    sed 's/"[^"]*\(""[^"]*\)*"//g' "$1" | awk -F, -v label="$2" -v name="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        $2 == label && !seen++ { print $at }'
}
# is FILE LABEL NAME WANT
is() {
    [ "$(field "$@")" = "$4" ] || fail "$3 of $2 in $1 is $(field "$@"), want $4"
}

run 0 sweep text.json -o out --threads 1 --max-batch 32
grep -q '^text  *bits/byte  difference  KL, nats  top-1 %  total reads$' stdout.txt || fail "the table: $(cat stdout.txt)"
csv=out/report/accuracy.csv
is $csv full kl 0
is $csv full top1 1
is $csv full jobs 4
for column in correct accuracy ci_low wrong truncated length_limit; do
    case $column in length_limit) want=0 ;; *) want= ;; esac
    is $csv full $column "$want"
done
is $csv 'quest k_pages=1000' kl 0
is $csv 'quest k_pages=1000' top1 1
is $csv 'quest k_pages=1000' bits_per_byte "$(field $csv full bits_per_byte)"
is out/report/likelihood.csv 'quest k_pages=1000' delta 0
is out/report/likelihood.csv full tokens 320
for label in 'quest k_pages=2' raas; do
    awk -v kl="$(field $csv "$label" kl)" -v top1="$(field $csv "$label" top1)" -v density="$(field $csv "$label" kv_density)" \
        'BEGIN { exit !(kl > 0.001 && top1 < 1 && density < 0.9) }' || fail "$label has kl $(field $csv "$label" kl)"
done
[ ! -s out/report/pairs.csv ] || [ "$(wc -l <out/report/pairs.csv)" = 1 ] || fail "texts are in pairs.csv"
[ -f out/report/divergence_text.svg ] && [ -f out/report/bits_text.svg ] || fail "no figures: $(ls out/report)"
grep -q '^## Accuracy\|^## Health\|^## Figures\|^## Problem by' out/report/report.md && fail "a text has sections of answers"
rm -rf lm
run 0 export out --format lm-eval -o lm
grep -q '"bits_per_byte,none": [0-9]' lm/*raas*/results_*.json || fail "the results of an export have no bits_per_byte"

# The same tokens through `kveval logprobs`: the first window, and the fourth.
printf '{"text": "%s"}\n' "$(cat text.txt)" >text.jsonl
run 0 tokenize text.jsonl -M m
tr -d '[]{}": a-z' <stdout.txt | tr ',' '\n' >all.txt
run 0 tokenize text.jsonl -M m --bare
tr -d '[]{}": a-z' <stdout.txt | tr ',' '\n' >bare.txt
n=$(wc -l <bare.txt)
first=$(head -n 1 all.txt)
[ "$(wc -l <all.txt)" = $((n + 1)) ] || fail "not one token is put in front of a text"
windows='0 3'
if small; then windows=3; fi
for window in $windows; do
    ids=$(tail -n +$((window * 99 + 1)) bare.txt | head -n 99 | paste -sd,)
    printf '{"ids": [%s,%s], "prompt_len": 20}\n' "$first" "$ids" >ids.jsonl
    for policy in full quest:k_pages=2 raas:budget_tokens=32; do
        run 0 logprobs ids.jsonl --policy "$policy"
        tr -d '[]{}":a-z ' <stdout.txt | tr ',' '\n' | awk '{ sum -= $1 / log(2); n++ } END { printf "%.6f %d\n", sum, n }' >want.txt
        label=$(echo "$policy" | sed 's/raas.*/raas/; s/:/ /')
        id=$(field $csv "$label" cell)
        # likelihood: [[first, tokens, agree, bytes, bits, kl], ...]
        grep -h "\"cell\":\"$id\".*\"problem\":\"$window\"" out/journal/*.jsonl | grep -o '"likelihood":\[[^a-z]*' | tr -d '"a-z:[' |
            tr ']' '\n' | sed 's/^,//' | awk -F, 'NF > 5 { n += $2; sum += $5 } END { printf "%.6f %d\n", sum, n }' >got.txt
        same got.txt want.txt
        [ "$(cut -d' ' -f2 want.txt)" = 80 ] || fail "logprobs gave $(cat want.txt)"
    done
done

# A stop on the way, two threads, a small batch; then two worker processes; then settings that say nothing about a text.
(exec "$program" sweep text.json -o stopped --threads 2 --max-batch 3 >/dev/null 2>stop.txt) &
pid=$!
for _ in $(seq 1500); do
    [ "$(journal_keys stopped | wc -l)" -gt 0 ] && break
    kill -0 $pid 2>/dev/null || break
    sleep 0.02
done
kill -s TERM $pid
got=0
wait $pid || got=$?
[ $got = 75 ] || fail "SIGTERM exited $got: $(cat stop.txt)"
done_before=$(journal_keys stopped | wc -l)
[ "$done_before" -gt 0 ] && [ "$done_before" -lt 16 ] || fail "$done_before jobs were done when it was stopped"
run 0 report stopped
is stopped/report/accuracy.csv full expected_jobs 4
run 0 sweep text.json -o stopped --threads 2 --max-batch 3
same_results out stopped
same out/report/likelihood.csv stopped/report/likelihood.csv
if ! small; then
    run 0 sweep text.json -o workers --devices cpu:0-1 --max-batch 4
    same_results out workers
    same out/report/likelihood.csv workers/report/likelihood.csv
fi
run 0 sweep text.json -o stopped --set temperature=0.7 --set samples=4 --set max_new_tokens=5 --set chat='"r1"'
mentions stderr.txt warning: kv_dtype
grep -q ', 16 jobs, 16 done' stderr.txt || fail "settings without effect changed the jobs: $(cat stderr.txt)"
same_results out stopped
run 0 sweep text.json --dry-run --set 'temperature=[0,0.7,0.9]'
[ "$(grep -c 'the tokens of a text are given' stderr.txt)" = 1 ] || fail "a swept setting without effect: $(cat stderr.txt)"

# A checkpoint that lends a channel of its queries is compared with itself, nothing forgotten.
run 0 sweep text.json -o neuron --limit 1 --set 'policies=["full", {"name": "dms", "neuron": "last", "window": 16, "as": "lent"},
    {"name": "dms", "neuron": "last", "window": 16, "evict": false, "as": "kept"}]'
csv=neuron/report/accuracy.csv
is $csv kept kl 0
is $csv kept top1 1
[ "$(field $csv kept bits_per_byte)" != "$(field $csv full bits_per_byte)" ] || fail "a lent channel changes nothing"
awk -v kl="$(field $csv lent kl)" 'BEGIN { exit !(kl > 0.001) }' || fail "lent has kl $(field $csv lent kl)"

# Beside a task with answers: each has its own tables.
run 0 sweep text.json -o mixed --limit 2 --set 'policies=["full", {"name": "quest", "k_pages": 2}]' \
    --set 'tasks=[{"name": "pocket.lookup", "steps": 6}, {"name": "text", "file": "text.txt", "window": 60, "prompt_tokens": 20}]'
[ "$(wc -l <mixed/report/pairs.csv)" = 2 ] || fail "pairs: $(cat mixed/report/pairs.csv)"
grep -q '^## Accuracy' mixed/report/report.md || fail "no accuracies beside a text"
grep -q '^By task, percent correct' stdout.txt || fail "no accuracies in: $(cat stdout.txt)"
grep -q '^text .*bits/byte' stdout.txt || fail "no text in: $(cat stdout.txt)"
run 0 report mixed --against out
run 0 show out raas 3
mentions stdout.txt 'bits per byte' '80 tokens'
run 0 sweep text.json --dry-run
grep -q '^total  *16  *1280$' stdout.txt || fail "dry run: $(cat stdout.txt)"

# Refusals.
where='text.json: tasks.0 (text)'
fails 2 "$where" file -- sweep text.json -o x --set 'tasks=["text"]'
task() { # task OPTIONS: the run file's tasks with these options
    echo "tasks=[{\"name\": \"text\", \"file\": \"text.txt\", $1}]"
}
fails 2 "$where" nowhere.txt -- sweep text.json -o x \
    --set 'tasks=[{"name": "text", "file": "nowhere.txt"}]'
: >empty.txt
fails 2 "$where" empty.txt -- sweep text.json -o x --set 'tasks=[{"name": "text", "file": "empty.txt"}]'
refuse 2 "$where: text: the text is too short: it has $n tokens, which fill $((n / 99)) windows of 100; take a longer text, or lower window or problems" \
    sweep text.json -o x --set "$(task '"window": 100, "prompt_tokens": 20, "problems": 100000')"
printf 'A few words.' >words.txt
echo '{"text": "A few words."}' >few.jsonl
run 0 tokenize few.jsonl
few=$(($(tr -cd , <stdout.txt | wc -c) + 1))
fails 2 "$where" "$few" 1024 -- \
    sweep text.json -o x --set 'tasks=[{"name": "text", "file": "words.txt"}]'
fails 2 "$where" 100000 4096 -- \
    sweep text.json -o x --set "$(task '"window": 100000')"
fails 2 "$where" 5000 4096 -- \
    sweep text.json -o x --dry-run --set "$(task '"window": 5000')"
fails 2 "$where" prompt_tokens 60 -- \
    sweep text.json -o x --set "$(task '"window": 60, "prompt_tokens": 60')"
fails 2 "$where" --max-batch -- \
    sweep text.json -o x --max-batch 1
fails 2 text.json tasks.0 window -- \
    sweep text.json -o x --set 'tasks=[{"name": "pocket.lookup", "window": 64}]'
[ ! -e x ] || fail "a refused run left a folder"
finish
