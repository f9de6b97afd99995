#!/usr/bin/env bash
# A fresh machine: a minimal Debian 12 in a folder below /tmp, with the package sources and the proxy of this machine and
# nothing else of it. There ./kv installs what it needs, builds, and decodes the embedded model; then the program is installed
# and used from another folder. ./kv test --bare runs it: bare.sh SOURCE_DIR. Exit code 77: it cannot run here.
set -uo pipefail
source_dir=$1
release=bookworm

say() {
    printf 'bare: %s\n' "$*" >&2
}

skip() {
    say "skipped: $*"
    exit 77
}

[[ $(id -u) == 0 ]] || skip "a bare Debian (its root file system can only be made by root)"
command -v mmdebstrap >/dev/null || skip "a bare Debian (there is no mmdebstrap; ./kv install mmdebstrap)"
# Mounts made from here on end with this process.
if [[ ${KVEVAL_BARE_MOUNTS-} != 1 ]]; then
    unshare --mount true 2>/dev/null || skip "a bare Debian (mounts are not allowed here)"
    KVEVAL_BARE_MOUNTS=1 exec unshare --mount bash "$0" "$@"
fi

root=$(mktemp -d /tmp/kveval-bare.XXXXXX) || exit 1
chmod 755 "$root"
teardown() {
    local name
    for name in dev proc; do
        ! mountpoint -q "$root/$name" || umount --recursive --lazy "$root/$name" || exit 1 # never delete through a mount
    done
    rm -rf --one-file-system "$root"
}
trap teardown EXIT
trap 'exit 1' INT TERM

# sources: the entries for this release in the package sources of this machine, in both of apt's forms.
sources() {
    local file
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [[ -e $file ]] && grep -E "^deb (\[[^]]*\] )?[^ ]+ $release" "$file"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [[ -e $file ]] && awk -v RS= -v ORS='\n\n' -v release="$release" '$0 ~ "(^|\n)Suites: *" release' "$file"
    done
    true
}

# must WHAT COMMAND...: one step; its output is shown if it fails, and ends the test.
must() {
    local what=$1
    shift
    say "$what"
    if ! "$@" >"$root.log" 2>&1; then
        tail -n 60 "$root.log" >&2
        rm -f "$root.log"
        say "failed: $what"
        exit 1
    fi
    rm -f "$root.log"
}

# inside COMMAND...: in the bare system, in the checkout's folder, with this machine's proxy but no other variable of it.
inside() {
    local set=() name
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
        [[ -z ${!name-} ]] || set+=("$name=${!name}")
    done
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "${set[@]}" sh -c 'cd /kveval && exec "$@"' sh "$@"
}

copy_checkout() {
    mkdir "$root/kveval"
    (cd "$source_dir" && git ls-files -z --cached --others --exclude-standard |
        while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
        tar -c --null -T - --owner=0 --group=0) | tar -x -C "$root/kveval"
}

enter_mounts() {
    mount --make-rprivate / && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev"
}

# lacks NAME: the bare system has no such command. Else this test would show nothing.
lacks() {
    ! inside sh -c "command -v $1"
}

# decodes FOLDER: a sweep's folder has completions under two policies and a report.
decodes() {
    local lines
    lines=$(wc -l <"$root/kveval/$1/report/accuracy.csv") || return
    [[ $lines -ge 3 && -s $root/kveval/$1/report/index.html && -s $root/kveval/$1/report/report.md ]] || {
        echo "$1/report: $lines lines in accuracy.csv"
        return 1
    }
}

[[ -n $(sources) ]] || skip "a bare Debian (no package source of $release is configured here)"
must "making a minimal Debian" mmdebstrap --quiet --variant=minbase "$release" "$root" - < <(sources)
# What else apt is told here about fetching: a proxy, a mirror's ways.
apt-config dump | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/90host"
must "mounting /proc and /dev" enter_mounts
cp /etc/resolv.conf /etc/hosts "$root/etc/"
must "copying the checkout" copy_checkout
for tool in cc make cmake pkg-config git python3 curl; do
    must "no $tool is there" lacks "$tool"
done
must "./kv build" inside ./kv build
must "decoding four problems of each task, with a report" \
    inside build/kveval sweep runs/pocket.json -o out/bare --limit 4 --set 'policies=["full", {"name": "quest", "k_pages": 4}]'
must "reading the report's folder" decodes out/bare
must "a second sweep has nothing left to do" \
    inside build/kveval sweep runs/pocket.json -o out/bare --limit 4 --set 'policies=["full", {"name": "quest", "k_pages": 4}]'
for script in help filters no_gpu; do
    must "tests/cli/$script.sh" inside sh -c "mkdir -p /tmp/$script && cd /tmp/$script &&
        bash /kveval/tests/cli/$script.sh /kveval/build/kveval /kveval"
done
must "installing to /opt/kveval" inside cmake --install build --prefix /opt/kveval
# Without the checkout, its build and the packages of its build.
rm -rf "$root/kveval"
mkdir "$root/kveval"
must "generating with the installed program alone" \
    inside /opt/kveval/bin/kveval generate --policy quest:k_pages=4 --prompt "What is 2 + 3?" -n 20
say "a minimal Debian built, decoded, reported and installed"
