# The task ruler on the embedded model: lengths in the model's tokens, the answer prefix in the model's turn, and
# families and lengths as cells of their own.
. "$(dirname "$0")/lib.sh"
rm -rf out again

cat >run.json <<'END'
{"model": "pocket", "max_new_tokens": 4, "policies": ["full", {"name": "quest", "k_pages": 4}],
 "tasks": [{"name": "ruler", "problems": 1, "subset": ["niah_single_1", "fwe"], "tokens": [640, 704]}]}
END
run 0 sweep run.json --dry-run --calibrate no
grep -q '^total  *8 ' stdout.txt || fail "dry run: $(cat stdout.txt)"
run 0 sweep run.json -o out
[ "$(sed -n 's/^[^,]*,\(full[^,]*\),.*/\1/p' out/report/accuracy.csv)" = "full/ruler subset=niah_single_1 tokens=640
full/ruler subset=niah_single_1 tokens=704
full/ruler subset=fwe tokens=640
full/ruler subset=fwe tokens=704" ] || fail "cells: $(cut -d, -f 2 out/report/accuracy.csv)"
[ "$(wc -l <out/report/accuracy.csv)" = 9 ] || fail "not every cell has its row: $(cat out/report/accuracy.csv)"
grep -q 'ruler subset=fwe tokens=640' out/report/report.md || fail "the report does not tell the lengths apart"

# The prompt and the tokens to generate fill the length, up to one line of noise (64 tokens here).
for tokens in 640 704; do
    n=$(sed -n 's/.*"id":"niah_single_1-'$tokens'-s1-000".*"prompt_tokens":\([0-9]*\).*/\1/p' out/problems/*.jsonl)
    [ $((n + 128)) -le $tokens ] && [ $((n + 128 + 64)) -gt $tokens ] || fail "a prompt of $n tokens for $tokens"
done

cell='full/ruler subset=niah_single_1 tokens=640'
run 0 show out "$cell" niah_single_1-640-s1-000
# Without the marks of what was added: the chat form's, and the ends of the prefix.
sed -e 's/⟦<|begin_of_sentence|><|User|>⟧//' -e 's/⟦<|Assistant|><think>$//' -e 's/⟧$//' stdout.txt >shown.txt
grep -q '⟦<|Assistant|><think>$' stdout.txt || fail "show does not mark the chat form: $(cat stdout.txt)"
sed -n '/^---- completion/,/^---- verdict/{/^----/!p}' shown.txt >swept.txt
prefix=$(grep '^ The special magic number for [a-z]*-[a-z]* mentioned in the provided text is$' shown.txt)
[ -n "$prefix" ] || fail "show lacks the answer prefix: $(cat shown.txt)"
gold=$(grep -A 1 '^---- reference answer' shown.txt | tail -n 1)
[ "$(grep -c "is: $gold\.\$" shown.txt)" = 1 ] || fail "the needle $gold is not there once: $(cat shown.txt)"
# The completion is that of the prompt as it is written out here, with the prefix behind the chat form.
user=$(sed -n '/^A special/,/^What is/p' shown.txt)
run 0 generate --raw --max-new-tokens 4 --prompt "<|User|>$user<|Assistant|><think>
$prefix"
same stdout.txt swept.txt

# The same run again has nothing to do; another seed asks for something else.
run 0 sweep run.json -o out
grep -q '8 jobs, 8 done' stderr.txt || fail "decoded again: $(cat stderr.txt)"
run 0 sweep run.json -o again --set 'tasks=[{"name": "ruler", "problems": 1, "subset": "fwe", "tokens": 640, "seed": 2}]'
asked() { # asked DIR: the reference answers of fwe
    grep -h '"subset":"fwe"' "$1"/problems/*.jsonl | grep -o '"golds":[^]]*' | sort -u
}
[ "$(asked out | wc -l)" = 1 ] || fail "another length asks for something else: $(asked out)"
[ "$(asked out)" != "$(asked again)" ] || fail "another seed asks for the same"

fails 2 run.json tasks.0 ruler 5000 4096 max_total_tokens -- sweep run.json -o no --set tasks.0.tokens=5000
run 2 sweep run.json -o no --set tasks.0.subset=vt --set tasks.0.tokens=512
mentions stderr.txt vt 30 512

# The form of variable tracking in DMS's Table 2 is cells of its own; the two options belong to no other family.
run 0 sweep run.json -o chains --set 'tasks=[{"name": "ruler", "problems": 1, "subset": "vt", "tokens": 2600, "chains": [2, 40], "hops": 0}]'
grep -q '^[^,]*,full/ruler chains=40,' chains/report/accuracy.csv || fail "no cell of 40 chains: $(cut -d, -f 2 chains/report/accuracy.csv)"
grep -q '"id":"vt-40-0-2600-s1-000"' chains/problems/*.jsonl || fail "the problem's id does not name its chains"
fails 2 run.json tasks.0 chains vt -- sweep run.json -o no --set tasks.0.chains=40
finish
