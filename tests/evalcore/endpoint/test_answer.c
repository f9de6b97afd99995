/* Answers of servers: framing, fields and counts. Cases: answer.test. Each body comes whole, in pieces of
 * three bytes and byte by byte, which must be the same to the reader. Asked for were 4 tokens after a prompt
 * of 3; under "scored" one token, and log-probabilities of the prompt's last two. */
#include <string.h>

#include "evalcore/endpoint/answer.h"
#include "tests/cases.h"

static const int32_t prompt[] = {7, 8, 9};

static void describe(const struct answer *a, struct str *out)
{
    static const char *const words[] = {"open", "whole", "broken", "wrong"};
    str_printf(out, "%s: ", words[a->state]);
    if (a->state != ANSWER_WHOLE) {
        str_puts(out, a->why.text);
        return;
    }
    str_printf(out, "\"%s\" %s, %d tokens", str_text(&a->text), a->finish, (int)a->completion_tokens);
    for (int i = 0; i < a->n_ids; i++)
        str_printf(out, "%s%d", i ? " " : ", ids ", (int)a->ids[i]);
    for (int i = 0; i < a->n_scored; i++)
        str_printf(out, "%s%.2f %d", i ? ", " : ", scores ", (double)a->logprobs[i], (int)a->tops[i]);
}

static void read_in_pieces(struct answer *a, const char *body, size_t n, size_t piece, struct str *out)
{
    answer_begin(a);
    for (size_t at = 0; at < n; at += piece)
        if (answer_take(a, body + at, piece < n - at ? piece : n - at))
            break;
    answer_end(a);
    str_clear(out);
    describe(a, out);
}

static void run_case(const struct test_case *c)
{
    struct answer a = {
        .max_tokens = 4, .prompt = prompt, .n_prompt = 3, .end_tokens = {2, 5}, .n_end_tokens = 2};
    static const char *const texts[] = {" a", " b"};
    const char *scored = case_text(c, "scored"), *json = scored ? scored : case_text(c, "json"),
               *stream = case_text(c, "stream"), *cut = case_text(c, "cut");
    struct str body = {0}, got = {0}, again = {0};
    a.is_stream = !json;
    a.n_scored = scored ? 2 : 0;
    a.scored = texts;
    a.max_tokens = scored ? 1 : 4;
    str_puts(&body, json ? json : stream ? stream : cut ? cut : "");
    if (stream)
        str_puts(&body, "\n\n");
    read_in_pieces(&a, str_text(&body), body.len, body.len + 1, &got);
    CASE_STR(c, "out", str_text(&got));
    for (size_t piece = 1; piece <= 3; piece += 2) {
        read_in_pieces(&a, str_text(&body), body.len, piece, &again);
        CHECK_STR(str_text(&again), str_text(&got));
    }
    answer_release(&a);
    str_release(&body);
    str_release(&got);
    str_release(&again);
}

static int add_event(void *context, const char *data, size_t n)
{
    struct str *out = context;
    str_putc(out, '<');
    str_add(out, data, n);
    str_putc(out, '>');
    return 0;
}

/* What a line is ended by, and what is no data. */
static void check_framing(void)
{
    static const char *const bodies[] = {
        "data: a\n\ndata:b\n\n", "data: a\r\n\r\ndata:b\r\n\r\n", "data: a\r\rdata:b\r\r",
        "\357\273\277data: a\n\n: hm\n\nid: 1\nevent: x\ndata:b\n\n", "data: a\n\n\n\ndata:b\n\ndata: c\n"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (size_t piece = 1; piece < 4; piece++) {
            struct sse s = {0};
            struct str out = {0};
            size_t n = strlen(bodies[i]);
            for (size_t at = 0; at < n; at += piece)
                CHECK_INT(sse_take(&s, bodies[i] + at, piece < n - at ? piece : n - at, add_event, &out), 0);
            CHECK_STR(str_text(&out), "<a><b>");
            sse_release(&s);
            str_release(&out);
        }
    struct sse s = {.max = 8};
    struct str out = {0};
    CHECK_INT(sse_take(&s, "data\ndata: x\ndata:  y\n\n", 23, add_event, &out), 0);
    CHECK_STR(str_text(&out), "<\nx\n y>");
    CHECK_INT(sse_take(&s, "data: 12", 8, add_event, &out), 0);
    CHECK_INT(sse_take(&s, "3", 1, add_event, &out), SSE_TOO_LONG);
    sse_release(&s);
    s = (struct sse){.max = 8};
    CHECK_INT(sse_take(&s, "data:123\ndata:4567\ndata:8\n", 26, add_event, &out), SSE_TOO_LONG);
    sse_release(&s);
    str_release(&out);
}

/* More text than the tokens that were asked for can be is not kept. */
static void check_flood(void)
{
    struct answer a = {.max_tokens = 4,
                       .prompt = prompt,
                       .n_prompt = 3,
                       .end_tokens = {2},
                       .n_end_tokens = 1,
                       .is_stream = 1};
    struct str event = {0};
    str_puts(&event, "data: {\"choices\": [{\"index\": 0, \"text\": \"");
    for (int i = 0; i < 1000; i++)
        str_putc(&event, 'y');
    str_puts(&event, "\"}]}\n\n");
    answer_begin(&a);
    int n = 0;
    while (n < 100 && !answer_take(&a, event.data, event.len))
        n++;
    CHECK_INT(n, 4);
    CHECK_INT(a.state, ANSWER_WRONG);
    answer_begin(&a);
    n = 0;
    while (n < 100000 && !answer_take(&a, "data: yyyy", 10))
        n++;
    CHECK(n > 1000 && n < 20000);
    CHECK_INT(a.state, ANSWER_WRONG);
    answer_release(&a);
    str_release(&event);
}

static void check_refusals(void)
{
    static const char *const bodies[][2] = {{"{\"error\": {\"message\": \"no\\nroom\"}}", "no room"},
                                            {"{\"error\": \"bad\"}", "bad"},
                                            {"{\"object\": \"error\", \"message\": \"long\"}", "long"},
                                            {"{\"detail\": \"Not Found\"}", "Not Found"},
                                            {"{\"detail\": [1]}", "{\"detail\":[1]}"},
                                            {"<html>\tx", "<html> x"},
                                            {"", ""}};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct str out = {0};
        answer_refusal(&out, bodies[i][0], strlen(bodies[i][0]), NULL);
        CHECK_STR(str_text(&out), bodies[i][1]);
        str_release(&out);
    }
}

/* A part of the key is as bad as the whole: wherever the text is cut, nothing of it stays. */
static void check_key_across_the_cut(void)
{
    struct str key = {0}, body = {0}, out = {0};
    for (int i = 0; i < 75; i++)
        str_puts(&key, "hf_Ab/");
    for (int before = 0; before < 230; before += 10)
        for (int form = 0; form < 3; form++) { /* a message, JSON of another form, no JSON */
            str_clear(&body);
            str_clear(&out);
            str_puts(&body, form == 0 ? "{\"message\": \"" : form == 1 ? "[\"" : "");
            for (int i = 0; i < before; i++)
                str_putc(&body, '.');
            for (const char *c = str_text(&key); *c; c++)
                str_printf(&body, "%s%c", *c == '/' && form < 2 ? "\\" : "", *c);
            str_puts(&body, form == 0 ? "\"}" : form == 1 ? "\"]" : "");
            answer_refusal(&out, body.data, body.len, key.data);
            CHECK(out.len == 200 && !strpbrk(str_text(&out), "hfAb/_"));
        }
    str_release(&key);
    str_release(&body);
    str_release(&out);
}

int main(int argc, char **argv)
{
    struct cases cases;
    struct test_case c;
    cases_open(&cases, argc > 1 ? argv[1] : NULL);
    while (cases_next(&cases, &c))
        run_case(&c);
    cases_close(&cases);
    check_framing();
    check_flood();
    check_refusals();
    check_key_across_the_cut();
    return check_done();
}
