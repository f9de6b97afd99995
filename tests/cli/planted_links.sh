# Only our own files, never through a link. Under each name that a command writes stands, in turn, a symbolic link to
# somebody's file, a second name of it (a hard link), a link that leads nowhere, a FIFO and a folder. The command must
# end at once, outside of its folder nothing may change and nothing may appear, and it either did its work or names the
# file. Names come from what the commands have written before, so a new file is tried without a change here.
. "$(dirname "$0")/lib.sh"
rm -rf done fresh new outside base night cache* m hashed folder given* ./*.json ./*.jsonl ./*.csv
kinds="symlink hard dangling fifo folder"
planted=0
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY

cat >run.json <<'END2'
{"model": "pocket", "max_new_tokens": 4, "tasks": [{"name": "pocket.lookup", "problems": 1, "steps": 8}],
 "policies": ["full", {"name": "quest", "k_pages": 4}]}
END2

# plant KIND PATH...: `outside` begins anew, and each PATH leads there.
plant() {
    local kind=$1 path
    shift
    rm -rf outside
    mkdir outside
    echo precious >outside/file
    for path; do
        lay "$kind" "$path"
    done
}
lay() {
    local outside=$PWD/outside
    rm -rf "$2"
    mkdir -p "$(dirname "$2")"
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
    # Four names at once, which are replaced; a folder stops it at the first.
    calibrate=(calibrate delta run.json -o given.json --k-pages 4 --l-pages 2)
    for kind in $kinds; do
        for ending in json csv svg curve.svg; do
            if [ $kind != folder ]; then
                plant $kind given.{json,csv,svg,curve.svg}
                tried $kind given.json "${calibrate[@]}"
                rm -rf given.{json,csv,svg,curve.svg}
                break
            fi
            plant folder given.$ending
            tried folder given.$ending "${calibrate[@]}"
            rm -rf given.$ending
        done
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

# The cache of weight hashes, which only saves time: the model is decoded whatever stands there, of which the link is replaced.
if ! small; then
    mkdir m
    cp "$source_dir"/engine/pocket/{config.json,tokenizer.json,model.safetensors} m
    touch -d '1 hour ago' m/model.safetensors
    sleep 3 # what was changed a moment ago is not cached
    sed 's/"model": "pocket"/"model": "m"/' run.json >m.json
    export XDG_CACHE_HOME=$PWD/cache
    run 0 sweep m.json -o hashed -q
    hash=$(cd cache && find . -name 'weights-*.sha256')
    [ -n "$hash" ] || fail "no hash was kept"
    for name in "$hash" "$hash.$host.1.0123456789abcdef.tmp"; do
        named "cache/$name" sweep m.json -o hashed -q
    done
    for kind in symlink dangling fifo; do # the folder of the cache itself
        rm -rf cache
        plant $kind cache
        tried $kind cache sweep m.json -o hashed -q
        rm -rf cache
    done
    unset XDG_CACHE_HOME
    # Gates of KVzap's form, zeros, for the model's eight layers.
    python3 - <<'END' && named given.gates convert gates kvzap.safetensors --model m --threshold -4 -o given.gates
import json, struct
tensors = [("layers.%d.%s" % (layer, name), shape) for layer in range(8) for name, shape in (("weight", [2, 256]), ("bias", [2]))]
header, at = {}, 0
for name, shape in tensors:
    n = 4 * shape[0] * (shape + [1])[1]
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + n]}
    at += n
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open("kvzap.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + bytes(at))
END
fi

# A FIFO as an input that nobody writes to is refused with its name; what a shell makes of <(...) is read.
rm -f pipe && mkfifo pipe
inputs=("sweep pipe -o new -q" "grade pipe" "gate --run run.json --base pipe -o night -q")
if ! small; then
    inputs+=("init pipe" "choice pipe" "textscore pipe" "logprobs pipe" "probe recall pipe -o given.csv"
        "calibrate delta pipe -o given.json --k-pages 4 --l-pages 2" "gate --run pipe --base base.jsonl -o night -q"
        "sweep run.json -o new -q --set tasks.0={\"name\":\"pocket.lookup\",\"file\":\"pipe\"}")
fi
for input in "${inputs[@]}"; do
    code=0
    # shellcheck disable=SC2086
    timeout -s KILL 60 "$program" $input >stdout.txt 2>stderr.txt </dev/null || code=$?
    [[ $code == [23] ]] && grep -q pipe stderr.txt || [[ $input == init* && $code == 0 ]] ||
        fail "kveval $input, a FIFO, exited $code: $(<stderr.txt)"
done
rm pipe
for name in config.json tokenizer.json generation_config.json tokenizer_config.json chat_template.jinja model.safetensors; do
    small && [ $name != config.json ] && continue
    rm -rf folder && mkdir folder
    cp "$source_dir"/engine/pocket/{config.json,tokenizer.json,model.safetensors} folder
    rm -f folder/$name && mkfifo folder/$name
    code=0
    timeout -s KILL 60 "$program" generate --model folder --prompt a -n 1 >stdout.txt 2>stderr.txt </dev/null || code=$?
    [[ $code == [23] ]] && grep -q "$name" stderr.txt || fail "$name of a model is a FIFO: exit code $code: $(<stderr.txt)"
done
rm -rf new
run 0 sweep <(cat run.json) -o new -q
"$program" grade <(echo '{"gold": "1", "pred": "\\boxed{1}"}') >out.txt && grep -q '"correct"' out.txt || fail "grade of a pipe: $(<out.txt)"

# What a command line names on purpose: the program's own output, nothing, a FIFO that somebody reads.
"$program" compare done full quest --md >plain.txt || fail "compare exited $?"
"$program" compare done full quest --md --force -o /dev/stdout >out.txt 2>stderr.txt || fail "-o /dev/stdout into a file: $(<stderr.txt)"
same plain.txt out.txt
"$program" compare done full quest --md --force -o /dev/stdout 2>stderr.txt | cat >out.txt
same plain.txt out.txt
run 0 compare done full quest --md --force -o /dev/null
[ -c /dev/null ] && [ -L /dev/stdout ] || fail "a device was replaced"
rm -f pipe && mkfifo pipe
exec 8<>pipe # somebody reads it: a reader in the background may open it too late
run 0 compare done full quest --md --force -o pipe
exec 9<pipe 8>&-
timeout 60 cat <&9 >out.txt
exec 9<&-
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
