/* Fuzzes task files and their rows: no crash, an error has a message, and what loads has whole problems.
 * Bytes at random are no JSON, so the input is mostly a list of edits to a file of the program or to one of
 * those below, and to rows. */
#undef NDEBUG /* the checks are the point, whatever the build type */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tasks/task_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const definitions[] = {
    "{\"name\":\"a\",\"kind\":\"math\",\"rows\":{\"file\":\"r.jsonl\",\"without\":\"x\",\"hub\":\"o/"
    "n\",\"fetch\":[{\"file\":\"d/r.jsonl\",\"split\":\"test\",\"rows\":2},{\"file\":\"d/"
    "p\",\"parts\":[\"p\"]}]},\"fields\":{"
    "\"problem\":[\"q.text\","
    "\"question\"],\"theme\":{\"columns\":[\"theme\"],\"trim\":true}},\"prompts\":{\"p\":\"{examples}{theme} "
    "{problem}\"},"
    "\"few_shot\":{\"rows\":[{\"question\":\"p\",\"answer\":1}],\"count\":1,\"text\":\"{problem} "
    "{answer}\",\"join\":\" \"},"
    "\"grader\":{\"answer_after\":\"####\",\"answer_without\":\",\"},\"facts\":{\"rows\":2},\"limit\":9}",
    "{\"name\":\"a\",\"kind\":\"choice\",\"fields\":{\"options\":[\"A\",\"B\",\"C\"]},\"grader\":{\"answer_"
    "is\":\"from1\"},"
    "\"prompts\":{\"p\":{\"text\":\"{problem} {A} {letters}\\n{options}\",\"option\":\"{letter}. {raw}\"}},"
    "\"subsets\":[\"theme\"]}",
    "{\"name\":\"a\",\"kind\":\"choice\"}",
};
static const char *const rows[] = {
    "{\"question\":\"1+1?\",\"answer\":\"so #### 1,2\",\"theme\":\" t "
    "\"}\n{\"q\":{\"text\":\"2?\"},\"answer\":3,\"theme\":\"u\"}\n",
    "{\"question\":\"Sky?\",\"A\":\"red\",\"B\":\"blue\",\"answer\":2,\"theme\":\"t\"}\n"
    "{\"question\":\"Sea?\",\"A\":\"red\",\"B\":\"blue\",\"answer\":1}\n",
    "[{\"question\":\"Sky?\",\"options\":[\"red\",\"blue\"],\"answer\":\"blue\"},{\"question\":\"Sea?\","
    "\"options\":[1,2,3],"
    "\"answer\":\"B\"}]",
    "question,A,B,answer\r\n\"Sky, \"\"say\"\"?\",red,blue,B\r\nSea?,red,,A\r\n",
};
enum { N_DEFINITIONS = sizeof definitions / sizeof *definitions, N_ROWS = sizeof rows / sizeof *rows };

struct bytes {
    const uint8_t *at, *end;
};

static unsigned next_byte(struct bytes *b)
{
    return b->at < b->end ? *b->at++ : 0;
}

/* Edits of three bytes: a place, and what is put there, left out or copied from elsewhere. */
static void edit(struct str *s, struct bytes *b, unsigned n)
{
    static const char *const words[] = {"\"",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "null",
                                        "-1",
                                        "1e400",
                                        "\\u0000",
                                        "../",
                                        "{problem}",
                                        "\"kind\":\"likelihood\"",
                                        "\"kind\":\"code\"",
                                        "\"kind\":\"metric\"",
                                        "\xff",
                                        "\n",
                                        "{\"a\":1}",
                                        "99999999999",
                                        ""};
    while (n-- && s->len) {
        size_t at = (next_byte(b) * 256 + next_byte(b)) % s->len;
        unsigned what = next_byte(b);
        const char *word = words[what % (sizeof words / sizeof *words)];
        struct str out = {0};
        str_add(&out, s->data, at);
        str_puts(&out, word);
        size_t skip = what & 1 ? strlen(word) : what >> 5;
        if (at + skip < s->len)
            str_add(&out, s->data + at + skip, s->len - at - skip);
        str_release(s);
        *s = out;
    }
}

static void check_problems(const struct task *t)
{
    assert(t->n_problems);
    for (size_t i = 0; i < t->n_problems; i++) {
        const struct problem *p = &t->problems[i];
        assert(p->id && *p->id && p->prompt && strlen(p->prompt) <= p->prompt_len && p->hash[0]);
    }
}

static void load(const struct task_ops *ops, const struct str *text)
{
    struct task_options o;
    struct task t;
    struct err e = {0};
    char path[64];
    int fd = memfd_create("rows", 0);
    assert(fd >= 0 && write(fd, str_text(text), text->len) == (ssize_t)text->len);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    param_defaults(task_params, &o);
    o.file = path;
    int rc = task_open_as(&t, ops, NULL, &o, NULL, NULL, &e);
    assert((rc == 0) == (e.code == 0) && (!rc || e.text[0]));
    if (!rc) {
        struct str known = {0};
        struct task_set_facts facts;
        check_problems(&t);
        task_set_facts(&facts, &known, &t);
        str_release(&known);
    }
    task_close(&t);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes b = {data, data + size};
    unsigned which = next_byte(&b), rest = next_byte(&b);
    struct str definition = {0}, text = {0}, shown = {0};
    struct arena a = {0};
    struct err e = {0};
    json_t *o = NULL;
    size_t n_sets = 0;
    while (task_texts[n_sets].name)
        n_sets++;
    unsigned seed = which % (unsigned)(N_DEFINITIONS + n_sets + 1);
    if (seed < N_DEFINITIONS)
        str_puts(&definition, definitions[seed]);
    else if (seed < N_DEFINITIONS + n_sets)
        str_puts(&definition, task_texts[seed - N_DEFINITIONS].text);
    str_puts(&text, rows[rest % N_ROWS]);
    edit(&definition, &b, rest >> 2 & 7);
    edit(&text, &b, rest >> 5);
    if (!definition.len)
        str_add(&definition, (const char *)b.at, (size_t)(b.end - b.at));
    struct task_file *f = arena_alloc(&a, sizeof *f);
    int rc = json_read_text(&o, str_text(&definition), definition.len, "fuzz.json", &e);
    if (!rc)
        rc = task_file_parse(f, o, "fuzz.json", "", &a, &e);
    assert((rc == 0) == (e.code == 0) && (!rc || e.text[0]));
    if (!rc) {
        load(&f->ops, &text);
        task_describe(&shown, &f->ops);
        for (int i = 0; i < f->n_prompts; i++)
            task_example(&shown, &f->ops, f->prompt[i].name, &e);
    }
    json_decref(o);
    str_release(&definition);
    str_release(&text);
    str_release(&shown);
    arena_release(&a);
    return 0;
}
