/* Recognises files of published sets (contract: known_sets.h). A row belongs to a set if its fingerprint is
 * one of the set's, each as often as the set has it. Of AIME copies differ in wording, and thirty integers
 * tell a year: a file with no answer but the set's is of it whatever its texts are. */
#include "tasks/known_sets.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "tasks/option_order.h"
#include "tasks/task_file.h"

struct known_damage { /* a text that only a damaged copy has, and what is wrong with it; ends with text NULL
                       */
    const char *text, *what;
};
struct known_subset { /* the first n problems, in the order of the published file; ends with name NULL */
    const char *name;
    int n;
};

struct known_set {
    const char *name;  /* of its task, or by which a label means it; of LongBench the data set's */
    const char *title; /* for people */
    int n;
    const char *task;     /* NULL: there is no task of the set */
    const uint32_t *rows; /* (n); NULL: not known */
    const int *answers;   /* (n) if they are integers; NULL: not compared */
    const char *source;   /* SHA-256 of the published file; NULL: any copy is read */
    int is_ordered;       /* the order of the published file is everybody's */
    const struct known_damage *damage;
    const struct known_subset *subsets;
};

/* ---- facts */

/* The official answers (Mathematical Association of America), contests I and II; of 2024 and 2025 four public
 * copies agree, of 2026 two. */
static const int aime24_answers[] = {204, 25,  809, 116, 104, 294, 540, 197, 480, 113,
                                     371, 385, 110, 104, 721, 73,  236, 45,  33,  80,
                                     55,  699, 127, 902, 468, 601, 23,  321, 211, 315};
static const int aime25_answers[] = {70,  588, 16,  117, 279, 504, 821, 77,  62,  81,
                                     259, 510, 204, 60,  735, 468, 49,  82,  106, 336,
                                     293, 237, 610, 149, 907, 113, 19,  248, 104, 240};
static const int aime26_answers[] = {277, 62,  79,  70,  65,  441, 396, 244, 29,  156,
                                     896, 161, 39,  681, 83,  178, 243, 503, 279, 190,
                                     50,  754, 245, 669, 850, 132, 223, 107, 157, 393};

/* GAIR-NLP/AIME-Preview, issue 4: in I-14 an angle was replaced; copied into other sets. */
static const struct known_damage aime25_damage[] = {
    {"angle ZBA", "its angle at B is another one than in the contest"}, {NULL, NULL}};

/* DELTA's two versions take the first 100 and the first 30. */
static const struct known_subset first_ones[] = {{"first30", 30}, {"first100", 100}, {NULL, 0}};

#define LONGBENCH(set, size, symbol)                                                                         \
    {                                                                                                        \
        .name = set, .title = "LongBench " set, .n = size, .task = "longbench",                              \
        .rows = known_longbench_##symbol, .is_ordered = 1                                                    \
    }
static const struct known_set sets[] = {
    {.name = "aime24",
     .title = "AIME 2024",
     .n = 30,
     .task = "aime24",
     .rows = known_aime24,
     .answers = aime24_answers},
    {.name = "aime25",
     .title = "AIME 2025",
     .n = 30,
     .task = "aime25",
     .rows = known_aime25,
     .answers = aime25_answers,
     .damage = aime25_damage},
    {.name = "aime26", .title = "AIME 2026", .n = 30, .answers = aime26_answers},
    {.name = "math500",
     .title = "MATH-500",
     .n = 500,
     .task = "math500",
     .rows = known_math500,
     .is_ordered = 1,
     .subsets = first_ones},
    {.name = "gsm8k", .title = "GSM8K", .n = 1319, .task = "gsm8k", .rows = known_gsm8k, .is_ordered = 1},
    {.name = "gpqa_diamond",
     .title = "GPQA-Diamond",
     .n = 198,
     .task = "gpqa_diamond",
     .source = "41d1213cd7a4998605a26c2798500652572007161b3a92817ba46b35befcd305",
     .is_ordered = 1,
     .subsets = first_ones},
    LONGBENCH("narrativeqa", 200, narrativeqa),
    LONGBENCH("qasper", 200, qasper),
    LONGBENCH("multifieldqa_en", 150, multifieldqa_en),
    LONGBENCH("multifieldqa_zh", 200, multifieldqa_zh),
    LONGBENCH("hotpotqa", 200, hotpotqa),
    LONGBENCH("2wikimqa", 200, 2wikimqa),
    LONGBENCH("musique", 200, musique),
    LONGBENCH("dureader", 200, dureader),
    LONGBENCH("gov_report", 200, gov_report),
    LONGBENCH("qmsum", 200, qmsum),
    LONGBENCH("multi_news", 200, multi_news),
    LONGBENCH("vcsum", 200, vcsum),
    LONGBENCH("trec", 200, trec),
    LONGBENCH("triviaqa", 200, triviaqa),
    LONGBENCH("samsum", 200, samsum),
    LONGBENCH("lsht", 200, lsht),
    LONGBENCH("passage_count", 200, passage_count),
    LONGBENCH("passage_retrieval_en", 200, passage_retrieval_en),
    LONGBENCH("passage_retrieval_zh", 200, passage_retrieval_zh),
    LONGBENCH("lcc", 500, lcc),
    LONGBENCH("repobench-p", 500, repobench_p),
};
enum { N_SETS = sizeof sets / sizeof sets[0] };

/* ---- fingerprints */

/* A letter as a small one, or a digit; 0: neither. */
static char letter_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : 0;
}

static uint32_t row_of(const char *data, size_t n)
{
    char hex[9];
    sha256_hex(data, n, hex, 8);
    uint32_t row = (uint32_t)strtoul(hex, NULL, 16);
    return row ? row : 1;
}

uint32_t known_row_of_text(const char *text, size_t n)
{
    static const char figure[] = "[asy]", figure_end[] = "[/asy]";
    struct str kept = {0};
    const char *end = text + n;
    for (const char *p = text; p < end; p++) {
        if (*p == '[' && (size_t)(end - p) > strlen(figure) && !memcmp(p, figure, strlen(figure))) {
            const char *q = p;
            while ((size_t)(end - q) >= strlen(figure_end) && memcmp(q, figure_end, strlen(figure_end)) != 0)
                q++;
            if ((size_t)(end - q) >= strlen(figure_end)) {
                p = q + strlen(figure_end) - 1;
                continue;
            }
        }
        if (*p == '\\') {
            while (p + 1 < end && letter_of(p[1]) >= 'a')
                p++;
        } else if (letter_of(*p)) {
            str_putc(&kept, letter_of(*p));
        }
    }
    uint32_t row = kept.len ? row_of(kept.data, kept.len) : 0;
    str_release(&kept);
    return row;
}

uint32_t known_row_of_answers(const char *const *answers, int n)
{
    struct str all = {0};
    for (int i = 0; i < n; i++)
        str_printf(&all, "%s%s", i ? "\n" : "", answers[i]);
    uint32_t row = row_of(str_text(&all), all.len);
    str_release(&all);
    return row;
}

/* An answer as a number, without leading zeros and a degree sign, as copies of AIME write them; -1: it is
 * none. */
static long plain_answer(const struct problem *p)
{
    static const char *const ends[] = {"", "^\\circ", "^{\\circ}", "\xc2\xb0"};
    char *end;
    long n = p->gold && *p->gold >= '0' && *p->gold <= '9' ? strtol(p->gold, &end, 10) : -1;
    for (int i = 0; n >= 0 && i < 4; i++)
        if (!strcmp(end, ends[i]))
            return n;
    return -1;
}

/* ---- which rows of a set a task has */

struct place {
    uint32_t row;
    int at, is_taken;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->row != y->row ? (x->row > y->row) - (x->row < y->row) : (x->at > y->at) - (x->at < y->at);
}

/* The first place of that row which is not taken; NULL: there is none. */
static struct place *find_place(struct place *places, int n, uint32_t row)
{
    int low = 0, high = n;
    while (low < high) {
        int mid = (low + high) / 2;
        if (places[mid].row < row)
            low = mid + 1;
        else
            high = mid;
    }
    while (low < n && places[low].row == row && places[low].is_taken)
        low++;
    return low < n && places[low].row == row ? &places[low] : NULL;
}

struct match {
    int *row; /* (n_problems): place in the set from 1, by fingerprints; 0: none */
    int n_rows, n_answers;
    /* ids of the first problem whose text is of the set and its answer another number, and of the first whose
     * answer is not of the set; NULL: none */
    const char *wrong, *odd;
};

static void match_rows(struct match *m, const struct known_set *k, const struct task *t)
{
    struct place *places = xcalloc((size_t)k->n, sizeof *places);
    for (int i = 0; i < k->n; i++)
        places[i] = (struct place){.row = k->rows[i], .at = i};
    qsort(places, (size_t)k->n, sizeof *places, compare_places);
    for (size_t i = 0; i < t->n_problems; i++) {
        struct place *p = t->problems[i].row ? find_place(places, k->n, t->problems[i].row) : NULL;
        if (!p)
            continue;
        p->is_taken = 1;
        m->row[i] = p->at + 1;
        m->n_rows++;
        long answer = k->answers && !m->wrong ? plain_answer(&t->problems[i]) : -1;
        if (answer >= 0 && answer != k->answers[p->at])
            m->wrong = t->problems[i].id;
    }
    free(places);
}

/* The answers that are the set's, each as often as it has them. Where all are, they tell the places of what
 * texts do not. */
static void match_answers(struct match *m, const struct known_set *k, const struct task *t)
{
    int *at = xcalloc(t->n_problems + 1, sizeof *at);
    char *is_taken = xcalloc((size_t)k->n, 1);
    for (size_t i = 0; i < t->n_problems; i++)
        if (m->row[i] && plain_answer(&t->problems[i]) == k->answers[m->row[i] - 1]) {
            is_taken[m->row[i] - 1] = 1;
            at[i] = m->row[i];
            m->n_answers++;
        }
    for (size_t i = 0; i < t->n_problems; i++) {
        long answer = at[i] ? -1 : plain_answer(&t->problems[i]);
        for (int place = 0; answer >= 0 && place < k->n && !at[i]; place++)
            if (!is_taken[place] && k->answers[place] == answer) {
                is_taken[place] = 1;
                at[i] = place + 1;
                m->n_answers++;
            }
        if (!at[i] && !m->odd)
            m->odd = t->problems[i].id;
    }
    if ((size_t)m->n_answers == t->n_problems)
        memcpy(m->row, at, t->n_problems * sizeof *at);
    free(is_taken);
    free(at);
}

static struct match match_set(const struct known_set *k, const struct task *t)
{
    struct match m = {.row = xcalloc(t->n_problems + 1, sizeof *m.row)};
    if (k->rows)
        match_rows(&m, k, t);
    if (k->answers)
        match_answers(&m, k, t);
    for (size_t i = 0; k->source && !strcmp(k->source, t->source) && i < t->n_problems; i++) {
        m.row[i] = (int)i + 1;
        m.n_rows++;
    }
    return m;
}

/* Of public copies of AIME the one that differs most from ours has 13 of 30 texts as they are; a translation
 * has none. */
enum { COPIED_TEXTS = 4 };

/* ---- which set a task claims to be, and which it is */

/* The set of that name which belongs to the task; NULL: it has none. */
static const struct known_set *find_set(const char *name, const char *task)
{
    for (int i = 0; i < N_SETS; i++)
        if (!strcmp(sets[i].name, name) && sets[i].task && !strcmp(sets[i].task, task))
            return &sets[i];
    return NULL;
}

int known_set_has_subsets(const char *task)
{
    const struct known_set *k = find_set(task, task);
    return k && k->subsets;
}

/* Letters and digits of the name, of an option behind it ("aime24 problems=2") none. */
static int is_named(const char *label, const char *name, int first_word)
{
    for (;; label++, name++) {
        while (*label && !letter_of(*label) && !(first_word && *label == ' '))
            label++;
        while (*name && !letter_of(*name))
            name++;
        int is_end = !*label || *label == ' ';
        if (is_end || !*name)
            return is_end && !*name;
        if (letter_of(*label) != letter_of(*name))
            return 0;
    }
}

/* Does the label call the task so, by its name or as people write it? */
static int is_called(const char *label, const struct known_set *k)
{
    return label &&
           (is_named(label, k->name, 1) || is_named(label, k->name, 0) || is_named(label, k->title, 0));
}

/* The set that the task is meant for, of LongBench the data set; NULL: none. */
static const struct known_set *task_set(const struct task *t)
{
    const char *subset = t->n_problems ? t->problems[0].subset : NULL;
    const struct known_set *k = subset ? find_set(subset, t->ops->name) : NULL;
    return k ? k : find_set(t->ops->name, t->ops->name);
}

/* A label that names a published set claims it, else the task does. */
static const struct known_set *claimed_set(const struct task *t)
{
    const struct known_set *k = task_set(t);
    for (int i = 0; i < N_SETS && (!k || !is_called(t->label, k)); i++)
        if (is_called(t->label, &sets[i]))
            return &sets[i];
    return k;
}

/* The set whose problems a task of somebody's own has, and no other ones; NULL: none. Few answers alone say
 * nothing. */
static const struct known_set *found_set(const struct task *t)
{
    for (int i = 0; i < N_SETS; i++) {
        struct match m = match_set(&sets[i], t);
        int is_it = (size_t)m.n_rows == t->n_problems ||
                    (sets[i].answers && t->n_problems >= 10 && (size_t)m.n_answers == t->n_problems);
        free(m.row);
        if (is_it && (!sets[i].task || strcmp(sets[i].task, "longbench") != 0))
            return &sets[i];
    }
    return NULL;
}

/* The set that a task file gives facts of. task_file_load() has told its rows. */
static const struct known_set *set_of_facts(struct task *t)
{
    const struct task_file *f = t->ops->file;
    if (!f || !f->facts.rows)
        return NULL;
    struct known_set *k = arena_alloc(&t->arena, sizeof *k);
    const char *title = f->about ? f->about : f->name;
    *k = (struct known_set){.name = f->name,
                            .title = arena_strndup(&t->arena, title, strcspn(title, ":")),
                            .n = f->facts.rows,
                            .task = f->name,
                            .is_ordered = 1};
    return k;
}

void known_set_match(struct task *t)
{
    t->set = claimed_set(t);
    if (!t->set && (t->set = set_of_facts(t)))
        return;
    if (!t->set && t->ops->file && t->ops->file->dir) /* somebody's own */
        t->set = found_set(t);
    if (!t->set)
        return;
    struct match m = match_set(t->set, t);
    for (size_t i = 0; i < t->n_problems; i++)
        t->problems[i].known_row = m.row[i];
    free(m.row);
}

static size_t count_known(const struct task *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_problems; i++)
        n += t->problems[i].known_row > 0;
    return n;
}

int known_set_is_whole(const struct task *t)
{
    const struct task_file *f = t->ops->file;
    /* Of options that are scored nobody counted the repetitions, and lm-evaluation-harness asks them all. */
    if (f && (f->facts.repeats || t->ops->option_metrics) && t->n_rows == (size_t)f->facts.rows)
        return 1;
    return t->set && !t->set->answers && t->n_problems == (size_t)t->set->n &&
           count_known(t) == t->n_problems;
}

/* Do the options call the data set LongBench-E's, "qasper_e"? Its rows are other ones, balanced by length;
 * the table has none of them. */
static int is_longbench_e(const struct task *t)
{
    const char *name = t->options.subset ? t->options.subset : t->options.file;
    const char *slash = name ? strrchr(name, '/') : NULL;
    name = slash ? slash + 1 : name;
    size_t n = name ? strcspn(name, ".") : 0;
    return !strcmp(t->ops->name, "longbench") && n > 2 && !memcmp(name + n - 2, "_e", 2);
}

static int is_of_facts(const struct known_set *k)
{
    return !k->rows && !k->answers && !k->source;
}

/* What a file's own facts say where they do not tell the rows to be the set's. */
static void tell_facts(struct task_set_facts *f, struct str *text, const struct task *t)
{
    const struct known_set *k = t->set;
    int has_answers = t->ops->file->facts.answers_sha256 != NULL;
    f->size = k->n;
    if (t->n_rows == (size_t)k->n && !has_answers) {
        f->is_it =
            1; /* nothing speaks against it; `first` stays 0, so that no published figure stands beside it */
        str_printf(text, "%zu rows, as many as %s has; its answers are not known here", t->n_rows, k->title);
        return;
    }
    if (t->n_rows == (size_t)k->n)
        str_printf(text, "not %s: %d rows, and other answers or another order", k->title, k->n);
    else
        str_printf(text, "not %s: %zu of %d rows", k->title, t->n_rows, k->n);
    f->is_renamed = t->label && !is_named(t->label, t->ops->name, 1);
    if (!f->is_renamed)
        str_puts(text, "; name the task otherwise");
}

void task_set_facts(struct task_set_facts *f, struct str *text, const struct task *t)
{
    const struct known_set *k = t->set;
    size_t n = count_known(t), n_first = 0;
    *f = (struct task_set_facts){0};
    if (!k)
        return;
    while (n_first < t->n_problems && t->problems[n_first].known_row == (int)n_first + 1)
        n_first++;
    if (is_of_facts(k) && !n) {
        tell_facts(f, text, t);
        return;
    }
    int is_it = n == t->n_problems, is_whole = is_it && n == (size_t)k->n;
    int is_first = is_it && k->is_ordered && n_first == n, by_answers = 0;
    if (k->answers) {
        struct match m = match_set(k, t);
        by_answers = COPIED_TEXTS * (size_t)m.n_rows < t->n_problems;
        n = is_it ? n : (size_t)m.n_answers;
        free(m.row);
    }
    f->size = k->n;
    f->is_it = is_it;
    if (k->task && !strcmp(k->task, t->ops->name) && (is_whole || is_first) && !by_answers)
        f->first = (int)n;
    if (is_it) {
        if (is_whole)
            str_printf(text, "%s, all %d", k->title, k->n);
        else
            str_printf(text, "%s%zu of %s's %d", is_first ? "the first " : "", n, k->title, k->n);
        str_puts(text, is_whole && k->is_ordered && !is_first ? ", in another order" : "");
        if (by_answers)
            str_printf(text, " by their answers%s", k->rows ? ", with other texts" : "");
        return;
    }
    if (k->source)
        str_printf(text, "not %s, whose published file is another", k->title);
    else
        str_printf(text, "not %s: %zu of %d %s", k->title, n, k->n, k->answers ? "answers" : "problems");
    if (n && n < t->n_problems)
        str_printf(text, " and %zu other problem%s", t->n_problems - n, t->n_problems - n > 1 ? "s" : "");
    if (is_longbench_e(t))
        str_puts(text, "; the problems of LongBench-E are not known here");
    f->is_renamed = t->label && !is_named(t->label, t->ops->name, 1) && !is_called(t->label, k);
    if (!f->is_renamed)
        str_puts(text, "; name the task otherwise");
}

/* ---- what is refused */

/* Is the file of that set, which it does not claim to be? Few answers alone say nothing. */
static int is_other(const struct known_set *k, const struct task *t)
{
    size_t n = t->n_problems, own = count_known(t);
    if (n >= 2 * (size_t)k->n)
        return 0;
    struct match m = match_set(k, t);
    int is_of_texts = !k->task || strcmp(k->task, "longbench") != 0;
    int is_it = is_of_texts ? ((size_t)m.n_rows > own && 2 * (size_t)m.n_rows >= n) ||
                                  (k->answers && n >= 5 && (size_t)m.n_answers == n)
                            : n >= 10 && (size_t)m.n_rows == n && 2 * own < n;
    free(m.row);
    return is_it;
}

static int check_other(const struct task *t, const char *path, struct err *e)
{
    const struct known_set *own = t->set, *other = NULL;
    if (count_known(t) == t->n_problems)
        return 0;
    for (int i = 0; i < N_SETS && !other; i++)
        if (&sets[i] != own && is_other(&sets[i], t))
            other = &sets[i];
    if (!other)
        return 0;
    const char *way = other == task_set(t)                 ? "leave out \"as\", or write "
                      : !other->task                       ? "give it \"as\": "
                      : !strcmp(other->task, t->ops->name) ? "ask for it with \"subset\": "
                                                           : "name the task ";
    return err_set(e, ERR_USAGE, "%s: these are problems of %s, not of %s; %s\"%s\"", path, other->title,
                   own->title, way, other->name);
}

/* A file with most of the answers, but not all, is a copy of which some problems are damaged; one with few of
 * them is another set that somebody named. */
static int check_answers(const struct task *t, const char *path, struct err *e)
{
    const struct known_set *k = t->set;
    if (!k->answers)
        return 0;
    struct match m = match_set(k, t);
    const char *wrong = m.wrong;
    size_t n = t->n_problems, found = (size_t)m.n_answers;
    if (!wrong && n == (size_t)k->n && found < n && found >= n * 4 / 5)
        wrong = m.odd;
    free(m.row);
    if (!wrong)
        return 0;
    return err_set(e, ERR_FORMAT,
                   "%s: %zu answers are those of %s, but not that of problem %s: this copy is damaged; "
                   "`kveval fetch %s` gets one that is checked",
                   path, found, k->name, wrong, t->ops->name);
}

static int check_damage(const struct task *t, const char *path, struct err *e)
{
    for (const struct known_damage *d = t->set->damage; d && d->text; d++)
        for (size_t i = 0; i < t->n_problems; i++)
            if (strstr(t->problems[i].prompt, d->text))
                return err_set(e, ERR_FORMAT,
                               "%s: problem %s is damaged, %s; `kveval fetch %s` gets a copy that is checked",
                               path, t->problems[i].id, d->what, t->ops->name);
    return 0;
}

/* Harnesses draw orders of options row by row. */
static int check_order(const struct task *t, const char *path, struct err *e)
{
    const struct known_set *k = t->set;
    if (t->options.order <= OPTIONS_BY_RECORD || !k->source || !strcmp(k->source, t->source))
        return 0;
    return err_set(e, ERR_USAGE,
                   "task %s: order %s is drawn row by row for the published file, and %s is another; `kveval "
                   "fetch %s` gets it, and without \"order\" any file is read",
                   t->ops->name, option_rule_names[t->options.order], path, t->ops->name);
}

static int take_subset(struct task *t, const char *path, struct err *e)
{
    const struct known_subset *s = t->set->subsets;
    struct str names = {0};
    size_t n_first = 0;
    for (; s && s->name && strcmp(s->name, t->options.subset); s++)
        str_printf(&names, "%s%s", names.len ? ", " : "", s->name);
    while (n_first < t->n_problems && t->problems[n_first].known_row == (int)n_first + 1)
        n_first++;
    int rc = 0;
    if (!s || !s->name)
        rc = err_set(e, ERR_USAGE, "task %s: unknown subset \"%.80s\"; it has %s", t->ops->name,
                     t->options.subset, str_text(&names));
    else if (n_first < (size_t)s->n)
        rc = err_set(
            e, ERR_USAGE,
            "task %s: subset %s is the first %d problems of the published file, and %s is another file; "
            "`kveval fetch %s` gets it, and \"problems\": %d takes the first ones of any file",
            t->ops->name, s->name, s->n, path, t->ops->name, s->n);
    else
        t->n_problems = (size_t)s->n;
    str_release(&names);
    return rc;
}

int known_set_check(struct task *t, const char *path, struct err *e)
{
    if (!t->set || !path)
        return 0;
    int rc = check_other(t, path, e);
    if (!rc)
        rc = check_damage(t, path, e);
    if (!rc)
        rc = check_answers(t, path, e);
    if (!rc)
        rc = check_order(t, path, e);
    if (!rc && t->options.subset && t->set->subsets)
        rc = take_subset(t, path, e);
    return rc;
}
