# Lists that two of a group's three query heads share (Quest's scope pair_max), from end to end: where the first two heads
# are the same and the third is alone, the pairs choose what each of two heads chooses for itself. A head that reads the
# list of another changes what comes after it, and so the reads.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 makes the model"
rm -rf three out ./*.txt
mkdir three
python3 "$source_dir/tests/data/three_heads.py" "$source_dir/engine/pocket" three
cat >run.json <<'END'
{"models": ["pocket", {"model": "three", "as": "three"}], "max_new_tokens": 40,
 "tasks": [{"name": "pocket.lookup", "steps": 40, "problems": 2}],
 "policies": [{"name": "quest", "k_pages": 8, "scope": ["q", "pair_max", "kv_max"]}]}
END
run 0 sweep run.json -o out --threads 2
python3 - <<'END' || fail "pairs of three heads"
import csv, json, sys
found = {(r["model"], json.loads(r["params"])["scope"]): (float(r["kv_density"]), float(r["selected_density"]))
         for r in csv.DictReader(open("out/report/accuracy.csv"))}
def near(a, b):
    return all(abs(x - y) < 5e-5 for x, y in zip(found[a], found[b]))
def more(a, b):
    return found[a][0] > 1.05 * found[b][0]
# The copy changes nothing in scopes that know no pairs; scope q reads more than what the group chooses together.
sys.exit(not (near(("three", "q"), ("pocket", "q")) and near(("three", "kv_max"), ("pocket", "kv_max"))
              and more(("pocket", "q"), ("pocket", "kv_max")) and near(("pocket", "pair_max"), ("pocket", "kv_max"))
              and near(("three", "pair_max"), ("pocket", "q"))) and str(found))
END
finish
