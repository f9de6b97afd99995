# A file system without locks: a lock file with signs of life takes their place. Whoever lives is not overlooked, whoever
# has ended is taken over with a sentence.
. "$(dirname "$0")/lib.sh"
can_fault || skip "kv_fault.so is not beside the program, or cannot be preloaded"
rm -rf plain out both many lost dumb shard
cat >tiny.json <<'END'
{"model": "pocket", "max_new_tokens": 12, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 6}],
 "policies": ["full", {"name": "quest", "k_pages": 2}]}
END
sed 's/"max_new_tokens": 12/"max_new_tokens": 4000, "ignore_eos": true/; s/"problems": 6/"problems": 60/' tiny.json >long.json
export KV_FAULT='main lock 37' # ENOLCK
started=
trap 'kill -9 $started 2>/dev/null' EXIT

# without ARGS...: the program where fcntl() has no locks; a command as `run 0 ...` takes it, too.
real_program=$program
cat >without.sh <<END
#!/bin/bash
LD_PRELOAD=$fault exec "$real_program" "\$@"
END
chmod +x without.sh
without=$PWD/without.sh
# said PATTERN
said() {
    grep -qE -- "$1" stderr.txt || fail "\"$1\" is missing in: $(cat stderr.txt)"
}
# held DIR: its lock files.
held() {
    find "$1" -maxdepth 1 -name 'lock.*.held'
}
# start DIR ARGS...: a long sweep, once it holds its lock; its number is the last of $started.
start() {
    "$without" sweep long.json -o "$@" --quiet 2>holder.txt &
    pid=$!
    started="$started $pid"
    for _ in $(seq 400); do
        [ -n "$(held "$1" 2>/dev/null)" ] && return
        sleep 0.05
    done
    fail "the long sweep took no lock: $(cat holder.txt)"
}

run 0 sweep tiny.json -o plain
program=$without
for cause in 37 22 95 38; do # ENOLCK, EINVAL, EOPNOTSUPP, ENOSYS
    rm -rf out
    KV_FAULT="main lock $cause" run 0 sweep tiny.json -o out
    said 'out is on a file system without locks; a lock file that is touched as long as this runs takes their place$'
    [ -z "$(held out)" ] || fail "a lock file stays: $(held out)"
    same_results plain out
done
KV_FAULT='main lock 5' run 3 sweep tiny.json -o out # EIO is no lack of locks
said 'cannot lock out/lock: Input/output error$'

# A lock that cannot be touched any more is said: another client of NFS has removed it, or the server fails. Looked at below.
KV_FAULT='main touch 116' "$without" sweep long.json -o lost --display none >lost.txt 2>&1 & # ESTALE
lost=$!
KV_FAULT='main touch 5' "$without" sweep long.json -o dumb --display none >dumb.txt 2>&1 & # EIO
dumb=$!
started="$started $lost $dumb"

# Held: refused to a whole run, a shard, compacting, and to a machine that has locks.
mkdir both
start both
for command in "sweep tiny.json -o both" "sweep tiny.json -o both --shard 0/2" "journal compact both"; do
    mkdir -p both/journal
    run 3 $command
    said "^kveval: both is in use by host $(uname -n) pid $pid \(lock both/lock.all.*.$pid.[0-9]*.held\); wait for it, or use another folder$"
done
program=$real_program
run 3 sweep tiny.json -o both
said "both is in use by host .* pid $pid "
program=$without
# kveval status does not call it dead for want of locks.
for _ in $(seq 200); do
    [ -e both/status.json ] && break
    sleep 0.05
done
run 0 status both
grep -q "^running for .* process $pid on " stdout.txt || fail "kveval status does not see the lock file: $(cat stdout.txt)"
# It gives signs of life.
touch -d '2 minutes ago' "$(held both)"
for _ in $(seq 300); do
    [ $(($(date +%s) - $(stat -c %Y "$(held both)"))) -lt 60 ] && break
    sleep 0.1
done
[ $(($(date +%s) - $(stat -c %Y "$(held both)"))) -lt 60 ] || fail "the lock file is not touched"

# The beats of those above. Each is said once.
for _ in $(seq 150); do
    [ -s lost.txt ] && [ -s dumb.txt ] && break
    sleep 0.1
done
mentions lost.txt warning: lost/
mentions dumb.txt warning: dumb/ Input/output
kill -9 $lost $dumb
wait $lost $dumb 2>/dev/null
[ "$(grep -c 'the lock' lost.txt)$(grep -c 'the lock' dumb.txt)" = 11 ] || fail "said again: $(cat lost.txt dumb.txt)"

# Killed: taken over at once on its machine.
kill -9 $pid
wait $pid 2>/dev/null
cp "$(held both)" kept.held
name=$(basename "$(held both)")
run 0 sweep tiny.json -o both --limit 1
said "^kveval: warning: both: the lock of host .* pid $pid is taken over, the process is gone$"
[ -z "$(held both)" ] || fail "a lock file stays: $(held both)"
# On another machine its process cannot be seen: its silence counts, by the file's time.
sed 's/^machine .*/machine other/' kept.held >"both/$name"
run 3 sweep tiny.json -o both --limit 1
said "in use by host .* pid $pid "
touch -d '10 minutes ago' "both/$name"
run 0 sweep tiny.json -o both --limit 1
said "^kveval: warning: both: the lock of host .* pid $pid is taken over, it has given no sign of life for 10 minutes$"
# Its number may be another process's by now.
sed "s/ pid .*/ pid $$/; s/^started .*/started 1/" kept.held >"both/$name"
run 0 sweep tiny.json -o both --limit 1
said "pid $$ is taken over, the process is gone$"
# A process that has ended while its parent took no note of it, as happens in containers.
if command -v python3 >/dev/null; then
    python3 -c 'import os, sys, time
pid = os.fork() or os._exit(0)
print(pid, flush=True)
time.sleep(60)' >zombie.txt &
    parent=$!
    started="$started $parent"
    for _ in $(seq 100); do
        zombie=$(cat zombie.txt)
        [ -n "$zombie" ] && grep -qs '^State:.Z' "/proc/$zombie/status" && break
        sleep 0.05
    done
    began=$(sed 's/.*) //' "/proc/$zombie/stat" | cut -d ' ' -f 20)
    sed "s/ pid .*/ pid $zombie/; s/^started .*/started $began/" kept.held >"both/$name"
    run 0 sweep tiny.json -o both --limit 1
    said "pid $zombie is taken over, the process is gone$"
    kill $parent
fi
# A shard of the same number does not stand in the way, one of another does.
sed 's/^machine .*/machine other/' kept.held >"both/${name/all/0-of-2}"
run 0 sweep tiny.json -o both --limit 1 --shard 1/2
run 3 sweep tiny.json -o both --limit 1 --shard 0/2
run 3 sweep tiny.json -o both --limit 1 --shard 1/3
rm "both/${name/all/0-of-2}"

# Two that come at once: never both.
mkdir many
for _ in 1 2; do
    rm -f many/lock*
    "$without" sweep long.json -o many --quiet 2>1.txt &
    first=$!
    "$without" sweep long.json -o many --quiet 2>2.txt &
    second=$!
    started="$started $first $second"
    for _ in $(seq 200); do
        kill -0 $first 2>/dev/null && kill -0 $second 2>/dev/null || break
        sleep 0.05
    done
    kill -0 $first 2>/dev/null && kill -0 $second 2>/dev/null && fail "both took the folder: $(held many)"
    grep -q 'many is in use by ' 1.txt 2.txt || fail "nobody was refused: $(cat 1.txt 2.txt)"
    kill -9 $first $second 2>/dev/null
    wait $first $second 2>/dev/null
done
finish
