# kveval gate: no command leaves an earlier pass in place, no baseline is written that cannot fail, and nothing that
# differs passes without being asked for.
. "$(dirname "$0")/lib.sh"
rm -rf base night bare other alien late *.jsonl
cat >run.json <<'END'
{"model": "pocket", "seed": 1, "samples": 1, "temperature": 0.6, "max_new_tokens": 40, "tasks": [{"name": "pocket.lookup", "problems": 1}],
 "policies": ["full", {"name": "quest", "k_pages": 16, "as": "quest"}], "baseline": "full"}
END
# error_is_told WHAT: gate.json and gate.xml of night/gate say the error.
error_is_told() {
    local what=$1
    grep -q '"verdict": "error"' night/gate/gate.json || fail "$what: gate.json does not say error"
    grep -q '<error message=' night/gate/gate.xml || fail "$what: gate.xml has no error"
    grep -q '^error: ' night/gate/gate.md || fail "$what: gate.md does not say error"
}
# remade FILE: ends a base file whose lines were changed with the digest that fits.
remade() {
    printf '{"kind":"end","sha256":"%s"}\n' "$(sha256sum <"$1" | cut -c 1-64)" >>"$1"
}
stale() {
    mkdir -p night/gate
    echo '{"verdict": "pass"}' >night/gate/gate.json
    echo '<testsuite/>' >night/gate/gate.xml
}

# A new baseline; not one whose replays read everything, nor one over an old one that does not hold.
run 2 gate --run run.json --rebaseline --samples 1 --base none.jsonl -o alien -q --set 'policies=["full", {"name": "quest", "k_pages": 1000}]'
mentions stderr.txt every token
[ -e none.jsonl ] && fail "a base file was written that tests no selection"
run 0 gate --run run.json --rebaseline --samples 1 --base base.jsonl -o base -q
run 2 gate --run run.json --rebaseline --samples 1 --base base.jsonl -o alien -q --set 'policies=["full", {"name": "quest", "k_pages": 8, "as": "quest"}]'
mentions stderr.txt base.jsonl

# An option under the same label was said as "reads 16802, the base file has 26747".
run 1 gate --run run.json --base base.jsonl -o alien --set 'policies=["full", {"name": "quest", "k_pages": 8, "as": "quest"}]'
[ "$(head -n 1 stdout.txt)" = 'options are not those of the baseline: quest: k_pages is 8, the base has 16' ] ||
    fail "the console does not begin with the option: $(head -n 3 stdout.txt)"
grep -q 'failure message="k_pages is 8, the base has 16' alien/gate/gate.xml || fail "gate.xml does not begin with the option"
grep -q '^regression: quest: k_pages is 8, the base has 16' alien/gate/gate.md || fail "gate.md does not begin with the option"
grep -q '^## Accuracy' alien/gate/gate.md && fail "gate.md has a table without a row"
rm -rf alien

# Errors take the place of what an earlier night said.
run 4 gate --run run.json --base base.jsonl -o night
grep -q '"verdict": "inconclusive"' night/gate/gate.json || fail "one answer decided something"
stale
run 2 gate --run run.json --base base.jsonl -o night -q --set temperature=0.7
error_is_told 'another temperature'
stale
run 2 gate --run missing.json --base base.jsonl -o night -q
error_is_told 'a run file that is not there'
stale
run 2 gate --run run.json --base missing.jsonl -o night -q
error_is_told 'a baseline that is not there'
mentions stderr.txt missing.jsonl --rebaseline
fails 2 --base missing/base.jsonl -- gate --run run.json --rebaseline --base missing/base.jsonl -o late -q
fails 2 --base -- gate --run run.json --rebaseline --base base -o late -q
[ ! -e late ] || fail "what was known to fail was begun"
stale
run 3 gate --run run.json --base base.jsonl -o night -q --history missing/nights.jsonl
error_is_told 'a history that cannot be written'
stale
GITHUB_ACTIONS=true run 2 gate --run run.json --base base.jsonl -o night -q --set margin=3
error_is_told 'another margin'
mentions stderr.txt --margin
grep -q '^::error title=kveval gate, error::' stdout.txt || fail "no annotation of an error: $(cat stdout.txt)"
run 4 gate --run run.json --base base.jsonl -o night -q --set margin=3 --margin 3
fails 2 --samples --rebaseline 16 --set samples=N -- gate --run run.json --base base.jsonl -o late --samples 8

# The nights of a history on the page of a report: the chart stood on the gate's own page alone.
for i in 1 2 3; do
    echo '{"base":"b","settings":[{"answers":"a'$i'","setting":"quest","z":-3}],"time":'$i',"verdict":"pass","version":"1"}'
done >nights.jsonl
run 0 report night --history nights.jsonl
grep -q '^> .*The sum of drops passed its limit in night 3 of 3' night/report/report.md || fail "no nights in the report: $(cat night/report/report.md)"
[ -s night/report/nights.svg ] && grep -q 'Sum of drops over the nights' night/report/index.html || fail "no chart in the report"
run 0 report night
grep -q 'Sum of drops' night/report/report.md night/report/index.html && fail "nights without a history"
[ ! -e night/report/nights.svg ] || fail "an old chart stayed"
fails 2 none.jsonl --history -- report night --history none.jsonl
echo '{' >nights.jsonl
run 3 report night --history nights.jsonl

# Completions of a folder that no build has marked may be another build's.
rm night/gate/program.sha256
run 2 gate --run run.json --base base.jsonl -o night -q
mentions stderr.txt 'which build'
error_is_told 'completions without a mark'

# A setting without a replay was never tested.
grep -v '"kind":"end"' base.jsonl | grep -v '"kind":"replay".*"setting":"quest"' >bare.jsonl
remade bare.jsonl
run 2 gate --run run.json --base bare.jsonl -o bare -q
mentions stderr.txt '"quest"'

# Another numerics class only when asked for, and then it is said.
cp -r base other
sed -i 's/"numerics": *"[^"]*"/"numerics": "cpu-other-9"/' other/config.resolved.json
run 2 gate base other -q
mentions stderr.txt --other-numerics
run 4 gate base other --other-numerics
mentions stdout.txt numerics: cpu-other-9

# Options that are scored were replayed by nobody: a run of such tasks alone had no baseline. All tokens of a problem's options
# are, in steps and as a block, and whoever decodes beside them changes no bit.
rm -rf scored scored_night scored_shifted options.jsonl shifted.jsonl
data=$here/likelihood
cat >scored.json <<END
{"model": "pocket", "policies": ["full", {"name": "quest", "k_pages": 2, "as": "quest"}],
 "tasks": [{"name": "arc_easy", "file": "$data/arc/ARC-Easy-test.jsonl"},
           {"name": "arc_easy", "as": "whole", "scored": "block", "file": "$data/arc/ARC-Easy-test.jsonl"}]}
END
run 0 gate --run scored.json --rebaseline --samples 1 --base options.jsonl -o scored -q --threads 1
for task in arc_easy whole; do
    grep -q "\"kind\":\"trace\".*\"task\":\"$task\"" options.jsonl || fail "no replay of $task: $(cat options.jsonl)"
done
run 4 gate --run scored.json --base options.jsonl -o scored_night --threads 2
mentions stdout.txt '6 of 6' 'last bit'
sed '/"kind":"end"/d; /"kind":"replay".*"setting":"quest"/s/"bits":"./"bits":"x/' options.jsonl >shifted.jsonl
remade shifted.jsonl
run 1 gate --run scored.json --base shifted.jsonl -o scored_shifted
mentions stdout.txt quest log-probabilities
finish
