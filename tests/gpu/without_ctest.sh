#!/usr/bin/env bash
# The tests of kernels and engine on a GPU where CMake is not installed: without_ctest.sh BUILD [TOOL...]
# BUILD: a build folder, or a copy of its tests/on_gpu.txt, tests/kernels and tests/engine. TOOL runs before each program, for example
# "compute-sanitizer --tool racecheck --error-exitcode 9" (with KVEVAL_TEST_SMALL=1). LIMIT: seconds a test, 120.
# ONLY: names, separated by blanks. One line a test; exit code 1 if any failed.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
build=${1:?which build folder?}
shift
status=0

# one FOLDER NAME FAULT
one() {
    local name=$2 program=$build/tests/$1/test_$1_$2 data=$here/$1/$2.test log start=$SECONDS rc=0
    [[ -z ${ONLY-} || " $ONLY " == *" $name "* ]] || return 0
    [[ -e $data ]] || data=
    log=$(mktemp)
    KVEVAL_TEST_BACKEND=cuda KVEVAL_CUDA_FAULT=$3 timeout "${LIMIT:-120}" "${tool[@]}" "$program" ${data:+"$data"} >"$log" 2>&1 </dev/null || rc=$?
    case $rc in
    0) echo "passed  $name $3, $((SECONDS - start)) s" ;;
    77) echo "skipped $name $3" ;;
    *)
        status=1
        echo "FAILED  $name $3 with $rc, $((SECONDS - start)) s: $(grep -v '^notice:' "$log" | tail -n 3 | tr '\n' ' ')"
        ;;
    esac
    rm -f "$log"
}

tool=("$@")
while read -r folder name fault; do
    one "$folder" "$name" "$fault"
done <"$build/tests/on_gpu.txt"
exit $status
