/* libcurl's set-up and the rule of retries (contract: http.h). */
#include "evalcore/net/http.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "evalcore/base/err.h"

enum { CONNECT_SECONDS = 30, KEEPALIVE_SECONDS = 60 };

void http_setup(CURL *c, const char *url, const char *token, int stall_s)
{
    const char *protocols = !strncmp(url, "http:", 5) ? "http,https" : "https";
    curl_easy_reset(c);
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, protocols);
    curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L); /* a router forgets what is silent for an hour */
    curl_easy_setopt(c, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_SECONDS);
    curl_easy_setopt(c, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_SECONDS / 2);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "kveval");
    if (stall_s) {
        curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)stall_s);
    }
    if (token) {
        curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(c, CURLOPT_XOAUTH2_BEARER, token);
    }
}

double http_backoff(double first_s, int n_tries, double asked_s)
{
    double wait = first_s;
    for (int i = 1; i < n_tries && wait < HTTP_WAIT_MAX_SECONDS; i++)
        wait *= 2;
    wait = wait > asked_s ? wait : asked_s;
    return wait < HTTP_WAIT_MAX_SECONDS ? wait : HTTP_WAIT_MAX_SECONDS;
}

/* libcurl says "Couldn't connect" when its socket is refused, and closes nothing, so the next one is, too. */
const char *http_reason(CURLcode code, int *kind)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), cause = errno;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 || (cause != EMFILE && cause != ENFILE))
        return curl_easy_strerror(code);
    *kind = ERR_DISK;
    return err_reason(cause);
}
