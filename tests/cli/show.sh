# kveval show: the prompt that is printed, kept and exported is the one that the model got. With a prefix and a suffix the
# task's text alone was shown, 237 tokens of 265.
. "$(dirname "$0")/lib.sh"
rm -rf out lm light logs
printf '{"question": "What is 2 + 3?", "answer": "#### 5"}\n' >sum.jsonl
cat >run.json <<'END'
{"model": "pocket", "temperature": 0, "max_new_tokens": 3, "prefix": "Think hard.\n", "suffix": "\nGo on.", "policies": ["full"],
 "tasks": [{"name": "gsm8k", "file": "sum.jsonl"}, {"name": "pocket.lookup", "problems": 1, "steps": 4}]}
END
# Prompts that come rendered take neither, which nobody said.
run 0 sweep run.json -o out --dry-run
grep -q 'task lookup: 1 of 1 prompts .* without "prefix" and "suffix"' stderr.txt || fail "nothing says what lookup lacks: $(cat stderr.txt)"
grep -q 'task gsm8k: .*"prefix"' stderr.txt && fail "gsm8k has both: $(cat stderr.txt)"
run 0 sweep run.json -o out -q
run 0 show out gsm8k 0
mentions stdout.txt 'not the task'
grep -qF '<|User|>Think hard.' stdout.txt || fail "show lacks the prefix: $(cat stdout.txt)"
grep -qF 'Go on.<|Assistant|><think>' stdout.txt || fail "show lacks the suffix: $(cat stdout.txt)"
grep -qF '⟧What is 2 + 3?' stdout.txt || fail "show does not mark what was added: $(cat stdout.txt)"
run 0 show out lookup 0
grep -qF '⟦<|begin_of_sentence|>⟧<|User|>Read the notes .' stdout.txt || fail "of a rendered prompt: $(head -n 6 stdout.txt)"

# What is kept is the text of the ids: encoded again it has as many tokens.
cat >whole.py <<'END'
import json, sys
for path in sys.argv[1:]:
    for line in open(path, encoding="utf-8"):
        p = json.loads(line)
        print(json.dumps({"text": p["before"] + p.get("asked", p["prompt"]) + p["after"], "n": p["prompt_tokens"]}))
END
python3 whole.py out/problems/*.jsonl >texts.jsonl
[ "$(wc -l <texts.jsonl)" = 2 ] || fail "prompts: $(cat texts.jsonl)"
run 0 tokenize texts.jsonl --bare
python3 - texts.jsonl stdout.txt <<'END' || fail "a prompt's text is not that of its ids"
import json, sys
want, got = ([json.loads(x) for x in open(p, encoding="utf-8")] for p in sys.argv[1:])
sys.exit([w["n"] for w in want] != [len(g["ids"]) for g in got])
END

# Exports and transcripts have the same.
run 0 export out --format lm-eval -o lm
run 0 export out --format lighteval -o light
run 0 export out --format inspect -o logs
for where in lm light logs; do
    grep -rqF 'Go on.<|Assistant|><think>' $where || fail "$where lacks what was added"
done
run 0 report out --transcripts
grep -rqF 'Go on.&lt;|Assistant|&gt;' out/report/transcripts || fail "transcripts lack what was added"

# A folder of before says what it does not keep; the sweep's command writes it and decodes nothing.
sed -i -e 's/"after":"[^"]*",//' -e 's/"before":"[^"]*",//' out/problems/gsm8k*.jsonl
python3 "$here/reseal.py" out
run 0 show out gsm8k 0
mentions stdout.txt 'earlier version'
mentions stdout.txt config.resolved.json
grep -qF 'What is 2 + 3?' stdout.txt || fail "the task's text is gone"
run 0 export out --format lm-eval -o lm --force
before=$(wc -l out/journal/*)
run 0 sweep run.json -o out -q
[ "$before" = "$(wc -l out/journal/*)" ] || fail "it was decoded again: $(wc -l out/journal/*)"
run 0 show out gsm8k 0
grep -qF 'Go on.<|Assistant|><think>' stdout.txt || fail "the prompt was not written again"

finish
