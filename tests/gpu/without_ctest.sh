#!/usr/bin/env bash
# The tests of kernels and engine on a GPU where CMake is not installed: without_ctest.sh BUILD [TOOL...]
# BUILD: a build folder, or a copy of its tests/kernels and tests/engine. TOOL runs before each program, for example
# "compute-sanitizer --tool racecheck --error-exitcode 9" (with KVEVAL_TEST_SMALL=1). LIMIT: seconds a test, 120.
# ONLY: names, separated by blanks. One line a test; exit code 1 if any failed.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
build=${1:?which build folder?}
shift
status=0

# one NAME PROGRAM FAULT
one() {
    local data=$here/kernels/$1.test log start=$SECONDS rc=0
    [[ -z ${ONLY-} || " $ONLY " == *" $1 "* ]] || return 0
    [[ -e $data ]] || data=
    log=$(mktemp)
    KVEVAL_TEST_BACKEND=cuda KVEVAL_CUDA_FAULT=$3 timeout "${LIMIT:-120}" "${tool[@]}" "$2" ${data:+"$data"} >"$log" 2>&1 || rc=$?
    case $rc in
    0) echo "passed  $1 $3, $((SECONDS - start)) s" ;;
    77) echo "skipped $1 $3" ;;
    *)
        status=1
        echo "FAILED  $1 $3 with $rc, $((SECONDS - start)) s: $(grep -v '^notice:' "$log" | tail -n 3 | tr '\n' ' ')"
        ;;
    esac
    rm -f "$log"
}

tool=("$@")
for name in reference linear topk live bits replay sample attention scores early; do
    one $name "$build/tests/kernels/test_kernels_$name" ""
done
for name in attention scores early; do
    one $name "$build/tests/kernels/test_kernels_$name" few:3
done
for name in requests laws ahead reads hooks measure; do
    one $name "$build/tests/engine/test_engine_$name" ""
done
exit $status
