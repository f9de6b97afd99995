/* A prompt whose middle is cut out holds no character that its text does not: half a character on each side
 * of the cut must not become a third one. */
#include "evalcore/plan/prompts.h"
#include "tests/check.h"

#include <string.h>

enum { EACH = 20 };

/* Takes the known characters off the front of the text; what is left. */
static const char *skip_known(const char *text)
{
    static const char *const known[] = {"中", "你", "\xEF\xBF\xBD"};
    for (size_t i = 0; i < 3;) {
        size_t n = strlen(known[i]);
        int is_there = !strncmp(text, known[i], n);
        text += is_there ? n : 0;
        i = is_there ? 0 : i + 1;
    }
    return text;
}

static void cut(struct prompt_renderer *r, struct problem *problem, int room)
{
    const struct engine_info info = {.max_context = room + 1};
    struct settings settings;
    struct prompt_set set = {.task = {.problems = problem, .n_problems = 1}, .label = "long"};
    struct str text = {0};
    struct err e = {0};
    settings_defaults(&settings);
    settings.max_new_tokens = 1;
    r->set = &set;
    r->info = &info;
    r->settings = &settings;
    CHECK_INT(prompts_render(&set, r, &e), 0);
    CHECK_STR(e.text, "");
    CHECK(set.rows[0].n > 0 && set.rows[0].n <= room);
    tokenizer_decode_text(r->tokenizer, set.ids.id, (size_t)set.rows[0].n, 0, &text);
    CHECK_STR(skip_known(str_text(&text)), "");
    /* As text, the ends of the user text are the task's own, and nothing was added around it. */
    struct prompt_text shown = {0};
    prompts_text(&shown, &set, 0, r->tokenizer, &settings);
    CHECK_STR(str_text(&shown.text), str_text(&text));
    CHECK(shown.own[0] <= shown.own[1] && shown.own[1] == shown.text.len);
    str_release(&shown.text);
    str_release(&text);
    settings.prefix = "Read.\n";
    settings.suffix = "\nGo on.";
    struct engine_info wide = info;
    wide.max_context += 30;
    r->info = &wide;
    token_list_release(&set.ids);
    free(set.rows);
    set.chat = chat_find("pocket");
    CHECK_INT(prompts_render(&set, r, &e), 0);
    prompts_text(&shown, &set, 0, r->tokenizer, &settings);
    const char *own = str_text(&shown.text) + shown.own[0];
    CHECK(shown.own[0] > 6 && !memcmp(own - 6, "Read.\n", 6));
    CHECK(!strncmp(str_text(&shown.text) + shown.own[1], "\nGo on.<|Assistant|>", 20));
    CHECK(!strncmp(own, "中", 3));
    str_release(&shown.text);
    token_list_release(&set.ids);
    free(set.rows);
}

int main(void)
{
    struct tokenizer *t;
    struct str prompt = {0};
    struct err e = {0};
    CHECK_INT(engine_open_tokenizer("pocket", &t, &e), 0);
    for (int i = 0; i < 2 * EACH; i++)
        str_puts(&prompt, i < EACH ? "中" : "你");
    struct problem problem = {
        .id = "p", .prompt = prompt.data, .prompt_len = prompt.len, .truncate_middle = 1};
    struct prompt_renderer r = {.tokenizer = t};
    for (int room = 30; room < 60; room++)
        cut(&r, &problem, room);
    prompts_renderer_release(&r);
    str_release(&prompt);
    tokenizer_close(t);
    return check_done();
}
