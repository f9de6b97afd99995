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

# Every option that a file has is shown: those with two digits too, and one behind a gap is a question.
python3 - <<'END'
import csv
def write(name, columns):
    with open(name, "w") as f:
        w = csv.writer(f)
        w.writerow(["question", *columns, "answer"])
        for i in range(5):
            w.writerow([f"Which of ten, {i}?", *[f"{c} of {i}" for c in columns], f"{columns[-1 - i % 2]} of {i}"])
write("ten.csv", [f"option_{i}" for i in range(1, 11)])
write("zeros.csv", [f"choice{i:02}" for i in range(12)])
write("gap.csv", ["option_1", "option_2", "option_4"])
write("letters.csv", ["opa", "opb", "opc", "ope"])
END
proposed ten.csv '"choice"' '"option_1", "option_2"' '"option_9", "option_10"]'
proposed zeros.csv '"choice"' '"choice00", "choice01"' '"choice10", "choice11"]'
fails 2 gap.csv '"option_4"' '"fields"' -- init other.json --data gap.csv
fails 2 letters.csv '"ope"' -- init other.json --data letters.csv

# Options that are not understood became mathematical problems whose answer is "B".
refused() { # refused WORDS... : the rows of standard input are refused with these words
    cat >refused.jsonl
    fails 2 refused.jsonl "$@" -- init other.json --data refused.jsonl
}
refused '"options"' 'JSON list' <<<'{"question": "Which?", "options": "a|b|c", "answer": "B"}'
refused '"choices"' 'JSON list' <<<'{"question": "Which?", "choices": "['"'a', 'b'"']", "answer": "B"}'
refused '"Choices"' 'JSON list' <<<'{"question": "Which?", "Choices": [{"label": "A", "text": "x"}, {"label": "B", "text": "y"}], "answer": "B"}'
refused '"answer_choices"' 'JSON list' <<<'{"question": "Which?", "answer_choices": "(A) x (B) y", "answer": "B"}'
refused '"incorrect_answers"' 'wrong options' <<<'{"question": "Which?", "correct_answer": "x", "incorrect_answers": ["y", "z"]}'
refused '"Incorrect Answer 1"' 'wrong option' <<<'{"Question": "Which?", "Correct Answer": "x", "Incorrect Answer 1": "y", "Incorrect Answer 2": "z"}'
refused '"distractor"' 'wrong options' <<<'{"question": "Which?", "answer": "x", "distractor": "y"}'
# A row with one option, alone and among others.
refused '"options"' 'at least two' <<<'{"question": "Which?", "options": ["x"], "answer": "A"}'
refused 'refused.jsonl:2' '"options"' 'at least two' <<'END'
{"question": "Which?", "options": ["x", "y"], "answer": "A"}
{"question": "And which?", "options": ["x"], "answer": "A"}
END
printf '%s\n' '{"question": "Which?", "answer_choices": ["x", "y"], "answer": "B"}' >choices.jsonl
proposed choices.jsonl '"choice"' '"options": "answer_choices"'
printf '%s\n' '{"ctx_a": "He", "ctx_b": "sits", "endings": ["down", "up"], "label": 0, "question": "He sits"}' >endings.jsonl
proposed endings.jsonl '"choice"' '"options": "endings"'
printf '%s\n' '{"question": "Which?", "options": {"A": "x", "B": "y"}, "answer": "B"}' >object.jsonl
proposed object.jsonl '"choice"' '["options.A", "options.B"]'
printf '%s\n' '{"question": "How many?", "n_choices": 4, "multiple_choice": false, "choice_type": "none", "answer": 7}' >count.jsonl
proposed count.jsonl '"math"'
refused hint1 hint2 'taken as options' <<<'{"question": "1+6?", "hint1": "odd", "hint2": "prime", "answer": 7}'

# Fractions are answers, and worked solutions are none.
printf '%s\n' '{"question": "Half of 1.4?", "answer": 0.7}' '{"question": "Half of 3?", "answer": 1.5}' >fractions.jsonl
proposed fractions.jsonl '"math"' '"answer": "answer"'
printf '%s\n' '{"question": "Half of 3?", "options": [1.5, 2.5], "answer": "A"}' >decimals.jsonl
proposed decimals.jsonl '"choice"' '"options": "options"'
printf '%s\n' '{"question": "1+1?", "solution": "We add one and one and get two.", "final": 2}' >final.jsonl
proposed final.jsonl '"answer": "final"'
refused '"solution"' 'worked solutions' <<<'{"question": "1+1?", "solution": "We add one and one and get two."}'
printf '%s\n' '{"question": "1+1?", "solution": "We add one and one and get \\boxed{2}."}' >boxed.jsonl
proposed boxed.jsonl '"answer": "solution"' '"answer_in_box": true'
printf '%s\n' '{"question": "Solve.", "answer": "x = \\frac{1}{2} \\text{ or } x = \\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix} or -3"}' >latex.jsonl
proposed latex.jsonl '"math"'

rm run.json
fails 2 none.csv '"a", "b"' '"fields"' -- init --data none.csv
fails 2 --data nothing.jsonl -- init --data nothing.jsonl
[ ! -e run.json ] || fail "a refused init left a file"
mkdir sub
run 0 init sub/run.json --data words.tsv,mine.jsonl --tasks pocket.relay --policies full
run 0 sweep sub/run.json -o out3 --dry-run --calibrate no
mentions sub/run.json "$PWD/words.tsv"
finish
