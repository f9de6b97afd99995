# The command table, help of each command, versions, and mistakes before any command.
. "$(dirname "$0")/lib.sh"

run 0 help
cp stdout.txt help.txt
for command in init sweep serve status report gate show compare score export list doctor bench calibrate probe grade choice textscore generate tokenize logprobs convert fetch journal completion; do
    grep -q "^  $command " help.txt || fail "kveval help does not list $command"
    run 0 help $command
    grep -q "^usage: kveval $command" stdout.txt || fail "kveval help $command has no usage line"
    cp stdout.txt one.txt
    run 0 $command --help
    same one.txt stdout.txt
done
[ "$(grep -v '^  kveval ' help.txt | grep -c '^  [a-z]')" = 25 ] || fail "kveval help lists other commands too: $(cat help.txt)"
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
fails 2 '"sweap"' sweep -- sweap
fails 2 '"zzzzzzzz"' 'kveval help' -- zzzzzzzz
fails 2 '"zzzzzzzz"' 'kveval help' -- help zzzzzzzz
fails 2 sweep: --limt --limit -- sweep run.json --limt 3
fails 2 sweep: --limit '"many"' -- sweep run.json --limit many
fails 2 sweep: --limit '"0"' -- sweep run.json --limit 0
fails 2 sweep: --threads 1024 '"99999999"' -- sweep run.json --threads 99999999
fails 2 sweep: --output-path empty -- sweep run.json -o ''
fails 2 sweep: --model empty -- sweep run.json --model ''
fails 2 sweep: --data empty -- sweep run.json --data=
fails 2 sweep: 'argument 1' -- sweep '' -o out
fails 2 generate: --top-k 1000000 '"-4"' -- generate --top-k -4
fails 2 generate: --top-p 1e-06 '"7"' -- generate --top-p 7
fails 2 generate: --top-p 1e-06 '"0"' -- generate --top-p 0
fails 2 generate: --seed '"-1"' -- generate --seed -1
fails 2 generate: --temperature 100 '"nan"' -- generate --temperature nan
fails 2 generate: --max-new-tokens 10000000 '"0"' -- generate -n 0
fails 2 generate: --threads 1024 '"-3"' -- generate --threads -3
fails 2 generate: --stop empty -- generate --prompt x --stop ''
fails 2 logprobs: --threads 1024 '"0"' -- logprobs --threads 0
fails 2 show: --sample '"-1"' -- show out a b --sample -1
fails 2 sweep: RUN.json -- sweep
fails 2 policies tasks families devices '"models"' -- list models
# Output that cannot be written is not success.
if [ -w /dev/full ]; then
    "$program" help sweep >/dev/full 2>stderr.txt && fail "writing to a full device exited 0"
fi
finish
