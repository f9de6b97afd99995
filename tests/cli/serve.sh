#!/bin/bash
# kveval serve, asked by serve_client.py: what is honoured and what is refused, streams, equal bytes, clients that go away,
# answers that nobody reads, and a drain.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not there"
. "$here/servers.sh"
rm -f ./*.log
serve() {
    serve_model "${model:-pocket}" --threads 1 "$@"
}

# --- what cannot be served
fails 2 --policy qest quest -- serve pocket --policy qest
fails 2 --api-key-env -- serve pocket --api-key-env KVEVAL_NO_SUCH_VARIABLE
fails 2 serve MODEL -- serve

serve --policy full,quest:k_pages=2,round=floor --policy h2o:budget_tokens=32 --max-queue 64 --max-batch 8 --drain 600
python3 "$here/serve_client.py" "$port" all || fail "a client was not content"
python3 "$here/serve_client.py" "$port" dying "$server" || fail "a worker that dies loses more than time"
python3 "$here/serve_client.py" "$port" drain "$server" || fail "the drain is not as it should be"
server_ends 0

serve --drain 600
python3 "$here/serve_client.py" "$port" unread || fail "answers that nobody reads are not counted"
python3 "$here/serve_client.py" "$port" cut "$server" || fail "what is open is not answered when the server ends"
server_ends 130

# --- a model of the Hub's cache, with its owner's name and without
commit=0123456789abcdef0123456789abcdef01234567
repo=hf/hub/models--own--Model-1.5B
rm -rf hf
mkdir -p "$repo/refs" "$repo/snapshots/$commit"
printf '%s' "$commit" >"$repo/refs/main"
cp "$source_dir"/engine/pocket/{config.json,tokenizer.json,model.safetensors} "$repo/snapshots/$commit/"
unset HF_HUB_CACHE HUGGINGFACE_HUB_CACHE
HF_HOME=$PWD/hf model=own/Model-1.5B@main serve --policy full,quest:k_pages=2
python3 "$here/serve_client.py" "$port" hub || fail "a model of the Hub has not both names"
kill "$server"
server_ends 0

KEY=opensesame serve --api-key-env KEY
python3 "$here/serve_client.py" "$port" key || fail "keys are not looked at"
kill "$server"
server_ends 0
finish
