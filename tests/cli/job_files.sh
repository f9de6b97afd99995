# What runs/slurm/sweep.sbatch asks for and when it queues a task again, with stand-ins for Slurm's commands, and that
# runs/kubernetes/sweep.yaml is one document that names the same options. ./kv test --cluster runs the first on Slurm.
. "$(dirname "$0")/lib.sh"
rm -rf bin
mkdir bin
cat >bin/srun <<'END'
#!/usr/bin/env bash
shift # --cpus-per-task
echo "$@"
printf '%s\n' "$SAYS" >&2
[ -z "${CANCELS:-}" ] || kill -s TERM $PPID
exit "${CODE:-0}"
END
printf '#!/bin/sh\nexit 1\n' >bin/squeue
printf '#!/bin/sh\necho "scontrol $*"\n' >bin/scontrol
chmod +x bin/*

# task WANT ENVIRONMENT... -- ARGS...: what the file runs.
task() {
    local want=$1 set=()
    shift
    while [ "$1" != -- ]; do
        set+=("$1")
        shift
    done
    env -u CUDA_VISIBLE_DEVICES -u SLURM_GPUS_ON_NODE PATH="$PWD/bin:$PATH" KVEVAL=kveval SLURM_JOB_ID=7 SLURM_ARRAY_TASK_ID=2 \
        SLURM_ARRAY_TASK_COUNT=4 SAYS= "${set[@]}" bash "$source_dir/runs/slurm/sweep.sbatch" "${@:2}" >stdout.txt 2>stderr.txt
    code=$?
    [ "$(cat stdout.txt)" = "$want" ] || fail "${set[*]}: $(cat stdout.txt), want $want"
}
task 'kveval sweep r.json -o d --shard 2/4' -- r.json -o d
task 'kveval sweep r.json -o d --devices cuda:0-1 --shard 2/4' CUDA_VISIBLE_DEVICES=0,3 -- r.json -o d
task 'kveval sweep r.json -o d --devices cuda:0-0 --shard 2/4' CUDA_VISIBLE_DEVICES=5 SLURM_GPUS_ON_NODE=4 -- r.json -o d
task 'kveval sweep r.json -o d --devices cuda:0-3 --shard 2/4' SLURM_GPUS_ON_NODE=4 -- r.json -o d
task 'kveval sweep r.json -o d --shard 2/4' CUDA_VISIBLE_DEVICES=NoDevFiles SLURM_GPUS_ON_NODE=1 -- r.json -o d
task 'kveval sweep r.json -o d --devices=cpu --shard 2/4' SLURM_GPUS_ON_NODE=2 -- r.json -o d --devices=cpu

runs='kveval sweep r.json --shard 2/4'
again="$runs
scontrol requeue 7"
began='kveval: pocket on cpu: 4 cells, 160 jobs, 12 done, about 5 tokens to decode
'
task "$again" CODE=75 SAYS="${began}kveval: time is up: 20 of 160 jobs are done and saved; repeat the command to go on" -- r.json
[ $code = 0 ] || fail "after queueing again it exited $code"
task "$runs" CODE=75 SAYS="${began}kveval: time is up: 12 of 160 jobs are done and saved; repeat the command to go on" -- r.json
[ $code = 75 ] && grep -q 'this start saved nothing' stderr.txt || fail "without progress it exited $code: $(cat stderr.txt)"
task "$runs" CODE=75 SAYS="${began}kveval: stopped in the middle of a step" -- r.json
[ $code = 75 ] || fail "without a count it exited $code"
task "$runs" CODE=75 SLURM_RESTART_COUNT=20 SAYS="${began}kveval: stopped: 20 of 160 jobs are done and saved; x" -- r.json
[ $code = 75 ] && grep -q 'started 21 times' stderr.txt || fail "after too many starts it exited $code: $(cat stderr.txt)"
task "$runs" CODE=75 CANCELS=1 SAYS="${began}kveval: stopped: 20 of 160 jobs are done and saved; x" -- r.json
[ $code = 75 ] || fail "cancelled it exited $code"
task "$runs" CODE=3 -- r.json
[ $code = 3 ] || fail "it exited $code for 3"

# The lines that the file looks for are still those that the program says.
run 75 sweep "$here/tiny.json" -o slot --limit 1 --time-limit 1
grep -q '^kveval: .* jobs, 0 done, ' stderr.txt && grep -q '^kveval: .*: 0 of [0-9]* jobs are done and saved' stderr.txt ||
    fail "the program says: $(cat stderr.txt)"

yaml=$source_dir/runs/kubernetes/sweep.yaml
if python3 -c 'import yaml' 2>/dev/null; then
    python3 - "$yaml" <<'END' || fail "runs/kubernetes/sweep.yaml"
import sys, yaml
job, = yaml.safe_load_all(open(sys.argv[1]))
spec, pod = job["spec"], job["spec"]["template"]["spec"]
box, = pod["containers"]
env = {e["name"]: e["value"] for e in box["env"]}
assert job["kind"] == "Job" and spec["completionMode"] == "Indexed"
assert int(env["SHARDS"]) == spec["completions"], "SHARDS is not completions"
assert pod["restartPolicy"] == "Never"
assert box["args"][0].startswith("exec kveval sweep ") and '--shard "$JOB_COMPLETION_INDEX/$SHARDS"' in box["args"][0]
rules = {tuple(r["onExitCodes"]["values"]): r for r in spec["podFailurePolicy"]["rules"] if "onExitCodes" in r}
assert rules[75,]["action"] == "Ignore" and rules[2,]["action"] == "FailIndex"
assert all(r["onExitCodes"]["containerName"] == box["name"] for r in rules.values())
END
fi
finish
