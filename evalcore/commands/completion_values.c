/* See values.h. The names of policies, tasks and chat forms come from their own tables. */
#include "evalcore/commands/completion.h"

#include <ctype.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/policies/policy.h"
#include "tasks/task.h"

static void add_word(struct str *out, const char *word)
{
    str_printf(out, "%s%s", out->len ? " " : "", word);
}

static void add_policies(struct str *out)
{
    for (size_t i = 0; policy_at(i); i++)
        add_word(out, policy_name(policy_at(i)));
}

static void add_tasks(struct str *out)
{
    for (size_t i = 0; task_at(i); i++)
        add_word(out, task_at(i)->name);
}

static void add_sources(struct str *out)
{
    for (size_t i = 0; task_at(i); i++)
        if (task_at(i)->sources)
            add_word(out, task_at(i)->name);
}

static void add_forms(struct str *out)
{
    str_puts(out, "auto");
    for (size_t i = 0; chat_at(i); i++)
        add_word(out, chat_at(i)->name);
}

static const struct row {
    const char *word;
    const char *words; /* that can stand for it; NULL: none, or those of `list` */
    void (*list)(struct str *out);
    int files, folders, is_list;
    const char *suffix;
} rows[] = {
    {"DIR", .folders = 1},
    {"OLD", .folders = 1},
    {"MODEL", .words = "pocket", .folders = 1},
    {"FILE", .files = 1},
    {"RUN.json", .files = 1, .suffix = ".json"},
    {"CONFIG.json", .files = 1, .suffix = ".json"},
    {"SPEC", .list = add_policies},
    {"POLICIES", .list = add_policies, .is_list = 1},
    {"TASKS", .list = add_tasks, .is_list = 1},
    {"TASK", .list = add_sources},
    {"FORM", .list = add_forms},
    {"DEVICE", .words = "cpu cuda:0"},
    {"DEVICES", .words = "cpu cuda:0", .is_list = 1},
    {"TYPE", .words = "fp32 bf16"},
    {"HOW", .words = "auto plain json none"},
    {"MODE", .words = "auto on off"},
    {"ISA", .words = "scalar avx2 avx512"},
};

void values_of(struct values *out, const char *word)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; word && i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *r = &rows[i];
        if (strcmp(r->word, word))
            continue;
        if (r->list)
            r->list(&out->words);
        else if (r->words)
            str_puts(&out->words, r->words);
        out->files = r->files;
        out->folders = r->folders;
        out->is_list = r->is_list;
        out->suffix = r->suffix;
    }
}

/* One alternative of an argument: a word in small letters stands for itself. */
static void add_argument(struct values *out, const char *text, size_t n)
{
    char word[64];
    struct values v;
    while (n && (text[n - 1] == ']' || text[n - 1] == '.'))
        n--;
    while (n && *text == '[') {
        text++;
        n--;
    }
    if (!n || n >= sizeof word)
        return;
    memcpy(word, text, n);
    word[n] = 0;
    values_of(&v, word);
    if (islower((unsigned char)word[0]))
        add_word(&out->words, word);
    else if (v.words.len)
        add_word(&out->words, v.words.data);
    out->files |= v.files;
    out->folders |= v.folders;
    out->suffix = v.suffix ? v.suffix : out->suffix;
    values_release(&v);
}

void values_of_usage(struct values *out, const char *usage)
{
    int skip = 0; /* the word is the value of the option before it */
    memset(out, 0, sizeof *out);
    while (*(usage += strspn(usage, " "))) {
        size_t n = strcspn(usage, " ");
        int is_option = usage[0] == '-' || (usage[0] == '[' && usage[1] == '-');
        for (size_t at = 0; !is_option && !skip && at < n;) {
            size_t part = strcspn(usage + at, " |");
            add_argument(out, usage + at, part);
            at += part + (usage[at + part] == '|');
        }
        skip = is_option && usage[n - 1] != ']';
        usage += n;
    }
}

int values_any(const struct values *v)
{
    return v->words.len || v->files || v->folders;
}

void values_release(struct values *v)
{
    str_release(&v->words);
}

void completion_escape(struct str *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            str_putc(out, '\\');
        str_putc(out, *text);
    }
}

void completion_quote(struct str *out, const char *text)
{
    str_putc(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            str_puts(out, "'\\''");
        else
            str_putc(out, *text);
    str_putc(out, '\'');
}
