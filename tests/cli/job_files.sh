# What runs/slurm/sweep.sbatch asks for and when it queues a task again, with stand-ins for Slurm's commands. On a Slurm of
# its own ./kv test --cluster runs it.
. "$(dirname "$0")/lib.sh"
rm -rf bin d slot
mkdir bin
cat >bin/srun <<'END'
#!/usr/bin/env bash
shift # --cpus-per-task
exec "$@"
END
cat >bin/kveval <<'END'
#!/usr/bin/env bash
echo "kveval $*"
mkdir -p d/journal
[ -z "${SAVES:-}" ] || printf '{}\n{}\n' >"d/journal/host.$$.100.0.jsonl"
[ -z "${OTHER:-}" ] || echo '{}' >"d/journal/host.1$$.100.0.jsonl"
[ -z "${STATE:-}" ] || printf '{"pid":%d,"state":"%s"}\n' $$ "$STATE" >d/status.2-of-4.json
[ -z "${CANCELS:-}" ] || kill -s TERM $PPID
exit "${CODE:-0}"
END
printf '#!/bin/sh\nexit 1\n' >bin/squeue
printf '#!/bin/sh\necho "scontrol $*"\n' >bin/scontrol
chmod +x bin/*

# task WANT ENVIRONMENT... -- ARGS...: what the file runs.
task() {
    local want=${1/sweep/sweep --wait 6m} set=()
    shift
    while [ "$1" != -- ]; do
        set+=("$1")
        shift
    done
    env -u CUDA_VISIBLE_DEVICES -u SLURM_GPUS_ON_NODE PATH="$PWD/bin:$PATH" KVEVAL=kveval SLURM_JOB_ID=7 SLURM_ARRAY_TASK_ID=2 \
        SLURM_ARRAY_TASK_COUNT=4 "${set[@]}" bash "$source_dir/runs/slurm/sweep.sbatch" "${@:2}" >stdout.txt 2>stderr.txt
    code=$?
    [ "$(cat stdout.txt)" = "$want" ] || fail "${set[*]}: $(cat stdout.txt), want $want"
}
task 'kveval sweep r.json -o d --shard 2/4' -- r.json -o d
task 'kveval sweep r.json -o d --devices cuda:0-1 --shard 2/4' CUDA_VISIBLE_DEVICES=0,3 -- r.json -o d
task 'kveval sweep r.json -o d --devices cuda:0-0 --shard 2/4' CUDA_VISIBLE_DEVICES=5 SLURM_GPUS_ON_NODE=4 -- r.json -o d
task 'kveval sweep r.json -o d --devices cuda:0-3 --shard 2/4' SLURM_GPUS_ON_NODE=4 -- r.json -o d
task 'kveval sweep r.json -o d --shard 2/4' CUDA_VISIBLE_DEVICES=NoDevFiles SLURM_GPUS_ON_NODE=1 -- r.json -o d
task 'kveval sweep r.json -o d --devices=cpu --shard 2/4' SLURM_GPUS_ON_NODE=2 -- r.json -o d --devices=cpu

# An endpoint run refuses --devices, also on a node with GPUs.
task 'kveval sweep r.json -o d --shard 2/4' SLURM_GPUS_ON_NODE=2 KVEVAL_DEVICES=none -- r.json -o d

# Queued again after every start that saved something, whatever it says: --quiet and --display none say nothing.
runs='kveval sweep r.json -o d --quiet --shard 2/4'
again="$runs
scontrol requeue 7"
task "$again" CODE=75 SAVES=1 -- r.json -o d --quiet
[ $code = 0 ] && grep -q 'saved 2 more; back into the queue' stderr.txt || fail "with --quiet it exited $code: $(cat stderr.txt)"
for o in '-o d' -od '--output-path d' --output-path=d --output_path=d '-o x -o d'; do
    task "kveval sweep r.json $o --shard 2/4
scontrol requeue 7" CODE=75 SAVES=1 -- r.json $o
done
# Stopped while results were written, with everything decoded before.
task "$again" CODE=75 STATE=grading -- r.json -o d --quiet
[ $code = 0 ] && grep -q 'results were being written; back into the queue' stderr.txt || fail "while writing it exited $code: $(cat stderr.txt)"
# That is the word of an earlier start, and the new journal another task's.
task "$runs" CODE=75 OTHER=1 -- r.json -o d --quiet
[ $code = 75 ] && grep -q 'this start saved nothing' stderr.txt || fail "without progress it exited $code: $(cat stderr.txt)"
task "$runs" CODE=75 SAVES=1 SLURM_RESTART_COUNT=20 -- r.json -o d --quiet
[ $code = 75 ] && grep -q 'started 21 times' stderr.txt || fail "after too many starts it exited $code: $(cat stderr.txt)"
task "$runs" CODE=75 SAVES=1 CANCELS=1 -- r.json -o d --quiet
[ $code = 75 ] || fail "cancelled it exited $code"
task "$runs" CODE=3 SAVES=1 -- r.json -o d --quiet
[ $code = 3 ] || fail "it exited $code for 3"
task "$runs" CODE=5 SAVES=1 -- r.json -o d --quiet
[ $code = 5 ] || fail "it exited $code for 5"

# The program itself: its journals are named so, and its status file says so.
cat >long.json <<'END'
{"model": "pocket", "max_new_tokens": 60, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 400}],
 "policies": ["full", {"name": "quest", "k_pages": [2, 4]}]}
END
env PATH="$PWD/bin:$PATH" KVEVAL="$program" SLURM_JOB_ID=7 SLURM_ARRAY_TASK_ID=0 bash "$source_dir/runs/slurm/sweep.sbatch" \
    long.json -o slot --quiet >stdout.txt 2>stderr.txt &
task=$!
for _ in $(seq 600); do
    [ "$(journal_keys slot 2>/dev/null | wc -l)" -gt 9 ] && break
    sleep 0.05
done
kill -s USR1 "$(sed -n 's/.*"pid":\([0-9]*\)[,}].*/\1/p' slot/status.0-of-1.json)"
wait $task || fail "a slot that ends exited $?"
mentions stderr.txt sweep.sbatch: saved
[ "$(sed -n 's/.*: saved \([0-9]*\) .*/\1/p' stderr.txt)" = "$(journal_keys slot | wc -l)" ] || fail "other records than it says: $(cat stderr.txt)"
grep -q '"pid":[0-9]*[,}]' slot/status.0-of-1.json && grep -q '"state":"stopped"' slot/status.0-of-1.json ||
    fail "the status file: $(cat slot/status.0-of-1.json)"

finish
