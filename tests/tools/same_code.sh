#!/usr/bin/env bash
# Shows that a change of names and comments left the machine code as it was: builds two commits without assertions and
# debug information, so that no line number is in the objects, and compares them (same_code.py).
#   tests/tools/same_code.sh BASE HEAD [--cuda]      --cuda also compiles the .cu files, for capability 9.0
# Exit code 0: the same; 1: an object differs; 2: a commit does not build. FOLDERS (default: all) in the environment limits
# the comparison to objects below these folders, e.g. FOLDERS="engine tasks".
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

[[ $# == 2 || ($# == 3 && $3 == --cuda) ]] || {
    sed -n '2,6s/^# *//p' "${BASH_SOURCE[0]}" >&2
    exit 2
}
cuda=OFF
[[ ${3-} == --cuda ]] && cuda=ON
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
launcher=()
if command -v ccache >/dev/null; then
    export CCACHE_BASEDIR=$scratch CCACHE_NOHASHDIR=1
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
fi
for side in base head; do
    commit=$1
    [[ $side == head ]] && commit=$2
    mkdir "$scratch/$side"
    git archive "$commit" | tar -x -C "$scratch/$side"
    if ! { cmake -S "$scratch/$side" -B "$scratch/$side/build" "${launcher[@]}" -DKVEVAL_CUDA=$cuda \
        -DKVEVAL_CUDA_ARCHS=9.0 -DCMAKE_C_FLAGS_RELEASE="-O3 -DNDEBUG" -DCMAKE_CUDA_FLAGS_RELEASE="-O3 -DNDEBUG -no-compress" &&
        cmake --build "$scratch/$side/build" --parallel "$(nproc)" --target kveval; } >"$scratch/log" 2>&1; then
        tail -n 30 "$scratch/log" >&2
        echo "same_code: $commit does not build" >&2
        exit 2
    fi
done
git diff -M --diff-filter=R --name-status "$1" "$2" >"$scratch/moved"
python3 tests/tools/same_code.py "$scratch/base/build" "$scratch/head/build" "$scratch/moved" ${FOLDERS-}
