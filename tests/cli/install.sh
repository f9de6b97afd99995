# cmake --install: everything lies in its place, the program runs from there, and still does when the tree is moved.
. "$(dirname "$0")/lib.sh"
command -v cmake >/dev/null || skip "no cmake"
build=$(dirname "$program")

rm -rf prefix moved out stage
cmake --install "$build" --prefix "$PWD/prefix" >install.txt 2>&1 || fail "cmake --install: $(cat install.txt)"
for file in bin/kveval share/man/man1/kveval.1 share/bash-completion/completions/kveval \
    share/zsh/site-functions/_kveval share/fish/vendor_completions.d/kveval.fish share/kveval/runs/pocket.json \
    share/kveval/runs/published/README.md share/doc/kveval/README.md share/doc/kveval/LICENSE share/doc/kveval/docs/policies.md; do
    [ -s "prefix/$file" ] || fail "$file is not installed: $(cat install.txt)"
done
[ "$(find prefix -name '*.a' -o -name '*.h' | wc -l)" = 0 ] || fail "libraries or headers are installed"
run 0 completion man
same stdout.txt prefix/share/man/man1/kveval.1
grep -rqF "$PWD" prefix/share && fail "the prefix stands in an installed file"

mv prefix moved
program=$PWD/moved/bin/kveval
run 0 --version
run 0 sweep moved/share/kveval/runs/pocket.json -o out --limit 1 --tasks lookup --set max_new_tokens=10 -q
[ -s out/report/report.md ] || fail "the installed program wrote no report"
# data beside the installed program: a dictionary that is no dictionary is seen, and refused
mkdir -p moved/share/kveval
if [ ! -e moved/share/kveval/dict.txt ]; then
    echo 'not a dictionary' >moved/share/kveval/dict.txt
    run 2 textscore
    grep -q 'share/kveval/' stderr.txt || fail "the installed dictionary is not looked for: $(cat stderr.txt)"
fi

# into a staging folder, as packagers do
DESTDIR=$PWD/stage cmake --install "$build" --prefix /usr >install.txt 2>&1 || fail "DESTDIR: $(cat install.txt)"
[ -x stage/usr/bin/kveval ] && [ -s stage/usr/share/man/man1/kveval.1 ] || fail "DESTDIR is not honoured: $(find stage)"
rm -rf moved stage
finish
