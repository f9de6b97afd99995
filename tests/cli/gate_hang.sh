# kveval gate --run replays and decodes in worker processes, as a sweep does: on a device that hangs it ends within its step
# timeout with exit code 3, SIGTERM and SIGINT end it at any moment, what was decoded is kept, and two devices give the bits
# of one.
. "$(dirname "$0")/lib.sh"
rm -rf base hung stopped one two *.jsonl
cat >run.json <<'END'
{"model": "pocket", "seed": 1, "samples": 2, "temperature": 0.6, "max_new_tokens": 560, "ignore_eos": true,
 "tasks": [{"name": "pocket.lookup", "problems": 1}], "policies": ["full", {"name": "quest", "k_pages": 4, "as": "quest"}], "baseline": "full"}
END
gate=(gate --run run.json --base base.jsonl --threads 1)
run 0 gate --run run.json --rebaseline --samples 2 --base base.jsonl -o base -q --threads 1

# A worker hangs after so many steps since its start: the replays have 512, the completions 560.
hangs() {
    local at=$1 began=$SECONDS
    rm -rf hung
    KVEVAL_CPU_FAULT=hang:$at run 3 "${gate[@]}" -o hung --step-timeout 2
    mentions stderr.txt 'no worker is left' '--step-timeout'
    mentions hung/gate/gate.json '"verdict": "error"'
    [ $((SECONDS - began)) -lt 100 ] || fail "hang:$at: the gate ended after $((SECONDS - began)) s"
}
hangs 40
! grep -q 'replays: ' stderr.txt || fail "the fault came after tier 1: $(cat stderr.txt)"
hangs 540
mentions stderr.txt 'replays: ' 'pass'

# stop_gate SIGNAL CODE WHEN [FAULT]: the signal comes when standard error has the word, or at once.
stop_gate() {
    local signal=$1 want=$2 when=$3 got=0 began
    rm -rf stopped
    KVEVAL_CPU_FAULT=${4-} "$program" "${gate[@]}" -o stopped >stdout.txt 2>stderr.txt </dev/null &
    local pid=$!
    for _ in $(seq 400); do
        [ -z "$when" ] || grep -q "$when" stderr.txt && break
        sleep 0.1
    done
    sleep 1
    kill -s "$signal" $pid
    began=$SECONDS
    wait $pid || got=$?
    [ "$got" = "$want" ] || fail "SIG$signal after \"$when\": exit code $got, want $want: $(cat stderr.txt)"
    [ $((SECONDS - began)) -le 15 ] || fail "SIG$signal after \"$when\" took $((SECONDS - began)) s"
    [ ! -e stopped/gate/gate.json ] || fail "a gate that was stopped has a verdict"
}
stop_gate TERM 75 '' hang:1
stop_gate INT 130 'replays: ' hang:540
stop_gate TERM 75 'replays: ' hang:540

# The next start goes on. Two devices: the same verdict, replays and completions.
run 4 "${gate[@]}" -o stopped
run 4 "${gate[@]}" -o one
run 4 "${gate[@]}" -o two --device cpu:0-1
for out in one two stopped; do
    run 0 report $out
    sed -E 's/"(new|now|path|time|seconds)": *("[^"]*"|[0-9.]+)/"\1": 0/g' $out/gate/gate.json >$out.json
done
for out in two stopped; do
    same_results one $out
    same one.json $out.json
done
finish
