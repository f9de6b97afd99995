# grade, choice, textscore and logprobs: one line out per line in, errors as objects, exit 3 when there was one.
. "$(dirname "$0")/lib.sh"

# filter NAME CODE ARGS...: NAME.in through the command must give NAME.out.
filter() {
    local name=$1 want=$2 got=0
    shift 2
    "$program" "$@" <"$name.in" >"$name.got" 2>"$name.err" || got=$?
    [ "$got" = "$want" ] || fail "$name exited $got, want $want: $(cat "$name.err")"
    [ "$(wc -l <"$name.in")" = "$(wc -l <"$name.got")" ] || fail "$name answered another number of lines"
    same "$name.out" "$name.got"
}

cat >grade.in <<'END'
{"gold":"1/2","pred":"so \\boxed{0.5}"}
{"gold":"$204$","pred":"Answer: 205","mode":"strict","thinking":"none","finish":"stop"}
{"gold":"3","pred":"<think> it is 3","finish":"length"}
{"gold":"3","pred":"no answer here"}
{"gold":"3","pred":"no answer here","finish":"length"}
END
"$program" grade <grade.in >grade.got 2>grade.err || fail "grade exited $?"
[ "$(grep -o '"verdict":"[a-z]*"' grade.got | cut -d'"' -f4 | tr '\n' ' ')" = 'correct wrong unfinished unparsed truncated ' ] ||
    fail "grade said $(cat grade.got)"
[ "$(grep -c '"reason":"[^"]' grade.got)" = 5 ] || fail "a verdict lacks its reason: $(cat grade.got)"
[ ! -s grade.err ] || fail "grade wrote to standard error"

# --explain: which rule took what from where
cat >places.in <<'END'
{"gold": "7", "pred": "\\boxed{8}. Wait, that is wrong. The answer is 7."}
{"gold": "7", "pred": "{\"answer\": \"7\", \"confidence\": 0.9}"}
{"gold": "7", "pred": "So there are 7 of them."}
{"gold": "6", "pred": "Hence π/6."}
{"gold": "7", "pred": "I do not know."}
END
"$program" grade --explain <places.in >places.got 2>/dev/null || fail "grade --explain exited $?"
[ "$(sed 's/"gold_form".*//' places.got | grep -c '"verdict":"correct"')" = 3 ] || fail "grade --explain: $(cat places.got)"
[ "$(grep -o '"rule":"[a-z ]*"' places.got | cut -d'"' -f4 | tr '\n' '.')" = 'boxed.declared.structured.last sentence.last sentence.' ] ||
    fail "grade --explain names other places: $(cat places.got)"
sed -n 1p places.got | grep -q '"took":"8","at":7,"then":"taken back by: Wait' || fail "the first place is not explained: $(sed -n 1p places.got)"
sed -n 5p places.got | grep -q explain && fail "a place is explained where there is none"

cat >mistakes.in <<'END'
{"gold":"1","pred":"1"}
{"gold":"1"

[1]
{"gold":"1"}
{"gold":"1","pred":"1","mode":"loose"}
{"gold":"1","pred":"1","finish":"eos"}
{"gold":"1","pred":"1","gold":"2"}
END
"$program" grade <mistakes.in >mistakes.got 2>/dev/null
[ $? = 3 ] || fail "grade with mistakes did not exit 3"
[ "$(grep -c '"verdict":"error"' mistakes.got)" = 7 ] || fail "not every mistake is an error: $(cat mistakes.got)"
[ "$(grep -o '"line":[0-9]*' mistakes.got | tr '\n' ' ')" = '"line":2 "line":3 "line":4 "line":5 "line":6 "line":7 "line":8 ' ] ||
    fail "errors carry wrong lines: $(cat mistakes.got)"
grep -q '"error":"line 5: field \\"pred\\" must be a string"' mistakes.got || fail "line 5: $(sed -n 5p mistakes.got)"
grep -q '"error":"line 6: grade: mode must be one of strict, compat, not' mistakes.got || fail "line 6: $(sed -n 6p mistakes.got)"

# Rules: of a line, of all lines, and named in the answer where they are not the default.
cat >rule.in <<'END'
{"gold":"25","pred":"\\boxed{25\\%}"}
{"gold":"25","pred":"\\boxed{25\\%}","rule":{"percent":"number"}}
{"gold":"25","pred":"\\boxed{25\\%}","rule":{"percent":"hundredth"}}
{"gold":"30","pred":"\\boxed{30^\\circ}","rule":{"degrees":"keep"}}
{"gold":"$25$","pred":"$25$","mode":"compat","rule":{"units":"keep"}}
{"gold":"25","pred":"\\boxed{25}","rule":{"percents":"number"}}
{"gold":"25","pred":"\\boxed{25}","rule":{"percent":"half"}}
{"gold":"25","pred":"\\boxed{25}","rule":"percent"}
END
rules() { # the verdict and the rules of each answer
    sed 's/^{"verdict":"\([a-z]*\)".*"pred_form":"[^"]*"/\1/; s/,"line":.*//; s/}$//' rule.got
}
"$program" grade <rule.in >rule.got 2>/dev/null && fail "grade with mistaken rules exited 0"
rules >rule.words
cat >rule.want <<'END'
wrong
correct,"rule":{"percent":"number"}
wrong
wrong,"rule":{"degrees":"keep"}
correct
error,"error":"line 6: field \"rule\": unknown option \"percents\"; did you mean \"percent\"?"
error,"error":"line 7: field \"rule\": percent must be one of hundredth, number, not \"half\""
error,"error":"line 8: field \"rule\" must be an object: {\"percent\": \"number\"}"
END
same rule.want rule.words
"$program" grade --rule percent=number --rule degrees=keep,units=keep <rule.in >rule.got 2>/dev/null
rules | head -n 5 >rule.words
cat >rule.want <<'END'
correct,"rule":{"percent":"number","units":"keep","degrees":"keep"}
correct,"rule":{"percent":"number","units":"keep","degrees":"keep"}
wrong,"rule":{"units":"keep","degrees":"keep"}
wrong,"rule":{"percent":"number","units":"keep","degrees":"keep"}
correct
END
same rule.want rule.words
fails 2 --rule '"percents"' '"percent"' -- grade --rule percents=number
fails 2 --rule percent hundredth '"half"' -- grade --rule percent=half
fails 2 --rule '"percent"' key=value -- grade --rule percent

cat >choice.in <<'END'
{"text":"The answer is (C).","n_options":4}
{"text":"<think> maybe B"}
{"text":"I cannot tell."}
END
"$program" choice choice.in >choice.got 2>/dev/null || fail "choice exited $?"
[ "$(grep -c ',"rule":"[^"][^"]*"}$' choice.got)" = 3 ] || fail "a choice lacks its rule: $(cat choice.got)"
grep -q '^{"letter":"C","status":"ok","rule":' choice.got || fail "choice line 1: $(sed -n 1p choice.got)"
grep -q '^{"letter":null,"status":"unfinished","rule":' choice.got || fail "choice line 2: $(sed -n 2p choice.got)"
grep -q '^{"letter":null,"status":"unparsed","rule":' choice.got || fail "choice line 3: $(sed -n 3p choice.got)"

cat >score.in <<'END'
{"metric":"qa_f1_score","prediction":"the red house","ground_truth":"a red house"}
{"metric":"qa_f1_score","prediction":"blue","ground_truth":["red","blue"]}
{"metric":"qa_f1_score","prediction":"blue","ground_truth":"red"}
{"metric":"bleu","prediction":"x","ground_truth":"x"}
{"metric":"qa_f1_score","prediction":"x"}
{"metric":"qa_f1_score","prediction":"x","ground_truth":[]}
END
cat >score.out <<'END'
{"score":1.0}
{"score":1.0}
{"score":0.0}
{"error":"line 4: metric \"bleu\" is not in this version; there are qa_f1_score, qa_f1_zh_score, rouge_score, rouge_zh_score, classification_score, retrieval_score, retrieval_zh_score, count_score, code_sim_score, string_match_all","line":4}
{"error":"line 5: field \"ground_truth\" must be a string or a list of strings","line":5}
{"error":"line 6: field \"ground_truth\" must hold at least one string","line":6}
END
filter score 3 textscore

cat >logprobs.in <<'END'
{"ids":[1,266,220,16,267],"prompt_len":3}
{"ids":[1,266],"prompt_len":2}
{"ids":[1,266,99999],"prompt_len":2}
{"ids":[1,266,-4],"prompt_len":2}
{"ids":"no","prompt_len":2}
END
"$program" logprobs --policy quest:k_pages=8 --gaps <logprobs.in >logprobs.got 2>/dev/null
[ $? = 3 ] || fail "logprobs with mistakes did not exit 3"
[ "$(grep -c '"error"' logprobs.got)" = 4 ] || fail "logprobs: $(cat logprobs.got)"
grep -q '^{"logprobs":\[-[0-9.e-]*,-[0-9.e-]*\],"gaps":\[[0-9.e-]*,[0-9.e-]*\]}$' logprobs.got ||
    fail "logprobs line 1: $(sed -n 1p logprobs.got)"
fails 2 quest k_pages 1000000 -- logprobs --policy quest:k_pages=0

# A message that was cut inside a character is still an error: it was lost, and the exit code said success.
long=$(printf 'x%.0s' $(seq 45))$(printf '\303\251%.0s' $(seq 500))
for shift in '' y; do
    printf '{"metric":"%s%s","prediction":"x","ground_truth":"x"}\n' "$shift" "$long" >cut.in
    "$program" textscore cut.in >cut.got 2>/dev/null
    [ $? = 3 ] || fail "a cut message: $(cat cut.got)"
    grep -q '^{"error":"line 1: metric .*"line":1}$' cut.got || fail "a cut message: $(cat cut.got)"
done

# An unreadable file is a mistake of the caller, not of a line.
run 2 grade no_such_file.jsonl
grep -q 'no_such_file.jsonl' stderr.txt || fail "grade did not name the missing file"
finish
