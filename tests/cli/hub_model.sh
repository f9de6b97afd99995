# A model by its id, in the layout of the Hub's cache.
. "$(dirname "$0")/lib.sh"
unset HF_HUB_CACHE HUGGINGFACE_HUB_CACHE XDG_CACHE_HOME HF_TOKEN
export HF_HOME=$PWD/hf
rm -rf hf own
repo=hf/hub/models--own--Model-1.5B
commit=0123456789abcdef0123456789abcdef01234567
absent=(own/Model-1.5B "$PWD/hf/hub" "kveval fetch own/Model-1.5B") # what is said when it is in no cache
fails 2 "${absent[@]}" -- generate --prompt x --model own/Model-1.5B
fails 2 "${absent[@]}" -- logprobs --model own/Model-1.5B
fails 2 "${absent[@]}" -- tokenize --model own/Model-1.5B
# A mistyped folder that has not the form of an id; tokenize took it for one without tokenizer.json.
for command in 'generate --prompt x' tokenize; do
    fails 2 ./modls/x '"pocket"' config.json .safetensors OWNER/NAME -- $command --model ./modls/x
done
echo '{"model": "own/Model-1.5B", "tasks": ["pocket.relay"], "policies": ["full"]}' >run.json
fails 2 "${absent[@]}" -- sweep run.json --dry-run
mkdir -p "$repo/refs" "$repo/snapshots/$commit"
printf '%s' "$commit" >"$repo/refs/main"
fails 2 "${absent[@]}" -- generate --prompt x --model own/Model-1.5B
# found: the complaint is now about what the file lacks, and names the snapshot
echo '{}' >"$repo/snapshots/$commit/config.json"
for model in own/Model-1.5B own/Model-1.5B@main own/Model-1.5B@$commit; do
    run 2 generate --prompt x --model "$model"
    grep -q "snapshots/$commit/config.json" stderr.txt || fail "$model: $(cat stderr.txt)"
done
run 2 tokenize --model own/Model-1.5B
mentions stderr.txt "snapshots/$commit" tokenizer.json
run 2 sweep run.json --dry-run
grep -q "snapshots/$commit/config.json" stderr.txt || fail "sweep: $(cat stderr.txt)"
HF_HUB_CACHE=$PWD/hf/hub HF_HOME=/nowhere run 2 generate --prompt x --model own/Model-1.5B
grep -q "snapshots/$commit/config.json" stderr.txt || fail "HF_HUB_CACHE: $(cat stderr.txt)"
run 2 generate --prompt x --model own/Model-1.5B@other
mentions stderr.txt "kveval fetch own/Model-1.5B@other"
# a cache without refs: its only snapshot, which is said; of several one must be named
rm "$repo/refs/main"
run 2 generate --prompt x --model own/Model-1.5B
mentions stderr.txt refs/main "only snapshot $commit"
run 2 generate --prompt x --model "$repo"
mentions stderr.txt refs/main "only snapshot $commit"
other=89abcdef0123456789abcdef0123456789abcdef
mkdir "$repo/snapshots/$other"
fails 2 refs/main "$commit" "$other" own/Model-1.5B@COMMIT -- generate --prompt x --model own/Model-1.5B
fails 2 refs/main "$commit" "$other" snapshots/COMMIT -- generate --prompt x --model "$repo"
# a snapshot whose blob is gone
ln -s ../../blobs/none "$repo/snapshots/$other/config.json"
fails 2 "snapshots/$other" config.json ../../blobs/none 'kveval fetch' -- generate --prompt x --model own/Model-1.5B@$other
rm -r "$repo/snapshots/$other"
printf '%s' "$commit" >"$repo/refs/main"
run 2 generate --prompt x --model "$repo"
grep -q "snapshots/$commit/config.json" stderr.txt || fail "the cache's folder: $(cat stderr.txt)"
# the home folder in a variable that a shell has left alone
HOME=$PWD HF_HOME='~/hf' run 2 generate --prompt x --model own/Model-1.5B
grep -q "$PWD/hf/hub/.*snapshots/$commit/config.json" stderr.txt || fail "~ in HF_HOME: $(cat stderr.txt)"
HOME=$PWD HF_HUB_CACHE='~/hf/hub' run 2 generate --prompt x --model own/Model-1.5B
grep -q "$PWD/hf/hub/.*snapshots/$commit/config.json" stderr.txt || fail "~ in HF_HUB_CACHE: $(cat stderr.txt)"
# what the cache says is no path
printf '../../../../own' >"$repo/refs/main"
fails 2 "${absent[@]}" -- generate --prompt x --model own/Model-1.5B
# a folder wins
mkdir -p own/Model-1.5B
echo '{}' >own/Model-1.5B/config.json
run 2 generate --prompt x --model own/Model-1.5B
grep -q snapshots stderr.txt && fail "a folder must win: $(cat stderr.txt)"
finish
