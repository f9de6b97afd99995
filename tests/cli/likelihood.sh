# Tasks whose options are scored: three made-up rows a set, whose log-likelihoods under full attention are those that
# lm-evaluation-harness 0.4.9 finds on the embedded model (likelihood/expected.jsonl, tests/peers/harness.py), with an example
# and without; as a block, under policies, resumed and with any batch; then what is refused.
. "$(dirname "$0")/lib.sh"
rm -rf out block again few odd x
data=$here/likelihood
sets='"hellaswag", "arc_challenge", "arc_easy", "boolq", "openbookqa", "piqa", "winogrande", "mmlu"'
tasks() { # tasks OPTIONS SETS: the run file's list, each set with these options
    local name list=
    for name in $(echo "$2" | tr -d ','); do list="$list${list:+, }{\"name\": $name, $1}"; done
    echo "$list"
}
# run_file NAME OPTIONS POLICIES SETS
run_file() {
    cat >"$1.json" <<END
{"model": "pocket", "baseline": "full", "tasks": [$(tasks "$2" "$4")], "policies": [$3]}
END
}
# scores DIR: "set problem policy-cell [numbers]" of every record, in order
scores() {
    cat "$1"/journal/*.jsonl |
        sed 's/.*"cell":"\([^"]*\)","task":"\([^"]*\)","problem":"\([^"]*\)".*"options":\(\[\[[^"]*\]\]\).*/\2 \3 \1 \4/' | sort -u
}
# sums DIR CELL-PART: "set problem logprob ..." alone
sums() {
    scores "$1" | grep " pocket\.$2\." | sed 's/\[[0-9]*,[0-9]*,\(-*[0-9.e+-]*\)\]/\1/g' | awk '{ print $1, $2, $4 }' | tr -d '[]'
}

full='"full"'
quest='{"name": "quest", "k_pages": 1, "as": "tight"}, {"name": "quest", "k_pages": 2000, "as": "wide"}'
run_file all '"few_shot": 0' "$full, $quest" "$sets"
run_file one '"few_shot": 1' "$full" "$sets"
run 0 sweep all.json -o out --data "$data"
run 0 sweep one.json -o few --data "$data"
for shots in 0 1; do
    dir=out
    [ $shots = 0 ] || dir=few
    sums $dir full >got.txt
    sed -n "s/.*\"set\": \"\([a-z_]*\)\", \"few_shot\": $shots, \"row\": \([0-9]*\), \"options\": \[\([^]]*\)\].*/\1 \2 \3/p" \
        "$data/expected.jsonl" | sed 's/, /,/g' >want.txt
    [ "$(wc -l <want.txt)" = 24 ] || fail "$shots examples: $(wc -l <want.txt) problems are expected"
    # ids of ARC, OpenBookQA and BoolQ are the rows' own: rows are counted by set
    awk '{ n[$1]++; print $1, n[$1], $3 }' got.txt >numbered.txt
    awk 'NR == FNR { want[$1 " " $2] = $3; next }
        { n = split($3, a, ","); m = split(want[$1 " " $2], b, ",")
          if (n != m) { print $0, "has", n, "options, want", m; next }
          for (i = 1; i <= n; i++) if (a[i] - b[i] > 0.005 || b[i] - a[i] > 0.005) print $1, $2, i, a[i], "want", b[i] }' \
        want.txt numbered.txt >differs.txt
    [ -s differs.txt ] && fail "$shots examples: $(head -n 5 differs.txt)"
    [ "$(wc -l <numbered.txt)" = 24 ] || fail "$shots examples: $(wc -l <numbered.txt) records"
done

# What is right by acc, and by acc_norm where a set names it.
sed 's/"[^"]*\(""[^"]*\)*"//g' out/report/accuracy.csv | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    $at["policy"] == "full" { print $at["task"], $at["correct"], $at["second_metric"] ? int(3 * $at["second_accuracy"] + 0.5) : "-" }' |
    sort >got.txt
sed -n 's/.*"set": "\([a-z_]*\)", "few_shot": 0,.*"acc": \([01]\).0\(, "acc_norm": \([01]\).0\)*}/\1 \2 \4/p' "$data/expected.jsonl" |
    awk '{ acc[$1] += $2; norm[$1] = NF > 2 ? norm[$1] + $3 : "-" } END { for (s in acc) print s, acc[s], norm[s] }' | sort >want.txt
same want.txt got.txt

# A policy that reads everything has the bits of full attention, one that does not has others.
sums out full >full.txt
sums out wide >wide.txt
sums out tight >tight.txt
same full.txt wide.txt
[ "$(diff full.txt tight.txt | grep -c '^>')" -gt 12 ] || fail "quest with one page changes $(diff full.txt tight.txt | grep -c '^>') of 24"
grep -q '^hellaswag  *acc, acc_norm; difference by acc_norm$' stdout.txt || fail "no acc_norm in: $(cat stdout.txt)"
grep -q '^## Options by their likelihood' out/report/report.md || fail "no section of options"
head -n 1 out/report/accuracy.csv | grep -q 'second_metric,second_accuracy' || fail "no second metric in accuracy.csv"

rm -rf lm light logs
run 0 export out --format lm-eval -o lm
grep -q '"acc_norm,none": [0-9]' lm/*full*/results_*.json && grep -q '"acc,none": [0-9]' lm/*full*/results_*.json || fail "no acc and acc_norm in an export"
run 0 export out --format lighteval -o light
cat light/details/*full*/*/details_hellaswag*.jsonl >light.txt
grep -q '"logprobs":\[-[0-9]' light.txt && grep -q '"sampling_methods":\["LOGPROBS"\]' light.txt && grep -q '"acc_norm":' light.txt ||
    fail "lighteval: $(head -c 600 light.txt)"
run 0 export out --format inspect -o logs
grep -lq '"option_logprobs": *\[-[0-9]' logs/* || fail "no option_logprobs in: $(ls logs)"
grep -q '"output_type": *"multiple_choice"' lm/*full*/results_*.json || fail "an export says that options were generated"

# As a block nothing is decoded: policies that act on decode steps alone are full attention, to the bit.
run_file block '"few_shot": 0, "scored": "block"' "$full, $quest" '"hellaswag", "piqa", "mmlu"'
run 0 sweep block.json -o block --data "$data"
sums block full >block_full.txt
sums block tight >block_tight.txt
same block_full.txt block_tight.txt
grep -E '^(hellaswag|piqa|mmlu) ' full.txt >steps.txt
awk 'NR == FNR { want[$1 " " $2] = $3; next }
    { n = split($3, a, ","); split(want[$1 " " $2], b, ",")
      for (i = 1; i <= n; i++) if (a[i] - b[i] > 0.005 || b[i] - a[i] > 0.005) print }' steps.txt block_full.txt >differs.txt
[ -s differs.txt ] && fail "a block differs from steps: $(cat differs.txt)"

# Any batch gives the same, in one process or two, and what is there is not decoded again.
run 0 sweep all.json -o again --data "$data" --max-batch 3 --threads 1 --limit 1
run 0 sweep all.json -o again --data "$data" --max-batch 5 --devices cpu:0-1 --threads 1
grep -q ', 72 jobs, 24 done' stderr.txt || fail "not resumed: $(cat stderr.txt)"
scores out | awk '{ print $1, $2, $4 }' | sort >a.txt
scores again | awk '{ print $1, $2, $4 }' | sort >b.txt
same a.txt b.txt
run 0 sweep all.json -o again --data "$data" --set temperature=0.7 --set samples=4
mentions stderr.txt warning: options kv_dtype
grep -q ', 72 jobs, 72 done' stderr.txt || fail "settings without effect changed the jobs: $(cat stderr.txt)"
run 0 show out full.hellaswag 0
mentions stdout.txt log-likelihood tokens length
grep -q '<- acc_norm$' stdout.txt || fail "no choice by acc_norm: $(cat stdout.txt)"

# Ties go to the first option; a published set has a row with one option twice, as its harness has.
echo '{"goal": "The sky is", "sol1": "blue", "sol2": "blue", "label": 1}' >own.jsonl
echo '{"model": "pocket", "tasks": [{"name": "piqa", "file": "own.jsonl"}], "policies": ["full"]}' >own.json
run 0 sweep own.json -o x
run 0 show x full 0
grep -q '^answer read: A$' stdout.txt || fail "of equal options the first was not chosen: $(cat stdout.txt)"
rm -rf x

# Several accepted answers, and an option template with {raw}.
echo '{"q": "The sky is", "o": ["blue", "red", "grey"], "a": [0, 1, 2]}' >own.jsonl
own='{"kind": "likelihood", "file": "own.jsonl", "as": "own", "fields": {"problem": "q", "options": "o", "answer": "a"}, "grader": {"answer_is": "from0", "metrics": "acc_norm,acc"}'
for option in text raw; do
    prompt="\"prompts\": {\"p\": {\"text\": \"{problem}\", \"option\": \" {$option}\"}}"
    echo "{\"model\": \"pocket\", \"tasks\": [$own, $prompt}], \"policies\": [\"full\"]}" >own.json
    run 0 sweep own.json -o x
    run 0 show x full 0
    grep -q '^correct' stdout.txt || fail "none of the accepted answers is right: $(cat stdout.txt)"
    scores x | awk '{ print $1, $2, $4 }' >$option.txt
    rm -rf x
done
[ -s raw.txt ] || fail "no option was scored"
same text.txt raw.txt

# Numbers in a list are texts, as they are of the kind choice.
echo '{"q": "2 + 2 is", "o": [3, 4, 4.5], "a": 1.0}' >own.jsonl
echo "{\"model\": \"pocket\", \"tasks\": [$own}], \"policies\": [\"full\"]}" >own.json
run 0 sweep own.json -o x
run 0 show x full 0
grep -q '  4\.5' stdout.txt && grep -q '^compared with: B$' stdout.txt || fail "numbers are no options: $(cat stdout.txt)"
rm -rf x

# acc_norm is over the length of what is scored: of letters all have one, whatever the texts are.
cat >own.jsonl <<'END'
{"q": "The sky is", "o": ["a very long name of a colour that few people know", "red"], "a": 1}
END
letters='"prompts": {"letters": {"text": "{problem} A. {A} B. {B} It is", "option": " {letter}"}}'
echo "{\"model\": \"pocket\", \"tasks\": [$own, $letters}], \"policies\": [\"full\"]}" >own.json
run 0 sweep own.json -o x
run 0 show x full 0
awk '($1 == "A" || $1 == "B") && $2 + 0 < 0 { n++; if ($2 != $4) exit 1 } END { exit n != 2 }' stdout.txt ||
    fail "a letter's length is not 1: $(cat stdout.txt)"
rm -rf x
echo "{\"model\": \"pocket\", \"tasks\": [$own}], \"policies\": [\"full\"]}" >own.json

# Refusals.
refused() { # refused ROW WORDS...: a file of this row
    printf '%s\n' "$1" >own.jsonl
    shift
    fails 2 "$@" -- sweep own.json -o x
}
bad() { # bad ROW WORDS...: the same, of a damaged row
    printf '%s\n' "$1" >own.jsonl
    shift
    fails 2 "$@" -- sweep own.json -o x
}
bad '{"q": "The sky is", "o": ["blue", " "], "a": 0}' own.jsonl:1 'option 2' empty
bad '{"q": "The sky is", "o": ["blue"], "a": 0}' own.jsonl:1 two
bad '{"q": "The sky is", "o": ["blue", "red"], "a": 2}' own.jsonl:1 from0
bad '{"q": "The sky is", "o": ["blue", "red", " blue"], "a": 0}' own.jsonl:1 'options 1 and 3' same
bad '{"q": "The sky is", "o": ["blue", "red"], "labels": ["x"], "a": "x"}' own.jsonl:1 labels '2 options'
bad '{"q": "The sky is", "o": ["blue", "red"], "labels": ["x", "x"], "a": "x"}' own.jsonl:1 labels same
bad '{"q": "The sky is", "o": ["blue", "red"], "labels": ["x", 7], "a": "x"}' own.jsonl:1 'label 2'
bad '{"q": "", "o": ["blue", "red"], "a": 0}' own.jsonl:1 empty
bad '{"o": ["blue", "red"], "a": 0}' own.jsonl:1 q
long=$(printf 'a lot of words %.0s' $(seq 2000))
refused "{\"q\": \"$long\", \"o\": [\"blue\", \"red\"], \"a\": 0}" own 'option A' 4096
printf '{"q": "The sky is", "o": ["blue", "red"], "a": 0}\n' >own.jsonl
fails 2 few_shot -- sweep own.json -o x --set "tasks=[$own, \"few_shot\": 2}]"
fails 2 scored mmlu -- sweep own.json -o x --set 'tasks=[{"name": "pocket.lookup", "scored": "block"}]'
fails 2 winogrande partial -- sweep own.json -o x --set "tasks=[{\"kind\": \"likelihood\", \"file\": \"$data/winogrande/validation.jsonl\", \"as\": \"winogrande partial\", \"prompts\": {\"x\": \"{problem} indeed\"}, \"fields\": {\"problem\": \"sentence\", \"options\": [\"option1\", \"option2\"]}, \"grader\": {\"shape\": \"partial\", \"answer_is\": \"from1\"}}]"
[ ! -e x ] || fail "a refused run left a folder"
finish
