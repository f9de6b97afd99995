#!/usr/bin/env bash
# No false pair may pass, and 98 % must be right: three fixed seeds of generated pairs and a new one, which is printed
# (tests/answer_check/pairs/pairs.py --seed N repeats it).
set -euo pipefail
program=$1 here=$2/tests/answer_check/pairs
command -v python3 >/dev/null || {
    echo "python3 is missing, which generates the pairs"
    exit 77
}
for seed in 1 2 3 "$(date +%s)"; do
    PYTHONDONTWRITEBYTECODE=1 python3 "$here/pairs.py" --seed "$seed" --count 5000 --grade "$program"
done
