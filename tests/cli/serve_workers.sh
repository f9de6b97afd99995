#!/bin/bash
# Workers of kveval serve that die or find other tokens: a request that kills whoever gets it is the only one that fails, and
# a restarted worker answers nothing before it has decoded the server's own request to the tokens of before.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not there"
can_fault || skip "kv_fault.so is not beside the program, or cannot be preloaded"
. "$here/servers.sh"
rm -rf ./*.log ./*.mark
says() {
    grep -qE -- "$1" server.log || fail "\"$1\" is missing in: $(cat server.log)"
}

# --- the ids of a prompt are in the message that hands it to a worker
poison=64,65,66,67,68,69,70
for devices in cpu:0-1 cpu; do
    KV_FAULT="worker poison $poison" LD_PRELOAD=$fault \
        serve_model pocket --policy full,quest:k_pages=2 --devices $devices --threads 1 --max-batch 8
    python3 "$here/serve_client.py" "$port" poisoned $poison || fail "$devices: others do not get their answers beside a request that kills workers"
    says 'the request ended [2-9] workers, the last one alone: '
    [ $devices = cpu ] && { python3 "$here/serve_client.py" "$port" repeated $poison || fail "a request that kills workers, asked again and again, ends the server: $(tail -n 3 server.log)"; }
    kill "$server"
    server_ends 0
done

# --- lives that begin while the mark is there tell a wrong token in their first completion
for devices in cpu:0-1 cpu; do
    KV_FAULT='worker lie 1' KV_FAULT_WHEN=$PWD/when.mark LD_PRELOAD=$fault \
        serve_model pocket --policy full,quest:k_pages=2 --devices $devices --threads 1 --max-batch 8
    python3 "$here/serve_client.py" "$port" distrusted "$server" when.mark server.log || fail "$devices: a restarted worker that finds other tokens answers"
    says 'to other tokens than (before|cpu:[01] did): do not trust this device'
    [ $devices = cpu ] && says 'what it answered before its restart may be wrong' # of two, the other may have answered
    kill "$server"
    server_ends 0
done
KV_FAULT='worker lie 1' KV_FAULT_WHEN=$PWD/when.mark LD_PRELOAD=$fault serve_model pocket --devices cpu:0-1 --threads 1
python3 "$here/serve_client.py" "$port" doubted "$server" when.mark server.log || fail "a worker that answered nothing is doubted, or one twice"
kill "$server"
server_ends 0

# --- two devices that differ from the start: neither is believed, and the server ends
touch when.mark
KV_FAULT='worker lie 1' KV_FAULT_ONCE=$PWD/one.mark LD_PRELOAD=$fault timeout 300 \
    "$program" serve pocket --port 0 --devices cpu:0-1 --threads 1 2>server.log &
server=$!
server_ends 3
says 'cpu:[01] decodes a request to other tokens than another device'
rm -f ./*.mark
finish
