#!/usr/bin/env bash
# A fresh machine: on a minimal Debian 12 ./kv installs what it needs, builds, and decodes the embedded model; then the program
# is installed and used from another folder. ./kv test --bare runs it: bare.sh SOURCE_DIR. Exit code 77: it cannot run here.
set -uo pipefail
source_dir=$1
. "$(dirname "$0")/debian.sh"

copy_checkout() {
    (cd "$source_dir" && git ls-files -z --cached --others --exclude-standard |
        while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
        tar -c --null -T - --owner=0 --group=0) | tar -x -C "$root/kveval"
}

# decodes FOLDER: a sweep's folder has completions under two policies and a report.
decodes() {
    local lines
    lines=$(wc -l <"$root/kveval/$1/report/accuracy.csv") || return
    [[ $lines -ge 3 && -s $root/kveval/$1/report/index.html && -s $root/kveval/$1/report/report.md ]] || {
        echo "$1/report: $lines lines in accuracy.csv"
        return 1
    }
}

make_debian ""
must "copying the checkout" copy_checkout
for tool in cc make cmake pkg-config git python3 curl; do
    must "no $tool is there" lacks "$tool"
done
must "./kv build" inside ./kv build
must "decoding four problems of each task, with a report" \
    inside build/kveval sweep runs/pocket.json -o out/bare --limit 4 --set 'policies=["full", {"name": "quest", "k_pages": 4}]'
must "reading the report's folder" decodes out/bare
must "a second sweep has nothing left to do" \
    inside build/kveval sweep runs/pocket.json -o out/bare --limit 4 --set 'policies=["full", {"name": "quest", "k_pages": 4}]'
for script in help filters no_gpu; do
    must "tests/cli/$script.sh" inside sh -c "mkdir -p /tmp/$script && cd /tmp/$script &&
        bash /kveval/tests/cli/$script.sh /kveval/build/kveval /kveval"
done
must "installing to /opt/kveval" inside cmake --install build --prefix /opt/kveval
# Without the checkout, its build and the packages of its build.
rm -rf "$root/kveval"
mkdir "$root/kveval"
must "generating with the installed program alone" \
    inside /opt/kveval/bin/kveval generate --policy quest:k_pages=4 --prompt "What is 2 + 3?" -n 20
say "a minimal Debian built, decoded, reported and installed"
