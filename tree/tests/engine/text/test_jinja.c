/* The evaluator of chat templates against renderings that jinja2 made (jinja_fixture.py). An argument names
 * another fixture, for instance one made of published templates, whose differences are listed. */
#include "engine/text/jinja/jinja.h"
#include "evalcore/base/json.h"
#include "tests/check.h"

enum { MESSAGES_MAX = 16, VARS_MAX = 16 };

static const char *text_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static size_t read_messages(const json_t *list, struct jinja_message *m)
{
    size_t n = json_array_size(list);
    CHECK(n <= MESSAGES_MAX);
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(list, i);
        m[i] = (struct jinja_message){.role = text_of(o, "role"), .text = text_of(o, "content")};
        m[i].n = strlen(m[i].text);
        if (i + 1 == n) /* the last message is the problem */
            m[i].to = m[i].n;
    }
    return n;
}

static size_t read_vars(json_t *o, struct jinja_var *v)
{
    const char *key;
    json_t *value;
    size_t n = 0;
    json_object_foreach(o, key, value)
    {
        CHECK(n < VARS_MAX);
        v[n] = (struct jinja_var){.name = key, .kind = json_is_boolean(value) ? JINJA_BOOL : JINJA_NONE};
        v[n].flag = json_is_true(value);
        if (json_is_string(value)) {
            v[n].kind = JINJA_TEXT;
            v[n].text = json_string_value(value);
        }
        n++;
    }
    return n;
}

/* The guarded range must hold a part of the last message. Published templates may also rewrite the text. */
static int guards(const struct str *out, const size_t guard[2], const struct jinja_message *last)
{
    size_t n = guard[1] - guard[0];
    if (!n)
        return 1;
    for (size_t i = 0; i + n <= last->n; i++)
        if (!memcmp(last->text + i, out->data + guard[0], n))
            return 1;
    return 0;
}

static int render(const json_t *o, const char *name, struct str *out, struct err *e, int *is_guarded)
{
    struct jinja_template *t;
    struct jinja_message messages[MESSAGES_MAX];
    struct jinja_var vars[VARS_MAX];
    size_t guard[2];
    const char *text = text_of(o, "template");
    int rc = jinja_open(&t, text, strlen(text), name, e);
    struct jinja_input in = {.messages = messages, .vars = vars};
    in.n_messages = read_messages(json_object_get(o, "messages"), messages);
    in.n_vars = read_vars(json_object_get(o, "vars"), vars);
    if (!rc)
        rc = jinja_render(t, &in, out, guard, e);
    *is_guarded = rc || guards(out, guard, &messages[in.n_messages - 1]);
    jinja_close(t);
    return rc;
}

/* In a fixture of our own every case must match; a case with "refused" has words of our message instead. */
static void check_case(const json_t *o, int is_ours, int count[3])
{
    struct str out = {0};
    struct err e = {0};
    int is_guarded, rc;
    const char *name = text_of(o, "name"), *want = text_of(o, "text"), *refused = text_of(o, "refused");
    rc = render(o, name, &out, &e, &is_guarded);
    int same = !rc && want && !strcmp(str_text(&out), want) && (is_guarded || !is_ours);
    int told = rc && refused && strstr(e.text, refused);
    count[rc ? 1 : same ? 0 : 2]++;
    if ((is_ours && !same && !told) || (!is_ours && (rc ? want != NULL : !same)))
        printf("%s: %s\n--- got\n%s\n--- want\n%s\n", name,
               rc           ? e.text
               : is_guarded ? "differs"
                            : "guard",
               str_text(&out), want ? want : "an error");
    CHECK(!is_ours || same || told);
    str_release(&out);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : SOURCE_DIR "/tests/engine/text/jinja.json";
    struct err e = {0};
    json_t *file;
    int count[3] = {0, 0, 0};
    CHECK_INT(json_read_file(&file, path, &e), 0);
    CHECK_STR(e.text, "");
    for (size_t i = 0; i < json_array_size(file); i++)
        check_case(json_array_get(file, i), argc < 2, count);
    CHECK(json_array_size(file) > 0);
    printf("%d equal, %d refused, %d differ\n", count[0], count[1], count[2]);
    CHECK_INT(count[2], 0);
    json_decref(file);
    return check_done();
}
