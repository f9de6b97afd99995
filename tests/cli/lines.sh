# Streaming of grade, choice and textscore: order, blocks, torn and broken lines, readers and writers that go away.
. "$(dirname "$0")/lib.sh"

answers() { # answers N: choices.got must hold the letters of number i modulo 4, in order
    local n=$1
    [ "$(wc -l <choices.got)" = "$n" ] || fail "$(wc -l <choices.got) answers to $n lines"
    awk -v n="$n" 'BEGIN { for (i = 1; i <= n; i++) print substr("ABCD", i % 4 + 1, 1) }' >letters.want
    sed 's/^{"letter":"\(.\)".*/\1/' choices.got >letters.got
    same letters.want letters.got
}
ask() { # ask N BYTES: N lines of about BYTES to 2 * BYTES each
    awk -v n="$1" -v size="$2" 'BEGIN {
        filler = "so "; while (length(filler) < 2 * size) filler = filler filler
        for (i = 1; i <= n; i++)
            printf "{\"text\":\"%s Answer: %s\"}\n", substr(filler, 1, size + i * 7919 % (size + 1)), substr("ABCD", i % 4 + 1, 1)
    }'
}

# Many lines, over many blocks, from a pipe and from a file, on one core and on several.
many=20000
counts='1 3'
if small; then many=8000 counts=3; fi # over two blocks
ask $many 100 >many.jsonl
for threads in $counts; do
    OMP_NUM_THREADS=$threads "$program" choice <many.jsonl >choices.got || fail "choice <many exited $?"
    answers $many
    cat many.jsonl | OMP_NUM_THREADS=$threads "$program" choice >choices.got || fail "choice behind a pipe exited $?"
    answers $many
    OMP_NUM_THREADS=$threads "$program" choice many.jsonl >choices.got || fail "choice many.jsonl exited $?"
    answers $many
done
"$program" choice - <many.jsonl >dash.got
same choices.got dash.got

# Lines longer than a block.
ask 7 1500000 >long.jsonl
"$program" choice long.jsonl >choices.got || fail "long lines: exit $?"
answers 7
cat long.jsonl | "$program" choice >choices.got || fail "long lines behind a pipe: exit $?"
answers 7

# Nothing, one new line, no last new line, carriage returns.
"$program" choice </dev/null >nothing.got || fail "empty input exited $?"
[ ! -s nothing.got ] || fail "an answer to nothing: $(cat nothing.got)"
printf '\n' | "$program" choice >blank.got 2>blank.err
[ $? = 3 ] || fail "a blank line is no error"
[ "$(grep -c '"error":.*"line":1}$' blank.got)" = 1 ] || fail "a blank line: $(cat blank.got)"
printf '{"text":"(B)"}\n{"text":"(C)"}' | "$program" choice >choices.got || fail "a torn line exited $?"
[ "$(wc -l <choices.got)" = 2 ] && grep -q '"letter":"C"' choices.got || fail "a torn line: $(cat choices.got)"
printf '{"text":"(B)"}\r\n{"text":"(C)"}\r\n' | "$program" choice >choices.got || fail "CRLF exited $?"
[ "$(grep -c '"status":"ok"' choices.got)" = 2 ] || fail "CRLF: $(cat choices.got)"

# Broken lines are answered in their place and the rest goes on.
printf '{"text":"(B)"}\n{"text":"\377\376"}\n{"text":"(C)"\n\0\0\n{"text":"\\ud800"}\n[]\n{"text":7}\n{"text":"(D)","n_options":40}\n{"text":"(D)","preset":"mine"}\n{"text":"(D)"}\n' >broken.jsonl
"$program" choice broken.jsonl >choices.got 2>broken.err
[ $? = 3 ] || fail "broken lines did not exit 3"
[ ! -s broken.err ] || fail "broken lines: standard error says $(cat broken.err)"
[ "$(wc -l <choices.got)" = 10 ] || fail "broken lines: $(cat choices.got)"
[ "$(grep -o '"line":[0-9]*' choices.got | tr '\n' ' ')" = '"line":2 "line":3 "line":4 "line":5 "line":6 "line":7 "line":8 "line":9 ' ] ||
    fail "broken lines: $(cat choices.got)"
grep -q 'must be one of strict, simple_evals, gpt_oss, lighteval, inspect_ai, lm_eval_flexible' choices.got ||
    fail "the presets are not named: $(sed -n 9p choices.got)"

# A line longer than the limit costs no memory beyond it.
{
    printf '{"text":"(B)"}\n{"text":"'
    head -c 150000000 /dev/zero | tr '\0' 'x'
    printf '(C)"}\n{"text":"(D)"}\n'
} | (ulimit -v 4000000 && OMP_NUM_THREADS=2 "$program" choice) >choices.got 2>/dev/null
[ "$(wc -l <choices.got)" = 3 ] || fail "an endless line: $(head -c 500 choices.got)"
sed -n 2p choices.got | grep -q '^{"error":"line 2: longer than 64 MiB","line":2}$' || fail "an endless line: $(sed -n 2p choices.got)"
sed -n 3p choices.got | grep -q '"letter":"D"' || fail "behind an endless line: $(sed -n 3p choices.got)"

# A program may wait for each answer before it sends the next line.
coproc filter { "$program" choice; }
filter_id=$filter_PID # bash forgets the name as soon as it sees the process end
for letter in B C; do
    printf '{"text":"(%s)"}\n' $letter >&"${filter[1]}"
    read -r -t 20 reply <&"${filter[0]}" || fail "no answer while the pipe is open"
    case $reply in
    *"\"letter\":\"$letter\""*) ;;
    *) fail "the answer to ($letter) was $reply" ;;
    esac
done
exec {filter[1]}>&-
wait "$filter_id" || fail "the end of the pipe exited $?"

# A reader that goes away ends the program by the signal that ends others, without a word.
ask 200000 100 >endless.jsonl
{
    "$program" choice endless.jsonl 2>closed.err
    echo $? >closed.code
} | head -n 1 >/dev/null
[ "$(cat closed.code)" = 141 ] || fail "nobody reads: exit $(cat closed.code)"
[ ! -s closed.err ] || fail "nobody reads: $(cat closed.err)"

# Presets, as returned.
printf '%s\n' '{"text":"answer: c","preset":"simple_evals"}' '{"text":"答案：C","preset":"gpt_oss"}' \
    '{"text":"Answer: B. (T)","preset":"lm_eval_flexible"}' '{"text":"I cannot tell","preset":"inspect_ai"}' \
    '{"text":"<think>Answer: B","preset":"lighteval"}' '{"text":"<think>Answer: B","preset":"strict"}' |
    "$program" choice >choices.got || fail "presets exited $?"
sed 's/,"rule":.*//' choices.got >presets.got
cat >presets.want <<'END'
{"letter":"c","status":"ok"
{"letter":"答","status":"ok"
{"letter":"T","status":"ok"
{"letter":null,"status":"unparsed"
{"letter":"B","status":"ok"
{"letter":null,"status":"unfinished"
END
same presets.want presets.got

# Optional fields are checked, one by one.
printf '%s\n' '{"gold":"1","pred":"1","match_types":["latex","expr"],"boxed_match_priority":0,"float_rounding":3,"strict":false,"allow_set_relation_comp":true}' \
    '{"gold":"1","pred":"1","match_types":null,"float_rounding":null}' \
    '{"gold":"1","pred":"1","match_types":["tex"]}' '{"gold":"1","pred":"1","match_types":[]}' \
    '{"gold":"1","pred":"1","float_rounding":-1}' '{"gold":"1","pred":"1","boxed_match_priority":"50"}' \
    '{"gold":"1","pred":"1","strict":1}' '{"gold":"1","pred":"1","allow_set_relation_comp":"no"}' |
    "$program" grade >fields.got 2>/dev/null
[ "$(grep -o '"verdict":"[a-z]*"' fields.got | cut -d'"' -f4 | tr '\n' ' ')" = 'correct correct error error error error error error ' ] ||
    fail "fields of grade: $(cat fields.got)"
printf '%s\n' '{"metric":"qa_f1_score","prediction":"a b","ground_truth":"b","all_classes":["a"],"variant":"indel"}' \
    '{"metric":"qa_f1_score","prediction":"a b","ground_truth":"b","all_classes":null,"variant":null}' \
    '{"metric":"qa_f1_score","prediction":"a b","ground_truth":"b","all_classes":"a"}' \
    '{"metric":"qa_f1_score","prediction":"a b","ground_truth":"b","all_classes":[1]}' \
    '{"metric":"qa_f1_score","prediction":"a b","ground_truth":"b","variant":"levenshtein"}' |
    "$program" textscore >fields.got 2>/dev/null
[ "$(cut -c 3-7 fields.got | tr '\n' ' ')" = 'score score error error error ' ] || fail "fields of textscore: $(cat fields.got)"

# No verdict depends on the lines before it: all pairs of the graders' tests forwards, backwards, and twice each.
for mode in strict compat; do
    sed -n 's/  \(==\|!=\|=>\)  /\t/p' "$source_dir"/tests/answer_check/{equal/math_equal,compat/compat_pairs}.test |
        sed 's/[\\"]/\\&/g' |
        awk -F'\t' -v mode=$mode '{ printf "{\"gold\":\"\\\\boxed{%s}\",\"pred\":\"\\\\boxed{%s}\",\"mode\":\"%s\"}\n", $1, $2, mode }' >pairs.jsonl
    [ "$(wc -l <pairs.jsonl)" -gt 900 ] || fail "only $(wc -l <pairs.jsonl) pairs"
    OMP_NUM_THREADS=1 "$program" grade pairs.jsonl >forwards.got
    tac pairs.jsonl | OMP_NUM_THREADS=3 "$program" grade | tac >backwards.got
    sed p pairs.jsonl | "$program" grade | sed -n 'p;n' >twice.got
    same forwards.got backwards.got
    same forwards.got twice.got
    ! grep -q 'is not JSON' forwards.got || fail "$(grep -m 1 'is not JSON' forwards.got)"
done
rm -f many.jsonl long.jsonl endless.jsonl
finish
