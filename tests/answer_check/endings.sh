#!/usr/bin/env bash
# Every ending that models write with every kind of answer in it: no false answer may pass (a sample in small mode), and
# the endings with letters of options.
set -euo pipefail
program=$1 here=$2/tests/answer_check/pairs
command -v python3 >/dev/null || {
    echo "python3 is missing, which writes the endings"
    exit 77
}
count=()
[ -z "${KVEVAL_TEST_SMALL:-}" ] || count=(--count 1000)
PYTHONDONTWRITEBYTECODE=1 python3 "$here/pairs.py" --endings "${count[@]}" --grade "$program"
PYTHONDONTWRITEBYTECODE=1 python3 "$here/pairs.py" --choices --grade "$program"
