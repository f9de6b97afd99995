# init --data: from a file of problems to a report in two commands, and what it asks where the file leaves something open.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 writes the rows"
rm -rf out run.json sub *.jsonl *.tsv *.csv *.json
python3 - <<'END'
import json
with open("mine.jsonl", "w") as f:
    for i in range(20):
        f.write(json.dumps({"question": f"What is {i} + {3 * i}?", "answer": 4 * i}) + "\n")
    for i in range(20):
        f.write(json.dumps({"question": f"Which is {i} + {3 * i}?", "choices": [f"{4 * i + k - i % 4}" for k in range(4)], "answer": "ABCD"[i % 4]}) + "\n")
with open("numbers.jsonl", "w") as f:
    for i in range(5):
        f.write(json.dumps({"Question": f"Which {i}?", "option_1": "x", "option_2": "y", "option_3": "z", "correct_answer": 1 + i % 2}) + "\n")
with open("words.tsv", "w") as f:
    f.write("nr\tWhat we ask\tA\tB\tC\tanswer key\n")
    for i in range(5):
        f.write(f"{i}\tHow is the weather of day {i}?\t{i}\t{i + 10}\t{i + 20}\t{i + 10}\n")
with open("our set (2).json", "w") as f:
    json.dump([{"Problem": f"p {i}", "Solution": f"thus #### {i}"} for i in range(3)], f)
open("none.csv", "w").write("a,b\n1,2\n")
END

# Two commands.
run 0 init --data mine.jsonl --policies full,quest
mentions stderr.txt run.json 'kveval sweep run.json -o out'
mentions run.json '"as": "mine_math"' '"without": "choices"'
mentions run.json '"as": "mine_choice"' '"options": "choices"'
run 0 sweep run.json -o out --set max_new_tokens=6 --set policies='["full"]'
[ "$(journal_keys out | wc -l)" = 40 ] || fail "$(journal_keys out | wc -l) completions"
mentions out/report/report.md mine_math mine_choice

proposed() { # proposed FILE WORD...: init proposes an entry with these words, which can be swept
    local file=$1
    shift
    rm -f run.json
    run 0 init --data "$file" --policies full
    mentions run.json '"kind"' "$@"
    run 0 sweep run.json -o out1 --dry-run --calibrate no
}
proposed words.tsv '"choice"' '"problem": "What we ask"' '"options": ["A", "B", "C"]' '"answer": "answer key"' '"id": "nr"'
proposed 'our set (2).json' '"math"' '"as": "ourset2"' '"answer": "Solution"' '"answer_after": "####"'

# Numbers that may count from 0 or from 1 are a question.
rm run.json
run 0 init --data numbers.jsonl --policies full
mentions stderr.txt answer_is
mentions run.json 'from0' 'from1' '"options": ["option_1", "option_2", "option_3"]'
fails 2 tasks.0 answer_is -- sweep run.json -o out2 --dry-run
run 0 sweep run.json -o out2 --dry-run --calibrate no --set tasks.0.grader.answer_is=from1
rm run.json

fails 2 none.csv '"a", "b"' '"fields"' -- init --data none.csv
fails 2 --data nothing.jsonl -- init --data nothing.jsonl
[ ! -e run.json ] || fail "a refused init left a file"
mkdir sub
run 0 init sub/run.json --data words.tsv,mine.jsonl --tasks pocket.relay --policies full
run 0 sweep sub/run.json -o out3 --dry-run --calibrate no
mentions sub/run.json "$PWD/words.tsv"
finish
