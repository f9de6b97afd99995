#!/bin/bash
# Hostile clients against kveval serve (serve_hostile.py): it lives, honest answers keep their bits, memory is bounded, and
# places become free.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not there"
[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 4096 ] || skip "a process may open $(ulimit -Hn) files"
. "$here/servers.sh"
rm -f ./*.log
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1 # what was freed is not to count
KEY=opensesame serve_model pocket --api-key-env KEY --threads 1 --max-queue 256
is_small=0
small && is_small=1
python3 "$here/serve_hostile.py" "$port" "$server" $is_small || fail "the server did not withstand"
kill "$server"
server_ends 0
finish
