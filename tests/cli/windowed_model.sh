# A trained model whose every other layer reads a window of 64 tokens and whose query heads have sinks, from run file to
# report: it solves problems, enough pages cost it nothing, and what it forgets shows. engine/pocket/README.md says how it
# was made.
. "$(dirname "$0")/lib.sh"
mkdir windowed
cp "$source_dir"/tests/engine/windows/trained/* "$source_dir/engine/pocket/tokenizer.json" windowed
cat >run.json <<'E2'
{"model": "windowed", "max_new_tokens": 400, "max_total_tokens": 1200,
 "tasks": [{"name": "pocket.relay", "problems": 4, "steps": 6}],
 "policies": ["full", {"name": "quest", "k_pages": 8}, {"name": "streamingllm", "form": "evict", "window_tokens": 80}]}
E2
run 0 sweep run.json -o out

# of POLICY COLUMN: its value in the report's table.
of() {
    awk -F'"' -v OFS='"' '{ for (i = 2; i <= NF; i += 2) gsub(",", ";", $i) } 1' out/report/accuracy.csv |
        awk -F, -v policy="$1" -v column="$2" '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
            $at["policy"] == policy { print $at[column] }'
}
[ "$(of full correct)" = 4 ] || fail "full attention solves $(of full correct) of 4"
[ "$(of quest correct)" = 4 ] || fail "quest with enough pages solves $(of quest correct) of 4"
[ "$(of streamingllm correct)" = 0 ] || fail "a window of 80 tokens solves $(of streamingllm correct) of 4"
[ "$(of full kv_density)" = 1 ] || fail "full attention reads $(of full kv_density) of what the model itself reads"
awk -v v="$(of quest kv_density)" 'BEGIN { exit !(v > 0.3 && v < 0.9) }' || fail "quest reads $(of quest kv_density)"
# Windows give their tokens back: a sequence holds fewer than it has read and written.
awk -v peak="$(of full peak_tokens)" -v made="$(of full mean_tokens)" 'BEGIN { exit !(peak > 80 && peak < made) }' ||
    fail "full attention holds $(of full peak_tokens) tokens of $(of full mean_tokens) that were made"

# What the windows themselves forget was a policy's merit: one that forgets nothing had a compression above 1, and one that
# forgets had it doubled by layers of which it forgot nothing more than the model does.
run 0 sweep run.json -o kept --set 'policies=["full", {"name": "streamingllm", "form": "evict", "window_tokens": 2000}]'
! grep -q 'compression of K and V' kept/report/index.html || fail "a policy that forgets nothing compresses"
grep -q 'compression of K and V' out/report/index.html || fail "no compression of a policy that forgets"
grep -q "\"windows\"" out/config.resolved.json ||
    fail "the run folder does not say the model's windows"
finish
