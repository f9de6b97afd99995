#!/usr/bin/env bash
# ./kv without root and without a package: one command to run, exit code 2, nothing built. Usage errors and arguments that
# would be ignored: exit code 2.
set -u
kv=$1/kv
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

fail() {
    echo "kv.sh: $1" >&2
    bad=1
}

# A system with nothing but the tools that the script itself uses, and a user who is not root.
mkdir "$scratch/bin"
for tool in bash dirname readlink nproc cat mkdir grep awk; do
    ln -s "$(command -v "$tool")" "$scratch/bin/$tool"
done
printf '#!%s\necho 1000\n' "$(command -v bash)" >"$scratch/bin/id"
for tool in dpkg sudo; do
    printf '#!%s\nexit 1\n' "$(command -v bash)" >"$scratch/bin/$tool"
done
printf '#!%s\necho "apt-get must not run" >&2\nexit 1\n' "$(command -v bash)" >"$scratch/bin/apt-get"
chmod +x "$scratch/bin/"*

without_root() {
    (cd / && PATH=$scratch/bin "$kv" "$@" >"$scratch/out" 2>"$scratch/err")
}

for command in "demo" "build" "real" "test" "test --all" "bench" "install"; do
    # shellcheck disable=SC2086
    without_root $command
    code=$?
    [[ $code == 2 ]] || fail "./kv $command: exit code $code, want 2"
    [[ $(wc -l <"$scratch/out") == 1 ]] || fail "./kv $command: not one line on standard output: $(cat "$scratch/out")"
    want="sudo sh -c 'apt-get update && apt-get install -y build-essential cmake pkg-config libjansson-dev"
    want+=" libcurl4-openssl-dev libmicrohttpd-dev libssl-dev zlib1g-dev libpcre2-dev libutf8proc-dev libgmp-dev libmpfr-dev libmpfi-dev'"
    [[ $(cat "$scratch/out") == "$want" ]] || fail "./kv $command printed: $(cat "$scratch/out")"
    grep -q 'must not run' "$scratch/err" && fail "./kv $command called apt-get without root"
done

without_root format
code=$?
[[ $code == 2 ]] || fail "./kv format: exit code $code, want 2"
grep -q "libmpfi-dev clang-format-14'" "$scratch/out" || fail "./kv format printed: $(cat "$scratch/out")"

# Seven minutes of a first demo went into kernels that no GPU of the machine could run.
mkdir -p "$scratch/tools" "$scratch/quick/tests"
cp "$kv" "$scratch/quick/kv"
for tool in bash dirname readlink nproc cat mkdir grep awk rm sed ls id; do
    ln -s "$(command -v "$tool")" "$scratch/tools/$tool"
done
for tool in cc make pkg-config ctest ldd; do
    ln -s "$(type -P true)" "$scratch/tools/$tool"
done
printf '#!%s\necho "$*" >>"%s"\n' "$(command -v bash)" "$scratch/configured" >"$scratch/tools/cmake"
printf '#!%s\n[ -e %s ] && echo "GPU 0: one"\n' "$(command -v bash)" "$scratch/gpu" >"$scratch/tools/nvidia-smi"
chmod +x "$scratch/tools/cmake" "$scratch/tools/nvidia-smi"
# configures COMMAND...: how it calls CMake.
configures() {
    rm -f "$scratch/configured"
    PATH=$scratch/tools "$scratch/quick/kv" "$@" >"$scratch/out" 2>&1
    grep -e '^-S' "$scratch/configured"
}
for command in demo test; do
    configures $command | grep -q 'KVEVAL_CUDA=OFF' || fail "./kv $command compiles kernels without a GPU: $(cat "$scratch/out")"
done
configures build | grep -q 'KVEVAL_CUDA=AUTO' || fail "./kv build does not ask for the kernels: $(cat "$scratch/out")"
touch "$scratch/gpu"
configures demo | grep -q 'KVEVAL_CUDA=OFF' && fail "./kv demo leaves out the kernels beside a GPU"
rm "$scratch/gpu"
mkdir -p "$scratch/quick/build"
echo 'KVEVAL_CUDA:STRING=AUTO' >"$scratch/quick/build/CMakeCache.txt"
ln -s "$(type -P true)" "$scratch/quick/build/kveval"
configures demo | grep -q 'KVEVAL_CUDA=OFF' && fail "./kv demo takes the kernels from a program that has them"

# Arguments that would have no effect.
for command in "demo --limit 2" "build x" "real x" "format x" "wheel x" "test x" "test --all x"; do
    # shellcheck disable=SC2086
    without_root $command
    code=$?
    [[ $code == 2 ]] || fail "./kv $command: exit code $code, want 2"
    [[ ! -s $scratch/out && $(wc -l <"$scratch/err") == 1 ]] || fail "./kv $command said: $(cat "$scratch/out" "$scratch/err")"
    grep -q "takes .*, not \"" "$scratch/err" || fail "./kv $command said: $(cat "$scratch/err")"
done

# What needs the package index is asked for by name: no test that ctest runs installs packages, or is a script of tests/peers or
# of the wheel.
found=$(grep -rnE 'pip3? install|-m pip|peers/|bare/' --include=CMakeLists.txt "$1/CMakeLists.txt" "$1/tests") &&
    fail "./kv test --all would need the package index: $found"

without_root install frobnicate
grep -q "libmpfi-dev frobnicate'" "$scratch/out" || fail "a package named on the command line is not installed"

rm "$scratch/bin/apt-get"
without_root build
code=$?
[[ $code == 2 ]] || fail "without apt-get: exit code $code, want 2"
grep -q 'are needed first: build-essential cmake' "$scratch/err" || fail "without apt-get: $(cat "$scratch/err")"

# With root: the package lists are fetched only after an installation failed, and no question is asked.
printf '#!%s\necho 0\n' "$(command -v bash)" >"$scratch/bin/id"
ln -s "$(command -v env)" "$scratch/bin/env"
cat >"$scratch/bin/apt-get" <<END
#!$(command -v bash)
echo "\$DEBIAN_FRONTEND \$*" >>"$scratch/calls"
[[ \$* == *update* ]] && : >"$scratch/updated"
[[ \$* == *update* || -e "$scratch/updated" ]]
END
chmod +x "$scratch/bin/apt-get"
: >"$scratch/calls"
# The script works in its own checkout: give it one that may be written to.
mkdir "$scratch/checkout"
cp "$kv" "$scratch/checkout/kv"
PATH=$scratch/bin "$scratch/checkout/kv" install 2>"$scratch/err" || fail "install as root: $(cat "$scratch/err")"
sed -E 's/ --no-install-recommends .*//' "$scratch/calls" >"$scratch/got"
printf 'noninteractive -qq %s\n' 'install -y' update 'install -y' >"$scratch/want"
cmp -s "$scratch/got" "$scratch/want" || fail "apt-get was called like this: $(cat "$scratch/calls")"
PATH=$scratch/bin "$scratch/checkout/kv" install 2>/dev/null
[[ $(wc -l <"$scratch/calls") == 4 ]] || fail "lists fetched again: $(cat "$scratch/calls")"

without_root help || fail "help failed"
grep -q '^./kv demo' "$scratch/out" || fail "help does not list demo"
without_root frobnicate
code=$?
[[ $code == 2 ]] || fail "unknown command: exit code $code, want 2"
exit $bad
