# Tasks of somebody's own: a task file beside its rows, and entries of the run file that say a kind. What a run folder
# keeps is enough to grade, report and export without them.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 writes the rows"
rm -rf my hidden out other merged tables.csv quiz.csv
mkdir my
python3 - <<'END'
import json, random
random.seed(5)
def rules(n):
    names = [a + b for a, b in zip(random.sample("bcdfgh", 6), "klmnpq")][:n]
    value = [random.randrange(100) for _ in names]
    text = ["Apply the rules in order , all values modulo 1000 ."]
    for i, name in enumerate(names):
        if i < 2:
            text.append(f" rule {i + 1} : {name} = {value[i]}")
            continue
        value[i] = (value[i - 1] + 2 * value[i - 2]) % 1000
        text.append(f" rule {i + 1} : {name} = {names[i - 1]} + 2 * {names[i - 2]}")
    return "\n".join(text), names[-1], value[-1]
with open("my/contest.jsonl", "w") as f, open("quiz.csv", "w") as g:
    g.write("question,name,A,B,C,D,answer\n")
    for i in range(4):
        text, name, value = rules(4)
        f.write(json.dumps({"question": f"{text}\nFind the value of {name} .", "solution": value, "nr": f"p{i}"}) + "\n")
        text, name, value = rules(4)
        options = [value + 1, value + 100, value + 10]
        options.insert(i, value)
        g.write(f'"{text}",{name},{",".join(map(str, options))},{"ABCD"[i]}\n')
END
cat >my/contest.json <<'END'
{"name": "contest", "about": "Our contest: four problems", "kind": "math", "rows": {"file": "contest.jsonl"}, "note": "x",
 "fields": {"problem": ["text", "question"], "answer": "solution", "id": "nr"}, "prompts": {"plain": "{problem}"}, "limit": 400}
END
printf '%s\n' '{"question": "Find it .", "context": "The sky is blue .", "answers": ["blue", "to the"]}' \
    '{"question": "Find it .", "context": "The sea is green .", "answers": ["green"]}' >my/qa.jsonl
cat >run.json <<'END'
{"model": "pocket", "policies": ["full", {"name": "quest", "k_pages": 64}],
 "tasks": ["my/contest.json",
  {"kind": "metric", "file": "my/qa.jsonl", "limit": 8, "prompts": {"x": "{context} {problem}"}, "grader": {"first_line": true}},
  {"kind": "choice", "file": "quiz.csv", "as": "quiz", "limit": 400, "fields": {"name": "name"},
   "prompts": {"plain": {"text": "{problem}\nWhich option is the value of {name} ?\n{options}", "option": " {text} is {letter}"}}}]}
END
run 0 sweep run.json -o out
mentions stdout.txt contest quiz
cp out/report/accuracy.csv accuracy.csv
python3 - <<'END' || fail "the embedded model does not solve what was written for it: $(cat accuracy.csv)"
import csv
rows = list(csv.DictReader(open("accuracy.csv")))
assert {r["task"] for r in rows} == {"contest", "qa", "quiz"}
assert all(int(r["correct"]) >= 3 for r in rows if r["task"] != "qa"), rows
END
mentions out/config.resolved.json '"kind": "choice"'
mentions out/problems/contest-*.jsonl '"id":"p0"'
mentions out/problems/quiz-*.jsonl 'is A'

# A corrected "about" is the same task: nothing is left to decode.
journal_keys out >keys.txt
sed -i 's/Our contest/The contest/' my/contest.json
run 0 sweep run.json -o out
journal_keys out | cmp -s - keys.txt || fail "a corrected \"about\" made other jobs"

# Without the files: graded anew in processes and here, reported, shown and exported.
mv my hidden
mv quiz.csv hidden/
rm -rf out/report out/grades
run 0 report out
same out/report/accuracy.csv accuracy.csv
rm -rf out/grades
run 0 score out
grep -q 'changed' stdout.txt && fail "the same grader gave other grades: $(cat stdout.txt)"
run 0 show out full.quiz 0
mentions stdout.txt 'Which option'
run 0 export out --format csv -o tables.csv
mentions tables.csv contest
run 0 compare out full quest
fails 2 my/contest.json 'No such file' -- sweep run.json -o out
mv hidden my
mv my/quiz.csv .
cp -r out other
run 0 report out other -o merged
run 0 gate out other --inconclusive pass

# A label may have blanks. A task of one's own keeps the rule of names that published sets have.
run 0 sweep run.json -o none --dry-run --calibrate no --set 'tasks=[{"kind": "math", "file": "my/contest.jsonl", "as": "our cup", "fields": {"answer": "solution"}}]'
mentions stdout.txt 'our cup'
fails 2 '"../cup"' -- sweep run.json -o none --dry-run --set 'tasks=[{"kind": "math", "file": "my/contest.jsonl", "as": "../cup"}]'
fails 2 '"aime24"' 'another one' -- sweep run.json -o none --dry-run --set 'tasks=[{"kind": "math", "file": "my/contest.jsonl", "as": "aime24"}]'
for answer in 204 25 809 116 104 294 540 197 480 113; do echo "{\"problem\": \"bird $answer\", \"answer\": $answer}"; done >birds.jsonl
run 0 sweep run.json -o none --dry-run --calibrate no --set 'tasks=[{"kind": "math", "file": "birds.jsonl"}]'
mentions stdout.txt 'birds: ' "10 of AIME 2024's 30"
fails 2 'AIME 2024' 'not of AIME 2025' -- sweep run.json -o none --dry-run --set 'tasks=[{"kind": "math", "file": "birds.jsonl", "as": "aime 2025"}]'
run 0 sweep run.json -o none --dry-run --calibrate no --set 'tasks=[{"name": "my/contest.json", "as": "aime25"}]'
mentions stdout.txt 'not AIME 2025: 0 of 30 answers' 'name the task otherwise'

# What an entry is called where its file's name is no task's, or a kind's; rows that are named twice or not at all, and
# rows where a task file is expected.
cp my/contest.jsonl 'my/Pruefung (umlaut).jsonl'
cp my/contest.jsonl my/math.jsonl
fails 2 'Pruefung_(umlaut)' '"as"' -- sweep run.json -o none --dry-run --set 'tasks=[{"kind": "math", "file": "my/Pruefung (umlaut).jsonl"}]'
fails 2 '"math"' 'of a kind' '"as"' -- sweep run.json -o none --dry-run --set 'tasks=[{"kind": "math", "file": "my/math.jsonl"}]'
fails 2 tasks.0 '"rows.file"' 'both' -- sweep run.json -o none --dry-run --set 'tasks=[{"kind": "math", "file": "my/contest.jsonl", "rows": {"file": "my/math.jsonl"}}]'
fails 2 tasks.0 'names no rows' '"file"' -- sweep run.json -o none --dry-run --set 'tasks=[{"kind": "math"}]'
fails 2 my/contest.jsonl 'init --data' -- list tasks my/contest.jsonl
fails 2 my/contest.jsonl 'init --data' '"kind"' -- sweep run.json -o none --dry-run --set 'tasks=["my/contest.jsonl"]'

# One file under two names, two tasks of one name.
fails 2 tasks.1 'same as' tasks.0 -- sweep run.json -o none --dry-run --set 'tasks=["my/contest.json", "my/contest.json"]'
fails 2 contest 'another task' -- sweep run.json -o none --dry-run --set 'tasks=["my/contest.json", {"kind": "math", "file": "my/contest.jsonl", "as": "contest"}]'
finish
