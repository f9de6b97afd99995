# The run folder: a person's files are never touched, what an earlier run file left is, several processes share it, and
# names may be any bytes.
. "$(dirname "$0")/lib.sh"
rm -rf mine full part kept fifo shards bytes* piped tiny.json
cat >tiny.json <<'END'
{"model": "pocket", "max_new_tokens": 12, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 6}, {"name": "pocket.relay", "steps": 3, "problems": 6}],
 "policies": ["full", {"name": "quest", "k_pages": [2, 4]}]}
END

# A folder that is not ours is refused as it is.
mkdir -p mine/report
echo text >mine/thesis.txt
echo text >mine/report/plot.svg
cp -r mine mine.before
for args in "" "--dry-run" "--shard 0/2"; do
    fails 2 mine '"report"' -o -- sweep tiny.json -o mine $args
done
diff -r mine mine.before >/dev/null || fail "a refused folder was changed: $(diff -r mine mine.before)"
rm -rf mine.before

# Other files do not matter: output may be sent to a log in the folder.
mkdir -p full
echo text >full/sweep.log

# In ours, what somebody put beside our files stays; what the earlier configuration lists and this one lacks goes.
run 0 sweep tiny.json -o full
cp -r full part
old_problems=$(ls part/problems | grep relay)
for f in thesis.txt report/plot.svg problems/mine.jsonl; do
    mkdir -p "part/$(dirname "$f")"
    echo text >"part/$f"
done
run 0 sweep tiny.json -o part --set 'policies=["full"]' --tasks lookup
for f in thesis.txt report/plot.svg problems/mine.jsonl; do
    [ -s "part/$f" ] || fail "part/$f was deleted"
done
mentions stderr.txt '5 cells'
[ "$(cut -d, -f1 part/report/lengths.csv | sort -u | grep -c pocket)" = 1 ] || fail "cells that left the run file are in the tables"
[ ! -e "part/problems/$old_problems" ] || fail "problems that no cell uses stay"

# Journals are the truth: with them alone the folder is still ours and nothing is decoded again.
mkdir kept
cp -r full/journal kept
run 0 sweep tiny.json -o kept
grep -q '36 jobs, 36 done' stderr.txt || fail "journals alone: $(cat stderr.txt)"
same_results full kept

# A FIFO among the journals once was waited for, past SIGTERM.
for place in journal/host.1.1.0.jsonl grades/x.jsonl; do
    rm -rf fifo
    cp -r full fifo
    case $place in grades/*) place=$(cd fifo && ls grades/* | head -n 1) ;; esac
    rm -f "fifo/$place"
    mkfifo "fifo/$place"
    timeout -s KILL 60 "$program" sweep tiny.json -o fifo >stdout.txt 2>stderr.txt </dev/null
    code=$?
    [ $code != 137 ] || fail "a FIFO as $place is waited for"
    [ $code != 0 ] && grep -q "cannot read fifo/$place: it is not a regular file" stderr.txt ||
        fail "a FIFO as $place: exit $code, $(cat stderr.txt)"
done
rm -f "fifo/$place" fifo/manifest.json
mkfifo fifo/manifest.json
run 0 sweep tiny.json -o fifo # which is written anew
[ -f fifo/manifest.json ] || fail "manifest.json stays a FIFO"

# Old temporary files of processes that have ended go; those of living ones, of other machines and of other programs stay.
sleep 0 &
ended=$!
wait $ended
host=$(uname -n)
drawn=0123456789abcdef
for place in . problems report; do
    for name in "x.csv.$host.$ended.$drawn.tmp" "x.csv.$host.$$.$drawn.tmp" "x.csv.elsewhere.$ended.$drawn.tmp" "notes.tmp"; do
        echo text >"full/$place/$name"
        touch -d '2 hours ago' "full/$place/$name"
    done
    echo text >"full/$place/young.$host.$ended.$drawn.tmp" # another container's, perhaps
done
run 0 sweep tiny.json -o full
for place in . problems report; do
    [ -z "$(find "full/$place" -maxdepth 1 -name "x.csv.$host.$ended.*")" ] || fail "a killed process's file stays in $place"
    for name in "x.csv.$host.$$.$drawn.tmp" "x.csv.elsewhere.$ended.$drawn.tmp" "notes.tmp" "young.$host.$ended.$drawn.tmp"; do
        [ -s "full/$place/$name" ] || fail "$place/$name was deleted"
        rm -f "full/$place/$name"
    done
done

# Two shards at once, then reports at once with a sweep: no one fails on another's files.
"$program" sweep tiny.json -o shards --shard 0/2 --threads 1 >0.txt 2>&1 &
first=$!
"$program" sweep tiny.json -o shards --shard 1/2 --threads 1 >1.txt 2>&1 &
second=$!
wait $first || fail "shard 0/2 exited $?: $(cat 0.txt)"
wait $second || fail "shard 1/2 exited $?: $(cat 1.txt)"
for _ in 1 2 3 4; do
    "$program" report shards >0.txt 2>&1 &
    first=$!
    "$program" sweep tiny.json -o shards --quiet >1.txt 2>&1 &
    second=$!
    run 0 report shards
    wait $first || fail "a report beside another exited $?: $(cat 0.txt)"
    wait $second || fail "a sweep beside reports exited $?: $(cat 1.txt)"
done
same_results full shards
[ "$(journal_keys shards | wc -l)" = 36 ] || fail "shards at once decoded $(journal_keys shards | wc -l) jobs"
[ -z "$(find shards -name '*.tmp')" ] || fail "temporary files stay: $(find shards -name '*.tmp')"

# Names that are not UTF-8.
bytes=$'bytes\377'
mkdir "$bytes"
sed 's/"pocket"/"m"/' tiny.json >"$bytes/run.json"
mkdir "$bytes/m"
cp "$source_dir"/engine/pocket/config.json "$source_dir"/engine/pocket/tokenizer.json "$source_dir"/engine/pocket/model.safetensors "$bytes/m"
run 0 sweep "$bytes/run.json" -o "$bytes/out" --limit 1
run 0 report "$bytes/out"
grep -q '"run_file": "bytes\\ufffd/run.json"\|"run_file": "bytes�/run.json"' "$bytes/out/config.resolved.json" ||
    fail "the run file's name: $(grep run_file "$bytes/out/config.resolved.json")"
grep -q '^full' stdout.txt || fail "report of a folder with such a name: $(cat stdout.txt)"

# Who reads the progress lines may go away.
{
    "$program" sweep tiny.json -o piped 2>&1 >/dev/null
    echo $? >code.txt
} | true
[ "$(cat code.txt)" = 0 ] || fail "a closed pipe ended the sweep with $(cat code.txt)"
same_results full piped
finish
