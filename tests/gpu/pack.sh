#!/usr/bin/env bash
# Packs a build for a machine that has a GPU and neither compiler nor CMake: pack.sh BUILD FILE.tar.xz [NAME...]
# Programs are stripped, and the shared libraries that such a machine may lack go along, in lib. NAMEs: of the tests in
# BUILD/tests/on_gpu.txt only these; without one all of them. There, in a checkout:
#   mkdir b && tar -xf FILE.tar.xz -C b && LD_LIBRARY_PATH=$PWD/b/lib tests/gpu/without_ctest.sh b
set -euo pipefail
build=$(cd "${1:?which build folder?}" && pwd)
file=$(realpath "${2:?which file to write?}")
shift 2
into=$(mktemp -d)
trap 'rm -rf "$into"' EXIT

# pack FILE: to the same place as in the build folder.
pack() {
    mkdir -p "$into/$(dirname "$1")"
    strip --strip-all -o "$into/$1" "$build/$1"
}

pack kveval
for name in kv_fault.so tests/gpu/take_memory; do
    [[ ! -e $build/$name ]] || pack "$name"
done
mkdir -p "$into/tests"
cp "$build/tests/on_gpu.txt" "$into/tests"
while read -r folder name _; do
    if [[ $# == 0 || " $* " == *" $name "* ]]; then
        echo "tests/$folder/test_${folder}_$name"
    fi
done <"$build/tests/on_gpu.txt" | sort -u | while read -r program; do
    pack "$program"
done

# What comes with every distribution is left out: a C library must be the machine's own.
mkdir "$into/lib"
for program in "$into/kveval" "$into"/tests/*/test_*; do
    [[ ! -e $program ]] || ldd "$program"
done | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libcuda|libstdc\+\+|libgcc_s)\.so' | while read -r library; do
    cp -L "$library" "$into/lib"
done
# Every test has the same kernels: a dictionary that reaches from one program to the next makes them take their room once.
tar -C "$into" -c . | xz --lzma2=preset=3,dict=256MiB >"$file"
du -h "$file"
