#!/bin/bash
# Hostile clients against kveval serve (serve_hostile.py): it lives, honest answers keep their bits, memory is bounded, and
# places become free.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not there"
[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 4096 ] || skip "a process may open $(ulimit -Hn) files"
rm -f ./*.log
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1 # what was freed is not to count
KEY=opensesame "$program" serve pocket --port 0 --api-key-env KEY --threads 1 --max-queue 256 2>server.log &
server=$!
trap 'kill -9 "$server" 2>/dev/null' EXIT
port=
for ((i = 0; i < 1200; i++)); do
    port=$(sed -n 's|.*http://127.0.0.1:\([0-9]*\)/v1 is ready.*|\1|p' server.log 2>/dev/null)
    [ -n "$port" ] && break
    sleep 0.05
done
[ -n "$port" ] || fail "the server did not start: $(cat server.log)"
is_small=0
small && is_small=1
python3 "$here/serve_hostile.py" "$port" "$server" $is_small || fail "the server did not withstand"
kill "$server"
got=0
wait "$server" || got=$?
[ "$got" = 0 ] || fail "the server exited $got: $(tail -c 500 server.log)"
finish
