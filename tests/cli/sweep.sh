# A small sweep from end to end: files, resume, limits, shards, sample ids, overrides, show, score, report.
. "$(dirname "$0")/lib.sh"
rm -rf full again shards limited ids named other piped
tiny=$here/tiny.json
if small; then # completions of a third of the length
    sed 's/"max_new_tokens": 250/"max_new_tokens": 60/' "$here/tiny.json" >short.json
    tiny=short.json
fi

run 0 sweep "$tiny" --dry-run
grep -q '^total  *64 ' stdout.txt || fail "dry run: $(cat stdout.txt)"
[ -z "$(ls -d out* 2>/dev/null)" ] || fail "a dry run wrote a folder"
grep -q '^memory of a device, 32 sequences together' stdout.txt || fail "a dry run's batch: $(cat stdout.txt)"
grep -q '^  K and V .* 8.5 KiB a token' stdout.txt || fail "a dry run's memory: $(cat stdout.txt)"
run 0 sweep "$tiny" --dry-run --devices cuda:0 --calibrate no
grep -q '^memory of a device, 64 sequences together' stdout.txt || fail "a dry run's batch on a GPU: $(cat stdout.txt)"
grep -q '^  K and V .* 4.2 KiB a token' stdout.txt || fail "a dry run's memory on a GPU: $(cat stdout.txt)"

run 0 sweep "$tiny" -o full
grep -q '16 cells, 64 jobs' stderr.txt || fail "sweep said: $(cat stderr.txt)"
for f in manifest.json config.resolved.json report/index.html report/report.md report/accuracy.csv report/pairs.csv report/lengths.csv; do
    [ -s "full/$f" ] || fail "full/$f is missing"
done
grep -q 'grader [0-9]*, percent=hundredth units=drop degrees=drop decimals=round duplicates=count, kveval' full/report/report.md ||
    fail "the report does not name the grading policies"
[ "$(cut -d, -f1 full/report/lengths.csv | sort -u | grep -c ^pocket)" = 16 ] || fail "cells: $(cut -d, -f1 full/report/lengths.csv | sort -u)"
[ "$(wc -l <full/report/lengths.csv)" = 65 ] || fail "lengths.csv has $(wc -l <full/report/lengths.csv) lines"
[ "$(wc -l <full/report/accuracy.csv)" = 17 ] || fail "accuracy.csv has $(wc -l <full/report/accuracy.csv) lines"
[ "$(head -n 1 full/report/accuracy.csv | cut -d, -f1-23)" = "cell,label,model,policy,preset,params,k_pages,l_pages,budget_tokens,task,problems,jobs,correct,accuracy,ci_low,ci_high,mean_tokens,truncated,unparsed,unfinished,errors,kv_density,peak_tokens" ] ||
    fail "accuracy.csv has other columns: $(head -n 1 full/report/accuracy.csv)"
[ "$(sed -n 's/^[^,]*,\([^,]*\),.*/\1/p' full/report/accuracy.csv | sed -n 2,9p | tr '\n' ';')" = \
    "full;quest k_pages=2;quest k_pages=4;delta k_pages=4 l_pages=2;delta k_pages=8 l_pages=2;raas;kascade;dms;" ] ||
    fail "cells are in another order: $(cut -d, -f2 full/report/accuracy.csv)"
[ "$(journal_keys full | sort | uniq -d | wc -l)" = 0 ] || fail "jobs were decoded twice"

# A run file out of a pipe, which each worker reads too.
cat "$tiny" | run 0 sweep /dev/fd/3 -o piped --limit 1 3<&0
grep -q '16 cells, 16 jobs, 0 done' stderr.txt || fail "out of a pipe: $(cat stderr.txt)"
run 0 sweep <(cat "$tiny") -o piped --limit 1 --devices cpu:0-1
grep -q '16 cells, 16 jobs, 16 done' stderr.txt || fail "out of a pipe again: $(cat stderr.txt)"

# Repeating is free and changes nothing.
cp -r full again
run 0 sweep "$tiny" -o again
grep -q '64 jobs, 64 done' stderr.txt || fail "resume said: $(cat stderr.txt)"
[ "$(ls again/journal | wc -l)" = 1 ] || fail "an empty journal was made"
same_results full again

# Everything but journals and configuration can be rebuilt.
rm -rf again/report again/grades
run 0 report again
same_results full again
run 0 score again
grep -q '^grader .*, 64 of 64 completions: ' stdout.txt || fail "score said: $(cat stdout.txt)"
same_results full again
sed '1s/"verdict":"[a-z]*"/"verdict":"ambiguous"/' again/grades/*.jsonl >older.jsonl
mv older.jsonl again/grades/1.jsonl
reseal again
run 0 score again
grep -q '^grader 1 gave 1 of [0-9]* another verdict$' stdout.txt || fail "score does not say what an older grader said"
grep -q ', sample 0 of .*: ambiguous, now ' stdout.txt || fail "score does not say which completion it was"
rm again/grades/1.jsonl

# A part first, then the rest: the part is not decoded again.
run 0 sweep "$tiny" -o limited --limit 2 --tasks relay --threads 2
[ "$(journal_keys limited | wc -l)" = 16 ] || fail "--limit 2 --tasks relay decoded $(journal_keys limited | wc -l) jobs"
run 0 sweep "$tiny" -o limited --max-batch 3
grep -q '64 jobs, 16 done' stderr.txt || fail "the second half said: $(cat stderr.txt)"
same_results full limited

# Two shards in one folder.
run 0 sweep "$tiny" -o shards --shard 0/2
run 0 sweep "$tiny" -o shards --shard 1/2 --quiet
[ ! -s stderr.txt ] && [ ! -s stdout.txt ] || fail "--quiet said: $(cat stderr.txt stdout.txt)"
same_results full shards
[ "$(journal_keys shards | sort | uniq -d | wc -l)" = 0 ] || fail "shards overlap"

# Single problems, by id and by number.
id=$(sed -n '2s/.*"id":"\([^"]*\)".*/\1/p' full/problems/relay-*.jsonl)
run 0 sweep "$tiny" -o ids --sample-ids "$id" --set 'policies=["full"]'
[ "$(journal_keys ids | wc -l)" = 1 ] || fail "--sample-ids $id decoded $(journal_keys ids | wc -l) jobs"
run 0 sweep "$tiny" -o ids --sample-ids '{"relay": [1], "lookup": [0, 3]}' --set 'policies=["full"]'
[ "$(journal_keys ids | wc -l)" = 3 ] || fail "--sample-ids by number decoded $(journal_keys ids | wc -l) jobs"
fails 2 --sample-ids '"nobody"' -- sweep "$tiny" -o ids --sample-ids nobody

# A changed run file keeps what still counts and says what does not.
run 0 sweep "$tiny" -o ids --set 'policies=["full"]' --set seed=2 --limit 1
mentions stderr.txt '2 cells'

# samples and temperature: more samples later keep the earlier ones.
run 0 sweep "$tiny" -o named --set 'policies=[{"name":"full","as":"dense"}]' --set 'tasks.relay.as=mine' --set temperature=0.8 --set samples=2 --limit 2
run 0 sweep "$tiny" -o named --set 'policies=[{"name":"full","as":"dense"}]' --set 'tasks.relay.as=mine' --set temperature=0.8 --set samples=3 --limit 2
grep -q '12 jobs, 8 done' stderr.txt || fail "more samples: $(cat stderr.txt)"
[ "$(cut -d, -f2,10 named/report/lengths.csv | grep -c .)" = 13 ] || fail "named lengths"
cut -d, -f2,3,7 named/report/lengths.csv | grep -q '^dense/mine,full,relay$' || fail "labels: $(head -n 2 named/report/lengths.csv)"

# show: by folder name, part of it, label; by id and by number.
run 0 show full quest-k_pages2.relay 0
grep -q '^---- completion, sample 0: ' stdout.txt || fail "show: $(cat stdout.txt)"
grep -q '^---- verdict$' stdout.txt || fail "show has no verdict"
run 0 show full "$(sed -n "2s/,.*//p" full/report/accuracy.csv)" 1 --ids
grep -q '^\[[0-9,]*\]$' stdout.txt || fail "show --ids: $(cat stdout.txt)"
run 2 show full quest 0
mentions stderr.txt cells '"quest"'
run 2 show full dms.relay nobody
mentions stderr.txt pocket.dms.relay- '"nobody"' '4 problems'
run 2 show full dms.relay 0 --sample 7
mentions stderr.txt pocket.dms.relay- '1 sample' 'sample 7'
run 0 show named dense/mine 0 --sample 2
grep -q '^---- completion, sample 2: ' stdout.txt || fail "show --sample 2: $(cat stdout.txt)"

# The table on the terminal: what accuracy.csv says, a row for each policy setting, the report's path last.
run 0 report full
[ "$(tail -n 1 stdout.txt)" = "report: full/report/report.md and index.html" ] || fail "report ends with: $(tail -n 1 stdout.txt)"
[ "$(sed -n '/^By task/{n;n;p}' stdout.txt | tr -s ' ')" = "policy relay lookup" ] || fail "the table's head: $(cat stdout.txt)"
for label in full "quest k_pages=2" "quest k_pages=4" "delta k_pages=4 l_pages=2" "delta k_pages=8 l_pages=2" raas kascade dms; do
    want=$(awk -F, -v label="$label" '$2 == label { print $0 }' full/report/accuracy.csv | sed 's/"[^"]*\(""[^"]*\)*"//g' |
        awk -F, '{ printf "%s%.0f [%.0f-%.0f]", (NR > 1 ? " " : ""), 100 * $14, 100 * $15, 100 * $16 } END { print "" }')
    got=$(sed -n '/^By task/,$p' stdout.txt | grep "^$label  " | sed "s/^$label//; s/[^]0-9. [-]//g" | tr -s ' ' | sed 's/^ //; s/ $//')
    [ "$got" = "$want" ] || fail "the table's row $label is '$got', want '$want'"
done

# Against another run: the same cells of a run with other problems' worth of tokens.
run 0 sweep "$tiny" -o other --limit 2 --set max_new_tokens=30 --set 'policies=["full", {"name": "quest", "k_pages": [2, 4]}]'
run 0 report full --against other
[ "$(wc -l <full/report/against.csv)" = 7 ] || fail "against.csv: $(cat full/report/against.csv)"
grep -q '^## Compared with another run$' full/report/report.md || fail "report.md does not compare"
grep -q 'The other run: other. 6 of 16 cells here have a counterpart there' full/report/report.md ||
    fail "report.md: $(grep 'The other run' full/report/report.md)"
grep -q ',generation settings,' full/report/against.csv || fail "against.csv does not say what differs: $(cat full/report/against.csv)"
mentions stdout.txt other: '6 of 16 cells'
run 0 report full
[ ! -e full/report/against.csv ] || fail "a report without --against keeps against.csv"
# A damaged journal: report says what sweep would.
rm -rf damaged
cp -r full damaged
sed -i '2s/"tokens"/"tokenz"/' "$(ls damaged/journal/*.jsonl | head -n 1)"
run 0 report damaged
mentions stderr.txt '1 journal' damaged
fails 2 nowhere: RUN.json -- report full --against nowhere
# Single problems, by what matches nothing.
fails 2 --sample-ids 'no problem' -- sweep "$tiny" -o ids --sample-ids '{}'
fails 2 --sample-ids '"relay"' -- sweep "$tiny" -o ids --sample-ids '{"relay": []}'
fails 2 --sample-ids relay '"x"' 'position 4' '"looup"' -- \
    sweep "$tiny" -o ids --sample-ids '{"relay": ["x", 0], "lookup": [4], "looup": [1]}'
fails 2 --sample-ids '"nobody"' '"noone"' -- sweep "$tiny" -o ids --sample-ids "nobody,$id,noone"
finish
