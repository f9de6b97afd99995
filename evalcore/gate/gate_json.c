/* gate.json, gate.xml (JUnit) and the lines on the console and for GitHub (contract: gate.h;
 * docs/nightly.md). */
#include <math.h>
#include <string.h>

#include "evalcore/base/shown.h"
#include "evalcore/cli/version.h"
#include "evalcore/gate/gate.h"

static json_t *number_json(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *optional_text(const char *s)
{
    return s ? json_text_of(s) : json_null();
}

static json_t *drift_json(const struct gate_drift *d)
{
    return json_pack("{s:o, s:i, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:b, s:o}",
                     "setting", json_text_of(d->setting), "trace", d->trace, "exact", d->is_exact, "nats",
                     number_json(d->nats), "worst_nats", number_json(d->worst), "top1", number_json(d->top1),
                     "kl", number_json(d->kl), "kl_limit", number_json(d->kl_limit), "worst_limit",
                     number_json(d->worst_limit), "top1_limit", number_json(d->top1_limit), "overlap",
                     number_json(d->overlap), "same_lists", d->same_lists, "reads", number_json(d->reads),
                     "base_reads", number_json(d->wanted), "failed", d->failed, "why", optional_text(d->why));
}

static json_t *setting_json(const struct gate_setting *s)
{
    json_t *looks = json_array(), *guards = json_array();
    for (int i = 0; i < s->n_looks; i++) {
        const struct gate_look *l = &s->look[i];
        json_array_append_new(looks, json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "samples",
                                               l->samples, "base_accuracy", number_json(l->base), "accuracy",
                                               number_json(l->now), "p_lower", number_json(l->lower),
                                               "p_lower_holm", number_json(l->holm), "fail_p",
                                               number_json(l->fail_p), "p_loss_of_margin",
                                               number_json(l->within), "pass_p", number_json(l->pass_p)));
    }
    for (int i = 0; i < GATE_GUARDS && s->n_looks; i++) {
        const struct gate_guard *g = &s->guard[i];
        json_array_append_new(guards,
                              json_pack("{s:s, s:o, s:o, s:o, s:o, s:b, s:b, s:o}", "name", g->name, "base",
                                        number_json(g->base), "now", number_json(g->now), "limit",
                                        number_json(g->limit), "p", number_json(g->p), "failed", g->failed,
                                        "cannot_tell", g->is_blind, "words", optional_text(g->words)));
    }
    return json_pack("{s:o, s:s, s:o, s:o, s:i, s:b, s:o, s:o, s:o, s:o, s:o}", "setting",
                     json_text_of(s->label), "verdict", gate_verdict_name(s->verdict), "why",
                     optional_text(s->why), "differs", optional_text(s->differs), "problems", s->n_problems,
                     "binary", s->is_binary, "delta_low", number_json(s->ci.low), "delta_high",
                     number_json(s->ci.high), "z", number_json(s->z), "looks", looks, "guards", guards);
}

static json_t *side_json(const struct gate_side *s)
{
    return json_pack("{s:o, s:o, s:s, s:s, s:o, s:o}", "path", json_text_of(s->path), "model",
                     json_text_of(s->model), "weights", s->weights, "configuration", s->configuration,
                     "numerics", json_text_of(s->numerics), "version", json_text_of(s->version));
}

void gate_json(struct str *out, const struct gate_result *r)
{
    json_t *drifts = json_array(), *settings = json_array(), *notes = json_array(), *flips = json_array();
    for (int i = 0; i < r->n_drifts; i++)
        json_array_append_new(drifts, drift_json(&r->drifts[i]));
    for (int i = 0; i < r->n_settings; i++)
        json_array_append_new(settings, setting_json(&r->settings[i]));
    for (int i = 0; i < r->n_notes; i++)
        json_array_append_new(
            notes,
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "setting", json_text_of(r->notes[i].setting),
                      "task", json_text_of(r->notes[i].task), "base_accuracy", number_json(r->notes[i].base),
                      "accuracy", number_json(r->notes[i].now), "p_lower", number_json(r->notes[i].p), "q",
                      number_json(r->notes[i].bh), "catastrophic", r->notes[i].is_catastrophic));
    for (int i = 0; i < r->n_flips; i++)
        json_array_append_new(
            flips,
            json_pack("{s:o, s:o, s:o, s:o, s:o}", "setting", json_text_of(r->flips[i].setting), "task",
                      json_text_of(r->flips[i].task), "problem", json_text_of(r->flips[i].problem), "base",
                      number_json(r->flips[i].base), "now", number_json(r->flips[i].now)));
    json_t *o = json_pack("{s:i, s:s, s:s, s:o, s:f, s:b, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "schema",
                          1, "program", KVEVAL_VERSION, "verdict", gate_verdict_name(r->verdict), "words",
                          optional_text(r->words), "margin_points", r->margin, "same_numerics", r->same_class,
                          "base", side_json(r->base), "new", side_json(r->now), "replays_missing",
                          optional_text(r->unscored), "replays_failed", r->tier1_failed, "replays", drifts,
                          "settings", settings, "tasks", notes, "largest_losses", flips);
    char *text = json_dumps(o, JSON_INDENT(1) | JSON_SORT_KEYS);
    str_puts(out, text ? text : "{}");
    str_putc(out, '\n');
    free(text);
    json_decref(o);
}

/* Valid UTF-8 without C1 controls (U+0080 to U+009F), which terminals obey, without what turns the direction
 * (shown.h), and without U+FFFE and U+FFFF,
 * which XML forbids (XML 1.0, section 2.2). */
static void add_clean(struct str *out, const char *s)
{
    struct str valid = {0};
    str_add_utf8(&valid, s ? s : "", s ? strlen(s) : 0);
    for (size_t i = 0; i < valid.len; i++) {
        const unsigned char *c = (const unsigned char *)valid.data + i;
        size_t left = valid.len - i;
        int is_c1 = left > 1 && c[0] == 0xc2 && c[1] < 0xa0;
        int is_none = left > 2 && c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe;
        if (is_c1 || is_none || (left > 2 && shown_turns(valid.data + i))) {
            str_puts(out, "\xef\xbf\xbd");
            i += is_c1 ? 1 : 2;
        } else {
            str_putc(out, (char)c[0]);
        }
    }
    str_release(&valid);
}

static void xml_text(struct str *out, const char *s)
{
    struct str clean = {0};
    add_clean(&clean, s);
    for (size_t i = 0; i < clean.len; i++) {
        unsigned char c = (unsigned char)clean.data[i];
        if (c == '<')
            str_puts(out, "&lt;");
        else if (c == '>')
            str_puts(out, "&gt;");
        else if (c == '&')
            str_puts(out, "&amp;");
        else if (c == '"')
            str_puts(out, "&quot;");
        else
            str_putc(out, c < 0x20 ? ' ' : (char)c);
    }
    str_release(&clean);
}

static void test_case(struct str *out, const char *class_name, const char *name, enum gate_verdict v,
                      const char *why)
{
    static const char *const element[] = {NULL, "failure", "skipped", "skipped", "error"};
    str_puts(out, "  <testcase classname=\"");
    xml_text(out, class_name);
    str_puts(out, "\" name=\"");
    xml_text(out, name);
    if (v == GATE_PASS) {
        str_puts(out, "\"/>\n");
        return;
    }
    str_printf(out, "\"><%s message=\"", element[v]);
    xml_text(out, why);
    str_puts(out, "\"/></testcase>\n");
}

void gate_junit(struct str *out, const struct gate_result *r)
{
    int n[5] = {0};
    for (int i = 0; i < r->n_settings; i++)
        n[r->settings[i].verdict]++;
    for (int i = 0; i < r->n_drifts; i++)
        n[r->drifts[i].failed ? GATE_REGRESSION : GATE_PASS]++;
    int is_bare = r->verdict == GATE_ERROR && !n[GATE_ERROR]; /* an error that is no setting's */
    str_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    str_printf(out,
               "<testsuite name=\"kveval.gate\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n",
               r->n_settings + r->n_drifts + is_bare, n[GATE_REGRESSION], n[GATE_ERROR] + is_bare,
               n[GATE_OPEN] + n[GATE_INCONCLUSIVE]);
    for (int i = 0; i < r->n_drifts; i++) {
        struct str name = {0};
        str_printf(&name, "replay of completion %d", r->drifts[i].trace);
        test_case(out, r->drifts[i].setting, name.data, r->drifts[i].failed ? GATE_REGRESSION : GATE_PASS,
                  r->drifts[i].why);
        str_release(&name);
    }
    for (int i = 0; i < r->n_settings; i++)
        test_case(out, r->settings[i].label, "accuracy and guards", r->settings[i].verdict,
                  r->settings[i].why);
    if (is_bare)
        test_case(out, "kveval", "gate", GATE_ERROR, r->words);
    str_puts(out, "</testsuite>\n");
}

/* What a terminal or GitHub may take for a command is left out or broken: `::name::` at the start of a line,
 * blanks before it do not count, and `##[name]` anywhere. */
static void console_line(struct str *out, const char *s, int is_github)
{
    struct str clean = {0};
    add_clean(&clean, s);
    for (size_t i = 0; i < clean.len; i++) {
        unsigned char c = (unsigned char)clean.data[i];
        char before = out->len ? out->data[out->len - 1] : 0;
        if ((c == ':' && i && before == ':') || (c == '[' && i && before == '#'))
            str_putc(out, ' ');
        if (is_github && (c == '%' || c == '\n' || c == '\r'))
            str_printf(out, "%%%02X", c);
        else
            str_putc(out, c < 0x20 || c == 0x7f ? ' ' : (char)c);
    }
    str_release(&clean);
}

/* What its guards cannot tell, of each kind once: it depends on the problems, which settings share. */
static void blind_guards(struct str *out, const struct gate_result *r)
{
    for (int k = 0; k < GATE_GUARDS; k++)
        for (int i = 0; i < r->n_settings; i++) {
            const struct gate_guard *g = &r->settings[i].guard[k];
            if (!r->settings[i].n_looks || !g->is_blind || g->failed)
                continue;
            str_puts(out, "guards: ");
            console_line(out, g->words, 0);
            str_putc(out, '\n');
            break;
        }
}

static void replays_line(struct str *out, const struct gate_result *r)
{
    int failed = 0, exact = 0;
    for (int i = 0; i < r->n_drifts; i++) {
        failed += r->drifts[i].failed;
        exact += r->drifts[i].is_exact;
    }
    if (r->same_class && gate_is_served(r->now))
        str_printf(out, "replays: %d of %d are within the noise of the baseline's night\n",
                   r->n_drifts - failed, r->n_drifts);
    else if (gate_is_served(r->now) || gate_is_served(r->base))
        str_printf(out, "replays: %d of %d are within what another numerics class may differ by\n",
                   r->n_drifts - failed, r->n_drifts);
    else
        str_printf(out, "replays: %d of %d are the same to the last bit%s\n", exact, r->n_drifts,
                   failed || r->same_class ? ""
                                           : ", the others within what another numerics class may differ by");
}

void gate_console(struct str *out, const struct gate_result *r)
{
    if (r->changed) {
        str_puts(out, "options are not those of the baseline: ");
        console_line(out, r->changed, 0);
        str_putc(out, '\n');
    }
    if (!r->same_class) {
        str_puts(out, "numerics: ");
        console_line(out, r->now->numerics, 0);
        str_puts(out, ", in the baseline ");
        console_line(out, r->base->numerics, 0);
        if (gate_is_served(r->now) || gate_is_served(r->base))
            str_puts(out, "; whether the weights are the same cannot be told");
        str_putc(out, '\n');
    }
    if (r->now->n_texts || r->base->n_texts)
        str_puts(out, "left out: tasks of texts, which have likelihoods instead of verdicts\n");
    if (r->unscored) {
        str_puts(out, "replays: none, since ");
        console_line(out, r->unscored, 0);
        str_putc(out, '\n');
    }
    if (r->n_drifts) {
        replays_line(out, r);
        for (int i = 0, shown = 0; i < r->n_drifts && shown < 8; i++)
            if (r->drifts[i].failed) {
                str_puts(out, "  replay of ");
                console_line(out, r->drifts[i].setting, 0);
                str_printf(out, ", completion %d: ", r->drifts[i].trace);
                console_line(out, r->drifts[i].why, 0);
                str_putc(out, '\n');
                shown++;
            }
    }
    for (int i = 0; i < r->n_settings; i++) {
        const struct gate_setting *s = &r->settings[i];
        const struct gate_look *l = s->n_looks ? &s->look[s->n_looks - 1] : NULL;
        str_printf(out, "%-13s ", gate_verdict_name(s->verdict));
        console_line(out, s->label, 0);
        if (l)
            str_printf(out, ": %.1f %%, baseline %.1f %%, difference %+.1f [%+.1f to %+.1f]", 100 * l->now,
                       100 * l->base, 100 * (l->now - l->base), 100 * s->ci.low, 100 * s->ci.high);
        str_puts(out, "; ");
        console_line(out, s->why ? s->why : "not decoded", 0);
        str_putc(out, '\n');
    }
    blind_guards(out, r);
    str_printf(out, "gate: %s: ", gate_verdict_name(r->verdict));
    console_line(out, r->words, 0);
    str_putc(out, '\n');
}

void gate_github(struct str *out, const struct gate_result *r)
{
    enum { MOST = 10 }; /* GitHub shows as many of a step */
    int n = 0, n_errors = 0;
    for (int i = 0; i < r->n_settings; i++)
        n_errors += r->settings[i].verdict == GATE_ERROR;
    if (r->verdict == GATE_ERROR && !n_errors) {
        str_puts(out, "::error title=kveval gate, error::");
        console_line(out, r->words, 1);
        str_putc(out, '\n');
        n++;
    }
    for (int i = 0; i < r->n_drifts && n < MOST; i++)
        if (r->drifts[i].failed) {
            str_puts(out, "::error title=kveval gate, replay::");
            console_line(out, r->drifts[i].setting, 1);
            str_puts(out, ": ");
            console_line(out, r->drifts[i].why, 1);
            str_putc(out, '\n');
            n++;
        }
    for (int i = 0; i < r->n_settings && n < MOST; i++) {
        const struct gate_setting *s = &r->settings[i];
        if (s->verdict == GATE_PASS)
            continue;
        str_puts(out, s->verdict == GATE_REGRESSION || s->verdict == GATE_ERROR ? "::error" : "::warning");
        str_printf(out, " title=kveval gate, %s::", gate_verdict_name(s->verdict));
        console_line(out, s->label, 1);
        str_puts(out, ": ");
        console_line(out, s->why, 1);
        str_putc(out, '\n');
        n++;
    }
}
