# Every mistake in the input is one clear sentence, exit code 2, before anything is decoded or written.
. "$(dirname "$0")/lib.sh"

run_file() { # run_file NAME JSON
    printf '%s\n' "$2" >"$1.json"
}
model_folder() { # model_folder NAME: a copy of the embedded model as a folder
    rm -rf "$1"
    mkdir "$1"
    cp "$source_dir"/engine/pocket/config.json "$source_dir"/engine/pocket/tokenizer.json \
        "$source_dir"/engine/pocket/model.safetensors "$1"
}
# says NAME PATTERN...: sweep NAME.json must exit 2, say one line with every pattern, and leave no folder. Where `dry` is
# set, a dry run must say the same.
dry=
says() {
    local name=$1
    shift
    rm -rf out
    run 2 sweep "$name.json" -o out
    [ "$(wc -l <stderr.txt)" = 1 ] || fail "$name: not one line: $(cat stderr.txt)"
    for pattern in "$@"; do
        grep -qF -- "$pattern" stderr.txt || fail "$name: \"$pattern\" is missing in: $(cat stderr.txt)"
    done
    [ ! -e out ] || fail "$name: left a folder behind"
    [ -n "$dry" ] || return 0
    cp stderr.txt sweep.txt
    run 2 sweep "$name.json" --dry-run
    same sweep.txt stderr.txt
}
sweep_of() { # sweep_of MODEL
    printf '{"model": "%s", "max_new_tokens": 4, "tasks": [{"name": "pocket.relay", "steps": 3, "problems": 1}], "policies": ["full"]}\n' "$1"
}

run_file missing_model "$(sweep_of nowhere)"
says missing_model nowhere

model_folder m
rm m/model.safetensors
run_file no_weights "$(sweep_of m)"
says no_weights m

model_folder m
truncate -s 100000 m/model.safetensors
run_file truncated "$(sweep_of m)"
says truncated m/model.safetensors

model_folder m
printf 'garbage' >m/model.safetensors
says truncated m/model.safetensors

model_folder m
sed -i 's/"intermediate_size": *768/"intermediate_size": 512/' m/config.json
grep -q '"intermediate_size": 512' m/config.json || fail "the test does not change intermediate_size"
says truncated m/model.safetensors mlp

model_folder m
sed -i 's/"model_type": *"qwen2"/"model_type": "gpt_neox"/' m/config.json
grep -q gpt_neox m/config.json || fail "the test does not change model_type"
says truncated m/config.json model_type gpt_neox

model_folder m
printf '{"model": {"type": "BPE"' >m/tokenizer.json
says truncated m/tokenizer.json

model_folder m
sed -i 's/"type": *"ByteLevel"/"type": "UnicodeScripts"/' m/tokenizer.json
grep -q UnicodeScripts m/tokenizer.json || fail "the test does not change the pre-tokenizer"
says truncated m/tokenizer.json UnicodeScripts

dry=yes # what needs no weights is found by a dry run too
says truncated m/tokenizer.json UnicodeScripts
run_file unknown_key '{"model": "pocket", "tasks": ["pocket.relay"], "policies": ["full"], "temprature": 0}'
says unknown_key 'unknown key "temprature"; did you mean "temperature"?'
run_file k_below_l '{"model": "pocket", "tasks": ["pocket.relay"], "policies": [{"name": "delta", "k_pages": 2, "l_pages": 4}]}'
says k_below_l 'policies.0 (delta)' 'l_pages (4) is above k_pages (2)'
run_file zero_budget '{"model": "pocket", "tasks": ["pocket.relay"], "policies": [{"name": "raas", "budget_tokens": 0}]}'
says zero_budget 'policies.0 (raas)' 'budget_tokens must be'
run_file layers '{"model": "pocket", "tasks": ["pocket.relay"], "policies": [{"name": "delta", "k_pages": 8, "layers": [2, 50]}]}'
says layers 'policies.0 (delta)' 50

# Weights that the model of config.json does not read: a layer too many, and biases that its family does not add.
model_folder m
sed -i 's/"num_hidden_layers": *8/"num_hidden_layers": 7/' m/config.json
says truncated 'the tensor "model.layers.7.input_layernorm.weight" and 11 others' 'a qwen2 model of 7 layers (num_hidden_layers) does not read'
model_folder m
sed -i 's/"model_type": *"qwen2"/"model_type": "llama"/' m/config.json
says truncated 'the tensor "model.layers.0.self_attn.k_proj.bias" and 23 others' 'a llama model of 8 layers'

# Tasks that share problems, which verdicts over all tasks would count twice.
run_file overlap '{"model": "pocket", "tasks": [{"name": "pocket.lookup", "problems": 2}, {"name": "pocket.lookup", "problems": 3, "as": "more"}], "policies": ["full"]}'
says overlap 'tasks "lookup" and "more" both ask problem lookup60-s1-000'
run_file overlap '{"model": "pocket", "tasks": [{"name": "pocket.lookup", "problems": [2, 3]}], "policies": ["full"]}'
says overlap 'tasks "lookup problems=2" and "lookup problems=3" both ask problem lookup60-s1-000'

# A tokenizer of another model.
sed 's/"vocab_size": *512/"vocab_size": 320/; s/"\(eos\|bos\)_token_id": *[0-9]*/"\1_token_id": 1/' "$source_dir/engine/pocket/config.json" >small.json
run_file vocabulary '{"model": "random:small.json", "tasks": [{"name": "pocket.lookup", "problems": 1}], "policies": ["full"]}'
says vocabulary 'lookup, problem lookup60-s1-000: the prompt has the token 449, and config.json of random:small.json has a vocabulary of 320'
dry=
run_file no_gate '{"model": "pocket", "tasks": ["pocket.relay"], "policies": [{"name": "dms", "gate": "none.safetensors"}]}'
says no_gate 'policies.0 (dms)' none.safetensors
dry=yes
run_file chat '{"model": "pocket", "chat": "vicuna", "tasks": ["pocket.relay"], "policies": ["full"]}'
says chat 'unknown chat template "vicuna"'
run_file not_there '{"model": "pocket", "tasks": ["aime24"], "policies": ["full"]}'
says not_there 'tasks.0 (aime24)' '--data'
fails 2 nothing.json -- sweep nothing.json -o out
fails 2 /dev/zero 67108864 -- sweep /dev/zero -o out

# A prompt longer than the context names the problem and the lengths.
awk 'BEGIN { printf "{\"id\": \"huge\", \"gold\": \"1\", \"prompt\": \""; for (i = 0; i < 5000; i++) printf "word "; print "\"}" }' >long.jsonl
run_file long '{"model": "pocket", "tasks": [{"name": "pocket.relay", "file": "long.jsonl"}], "policies": ["full"]}'
says long 'problem huge' 'the prompt has' '4096'
# max_total_tokens is a limit of its own.
echo '{"id": "small", "gold": "1", "prompt": "Apply the rules ."}' >small.jsonl
run_file total '{"model": "pocket", "max_total_tokens": 5, "tasks": [{"name": "pocket.relay", "file": "small.jsonl"}], "policies": ["full"]}'
says total 'problem small' 'max_total_tokens'

dry=
run_file problems '{"model": "pocket", "tasks": [{"name": "pocket.relay", "file": "problems.jsonl"}], "policies": ["full"]}'
rm -f problems.jsonl
says problems problems.jsonl
printf '{"gold": "1", "prompt": "a"}\n{"gold": "1", "prompt": \n' >problems.jsonl
says problems problems.jsonl:2
printf '{"gold": "1"}\n' >problems.jsonl
says problems problems.jsonl:1
mkdir -p folder.jsonl
run_file folder '{"model": "pocket", "tasks": [{"name": "pocket.relay", "file": "folder.jsonl"}], "policies": ["full"]}'
says folder folder.jsonl

# Too few open files are no mistake in the input, wherever it is found: exit code 3, and how to raise the limit.
limited() { # limited N ARGS...
    local n=$1 code=0
    shift
    ASAN_OPTIONS=detect_leaks=0 bash -c 'ulimit -n "$0" && exec "$@"' "$n" "$program" "$@" >stdout.txt 2>stderr.txt </dev/null || code=$?
    [ $code != 127 ] || return # too few to load the program's libraries
    [ $code = 0 ] || { [ $code = 3 ] && grep -q 'too many open files.*ulimit -n' stderr.txt; } ||
        fail "kveval $* with $n files: exit $code, $(<stderr.txt)"
    [ $code = 0 ] || short=$((short + 1))
}
short=0
echo '{"model": "pocket", "max_new_tokens": 4, "tasks": [{"name": "pocket.lookup", "problems": 1, "steps": 8}], "policies": ["full"]}' >few.json
run 0 sweep few.json -o few -q
for n in 4 5 6 7 8; do
    for args in "sweep few.json -o few$n -q" "sweep few.json -o few -q --set samples=2" "report few" "score few" \
        "journal verify few" "export few --format csv -o few$n.csv" "status few" "init few$n.json"; do
        case $n in 5 | 6) ;; *) small && continue ;; esac
        limited $n $args
    done
done
[ $short -ge 2 ] || fail "hardly a command came to its limit of files: this tests nothing"
fails 2 --top-k '0: all' -- generate --top-k -1 --prompt x
rm -rf few*

# Options of the command.
fails 2 '-o DIR' -- sweep total.json
fails 2 --shard I/N N-1 0/4 '"4/4"' -- sweep total.json -o out --shard 4/4
fails 2 --tasks '"lookup"' total.json -- sweep total.json -o out --tasks lookup
fails 2 out: RUN.json -- report out
fails 2 out: RUN.json -- show out a b
fails 2 config.resolved.json RUN.json -- report .
[ ! -e out ] || fail "a refused command left a folder"
finish
