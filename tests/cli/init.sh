# init: what it writes can be swept at once, for every policy and task, and it overwrites nothing.
. "$(dirname "$0")/lib.sh"

rm -rf run.json other sub m out
run 0 init
[ "$(cat stderr.txt)" = 'kveval: wrote run.json; next: kveval sweep run.json -o out' ] || fail "init said $(cat stderr.txt)"
cp run.json first.json
fails 2 init: run.json -- init
same first.json run.json
run 0 sweep run.json -o out --dry-run
for policy in full quest raas delta kascade dms oracle streamingllm omnikv lessismore deltallm random tova h2o snapkv rkv; do
    grep -q "^$policy" stdout.txt || fail "the first file has no cell of $policy: $(cat stdout.txt)"
done
[ "$(grep -c '^quest k_pages=' stdout.txt)" = 4 ] || fail "two budgets for two tasks: $(cat stdout.txt)"
# What no outcome of its few problems can earn was learnt after the night.
grep -q '^= within 5 points: no outcome can earn it; .* [1-9][0-9]* problems of each task' stdout.txt ||
    fail "the dry run does not say that = cannot be earned: $(grep within stdout.txt)"
run 0 sweep run.json -o out3 --dry-run --calibrate no --set tasks.relay.problems=70 --set tasks.lookup.problems=70
grep -q '^= within 5 points: can be earned' stdout.txt || fail "140 problems can earn it: $(grep within stdout.txt)"
# Of tasks of unlike size the samples of a problem do not count apart, and it was said that they would.
for n in 2 3; do
    run 0 sweep run.json -o out3 --dry-run --calibrate no --set temperature=0.6 --set samples=16 \
        --set tasks.relay.problems=2 --set tasks.lookup.problems=$n
    grep '^lower, higher' stdout.txt >marks.$n
done
grep -q 'can be earned' marks.2 || fail "4 problems of 16 samples can earn it: $(cat marks.2)"
grep -q 'no outcome can earn them' marks.3 || fail "5 problems of unlike weight cannot: $(cat marks.3)"
grep -q '"note"' run.json || fail "no notes"
tokens=30
if small; then tokens=2; fi
run 0 sweep run.json -o out --limit 1 -q --set max_new_tokens=$tokens
[ -s out/report/accuracy.csv ] || fail "the first file gave no report"

# every policy and every task alone
for policy in $("$program" list policies | sed -n 's/^\([a-z]*\): .*/\1/p'); do
    rm -f run.json
    run 0 init --policies "$policy"
    run 0 sweep run.json -o out2 --dry-run --calibrate no
    grep -q "^$policy" stdout.txt || fail "$policy: $(cat stdout.txt)"
done
rm run.json
fails 2 init: '"text"' '"file"' -- \
    init --tasks text
run 0 init --tasks ruler # which needs a length
run 0 sweep run.json -o out1 --dry-run --limit 1 --calibrate no
for task in $("$program" list tasks | sed -n 's/^\([a-z0-9_.]*\): .*/\1/p' | grep -v '^text$'); do
    rm -f run.json
    run 0 init --tasks "$task" --policies full,quest
    grep -q "{\"name\": \"$task\"" run.json || fail "$task is not in $(cat run.json)"
done
rm run.json
run 0 init other --tasks pocket.relay,pocket.choice --policies full,dms
run 0 sweep other -o out2 --dry-run --calibrate no
[ "$(grep -c '^full\|^dms cr=' stdout.txt)" = 6 ] || fail "full and two budgets of dms: $(cat stdout.txt)"

# another model: longer completions have larger budgets, and policies without layers for it are left out
mkdir -p m sub
cp "$source_dir"/engine/pocket/tokenizer.json "$source_dir"/engine/pocket/model.safetensors m
sed 's/"max_position_embeddings": *[0-9]*/"max_position_embeddings": 131072/' "$source_dir/engine/pocket/config.json" >m/config.json
run 0 init a.json --model m --tasks aime25
grep -q '"name": "quest", "k_pages": \[128, 256\]' a.json || fail "budgets of long answers: $(cat a.json)"
grep -q '"name": "\(delta\|kascade\|dms\|omnikv\|lessismore\)"' a.json && fail "policies without options for this model: $(cat a.json)"
grep -q 'Left out, because .*: delta, kascade, dms, omnikv, lessismore' a.json || fail "what is left out is not said: $(cat a.json)"
run 2 init b.json --model m --policies full,delta
grep -q '^kveval: init: .*delta' stderr.txt || fail "delta has no layers for m: $(cat stderr.txt)"
[ ! -e b.json ] || fail "a refused init left a file"
# a path in another folder counts from there
run 0 init sub/run.json --model m --tasks pocket.relay
run 0 sweep sub/run.json -o out2 --dry-run --calibrate no
run 0 init c.json --model m --tasks pocket.relay
grep -q '"model": "m"' c.json || fail "the model's name is changed: $(cat c.json)"
run 0 sweep c.json -o out2 --dry-run --calibrate no

fails 2 init: '"qest"' quest -- init d.json --policies qest
fails 2 init: --policies full -- init d.json --policies full,full
run 2 init d.json --tasks aime23
run 2 init d.json --model nosuch
run 2 init nosuch/run.json
[ ! -e d.json ] || fail "a refused init left a file"
rm -f run.json a.json c.json other
finish
