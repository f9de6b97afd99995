/* Is this machine fit for a run (contract: doctor.h)? System, processor, memory, disk, GPUs and graders, and
 * one problem with the embedded model, whose token ids are known. */
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "answer_check/answer_check.h"
#include "code_check/code_check.h"
#include "engine/engine.h"
#include "evalcore/base/clock.h"
#include "evalcore/base/file.h"
#include "evalcore/cli/version.h"
#include "evalcore/doctor/doctor_parts.h"
#include "evalcore/doctor/gpu_table.h"
#include "evalcore/store/job_key.h"

struct doctor {
    int failed;
};

__attribute__((format(printf, 4, 5))) static void say_line(struct doctor *d, int ok, const char *what,
                                                           const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("%-6s %-12s ", ok ? "ok" : "FAIL", what);
    vprintf(fmt, ap);
    printf("\n");
    va_end(ap);
    d->failed += !ok;
}

static void check_build(struct doctor *d)
{
    char system[128];
    struct utsname u;
#ifdef __clang__
    static const char compiler[] = "clang " __clang_version__;
#else
    static const char compiler[] = "gcc " __VERSION__;
#endif
    system_line("/etc/os-release", "PRETTY_NAME", '=', system, sizeof system);
    if (uname(&u)) /* cannot fail with a valid address */
        memset(&u, 0, sizeof u);
    say_line(d, 1, "kveval", "%s, built with %s", KVEVAL_VERSION, compiler);
    say_line(d, 1, "system", "%s, %s %s, %s", *system ? system : "unknown distribution", u.sysname, u.release,
             u.machine);
    say_line(d, 1, "libraries", "glibc %s, jansson %s", gnu_get_libc_version(), jansson_version_str());
}

static void check_machine(struct doctor *d)
{
    char cpu[128], total[64], available[64];
    system_line("/proc/cpuinfo", "model name", ':', cpu, sizeof cpu);
    system_line("/proc/meminfo", "MemTotal", ':', total, sizeof total);
    system_line("/proc/meminfo", "MemAvailable", ':', available, sizeof available);
    say_line(d, 1, "processor", "%s, %ld cores online", *cpu ? cpu : "unknown",
             sysconf(_SC_NPROCESSORS_ONLN));
    double free_gib = strtod(available, NULL) / 1048576;
    say_line(d, !*available || free_gib >= 1, "memory",
             "%.1f GiB, %.1f GiB available (1 needed for the demo)", strtod(total, NULL) / 1048576, free_gib);
}

enum { SYNCS = 20 };

/* dir, or of a folder that is not there yet the one it would be made in: looking leaves nothing behind. */
static char *nearest_folder(const char *dir)
{
    char *place = xstrdup(dir);
    while (!file_exists(place)) {
        size_t n = strlen(place);
        while (n > 1 && place[n - 1] == '/')
            n--;
        while (n && place[n - 1] != '/')
            n--;
        while (n > 1 && place[n - 1] == '/')
            n--;
        if (!n) /* a bare name; it had a character */
            place[n++] = '.';
        place[n] = 0;
    }
    return place;
}

static void check_disk(struct doctor *d, const char *dir)
{
    struct statvfs v;
    struct str target = {0}, path = {0};
    char *place = nearest_folder(dir);
    if (statvfs(place, &v)) {
        say_line(d, 0, "disk", "%s: %s", place, err_reason(errno));
        free(place);
        return;
    }
    double gib = (double)v.f_bavail * (double)v.f_frsize / 1073741824;
    str_printf(&target, "%s/.kveval-doctor", place);
    int fd = file_open_temporary(&path, target.data, NULL), bad = fd < 0;
    double start = clock_seconds();
    for (int i = 0; i < SYNCS && !bad; i++)
        bad = write(fd, path.data, path.len) < 0 || fdatasync(fd);
    int reason = errno;
    double ms = (clock_seconds() - start) * 1e3 / SYNCS;
    if (fd >= 0) {
        close(fd);
        unlink(path.data);
    }
    if (bad)
        say_line(d, 0, "disk", "cannot write to %s: %s", place, err_reason(reason));
    else
        say_line(d, gib >= 0.1, "disk",
                 "%s: %.1f GiB free, a durable write takes %.2f ms (one per finished completion)", place, gib,
                 ms);
    free(place);
    str_release(&target);
    str_release(&path);
}

/* A home folder has the user's name in its path. */
static void check_cache(struct doctor *d, const struct process_env *p)
{
    size_t home = p->home ? strlen(p->home) : 0;
    if (!p->cache_dir)
        say_line(d, 1, "cache", "none: hashes of weight files are computed every time");
    else if (home && !strncmp(p->cache_dir, p->home, home) && p->cache_dir[home] == '/')
        say_line(d, 1, "cache", "~%s", p->cache_dir + home);
    else
        say_line(d, 1, "cache", "%s", p->cache_dir);
}

static void check_gpus(struct doctor *d)
{
    struct gpu_table t;
    struct str text = {0};
    gpu_table(&t, &text, "       ");
    if (!t.n)
        say_line(d, !t.is_unreadable, "gpu", "none: %s", t.why);
    else if (t.n_bad)
        say_line(d, 0, "gpu",
                 "%d of %d cannot be used, or copies from them do not arrive; see dmesg:", t.n_bad, t.n);
    else
        say_line(d, 1, "gpu", "%d usable%s:", t.n, t.n > 1 ? ", copies between them arrive" : "");
    fputs(str_text(&text), stdout);
    if (*t.kernels)
        printf("       %s\n", t.kernels);
    str_release(&text);
}

static void check_graders(struct doctor *d)
{
    static const struct {
        const char *gold, *text;
        enum verdict want;
    } cases[] = {
        {"1/2", "so it is \\boxed{0.5}", VERDICT_CORRECT},
        {"204", "Answer: 205", VERDICT_WRONG},
        {"x+1", "<think>\nlong", VERDICT_UNFINISHED},
        {"3", "I do not know", VERDICT_UNPARSED},
    };
    struct arena a = {0};
    int wrong = 0, n = (int)(sizeof cases / sizeof cases[0]);
    for (int i = 0; i < n; i++) {
        struct grade g = {0};
        struct response r = {.text = cases[i].text, .len = strlen(cases[i].text)};
        wrong +=
            grade_math(&g, cases[i].gold, strlen(cases[i].gold), &r, &a) != 0 || g.verdict != cases[i].want;
    }
    struct choice c = {0};
    struct response r = {.text = "The answer is (C).", .len = 18};
    wrong += choice_extract(&c, &r, 4, &a) != 0 || c.letter != 'C';
    say_line(d, !wrong, "graders", "version %s, %d of %d known answers right", answer_check_version(),
             n + 1 - wrong, n + 1);
    arena_release(&a);
}

/* Programs that a model wrote run there or not at all. A machine without one is fit for every other task. */
static void check_sandbox(struct doctor *d)
{
    struct str what = {0};
    struct err e = {0};
    if (code_sandbox_check(&what, &e))
        say_line(d, 1, "sandbox", "none, so tasks of programs (livecodebench) are refused: %s", e.text);
    else
        say_line(d, 1, "sandbox", "%s: no network, no files but Python's, one process", str_text(&what));
    str_release(&what);
}

/* Greedy, full attention; ids from the reference decoder in NumPy, smallest gap between two logits 0.93. */
static const char known_prompt[] = "<|User|>Apply the rules in order , all values modulo 1000 .\n rule 3 : "
                                   "wr = hu + 2 * qt\n rule 1 : qt = 694\n"
                                   " rule 2 : hu = 524\nFind the value of wr .<|Assistant|><think>\n";
static const char known_digest[] = "0f6a6e462f517bc9604d30eb65ea6985f31d416a9ffe32767618b6e83adc07c6";
enum { KNOWN_TOKENS = 180 };

static int decode_known(struct engine *en, const struct completion **done, struct err *e)
{
    struct token_list ids = {0};
    struct tokenizer_scratch scratch = {0};
    struct arena a = {0};
    struct policy_spec spec;
    struct request r = {.max_new_tokens = 400, .end_token = -1};
    int rc = policy_spec_text(&spec, "full", &a, e);
    if (!rc)
        rc = engine_policy(en, &spec, &r.policy, e);
    if (!rc)
        rc =
            chat_encode_rendered(engine_tokenizer(en), &scratch, known_prompt, strlen(known_prompt), &ids, e);
    r.prompt = ids.id;
    r.n_prompt = (int)ids.n;
    if (!rc)
        rc = engine_run_one(en, &r, done, e);
    token_list_release(&ids);
    tokenizer_scratch_release(&scratch);
    arena_release(&a);
    return rc;
}

static void check_engine(struct doctor *d, int threads)
{
    struct engine_options o = {.model = "pocket", .threads = threads, .max_batch = 1};
    struct engine *en = NULL;
    const struct completion *done = NULL;
    struct err e = {0};
    char digest[65];
    if (engine_open(&en, &o, &e) || decode_known(en, &done, &e)) {
        say_line(d, 0, "engine", "%s", e.text);
        engine_close(en);
        return;
    }
    job_hash_ids(done->ids, (size_t)done->n_ids, digest);
    int same = done->n_ids == KNOWN_TOKENS && !strcmp(digest, known_digest);
    say_line(d, same, "engine", "%s: %s, %d tokens of a known problem %s, %.0f tokens/s",
             engine_info(en)->device, engine_info(en)->numerics, done->n_ids,
             same ? "equal the reference" : "DIFFER from the reference",
             done->n_ids / (done->seconds > 0 ? done->seconds : 1));
    engine_close(en);
}

int doctor_machine(const struct process_env *p, const char *out_dir, int threads)
{
    struct doctor d = {0};
    check_build(&d);
    check_machine(&d);
    check_disk(&d, out_dir);
    check_cache(&d, p);
    check_gpus(&d);
    check_graders(&d);
    check_sandbox(&d);
    check_engine(&d, threads);
    return d.failed;
}
