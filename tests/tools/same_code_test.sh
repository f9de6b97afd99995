#!/usr/bin/env bash
# same_code.py on builds of one small file: another name of a static function or another message is no change of the code; another
# constant, another call or a file that is new or gone is. Called as same_code_test.sh COMPILER SOURCE_DIR in a folder of its own.
set -eu
cc=$1
tool=$2/tests/tools/same_code.py
command -v python3 >/dev/null || exit 77
rm -rf base head moved
failed=0

# build SIDE FILE <SOURCE: an object where CMake puts that of FILE.
build() {
    local object=$1/part/CMakeFiles/part.dir/$2.o
    mkdir -p "$(dirname "$object")"
    "$cc" -x c -O2 -DNDEBUG -fno-asynchronous-unwind-tables -c -o "$object" -
}

source_text() {
    cat <<'END'
#include <stdio.h>
extern int outside(int);
static int weights[4] = {3, 1, 4, 1};
static __attribute__((noinline)) int find(int n)
{
    return n * 17 + weights[n & 3];
}
static __attribute__((noinline)) int add(int n)
{
    return n + 5;
}
int first(int n)
{
    weights[n & 3]++;
    puts("not found");
    return outside(add(find(n)));
}
END
}

# gives CODE WORDS WHAT: the comparison's exit code, and words that it prints.
gives() {
    local code=0
    python3 "$tool" base head moved part >said || code=$?
    if [ "$code" != "$1" ] || ! grep -qF -- "$2" said; then
        echo "$3: exit code $code, not $1 with \"$2\": $(cat said)" >&2
        failed=1
    fi
}

: >moved
source_text | build base a.c
source_text | build head a.c
gives 0 '1 objects have the same code and data, 0 have not' 'the same source'
source_text | sed 's/\<find\>/find_weight/; s/\<find(n)/find_weight(n)/; s/weights/cell_weights/g' | build head a.c
gives 0 '1 objects have the same' 'renamed static functions and data'
source_text | sed 's/not found/no such cell/' | build head a.c
gives 0 '1 of the same have other texts' 'another message'
source_text | sed 's/17/19/' | build head a.c
gives 1 'part/a.c: .text' 'another constant'
source_text | sed 's/{3, 1/{2, 1/' | build head a.c
gives 1 'part/a.c: .data' 'other data'
source_text | sed 's/add(find(n))/find(add(n))/' | build head a.c
gives 1 'part/a.c: ' 'calls in another order'
source_text | sed 's/outside(add/first(add/' | build head a.c
gives 1 'part/a.c: ' 'a call of another function'

# A moved file is compared with what it was; one without a counterpart is named.
rm -r head
source_text | build head b.c
gives 1 'part/a.c: has no counterpart' 'a file that is gone'
printf 'R100\tpart/a.c\tpart/b.c\n' >moved
gives 0 '1 objects have the same' 'a moved file'
source_text | build head c.c
gives 1 'part/c.c: is new' 'a file that is new'
exit $failed
