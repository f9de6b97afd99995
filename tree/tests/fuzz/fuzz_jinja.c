/* Fuzzes the evaluator of chat templates with templates. There is no crash, a refusal has a message and
 * leaves the output as it was, and no byte of the user's text stands outside of the guarded range. */
#undef NDEBUG /* the checks are the point, whatever the build type */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "engine/text/jinja/jinja.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] = " \001 user \001\001";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct jinja_message messages[] = {
        {.role = "system", .text = "be terse", .n = 8},
        {.role = "user", .text = text, .n = sizeof text - 1, .to = sizeof text - 1},
    };
    static const struct jinja_var vars[] = {{.name = "tools"},
                                            {.name = "add_generation_prompt", .kind = JINJA_BOOL, .flag = 1},
                                            {.name = "bos_token", .kind = JINJA_TEXT, .text = "<s>"}};
    struct jinja_input in = {.messages = messages, .n_messages = 2, .vars = vars, .n_vars = 3};
    struct jinja_template *t;
    struct str out = {0};
    struct err e = {0};
    size_t guard[2];
    str_puts(&out, "before");
    if (jinja_open(&t, (const char *)data, size, "template", &e)) {
        assert(!t && strstr(e.text, "template"));
        str_release(&out);
        return 0;
    }
    if (jinja_render(t, &in, &out, guard, &e)) {
        assert(e.text[0] && out.len == 6);
    } else {
        assert(guard[0] <= guard[1] && guard[1] <= out.len);
        /* A template that can write the byte itself shows nothing. */
        int own = memchr(data, 1, size) || memchr(data, '\\', size);
        for (size_t i = 0; i < out.len && !own; i++)
            assert(out.data[i] != 1 || (i >= guard[0] && i < guard[1]));
    }
    jinja_close(t);
    str_release(&out);
    return 0;
}
