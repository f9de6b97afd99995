# A GPU is asked for where there is none, the driver is too old, or the program has no CUDA backend: one sentence with the
# next step, the same from every command, in one process and with workers, and nothing is written.
. "$(dirname "$0")/lib.sh"
export CUDA_VISIBLE_DEVICES= # no GPU, also where there is one
export KVEVAL_CUDA_FAULT=
rm -rf out

# refuses CODE SENTENCE: what commands say to --device cuda:0.
refuses() {
    refuse "$1" "$2" generate --prompt x --device cuda:0
    refuse "$1" "$2" logprobs --device cuda:0
    run "$1" bench limits --device cuda:0
    grep -qF -- "${2#*; it has }" stderr.txt || grep -qF -- "${2##*: }" stderr.txt || fail "bench: $(cat stderr.txt)"
    run "$1" sweep "$here/tiny.json" -o out --devices cuda:0 # its worker finds that, after the plan is made
    [ "$(tail -n 1 stderr.txt)" = "kveval: cuda:0: ${2#cuda:0: }" ] || fail "sweep: $(cat stderr.txt)"
    run "$1" sweep "$here/tiny.json" -o out --devices cuda:0-1
    grep -qF -- "${2#cuda:0: }" stderr.txt || fail "with workers: $(cat stderr.txt)"
    [ ! -e out ] || fail "a run that could not start left a folder"
    run 0 list devices
    [ "$(grep -c cuda stdout.txt)" = 1 ] && grep -q '^cuda: ' stdout.txt ||
        fail "list devices is not one honest line: $(cat stdout.txt)"
    run 0 generate --prompt x --max-new-tokens 2 # the CPU does not mind
}

run 0 list devices
if grep -q '^cuda: not built in' stdout.txt; then
    refuses 2 'this program was built without a backend "cuda"; it has cpu: build it where a CUDA 13 toolkit is installed'
    finish
fi
refuses 3 'cuda:0: no NVIDIA GPU is visible here; check nvidia-smi and CUDA_VISIBLE_DEVICES'
KVEVAL_CUDA_FAULT=open:35
run 0 list devices
needs=$(sed -n 's/.*it supports CUDA 12.0, this program needs \([0-9]*\.[0-9]*\);.*/\1/p' stdout.txt)
[ -n "$needs" ] || fail "an old driver: $(cat stdout.txt)"
refuses 3 "cuda:0: the NVIDIA driver is too old: it supports CUDA 12.0, this program needs $needs; update the driver"
KVEVAL_CUDA_FAULT=open:999
refuses 3 'cuda:0: the GPUs cannot be counted: unknown error (cudaErrorUnknown); see nvidia-smi'
finish
