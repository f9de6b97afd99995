#!/bin/bash
# An operation with a missing or unknown column in kernels/op_table.h must not compile. This script copies the
# headers and the files that expand the table's columns, adds an operation and its argument struct to the copy,
# and shows that it compiles with all columns and fails when any of them is missing or unknown.
# Usage: planted_op.sh COMPILER SOURCE_DIR, in an empty folder
set -u
compiler=$1 source=$2
rm -rf kernels && mkdir -p kernels
cp "$source"/kernels/*.[ch] kernels/
mkdir kernels/cpu
cp "$source"/kernels/cpu/cpu_estimate.c "$source"/kernels/cpu/*.h kernels/cpu/
cp kernels/op_table.h table.before
cp kernels/backend_ops.h structs.before

compiles() {
    "$compiler" -std=c17 -D_GNU_SOURCE -fsyntax-only -I. kernels/backend.c kernels/op_check.c \
        kernels/cpu/cpu_estimate.c 2>said
}

# plant LINE: writes the table with this line before its first one, and a struct for the operation's arguments.
plant() {
    sed "0,/^    X(embed,/s//    $1 \\\\\n&/" table.before >kernels/op_table.h
    sed 's/^struct embed_args/struct planted_args { enum dtype type; };\n&/' structs.before >kernels/backend_ops.h
}

failed=0
expect() { # expect compiles|fails LINE
    plant "$2"
    if ! grep -qF "$2" kernels/op_table.h || ! grep -q planted_args kernels/backend_ops.h; then
        echo "could not plant: $2"
        failed=1
    elif compiles; then
        [ "$1" = compiles ] || { echo "compiles, but should not: $2"; failed=1; }
    else
        [ "$1" = fails ] || { echo "does not compile: $2"; cat said; failed=1; }
    fi
}

if ! compiles; then
    echo "the unchanged copy does not compile:"
    cat said
    exit 1
fi
expect compiles "X(planted, nothing, type, OTHER, none, large)"
expect fails "X(planted)"
expect fails "X(planted, nothing, type, OTHER, none)"
expect fails "X(planted, , type, OTHER, none, large)"
expect fails "X(planted, nothing, , OTHER, none, large)"
expect fails "X(planted, nothing, type, , none, large)"
expect fails "X(planted, nothing, type, OTHER, , large)"
expect fails "X(planted, nothing, type, OTHER, none, )"
expect fails "X(planted, nothing, unwritten, OTHER, none, large)"
expect fails "X(planted, nothing, type, UNWRITTEN, none, large)"
expect fails "X(planted, nothing, type, OTHER, unwritten, large)"
expect fails "X(planted, unwritten, type, OTHER, none, large)"
expect fails "X(planted, nothing, type, OTHER, none, unwritten)"
exit $failed
