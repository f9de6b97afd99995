# The page of a report: inert whatever the run's names and answers are, small whatever its size, and as a reader meets
# it in a browser (check_page.py, where Chromium is there). Usage: page.sh PROGRAM SOURCE_DIR, beside make_run.
. "$2/tests/cli/lib.sh"
make_run=$(dirname "$program")/tests/page/make_run
[ -x "$make_run" ] || skip "make_run was not built"
rm -rf ./*

# count FILE TEXT: how often it stands there.
count() {
    grep -oF -- "$2" "$1" | wc -l
}

# only_ours FILE SCRIPTS: no markup but the page's own.
only_ours() {
    [ "$(count "$1" '<script')" = "$2" ] || fail "$1 has $(count "$1" '<script') scripts, want $2"
    [ "$(count "$1" '</script>')" = "$2" ] || fail "$1 ends $(count "$1" '</script>') scripts, want $2"
    [ "$(count "$1" "default-src 'none'")" = 1 ] || fail "$1 has no policy of what may be fetched and run"
    [ "$(count "$1" '<img')" = 0 ] || fail "$1 holds a name's markup"
    LC_ALL=C grep -qP '\x00|\x1b|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]' "$1" && fail "$1 holds control characters"
}

"$make_run" hostile 3 4 2 hostile
run 0 report hostile --transcripts
only_ours hostile/report/index.html 2
[ "$(count hostile/report/index.html '\u003c/script>')" -gt 0 ] || fail "the page's data lack the hostile answers"
n=0
for f in hostile/report/transcripts/*/*; do
    only_ours "$f" 0
    [ "$(stat -c %s "$f")" -lt 3000000 ] || fail "$f is $(stat -c %s "$f") bytes long"
    n=$((n + 1))
done
[ "$n" = 12 ] || fail "$n transcripts, want 3 cells x 4 problems"
grep -qF 'Cut here' hostile/report/transcripts/001-*/*.html || fail "a text of 1 MB is not cut"
[ "$(find . -name '*.html' | wc -l)" = 13 ] || fail "a problem's name led outside the folder"
run 0 report hostile
[ ! -e hostile/report/transcripts ] || fail "transcripts stay that the page no longer leads to"

# A restricted task has no prompts in the run folder: no answer in the page, and no transcript.
cp -r hostile restricted
sed -i 's/"prompt":"[^"\\]*\(\\.[^"\\]*\)*",//' restricted/problems/made.jsonl
reseal restricted
run 0 report restricted --transcripts
grep -q "no example be published" stderr.txt || fail "refused transcripts are not told: $(cat stderr.txt)"
[ -z "$(find restricted/report/transcripts -name '*.html')" ] || fail "transcripts of a restricted task"
[ "$(count restricted/report/index.html '"answer"')" = 0 ] || fail "answers of a restricted task"
[ "$(count restricted/report/index.html '"references":[')" = 0 ] || fail "references of a restricted task"

# Small for any size: by completion, then by problem.
"$make_run" middle 10 50 4
sizes=middle
if ! small; then # a page of 120,000 completions takes seconds; that of 3,000 cells had 21 MB
    sizes='middle large'
    "$make_run" large 50 300 8
    "$make_run" wide 3000 20 1
    run 0 report wide
    [ "$(stat -c %s wide/report/index.html)" -lt 5000000 ] || fail "wide: $(stat -c %s wide/report/index.html) bytes"
    mentions wide/report/index.html 'The first 1000 of 3000 rows'
fi
for r in $sizes; do
    run 0 report $r
    only_ours $r/report/index.html 2
    [ "$(stat -c %s $r/report/index.html)" -lt 2000000 ] || fail "$r: $(stat -c %s $r/report/index.html) bytes"
done
[ "$(count middle/report/index.html '"references":[')" = 1 ] || fail "no references beside the answers"
[ "$(count middle/report/index.html '"by":"sample"')" = 1 ] || fail "middle is not by completion"
small || [ "$(count large/report/index.html '"by":"problem"')" = 1 ] || fail "large is not by problem"

# Several runs as one page.
refuse 2 "2 runs become one page: say where with -o FOLDER" report middle large
refuse 2 "middle is named twice; name each run once" report middle middle -o both
"$make_run" again 10 50 4
run 0 report middle again -o nights
grep -qF "Tasks of the same name have the same problems. 20 cells are in more than one run" nights/index.html ||
    fail "nights: $(grep -o 'Merged from[^<]*' nights/index.html)"
[ "$(grep -c '^.*quest k_pages=4 (again)' nights/accuracy.csv)" -gt 0 ] || fail "no cell carries its run's name"
[ "$(grep -o ' id="[^"]*"' nights/index.html | sort | uniq -d | wc -l)" = 0 ] || fail "ids stand twice in the page"
if ! small; then
    run 0 report middle large -o apart
    grep -qF "so these stand apart: math500 (large)." apart/index.html || fail "$(grep -o 'Merged from[^<]*' apart/index.html)"
fi

# As a reader meets it.
command -v python3 >/dev/null || skip "the browser's part: there is no python3"
for page in hostile/report nights; do
    python3 "$source_dir/tests/page/check_page.py" $page/index.html >said.txt 2>&1
    case $? in
    0) cat said.txt ;;
    77) [ "$failures" -gt 0 ] || skip "the browser's part: $(cat said.txt)" ;;
    *) fail "$page: $(cat said.txt)" ;;
    esac
done
finish
