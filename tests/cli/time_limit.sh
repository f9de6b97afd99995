# A sweep that has little time (--time-limit, the end of a Slurm job) starts what can end in it, and says which limit would
# do where nothing can.
. "$(dirname "$0")/lib.sh"
rm -rf limited undisturbed none
cat >short.json <<'END'
{"model": "pocket", "max_new_tokens": [4, 7000], "ignore_eos": true, "tasks": [{"name": "pocket.lookup", "steps": 4, "problems": 40}], "policies": ["full"]}
END
sed 's/\[4, 7000\]/7000/' short.json >long.json

# The 4-token completions of both lengths are in time, those of 7,000 tokens wait.
# A busy machine may need the first seconds to load, so that a longer limit is tried then.
for limit in 8s 16s 32s; do
    rm -rf limited
    run 75 sweep short.json -o limited --devices cpu:0-1 --time-limit $limit
    grep -q '^kveval: time is up: 0 of ' stderr.txt || break
done
grep -q 'time is up: [1-9][0-9]* of 80 jobs' stderr.txt || fail "a limit of 8 s said: $(cat stderr.txt)"
grep -q '^full max_new_tokens=7000  baseline  -' stdout.txt || fail "the table of a limit: $(cat stdout.txt)"
run 0 report limited
mentions stderr.txt 'of 80 jobs' missing

# The same results as without, order aside.
run 0 sweep short.json -o limited --threads 1 --time-limit 1d --set max_new_tokens=4
run 0 sweep short.json -o undisturbed --threads 1 --set max_new_tokens=4
same_results limited undisturbed

# Nothing can end in time: the model's context leaves 3,984 tokens, which take 3 s on a fast core.
# Again a longer limit where loading took all of it.
for limit in 3 6 12 24; do
    rm -rf none
    run 75 sweep long.json -o none --threads 1 --time-limit $limit
    grep -q 'under way are lost' stderr.txt && break
done
mentions stderr.txt lost --time-limit
mentions stderr.txt 'time is up' '0 of 40 jobs'

# Slurm tells when the job ends.
SLURM_JOB_END_TIME=$(($(date +%s) + 7)) run 75 sweep long.json -o none --threads 1
grep -q 'Slurm ends this job in [0-7] s (SLURM_JOB_END_TIME)' stderr.txt || fail "under Slurm it said: $(cat stderr.txt)"
SLURM_JOB_END_TIME=1000 run 0 sweep short.json -o undisturbed --threads 1 --set max_new_tokens=4
mentions stderr.txt SLURM_JOB_END_TIME past

for bad in 3x 1m1h -5 0 h 1.5.2 5days; do
    fails 2 --time-limit 3h 90m 1h30m 3600 "\"$bad\"" -- \
        sweep long.json -o none "--time-limit=$bad"
done
finish
