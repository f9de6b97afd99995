# The journals of a run folder: verify says what is in them, compact makes one of many and loses nothing wherever it ends,
# a later version is refused, and what was changed by hand in grades and problem files is said and not believed.
. "$2/tests/cli/lib.sh"
rm -rf full two bad newer changed killed empty compacted failing gated
command -v python3 >/dev/null || skip "python3 changes records"
cat >tiny.json <<'END'
{"model": "pocket", "max_new_tokens": 12, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 6}, {"name": "pocket.relay", "steps": 3, "problems": 6}],
 "policies": ["full", {"name": "quest", "k_pages": [2, 4]}]}
END
# says PATTERN FILE...: one of the files has such a line.
says() {
    local pattern=$1
    shift
    grep -qE -- "$pattern" "$@" || fail "\"$pattern\" is missing in: $(cat "$@")"
}
# edit FOLDER PYTHON: changes the lines of the folder's first journal, `lines`, each of bytes with its newline; seal(line)
# gives a line whose checksum is right again, other(line) one with other tokens.
edit() {
    python3 - "$1" "$2" "$here" <<'END'
import glob, re, sys
sys.path.insert(0, sys.argv[3])
sys.dont_write_bytecode = True
from reseal import seal_line as seal
def other(line, digest=b'ffffffffffffffff'):
    return seal(re.sub(rb'"ids_sha256":"[0-9a-f]*"', b'"ids_sha256":"' + digest + b'"', line))
path = sorted(glob.glob(sys.argv[1] + '/journal/*.jsonl'))[0]
lines = open(path, 'rb').read().splitlines(True)
assert seal(lines[0]) == lines[0]
exec(sys.argv[2])
open(path, 'wb').write(b''.join(lines))
END
}

run 0 sweep tiny.json -o full
for shard in 0/2 1/2; do
    run 0 sweep tiny.json -o two --shard $shard
done

# Sound journals, of two shards.
run 0 journal verify two
[ "$(grep -c '^two/journal/.*: [0-9]* records, 0 repeated, 0 retried, 0 conflicts, 0 damaged lines, 0 newer, 0 of no cell$' stdout.txt)" = 2 ] ||
    fail "verify says: $(cat stdout.txt)"
says "^2 journals: 36 records, " stdout.txt
says "^36 of the configuration's 36 jobs have a record$" stdout.txt
says '^kveval: all is sound; kveval journal compact two ' stderr.txt
fails 2 verify compact '"mend"' -- journal mend two
fails 2 two/report/journal -- journal verify two/report
# Without a configuration the keys are not compared, and that is said.
mkdir empty
cp -r two/journal empty
run 2 journal verify empty
says 'is not a run folder: it has no config.resolved.json' stderr.txt
says '^2 journals: 36 records, .* 0 newer$' stdout.txt

# One journal of two: the same lines, the same results.
sort two/journal/*.jsonl >before.txt
cp -r two compacted
rm -rf compacted/report
run 0 journal compact compacted
says '^compacted/journal/.*: 36 records of 2 journals$' stdout.txt
[ "$(ls compacted/journal | wc -l)" = 1 ] || fail "journals stay: $(ls compacted/journal)"
sort compacted/journal/*.jsonl >after.txt
same before.txt after.txt
run 0 report compacted
run 0 report two
diff -r two/report compacted/report >/dev/null || fail "the report is another: $(diff -r two/report compacted/report | head -n 5 | cut -c 1-300)"
same_results full compacted
cp compacted/journal/*.jsonl after.txt
run 0 journal compact compacted
says '^nothing to do: compacted has 1 journal, of 36 records, all of which count$' stdout.txt
same after.txt "$(ls compacted/journal/*.jsonl)"
run 0 sweep tiny.json -o compacted
says '36 jobs, 36 done' stderr.txt
rm -rf compacted

# A journal with every flaw, beside a sound one. The record that counts depends on neither time nor order: an error gives
# way, and of two results the smaller digest counts.
cp -r two bad
edit bad '
import json
n = len(lines)
lines.append(lines[0])                                    # repeated
lines.append(other(lines[1]))                             # loses
lines.append(other(lines[2], b"0000000000000000"))        # wins
lines.append(seal(re.sub(rb"\"finish\":\"[a-z]*\"", b"\"error\":\"x\",\"finish\":\"error\"", lines[3])))
lines.append(seal(re.sub(rb"\"key\":\"[0-9a-f]*\"", b"\"key\":\"" + b"0" * 32 + b"\"", lines[4])))
lines.append(lines[5].replace(b"\"tokens\":", b"\"tokenz\":", 1))
lines.append(lines[6][:50])
open("winners.txt", "wb").write(b"".join(lines[:2] + lines[3:n] + [lines[n + 2], lines[n + 4]]))
'
run 3 journal verify bad
says '^bad/journal/.*: [0-9]* records, 1 repeated, 1 retried, 2 conflicts, 1 damaged line, a torn end, 0 newer, 1 of no cell$' stdout.txt
says '^  line [0-9]* \(byte [0-9]*, [0-9]* bytes\): damaged, its checksum or its form is wrong$' stdout.txt
says '^  line [0-9]* \(byte [0-9]*, 50 bytes\): torn, the process ended while it was written' stdout.txt
[ "$(grep -c '^  line [0-9]* (byte [0-9]*, [0-9]* bytes): key [0-9a-f]* has another result than line [0-9]* of bad/journal/' stdout.txt)" = 2 ] ||
    fail "verify names not two conflicts: $(cat stdout.txt)"
line=$(sed -n 's/^  line \([0-9]*\) .*damaged.*/\1/p' stdout.txt)
sed -n "${line}p" "$(ls bad/journal/* | head -n 1)" | grep -q '"tokenz":' || fail "line $line is not the damaged one"
says 'the same kveval sweep decodes them again, then kveval journal compact bad leaves the lines out' stderr.txt
says 'results are not reproducible here' stderr.txt
run 0 report bad
cp bad/report/accuracy.csv bad.csv
run 0 journal compact bad
says '^left out: 1 repeated, 1 retried, 2 with another result than the one that counts, 1 damaged line, a torn end$' stdout.txt
cat winners.txt "$(ls two/journal/* | tail -n 1)" | sort >before.txt
sort bad/journal/* >after.txt
same before.txt after.txt
run 0 report bad
same bad.csv bad/report/accuracy.csv
run 0 journal verify bad
says ' 1 of no cell$' stdout.txt

# Ended at each of its writes, syncs, renames and removals: every record stays, and the same command finishes.
if can_fault; then
    cp -r two killed
    KV_FAULT="main count 0" LD_PRELOAD=$fault "$program" journal compact killed >stdout.txt 2>stderr.txt
    n=$(sed -n 's/^\([0-9]*\) calls$/\1/p' stderr.txt)
    [ "${n:-0}" -ge 6 ] || fail "compacting makes $n calls"
    sort two/journal/*.jsonl >before.txt
    for at in $(seq "${n:-0}"); do
        rm -rf killed
        cp -r two killed
        code=0
        { KV_FAULT="main kill $at" LD_PRELOAD=$fault "$program" journal compact killed >stdout.txt 2>stderr.txt || code=$?; } 2>/dev/null
        [ $code = 137 ] || fail "call $at of $n: exit $code"
        sort -u killed/journal/*.jsonl >after.txt
        same before.txt after.txt
        "$program" journal verify killed >stdout.txt 2>&1 || fail "killed at call $at: $(cat stdout.txt)"
        run 0 journal compact killed
        sort killed/journal/*.jsonl >after.txt
        same before.txt after.txt
        [ "$(find killed/journal -name '*.jsonl' | wc -l)" = 1 ] || fail "killed at call $at: $(ls killed/journal)"
    done
    echo "ended at each of $n calls" >&2
    # A disk that cannot be written to ends it before anything is removed, and a sweep, too.
    rm -rf killed
    cp -r two killed
    KV_FAULT="main sync 5" LD_PRELOAD=$fault "$program" journal compact killed >stdout.txt 2>stderr.txt
    [ $? = 3 ] || fail "a failing disk: $(cat stderr.txt)"
    says 'cannot write killed/journal/.*: Input/output error; the journals are as they were$' stderr.txt
    sort killed/journal/* >after.txt
    same before.txt after.txt
    rm -rf failing
    KV_FAULT="main datasync 5" LD_PRELOAD=$fault "$program" sweep tiny.json -o failing >stdout.txt 2>stderr.txt
    [ $? = 3 ] || fail "a failing disk under a sweep: $(cat stderr.txt)"
    said='stopped with .* of 36 jobs saved, repeat the command to go on: cannot write the journal failing/journal/.* to disk: '
    says "^kveval: ${said}Input/output error$" stderr.txt
    run 0 sweep tiny.json -o failing
    same_results full failing
else
    echo "kv_fault.so is not there: no call was made to fail" >&2
fi

# While a sweep holds the folder it is refused, as a second sweep is.
sed 's/"max_new_tokens": 12/"max_new_tokens": 3000/' tiny.json >long.json
"$program" sweep long.json -o two --quiet >hold.txt 2>&1 &
pid=$!
for _ in $(seq 200); do
    grep -qs "pid $pid$" two/lock && break
    sleep 0.05
done
code=0
"$program" journal compact two >stdout.txt 2>stderr.txt || code=$?
kill -9 $pid
wait $pid 2>/dev/null
[ $code = 3 ] || fail "beside a sweep: exit $code"
says "two is in use by host .* pid $pid \(lock two/lock\); wait for it, or use another folder" stderr.txt

# A record, a configuration and a grade of another version are neither believed nor called damaged, and stay.
cp -r full newer
edit newer 'lines[1] = seal(lines[1].replace(b"\"v\":1,", b"\"v\":3,"))'
journal=$(ls newer/journal/*)
cp "$journal" kept.jsonl
fails 2 "$journal:2" 'version 3' -- report newer
fails 2 "$journal:2" 'version 3' -- compare full newer
fails 2 "$journal:2" 'version 3' -- gate full newer -o gated -q
run 2 sweep tiny.json -o newer
says "^kveval: $journal:2 is of version 3, " stderr.txt
run 2 journal verify newer
says '^  line 2 .*: a record of a later version of kveval$' stdout.txt
says ' 0 damaged lines, 1 newer, ' stdout.txt
run 2 journal compact newer
says 'newer has 1 record of a later version: use the kveval that wrote them; nothing was changed' stderr.txt
same kept.jsonl "$journal"
# The same byte flipped without the checksum is damage.
edit newer 'lines[1] = lines[1].replace(b"\"v\":3,", b"\"v\":4,")'
run 0 report newer
says '1 journal lines are damaged' stderr.txt
rm -rf newer
cp -r full newer
sed -i 's/"schema": 2,/"schema": 3,/' newer/config.resolved.json
cp newer/config.resolved.json kept.json
for command in "report newer" "sweep tiny.json -o newer" "sweep tiny.json -o newer --dry-run" "show newer x y"; do
    run 2 $command
    says "^kveval: newer/config.resolved.json is of version 3, " stderr.txt
done
# Compacting wrote over it, and verify called all of it sound.
cp -r newer/journal kept
run 2 journal compact newer
says "^kveval: newer/config.resolved.json is of version 3, " stderr.txt
diff -r kept newer/journal >/dev/null || fail "compacting wrote over a later version"
rm -r kept
run 2 journal verify newer
says '^kveval: the journals are sound, the folder is not$' stderr.txt
grep -q 'all is sound' stderr.txt && fail "verify of a later version: $(cat stderr.txt)"
fails 2 newer/config.resolved.json 'version 2' -- compare newer full
fails 2 newer/config.resolved.json 'version 2' -- gate newer full -o gated -q
same kept.json newer/config.resolved.json
rm -rf newer
cp -r full newer
grades=$(ls newer/grades/*)
sed -i 's/,"v":1\b/,"v":2/' "$grades"
reseal newer
cp "$grades" kept.jsonl
fails 2 "$grades" 'version 2' -- report newer
same kept.jsonl "$grades"

# A grade that was changed by hand is said and made anew; so is a row without a checksum.
cp -r full changed
grades=$(ls changed/grades/*)
cp "$grades" kept.jsonl
for edit in '3s/"score":[0-9.]*/"score":0.75/' '3s/"score":[0-9.]*\(.*\),"crc":.*/"score":0.75\1}/'; do
    sed -i "$edit" "$grades"
    run 0 export changed --format csv -o changed.csv
    says "^kveval: warning: $grades: a row was changed since kveval wrote it; what it is about is graded anew$" stderr.txt
    grep -q 0.75 changed.csv && fail "a changed grade is believed"
    rm changed.csv
    run 0 report changed
    says "a row was changed since kveval wrote it" stderr.txt
    same kept.jsonl "$grades"
    run 0 report changed
    [ ! -s stderr.txt ] || fail "said again: $(cat stderr.txt)"
done
same_results full changed
# Problems that were changed or lost are refused, and the sweep writes them again; so are fewer than the configuration says.
problems=$(ls changed/problems/lookup*)
cp "$problems" kept.jsonl
message="$problems was changed since the sweep wrote it, so that results would be of other problems; kveval sweep RUN.json -o changed writes it again"
for edit in '2s/"golds":\["./"golds":["9/' '2d' 'd'; do
    sed -i "$edit" "$problems"
    refuse 2 "$message" export changed --format csv -o changed.csv
    run 2 journal verify changed
    says '^1 journal: 36 records, ' stdout.txt
    says '^kveval: the journals are sound, the folder is not$' stderr.txt
    refuse 2 "$message" compare full changed
    refuse 2 "$message" gate full changed -o gated -q
    run 0 sweep tiny.json -o changed
    says "^kveval: warning: $problems was changed since a sweep wrote it; it is written anew$" stderr.txt
    same kept.jsonl "$problems"
    same_results full changed
done
: >"$problems"
reseal changed
refuse 2 "$message" report changed
run 0 sweep tiny.json -o changed
same_results full changed
sed -i 's/"margin": [0-9.]*/"margin": 9.5/' changed/config.resolved.json
run 0 report changed
says '^kveval: warning: changed/config.resolved.json was changed since the sweep wrote it; kveval sweep RUN.json -o changed writes it again$' stderr.txt
run 0 sweep tiny.json -o changed
says '^kveval: warning: changed/config.resolved.json was changed since a sweep wrote it; it is written anew$' stderr.txt
same_results full changed
finish
