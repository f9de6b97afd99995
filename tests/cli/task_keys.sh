# Keys of jobs that runs before tasks were files have: the same ones, so that their folders resume. pocket's tasks go by
# their short names in folders and keys. Where the engine's numerics class or the embedded model changes, so do all keys,
# and the digest below is made anew from a build before the change to tasks.
. "$(dirname "$0")/lib.sh"
rm -rf data out
mkdir -p data/aime data/math500 data/gsm8k data/gpqa
printf '{"id": 7, "problem": "What is $1+1$?", "answer": "002"}\n{"ID": "b", "question": "What is {problem}?", "answer": 4}\n' >data/aime/aime24.jsonl
sed 's/What/Which/' data/aime/aime24.jsonl >data/aime/aime25.jsonl
sed 's/What/Where/' data/aime/aime24.jsonl >data/math500/test.jsonl
printf '{"question": "How many?", "answer": "Some. #### 1,234"}\n{"question": "How few?", "answer": "12"}\n' >data/gsm8k/test.jsonl
printf 'Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3\nrec1,Which?,a,b,c,d\n' >data/gpqa/gpqa_diamond.csv
cat >run.json <<'END'
{"model": "pocket", "max_new_tokens": 1, "policies": ["full"],
 "tasks": [{"name": "pocket.relay", "steps": 3, "problems": 2}, {"name": "pocket.choice", "steps": 3, "problems": 2},
  {"name": "pocket.algebra", "steps": 3, "problems": 2}, {"name": "pocket.lookup", "steps": 4, "problems": 2},
  {"name": "aime24"}, {"name": "aime24", "prompt": "r1"}, {"name": "aime24", "prompt": "delta"}, "aime25",
  {"name": "math500"}, {"name": "math500", "prompt": "lighteval"}, "gsm8k", "gpqa_diamond"]}
END
run 0 sweep run.json -o out --data data -q
keys=$(journal_keys out | sort | sha256sum | cut -c 1-64)
[ "$keys" = 4f5be5ac1dc40cab043c95372e81308bd6d756a80d6f641abc08bae586634a2b ] || fail "jobs have other keys: $keys"
for name in relay choice algebra lookup; do
    ls out/problems/$name-*.jsonl >/dev/null || fail "no problems of $name: $(ls out/problems)"
    mentions out/config.resolved.json "\"name\": \"$name\""
done
mentions out/problems/gsm8k-*.jsonl '"golds":["1234"]'

# The plain names are refused with the new ones, and a task of one's own cannot take them.
fails 2 '"relay"' '"pocket.relay"' -- sweep run.json -o none --dry-run --set 'tasks=["relay"]'
fails 2 '"pocket.choice"' '"kind": "choice"' -- sweep run.json -o none --dry-run --set 'tasks=["choice"]'
run 0 sweep run.json -o out --data data -q --tasks relay --set tasks.relay.problems=1
finish
