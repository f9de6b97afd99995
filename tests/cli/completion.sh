# Completion scripts and the man page, which come from the tables of commands and options. bash is always asked what it
# would offer; zsh, fish, man and mandoc where they are installed.
. "$(dirname "$0")/lib.sh"

rm -rf zone offers.txt
mkdir -p zone/runs zone/models
touch zone/run.json zone/notes.txt zone/runs/a.json
for kind in bash zsh fish man; do
    run 0 completion $kind
    cp stdout.txt kveval.$kind
done
fails 2 bash zsh fish man '"ksh"' -- completion ksh
fails 2 completion: -- completion

# Every visible command and option is in all four; nothing hidden is.
run 0 help
commands=$(sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' stdout.txt | grep -v kveval)
for command in $commands; do
    run 0 help "$command"
    for option in $(sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/\2/p' stdout.txt); do
        grep -q -- "--$option" kveval.bash || fail "bash does not know $command --$option"
        grep -q -- "--$option" kveval.zsh || fail "zsh does not know $command --$option"
        grep -q "is $command' .*-l $option " kveval.fish || fail "fish does not know $command --$option"
        grep -qF -- "\\-\\-$(printf '%s' "$option" | sed 's/-/\\-/g')\\fR" kveval.man || fail "the man page lacks $command --$option"
    done
    grep -q "^\.SS $command\$" kveval.man || fail "the man page lacks $command"
done
grep -E "worker:|worker\)|is worker|SS worker" kveval.bash kveval.zsh kveval.fish kveval.man && fail "the hidden command worker is offered"

# offer WANT WORDS...: what bash offers for the last of the words, in one line, sorted.
offer() {
    local want=$1 got
    shift
    got=$(cd zone && bash --norc --noprofile -c '
        source ../kveval.bash
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        [[ $(complete -p kveval) == "complete -F _kveval kveval" ]] || echo "not registered"
        _kveval kveval "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort | tr '\n' ' ')
    [ "$got" = "$want " ] || fail "completion of \"$*\" offers \"$got\", want \"$want \""
}
offer 'score serve show status sweep' kveval s
offer '--help --version' kveval --
offer 'init' kveval help in
offer '--data --devices --display --drain --dry-run' kveval sweep run.json --d
offer 'models run.json runs' kveval sweep ''
offer 'runs/a.json' kveval sweep runs/
offer '--wait --worker-timeout' kveval sweep run.json --w
offer 'models runs' kveval sweep run.json -o ''
offer 'models' kveval sweep run.json --model m
offer 'models pocket runs' kveval generate --model ''
offer 'models pocket runs' kveval generate --model = ''
offer 'pocket' kveval generate --model = p
offer 'quest' kveval generate --policy q
offer 'math500' kveval sweep run.json -t ma
offer 'aime24,math500' kveval sweep run.json -t aime24,ma
offer 'aime24 aime25 aime26' kveval fetch math500 aime2
offer 'bf16' kveval logprobs --kv-dtype b
offer 'off on' kveval generate --thinking o
offer 'cpu' kveval doctor pocket --device cp
offer 'qwen2.5 qwen3' kveval generate --chat qw
offer 'devices families policies tasks' kveval list ''
offer 'bash' kveval completion b
offer 'notes.txt' kveval grade n
offer '' kveval sweep run.json --limit ''
offer '' kveval worker ''

if command -v zsh >/dev/null; then
    zsh -n kveval.zsh || fail "zsh cannot read its completion"
    # A zsh on a terminal of its own types the line and a tab; compadd's answers go to a file.
    cat >offer.zsh <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
take() { local out; while zpty -r -t shell out; do :; done }
zpty -w shell "autoload -U compinit; compinit -u -D; source ./kveval.zsh; PS1=; cd zone"
zpty -w shell 'compadd() { local -a all; builtin compadd -O all "$@"; (( $#all )) && print -l -- $all >>../offers.txt; builtin compadd "$@" }'
sleep 1
take
zpty -w -n shell "$1"$'\t'
for i in {1..150}; do
    sleep 0.1
    take
    [[ -s offers.txt ]] && break
done
sleep 0.3
zpty -d shell
END
    # offer_zsh WANT LINE: WANT is among what zsh offers for the line
    offer_zsh() {
        rm -f offers.txt
        timeout 30 zsh -f offer.zsh "$2" >/dev/null 2>&1
        grep -qx -- "$1" offers.txt 2>/dev/null || fail "zsh does not offer $1 for \"$2\": $(tr '\n' ' ' <offers.txt 2>/dev/null)"
    }
    offer_zsh sweep 'kveval sw'
    offer_zsh run.json 'kveval sweep ru'
    offer_zsh math500 'kveval sweep run.json -t aime24,ma'
    offer_zsh pocket 'kveval generate --model '
fi

if command -v fish >/dev/null; then
    fish --no-config -n kveval.fish || fail "fish cannot read its completion"
    # offer_fish WANT LINE: all that fish offers, in one line
    offer_fish() {
        local got
        got=$(cd zone && HOME=$PWD fish --no-config -c 'source ../kveval.fish; complete -C $argv[1]' "$2" | cut -f 1 | sort | tr '\n' ' ')
        [ "$got" = "$1 " ] || fail "fish offers \"$got\" for \"$2\", want \"$1 \""
    }
    offer_fish 'score serve show status sweep' 'kveval s'
    offer_fish '--data --devices --display --drain --dry-run' 'kveval sweep run.json --d'
    offer_fish 'quest' 'kveval generate --policy q'
    offer_fish 'models/ pocket runs/' 'kveval generate --model '
    offer_fish 'aime24,math500' 'kveval sweep run.json -t aime24,ma'
    offer_fish 'devices families policies tasks' 'kveval list '
    offer_fish 'notes.txt' 'kveval grade n'
    [ -z "$(cd zone && fish --no-config -c 'source ../kveval.fish; complete -C "kveval worker "')" ] || fail "fish completes worker"
fi

# The page: sections, every exit code, and no complaint of the programs that read it.
for section in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' ENVIRONMENT EXAMPLES; do
    grep -q "^\.SH $section\$" kveval.man || fail "the man page has no section $section"
done
for code in 0 2 3 5 75 130; do
    grep -qxF "\\fB$code\\fR" kveval.man || fail "the man page lacks exit code $code"
done
if command -v mandoc >/dev/null; then
    # A date would make the page differ from build to build.
    mandoc -T lint -W warning kveval.man | grep -v 'missing date' >lint.txt
    [ ! -s lint.txt ] || fail "mandoc: $(head -n 5 lint.txt)"
fi
if command -v man >/dev/null && command -v groff >/dev/null; then
    MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z kveval.man >/dev/null 2>warnings.txt
    [ ! -s warnings.txt ] || fail "man: $(head -n 5 warnings.txt)"
fi
finish
