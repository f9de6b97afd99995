# Jobs that ended in an error stay so, unless --retry-errors decodes them again; what succeeds takes their place.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 writes the records of failed jobs"
rm -rf good bad tiny.json
cat >tiny.json <<'END'
{"model": "pocket", "max_new_tokens": 12, "tasks": [{"name": "pocket.lookup", "steps": 8, "problems": 6}],
 "policies": ["full", {"name": "quest", "k_pages": 2}]}
END
run 0 sweep tiny.json -o good
cp -r good bad
rm -r bad/grades bad/report

# Two of the twelve records become errors, with the checksum that such a record has.
python3 - bad/journal/*.jsonl <<'END' || fail "the records were not written"
import json, sys

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff

for path in sys.argv[1:]:
    lines = open(path, encoding="utf-8").read().splitlines()
    for i in (2, 7):
        o = json.loads(lines[i])
        o.pop("crc")
        ids, text = o.pop("ids"), o.pop("text")
        tail = {k: o.pop(k) for k in ("curve",) if k in o}
        o.update(finish="error", error="the device was lost", tokens=0)
        parts = [json.dumps(o, separators=(",", ":"))[:-1] + ',"ids":[],"text":""']
        parts += [json.dumps({k: v}, separators=(",", ":"))[1:-1] for k, v in tail.items()]
        body = ",".join(parts).encode()
        lines[i] = body.decode() + ',"crc":"%08x"}' % crc32c(body)
    open(path, "w", encoding="utf-8").write("".join(line + "\n" for line in lines))
END
failed='kveval: 2 jobs failed; they count as error in the tables, kveval show says why, and --retry-errors decodes them again'
run 5 sweep tiny.json -o bad
grep -q '12 jobs, 12 done' stderr.txt || fail "failed jobs were decoded again unasked: $(cat stderr.txt)"
[ "$(tail -n 1 stderr.txt)" = "$failed" ] || fail "failed jobs: $(cat stderr.txt)"
run 5 status bad
run 0 sweep tiny.json -o bad --retry-errors
grep -q '12 jobs, 10 done' stderr.txt || fail "with --retry-errors: $(cat stderr.txt)"
run 0 sweep tiny.json -o bad
grep -q '12 jobs, 12 done' stderr.txt || fail "after it: $(cat stderr.txt)"
! grep -q 'twice with different tokens' stderr.txt || fail "an error counts as other tokens: $(cat stderr.txt)"
same_results good bad
finish
