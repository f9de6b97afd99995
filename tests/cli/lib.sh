# Shared by the scripts of this folder: `. "$(dirname "$0")/lib.sh"`. A script is run as NAME.sh PROGRAM SOURCE_DIR in a
# folder of its own. Failures are counted and shown; `finish` ends the script.
set -u
program=$1
source_dir=$2
here=$source_dir/tests/cli
failures=0
trap '[ $? != 0 ] || [ "$failures" = 0 ] || exit 1' EXIT # a script without `finish` would pass whatever fails
unset COLUMNS SLURM_JOB_END_TIME

# small: is this ./kv test, which takes fewer and shorter cases, and not ./kv test --all?
small() {
    [ "${KVEVAL_TEST_SMALL-}" = 1 ]
}

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

finish() {
    if [ "$failures" -gt 0 ]; then
        echo "$failures checks failed" >&2
        exit 1
    fi
    exit 0
}

skip() {
    echo "skipped: $*" >&2
    exit 77
}

# run CODE ARGS...: runs the program, output in stdout.txt and stderr.txt; the exit code must be CODE.
run() {
    local want=$1 got=0
    shift
    "$program" "$@" >stdout.txt 2>stderr.txt </dev/null || got=$?
    [ "$got" = "$want" ] || fail "kveval $* exited $got, want $want: $(head -c 500 stderr.txt)"
}

# refuse CODE MESSAGE ARGS...: the same, and standard error is exactly "kveval: MESSAGE", standard output empty.
refuse() {
    local code=$1 message=$2
    shift 2
    run "$code" "$@"
    [ "$(cat stderr.txt)" = "kveval: $message" ] || fail "kveval $*
  said  $(cat stderr.txt)
  want  kveval: $message"
    [ ! -s stdout.txt ] || fail "kveval $* wrote to standard output"
}

# mentions FILE KEYWORD...: a line of FILE has all these words, as they are: option, file, number, not the sentence around them.
mentions() {
    local file=$1 lines word
    shift
    lines=$(<"$file")
    for word; do
        lines=$(grep -F -e "$word" <<<"$lines") || {
            fail "no line of $file has \"$word\" beside the words before it ($*): $(head -c 500 "$file")"
            return 1
        }
    done
}

# fails CODE KEYWORD... -- ARGS...: the program exits with CODE, writes nothing to standard output, and one line to standard
# error, which begins with "kveval: " and has all the words.
fails() {
    local code=$1 words=()
    shift
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    run "$code" "$@"
    mentions stderr.txt "${words[@]}" || echo "  after kveval $*" >&2
    [[ $(<stderr.txt) == "kveval: "* && $(wc -l <stderr.txt) == 1 ]] || fail "kveval $* said $(<stderr.txt)"
    [ ! -s stdout.txt ] || fail "kveval $* wrote to standard output"
}

# same FILE FILE: equal, byte for byte.
same() {
    cmp -s "$1" "$2" || fail "$1 and $2 differ: $(diff "$1" "$2" | head -n 5 | cut -c 1-300)"
}

# same_results DIR DIR: what must not depend on order, restarts or shards.
same_results() {
    same "$1/report/accuracy.csv" "$2/report/accuracy.csv"
    same "$1/report/lengths.csv" "$2/report/lengths.csv"
    rm -f same1.csv same2.csv
    "$program" export "$1" --format csv -o same1.csv --partial >/dev/null || fail "$1 cannot be exported"
    "$program" export "$2" --format csv -o same2.csv --partial >/dev/null || fail "$2 cannot be exported"
    same same1.csv same2.csv
    rm -f same1.csv same2.csv
}

# Keys of whole journal records, one a line. Each file by itself: a torn last line has no newline.
journal_keys() {
    local f
    for f in "$1"/journal/*.jsonl; do
        [ -f "$f" ] && grep '"crc":"[0-9a-f]\{8\}"}$' "$f" | grep -o '"key":"[0-9a-f]*"'
    done
    true
}

# can_fault: sets $fault, the library of tests/faults/process_fault.c, unless it cannot be preloaded.
can_fault() {
    fault=$(dirname "$program")/kv_fault.so
    [ -e "$fault" ] && KV_FAULT="main count 0" LD_PRELOAD=$fault "$program" --version 2>&1 | grep -q 'calls$'
}

# reseal DIR: makes the checksums of grades and configuration right again after a test has changed them or problem files.
reseal() {
    command -v python3 >/dev/null || skip "python3 computes checksums"
    python3 "$here/reseal.py" "$1"
}

# children PID: the processes that this one started and that are there.
children() {
    cat /proc/[0-9]*/stat 2>/dev/null | awk -v parent="$1" '{ p = $1; sub(/.*\) /, ""); if ($2 == parent) print p }'
}

# worker_of PID I: the process of worker I of this sweep.
worker_of() {
    local p
    for p in $(children "$1"); do
        tr '\0' ' ' <"/proc/$p/cmdline" | grep -q "^kveval worker $2 " && echo "$p"
    done
}

# until_true COMMAND: waits for it, three minutes at most.
until_true() {
    for _ in $(seq 9000); do
        eval "$1" && return
        sleep 0.02
    done
    fail "never: $1: $(cat stderr.txt)"
}
