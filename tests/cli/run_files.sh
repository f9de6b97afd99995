# Every file of runs/ decodes on the embedded model: one made-up problem a task, four tokens a completion. Models and gates
# of the papers are replaced; everything else stands as written. Then a run beside published figures, end to end. Small: one
# run file of each paper whose prompts are looked at.
. "$(dirname "$0")/lib.sh"
rm -rf data out runs made copy
mkdir -p data/aime data/math500 data/gpqa data/longbench data/gsm8k data/livecodebench data/mmlu data/hellaswag
cp "$source_dir/tests/tasks/sets/livecodebench.jsonl" data/livecodebench/release_v5.jsonl

for year in 24 25; do
    cat >data/aime/aime$year.jsonl <<END
{"id": "one", "problem": "In 20$year a shelf holds 12 jars of 17 marbles. How many marbles?", "answer": "204"}
{"id": "two", "problem": "In 20$year, what is the remainder of 1001 modulo 7?", "answer": "0"}
END
done
cat >data/math500/test.jsonl <<'END'
{"unique_id": "made/up/1.json", "problem": "Simplify $\\frac{6}{8}$.", "answer": "\\frac{3}{4}"}
{"unique_id": "made/up/2.json", "problem": "Simplify $x+x$.", "answer": "2x"}
END
cat >data/gsm8k/test.jsonl <<'END'
{"question": "A made-up tree has 12 apples and loses 5. How many are left?", "answer": "12 - 5 = 7\n#### 7"}
END
cat >data/mmlu/test.jsonl <<'END'
{"question": "Which of these floats?", "subject": "physics", "choices": ["lead", "cork", "iron", "gold"], "answer": 1}
END
cat >data/hellaswag/validation.jsonl <<'END'
{"ctx_a": "A cat walks to a mat.", "ctx_b": "it", "activity_label": "Resting", "endings": ["sleeps.", "melts.", "rings.", "boils."], "label": "0"}
END
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do # examples
    echo "{\"question\": \"What is $i plus $i?\", \"subject\": \"physics\", \"choices\": [\"1\", \"$((i + i))\", \"0\", \"x\"], \"answer\": 1}"
done >data/mmlu/dev.jsonl
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    echo "{\"ctx_a\": \"Cat $i sits.\", \"ctx_b\": \"it\", \"activity_label\": \"Rest\", \"endings\": [\"naps.\", \"melts.\", \"rings.\", \"boils.\"], \"label\": \"0\"}"
done >data/hellaswag/train.jsonl
cat >data/gpqa/gpqa_diamond.csv <<'END'
Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3,Pre-Revision Question,Pre-Revision Correct Answer,Pre-Revision Incorrect Answer 1,Pre-Revision Incorrect Answer 2,Pre-Revision Incorrect Answer 3
recOne,Which of these floats?,cork,lead,iron,gold,Which floats?,a cork,lead,iron,gold
recTwo,Which of these sinks?,lead,cork,wood,wax,Which sinks?,some lead,cork,wood,wax
END
for subset in narrativeqa qasper multifieldqa_en multifieldqa_zh hotpotqa 2wikimqa musique dureader gov_report qmsum \
    multi_news vcsum trec triviaqa samsum lsht passage_count passage_retrieval_en passage_retrieval_zh lcc repobench-p; do
    printf '{"_id": "%s", "dataset": "%s", "input": "Who slept?", "context": "The cat of %s slept.", "answers": ["1"], "all_classes": ["1", "2"]}\n' \
        one "$subset" "$subset" >data/longbench/$subset.jsonl
done

# decode FILE CELLS COMPARISONS SET...: what is not the embedded model's is replaced by --set.
decode() {
    local file=$1 cells=$2 compared=$3 name=${1##*/} model models=model=pocket
    shift 3
    if grep -q '"models": \[$' "$file"; then models='models=["pocket"]'; fi
    run 0 sweep "$file" --data data -o "out/$name" --limit 1 --quiet --set "$models" --set max_new_tokens=4 --set samples=1 "$@"
    [ "$(grep -c '^' "out/$name/report/accuracy.csv")" = $((cells + 1)) ] || fail "$name: not $cells cells: $(head -c 300 stderr.txt)"
    # Its figures are in the folder, and none of another model is compared.
    if grep -q '"published"' "$file"; then
        grep -q '^## Compared with the paper$' "out/$name/report/report.md" || fail "$name: no section on its paper"
        [ "$(grep -c '^' "out/$name/report/published.csv")" = 1 ] || fail "$name: compared with another model's figures"
        # With the name of its own model in the folder (of several the last) there is none either, for the problems are
        # made up. Were they those of the published sets, every cell that the paper prints would find its figure.
        model=$(sed -n 's|^ *\("model": \)\?"\(\.\./models/[^"]*\)",\?$|\2|p' "$file" | tail -n 1)
        sed -i -E "s#\"(model|model_path)\": \"pocket\"#\"\1\": \"$model\"#" "out/$name/config.resolved.json"
        run 0 report "out/$name"
        [ "$compared" = 0 ] || mentions "out/$name/report/report.md" 'left out' measured
        [ "$(grep -c '^' "out/$name/report/published.csv")" = 1 ] || fail "$name: figures beside made-up problems"
        sed -i -E 's/"set_size": ([0-9]+)/"set_first": \1, &/' "out/$name/config.resolved.json"
        run 0 report "out/$name"
        [ "$(grep -c '^' "out/$name/report/published.csv")" = $((compared + 1)) ] ||
            fail "$name: not $compared comparisons: $(cut -d, -f 2-9 "out/$name/report/published.csv")"
    fi
}
n=0
while read -r name cells _ compared; do
    case $name in '' | '#'*) continue ;; esac
    if small && [[ $name != @(delta_fig7|kascade_table2|dms_table7).json ]]; then
        n=$((n + 1))
        continue
    fi
    if [ "$name" = dms_livecodebench.json ] && ! "$program" doctor 2>/dev/null | grep -q '^ok  *sandbox  *bubblewrap'; then
        n=$((n + 1)) # programs have no sandbox here
        continue
    fi
    gates= limits=
    case $name in
    dms_fig3.json) gates="policies.2={\"name\":\"dms\",\"cr\":4} policies.3={\"name\":\"dms\",\"cr\":8}" limits=1 ;;
    dms_fig4.json) gates="policies.1={\"name\":\"dms\",\"cr\":4} policies.2={\"name\":\"dms\",\"cr\":8}" limits=1 ;;
    dms_table7.json) gates='policies.2={"name":"dms","cr":4}' ;;
    dms_table8.json) gates='policies.1={"name":"dms","cr":4}' ;;
    dms_table[12].json)
        gates='policies.4={"name":"dms","cr":2,"window":16} policies.5={"name":"dms","as":"no-gates-for-3","cr":8,"window":16}'
        gates="$gates policies.6={\"name\":\"dms\",\"cr\":4,\"window\":16}"
        ;;
    dms_livecodebench.json) gates='policies.3={"name":"dms","cr":4} policies.4={"name":"dms","cr":8}' ;;
    dms_table9.json) gates='policies.1={"name":"dms","cr":8}' ;;
    esac
    set --
    for gate in $gates; do
        set -- "$@" --set "$gate"
    done
    [ -z "$limits" ] || set -- "$@" --set 'max_new_tokens=[3,4,5]'
    # one of several models
    case $name in delta_fig[36].json | delta_fig15.json) cells=$((cells / 3)) ;; esac
    # layers that the embedded model has, and lengths that fit into its context
    case $name in
    delta_fig6.json)
        set -- "$@" --set 'policies=["full", {"name": "delta", "preset": "paper", "k_pages": 64, "layers": [[2,5,7], [2,3,7], [2,4,7],
            [2,6,7], [2,5,6], [2,4,6], [2,3,6], [2,3,4], [2,3,5], [2,4,5]]}]'
        ;;
    kascade_fig5.json) set -- "$@" --set 'policies.1.anchors=[0,1,2,3,4,5,6,7]' ;;
    kascade_fig6.json) set -- "$@" --set 'policies.2.anchors=[0,1,2,5]' --set 'policies.3.anchors=[0,1,2,5]' ;;
    dms_table1.json) set -- "$@" --set tasks.3.tokens=600 --set tasks.4.tokens=700 --set tasks.4.chains=2 ;;
    dms_table2.json)
        set -- "$@" --set 'tasks.0.tokens=[600,700,800]' --set 'tasks.1.tokens=[750,900,1050]' --set tasks.1.chains=2
        ;;
    esac
    [ "$name" = dms_table2_smollm2.json ] && set -- "$@" --set 'tasks.2.tokens=[750,900]' --set tasks.2.chains=2
    if [ "$name" = smollm2.json ]; then
        set -- "$@" --set 'policies.3={"name": "delta", "k_pages": 16, "layers": [2, 5]}' \
            --set 'policies.4={"name": "kascade", "ratio": 0.2, "anchors": [0, 1, 2, 5]}'
    fi
    if [ "$name" = delta_reduce_smollm2.json ]; then
        set -- "$@" --set 'policies.1={"name": "delta", "k_pages": [16, 32], "head_reduce": ["max", "sum"], "layers": [2, 5]}'
    fi
    if [ "$name" = smollm2_ruler.json ]; then # one of its 11 tasks
        cells=$((cells / 11))
        set -- "$@" --set 'tasks=[{"name": "ruler", "subset": "niah_single_1", "tokens": [500, 600, 700, 800]}]' \
            --set 'policies.3.layers=[2,5]' --set 'policies.4.anchors=[0,1,2,5]' \
            --set 'policies.5={"name": "delta", "as": "delta-calibrated", "k_pages": [16, 64], "layers": [2, 4]}' \
            --set 'policies.6={"name": "kascade", "as": "kascade-calibrated", "ratio": [0.1, 0.2], "anchors": [0, 2, 5]}' \
            --set 'policies.7={"name": "kascade", "as": "kascade-sparse-prompts", "ratio": [0.1, 0.2], "prefill": "sparse", "anchors": [0, 2, 4]}'
    fi
    if [ "$name" = equal_reads_smollm2.json ]; then # one of its 22 tasks
        cells=$((cells / 22))
        set -- "$@" --set 'tasks=[{"name": "ruler", "subset": "niah_single_1", "tokens": 500}]' \
            --set 'policies.8={"name": "delta", "as": "delta", "layers": [2, 3, 4], "k_pages": 66}' \
            --set 'policies.9.layers=[2,3]' --set 'policies.10.layers=[2,4]' \
            --set 'policies.12={"name": "kascade", "as": "kascade", "anchors": [0, 1, 2, 3], "min_tokens": 32, "ratio": [0.0452, 0.353]}' \
            --set 'policies.13.anchors=[0,1,2,4]' --set 'policies.14.anchors=[0,1,2,5]' --set 'policies.16.layers=[2,5]' --set 'policies.17.layers=[2,4]'
    fi
    [ "$name" = endpoint_smollm2.json ] && set -- "$@" --set tasks.2.tokens=600 --set tasks.3.tokens=600
    grep -q '"thinking"' "$source_dir/runs/$name" && set -- "$@" --set thinking=auto # the embedded model cannot switch it
    grep -q '"max_total_tokens"' "$source_dir/runs/$name" && set -- "$@" --set max_total_tokens=0
    file=$source_dir/runs/$name
    if grep -q '^  "system"' "$file"; then # which the embedded model's chat form has no place for
        mkdir -p copy
        ln -sfn "$source_dir/runs/published" copy/published
        sed '/^  "system"/d' "$file" >"copy/$name"
        file=copy/$name
    fi
    decode "$file" "$cells" "$compared" --set chat=auto "$@"
    n=$((n + 1))
done <"$source_dir/tests/evalcore/runfile/run_files.test"
[ "$n" = "$(ls "$source_dir"/runs/*.json | wc -l)" ] || fail "only $n run files were decoded"

# The papers' prompts reach the model, and GPQA's texts are those before their revision.
grep -q 'Make sure the final answer is standalone and in latex format\."' out/delta_fig7.json/problems/math500*.jsonl || fail "DELTA's prompt is missing"
grep -q 'boxed{{ANSWER}}' out/kascade_table2.json/problems/aime24*.jsonl || fail "Kascade's prompt is missing"
grep -q 'clearly\. The' out/dms_table7.json/problems/math500*.jsonl || fail "the prompt of DMS is missing"
ask_gpqa() { # the hash of the first question's prompt
    rm -rf made
    run 0 sweep "$source_dir/runs/delta_fig7.json" --data data -o made --limit 1 --tasks gpqa_diamond --quiet --set model=pocket \
        --set max_new_tokens=4 --set max_total_tokens=0
    grep -o '"prompt_sha256":"[0-9a-f]*"' made/problems/gpqa*.jsonl
}
ask_gpqa >early.txt
[ -s early.txt ] || fail "GPQA was not asked"
sed -i 's/Which of these floats/Which of these swims/' data/gpqa/gpqa_diamond.csv
ask_gpqa >again.txt
same early.txt again.txt
sed -i 's/Which floats/Which swims/' data/gpqa/gpqa_diamond.csv
ask_gpqa >again.txt
if cmp -s early.txt again.txt; then
    fail "the early texts of GPQA are not asked"
fi

# A run beside figures of its own model: section, CSV file, and no completion that depends on them.
rm -rf made
mkdir -p runs
printf '%s\n' '{"paper": "p", "where": "Table 1", "model": "pocket", "task": "lookup", "policy": "quest", "metric": "accuracy", "value": 90, "unit": "percent", "settings": {"k_pages": 4, "problems": 30, "samples": 1}}' \
    '{"paper": "p", "where": "Table 2", "model": "pocket", "task": "lookup", "policy": "quest", "metric": "accuracy", "value": 10, "unit": "percent", "settings": {"k_pages": 4}}' >runs/figures.jsonl
cat >runs/run.json <<'END'
{"model": "pocket", "max_new_tokens": 4, "tasks": [{"name": "pocket.lookup", "problems": 2}], "policies": ["full", {"name": "quest", "k_pages": [4, 8]}],
 "published": {"file": "figures.jsonl", "where": "Table 1"}}
END
run 0 sweep runs/run.json --data data -o made
[ "$(grep -c '^' made/report/published.csv)" = 2 ] || fail "published.csv: $(cat made/report/published.csv)"
# scipy.stats.fisher_exact([[27, 3], [0, 2]]) is 0.0201613
grep -q ',quest k_pages=4,pocket,quest,lookup,p,Table 1,lookup,accuracy,,0.9,0.743789,0.9654,30,1,1,0,0,0.65762,0,0.0201613,0.0201613,0,,' made/report/published.csv ||
    fail "published.csv: $(cat made/report/published.csv)"
grep -q 'told apart: chance alone differs as much in 2.0 % of repetitions' made/report/report.md || fail "no verdict: $(grep -i chance made/report/report.md)"
cp made/report/published.csv kept.csv
rm -r runs/figures.jsonl made/report
run 0 report made # the folder is complete by itself
same kept.csv made/report/published.csv
sed -i '/published/d; s/]}\],$/]}]}/' runs/run.json
run 0 sweep runs/run.json --data data -o made
grep -q '6 jobs, 6 done' stderr.txt || fail "figures changed what was decoded: $(cat stderr.txt)"
[ ! -e made/report/published.csv ] || fail "figures that are no longer asked for are reported"
finish
