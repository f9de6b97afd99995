# The command table, help of each command, versions, and mistakes before any command.
. "$(dirname "$0")/lib.sh"

run 0 help
cp stdout.txt help.txt
for command in sweep report show score grade choice textscore generate logprobs bench list doctor; do
    grep -q "^  $command " help.txt || fail "kveval help does not list $command"
    run 0 help $command
    grep -q "^usage: kveval $command" stdout.txt || fail "kveval help $command has no usage line"
    cp stdout.txt one.txt
    run 0 $command --help
    same one.txt stdout.txt
done
[ "$(grep -c '^  [a-z]' help.txt)" = 13 ] || fail "kveval help lists other commands too: $(cat help.txt)"
run 0 --version
grep -q '^kveval [0-9]*\.[0-9]*\.[0-9]*$' stdout.txt || fail "--version said $(cat stdout.txt)"
run 2
refuse 2 'unknown command "sweap": did you mean sweep?' sweap
refuse 2 'unknown command "zzzzzzzz": kveval help lists them' zzzzzzzz
refuse 2 'unknown command "zzzzzzzz": kveval help lists them' help zzzzzzzz
refuse 2 'sweep: unknown option --limt: did you mean --limit?' sweep run.json --limt 3
refuse 2 'sweep: --limit takes a whole number, not "many"' sweep run.json --limit many
refuse 2 'sweep: too few arguments: kveval sweep RUN.json -o DIR' sweep
refuse 2 'list takes policies, tasks or devices, not "models"' list models
# Output that cannot be written is not success.
if [ -w /dev/full ]; then
    "$program" help sweep >/dev/full 2>stderr.txt && fail "writing to a full device exited 0"
fi
finish
