# Folders as people have them: what lies in the place of a model's files is named, with the way out.
. "$(dirname "$0")/lib.sh"
rm -rf good bad
mkdir good
cp "$source_dir"/tests/engine/hf/llama/config.json "$source_dir"/tests/engine/hf/llama/model.safetensors good
awk '/"id": 4/ { sub(/[0-9]+/, $2 - 192) } /": 255,$/ { sub(/,$/, ""); print $0 "}, \"merges\": []}}"; exit } 1' \
    "$source_dir/engine/pocket/tokenizer.json" >good/tokenizer.json
echo '{"eos_token_id": 1}' >good/generation_config.json
echo '{"tokenizer_class": "PreTrainedTokenizerFast"}' >good/tokenizer_config.json
echo '{% for m in messages %}{{ m.content }}{% endfor %}' >good/chat_template.jinja
echo '{"model": "bad", "max_new_tokens": 4, "tasks": [{"name": "pocket.lookup", "steps": 4, "problems": 1}], "policies": ["full"]}' >run.json
fresh() {
    rm -rf bad
    cp -r good bad
}
# refused WORD..: a dry run of the folder bad, and one sentence with these words
refused() {
    fails 2 "$@" -- sweep run.json --dry-run --calibrate no
    [ "$(grep -c . stderr.txt)" = 1 ] || fail "$1: not one sentence: $(cat stderr.txt)"
}
fresh
run 0 sweep run.json --dry-run --calibrate no

# the kinds of what a download or a clone leaves, in the place of each file
pointer() { printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 449000\n' 0; }
page() { printf '\n<!DOCTYPE html>\n<html lang="en"><head><title>Log in</title></head></html>\n'; }
upper_page() { printf '\xef\xbb\xbf<HTML><BODY>503</BODY></HTML>'; }
message() { printf '{"error": "Repository not found", "status": 404}'; }
xml() { printf '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'; }
plain() { printf 'Entry not found'; }
nothing() { :; }
zeros() { head -c 8192 /dev/zero; }
for name in model.safetensors config.json tokenizer.json generation_config.json tokenizer_config.json chat_template.jinja; do
    for kind in pointer page message nothing $(small || echo upper_page xml plain zeros); do
        [ "$name:$kind" != generation_config.json:nothing ] && [ "$name:$kind" != tokenizer_config.json:nothing ] || continue
        fresh; $kind >"bad/$name"
        case $kind in
        pointer) refused "$name" git-lfs 'git lfs pull' 'kveval fetch' ;;
        page | upper_page) refused "$name" 'web page' 'kveval fetch' ;;
        message | xml | plain) refused "$name" 'message of a server' 'kveval fetch' ;;
        nothing) refused "$name" empty 'kveval fetch' ;;
        zeros) refused "$name" zeros 'kveval fetch' ;;
        esac
    done
done
# the same of shards and of their index
for kind in pointer page message nothing; do
    fresh; rm bad/model.safetensors; $kind >bad/model.safetensors.index.json
    run 2 sweep run.json --dry-run
    grep -q 'model.safetensors.index.json' stderr.txt || fail "index $kind: $(cat stderr.txt)"
done
fresh; rm bad/model.safetensors; pointer >bad/model-00001-of-00001.safetensors
echo '{"weight_map": {"model.norm.weight": "model-00001-of-00001.safetensors"}}' >bad/model.safetensors.index.json
refused model-00001-of-00001.safetensors 'git lfs pull'

# other forms in the place of the weights
for magic in 'PK\x03\x04 ZIP' 'GGUF GGUF' '\x80\x02 pickle' '\x1f\x8b gzip'; do
    fresh; printf "${magic% *}"'%08192d' 0 >bad/model.safetensors
    refused model.safetensors "${magic#* }"
done

# without model.safetensors: what is there instead
fresh; rm bad/model.safetensors
refused 'neither model.safetensors' 'kveval fetch'
instead() { # FILE.. -- WORD..
    fresh; rm bad/model.safetensors
    while [ "$1" != -- ]; do
        cp good/model.safetensors "bad/$1"
        shift
    done
    shift
    refused "$@"
}
instead model-0000{1,2}-of-00002.safetensors -- model-00001-of-00002.safetensors model-00002-of-00002.safetensors index \
    'kveval fetch'
instead pytorch_model.bin -- pytorch_model.bin 'not read' 'kveval fetch'
instead pytorch_model-0000{1,2,3,4,5}-of-00005.bin -- pytorch_model-00001-of-00005.bin '2 more' 'kveval fetch'
instead consolidated.00.pth -- consolidated.00.pth 'not read'
instead model-Q4_K_M.gguf -- model-Q4_K_M.gguf 'not read'
instead weights.safetensors -- weights.safetensors 'name it model.safetensors'
for part in incomplete part crdownload aria2; do
    instead model.safetensors.$part -- model.safetensors.$part 'not finished' 'kveval fetch'
done
instead abc123.incomplete -- abc123.incomplete 'not finished'
instead adapter_model.safetensors adapter_config.json -- adapter merge
fresh; rm bad/model.safetensors; echo '{"base_model_name_or_path": "own/Base"}' >bad/adapter_config.json
refused adapter own/Base merge

# links that lead nowhere, as a cleared cache leaves them, for each file that is read
for name in model.safetensors config.json tokenizer.json generation_config.json tokenizer_config.json chat_template.jinja; do
    fresh; rm "bad/$name"; ln -s ../../blobs/0123 "bad/$name"
    refused "$name" ../../blobs/0123 'kveval fetch'
    fresh; rm "bad/$name"; echo x >"bad/$name.incomplete"
    refused "$name.incomplete" 'not finished'
done
fresh; rm bad/model.safetensors
echo '{"weight_map": {"a": "model-00001-of-00002.safetensors"}}' >bad/model.safetensors.index.json
refused model-00001-of-00002.safetensors missing 'kveval fetch'
ln -s ../../blobs/4567 bad/model-00001-of-00002.safetensors
refused model-00001-of-00002.safetensors ../../blobs/4567
# files that are missing altogether
fresh; rm bad/config.json
refused bad/config.json 'kveval fetch'
fresh; rm bad/tokenizer.json
refused tokenizer.json 'kveval fetch' save_pretrained
# a file in the place of the folder
fails 2 good/model.safetensors 'is a file' folder -- generate --prompt x --model good/model.safetensors
finish
