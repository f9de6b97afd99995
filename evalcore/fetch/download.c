/* One file over HTTP with libcurl (contract: download.h). libcurl follows redirects and leaves the token out
 * when the host or the port changes. Each try asks for the bytes behind those that are there; a server that
 * sends the whole file instead, or says that there is nothing behind them, makes us begin again. */
#include "evalcore/fetch/download.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/cli/stop.h"

enum { REDIRECTS_MAX = 5, CONNECT_SECONDS = 30, WAIT_MAX_SECONDS = 300 };

struct transfer {
    CURL *curl;
    int fd, signal, disk_error;
};

static size_t take_bytes(char *bytes, size_t size, size_t n, void *context)
{
    struct transfer *t = context;
    long status = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 && status != 206) /* the page of an error or a redirect */
        return size * n;
    for (size_t done = 0; done < size * n;) {
        ssize_t now = write(t->fd, bytes + done, size * n - done);
        if (now < 0 && errno != EINTR) {
            t->disk_error = errno;
            return 0;
        }
        done += now > 0 ? (size_t)now : 0;
    }
    return size * n;
}

static int look_for_signal(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total,
                           curl_off_t up_now)
{
    struct transfer *t = context;
    (void)total, (void)now, (void)up_total, (void)up_now;
    t->signal = stop_poll();
    return t->signal != 0;
}

static void set_options(struct transfer *t, const char *url, const char *token, const struct fetch_options *o,
                        off_t have)
{
    CURL *c = t->curl;
    const char *protocols = !strncmp(url, "http:", 5) ? "http,https" : "https";
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, protocols);
    curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(c, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)o->stall_s);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "kveval");
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, look_for_signal);
    curl_easy_setopt(c, CURLOPT_XFERINFODATA, t);
    curl_easy_setopt(c, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)have);
    if (token) {
        curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(c, CURLOPT_XOAUTH2_BEARER, token);
    }
}

/* Sleeps in short pieces, so that a signal ends it. */
static int wait_for(double seconds)
{
    const struct timespec piece = {.tv_nsec = 50000000};
    int signal = 0;
    for (double slept = 0; slept < seconds && !signal; slept += 0.05) {
        nanosleep(&piece, NULL);
        signal = stop_poll();
    }
    return signal;
}

/* The sentence for what a server or the network answered; no address in it but ours. */
static int refusal(CURLcode code, long status, const char *url, struct err *e)
{
    if (status == 401 || status == 403)
        return err_set(e, ERR_USAGE, "%s: the server refuses access (%ld)", url, status);
    if (status == 404)
        return err_set(e, ERR_IO, "%s: the server has no such file (404)", url);
    if (status >= 400)
        return err_set(e, ERR_IO, "%s: the server answered %ld; try again later", url, status);
    return err_set(e, ERR_IO, "%s: %s; repeat the command to go on where it broke off", url,
                   curl_easy_strerror(code));
}

/* One try. 1: may be tried again after *pause_s seconds, e says why. */
static int attempt(struct transfer *t, const char *path, const char *url, const char *token,
                   const struct fetch_options *o, double *pause_s, struct err *e)
{
    off_t have = lseek(t->fd, 0, SEEK_END);
    long status = 0;
    curl_off_t after = 0;
    curl_easy_reset(t->curl);
    set_options(t, url, token, o, have);
    CURLcode code = curl_easy_perform(t->curl);
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(t->curl, CURLINFO_RETRY_AFTER, &after);
    if (t->signal || (code == CURLE_OK && (status == 200 || status == 206)))
        return 0;
    if (t->disk_error)
        return err_set(e, ERR_IO, "cannot write %s: %s", path,
                       t->disk_error == ENOSPC ? "the disk is full; free some space there or choose another "
                                                 "folder"
                                               : strerror(t->disk_error));
    refusal(code, status, url, e);
    if (have && (status == 416 || code == CURLE_RANGE_ERROR)) {
        if (ftruncate(t->fd, 0))
            return err_set(e, ERR_IO, "cannot empty %s: %s", path, strerror(errno));
        *pause_s = 0;
        return 1;
    }
    if (status >= 400 && status != 408 && status != 429 && status < 500)
        return e->code;
    if (after > *pause_s)
        *pause_s = after < WAIT_MAX_SECONDS ? (double)after : WAIT_MAX_SECONDS;
    return 1;
}

int download_to(int fd, const char *path, const char *url, const char *token, const struct fetch_options *o,
                int *signal, struct err *e)
{
    struct transfer t = {.curl = curl_easy_init(), .fd = fd};
    struct err last = {0};
    int rc = 1;
    if (!t.curl)
        return err_set(e, ERR_IO, "libcurl cannot be started");
    double wait_s = o->wait_s;
    for (int i = 0; rc > 0 && i <= o->retries && !t.signal; i++, wait_s *= 2) {
        double pause_s = wait_s < WAIT_MAX_SECONDS ? wait_s : WAIT_MAX_SECONDS;
        last = (struct err){0};
        rc = attempt(&t, path, url, token, o, &pause_s, &last);
        if (rc > 0 && i < o->retries)
            t.signal = wait_for(pause_s);
    }
    curl_easy_cleanup(t.curl);
    *signal = t.signal;
    return t.signal || !rc ? 0 : err_set(e, last.code, "%s", last.text);
}
