#!/usr/bin/env bash
# cuda_archs.cmake: what is compiled for which GPUs and which wishes, and what stops the build. An nvcc and an nvidia-smi
# are made up here. Called with the source folder, in an empty folder of its own.
set -euo pipefail
source_dir=$1
cat >nvcc <<'END'
#!/bin/sh
printf 'compute_75\ncompute_80\ncompute_89\ncompute_90\ncompute_100\n'
END
printf '#!/bin/sh\ncat "%s"\n' "$PWD/gpus" >nvidia-smi
chmod +x nvcc nvidia-smi
cat >archs.cmake <<END
cmake_minimum_required(VERSION 3.25)
include($source_dir/cuda_archs.cmake)
refuse_cmake_archs()
cuda_archs("\${KVEVAL_CUDA_ARCHS}" out)
message(STATUS "archs: \${out}")
END

# gives CODE WORDS GPUS OPTIONS...: with these GPUs the script ends with CODE (0 or 1) and says WORDS.
failed=0
gives() {
    local want=$1 words=$2 code=0
    printf '%s\n' $3 >gpus
    shift 3
    cmake -DCMAKE_CUDA_COMPILER="$PWD/nvcc" -DKVEVAL_NVIDIA_SMI="$PWD/nvidia-smi" "$@" -P archs.cmake >said 2>&1 || code=1
    if [ "$code" != "$want" ] || ! tr -s '\n ' ' ' <said | grep -qF -- "$words"; then
        echo "$* with $(tr '\n' ' ' <gpus): code $code, not $want with \"$words\": $(cat said)"
        failed=1
    fi
}

gives 0 'archs: 90' ''
gives 0 'the default, as there is no GPU here' ''
gives 0 'archs: 80-real;90' '9.0 8.0 9.0'
gives 0 'archs: 90-real;100' '10.0 9.0'
gives 0 'for compute capability 8.9 (the GPUs here)' '8.9'
gives 0 'archs: 80-real;89-real;90' '10.0' -DKVEVAL_CUDA_ARCHS='8.0, 8.9 9.0'
# A GPU here that cannot be compiled for is no reason to stop.
gives 0 'archs: 90' '12.1'
gives 0 'the GPU of compute capability 12.1 here, which this nvcc does not know' '12.1'
gives 0 'archs: 89' '12.1 8.9 7.5'
gives 0 'the GPU of compute capability 7.5 here, 8.0 or above is needed' '7.5'
# What was asked for is.
gives 1 'this nvcc does not know compute capability 12.1; leave it out' '9.0' -DKVEVAL_CUDA_ARCHS=12.1
gives 1 '"7.5" is no compute capability of 8.0 or above' '9.0' -DKVEVAL_CUDA_ARCHS=7.5
gives 1 '"sm_90" is no compute capability' '9.0' -DKVEVAL_CUDA_ARCHS=sm_90
gives 1 'CMAKE_CUDA_ARCHITECTURES is not read here' '9.0' -DCMAKE_CUDA_ARCHITECTURES=90
exit $failed
