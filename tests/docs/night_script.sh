# ci/night.sh of docs/nightly.md as somebody copies it into a fresh checkout, with others in place of vllm, curl, kveval and
# sleep: night_script.sh SOURCE_DIR, in a folder of its own.
set -u
source_dir=$1
failures=0
fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}
stub() { # stub FILE: a program from standard input
    mkdir -p "$(dirname "$1")"
    { echo '#!/bin/bash' && cat; } >"$1"
    chmod +x "$1"
}
# night CURL VLLM: makes a checkout where curl and the server do that, and runs the script there; $code is its exit code.
night() {
    rm -rf checkout
    mkdir -p checkout/ci checkout/home
    sed -n '/^```bash$/,/^```$/p' "$source_dir/docs/nightly.md" | sed '1d;$d' >checkout/ci/night.sh
    bash -n checkout/ci/night.sh || fail "the script is not bash"
    stub checkout/other/curl <<<"$1"
    stub checkout/home/vllm/bin/vllm <<<"echo \$\$ >pid; $2"
    stub checkout/build/kveval <<<'echo "$*" >judged; exit 4'
    stub checkout/other/sleep <<<'exit 0'
    code=0
    HOME=$PWD/checkout/home PATH=$PWD/checkout/other:$PATH \
        bash checkout/ci/night.sh out/tonight --set seed=7 >said 2>&1 || code=$?
}
# refused WORD: the last night ended with 3, said WORD, and judged nothing.
refused() {
    [ "$code" = 3 ] || fail "exit code $code, want 3: $(cat said)"
    grep -q "$1" said || fail "it said no \"$1\": $(cat said)"
    [ ! -e checkout/judged ] || fail "judged all the same: $(cat checkout/judged)"
}
free='[ -e asked ] || { touch asked; exit 7; }' # nothing takes connections at the first question
# Until the server has started, or has ended; ten seconds for a script that starts none.
started='for ((i = 0; i < 500; i++)); do [ -s pid ] && break; /bin/sleep 0.02; done'
ended=$started'; for ((; i < 500; i++)); do grep -qs "^State:.[^ZX]" "/proc/$(<pid)/status" || break; /bin/sleep 0.02; done'

# --- a fresh checkout, which has no out/: the gate's exit code, and the server ends with the script
night "$free; $started; exit 0" 'exec /bin/sleep 300'
[ "$code" = 4 ] || fail "exit code $code, want the gate's 4: $(cat said)"
grep -q -e '-o out/tonight --set seed=7$' checkout/judged || fail "kveval got: $(cat checkout/judged)"
[ -e checkout/out/tonight.server.log ] || fail "the server's log is not there"
[ ! -e "/proc/$(cat checkout/pid)" ] || fail "the server is left behind"

# --- another night's server answers: it would be judged as the new build
night 'exit 0' 'exec /bin/sleep 300'
refused 'port 8000'
[ ! -e checkout/pid ] || fail "a server was started on a port that is taken"

# --- something else than a server of HTTP is on the port (curl says 52)
night 'exit 52' 'exec /bin/sleep 300'
refused 'port 8000'

# --- the server ends, and /health answers all the same
night "$free; $started; $ended; exit 0" 'exit 1'
refused 'tonight.server.log'

# --- the server ends before it is ready, and one that is never ready
night "$free; $started; $ended; exit 22" 'exit 1'
refused 'has ended'
night "$free; exit 22" 'exec /bin/sleep 300'
refused 'not ready'

[ "$failures" = 0 ]
