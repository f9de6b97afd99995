# The command table, help of each command, versions, and mistakes before any command.
. "$(dirname "$0")/lib.sh"

run 0 help
cp stdout.txt help.txt
for command in init sweep status report gate show compare score export list doctor bench calibrate probe grade choice textscore generate tokenize logprobs convert fetch journal completion; do
    grep -q "^  $command " help.txt || fail "kveval help does not list $command"
    run 0 help $command
    grep -q "^usage: kveval $command" stdout.txt || fail "kveval help $command has no usage line"
    cp stdout.txt one.txt
    run 0 $command --help
    same one.txt stdout.txt
done
[ "$(grep -v '^  kveval ' help.txt | grep -c '^  [a-z]')" = 24 ] || fail "kveval help lists other commands too: $(cat help.txt)"
[ "$(grep -c '^[A-Z]' help.txt)" = 6 ] || fail "help has four groups, examples and exit codes: $(cat help.txt)"
[ "$(sed -n '/^Examples$/,/^$/p' help.txt | grep -c '^  kveval ')" = 2 ] || fail "two lines to start from: $(cat help.txt)"
for code in 0 1 2 3 4 5 75 130; do
    grep -q "^  $code  *[a-z]" help.txt || fail "kveval help does not explain exit code $code"
done
awk 'length > 110' help.txt | grep . && fail "kveval help has long lines"
run 0 --version
[ "$(wc -l <stdout.txt)" = 2 ] || fail "--version prints two lines: $(cat stdout.txt)"
grep -q '^kveval [0-9]*\.[0-9]*\.[0-9]*$' stdout.txt || fail "--version said $(cat stdout.txt)"
grep -qE '^backends: cpu(, cuda| \(built without CUDA\))$' stdout.txt || fail "--version said $(cat stdout.txt)"
run 2
refuse 2 'unknown command "sweap": did you mean sweep?' sweap
refuse 2 'unknown command "zzzzzzzz": kveval help lists them' zzzzzzzz
refuse 2 'unknown command "zzzzzzzz": kveval help lists them' help zzzzzzzz
refuse 2 'sweep: unknown option --limt: did you mean --limit?' sweep run.json --limt 3
refuse 2 'sweep: --limit takes a whole number of at least 1, not "many"' sweep run.json --limit many
refuse 2 'sweep: --limit takes a whole number of at least 1, not "0"' sweep run.json --limit 0
refuse 2 'sweep: --threads takes a whole number from 1 to 1024, not "99999999"' sweep run.json --threads 99999999
refuse 2 'sweep: --output-path is given an empty value' sweep run.json -o ''
refuse 2 'sweep: --model is given an empty value' sweep run.json --model ''
refuse 2 'sweep: --data is given an empty value' sweep run.json --data=
refuse 2 'sweep: argument 1 is empty' sweep '' -o out
refuse 2 'generate: --top-k takes a whole number from 0 to 1000000, not "-4"' generate --top-k -4
refuse 2 'generate: --top-p takes a number from 1e-06 to 1, not "7"' generate --top-p 7
refuse 2 'generate: --top-p takes a number from 1e-06 to 1, not "0"' generate --top-p 0
refuse 2 'generate: --seed takes a whole number of at least 0, not "-1"' generate --seed -1
refuse 2 'generate: --temperature takes a number from 0 to 100, not "nan"' generate --temperature nan
refuse 2 'generate: --max-new-tokens takes a whole number from 1 to 10000000, not "0"' generate -n 0
refuse 2 'generate: --threads takes a whole number from 1 to 1024, not "-3"' generate --threads -3
refuse 2 'generate: --stop is given an empty value' generate --prompt x --stop ''
refuse 2 'logprobs: --threads takes a whole number from 1 to 1024, not "0"' logprobs --threads 0
refuse 2 'show: --sample takes a whole number of at least 0, not "-1"' show out a b --sample -1
refuse 2 'sweep: too few arguments: kveval sweep RUN.json -o DIR' sweep
refuse 2 'list takes policies, tasks or devices, not "models"' list models
# Output that cannot be written is not success.
if [ -w /dev/full ]; then
    "$program" help sweep >/dev/full 2>stderr.txt && fail "writing to a full device exited 0"
fi
finish
