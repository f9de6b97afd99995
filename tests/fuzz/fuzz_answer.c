/* Fuzzes the reader of servers' answers. The first byte says whether the rest is a stream or one piece,
 * whether log-probabilities of the prompt were asked for, and in pieces of what size it comes. There is no
 * crash, an answer is whole or has a reason, a whole one fits what was asked for, and its reader sees the
 * same however the bytes are cut. */
#undef NDEBUG /* the checks are the point, whatever the build type */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "evalcore/endpoint/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_pieces(struct answer *a, const char *body, size_t n, size_t piece)
{
    answer_begin(a);
    for (size_t at = 0; at < n; at += piece)
        if (answer_take(a, body + at, piece < n - at ? piece : n - at))
            break;
    answer_end(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int32_t prompt[] = {7, 8, 9};
    static const char *const texts[] = {" a", " b"};
    if (!size)
        return 0;
    struct answer a = {
        .max_tokens = 4, .prompt = prompt, .n_prompt = 3, .end_tokens = {2, 5}, .n_end_tokens = 2};
    a.is_stream = data[0] & 1;
    a.n_scored = data[0] > 127 && !a.is_stream ? 2 : 0;
    a.scored = texts;
    struct answer b = a;
    const char *body = (const char *)data + 1;
    read_pieces(&a, body, size - 1, 1 + data[0] / 2);
    read_pieces(&b, body, size - 1, size);
    assert(a.state != ANSWER_OPEN && a.state == b.state);
    assert((a.state == ANSWER_WHOLE) == !a.why.code && !strcmp(a.why.text, b.why.text));
    if (a.state == ANSWER_WHOLE) {
        assert(a.prompt_tokens == 3 && a.completion_tokens >= 0 && a.completion_tokens <= 5 && a.n_ids <= 5);
        assert(a.text.len == b.text.len && a.text.len <= a.max_text);
        assert(!strcmp(a.finish, "stop") || !strcmp(a.finish, "length"));
        for (int i = 0; i < a.n_scored; i++)
            assert(a.logprobs[i] <= 0 && a.logprobs[i] == b.logprobs[i] && a.tops[i] == b.tops[i]);
    }
    answer_release(&a);
    answer_release(&b);
    struct str says = {0};
    answer_refusal(&says, body, size - 1, "ab");
    assert(says.len <= 200 && !strstr(str_text(&says), "ab"));
    str_release(&says);
    return 0;
}
