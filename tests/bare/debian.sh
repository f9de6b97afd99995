# What the tests on a bare Debian share: a minimal Debian 12 in a folder below /tmp, with the package sources and the proxy of
# this machine and nothing else of it. To be sourced; the script then runs in a mount namespace of its own, and ends with exit
# code 77 where such a system cannot be made.
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

enter_mounts() {
    mount --make-rprivate / && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev"
}

# lacks NAME: the bare system has no such command. Else this test would show nothing.
lacks() {
    ! inside sh -c "command -v $1"
}

# make_debian PACKAGES: the system, with packages (comma-separated, may be empty) besides the least.
make_debian() {
    [[ -n $(sources) ]] || skip "a bare Debian (no package source of $release is configured here)"
    must "making a minimal Debian" mmdebstrap --quiet --variant=minbase ${1:+--include="$1"} "$release" "$root" - < <(sources)
    # What else apt is told here about fetching: a proxy, a mirror's ways.
    apt-config dump | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/90host"
    must "mounting /proc and /dev" enter_mounts
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    mkdir "$root/kveval"
}
