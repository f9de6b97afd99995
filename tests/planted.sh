#!/usr/bin/env bash
# tests/layers.cmake must fail when a rule of rooms.cmake is broken: violations are planted in a copy of the sources, and
# the check has to name each of them and nothing else. Called with the source folder, in an empty folder of its own.
set -euo pipefail
source_dir=$1
tree=$PWD/tree
rm -rf "$tree"
mkdir -p "$tree"
(cd "$source_dir" && find kernels evalcore engine answer_check code_check tasks tests \
    \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cc' \) -print0 |
    xargs -0 cp --parents -t "$tree")
cp "$source_dir/rooms.cmake" "$tree"

# plant FILE LINE REASON: adds LINE to FILE, which is made when it is not there. A line of the check's output will have to
# begin with FILE, name what LINE includes, and hold REASON.
sentences=()
plant() {
    mkdir -p "$(dirname "$tree/$1")"
    printf '%s\n' "$2" >>"$tree/$1"
    case $2 in
    '#include '*) sentences+=("$1 may not include ${2#'#include '}: $3") ;;
    *) sentences+=("$1: $3") ;;
    esac
}

# row SED REASON: changes a row of the table.
row() {
    sed -i "$1" "$tree/rooms.cmake"
    sentences+=("$2")
}

plant evalcore/report/report.c '#include "engine/memory/kvcache.h"' 'evalcore/report may not enter engine/memory'
plant evalcore/commands/cmd_list.c '#include "engine/engine_impl.h"' 'it is no door of engine'
plant evalcore/commands/cmd_show.c '#include "evalcore/store/run_parts.h"' 'it is no door of evalcore/store'
plant evalcore/plan/runplan.c '#include "evalcore/sweep/sweep.h"' 'evalcore/plan may not enter evalcore/sweep'
plant engine/model/model.c '#include "engine/engine.h"' 'engine/model may not enter engine'
plant answer_check/tree/math_node.c '#include "answer_check/answer_check.h"' 'answer_check/tree may not enter answer_check'
plant tasks/task.c '#include "answer_check/tree/math_tree.h"' 'tasks may not enter answer_check/tree'
plant kernels/backend.c '#include "evalcore/base/err.h"' 'kernels may not enter evalcore/base'
plant engine/engine.c '#include "tests/check.h"' 'rooms.cmake has no room tests'
plant evalcore/report/report.c '#include <engine/memory/kvcache.h>' 'our own headers stand in quotation marks'
plant engine/engine.c '#include "engine.h"' 'it is not written from the root of the checkout'
plant engine/engine.c 'static char *p = strcpy(a, b);' 'strcpy(...) is banned'
plant engine/engine.c 'static char *p = getenv("HOME");' 'getenv(...) is banned'
plant engine/model/model.c 'static int f = open("f", O_RDWR | O_CREAT, 0666);' 'opening a file to write to is banned'
plant tasks/task.c 'static FILE *f = fopen(name, "wb");' 'opening a file to write to is banned'
plant engine/text/engine.c '/* a second file of that name */' 'another file is called engine.c too'
plant engine/attic/old.c '/* a folder that the table does not know */' 'rooms.cmake has no room engine/attic'

# The table itself: a row that enters a later row would be a circle; one that lets evalcore enter a room of the engine that is
# no front door is refused.
row 's#^  "engine/text  *| [^|]*|#& engine#' 'engine/text may enter engine, which stands in a later row'
row 's#^  "tasks  *| [^|]*|#& attic#' 'tasks may enter attic, which is no room'
plant evalcore/store/run.c '#include "engine/memory/kvcache.h"' 'evalcore enters engine by its front doors only'
sed -i 's#^  "evalcore/store .*|#& engine/memory#' "$tree/rooms.cmake"

if cmake -DROOT="$tree" -P "$source_dir/tests/layers.cmake" >said 2>&1; then
    echo "not noticed: ${sentences[*]}"
    exit 1
fi
for sentence in "${sentences[@]}"; do
    if ! grep -qF -- "$sentence" said; then
        echo "not said: $sentence"
        cat said
        exit 1
    fi
done
lines=$(grep -cE ': .* is banned|may not include |may enter |another file is called |has no room engine/attic' said)
if [[ $lines != "${#sentences[@]}" ]]; then
    echo "$lines complaints of ${#sentences[@]}:"
    cat said
    exit 1
fi
