# The nightly gate of runs/nightly.json against the baseline that is kept beside it: this build passes, and a setting that
# reads a quarter of the pages under the same label does not. When arithmetic changes on purpose, a new baseline is due:
# remove runs/nightly.base.jsonl, and run kveval gate with --rebaseline (docs/nightly.md).
. "$(dirname "$0")/lib.sh"
rm -rf night quest
run 0 gate --run "$source_dir/runs/nightly.json" --base "$source_dir/runs/nightly.base.jsonl" -o night
mentions stdout.txt replays: '18 of 18' same
grep -q '^gate: pass: all 6 settings' stdout.txt || fail "$(cat stdout.txt)"
run 1 gate --run "$source_dir/runs/nightly.json" --base "$source_dir/runs/nightly.base.jsonl" -o quest --set policies.1.k_pages=4
mentions stdout.txt 'replay of quest' 'completion 0' reads
finish
