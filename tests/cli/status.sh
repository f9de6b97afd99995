# What a sweep says of itself: kveval status beside it, after its end and after kill -9, --display, --metrics, and that a
# status file that cannot be written stops nothing.
. "$(dirname "$0")/lib.sh"
rm -rf out other calm failed none shards tty
cat >many.json <<'EOF'
{"model": "pocket", "max_new_tokens": 60, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 400}],
 "policies": ["full", {"name": "quest", "k_pages": 4}]}
EOF
cat >few.json <<'EOF'
{"model": "pocket", "max_new_tokens": 40, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 4}], "policies": ["full"]}
EOF

# says CODE PATTERN...: kveval status out exits so and prints lines that match each pattern.
says() {
    local code=$1 pattern
    shift
    run "$code" status out
    for pattern in "$@"; do
        grep -qE "$pattern" stdout.txt || fail "no line of kveval status matches $pattern: $(cat stdout.txt stderr.txt)"
    done
}
# start OPTIONS...: a sweep into out in the background, as pid; returns when its status file says that it decodes.
start() {
    "$program" sweep many.json -o out --max-batch 4 "$@" >start.txt 2>&1 &
    pid=$!
    for _ in $(seq 1500); do
        grep -q '"running":[1-9]' out/status*.json 2>/dev/null && return
        kill -0 $pid 2>/dev/null || break
        sleep 0.02
    done
    fail "no status file said that it runs: $(cat start.txt out/status*.json)"
    finish
}
time='[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} UTC'
me="$(uname -n)"

# Two workers: at work, one started again, killed, stopped.
start --devices cpu:0-1 --metrics out.prom
says 0 '^out: [0-9]+ of 800 jobs, [0-9.k]+ tokens/s' "^running for [0-9]+ s, process $pid on $me\$" \
    '^  cpu:0 +[0-4] running, [0-9.k]+ tokens/s$' '^  cpu:1 '
[ "$(wc -l <stdout.txt)" = 4 ] || fail "a line too many: $(cat stdout.txt)"
run 0 status out --json
grep -q '^  "state": "running",$' stdout.txt && grep -q '^  "total": 800,$' stdout.txt &&
    grep -q '^      "pid": '$pid',$' stdout.txt || fail "kveval status --json: $(cat stdout.txt)"
set -- $(cat /proc/[0-9]*/stat 2>/dev/null | awk -v parent=$pid '{ pid = $1; sub(/.*\) /, ""); if ($2 == parent) print pid }')
kill -9 "$1"
for _ in $(seq 500); do
    grep -q '^kveval_workers_restarted_total{run="out",shard="0/1",device="cpu:[01]"} 1$' out.prom && break
    sleep 0.02
done
grep -q '^kveval_workers_restarted_total{run="out",shard="0/1",device="cpu:[01]"} 1$' out.prom ||
    fail "the metrics do not count the worker that was started again: $(cat out.prom)"
kill -9 $pid
wait $pid 2>/dev/null
says 3 '^out: [0-9]+ of 800 jobs$' "^no sign of life since $time from process $pid on $me: repeat the command to go on\$"
[ "$(wc -l <stdout.txt)" = 2 ] || fail "a line too many: $(cat stdout.txt)"
rm -rf out
(
    ulimit -f 64
    exec "$program" sweep many.json -o out --max-batch 4 --limit 40 >start.txt 2>&1
) && fail "a sweep without room for its journal exited 0"
says 3 "^failed at $time: stopped with [1-9][0-9]* of 80 jobs saved, .*cannot write to the journal"
rm out/status.json
start
kill -s TERM $pid
wait $pid
[ $? = 75 ] || fail "SIGTERM: $(cat start.txt)"
says 3 '^out: [1-9][0-9]* of 800 jobs$' "^stopped at $time: repeat the command to go on\$"

# Without a status file the journals tell, and a finished sweep that is repeated has the last word.
rm -rf out
run 0 sweep few.json -o out
says 0 '^out: 4 of 4 jobs$' "^finished at $time\$"
run 0 status out --json
grep -q '^  "state": "finished",$' stdout.txt || fail "finished: $(cat stdout.txt)"
# Nor is a status file believed over a folder that no longer agrees: journals that are damaged or gone, changed problems.
# disagrees CODE PATTERN CHANGE FILE: kveval status after that change of a copy of out, whose status file is as it was.
disagrees() {
    rm -rf other
    cp -rp out other
    (cd other && $3 $4)
    run "$1" status other
    grep -qE "$2" stderr.txt || fail "after $3: $(cat stdout.txt stderr.txt)"
    run "$1" status other --json
    grep -q '^  "state": "incomplete",$' stdout.txt || fail "after $3: $(cat stdout.txt)"
}
fewer='^kveval: other: the journals have [03] of 4 jobs, fewer than the status says'
disagrees 3 "$fewer: repeat the command to decode what is missing$" 'rm -r' journal
disagrees 3 "$fewer, and 1 damaged line: repeat" 'sed -i 2s/"tokens":/"tokenz":/' 'journal/*.jsonl'
disagrees 2 '^kveval: other/problems/.* was changed since the sweep wrote it' 'sed -i 2d' 'problems/*.jsonl'
disagrees 2 '^kveval: other/config.resolved.json is of version 3, ' 'sed -i s/"schema":.2/"schema":3/' config.resolved.json
disagrees 2 '^kveval: other/config.resolved.json:1:1: not valid JSON: there is nothing in it; repeating the sweep writes it again$' \
    'cp /dev/null' config.resolved.json
run 0 status out --json
grep -q '^  "journal_done": 4,\?$' stdout.txt || fail "kveval status --json: $(cat stdout.txt)"
# One that was killed before it wrote its last figures has done what the journals have.
rm -rf other
cp -rp out other
sed -i 's/"done":4/"done":0/; s/"state":"finished"/"state":"running"/' other/status.json
grep -q '"done":0' other/status.json && grep -q '"state":"running"' other/status.json || fail "the test does not change the status: $(cat other/status.json)"
run 3 status other
grep -q '^other: 4 of 4 jobs' stdout.txt || fail "finished work is understated: $(cat stdout.txt)"
run 3 status other --json
grep -q '^  "done": 4,$' stdout.txt || fail "finished work is understated: $(cat stdout.txt)"
rm out/status.json
says 0 '^out: 4 of 4 jobs, 0 failed, by the journals: '
rm -r out/journal
says 3 '^out: 0 of 4 jobs, 0 failed, by the journals: .*; repeat the command to go on$'
fails 2 nowhere folder -- status nowhere
mkdir none
fails 2 config.resolved.json RUN.json -- status none

# Shards: one is finished, one not begun; the whole afterwards replaces their files.
run 0 sweep few.json -o shards --shard 0/2
run 3 status shards
mentions stdout.txt 'shard 1/2' 'not begun' '--shard 1/2'
run 0 sweep few.json -o shards --shard 1/2
run 0 status shards
grep -q '^shards: 4 of 4 jobs$' stdout.txt || fail "both shards: $(cat stdout.txt)"
run 0 sweep few.json -o shards
run 0 status shards
[ "$(wc -l <stdout.txt)" = 2 ] || fail "the whole after shards: $(cat stdout.txt)"

# --display: what is on standard error, and that nothing there moves the cursor.
few() {
    rm -rf none
    run "$1" sweep few.json -o none "${@:2}"
    grep -q "$(printf '[\033\r]')" stderr.txt && fail "control characters with ${*:2}: $(cat -v stderr.txt)"
    cp stderr.txt err.txt
    cp stdout.txt out.txt
}
few 0
mentions err.txt 'pocket on cpu'
few 0 --display none
[ ! -s err.txt ] && [ -s out.txt ] || fail "--display none: $(cat err.txt out.txt)"
few 0 --quiet
[ ! -s err.txt ] && [ ! -s out.txt ] || fail "--quiet: $(cat err.txt out.txt)"
few 0 --display json
grep -v '^{"v":1,"state":".*}$' err.txt && fail "--display json printed other lines"
tail -n 1 err.txt | grep -q '"state":"finished".*"done":4,"total":4,"failed":0,' || fail "--display json ended in: $(tail -n 1 err.txt)"
fails 2 --display '"tui"' -- sweep few.json -o none --display tui
fails 2 --quiet '--display json' -- sweep few.json -o none --display json -q

# Metrics: samples of one name together behind their HELP and TYPE, which tests/evalcore/status looks at closely.
few 0 --metrics none.prom
[ "$(grep -c '^kveval_state{run="none",shard="0/1",state="finished"} 1$' none.prom)" = 1 ] || fail "metrics: $(cat none.prom)"
# All tokens, those of the last moment, too, but for the first of each completion, which its prompt gives.
tokens=$(cat none/journal/* | grep -o '"tokens":[0-9]*' | awk -F : '{ n += $2 - 1 } END { print n }')
grep -q "^kveval_tokens_decoded_total{.*} $tokens\$" none.prom || fail "not $tokens tokens: $(grep tokens_decoded none.prom)"
grep -vE '^# (HELP|TYPE) kveval_[a-z_]+ |^kveval_[a-z_]+\{[^}]*\} (NaN|[0-9.e+-]+)$' none.prom && fail "metrics have other lines"
fails 2 --metrics nowhere/x.prom -- sweep few.json -o none --metrics nowhere/x.prom

# A file that cannot be written is told once and stops nothing.
rm -rf none
run 0 sweep few.json -o none --limit 1
rm none/status.json
mkdir none/status.json
run 0 sweep few.json -o none
[ "$(grep -c '^kveval: warning: cannot write none/status.json .*; the sweep goes on without it$' stderr.txt)" = 1 ] ||
    fail "a status file that cannot be written: $(cat stderr.txt)"
ls none/*.tmp 2>/dev/null && fail "temporary files are left"

# On a terminal lines are redrawn in place, messages go above them, and they are gone at the end.
if command -v script >/dev/null; then
    TERM=xterm script -qec "$program sweep few.json -o tty --devices cpu:0-1 --set samples=40 --set temperature=0.5" screen.txt >/dev/null </dev/null
    grep -q "$(printf '\r')cpu:0 .*running, .*tokens/s$(printf '\033')\[K" screen.txt || fail "no lines were drawn: $(cat -v screen.txt)"
    grep -q "$(printf '\033')\[2A" screen.txt || fail "no three lines were drawn: $(cat -v screen.txt)"
    grep -q "^$(printf '.*\r\033')\[Jkveval: 160 completions" screen.txt || fail "the lines are not cleared: $(cat -v screen.txt)"
fi

# Another folder tells how long completions will be.
rm -rf none
run 0 sweep few.json -o none --lengths-from shards --set temperature=0.5
mentions stderr.txt '4 of 4 jobs' shards
rm -rf none
run 0 sweep few.json -o none --lengths-from shards --set tasks.0.steps=9
mentions stderr.txt warning: shards --lengths-from
fails 2 '--lengths-from nowhere' -- sweep few.json -o none --lengths-from nowhere

# --display plain: its first line comes after five seconds.
if small; then finish; fi
line='^kveval: [0-9]+ of 800 jobs, [0-9.k]+ tokens/s(, about .* left)?$'
"$program" sweep many.json -o calm --display plain --max-batch 4 2>plain.txt >/dev/null &
pid=$!
for _ in $(seq 1200); do
    grep -qE "$line" plain.txt && break
    kill -0 $pid 2>/dev/null || break
    sleep 0.05
done
kill -s TERM $pid 2>/dev/null
wait $pid
grep -qE "$line" plain.txt || fail "--display plain: $(cat plain.txt)"
grep -q "$(printf '[\033\r]')" plain.txt && fail "--display plain has control characters"

# A field of another type: what had been read of the file leaked.
rm -rf wrong
mkdir wrong
echo '{"v": 1, "state": "running", "why": "none", "model": "m", "host": "h", "pid": "seven"}' >wrong/status.json
run 2 status wrong
mentions stderr.txt '"pid"' 'left out'
mentions stderr.txt wrong config.resolved.json
finish
