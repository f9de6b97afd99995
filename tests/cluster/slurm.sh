# runs/slurm/sweep.sbatch on a Slurm of its own: one controller and three slurmd on this machine, in a folder below /tmp, on
# the loopback interface. An array of three; one task is requeued, one gets SIGUSR1, and slots are short; the results are
# those of an undisturbed sweep. ./kv test --cluster runs it; exit code 77: Slurm is not installed.
# NAME.sh PROGRAM SOURCE_DIR, as in tests/cli.
. "$(dirname "$0")/../cli/lib.sh"
for tool in slurmctld slurmd sbatch srun munged; do
    command -v $tool >/dev/null || PATH=$PATH:/usr/sbin
    command -v $tool >/dev/null || skip "Slurm (there is no $tool; Debian's packages are slurmctld, slurmd, slurm-client and munge)"
done
[ "$(id -u)" = 0 ] || skip "Slurm (its daemons have to be started as root here)"

# ---- the cluster

d=$(mktemp -d /tmp/kveval-slurm.XXXXXX) || exit 1
chmod 755 "$d"
export SLURM_CONF=$d/slurm.conf
pids=()
teardown() {
    scancel --user root >/dev/null 2>&1
    sleep 1
    kill "${pids[@]}" 2>/dev/null
    for _ in $(seq 50); do
        kill -0 "${pids[@]}" 2>/dev/null || break
        sleep 0.1
    done
    kill -9 "${pids[@]}" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$d"
}
trap teardown EXIT
trap 'exit 1' INT TERM

mkdir "$d/state" "$d/spool" "$d/munge"
chmod 755 "$d/munge"
head -c 1024 /dev/urandom >"$d/munge.key"
chmod 400 "$d/munge.key"
port=$((20000 + $$ % 20000))
cat >"$SLURM_CONF" <<CONF
ClusterName=kveval
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$d/munge/socket,cred_expire=5
CredType=cred/munge
SlurmctldPort=$port
StateSaveLocation=$d/state
SlurmdSpoolDir=$d/spool/%n
SlurmctldPidFile=$d/slurmctld.pid
SlurmdPidFile=$d/slurmd.%n.pid
SlurmctldLogFile=$d/slurmctld.log
SlurmdLogFile=$d/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=2,bf_interval=2
KillWait=30
$(for i in 1 2 3; do echo "NodeName=n$i NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((port + i)) CPUs=1 State=UNKNOWN"; done)
PartitionName=main Nodes=n[1-3] Default=YES MaxTime=1-0 State=UP
CONF
munged --force --foreground --socket="$d/munge/socket" --key-file="$d/munge.key" --pid-file="$d/munge/pid" \
    --seed-file="$d/munge/seed" --log-file="$d/munge/log" >"$d/munge.out" 2>&1 &
pids+=($!)
for _ in $(seq 50); do
    [ -S "$d/munge/socket" ] && break
    sleep 0.1
done
slurmctld -D >"$d/ctld.out" 2>&1 &
pids+=($!)
for i in 1 2 3; do
    slurmd -D -N n$i >"$d/slurmd.out" 2>&1 &
    pids+=($!)
done

# until SECONDS COMMAND...: waits for the command to succeed.
until_ok() {
    local tries=$(($1 * 5))
    shift
    for _ in $(seq $tries); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.2
    done
    return 1
}
are_idle() {
    [ "$(sinfo -h -N -o %T | grep -c '^idle$')" = 3 ]
}
until_ok 60 are_idle || {
    fail "the cluster does not start: $(tail -n 5 "$d"/*.log)"
    finish
}

# ---- the sweep

rm -rf calm array slots none kveval-*.log
cat >many.json <<'RUN'
{"model": "pocket", "max_new_tokens": 60, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 400}],
 "policies": ["full", {"name": "quest", "k_pages": 4}]}
RUN
export KVEVAL=$program
# submit DIR OPTIONS...: sets job. OPTIONS are the sweep's.
submit() {
    local out=$1
    shift
    job=$(sbatch --parsable --array=0-2 --time=10 "$source_dir/runs/slurm/sweep.sbatch" many.json -o "$out" \
        --threads 1 --max-batch 4 "$@") || fail "sbatch refuses the file"
}
# id TASK: the task's own job id
id() {
    squeue -h -j "${job}_$1" -o %A | head -n 1
}
is_over() {
    [ -z "$(squeue -h -j "$job" 2>/dev/null)" ]
}
has_records() {
    [ "$(journal_keys "$1" | wc -l)" -gt "$2" ]
}
# ids DIR: key and tokens' digest of every record
ids() {
    cat "$1"/journal/*.jsonl | sed -n 's/.*"key":"\([0-9a-f]*\)".*"ids_sha256":"\([0-9a-f]*\)".*/\1 \2/p' | sort
}
compare() {
    run 0 sweep many.json -o "$1" --threads 1
    ids "$1" >"$1.ids"
    same calm.ids "$1.ids"
    same_results calm "$1"
}
run 0 sweep many.json -o calm --threads 1
ids calm >calm.ids
[ "$(wc -l <calm.ids)" = 800 ] || fail "the undisturbed sweep has $(wc -l <calm.ids) records"

# One task goes back into the queue, another is told to stop; both come again, and nothing is decoded twice.
submit array
until_ok 60 has_records array 20 || fail "nothing is decoded: $(cat kveval-*.log)"
scontrol requeue "$(id 0)" || fail "scontrol requeue"
scancel --signal=USR1 "${job}_1" || fail "scancel --signal=USR1"
until_ok 240 is_over || fail "the array does not end: $(squeue)
$(tail -n 3 kveval-*.log)"
grep -q '^sweep.sbatch: saved [1-9][0-9]* more; back into the queue$' "kveval-${job}_1.log" ||
    fail "SIGUSR1 said: $(cat "kveval-${job}_1.log")"
for i in 0 1 2; do
    grep -q '^report: array/report/report.md' "kveval-${job}_$i.log" || fail "task $i did not end: $(cat "kveval-${job}_$i.log")"
    grep -q '^kveval: Slurm ends this job in ' "kveval-${job}_$i.log" || fail "task $i does not know when it ends"
done
[ "$(grep -c 'jobs, [0-9]* done, about' "kveval-${job}_0.log")" = 2 ] || fail "the requeued task: $(cat "kveval-${job}_0.log")"
ids array >array.ids
same calm.ids array.ids
compare array

# Slots that are too short for all of it: as many starts as are allowed, each of which saves something.
KVEVAL_RESTARTS=0 submit slots --time-limit 5
until_ok 60 is_over || fail "the array of slots does not end: $(squeue)"
grep -q '^sweep.sbatch: started 1 times; the same command goes on' "kveval-${job}_0.log" || fail "a bounded task: $(cat "kveval-${job}_0.log")"
compare slots

# A start that saves nothing is the last.
cat >many.json <<'RUN'
{"model": "pocket", "max_new_tokens": 3000, "ignore_eos": true, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 12}],
 "policies": ["full"]}
RUN
submit none --time-limit 4
until_ok 60 is_over || fail "the array that saves nothing does not end: $(squeue)"
for i in 0 1 2; do
    grep -q '^sweep.sbatch: this start saved nothing, so another would not either' "kveval-${job}_$i.log" &&
        grep -q 'which takes a limit of' "kveval-${job}_$i.log" || fail "task $i said: $(cat "kveval-${job}_$i.log")"
done
finish
