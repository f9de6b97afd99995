# Only our own files, never through a link. Under each name that a command writes stands, in turn, a symbolic link to
# somebody's file, a second name of it (a hard link), a link that leads nowhere, a FIFO and a folder. The command must
# end at once, outside of its folder nothing may change and nothing may appear, and it either did its work or names the
# file. Names come from what the commands have written before, so a new file is tried without a change here.
. "$(dirname "$0")/lib.sh"
rm -rf done fresh new outside base night cache* ./*.json ./*.jsonl ./*.csv
kinds="symlink hard dangling fifo folder"
planted=0
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY

cat >run.json <<'END2'
{"model": "pocket", "max_new_tokens": 4, "tasks": [{"name": "lookup", "problems": 1, "steps": 8}],
 "policies": ["full", {"name": "quest", "k_pages": 4}]}
END2

# plant KIND PATH: `outside` begins anew, and PATH leads there.
plant() {
    rm -rf outside "$2"
    mkdir -p outside "$(dirname "$2")"
    echo precious >outside/file
    outside=$PWD/outside
    case $1 in
        symlink) ln -s "$outside/file" "$2" ;;
        hard) ln outside/file "$2" ;;
        dangling) ln -s "$outside/new" "$2" ;;
        fifo) mkfifo "$2" ;;
        folder) mkdir "$2" && echo kept >"$2/inside" ;;
        linked) ln -s "$outside" "$2" ;;
    esac
}
# tried KIND PATH ARGS...: the command behind the plant.
tried() {
    local kind=$1 path=$2 code=0
    shift 2
    timeout -s KILL 60 "$program" "$@" >stdout.txt 2>stderr.txt </dev/null || code=$?
    planted=$((planted + 1))
    [ "$(ls -A outside)" = file ] && [ "$(cat outside/file)" = precious ] ||
        fail "$kind as $path: kveval $* changed what is outside: $(ls -A outside) $(head -c 200 outside/file)"
    [ $kind != folder ] || [ ! -d "$path" ] || [ "$(cat "$path/inside")" = kept ] || fail "$path: $* emptied a folder"
    case $code in
        0 | 4) ;; # 4: a gate that cannot tell
        2 | 3) grep -qF -e "$(basename "$path")" -e "\"$(basename "$(dirname "$path")")\"" stderr.txt || fail "$kind as $path: kveval $* does not name it: $(<stderr.txt)" ;;
        *) fail "$kind as $path: kveval $* exited $code: $(head -c 300 stderr.txt)" ;;
    esac
}

run 0 sweep run.json -o done -q --metrics figures.prom
run 0 report done --transcripts
(cd done && find . -type f | sed 's|^\./||' | sort) >names.txt
mkdir done/report/gone && rmdir done/report/gone
host=$(uname -n)
printf '%s\n' lock.0-of-2 status.0-of-2.json "status.json.$host.1.tmp" "report/report.md.$host.$$.tmp" \
    "journal/$host.1.0.0.jsonl.$host.1.0123456789abcdef.tmp" "lock.all.$host.1.0.held" >>names.txt
[ "$(wc -l <names.txt)" -ge 25 ] || fail "a sweep writes few names: $(<names.txt)"

# A finished folder: everything is written again but the records.
again() { # again NAME COMMAND...
    local name=$1 kind
    shift
    for kind in $kinds; do
        rm -rf new
        cp -r done new
        plant $kind "new/$name"
        tried $kind "new/$name" "$@"
    done
}
# A folder that holds nothing but the plant.
afresh() {
    local name=$1 kind
    shift
    for kind in $kinds; do
        rm -rf new
        mkdir new
        plant $kind "new/$name"
        tried $kind "new/$name" "$@"
    done
}
# A path that the command line gives.
named() {
    local path=$1 kind
    shift
    for kind in $kinds; do
        plant $kind "$path"
        tried $kind "$path" "$@"
        rm -rf "$path"
    done
}

if small; then
    again report/report.md report new
    again lock sweep run.json -o new -q
else
    while read -r name; do
        again "$name" sweep run.json -o new -q
        case $name in
            report/*) again "$name" report new --transcripts ;;
            grades/*) again "$name" score new ;;
            journal/*) again "$name" journal compact new ;;
        esac
        case $name in
            report/transcripts/* | report/*.svg) ;;
            *) afresh "$name" sweep run.json -o new -q ;;
        esac
    done <names.txt
    for name in lock lock.0-of-2 lock.1-of-2 status.1-of-2.json; do afresh $name sweep run.json -o new -q --shard 1/2; done
fi

# Folders of a run folder that lie elsewhere.
folders="journal problems grades report"
small && folders="journal report"
for name in $folders; do
    for from in empty done; do
        rm -rf new empty
        mkdir empty
        cp -r $from new
        plant linked new/$name
        tried linked new/$name sweep run.json -o new -q
        grep -q "new/$name is a link\|it holds \"$name\"" stderr.txt || fail "$name may be a link: $(<stderr.txt)"
        small && break
    done
done

# What a person names.
named given.json init given.json
small || named given.md compare done full quest -o given.md --force
named given.csv export done --format csv -o given.csv --force
if ! small; then
    named given.prom sweep run.json -o done -q --metrics given.prom
    named given.csv bench tokenizer --csv given.csv
    named given.csv probe recall run.json -o given.csv
    for ending in json csv svg curve.svg; do
        named given.$ending calibrate delta run.json -o given.json --k-pages 4 --l-pages 2
    done
    run 0 gate --run run.json --rebaseline --samples 1 --base base.jsonl -o base -q
    run 4 gate --run run.json --base base.jsonl -o night -q --history nights.jsonl
    named nights.jsonl gate --run run.json --base base.jsonl -o night -q --history nights.jsonl
    named base.jsonl gate --run run.json --rebaseline --samples 1 --base base.jsonl -o base -q
    run 0 gate --run run.json --rebaseline --samples 1 --base base.jsonl -o base -q
    for name in $(cd night/gate && ls); do
        named night/gate/$name gate --run run.json --base base.jsonl -o night -q
    done
fi

# What a command line names on purpose: the program's own output, nothing, a FIFO that somebody reads.
"$program" compare done full quest --md >plain.txt || fail "compare exited $?"
"$program" compare done full quest --md --force -o /dev/stdout >out.txt 2>stderr.txt || fail "-o /dev/stdout into a file: $(<stderr.txt)"
same plain.txt out.txt
"$program" compare done full quest --md --force -o /dev/stdout 2>stderr.txt | cat >out.txt
same plain.txt out.txt
run 0 compare done full quest --md --force -o /dev/null
[ -c /dev/null ] && [ -L /dev/stdout ] || fail "a device was replaced"
rm -f pipe && mkfifo pipe
timeout 60 cat pipe >out.txt &
run 0 compare done full quest --md --force -o pipe
wait $!
same plain.txt out.txt
[ -p pipe ] || fail "a FIFO was replaced"

# A file called lock that is somebody's, or that a fault has damaged, keeps its text and locks as any other.
for name in lock lock.0-of-2; do
    rm -rf new && mkdir new
    echo important >new/$name
    case $name in lock) shard= ;; *) shard="--shard 0/2" ;; esac
    run 0 sweep run.json -o new -q $shard
    [ "$(cat new/$name)" = important ] || fail "a foreign $name was emptied"
done

small || [ $planted -ge 300 ] || fail "only $planted plants"
echo "$planted planted"
finish
