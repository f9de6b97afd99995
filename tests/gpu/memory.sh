# A GPU whose memory another process has taken, and models that do not fit any: one sentence with the numbers and the next
# step, exit code 3, no hang; and the same command works once the memory is free.
. "$2/tests/cli/lib.sh"
"$program" list devices | grep -q '^cuda:0 ' || skip "no GPU"
taker=$(dirname "$program")/tests/gpu/take_memory
[ -x "$taker" ] || skip "$taker was not built"
rm -rf out hold
mkfifo hold
whole_program=$program
program() {
    timeout 200 "$whole_program" "$@"
}
program=program

# one_line PATTERN: the only line on standard error, but for what a sweep says of its policies' settings; it must
# say this.
one_line() {
    grep -v '^kveval: policy ' stderr.txt >said.txt
    [ "$(wc -l <said.txt)" = 1 ] || fail "not one line: $(cat stderr.txt)"
    grep -qE -- "$1" said.txt || fail "\"$1\" is missing in: $(cat stderr.txt)"
}

# The least leaves no room to open the GPU, the others none for what comes then.
for leave in 64 700 1500; do
    "$taker" $leave <hold >taken.txt 2>&1 &
    holder=$!
    exec 9>hold
    for _ in $(seq 600); do
        grep -q . taken.txt && break
        sleep 0.1
    done
    [ "$(cat taken.txt)" = taken ] || fail "take_memory $leave said: $(cat taken.txt)"
    run 3 generate --prompt x --device cuda:0
    one_line 'GPU.* memory.*(use a|or a) '
    run 3 sweep "$here/tiny.json" -o out --limit 1 --devices cuda:0
    one_line 'GPU.* memory.*(use a|or a) '
    [ ! -e out ] || fail "a run that could not start left a folder"
    exec 9>&-
    wait $holder 2>/dev/null
done
run 0 generate --prompt x --device cuda:0 --max-new-tokens 4

# Shapes that no GPU has room for: said before anything is loaded.
sed 's/"num_hidden_layers": *[0-9]*/"num_hidden_layers": 400/; s/"intermediate_size": *[0-9]*/"intermediate_size": 131072/' \
    "$source_dir/bench/shapes/llama_8b.json" >big.json
run 3 bench decode --device cuda:0 --random-weights big.json
one_line 'the weights take [0-9.]+ GiB and [0-9.]+ GiB of GPU memory are free: use a smaller model'
finish
