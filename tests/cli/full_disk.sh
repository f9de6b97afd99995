# A full disk: one clear sentence, nothing finished is lost, and with room the same command goes on. A small tmpfs where
# we may mount one, a file size limit otherwise.
. "$(dirname "$0")/lib.sh"
tiny=short.json
rm -rf disk small limited undisturbed closed asked
mkdir disk
# Short completions: it is their number that fills the disk.
sed 's/"max_new_tokens": [0-9]*/"max_new_tokens": 12/; s/"k_pages": \[4, 8\], "l_pages": \[2, 8\]/"k_pages": 4, "l_pages": 2/' \
    "$here/tiny.json" >short.json
jobs=$("$program" sweep short.json --dry-run 2>/dev/null | awk '$1 == "total" { print $2 }')
[ "$jobs" = 56 ] || fail "short.json has $jobs jobs"

# Without room from the start, which is no mistake in the input. A pipe is not limited, a file is.
message=$(
    ulimit -f 0
    "$program" sweep "$tiny" -o small 2>&1 | grep -v "^kveval: policy [a-z]*: "
    exit "${PIPESTATUS[0]}"
)
code=$?
[ $code = 3 ] || fail "no room at all exited $code: $message"
[ "$(wc -l <<<"$message")" = 1 ] || fail "no room at all said: $message"
grep -q 'small/' <<<"$message" || fail "no room at all does not name the file: $message"

# A limit on the size of files that is reached on the way once ended the program by SIGXFSZ, without a word.
rm -rf limited
message=$(
    ulimit -f 24
    "$program" sweep "$tiny" -o limited 2>&1 | tail -n 1
    exit "${PIPESTATUS[0]}"
)
code=$?
[ $code = 3 ] || fail "a limit on file sizes exited $code: $message"
grep -q 'stopped with .* of 56 jobs saved, repeat the command to go on: cannot write to the journal limited/journal/' <<<"$message" ||
    fail "a limit on file sizes said: $message"

# A network file system that was interrupted by a signal once ended the sweep, as if its command were wrong.
if can_fault; then
    echo '{"model": "pocket", "max_new_tokens": 4, "tasks": [{"name": "pocket.lookup", "steps": 3, "problems": 1}], "policies": ["full"]}' >one.json
    for at in $(seq 2 $((12 - $(small && echo 5 || echo 0)))); do
        rm -rf small
        KV_FAULT="main again $at" LD_PRELOAD=$fault run 0 sweep one.json -o small --threads 1
    done
fi

if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=64k none disk 2>/dev/null; then
    trap 'umount disk' EXIT
    run 3 sweep "$tiny" -o disk/out
    tail -n 1 stderr.txt | grep -q 'stopped with .* of 56 jobs saved, repeat the command to go on: cannot write to the journal disk/out/journal/' ||
        fail "a full disk said: $(cat stderr.txt)"
    before=$(journal_keys disk/out | wc -l)
    mount -o remount,size=16m disk
    run 0 sweep "$tiny" -o disk/out
    grep -q "56 jobs, $before done" stderr.txt || fail "after making room: $(cat stderr.txt), $before records before"
    run 0 sweep "$tiny" -o undisturbed
    same_results undisturbed disk/out
    [ "$(journal_keys disk/out | sort | uniq -d | wc -l)" = 0 ] || fail "finished jobs were decoded twice"

    # A folder that cannot be written to: the page goes elsewhere, and without -o that is said.
    rm -rf page whole
    rm -r disk/out/grades
    mount -o remount,ro disk
    fails 3 disk/out -o -- report disk/out
    run 0 report disk/out -o page
    mentions stderr.txt warning: disk/out/grades
    same undisturbed/report/accuracy.csv page/accuracy.csv
    run 0 journal verify disk/out
    run 3 journal compact disk/out
else
    echo "no tmpfs could be mounted: only the file size limit was tried" >&2
fi

# No open file is left for libcurl, which says only that it could not connect.
if can_fault; then
    echo '{"model": {"endpoint": "http://127.0.0.1:1/v1", "name": "m", "tokenizer": "pocket"}, "max_new_tokens": 4, "tasks": [{"name": "pocket.lookup", "problems": 1}], "policies": ["full"]}' >asked.json
    export KV_FAULT="main nosocket 24" LD_PRELOAD=$fault HF_ENDPOINT=http://127.0.0.1:1
    fails 3 'too many open files' 'ulimit -n' -- fetch math500 --data small --retries 0
    fails 3 'too many open files' 'ulimit -n' -- sweep asked.json -o asked
    unset KV_FAULT LD_PRELOAD HF_ENDPOINT
fi

# A folder that may not be entered is not one without files. Root may enter every folder.
as=()
[ "$(id -u)" != 0 ] || as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
mkdir -p closed/inside
chmod 000 closed
if "${as[@]}" "$program" --version >/dev/null 2>&1; then
    for command in "report closed -o page" "status closed" "export closed --format csv -o all.csv" "score closed" "journal verify closed" \
        "gate closed closed" "report closed/inside -o page" "generate --model closed --prompt a" "sweep closed/run.json -o page"; do
        code=0
        # shellcheck disable=SC2086
        "${as[@]}" "$program" $command >stdout.txt 2>stderr.txt </dev/null || code=$?
        [[ $code == [23] ]] && mentions stderr.txt closed && grep -qi 'permission' stderr.txt || fail "kveval $command exited $code: $(<stderr.txt)"
    done
else
    echo "no other user can start the program: a closed folder was not tried" >&2
fi
chmod 700 closed
finish
