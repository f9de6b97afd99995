# Servers of tests: kveval's own, and endpoint_server.py. Source it behind lib.sh; requests go to loopback past any proxy. Both
# end with the script.
unset http_proxy HTTP_PROXY all_proxy ALL_PROXY
server=
stop_server() {
    [ -n "$server" ] && kill -9 "$server" 2>/dev/null && wait "$server" 2>/dev/null
    server=
}
trap stop_server EXIT

serve_model() { # serve_model MODEL ARGS...: starts kveval serve; $port is its port
    : >server.log # not the port of the server before
    "$program" serve "$1" --port 0 "${@:2}" 2>server.log &
    server=$!
    port=
    for ((i = 0; i < 1200; i++)); do
        port=$(sed -n 's|.*http://127.0.0.1:\([0-9]*\)/v1 is ready.*|\1|p' server.log 2>/dev/null)
        [ -n "$port" ] && return
        kill -0 "$server" 2>/dev/null || break
        sleep 0.05
    done
    fail "the server did not start: $(cat server.log)"
    finish
}
server_ends() { # server_ends CODE: the server ends by itself with this exit code
    local got=0
    wait "$server" || got=$?
    server=
    [ "$got" = "$1" ] || fail "the server exited $got, want $1: $(tail -c 500 server.log)"
}

serve_endpoint() { # serve_endpoint OPTION=VALUE...: starts endpoint_server.py; $at is its address
    stop_server
    rm -f port
    python3 "$here/endpoint_server.py" port life=100 "program=$program" "$@" 2>server.log &
    server=$!
    for ((i = 0; i < 200; i++)); do
        [ -f port ] && break
        sleep 0.05
    done
    at=http://127.0.0.1:$(cat port)/v1
}
