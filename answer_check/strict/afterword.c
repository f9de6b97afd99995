/* What models write behind an answer that nothing declares: takeaways, an explanation, a check of the value
 * (contract: grading.h). Its numbers are none of the answer. */
#include "answer_check/strict/grading.h"

#include <string.h>

#include "answer_check/strict/sentence.h"

/* Headings of what is no answer wherever it stands. */
static const char lessons[] =
    "key takeaway|key takeaways|takeaway|takeaways|key point|key points|key insight|key insights|key "
    "idea|key "
    "ideas|key concepts|lesson|lessons|lessons learned|what we learned|next steps|related problems|similar "
    "problems|practice problems|further practice|further reading|common mistakes|common "
    "pitfalls|pitfalls|tips|"
    "study tips|things to remember|concepts used|skills used|extensions|try it yourself";
/* Labels of what explains or checks the answer, where one stands before them. */
static const char explaining[] =
    "explanation|explanations|reason|reasons|reasoning|justification|rationale|derivation|proof|details|"
    "working|"
    "workings|method|approach|how|why|why this works|why it works|why|note|notes|remark|remarks|remember|"
    "comment|comments|alternative|alternative solution|alternative method|another way|generalization|fun "
    "fact|aside|hint|hints|background|intuition|step-by-step|steps|solution steps|summary of "
    "steps|check|verification|"
    "begründung|erklärung|erläuterung|explicación|explication|spiegazione|解释|解析|说明|理由|説明|検算|验证|"
    "注意|"
    "备注|注";
/* The beginnings of a check, which something in it must find right. */
static const char checking[] =
    "substituting|plugging|indeed|testing|checking|to check|to verify|verifying|let's "
    "check|let us check|let's verify|let us verify|we check|we verify|we can check|we "
    "can verify|as a check|check|double-checking|putting|inserting";
static const char confirming[] =
    "is correct|is right|checks out|check out|as required|as expected|as desired|is satisfied|are "
    "satisfied|holds|"
    "works|verified|confirmed|confirms|which is true|is true|matches|\xe2\x9c\x93|\xe2\x9c\x94|\xe2\x9c\x85|"
    "\\checkmark";

static struct span without_marks(struct span s)
{
    s = span_trim(s);
    while (s.n && strchr("#*_> ", s.s[0]))
        s = (struct span){s.s + 1, s.n - 1};
    return s;
}

/* Is the line a heading: a label on a line of its own, or with a colon behind it? */
static int is_heading(struct span line)
{
    enum { LABEL_MAX = 60 };
    struct span head = line;
    const char *colon = memchr(line.s, ':', line.n < LABEL_MAX ? line.n : LABEL_MAX);
    const char *wide = memmem(line.s, line.n < LABEL_MAX ? line.n : LABEL_MAX, "\xef\xbc\x9a", 3);
    colon = colon ? colon : wide;
    if (!colon) {
        while (head.n && strchr("*_. ", head.s[head.n - 1]))
            head.n--;
        return head.n < 32 && !memchr(head.s, '=', head.n) && !memchr(head.s, '.', head.n);
    }
    return 1;
}

/* Does it hold a number that equals itself, "25 = 25"? */
static int holds_identity(struct span s)
{
    static const char sign[] = " = ";
    const char *at = s.s;
    while ((at = memmem(at, s.n - (size_t)(at - s.s), sign, 3))) {
        size_t from = (size_t)(at - s.s), n = 0, behind = from + 3;
        while (n < from && ascii_is_digit(s.s[from - n - 1]))
            n++;
        if (n && behind + n <= s.n && !memcmp(s.s + from - n, s.s + behind, n) &&
            !(behind + n < s.n && ascii_is_digit(s.s[behind + n])))
            return 1;
        at++;
    }
    return 0;
}

/* Does the last line of the text state a value and nothing more, or draw a conclusion with one? */
static int ends_with_answer(struct grading *g, struct span text)
{
    struct span line, found;
    while (text.n && strchr("-=*_\n ", text.s[text.n - 1])) /* a rule between them */
        text.n--;
    if (!extract_last_line(&line, text) || line.n > UNDECLARED_BYTES)
        return 0;
    line = without_marks(sentence_plain(line, g->w));
    while (line.n && strchr(".*_", line.s[line.n - 1]))
        line.n--;
    return line.n &&
           (math_is_value(g->w, line) || (sentence_concludes(line) && sentence_result(&found, line, g->w)));
}

struct span grading_without_afterword(struct grading *g, struct span section)
{
    enum { REACH = 1 << 14, CHECK_MAX = 400, TRIED_MAX = 16 };
    int tried = 0;
    size_t i = section.n > REACH ? section.n - REACH : 0;
    const char *line_end;
    while (i < section.n && tried < TRIED_MAX && (line_end = memchr(section.s + i, '\n', section.n - i))) {
        i = (size_t)(line_end - section.s) + 1;
        struct span before = span_trim((struct span){section.s, i}), line = {section.s + i, section.n - i};
        line_end = memchr(line.s, '\n', line.n);
        line.n = line_end ? (size_t)(line_end - line.s) : line.n;
        line = without_marks(line);
        if (!line.n || !before.n)
            continue;
        struct span rest = {line.s, section.n - (size_t)(line.s - section.s)};
        rest.n = rest.n < CHECK_MAX ? rest.n : CHECK_MAX;
        if (sentence_begins(line, lessons) && is_heading(line))
            return before;
        int is_label = sentence_begins(line, explaining) && is_heading(line);
        if (!is_label &&
            !(sentence_begins(line, checking) && (sentence_says(rest, confirming) || holds_identity(rest))))
            continue;
        tried++;
        if (ends_with_answer(g, before))
            return before;
    }
    return section;
}
