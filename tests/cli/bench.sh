# bench: one JSON line a figure with every field, the same figures as CSV. Speed itself is no test: machines differ.
. "$(dirname "$0")/lib.sh"
run 0 bench limits --csv figures.csv
number='[0-9][0-9.e+-]*'
[ "$(wc -l <stdout.txt)" = 6 ] || fail "bench limits printed: $(cat stdout.txt)"
[ "$(grep -Ecx "\{\"name\": \"[^\"]+\", \"value\": $number, \"unit\": \"G(B|FLOP)/s\", \"floor\": null, \"share\": null, \"command\": \"kveval bench limits\"\}" stdout.txt)" = 6 ] ||
    fail "bench limits printed: $(cat stdout.txt)"
grep -q '^{"name": "FMA peak", "value": [1-9]' stdout.txt || fail "no FMA peak: $(cat stdout.txt)"
[ "$(head -n 1 figures.csv)" = "name,value,unit,floor,share,command" ] || fail "figures.csv: $(head -n 1 figures.csv)"
[ "$(wc -l <figures.csv)" = 7 ] || fail "figures.csv: $(cat figures.csv)"

# topk and load: the figures on standard output and those in the file are the same.
cat >small.json <<'END'
{"model_type": "qwen2", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
 "num_key_value_heads": 2, "vocab_size": 1000, "max_position_embeddings": 256, "rms_norm_eps": 1e-06, "rope_theta": 10000,
 "hidden_act": "silu", "tie_word_embeddings": true, "architectures": ["Qwen2ForCausalLM"]}
END
run 0 bench topk load --random-weights small.json --csv figures.csv
[ "$(grep -c '"name": "topk 12/2 heads' stdout.txt)" = 6 ] || fail "bench topk printed: $(cat stdout.txt)"
[ "$(grep -c '"name": "load random:small.json, ' stdout.txt)" = 1 ] || fail "bench load printed: $(cat stdout.txt)"
sed 's/^{"name": "\(.*\)", "value": \(.*\), "unit": "\(.*\)", "floor": \(.*\), "share": \(.*\), "command": "\(.*\)"}$/\1|\2|\3|\4|\5|\6/; s/null//g' stdout.txt >lines.txt
tail -n +2 figures.csv | sed 's/^"\(.*\)",\([^,]*\),\([^,]*\),\([^,]*\),\([^,]*\),"\(.*\)"$/\1|\2|\3|\4|\5|\6/' >rows.txt
same lines.txt rows.txt
if ! small; then
    run 0 bench attention # its cache is not the engine's: it has to have room for everything that attention counts
    [ "$(grep -c '"name": "attention 32/8 heads' stdout.txt)" = 2 ] || fail "bench attention printed: $(cat stdout.txt)"
    run 0 bench forget
    [ "$(grep -c '"name": "forget 12/2 heads, batch 8 x .*, 1 layer: .*, 1 acts, .*"unit": "GFLOP/s", "floor": [1-9]' stdout.txt)" = 2 ] || fail "bench forget printed: $(cat stdout.txt)"
    [ "$(grep -c '"name": "forget 12/2 heads, batch 8 x 1088, 1 layer: Random, 1 acts, .*"unit": "GB/s", "floor": [1-9]' stdout.txt)" = 1 ] || fail "bench forget printed: $(cat stdout.txt)"
fi
[ -z "$(ls -d kveval-bench-* 2>/dev/null)" ] || fail "bench load leaves files: $(ls)"
fails 2 '"limit"' limits stats -- bench limit
fails 2 decode: --policy --batch --sampled --tokens -- bench decode --batch 3
fails 2 decode: snapkv 936 1024 --sampled -- \
    bench decode --policy snapkv:budget_tokens=64,window=16,when=decode,every=1000 --batch 1 --tokens 160 --sampled --threads 1
fails 2 raas replayed -- \
    bench components --policy raas:budget_tokens=64 --batch 1 --tokens 128 --threads 1

# decode --tokens: figures at some lengths and of the whole, decoded or estimated, all with a limit. Where every token is
# decoded, the pool's peak as well.
for how in "" --sampled; do
    run 0 bench decode --tokens 160 --batch 2 --policy quest:k_pages=4 --threads 1 $how
    [ "$(grep -c "\"unit\": \"tok/s\", \"floor\": [1-9].*\"command\": \"kveval bench decode --threads 1 --policy quest:k_pages=4 --batch 2 --tokens 160${how:+ }$how\"}$" stdout.txt)" = "$(grep -vc '"unit": "MiB"' stdout.txt)" ] ||
        fail "decode --tokens $how printed: $(cat stdout.txt)"
    sed 's/"name": "\([^"]*\)".*/\1/; s/^{//' stdout.txt >names$how.txt
done
cat >names.want <<'END'
decode pocket quest:k_pages=4 batch 2 at 160 tokens
decode pocket quest:k_pages=4 batch 2, 1 to 160 tokens
pool of pocket quest:k_pages=4 batch 2, 1 to 160 tokens, at its peak
END
same names.txt names.want
cat >names.want <<'END'
decode pocket quest:k_pages=4 batch 2 at 1 tokens, sampled
decode pocket quest:k_pages=4 batch 2 at 160 tokens, sampled
decode pocket quest:k_pages=4 batch 2, 1 to 160 tokens, estimated by the trapezoid rule from 2 sampled lengths
END
same names--sampled.txt names.want

# No stretch is of a single step, which could not be timed: one step after a length there is one figure, not two.
for tokens in 513 600; do
    run 0 bench decode --tokens $tokens --batch 1 --threads 1
    sed -n 's/.* at \([0-9]*\) tokens".*/\1/p' stdout.txt
done | tr '\n' ' ' >lengths
[ "$(cat lengths)" = "513 512 600 " ] || fail "figures at the lengths $(cat lengths)"

# The pool's peak: full attention holds what its floor says, to a page; tokens that are forgotten make room.
python3 "$source_dir/bench/random_gates.py" "$source_dir/engine/pocket/config.json" 0.75 gates.safetensors --window 16
for policy in full dms:gate=gates.safetensors; do
    run 0 bench decode --random-weights "$source_dir/engine/pocket/config.json" --tokens 500 --batch 2 --policy $policy --threads 1
    sed -n 's/.*at its peak", .*"share": \([^,]*\).*/\1/p' stdout.txt
done >shares
awk 'NR == 1 { full = $1 } NR == 2 { dms = $1 } END { exit !(NR == 2 && full >= 0.97 && full <= 1.04 && dms < 0.6 && dms > 0.1) }' shares ||
    fail "the pool's shares at its peak: $(cat shares)"

# prefill: a figure with a limit; no longer than the model.
run 0 bench prefill --tokens 200 --policy dms:cr=4 --threads 1
grep -q '^{"name": "prefill pocket dms:cr=4 of 200 tokens, .* ms", "value": [1-9].*, "unit": "tok/s", "floor": [1-9].*--policy dms:cr=4 --tokens 200"}$' stdout.txt ||
    fail "bench prefill printed: $(cat stdout.txt)"
for op in 'linear, [1-9][0-9]* operations' 'prefill_attend, sparse, [1-9][0-9]* operations'; do
    grep -q "^{\"name\": \"prefill pocket dms:cr=4 of 200 tokens: $op\", \"value\": [0-9].*\"unit\": \"ms\"" stdout.txt ||
        fail "bench prefill does not time $op: $(cat stdout.txt)"
done
fails 2 prefill: 4096 --tokens -- \
    bench prefill --tokens 4096 --threads 1

# Several lengths are measured in turn, each as if it stood alone.
run 0 bench components --policy full --batch 1 --tokens 160,128 --threads 1
sed -n 's/.*batch 1 at \([0-9]* tokens: the whole step\).* \(--tokens [0-9]*\) .*/\1 \2/p; s/.*batch 1 at \([0-9]* tokens: the whole step\).*\(--tokens [0-9]*\)"}$/\1 \2/p' stdout.txt | sort -u >lengths
printf '%s\n' '128 tokens: the whole step --tokens 128' '160 tokens: the whole step --tokens 160' >want
same lengths want
for tokens in 1024, 12 x 128,,256 9999999 "128 256"; do
    fails 2 --tokens 128 -- bench components --tokens "$tokens"
done

# components: the shares make a hundred percent, and the whole step stands beside the sum.
run 0 bench components --policy delta:layers=2+5,k_pages=4,l_pages=2 --batch 2 --tokens 160 --threads 1
sed -n 's/.*share of the sum", "value": \([^,]*\).*/\1/p' stdout.txt | awk '{ s += $1 } END { exit !(NR == 9 && s > 99.9 && s < 100.1) }' ||
    fail "shares of components: $(cat stdout.txt)"
[ "$(grep -c 'the whole step as recorded", "value": [1-9]' stdout.txt)" = 1 ] || fail "components printed: $(cat stdout.txt)"
if small; then finish; fi
# stats: the same figures with any number of threads, and the rates that are promised.
run 0 bench stats --nights 40 --threads 1
sed 's/, "command".*//' stdout.txt >one.txt
run 0 bench stats --nights 40 --threads 2
sed 's/, "command".*//' stdout.txt >two.txt
same one.txt two.txt
promised() { # promised TRUTH RATE: at most 5 % of false alarms, or at least 85 % of losses found; null where nothing is promised
    grep -q "\"name\": \"gate, 60 problems, $1: called a regression\", \"value\": [0-9.]*, \"unit\": \"%\", \"floor\": $2," one.txt ||
        fail "bench stats promises no $2 for $1: $(cat one.txt)"
}
promised 'no change' 5
promised 'no change, batch effect 0.25' 5
promised '5 points lower, batch effect 0.25' 85
promised 'no change, batch effect 0.5' null
finish
