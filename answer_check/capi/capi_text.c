/* The C interface: letters of multiple choice and metrics of texts (contract: answer_check_c.h). */
#include <stdio.h>
#include <string.h>

#include "answer_check/capi/capi_parts.h"

/* What grew since the caller was compiled is left out, what it knows and we do not is zero. */
static void give(void *out, size_t out_size, const void *from, size_t size)
{
    memset(out, 0, out_size);
    memcpy(out, from, out_size < size ? out_size : size);
}

static int find_letter(struct ac_choice *out, const struct ac_options *o, const char *text, size_t len)
{
    struct response r = {text, len, o->thinking, o->finish};
    struct arena a = {0};
    struct choice c = {0};
    const char *letter = NULL, *rule = "";
    int rc;
    if (o->preset >= 0) {
        rc = choice_preset(&letter, &rule, o->preset, text, len, o->n_options, &a);
        c.status = letter ? CHOICE_OK : CHOICE_UNPARSED;
        snprintf(out->letter, sizeof out->letter, "%s", letter ? letter : "");
    } else {
        rc = choice_extract(&c, &r, o->n_options, &a);
        rule = c.rule;
        out->letter[0] = c.letter;
    }
    out->status = choice_status_name(c.status);
    out->rule = rule;
    arena_release(&a);
    return rc;
}

int ac_choice(struct ac_choice *out, size_t out_size, const struct ac_options *o, const char *text,
              size_t len, char *error, size_t error_size)
{
    struct ac_options usual;
    struct ac_choice found = {0};
    struct err e = {0};
    capi_defaults(&usual, AC_CHOICE);
    o = o ? o : &usual;
    if (!out || !text)
        err_set(&e, ERR_USAGE, "%s is NULL", out ? "the text" : "out");
    else if (o->call != AC_CHOICE)
        err_set(&e, ERR_USAGE, "these options are not of AC_CHOICE");
    else if (find_letter(&found, o, text, len))
        err_set(&e, ERR_USAGE, "no letter can be looked for with these options");
    if (e.code)
        return capi_fail(&e, error, error_size);
    give(out, out_size, &found, sizeof found);
    return AC_OK;
}

/* ---- metrics. A segmenter is the graders' own under another name. ---- */

int ac_segmenter_open(struct ac_segmenter **out, const char *dir, char *error, size_t error_size)
{
    struct zh_segmenter *s = NULL;
    struct err e = {0};
    if (!out)
        err_set(&e, ERR_USAGE, "out is NULL");
    else
        zh_segmenter_open(&s, dir, NULL, &e);
    if (out)
        *out = (struct ac_segmenter *)s;
    return e.code ? capi_fail(&e, error, error_size) : AC_OK;
}

const char *ac_segmenter_name(const struct ac_segmenter *s)
{
    return zh_segmenter_name((const struct zh_segmenter *)s);
}

void ac_segmenter_close(struct ac_segmenter *s)
{
    zh_segmenter_close((struct zh_segmenter *)s);
}

const char *ac_textscore_names(void)
{
    return textscore_names();
}

int ac_textscore_needs_segmenter(const char *metric)
{
    return metric && textscore_needs_segmenter(metric);
}

static int check_call(const struct textscore_call *c, size_t n_classes, struct err *e)
{
    enum { CLASSES_MAX = 1 << 20 };
    if (!c->metric || !c->gold || !c->pred || (n_classes && !c->all_classes))
        return err_set(e, ERR_USAGE, "%s is NULL",
                       !c->metric ? "the metric"
                       : !c->gold ? "the reference"
                       : !c->pred ? "the text"
                                  : "the list of classes");
    if (!textscore_known(c->metric))
        return err_set(e, ERR_UNSUPPORTED, "metric \"%.60s\" is not in this version; there are %s", c->metric,
                       textscore_names());
    if (n_classes > CLASSES_MAX)
        return err_set(e, ERR_USAGE, "%zu classes are too many", n_classes);
    for (size_t i = 0; i < n_classes; i++)
        if (!c->all_classes[i])
            return err_set(e, ERR_USAGE, "class %zu is NULL", i);
    return 0;
}

int ac_textscore(double *score, const char *metric, const char *variant, const char *gold, size_t gold_len,
                 const char *pred, size_t pred_len, const char *const *classes, size_t n_classes,
                 const struct ac_segmenter *s, char *error, size_t error_size)
{
    struct err e = {0};
    struct textscore_call c = {.metric = metric,
                               .variant = variant,
                               .pred = pred,
                               .pred_len = pred_len,
                               .gold = gold,
                               .gold_len = gold_len,
                               .all_classes = classes,
                               .n_classes = (int)n_classes,
                               .zh = (const struct zh_segmenter *)s};
    if (!score)
        err_set(&e, ERR_USAGE, "score is NULL");
    else if (!check_call(&c, n_classes, &e))
        textscore(score, &c, &e);
    return e.code ? capi_fail(&e, error, error_size) : AC_OK;
}
