#!/usr/bin/env bash
# The wheel where nothing of its build is: on a minimal Debian 12 with Python alone. ./kv test --wheel runs it:
# wheel.sh SOURCE_DIR WHEEL. Exit code 77: it cannot run here.
set -uo pipefail
source_dir=$1 wheel=$2
. "$(dirname "$0")/debian.sh"

copy_tests() {
    tar -C "$source_dir" -c tests/bare tests/python tests/answer_check python/examples | tar -x -C "$root/kveval" &&
        cp "$wheel" "$root/kveval/"
}

make_debian python3-venv
must "copying the tests and the wheel" copy_tests
for tool in cc cmake curl kveval; do
    must "no $tool is there" lacks "$tool"
done
must "trying $(basename "$wheel")" \
    inside sh -c 'mkdir /tmp/try && cd /tmp/try && bash /kveval/tests/bare/try_wheel.sh python3 /kveval/*.whl /kveval'
say "a minimal Debian installed the wheel, decoded and graded"
