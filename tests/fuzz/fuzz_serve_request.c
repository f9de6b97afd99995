/* Fuzzes the reader of the server's requests. The first byte says of which kind. There is no crash; a request
 * is refused with a status and a sentence, or what was read is within its limits. */
#undef NDEBUG /* the checks are the point, whatever the build type */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "evalcore/serve/api_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct api_request q;
    struct api_refusal r;
    if (!size)
        return 0;
    enum api_kind kind = data[0] & 1 ? API_CHAT : API_COMPLETION;
    if (api_request_read(&q, kind, (const char *)data + 1, size - 1, &r)) {
        assert(r.status >= 400 && r.status < 500 && *r.why.text && strlen(r.param) < sizeof r.param);
    } else {
        assert(!r.status && q.model && q.n >= 1 && q.n <= API_CHOICES && q.n_prompts >= 1);
        assert(q.n_stop <= API_STOPS && q.n_stop_ids <= API_STOP_IDS && q.seed >= 0 && q.sample >= 0);
        assert(q.temperature >= 0 && q.temperature <= 100 && q.top_p > 0 && q.top_p <= 1 && q.top_k >= -1);
        assert(q.max_tokens >= 0 && (!q.max_tokens || q.min_tokens <= q.max_tokens));
        for (int i = 0; i < q.n_stop; i++)
            assert(*q.stop[i]);
        for (int i = 0; i < q.n_prompts && kind == API_COMPLETION; i++)
            assert(json_is_string(api_request_prompt(&q, i)) || json_array_size(api_request_prompt(&q, i)));
        assert(kind != API_CHAT || (q.user && strlen(q.user) == q.n_user));
    }
    api_request_release(&q);
    return 0;
}
