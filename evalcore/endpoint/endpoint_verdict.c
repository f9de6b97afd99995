/* What became of a try (contract: endpoint_parts.h). */
#include <string.h>

#include "evalcore/endpoint/endpoint_parts.h"

void endpoint_refused(const struct endpoint *p, long status, const char *body, size_t n, struct err *why)
{
    struct str says = {0};
    answer_refusal(&says, body, n, p->key);
    const char *colon = says.len ? ": " : "";
    if (status == 401 || status == 403)
        err_set(why, ERR_USAGE,
                "%s refuses access (%ld)%s%s; name the variable that holds the key as "
                "\"api_key_env\" in \"model\"",
                p->url, status, colon, str_text(&says));
    else if (status >= 300 && status < 400)
        err_set(why, ERR_USAGE,
                "%s answers with a redirect (%ld), which is not followed; name the address that "
                "it leads to",
                p->url, status);
    else
        err_set(why, ERR_IO, "the server answered %ld%s%s", status, colon, str_text(&says));
    str_release(&says);
}

/* An answer with another status than 200. */
static enum try_verdict on_refusal(const struct endpoint *p, struct exchange *x, long status, struct err *why)
{
    endpoint_refused(p, status, str_text(&x->refused), x->refused.len, why);
    switch (status) {
    case 408:
    case 425:
    case 500:
        return TRY_AGAIN;
    case 429:
    case 503:
        return TRY_AGAIN_BUSY;
    case 502:
    case 504:
        return TRY_AGAIN_ABSENT;
    case 401:
    case 403:
    case 404:
    case 405:
        return TRY_ALL_FAIL;
    default:
        return status >= 500 ? TRY_AGAIN : status >= 400 ? TRY_FAILED : TRY_ALL_FAIL;
    }
}

/* Nothing was answered, not even a status. Something that accepts in a server's place, such as the end of a
 * tunnel, closes at once when the server is not there. */
static enum try_verdict on_unreached(const struct endpoint *p, const struct exchange *x, CURLcode code,
                                     long status, struct err *why)
{
    curl_off_t sent = 0;
    int kind = ERR_IO;
    const char *reason;
    curl_easy_getinfo(x->curl, CURLINFO_PRETRANSFER_TIME_T, &sent);
    if (code == CURLE_OPERATION_TIMEDOUT && !sent) {
        err_set(why, ERR_IO, "%s cannot be reached: no connection came about in time", p->url);
        return TRY_AGAIN_ABSENT;
    }
    switch (code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        reason = http_reason(code, &kind);
        err_set(why, kind, "%s cannot be reached: %s", p->url, reason);
        return TRY_AGAIN_ABSENT;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        err_set(why, ERR_USAGE, "%s cannot be used: %s", p->url, curl_easy_strerror(code));
        return TRY_ALL_FAIL;
    case CURLE_OPERATION_TIMEDOUT:
        err_set(why, ERR_IO,
                "the server was silent for too long, or was not done in time (\"stall\" and "
                "\"timeout\" in \"model\")");
        return TRY_AGAIN;
    default:
        err_set(why, ERR_IO, "the connection broke: %s", curl_easy_strerror(code));
        return !status && (code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR)
                   ? TRY_AGAIN_ABSENT
                   : TRY_AGAIN;
    }
}

/* A server that cannot stream sends its answer in one piece. */
static int is_no_stream(const struct exchange *x)
{
    const char *type = NULL;
    curl_easy_getinfo(x->curl, CURLINFO_CONTENT_TYPE, &type);
    return x->answer.is_stream && type && !strncmp(type, "application/json", 16);
}

enum try_verdict endpoint_verdict(const struct endpoint *p, struct exchange *x, CURLcode code, double *after,
                                  struct err *why)
{
    long status = 0;
    curl_off_t asked = 0;
    curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(x->curl, CURLINFO_RETRY_AFTER, &asked);
    *after = asked > 0 ? (double)asked : 0;
    if (x->answer.state == ANSWER_OPEN && code != CURLE_OK)
        return on_unreached(p, x, code, status, why);
    if (status != 200)
        return on_refusal(p, x, status, why);
    if (is_no_stream(x)) {
        err_set(why, ERR_FORMAT,
                "the server answers in one piece although a stream was asked for; put "
                "\"stream\": false into \"model\"");
        return TRY_FAILED;
    }
    if (code == CURLE_OK)
        answer_end(&x->answer);
    if (x->answer.state == ANSWER_WHOLE)
        return TRY_GOOD;
    struct str text = {0};
    str_puts(&text, x->answer.why.text);
    answer_hide(&text, p->key);
    err_set(why, ERR_FORMAT, "%s", str_text(&text));
    str_release(&text);
    return x->answer.state == ANSWER_WRONG ? TRY_FAILED : TRY_AGAIN;
}
