#!/usr/bin/env bash
# tests/layers.cmake must fail when a rule of rooms.cmake is broken: each violation is planted in a copy of the sources,
# and the check has to name it. Called with the source folder, in an empty folder of its own.
set -euo pipefail
source_dir=$1
tree=$PWD/tree

rm -rf "$tree"
mkdir -p "$tree"
(cd "$source_dir" && find kernels evalcore engine answer_check tasks tests \
    \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cc' \) -print0 |
    xargs -0 cp --parents -t "$tree")
cp "$source_dir/rooms.cmake" "$tree"

check() {
    cmake -DROOT="$tree" -P "$source_dir/tests/layers.cmake" >said 2>&1
}

# planted FILE LINE SENTENCE: LINE is added to FILE; the check fails, says SENTENCE, and passes again without LINE.
planted() {
    local file=$tree/$1 line=$2 sentence=$3
    cp "$file" kept 2>/dev/null || : >kept
    printf '%s\n' "$line" >>"$file"
    if check; then
        echo "not noticed: $1: $line"
        exit 1
    fi
    if ! grep -qF "$sentence" said; then
        echo "$1: $line: not said: $sentence"
        cat said
        exit 1
    fi
    mv kept "$file"
    [[ -s $file ]] || rm "$file"
}

check || {
    cat said
    echo "the unchanged sources break the rules already"
    exit 1
}

planted evalcore/report/report.c '#include "engine/memory/kvcache.h"' \
    'evalcore/report/report.c may not include "engine/memory/kvcache.h": evalcore/report may not enter engine/memory'
planted evalcore/commands/cmd_list.c '#include "engine/engine_impl.h"' 'it is no door of engine'
planted evalcore/commands/cmd_show.c '#include "evalcore/store/run_records.h"' 'it is no door of evalcore/store'
planted evalcore/plan/runplan.c '#include "evalcore/sweep/sweep_workers.h"' 'evalcore/plan may not enter evalcore/sweep'
planted engine/model/model.c '#include "engine/engine.h"' 'engine/model may not enter engine'
planted answer_check/math/math_node.c '#include "answer_check/answer_check.h"' \
    'answer_check/math may not enter answer_check'
planted tasks/task.c '#include "answer_check/math/math_tree.h"' 'tasks may not enter answer_check/math'
planted kernels/backend.c '#include "evalcore/base/err.h"' 'kernels may not enter evalcore/base'
planted engine/engine.c '#include "tests/check.h"' 'rooms.cmake has no room tests'
planted engine/engine.c '#include "engine.h"' 'it is not written from the root of the checkout'
planted engine/engine.c 'static char *p = strcpy(a, b);' 'strcpy(...) is banned'
planted engine/engine.c 'static char *p = getenv("HOME");' 'getenv(...) is banned'
planted engine/text/engine.c '/* a second file of that name */' 'another file is called engine.c too'
mkdir "$tree/engine/attic"
planted engine/attic/old.c '/* a folder that the table does not know */' 'rooms.cmake has no room engine/attic'

# The table itself: a row that enters a later row would be a circle; one that lets evalcore in by a window is refused.
row() {
    sed -i "$1" "$tree/rooms.cmake"
    planted "$2" "$3" "$4"
    cp "$source_dir/rooms.cmake" "$tree"
}
row 's#^  "engine/text  *| [^|]*|#& engine#' engine/text/bpe.c '/* */' 'engine/text may enter engine, which stands in a later row'
row 's#^  "tasks  *| [^|]*|#& attic#' tasks/task.c '/* */' 'tasks may enter attic, which is no room'
row 's#^  "evalcore/store .*|#& engine/memory#' evalcore/store/run.c '#include "engine/memory/kvcache.h"' \
    'evalcore enters engine by its front doors only'
