/* The child of a pool of graders (contract: grader_pool.h). It reads texts from the journal itself, so that
 * they need not be sent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "evalcore/graders/grader_messages.h"
#include "evalcore/graders/grader_pool.h"
#include "evalcore/process/wire.h"
#include "evalcore/store/grades.h"
#include "evalcore/store/journal.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SHADOW 1 /* sanitizers reserve terabytes of addresses */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SHADOW 1
#endif
#endif
#ifndef HAS_SHADOW
#define HAS_SHADOW 0
#endif

struct server {
    struct wire wire;
    const char *dir, *zh_dict;
    struct zh_segmenter *zh;
    int zh_opened;
    struct str path, text;
};

/* Lowers a limit of this process, which the one that it was started with may already do. */
static int set_limit(int what, const char *name, rlim_t most, struct err *e)
{
    struct rlimit r;
    int rc = getrlimit(what, &r);
    r.rlim_cur = most < r.rlim_max ? most : r.rlim_max;
    if (!rc)
        rc = setrlimit(what, &r);
    return rc ? err_set(e, ERR_IO, "a grader cannot be given a limit of %s: %s", name, err_reason(errno)) : 0;
}

/* The limit is on the process as a whole, in seconds. */
static int limit_time(struct err *e)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return set_limit(RLIMIT_CPU, "processor time",
                     (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 2 + GRADER_SECONDS), e);
}

static int open_segmenter(struct server *s, struct err *e)
{
    if (s->zh_opened)
        return 0;
    s->zh_opened = 1;
    return segmenter_open(&s->zh, s->zh_dict, e);
}

static int grade_item(struct server *s, struct grader_item *item, struct err *e)
{
    struct arena a = {0};
    int rc = grade_needs_segmenter(&item->task, &item->problem) ? open_segmenter(s, e) : 0;
    if (!rc)
        rc = limit_time(e);
    str_clear(&s->path);
    str_printf(&s->path, "%s/journal/%s", s->dir, item->journal);
    if (!rc)
        rc = journal_fetch(str_text(&s->path), item->rec.offset, item->rec.length, NULL, &s->text, NULL, e);
    if (!rc) {
        grade_record(&item->rec, &item->task, &item->problem, str_text(&s->text), s->text.len, s->zh, &a);
        rc = wire_send(&s->wire, grader_grade(&item->rec), e);
    }
    arena_release(&a);
    return rc;
}

static int grade_batch(struct server *s, const json_t *m, struct err *e)
{
    const json_t *items = json_object_get(m, "items");
    struct grader_item item = {0};
    struct arena a = {0};
    int rc = 0;
    for (size_t i = 0; i < json_array_size(items) && !rc; i++) {
        rc = grader_read_item(json_array_get(items, i), &item, &a, e);
        if (!rc)
            rc = grade_item(s, &item, e);
    }
    arena_release(&a);
    return rc;
}

int grader_serve(int fd, const char *dir, const char *zh_dict, struct err *e)
{
    struct server s = {.wire.fd = fd, .dir = dir, .zh_dict = zh_dict};
    memory_exits_with(GRADER_NO_MEMORY);
    answer_check_own_memory();
    json_set_alloc_funcs(xmalloc, free);
    int rc = HAS_SHADOW ? 0 : set_limit(RLIMIT_AS, "memory", (rlim_t)GRADER_MEMORY_MIB << 20, e);
    if (!rc)
        rc = wire_send(&s.wire, json_pack("{s:b}", "ready", 1), e);
    while (!rc) {
        json_t *m = NULL;
        int got = wire_receive(&s.wire, 1, &m, e);
        rc = got == WIRE_MESSAGE ? grade_batch(&s, m, e) : got;
        json_decref(m);
    }
    if (rc < 0)
        wire_send(&s.wire, grader_error(e), NULL);
    zh_segmenter_close(s.zh);
    wire_close(&s.wire);
    str_release(&s.path);
    str_release(&s.text);
    return rc < 0 ? rc : 0;
}
