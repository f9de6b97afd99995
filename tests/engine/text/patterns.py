#!/usr/bin/env python3
"""Writes pretoken.test: what the tokenizers library makes of split patterns in Oniguruma's dialect.

    pip install 'tokenizers==0.23.3'
    python3 patterns.py

Lines (JSON): the text of all rows; then [pattern, behavior, pieces], or [pattern, null, words] for one that is refused with these words
because PCRE2 has nothing like it.
"""
import itertools, json, pathlib
from tokenizers import Regex, pre_tokenizers

HERE = pathlib.Path(__file__).parent
TEXT = ("It's  a b_1\u00b2 \u00e9t\u00e9 \u4e2d\u6587 \u3042\u30ab\ud55c x2\u0663 don't STOP!\n\n  y\r\nend \u017f\u212a\U0001f642"
        "\u0301 <tag a=\"b\"> deadBEEF 3.14\u00bd $5 +- \t\u00a0z \n\nlast  \n \u00dflen ma\u00df la\ufb06 SToP")
PATTERNS = r"""
\s+$  $  ^  ^\S+  \S+$  \A\S+  \s\z  \s*\Z  (?:^|\s)a  \w+  \W+  \b  \B  \b\w  \w\b\s*  \bdon\b  [\w']+  [^\w\s]+  [\W_]+  [^\W\d_]+
(?i)stop|END  (?i)a|b  x(?i)2|Y  (?i:s)t  (?i)[a-c]+  (?i)[^a-m\s]+  (?i)d(?-i)o  (?i:a(?-i:b|_)|E)  ((?i)t|Z)a  (?i)k  (?i)end  (?i)stop!?  (?i)test|last|mass  (?i:'s|'t|'re|'ve|'m|'ll|'d)
\p{Han}  \p{Han}+  [\p{Han}\p{Hiragana}]+  \P{Han}+  \p{^Han}  [^\p{Han}]  \p{Hangul}|\p{Katakana}  \p{Latin}+  \p{Greek}  \p{L}+  \p{Letter}+
\p{Lu}  \p{Uppercase_Letter}+  \p{uppercase letter}  \p{Alpha}+  \p{Alnum}+  \p{Punct}  \p{Punctuation}+  \p{Space}+  \p{White_Space}  \p{Word}+
\p{Emoji}  \p{Extended_Pictographic}  \p{Any}  \p{Common}+  \p{Cyrillic}  [\p{L}\p{N}_]+  \p{M}  \p{Sc}\p{N}+  \p{LC}+  \p{Ideographic}  \p{ASCII}+
[[:alpha:]]+  [[:alnum:]]+  [[:^alpha:]]+  [[:punct:]]  [[:space:]]+  [[:digit:]]+  [[:upper:]]+  [[:lower:]]+  [[:xdigit:]]+  [[:blank:]]+
[[:cntrl:]]  [[:graph:]]+  [[:print:]]+  [[:word:]]+  [[:ascii:]]+  [^[:space:]]+  [[:alpha:]'_]+  [a-z[:digit:]]+
[a-z&&[^aeiou]]+  [\w&&[^\d]]+  [\w&&\S&&[^a-m]]+  [^a-z&&[^\s]]+  [a[bc]d]+  [^a[\s]]+  [a-c[^\w\s]]+  [[a-f][^\W\d]&&[^e]]+  [\p{L}&&[^\p{Latin}]]+
\h+  \H+  [\h]+  [^\h\s]+  \d+  \D+  [\d.]+  [^\D3]  \R  \R+  [\v\f]  [\b]  \e|\a  \x20+  \u0020  \x{4e00}|\x{4e2d}  \t|\n
a++|\s++  (?>\s+)\S  (?>a|ab)_  \s?+\w*+  [a-z]+?t  \w{2}  \w{2,3}  \w{2,}  \w{,2}t  \w{2}?  \w{2}+  (?:\w{2})?  \w{1,2}?  \w{2}*  x{  a{b  {1  \w{1,2}{2}
(?<=\s)\S  (?<!\w)\w+  (?<=a|on)'?t?  (?=\w)  (?!\s)  \w(?=\s)  \s(?!\s)  (?<word>\w+)\s  (?#blank)\s+  (?m)t.s  (?m:d.\s)  .  .+  (a|b)(_)  (?:)  x*  a|  |a
[\w-]+  [a\-c]+  [-a]+  [a-]+  [+--]  [a^]+  [\^a]+  [\]a]+  [\s\S]  [&a]+  [.*+?(){}|]  [$]\d  \$\d  \.  [#\ ]+  # ?  \/|<  "[^"]*"
"""
REFUSED = [(r"(a)\1", "an escape"), (r"\Ga", "an escape"), (r"\X", "an escape"), (r"\Ka", "an escape"), (r"\0", "an escape"),
           (r"\Qa\E", "an escape"), (r"\cA", "an escape"), (r"(?i)ss+", "(?i) over"), (r"(?i:ffi)", "(?i) over"), ("(?i)\u00df", "(?i) over"),
           ("(?i)[\u00df]", "(?i) over"), (r"(?i)s(?:t)", "(?i) over"), (r"(?i)[\p{Lu}]", "(?i) over"), (r"(?i)[[:lower:]]", "(?i) over"),
           (r"(?i)\x{df}", "(?i) over"), (r"[a&&]", "an empty intersection"), (r"[]a]", "an empty class"), (r"[a", "not closed"),
           (r"[[:alfa:]]", "a class whose name"), (r"\p{Klingon}", "cannot be compiled"), (r"\p{In_Arrows}", "cannot be compiled"),
           (r"\pL", "without braces"), (r"(?x) a", "a special group"), (r"(?s)a", "a special group"), (r"(?R)", "a special group"),
           (r"(?(1)a|b)", "a special group"), (r"(?~a)", "a special group"), (r"(*FAIL)", "a special group"), (r"(?#a", "a comment"),
           (r"a)", "a parenthesis"), (r"(a", "cannot be compiled"), (r"(?<=a+)b", "cannot be compiled"), (r"[z-a]", "cannot be compiled"),
           (r"\x{110000}", "cannot be compiled"), (r"\xe4", "a character code"), ("a\\", "a backslash at the end")]


def main():
    behaviors = itertools.cycle(["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"])
    names = {"isolated": "Isolated", "removed": "Removed", "merged_with_previous": "MergedWithPrevious",
             "merged_with_next": "MergedWithNext", "contiguous": "Contiguous"}
    with open(HERE / "pretoken.test", "w", encoding="utf-8", newline="\n") as f:
        f.write("# What the tokenizers library makes of these patterns; made by patterns.py, which states the format.\n")
        f.write(json.dumps(TEXT) + "\n")
        for line in PATTERNS.strip("\n").split("\n"):
            for pattern in line.split("  "):
                for behavior in ("removed", next(behaviors)):
                    pieces = [p for p, _ in pre_tokenizers.Split(Regex(pattern), behavior).pre_tokenize_str(TEXT)]
                    f.write(json.dumps([pattern, names[behavior], pieces]) + "\n")
        for pattern, words in REFUSED:
            f.write(json.dumps([pattern, None, words]) + "\n")


if __name__ == "__main__":
    main()
