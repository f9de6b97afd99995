/* One address over HTTP with libcurl (contract: fetch_parts.h). libcurl follows redirects and leaves the
 * token out when the host or the port changes. Each try asks for the bytes behind those that are there; a
 * server that sends the whole file instead, or says that there is nothing behind them, makes us begin again.
 */
#include "evalcore/fetch/fetch_parts.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/cli/stop.h"
#include "evalcore/net/http.h"

enum { REDIRECTS_MAX = 5 };

struct transfer {
    const struct download *d;
    const struct fetch_options *o;
    CURL *curl;
    int64_t have, most; /* bytes that are there now, and that ever were */
    int signal, disk_error, is_too_long;
};

static size_t on_bytes(char *bytes, size_t size, size_t n, void *context)
{
    struct transfer *t = context;
    long status = 0;
    n *= size;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 && status != 206) /* the page of an error or a redirect */
        return n;
    t->is_too_long = (int64_t)n > t->d->max_bytes - t->have;
    if (t->is_too_long)
        return 0;
    for (size_t done = 0; t->d->path && done < n;) {
        ssize_t now = write(t->d->fd, bytes + done, n - done);
        if (now < 0 && errno != EINTR) {
            t->disk_error = errno;
            return 0;
        }
        done += now > 0 ? (size_t)now : 0;
    }
    if (!t->d->path)
        str_add(t->d->text, bytes, n);
    t->have += (int64_t)n;
    return n;
}

static int on_progress(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total,
                       curl_off_t up_now)
{
    struct transfer *t = context;
    (void)total, (void)now, (void)up_total, (void)up_now;
    if (t->o->show)
        t->o->show(t->o->show_context, t->d->name, t->have, t->d->size);
    t->signal = stop_poll();
    return t->signal != 0;
}

static void set_options(struct transfer *t)
{
    CURL *c = t->curl;
    http_setup(c, t->d->url, t->d->token, t->o->stall_s);
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(c, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(c, CURLOPT_XFERINFODATA, t);
    curl_easy_setopt(c, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)t->have);
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

/* What the Hub's X-Error-Code means; NULL for other words, which are not repeated. */
static const char *hub_says(CURL *c)
{
    static const struct {
        const char *code, *text;
    } known[] = {{"GatedRepo", "it is gated"},
                 {"RepoNotFound", "the Hub has no such repository, or it is private"},
                 {"RevisionNotFound", "the repository has no such revision"},
                 {"EntryNotFound", "the repository has no such file"},
                 {"DisabledRepo", "the Hub has disabled the repository"}};
    struct curl_header *h;
    if (curl_easy_header(c, "X-Error-Code", 0, CURLH_HEADER, -1, &h) != CURLHE_OK)
        return NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(h->value, known[i].code))
            return known[i].text;
    return NULL;
}

/* The sentence for what a server or the network answered; no address in it but ours. */
static int explain_refusal(const struct transfer *t, CURLcode code, long status, struct err *e)
{
    const char *url = t->d->url, *says = hub_says(t->curl);
    if (t->is_too_long)
        return err_set(e, ERR_FORMAT, "%s: the server sends more than the %lld bytes that are expected", url,
                       (long long)t->d->max_bytes);
    if (status == 401 || status == 403)
        return err_set(e, ERR_USAGE, "%s: the server refuses access (%ld)%s%s", url, status, says ? ": " : "",
                       says ? says : "");
    if (status == 404)
        return err_set(e, ERR_IO, "%s: %s (404)", url, says ? says : "the server has no such file");
    if (status >= 400)
        return err_set(e, ERR_IO, "%s: the server answered %ld; try again later", url, status);
    int kind = ERR_IO;
    const char *reason = http_reason(code, &kind);
    return err_set(e, kind, "%s: %s; repeat the command to go on where it broke off", url, reason);
}

static int begin_again(struct transfer *t, struct err *e)
{
    if (t->d->path && (ftruncate(t->d->fd, 0) || lseek(t->d->fd, 0, SEEK_SET)))
        return err_set(e, ERR_IO, "cannot empty %s: %s", t->d->path, err_reason(errno));
    if (!t->d->path)
        str_clear(t->d->text);
    t->have = 0;
    return 0;
}

enum { TRY_AGAIN = 1, TRY_FROM_START };

/* One try. TRY_: may be tried again, e says why; *asked_s: the seconds that the server asks to wait. */
static int attempt_transfer(struct transfer *t, double *asked_s, struct err *e)
{
    long status = 0;
    curl_off_t after = 0;
    if (!t->d->path)
        begin_again(t, e);
    int64_t before = t->have;
    set_options(t);
    CURLcode code = curl_easy_perform(t->curl);
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(t->curl, CURLINFO_RETRY_AFTER, &after);
    if (t->signal || (code == CURLE_OK && (status == 200 || status == 206)))
        return 0;
    if (t->disk_error)
        return err_set(e, ERR_IO, "cannot write %s: %s", t->d->path,
                       t->disk_error == ENOSPC ? "the disk is full; free some space there or choose another "
                                                 "folder"
                                               : err_reason(t->disk_error));
    explain_refusal(t, code, status, e);
    if (t->is_too_long)
        return e->code;
    if (before && (status == 416 || code == CURLE_RANGE_ERROR))
        return TRY_FROM_START;
    if (status >= 400 && status != 408 && status != 429 && status < 500)
        return e->code;
    *asked_s = (double)after;
    return TRY_AGAIN;
}

int download(const struct download *d, const struct fetch_options *o, int *signal, struct err *e)
{
    struct transfer t = {.d = d, .o = o, .curl = curl_easy_init()};
    struct err last = {0};
    int rc = TRY_AGAIN;
    if (!t.curl)
        return err_set(e, ERR_IO, "libcurl cannot be started");
    if (d->path)
        t.have = t.most = lseek(d->fd, 0, SEEK_END);
    for (int n_tries = 1; rc > 0 && n_tries <= o->retries + 1 && !t.signal; n_tries++) {
        double asked_s = 0;
        last = (struct err){0};
        rc = attempt_transfer(&t, &asked_s, &last);
        if (rc > 0 && d->path && t.have > t.most) { /* long files over a bad line: as long as it advances */
            t.most = t.have;
            n_tries = 0;
        }
        if (n_tries > o->retries)
            break;
        if (rc == TRY_FROM_START && begin_again(&t, &last))
            rc = last.code = ERR_IO;
        if (rc == TRY_AGAIN)
            t.signal = wait_for(http_backoff(o->wait_s, n_tries, asked_s));
    }
    curl_easy_cleanup(t.curl);
    *signal = t.signal;
    return t.signal || !rc ? 0 : err_set(e, last.code, "%s", last.text);
}
