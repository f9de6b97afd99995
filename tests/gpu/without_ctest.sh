#!/usr/bin/env bash
# The tests of `ctest -L gpu` where CMake is not installed: without_ctest.sh BUILD [TOOL...]
# BUILD: a build folder, or what pack.sh made of one. TOOL, in the PATH or absolute, runs before each program, for example
# "compute-sanitizer --tool racecheck --error-exitcode 9" (with KVEVAL_TEST_SMALL=1), and leaves the scripts (memory, older,
# faults, several) out. LIMIT: seconds a test, 120, scripts four times as long. ONLY: names, separated by blanks. One line a
# test; exit code 1 if any failed.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?which build folder?}" && pwd) || exit 2
[[ -x $build/kveval ]] || { echo "$build/kveval is missing" >&2; exit 2; }
shift
status=0

# told NAME LIMIT COMMAND...: its line. It runs in a folder of its own.
told() {
    local name=$1 limit=$2 folder log start=$SECONDS rc=0
    shift 2
    folder=$(mktemp -d) || exit 2
    log=$folder/log
    (cd "$folder" && exec timeout "$limit" "$@") >"$log" 2>&1 </dev/null || rc=$?
    case $rc in
    0) echo "passed  $name, $((SECONDS - start)) s" ;;
    77) echo "skipped $name: $(grep -v '^notice:' "$log" | tail -n 1)" ;;
    *)
        status=1
        echo "FAILED  $name with $rc, $((SECONDS - start)) s: $(grep -v '^notice:' "$log" | tail -n 3 | tr '\n' ' ')"
        ;;
    esac
    rm -rf "$folder"
}

wanted() {
    [[ -z ${ONLY-} || " $ONLY " == *" $1 "* ]]
}

# one FOLDER NAME FAULT
one() {
    local program=$build/tests/$1/test_$1_$2 data=$here/$1/$2.test
    wanted "$2" || return 0
    [[ -e $data ]] || data=
    told "$2${3:+ $3}" "${LIMIT:-120}" env KVEVAL_TEST_BACKEND=cuda KVEVAL_CUDA_FAULT="$3" "${tool[@]}" "$program" ${data:+"$data"}
}

# script NAME FILE
script() {
    [[ ${#tool[@]} == 0 ]] && wanted "$1" || return 0
    told "$1" $((4 * ${LIMIT:-120})) env KVEVAL_TEST_DEVICE=cuda:0 bash "$2" "$build/kveval" "$(dirname "$here")"
}

tool=("$@")
while read -r folder name fault; do
    one "$folder" "$name" "$fault"
done <"$build/tests/on_gpu.txt"
script memory "$here/gpu/memory.sh"
script older "$here/gpu/older.sh"
script faults "$here/cli/faults.sh"
script several "$here/gpu/several.sh"
exit $status
