# Calibration: the same data gives the same files, a run file takes the layers, and what would deceive is refused;
# and the recall of policies.
. "$(dirname "$0")/lib.sh"
rm -rf out

cat >dev.json <<'END'
{"model": "pocket", "max_new_tokens": 64, "policies": ["full"],
 "tasks": [{"name": "pocket.relay", "seed": 91, "problems": 1}, {"name": "pocket.choice", "seed": 91, "problems": 1}]}
END
cut="--max-new-tokens 24"
run 0 calibrate kascade dev.json -o k1.json --layers 4 $cut
grep -q '^anchors=0+[0-9]*+[0-9]*+[0-9]*$' stdout.txt || fail "no anchors: $(cat stdout.txt)"
run 0 calibrate kascade dev.json -o k2.json --layers 4 $cut --threads 1
run 0 calibrate delta dev.json -o d1.json --k-pages 4 --l-pages 2 $cut
grep -q '^layers=2+[0-9]*+[0-9]*$' stdout.txt || fail "no refresh layers: $(cat stdout.txt)"
mentions stdout.txt distance .733 .631 .323
run 0 calibrate delta dev.json -o d2.json --k-pages 4 --l-pages 2 $cut
for ending in json csv svg curve.svg; do
    same k1.$ending k2.$ending
    same d1.$ending d2.$ending
done
for file in d1.json d1.curve.svg; do
    grep -q relay $file || fail "$file has no curve of its task"
done
grep -q '"by_task"' d1.json || fail "d1.json has no curves by task"
grep -q '"by_task"' k1.json && fail "k1.json has curves by task"
[ "$(wc -l <k1.csv)" = 37 ] || fail "not every pair of layers is in k1.csv"

cat >run.json <<'END'
{"model": "pocket", "max_new_tokens": 4, "tasks": [{"name": "pocket.relay", "problems": 1}],
 "policies": [{"name": "kascade", "ratio": 0.2, "calibration": "k1.json"},
              {"name": "delta", "k_pages": 8, "calibration": "d1.json"}]}
END
run 0 sweep run.json -o out -q
anchors=$(tr -d ' \n' <k1.json | sed 's/.*"anchors":\(\[[^]]*\]\).*/\1/')
tr -d ' \n' <out/config.resolved.json | grep -qF "\"anchors\":$anchors" || fail "the sweep has other anchors"

sed 's/"problems": 1}/"seed": 91, "problems": 1}/' run.json >same.json
run 2 sweep same.json -o out2 -q
mentions stderr.txt k1.json
sed 's/"model": "[0-9a-f]*"/"model": "0123"/' k1.json >other.json
sed 's/k1.json/other.json/' run.json >bad.json
run 2 sweep bad.json -o out2 -q
mentions stderr.txt 0123
sed 's/k1.json/d1.json/' run.json >bad.json
fails 2 bad.json policies.0 d1.json -- sweep bad.json -o out2 -q
sed 's/"ratio": 0.2/"ratio": 0.2, "anchors": [0, 3]/' run.json >bad.json
fails 2 bad.json policies.0 '"calibration"' '"anchors"' -- \
    sweep bad.json -o out2 -q
fails 2 '"quest"' kascade delta -- calibrate quest dev.json -o x.json
fails 2 FILE.json -- calibrate delta dev.json

# A problem is the same one however it is asked; 665 tokens are a haystack that fits to the token. Rows: exit code, what,
# task, settings.
options="Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3"
for i in 1 2; do
    echo "{\"id\": $i, \"problem\": \"What is $i + $i ?\", \"answer\": $i}" >&3
    echo "{\"_id\": \"$i\", \"input\": \"Where is $i ?\", \"context\": \"It is in room $i .\", \"answers\": [\"a\"]}" >&4
    [ $i = 1 ] && echo "Record ID,$options,$(echo ",$options" | sed 's/,/,Pre-Revision /g' | cut -c 2-)" >&5
    echo "rec$i,Which is $i ?,one,two,three,four,What is $i ?,five,six,seven,eight" >&5
done 3>math.jsonl 4>long.jsonl 5>gpqa.csv
sed 1d math.jsonl >math2.jsonl
sed 1d long.jsonl >long2.jsonl
sed 2d gpqa.csv >gpqa2.csv
cat >dev2.json <<'END'
{"model": "pocket", "max_new_tokens": 4, "policies": ["full"], "tasks": [
 {"name": "aime24", "file": "math.jsonl", "prompt": "delta", "problems": 1},
 {"name": "gpqa_diamond", "file": "gpqa.csv", "problems": 1},
 {"name": "longbench", "file": "long.jsonl", "subset": "qasper", "problems": 1},
 {"name": "ruler", "subset": "niah_single_1", "tokens": 665, "seed": 91, "problems": 1}]}
END
run 0 calibrate delta dev2.json -o d3.json --k-pages 4 --l-pages 2 --max-new-tokens 4
n_rows=0
while IFS='|' read -r code what task settings; do
    n_rows=$((n_rows + 1))
    echo "{\"model\": \"pocket\", \"max_new_tokens\": 4, $settings \"tasks\": [{$task, \"problems\": 1}],
        \"policies\": [{\"name\": \"delta\", \"k_pages\": 8, \"calibration\": \"d3.json\"}]}" >row.json
    run "$code" sweep row.json --dry-run --calibrate no
    [ "$code" = 0 ] || grep -q 'is among those that d3.json was calibrated on' stderr.txt || fail "$what: $(cat stderr.txt)"
done <<'END'
2|as it was|"name": "aime24", "file": "math.jsonl", "prompt": "delta"|
2|another prompt|"name": "aime24", "file": "math.jsonl", "prompt": "kascade"|
2|the prompt of the settings|"name": "aime24", "file": "math.jsonl"|"prompt": "r1",
2|under the name of another task|"name": "math500", "file": "math.jsonl", "prompt": "lighteval"|
2|another chat form|"name": "aime24", "file": "math.jsonl", "prompt": "delta"|"chat": "none",
2|text around it|"name": "aime24", "file": "math.jsonl", "prompt": "delta"|"prefix": "Now: ", "suffix": " Go.",
0|another problem|"name": "aime24", "file": "math2.jsonl", "prompt": "delta"|
2|the options as they were|"name": "gpqa_diamond", "file": "gpqa.csv"|
2|question and options before their revision|"name": "gpqa_diamond", "file": "gpqa.csv", "prompt": "delta"|
0|another question with the same options|"name": "gpqa_diamond", "file": "gpqa2.csv"|
2|a long text under another data set's wording|"name": "longbench", "file": "long.jsonl", "subset": "hotpotqa"|
0|another long text|"name": "longbench", "file": "long2.jsonl", "subset": "qasper"|
2|another length|"name": "ruler", "subset": "niah_single_1", "tokens": 640, "seed": 91|
2|a shorter haystack|"name": "ruler", "subset": "niah_single_1", "tokens": 665, "seed": 91|"prefix": "Read this .",
0|another seed|"name": "ruler", "subset": "niah_single_1", "tokens": 665, "seed": 92|
0|another family|"name": "ruler", "subset": "niah_multivalue", "tokens": 665, "seed": 91|
END
[ "$n_rows" = 16 ] || fail "$n_rows rows were read"

cat >probe.json <<'END'
{"model": "pocket", "max_new_tokens": 64, "tasks": [{"name": "pocket.relay", "problems": 1}],
 "policies": ["full", {"name": "kascade", "ratio": 1}, {"name": "quest", "k_pages": 4},
              {"name": "delta", "k_pages": 4, "as": "short"}, {"name": "delta", "k_pages": 6, "as": "long"}]}
END
run 0 probe recall probe.json -o recall.csv $cut
for whole in full kascade; do
    grep -q "^$whole  *1\.0000  *1\.0000$" stdout.txt || fail "$whole: $(cat stdout.txt)"
done
awk -F, '$1 == "short" {s += $3} $1 == "long" {l += $3} END {exit !(s > 0 && s < l && l < 8)}' recall.csv ||
    fail "a longer list holds more: $(cat recall.csv)"
[ "$(grep -c ^quest, recall.csv)" = 8 ] || fail "not every layer is in recall.csv"
sed 's/"full", /{"name": "dms", "cr": 4}, {"name": "quest", "k_pages": 3, "as": "a, b"},/' probe.json >mixed.json
run 0 probe recall mixed.json -o mixed.csv -L 1 --max-new-tokens 8
grep -q '^dms  *-  *-  it forgets tokens' stdout.txt || fail "dms: $(cat stdout.txt)"
grep -q '^"a, b",0,' mixed.csv || fail "a label with a comma: $(cat mixed.csv)"
grep -q dms mixed.csv && fail "a recall of dms"
echo '{"model": "pocket", "tasks": [{"name": "pocket.relay", "problems": 1}], "policies": [{"name": "dms", "cr": 4}]}' >bad.json
run 2 probe recall bad.json $cut
mentions stderr.txt policies forget

# The best keys of each head: more keys hold more, a layer serves itself best, and few keys in short contexts are said.
run 0 probe keys probe.json -o keys.csv --keys 1 $cut
mv keys.csv keys1.csv
run 0 probe keys probe.json -o keys.csv --keys 6 $cut
[ "$(wc -l <keys.csv)" = 41 ] || fail "not every layer and head is in keys.csv"
paste -d, keys1.csv keys.csv | awk -F, 'NR > 1 {bad += !(0 < $3 && $3 <= $6 && $6 <= 1); less += $3 < $6} END {exit bad || less < 8}' || fail "more keys hold more: $(cat keys.csv)"
awk -F, 'NR > 1 {bad += $1 == $2 ? $3 != 1 : !(0 < $3 && $3 <= 1)} END {exit bad || NR != 37}' keys.similarity.csv ||
    fail "similarity: $(cat keys.similarity.csv)"
for file in keys.svg keys.similarity.svg; do
    grep -q '<svg' $file || fail "$file is no figure"
done
# Maps: each layer's probabilities are 1 in sum over the tokens that a step sees, two steps in one file are those of each alone.
run 0 probe maps probe.json -o maps.csv --steps 3,9 -L 1 --max-new-tokens 10
awk -F, 'NR > 1 {sum[$1 "," $2] += $4; n[$1 "," $2]++} END {for (k in sum) bad += sum[k] < .9999 || sum[k] > 1.0001
    for (l = 0; l < 8; l++) bad += n["9," l] != n["3," l] + 6; exit bad || length(sum) != 16}' maps.csv || fail "maps: $(head -5 maps.csv)"
run 0 probe maps probe.json -o map9.csv --steps 9 -L 1 --max-new-tokens 10
diff <(grep ^9, maps.csv) <(grep ^9, map9.csv) || fail "step 9 depends on the other steps"
grep -q 'decode step 3<' maps.3.svg || fail "maps.3.svg is no figure of step 3"
fails 2 'no decode step 10' --max-new-tokens -- probe maps probe.json --steps 10 -L 1 --max-new-tokens 10
fails 2 --steps 900,1000 -- probe maps probe.json
fails 2 '"x"' -- probe maps probe.json --steps 3,x
fails 2 'twice' -- probe maps probe.json --steps 3,4,3
fails 2 keys maps -- probe cards probe.json
fails 2 --keys 4000 keys -- probe keys probe.json --keys 4000 $cut
finish
