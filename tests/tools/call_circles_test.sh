#!/usr/bin/env bash
# call_circles.py on a small tree: it names the circles that are planted there, with the files that make them, takes calls for what
# they are, and holds the table to the sources. Called as call_circles_test.sh SOURCE_DIR in a folder of its own.
set -eu
tool=$1/tests/tools/call_circles.py
command -v python3 >/dev/null || exit 77
failed=0

# The tree that has no circle: a grammar calls a tokenizer, and both call what lies below them.
plant() {
    mkdir -p engine/part
    printf '%s\n' "$2" >>"engine/part/$1"
}
begin() {
    rm -rf engine table
    touch table
    plant grammar.c 'int read_sum(int n) { return read_token(n) + below(n); }'
    plant token.c 'int read_token(int n) { return below(n); }'
    plant below.c 'int below(int n) { return n + 1; }'
}

# gives CODE WORDS WHAT: the check's exit code, and words of what it prints ("" for nothing printed).
gives() {
    local code=0
    python3 "$tool" . --table table >said 2>&1 || code=$?
    if [[ $code == "$1" ]]; then
        [[ -z $2 && ! -s said ]] && return
        [[ -n $2 ]] && grep -qF -- "$2" said && return
    fi
    echo "$3: exit code $code for $1, or not \"$2\":"
    cat said
    failed=1
}

begin
gives 0 "" "no circle"

plant below.c 'int is_letter(int n) { return read_token(n) > 0; }'
plant token.c 'int is_word(int n) { return is_letter(n); }'
gives 1 "circle of 2 files: engine/part/below.c engine/part/token.c" "a helper in the wrong file"
gives 1 "engine/part/below.c calls read_token of engine/part/token.c" "the call that makes it"
echo 'circle engine/part: token.c below.c | to be untied' >table
gives 0 "" "a circle with its row"
echo 'recursion engine/part: token.c below.c | natural' >table
gives 1 "circle of 2 files" "a row of the other kind"
echo 'circle engine/part: token.c grammar.c | to be untied' >table
gives 1 "circle of 2 files" "a row of other files"
echo 'circle engine/part: * | to be untied' >table
gives 0 "" "a row with a pattern"
echo 'circle engine/part: token.c below.c' >table
gives 1 "no row of a table" "a row without its reason"

begin
echo 'circle engine/part: token.c below.c | to be untied' >table
gives 1 "in the table, but not in the sources: circle engine/part: token.c below.c" "a row that is no longer needed"

begin
plant grammar.c 'int read_group(int n) { return n ? read_atom(n - 1) : 0; }'
plant token.c 'int read_atom(int n) { return read_group(n); }'
gives 1 "recursion of 2 files: engine/part/grammar.c engine/part/token.c" "a recursion"
echo 'recursion engine/part: grammar.c token.c | recursive descent' >table
gives 0 "" "a recursion with its row"
plant token.c 'int other(int n) { return read_sum(n); }'
gives 0 "" "helpers among the files of a recursion"
plant below.c 'int skip(int n) { return read_token(n); }'
gives 1 "circle of 3 files: engine/part/below.c engine/part/grammar.c engine/part/token.c" "a file that hangs on a recursion"

begin
plant part.h 'static inline int peek(int n) { return read_token(n); }'
plant below.c 'int is_blank(int n) { return peek(n); }'
gives 1 "engine/part/below.c calls read_token of engine/part/token.c" "a call in a header's inline function"

begin
plant below.c '#define TOKEN(n) \'
plant below.c '    read_token(n)'
plant below.c 'int is_digit(int n) { return TOKEN(n); }'
gives 1 "engine/part/below.c calls read_token of engine/part/token.c" "a call in a macro"

begin
plant below.c 'int is_empty(struct read_token *t) { return read_token(t->n); }'
gives 1 "engine/part/below.c calls read_token of engine/part/token.c" "a call of a function that is called like a struct"

begin
plant below.cu 'template <int N> static __device__ int rows(int n) { return n; }'
plant below.cu 'extern "C" { __global__ void __launch_bounds__(32) sum(int n) { read<4>(rows<2>(n)); } }'
plant above.cu 'template <int N> __device__ int read(int n) { return N; }'
plant above.cu 'void launch(int n) { sum<<<1, 32>>>(n); }'
gives 1 "engine/part/above.cu calls sum of engine/part/below.cu" "kernels and templates"

begin
plant below.c '/* read_token(1) */ static const char *text = "read_token(1) {";'
plant below.c 'struct table { int (*read)(int); } const table = {read_token};'
plant below.c 'static int member(struct table *t, int n) { return t->read_token(n) + t.read_token(n); }'
plant below.c 'static int passed(int (*read_token)(int), int n) { return read_token(n); }'
plant below.c 'static int read_sum(int n) { return n; } static int own(int n) { return read_sum(n); }'
gives 0 "" "comments, texts, members, parameters, names, and a static function of the same name"

if python3 "$tool" >said 2>&1 || [[ $? != 2 ]]; then
    echo "no arguments are not refused"
    failed=1
fi
exit $failed
