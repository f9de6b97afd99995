/* The option table (param.test): what is set, how it prints, and every error text. */
#include "evalcore/base/param.h"

#include "tests/cases.h"

static const char *const scopes[] = {"q", "kv_max", "kv_sum", NULL};
static const char *const forces[] = {"true", "false", "extra", NULL};

struct options {
    int k_pages, l_pages, any;
    double r, alpha;
    int pin, maybe;
    const char *gate, *name;
    int scope, force_last;
    struct param_ints layers, dense_layers;
    struct param_map map;
};

#define AT(field) offsetof(struct options, field)
static const struct param table[] = {
    {"k_pages", PARAM_INT, AT(k_pages), NULL, 1, 4096, NULL, "pages read in a step"},
    {"l_pages", PARAM_INT, AT(l_pages), "4", 0, INFINITY, NULL, "newest pages"},
    {"any", PARAM_INT, AT(any), "-3", 0, 0, NULL, "an integer without bounds"},
    {"r", PARAM_DOUBLE, AT(r), "0.5", 0, 1, NULL, "share that is stamped"},
    {"alpha", PARAM_DOUBLE, AT(alpha), NULL, 0, 0, NULL, "limit for a stamp"},
    {"pin_prefill", PARAM_BOOL, AT(pin), "true", 0, 0, NULL, "keep the prompt"},
    {"maybe", PARAM_BOOL, AT(maybe), NULL, 0, 0, NULL, "a switch without default"},
    {"gate", PARAM_FILE, AT(gate), NULL, 0, 0, NULL, "gate file"},
    {"title", PARAM_STRING, AT(name), "plain", 0, 0, NULL, "a text"},
    {"scope", PARAM_ENUM, AT(scope), "q", 0, 0, scopes, "who shares a choice"},
    {"force_last", PARAM_ENUM, AT(force_last), "true", 0, 0, forces, "always read the current page"},
    {"layers", PARAM_INTS, AT(layers), "2+5+7", 0, 127, NULL, "refresh layers"},
    {"dense_layers", PARAM_INTS, AT(dense_layers), NULL, 0, 0, NULL, "layers that read everything"},
    {"map", PARAM_MAP, AT(map), NULL, 0, 0, NULL, "anchor head of each KV head"},
    {0},
};
static const struct param empty_table[] = {{0}};

/* Sets every field of the object (--- json) or every pair (--- text). */
static int apply(const struct test_case *t, struct options *o, struct arena *a, struct err *e)
{
    const char *text = case_text(t, "text"), *json = case_text(t, "json"), *key;
    json_t *given, *v;
    int rc = 0;
    if (text)
        return param_set_pairs(table, o, a, text, "policy test", e);
    json = json ? json : case_need(t, "json");
    if (json_read_text(&given, json, strlen(json), t->name, e))
        return e->code;
    json_object_foreach(given, key, v)
    {
        if (!rc)
            rc = param_set_json(table, o, a, key, v, "policy test", e);
    }
    json_decref(given);
    return rc;
}

static void file_cases(const char *path)
{
    struct cases c;
    struct test_case t;
    cases_open(&c, path);
    while (cases_next(&c, &t)) {
        struct options *o = calloc(1, sizeof *o);
        struct arena a = {0};
        struct err e = {0};
        struct str got = {0};
        param_defaults(table, o);
        int rc = apply(&t, o, &a, &e);
        if (case_text(&t, "error")) {
            CHECK_INT(rc, ERR_USAGE);
            CASE_STR(&t, "error", e.text);
        } else {
            const char *name = case_need(&t, "option");
            const struct param *p = param_find(table, name);
            json_t *all = param_json(table, o);
            if (!rc)
                json_canonical(&got, json_object_get(all, name));
            CASE_STR(&t, "want", rc ? e.text : got.data);
            str_clear(&got);
            param_text(p, o, &got);
            CASE_STR(&t, "as_text", got.data);
            CHECK_INT(param_is_set(p, o), json_object_get(all, name) != NULL);
            json_decref(all);
        }
        str_release(&got);
        arena_release(&a);
        free(o);
    }
    cases_close(&c);
}

/* A failed setting leaves the value as it was. */
static void failure_changes_nothing(void)
{
    struct options *o = calloc(1, sizeof *o);
    struct arena a = {0};
    struct err e = {0};
    param_defaults(table, o);
    CHECK_INT(param_set_text(table, o, &a, "layers", "1+900", "p", &e), ERR_USAGE);
    CHECK_INT(o->layers.n, 3);
    CHECK_INT(o->layers.v[1], 5);
    e.code = 0;
    CHECK_INT(param_set_text(table, o, &a, "map", "4:11+6:0x", "p", &e), ERR_USAGE);
    CHECK_INT(o->map.n, 0);
    e.code = 0;
    CHECK_INT(param_set_text(empty_table, o, &a, "k", "1", "policy full", &e), ERR_USAGE);
    CHECK_STR(e.text, "policy full: unknown option \"k\"; it has no options");
    arena_release(&a);
    free(o);
}

/* Text -> value -> text -> value for every option: the record of a run can be given back on the command line.
 */
static void text_reads_back(void)
{
    struct options *o = calloc(1, sizeof *o), *again = calloc(1, sizeof *again);
    struct arena a = {0};
    struct err e = {0};
    struct str first = {0}, second = {0}, text = {0};
    param_defaults(table, o);
    param_defaults(table, again);
    CHECK_INT(param_set_pairs(
                  table, o, &a,
                  "k_pages=8,r=0.1,alpha=1e-4,maybe=false,gate=a b.safetensors,scope=kv_sum,force_last=extra,"
                  "dense_layers=none,layers=9,map=11:3.12+4:01+5:40.",
                  "p", &e),
              0);
    CHECK_STR(e.text, "");
    json_t *v = param_json(table, o);
    json_canonical(&first, v);
    json_decref(v);
    for (const struct param *p = table; p->name; p++) {
        str_clear(&text);
        param_text(p, o, &text);
        if (param_is_set(p, o))
            CHECK_INT(param_set_text(table, again, &a, p->name, text.data, "p", &e), 0);
    }
    v = param_json(table, again);
    json_canonical(&second, v);
    json_decref(v);
    CHECK_STR(second.data, first.data);
    str_release(&first);
    str_release(&second);
    str_release(&text);
    arena_release(&a);
    free(o);
    free(again);
}

/* What a policy keeps of its options once outlived the arena that they had been parsed into. */
static void copy_owns_its_strings(void)
{
    struct arena from = {0}, a = {0};
    struct options *o = xcalloc(1, sizeof *o), *copy = xcalloc(1, sizeof *copy);
    struct err e = {0};
    param_defaults(table, o);
    CHECK_INT(param_set_pairs(table, o, &from, "gate=a.safetensors,layers=1+3", "test", &e), 0);
    param_copy(table, copy, o, sizeof *o, &a);
    arena_release(&from);
    free(o);
    struct str gate = {0};
    param_text(param_find(table, "gate"), copy, &gate);
    CHECK_STR(gate.data, "a.safetensors");
    CHECK_INT(copy->layers.n, 2);
    CHECK_STR(copy->name, "plain");
    str_release(&gate);
    arena_release(&a);
    free(copy);
}

static void help(void)
{
    struct str s = {0};
    param_help(table, &s);
    CHECK(strstr(s.data, "  k_pages            pages read in a step (integer, 1 to 4096; no default)\n"));
    CHECK(strstr(s.data, "  l_pages            newest pages (integer, at least 0; default 4)\n"));
    CHECK(strstr(s.data, "  scope              who shares a choice (q|kv_max|kv_sum; default q)\n"));
    CHECK(strstr(s.data, "  pin_prefill        keep the prompt (true or false; default true)\n"));
    CHECK(strstr(s.data, "  gate               gate file (file name; no default)\n"));
    CHECK(strstr(s.data, "  title              a text (text; default plain)\n"));
    str_release(&s);
}

int main(int argc, char **argv)
{
    file_cases(argc > 1 ? argv[1] : NULL);
    failure_changes_nothing();
    text_reads_back();
    copy_owns_its_strings();
    help();
    CHECK_STR(param_nearest(table, "scop"), "scope");
    CHECK(!param_nearest(table, "temperature"));
    return check_done();
}
