# What doctor says of GPUs that are not the one the kernels were written for. KVEVAL_CUDA_FAULT=card:N (kernels/fault.h)
# makes one of the GPU that is there, emulated or not.
. "$(dirname "$0")/../cli/lib.sh"
run 0 list devices
grep -q '^cuda:0 ' stdout.txt || skip "no GPU"
grep -qE '^cuda:0 .* (9\.[0-9]) ' stdout.txt || skip "this GPU is no Hopper"

# says CARD SENTENCE
says() {
    KVEVAL_CUDA_FAULT=$1 run 0 doctor
    grep -qE "^       $2\$" stdout.txt || fail "doctor under \"$1\": $(cat stdout.txt)"
    [ "$(grep -c 'compute capability' stdout.txt)" = 1 ] || fail "one sentence for all GPUs alike: $(cat stdout.txt)"
}
says '' 'compute capability 9\.[0-9]: all kernels, as in the speed figures of docs/results.md'
others='not tuned; speed figures in docs/results.md are of 9\.0'
says nowgmma:1 "compute capability 9\.[0-9]: Hopper's kernels without wgmma, $others"
for card in 8.0 8.9; do
    says "card:${card/./}" "compute capability $card: plain kernels, $others"
    KVEVAL_CUDA_FAULT=card:${card/./} run 0 list devices
    grep -qE "^cuda:0 .* $card " stdout.txt || fail "list devices: $(cat stdout.txt)"
done
finish
