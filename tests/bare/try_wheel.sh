#!/usr/bin/env bash
# A wheel in a virtual environment with nothing else: try_wheel.sh PYTHON WHEEL SOURCE_DIR, in an empty folder. SOURCE_DIR is
# for the tests, and holds no program.
set -euo pipefail
"$1" -m venv venv
venv/bin/python -m pip install -q --no-index --disable-pip-version-check "$2"
source_dir=$3
unset PYTHONPATH KVEVAL_PROGRAM KVEVAL_LIBRARY
PATH=$PWD/venv/bin:$PATH
package=$(python -c 'import kveval, os; print(os.path.dirname(kveval.__file__))')
[[ $package == "$PWD"/venv/* ]]
for file in "$package"/bin/kveval "$package"/lib*/libanswer_check.so.1 "$package".libs/*; do
    ! ldd "$file" | grep 'not found' || exit 1
done
kveval --version
code=0
kveval swep 2>/dev/null || code=$?
[[ $code == 2 ]]
kveval sweep "$package/share/kveval/runs/pocket.json" -o demo --limit 1 --quiet
[[ -s demo/report/index.html && $(wc -l <demo/report/accuracy.csv) -gt 20 ]]
kveval sweep "$package/share/kveval/runs/pocket.json" -o stopped --threads 1 --quiet &
child=$!
until [[ -e stopped/status.json ]]; do sleep 0.1; done
kill -TERM $child
wait $child || code=$?
[[ $code == 75 ]]
python "$source_dir/tests/python/test_grading.py" "$source_dir"
python "$source_dir/tests/python/test_sweep.py"
python "$source_dir/tests/python/test_scorers.py" "$source_dir" verl
python "$source_dir/tests/python/million.py"
