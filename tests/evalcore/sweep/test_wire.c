/* Messages between processes: what is sent arrives, whole, in order, with every byte; what is no message is
 * refused with a sentence; what is no message of workers is refused by the readers. */
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/hash.h"
#include "evalcore/store/curve_json.h"
#include "evalcore/sweep/worker_messages.h"
#include "tests/check.h"

static struct wire near_end, far_end;

static void connect_ends(void)
{
    int pair[2];
    wire_close(&near_end);
    wire_close(&far_end);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    near_end.fd = pair[0];
    far_end.fd = pair[1];
}

static void messages(void)
{
    struct err e = {0};
    json_t *m = NULL;
    connect_ends();
    CHECK_INT(wire_receive(&far_end, 0, &m, &e), WIRE_NOTHING);
    CHECK_INT(wire_send(&near_end, json_pack("{s:s#}", "text", "a\0b", 3), &e), 0);
    CHECK_INT(wire_send(&near_end, json_pack("{s:i}", "n", 2), &e), 0);
    CHECK_INT(wire_send(&near_end, NULL, &e), ERR_FORMAT);
    e.code = 0;
    wire_close(&near_end);
    CHECK_INT(wire_receive(&far_end, 1, &m, &e), WIRE_MESSAGE);
    CHECK_INT(json_string_length(json_object_get(m, "text")), 3);
    json_decref(m);
    CHECK_INT(wire_receive(&far_end, 0, &m, &e), WIRE_MESSAGE);
    CHECK_INT(json_integer_value(json_object_get(m, "n")), 2);
    json_decref(m);
    CHECK_INT(wire_receive(&far_end, 1, &m, &e), WIRE_END);
    CHECK_INT(wire_send(&far_end, json_object(), &e), WIRE_END);
}

/* The other side reads nothing for now: sending returns at once, and nothing is lost, in order. The sender
 * waited until a worker in a long prefill had been ended as one that does not read. */
static void busy_reader(void)
{
    enum { MESSAGES = 9, BYTES = 1 << 20 };
    struct err e = {0};
    char *text = xmalloc(BYTES + 1);
    connect_ends();
    near_end.never_blocks = 1;
    CHECK_INT(wire_events(&near_end), POLLIN);
    for (int i = 0; i < MESSAGES; i++) {
        memset(text, 'a' + i, BYTES);
        CHECK_INT(wire_send(&near_end, json_pack("{s:s#}", "text", text, i % 2 ? BYTES : 10), &e), 0);
    }
    CHECK_INT(wire_events(&near_end), POLLIN | POLLOUT);
    for (int i = 0; i < MESSAGES; i++) {
        json_t *m = NULL;
        int got = WIRE_NOTHING;
        while (got == WIRE_NOTHING) {
            CHECK_INT(wire_flush(&near_end, &e), 0);
            got = wire_receive(&far_end, 0, &m, &e);
        }
        CHECK_INT(got, WIRE_MESSAGE);
        const char *sent = json_string_value(json_object_get(m, "text"));
        CHECK_INT(json_string_length(json_object_get(m, "text")), i % 2 ? BYTES : 10);
        CHECK(sent && sent[0] == 'a' + i);
        json_decref(m);
    }
    CHECK_INT(wire_events(&near_end), POLLIN);
    memset(text, 'z', BYTES);
    CHECK_INT(wire_send(&near_end, json_pack("{s:s#}", "text", text, BYTES), &e), 0);
    wire_close(&far_end);
    CHECK_INT(wire_flush(&near_end, &e), WIRE_END);
    CHECK_INT(e.code, 0);
    free(text);
}

/* Bytes that arrive one by one: as they are, or behind their length and checksum. */
static int arrive(const char *text, size_t n, struct err *e)
{
    *e = (struct err){0};
    json_t *m = NULL;
    int got = WIRE_NOTHING;
    connect_ends();
    for (size_t i = 0; i < n && got == WIRE_NOTHING; i++) {
        CHECK_INT(write(near_end.fd, text + i, 1), 1);
        got = wire_receive(&far_end, 0, &m, e);
        CHECK(got == WIRE_NOTHING || i == n - 1);
    }
    if (got == WIRE_MESSAGE)
        json_decref(m);
    return got;
}

static int arrive_framed(const char *text, size_t length, uint32_t flip, struct err *e)
{
    char frame[64];
    size_t n = strlen(text);
    uint32_t crc = crc32c(0, text, n) ^ flip;
    for (int i = 0; i < 4; i++) {
        frame[i] = (char)(length >> 8 * i);
        frame[4 + i] = (char)(crc >> 8 * i);
    }
    memcpy(frame + 8, text, n);
    return arrive(frame, 8 + n, e);
}

static void bytes(void)
{
    struct err e;
    CHECK_INT(arrive_framed("{}", 2, 0, &e), WIRE_MESSAGE);
    CHECK_INT(arrive_framed("{}", 3, 0, &e), WIRE_NOTHING);
    CHECK_INT(arrive_framed("{}", 2, 1 << 20, &e), ERR_FORMAT);
    CHECK_STR(e.text, "a message of 2 bytes arrived damaged");
    CHECK_INT(arrive_framed("[]", 2, 0, &e), ERR_FORMAT);
    CHECK_STR(e.text, "a message is not a JSON object");
    CHECK_INT(arrive_framed("{,", 2, 0, &e), ERR_FORMAT);
    CHECK(!strncmp(e.text, "a message is not JSON: ", 23));
    CHECK_INT(arrive_framed("", 0, 0, &e), ERR_FORMAT);
    CHECK_INT(arrive("\0\0\0\xff", 4, &e), ERR_FORMAT);
    CHECK_STR(e.text, "a message claims to have 4278190080 bytes");
    CHECK_INT(arrive("kveval: hello\n", 4, &e), ERR_FORMAT); /* a line of text as a length */
}

/* Sends a completion to the other end and reads it there. What is returned holds its texts. */
static json_t *send_done(const struct completion *in, struct completion *out)
{
    struct err e = {0};
    const char *key = "";
    json_t *m = NULL;
    connect_ends();
    CHECK_INT(wire_send(&near_end, message_done("k", &(struct decoded_job){.c = *in}), &e), 0);
    CHECK_INT(wire_receive(&far_end, 1, &m, &e), WIRE_MESSAGE);
    CHECK_STR(message_type(m), "done");
    CHECK_INT(message_read_done(m, &key, out, &e), 0);
    CHECK_STR(key, "k");
    return m;
}

static void completions(void)
{
    static const int32_t ids[] = {5, 0, 131071};
    const struct completion in = {.ids = ids,
                                  .n_ids = 3,
                                  .text = "\xff\0\"",
                                  .n_text = 3,
                                  .finish = FINISHED_ERROR,
                                  .kv = {0.1, 3, 1e-300, 4.0 / 3, 0, 17.5, 2.25, 1e9 / 7, 0.7},
                                  .preempted = 2,
                                  .seconds = 0.7,
                                  .error = "not finite"};
    struct completion out;
    json_t *m = send_done(&in, &out);
    CHECK_INT(out.n_ids, 3);
    CHECK(out.n_ids == 3 && !memcmp(out.ids, ids, sizeof ids));
    CHECK_INT(out.n_text, 5); /* the invalid byte as U+FFFD, as the journal writes it */
    CHECK(!memcmp(out.text, "\xef\xbf\xbd\0\"", 5));
    CHECK(!memcmp(&out.kv, &in.kv, sizeof in.kv) && out.seconds == in.seconds);
    CHECK_INT(out.finish, FINISHED_ERROR);
    CHECK_INT(out.preempted, 2);
    CHECK_STR(out.error, "not finite");
    free((int32_t *)out.ids);
    json_decref(m);
}

static const struct likelihood likelihood = {
    2, {{32, 7, 5, (int64_t)1 << 33, 0.1, 1e-300}, {64, 64, 0, 0, 4.0 / 3, 1e300}}};

static void likelihoods(void)
{
    static const int32_t ids[] = {1};
    struct completion in = {.ids = ids, .n_ids = 1, .text = "", .likelihood = likelihood}, out;
    json_t *m = send_done(&in, &out);
    CHECK_INT(out.likelihood.n, 2);
    CHECK(!memcmp(out.likelihood.bucket, likelihood.bucket, 2 * sizeof *likelihood.bucket));
    free((int32_t *)out.ids);
    json_decref(m);
}

static struct kv_point points[] = {{1LL << 40, 80, 90, 1.5}, {1LL << 41, 70, 99, 2.5}};
static int32_t by_head[] = {30, 40};

static void curves(void)
{
    static const int32_t ids[] = {1};
    struct completion in = {.ids = ids, .n_ids = 1, .text = "", .curve = {32, 2, 1, 2, points, by_head}}, out;
    json_t *m = send_done(&in, &out);
    CHECK_INT(out.curve.every, 32);
    CHECK_INT(out.curve.layers, 1);
    CHECK_INT(out.curve.heads, 2);
    CHECK_INT(out.curve.n, 2);
    CHECK(out.curve.n == 2 && !memcmp(out.curve.point, points, sizeof points));
    CHECK(out.curve.by_head && !memcmp(out.curve.by_head, by_head, sizeof by_head));
    free((int32_t *)out.ids);
    curve_json_release(&out.curve);
    json_decref(m);
}

static void refuse_done(const char *field, json_t *value)
{
    static const int32_t ids[] = {1};
    const struct completion in = {.ids = ids, .n_ids = 1, .text = "", .finish = FINISHED_STOP};
    struct completion out;
    struct err e = {0};
    const char *key;
    json_t *m = message_done("k", &(struct decoded_job){.c = in});
    if (value)
        json_object_set_new(m, field, value);
    else
        json_object_del(m, field);
    CHECK_INT(message_read_done(m, &key, &out, &e), ERR_FORMAT);
    CHECK(!strncmp(e.text, "a malformed message \"done\": ", 28));
    free((int32_t *)out.ids);
    json_decref(m);
}

/* A curve with a field less, or with another value for one. */
static json_t *changed_curve(const char *gone, const char *field, json_t *value)
{
    json_t *o = curve_json(&(struct kv_curve){32, 2, 1, 2, points, by_head});
    if (gone)
        json_object_del(o, gone);
    else
        json_object_set_new(o, field, value);
    return o;
}

static void refusals(void)
{
    struct err e = {0};
    const char *key;
    int jobs;
    json_t *m;
    refuse_done("key", NULL);
    refuse_done("seconds", json_string("1"));
    refuse_done("finish", json_string("done"));
    refuse_done("ids", json_string("1"));
    refuse_done("ids", json_pack("[s]", "1"));
    refuse_done("ids", json_pack("[i]", -1));
    refuse_done("ids", json_pack("[I]", (json_int_t)1 << 31));
    refuse_done("another", json_true());
    refuse_done("likelihood", json_array());
    refuse_done("likelihood", json_pack("[i]", 1));
    refuse_done("likelihood", json_pack("[[i, i, i, i, f]]", 4, 1, 1, 1, 1.0));
    refuse_done("likelihood", json_pack("[[i, i, i, i, f, f, f]]", 4, 1, 1, 1, 1.0, 1.0, 1.0));
    refuse_done("likelihood", json_pack("[[i, i, i, i, f, f]]", 3, 1, 1, 1, 1.0, 1.0)); /* no power of two */
    refuse_done("likelihood", json_pack("[[i, i, i, i, f, f]]", 4, 5, 1, 1, 1.0, 1.0)); /* too many tokens */
    refuse_done("likelihood",
                json_pack("[[i, i, i, i, f, f]]", 4, 1, 2, 1, 1.0, 1.0)); /* of which more agree */
    refuse_done("likelihood", json_pack("[[i, i, i, i, f, f]]", 4, 1, 1, -1, 1.0, 1.0));
    refuse_done("likelihood", json_pack("[[i, i, i, i, f, f]]", 4, 1, 1, 1, 1.0, -1.0));
    refuse_done("likelihood", json_pack("[[i, i, i, i, f, f], [i, i, i, i, f, f]]", 4, 1, 1, 1, 1.0, 1.0, 4,
                                        1, 1, 1, 1.0, 1.0)); /* a bucket twice */
    refuse_done("curve", json_null());
    refuse_done("curve", changed_curve(NULL, "every", json_integer(0)));
    refuse_done("curve", changed_curve(NULL, "heads", json_integer(0)));
    refuse_done("curve", changed_curve(NULL, "heads", json_integer(3)));     /* by_head has two */
    refuse_done("curve", changed_curve(NULL, "live", json_pack("[i]", 80))); /* reads have two */
    refuse_done("curve", changed_curve(NULL, "reads", json_pack("[i, i]", 1, -1)));
    refuse_done("curve", changed_curve("peak", NULL, NULL));
    m = message_job("k");
    json_object_set_new(m, "key", json_null());
    CHECK_INT(message_read_job(m, &key, &e), ERR_FORMAT);
    json_decref(m);
    for (int n = 0; n <= WORKER_WANT_MAX + 1; n += WORKER_WANT_MAX + 1) {
        e.code = 0;
        m = message_want(n);
        CHECK_INT(message_read_want(m, &jobs, &e), ERR_FORMAT);
        json_decref(m);
    }
}

static void free_completion(struct completion *c)
{
    free((int32_t *)c->ids);
    free((float *)c->logprobs);
    free((int32_t *)c->tops);
    free((float *)c->top_logprobs);
}

/* Log-probabilities come back bit for bit, minus infinity too, and so does what layers read. */
static void replays(void)
{
    static const float logprobs[] = {-0.1f, -INFINITY}, gaps[] = {3.0f, INFINITY};
    static const int32_t ids[] = {5, 7}, tops[] = {5, 9};
    char sets[] = "f0 all";
    struct replay_seen seen[] = {{.step = 32, .layer = 1, .digest = "0123abcd"}, {.step = 64, .sets = sets}};
    memcpy(seen[1].digest, "89abcdef", 9);
    struct decoder_replay replay = {.seen = seen, .n_seen = 2}, back = {0};
    const struct decoded_job done = {.c = {.ids = ids,
                                           .n_ids = 2,
                                           .text = "",
                                           .logprobs = logprobs,
                                           .gaps = gaps,
                                           .tops = tops,
                                           .n_logprobs = 2},
                                     .replay = &replay};
    const struct replay_tokens tokens = {.ids = ids, .n = 2, .every = 32};
    struct job job = {.key = "0123456789abcdef0123456789abcdef", .problem = 3, .replay = &tokens}, read = {0};
    struct replay_tokens read_tokens;
    struct completion c;
    struct err e = {0};
    const char *key, *cell;
    json_t *m = message_done("k", &done);
    CHECK_INT(message_read_done(m, &key, &c, &e), 0);
    CHECK_INT(message_read_replayed(m, &c, &back, &e), 0);
    CHECK(c.n_logprobs == 2 && !memcmp(c.logprobs, logprobs, sizeof logprobs) &&
          !memcmp(c.gaps, gaps, sizeof gaps) && !memcmp(c.tops, tops, sizeof tops));
    CHECK(back.n_seen == 2 && back.seen[0].step == 32 && back.seen[0].layer == 1 && !back.seen[0].sets);
    CHECK_STR(back.seen[0].digest, "0123abcd");
    CHECK_STR(back.seen[1].sets, "f0 all");
    free((int32_t *)c.ids);
    free((float *)c.logprobs);
    free((float *)c.gaps);
    free((int32_t *)c.tops);
    replay_release(&back);
    json_object_set_new(json_object_get(m, "replay"), "gaps", json_array());
    CHECK_INT(message_read_done(m, &key, &c, &e), 0);
    CHECK_INT(message_read_replayed(m, &c, &back, &e), ERR_FORMAT);
    free((int32_t *)c.ids);
    free((float *)c.logprobs);
    free((int32_t *)c.tops);
    replay_release(&back);
    /* log-probabilities at both places: the first were lost */
    json_object_set_new(m, "logprobs", json_pack("[i]", 0));
    json_object_set_new(m, "end", json_integer(1));
    CHECK_INT(message_read_done(m, &key, &c, &e), 0);
    CHECK_INT(message_read_replayed(m, &c, &back, &e), ERR_FORMAT);
    CHECK_INT(c.n_logprobs, 1);
    free((int32_t *)c.ids);
    free((float *)c.logprobs);
    json_decref(m);
    e.code = 0;
    m = message_replay(&job, "c1");
    CHECK_INT(message_read_replay(m, &read, &read_tokens, &cell, &e), 0);
    CHECK(read.problem == 3 && read_tokens.n == 2 && read_tokens.ids[1] == 7 && read_tokens.every == 32);
    CHECK_STR(read.key, job.key);
    CHECK_STR(cell, "c1");
    free((int32_t *)read_tokens.ids);
    json_object_set_new(m, "every", json_integer(0));
    CHECK_INT(message_read_replay(m, &read, &read_tokens, &cell, &e), ERR_FORMAT);
    free((int32_t *)read_tokens.ids);
    json_decref(m);
}

/* A request whose prompt is scored, and what comes back: likeliest tokens beside the log-probabilities, bit
 * for bit, and the token that ended it. */
static void scored_requests(void)
{
    static const float logprobs[] = {-0.1f, -INFINITY}, best[] = {-0.1f, -0.25f};
    static const int32_t ids[] = {5, 7, 9}, tops[] = {5, 9};
    const struct job_request q = {.r = {.prompt = ids,
                                        .n_prompt = 2,
                                        .forced = ids + 2,
                                        .n_forced = 1,
                                        .n_scored = 1,
                                        .max_new_tokens = 1,
                                        .want_logprobs = 1},
                                  .want_tops = 1};
    const struct job job = {.key = "0123456789abcdef0123456789abcdef", .request = &q};
    struct decoded_job done = {.c = {.ids = ids,
                                     .n_ids = 1,
                                     .text = "",
                                     .logprobs = logprobs,
                                     .tops = tops,
                                     .top_logprobs = best,
                                     .n_logprobs = 2,
                                     .end_token = 9}};
    const struct decoder_tokens told = {
        .from = 3, .n = 2, .ids = ids, .logprobs = logprobs, .tops = tops, .top_logprobs = best};
    struct owned_request own;
    struct decoder_tokens t;
    struct completion c;
    struct err e = {0};
    const char *key, *cell;
    json_t *m = message_request(&job, "c1");
    CHECK_INT(message_read_request(m, &key, &cell, &own, &e), 0);
    CHECK(own.q.r.n_prompt == 2 && own.q.r.n_forced == 1 && own.q.r.forced[0] == 9 && own.q.r.n_scored == 1);
    CHECK(own.q.want_tops && own.q.r.want_logprobs && !own.q.is_streamed);
    request_release(&own);
    json_decref(m);

    m = message_done("k", &done);
    CHECK_INT(message_read_done(m, &key, &c, &e), 0);
    CHECK(c.n_logprobs == 2 && !memcmp(c.logprobs, logprobs, sizeof logprobs) &&
          !memcmp(c.tops, tops, sizeof tops) && !memcmp(c.top_logprobs, best, sizeof best) &&
          c.end_token == 9);
    free_completion(&c);
    json_object_del(m, "top_logprobs");
    CHECK_INT(message_read_done(m, &key, &c, &e), ERR_FORMAT);
    free_completion(&c);
    json_decref(m);
    e.code = 0;
    done.c.tops = NULL;
    m = message_done("k", &done);
    CHECK_INT(message_read_done(m, &key, &c, &e), 0);
    CHECK(c.n_logprobs == 2 && c.logprobs && !c.tops && !c.top_logprobs);
    free_completion(&c);
    json_decref(m);

    m = message_tokens("k", &told);
    CHECK_INT(message_read_tokens(m, &key, &t, &e), 0);
    CHECK(t.from == 3 && t.n == 2 && t.ids[1] == 7 && !memcmp(t.logprobs, logprobs, sizeof logprobs) &&
          !memcmp(t.tops, tops, sizeof tops) && !memcmp(t.top_logprobs, best, sizeof best));
    decoder_tokens_release(&t);
    json_array_remove(json_object_get(m, "tops"), 0);
    CHECK_INT(message_read_tokens(m, &key, &t, &e), ERR_FORMAT);
    decoder_tokens_release(&t);
    json_decref(m);
}

int main(void)
{
    scored_requests();
    replays();
    messages();
    busy_reader();
    bytes();
    completions();
    likelihoods();
    curves();
    refusals();
    wire_close(&near_end);
    wire_close(&far_end);
    return check_done();
}
