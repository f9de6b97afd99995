#ifndef EVALCORE_GATE_GATE_H
#define EVALCORE_GATE_GATE_H

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/plan/runplan.h"
#include "evalcore/stats/stats.h"
#include "evalcore/store/run.h"
#include "evalcore/sweep/replay.h"
#include "evalcore/sweep/sweep.h"

/* The room of the gate: has this build become worse than a baseline that was frozen? Only commands come in.
 *
 * Two tiers. The first replays completions that the baseline keeps, under each policy, and compares
 * log-probabilities, likeliest tokens, selections and reads: no chance is involved. The second compares
 * accuracies after 4, 8 and 16 samples of each problem (stat_looks) and watches lengths, cut-off and
 * unreadable answers, reads and errors. The gate fails closed: what cannot be compared is an error, never a
 * pass.
 *
 * Words: a SETTING is a policy with its options and generation settings, by its label; a SIDE is what is
 * compared, a run folder or a base file. Strings live in the arena that a function is given.
 *
 * Functions that take a struct err return 0 or a negative ERR_ code; which ones stands at each. Functions
 * that fill a struct str append to it. */

/* ---- tier 1: replays (gate_replay.c, gate_drift.c) */

enum { GATE_SEE_EVERY = REPLAY_KEEP_EVERY, GATE_TRACES = 3, GATE_TRACE_TOKENS = 512 };
/* How often a server scores each completion, half of them one request at a time, half all together: at the
 * baseline for the reference and for the band, and in a night. */
enum { GATE_REFERENCE = 4, GATE_BAND = 12, GATE_NIGHT = 4 };

struct gate_trace { /* a completion that is replayed */
    const char *task, *problem, *prompt_sha256;
    const int32_t *ids;
    int n;
};
struct gate_seen { /* what a layer read in a step */
    int step, layer;
    char digest[9];   /* of the lists, hex */
    const char *sets; /* in the last step seen: a hex bit set of each list, "all" for everything; else NULL */
};
/* How far the scores of a server are from the reference, in one repetition after the other of the baseline's
 * night. kl: the mean over tokens of e^d - 1 - d, d the difference of the log-probabilities of the token, at
 * most 10 nats either way; if the tokens were drawn from the reference, this is an unbiased estimate of the
 * KL divergence from it, and it is never negative. worst: the largest d. others: at how many places another
 * token is the likeliest. */
struct gate_band {
    int n;
    double kl[GATE_BAND], worst[GATE_BAND], others[GATE_BAND];
};
struct gate_replay { /* a trace under a setting */
    const char *setting;
    int trace;
    int n;              /* tokens scored */
    char bits[17];      /* digest of log-probabilities and gaps, to the last bit */
    int *millinats;     /* (n) log-probabilities of the tokens in thousandths */
    int32_t *tops;      /* (n) likeliest tokens; negative numbers where a server told their text alone */
    const int32_t *ids; /* of the trace; NULL: no top is negative */
    struct kv_counts kv;
    struct gate_seen *seen; /* (n_seen) by step, then layer */
    int n_seen;
    /* Scored by the server of an endpoint: all tokens but the last, and nothing is known of bits, kv and
     * seen. why: what the server said where it did not score it, and n is 0. band: NULL in a single
     * repetition. */
    int by_server;
    const char *why;
    const struct gate_band *band;
};

/* Replays all n on the sweep's devices; setting and trace of each are set, all else is made anew. Every
 * `every`-th step is watched, and those whose number is a multiple of GATE_SEE_EVERY are kept; a server,
 * which shows no steps, gets the tokens without their prompts where it is 0, and scores nothing. Returns 0
 * also when it was stopped: *signal then says by what, else 0, and replays that were not decoded have n 0.
 * ERR_USAGE when the plan lacks a setting or a prompt has changed, ERR_DEVICE when a replay could not be
 * decoded. */
int gate_replay(struct gate_replay *r, int n, const struct gate_trace *traces, struct sweep *s, int every,
                const struct process_env *show, int *signal, struct arena *a, struct err *e);

struct gate_drift { /* a replay beside the one that the baseline keeps */
    const char *setting;
    int trace;
    int is_exact;       /* everything is the same, bit for bit */
    double nats, worst; /* mean and largest difference of log-probabilities */
    double kl;          /* of gate_band */
    /* By the noise of the server; NaN without a band. */
    double kl_limit, worst_limit, top1_limit;
    double top1;          /* share of tokens before which the likeliest token is the same */
    double overlap;       /* shared entries of the lists of the last step seen / entries of both; NaN where no
                           * lists were compared */
    int same_lists;       /* share ... of digests: all are the same */
    double reads, wanted; /* total reads */
    int failed;
    const char *why; /* NULL unless it failed */
};
/* What another numerics class may differ by; the same class may not at all. */
#define GATE_NATS    0.02
#define GATE_TOP1    0.98
#define GATE_OVERLAP 0.90
#define GATE_READS   0.02
/* Is the likeliest token at place i the same? Of a text that is not the trace's token all that is known
 * beside an id is that it is another one. */
int gate_same_top(const struct gate_replay *a, const struct gate_replay *b, int i);
/* Compares a replay with the one that the baseline keeps, of the same setting and trace, and fills *out. It
 * fails (out->failed, out->why) when the numbers of tokens differ; with same_class, when anything is not the
 * same bit for bit; without it, when one of the limits above is exceeded. */
void gate_drift(struct gate_drift *out, const struct gate_replay *base, const struct gate_replay *now,
                int same_class, struct arena *a);

/* The floors of a band's limits. A server's own noise need not show what a restart does. */
#define GATE_NOISE_KL    (GATE_NATS * GATE_NATS / 2)
#define GATE_NOISE_WORST 0.5
#define GATE_NOISE_TIMES 2

/* ---- tier 1 through a server (gate_noise.c) */

struct gate_side;
/* Scores the n replays, whose setting and trace are set, GATE_REFERENCE + GATE_BAND times: r gets the
 * reference and its band; what the server does not score has n 0 and `why`. Returns as gate_replay(), but
 * ERR_IO when what was scored once is not again. */
int gate_noise_measure(struct gate_replay *r, int n, const struct gate_trace *traces, struct sweep *s,
                       const struct process_env *show, int *signal, struct arena *a, struct err *e);
/* Scores what the base keeps GATE_NIGHT times and fills out[base->n_replays]. A replay fails when each of the
 * repetitions is further from the reference than GATE_NOISE_TIMES the furthest of the band, by kl, worst or
 * others, and beyond the floors: GATE_NOISE_KL, GATE_NOISE_WORST, and one token or 1 - GATE_TOP1 of them.
 * ERR_USAGE: the server does not score. */
int gate_noise_night(struct gate_drift *out, const struct gate_side *base, struct sweep *s,
                     const struct process_env *show, int *signal, struct arena *a, struct err *e);

/* The two rules by themselves. gate_noise_band() makes the reference and the band of a replay of its
 * GATE_REFERENCE + GATE_BAND repetitions, the first half alone; gate_noise_judge() compares GATE_NIGHT. They
 * do not fail. */
void gate_noise_band(struct gate_replay *out, const struct gate_replay *rep, struct arena *a);
void gate_noise_judge(struct gate_drift *out, const struct gate_replay *base, const struct gate_replay *rep,
                      struct arena *a);

/* ---- sides (gate_side.c, gate_base.c, gate_base_read.c, gate_fit.c, gate_match.c) */

struct gate_sums {                        /* over samples of one problem */
    long n, right, cut, unparsed, errors; /* errors: failed jobs and answers that could not be graded */
    double score, tokens, log_tokens;
    double reads, aux, full;
    long failed; /* jobs without a length */
};
struct gate_problem {
    const char *id, *prompt_sha256; /* its first 16 digits */
    const char *gold; /* 16 digits over the reference answers and the problem's own limit and stop string */
    double chance;    /* run_chance(); 0 in a base file */
    int n;            /* samples that count: one when decoding is greedy */
    struct gate_sums all;
    const struct gate_sums *sample; /* (n) one by one; NULL in a base file */
};
struct gate_cell { /* a setting on a task */
    const char *setting, *task;
    const char *policy, *settings,
        *facts;           /* canonical JSON: options; generation settings; version and options of the task */
    const char *identity; /* of the cell of a run folder (run.h); NULL in a base file */
    int context;          /* of the model, in tokens; 0: not known */
    int is_binary;        /* every score is 0 or 1 */
    int n_problems;
    struct gate_problem *problems;
};
struct gate_side {
    const char *path;
    int is_file; /* a base file */
    const char *model, *weights, *configuration, *numerics, *grader, *version;
    double margin; /* in points */
    struct gate_cell *cells;
    int n_cells, n_texts;      /* n_texts: cells of texts, which have no verdicts and are left out */
    struct gate_trace *traces; /* base file alone */
    int n_traces;
    struct gate_replay *replays;
    int n_replays;
    const char *unscored; /* why a base file that a server has made keeps no replays; NULL: it does */
};
/* It was decoded through an endpoint: `weights` is a hash of the model's name there, and `configuration` and
 * reads are not known. */
int gate_is_served(const struct gate_side *s);
/* The two are of one numerics class, and with an endpoint of one name and of what else it tells. */
int gate_same_class(const struct gate_side *base, const struct gate_side *now);

/* Fills *out from a loaded run folder, which may be released afterwards. ERR_FORMAT for journals that are
 * damaged or contradict each other, ERR_IO for a folder that has no answers or, unless may_be_partial, is
 * unfinished, ERR_USAGE for one with several models; each names the next step. */
int gate_side_run(struct gate_side *out, const struct run *r, int may_be_partial, struct arena *a,
                  struct err *e);
enum { GATE_BASE_VERSION = 2 };
/* A base file: JSONL, one line a thing, the last line a digest of the others. gate_base_read() fills *out;
 * ERR_IO or ERR_DISK when the file cannot be read, ERR_IO when it keeps no results, ERR_USAGE when it is no
 * base file, ERR_FORMAT when it is damaged or of another version. */
int gate_base_read(struct gate_side *out, const char *path, struct arena *a, struct err *e);
/* Writes a side that gate_fit() accepts, in place of an earlier file. ERR_USAGE when it does not accept it,
 * ERR_IO or ERR_DISK when the file cannot be written; the earlier one then stays. */
int gate_base_write(const struct gate_side *s, const char *path, struct err *e);
/* Returns 0 when the side is fit to be a baseline. ERR_USAGE where answers failed or could not be graded,
 * and, with needs_replays, where a setting was not replayed: what is broken in the baseline would pass every
 * night. gate_base_write() and gate_match() ask it without needs_replays. */
int gate_fit(const struct gate_side *s, int needs_replays, struct err *e);
/* Returns 0 when the replays test the selection. ERR_USAGE names a setting other than full whose replays read
 * every token. */
int gate_fit_reads(const struct gate_side *s, struct err *e);
struct gate_result;
/* A setting that solves no more than the margin above guessing in the baseline cannot lose it, so it never
 * passes: unless it is a regression or an error, or was not looked at, its verdict becomes inconclusive with
 * is_last, else open. */
void gate_fit_margin(struct gate_result *r, int is_last, struct arena *a);
/* Returns 0 when the two can be compared. ERR_USAGE names the first thing that differs: weights and
 * configuration (unless one side was served, which gate_terms() sees to), tasks, problems, prompts, reference
 * answers and problems' limits, generation settings, grader, or a setting or task that only one has; or says
 * that the baseline is empty or not fit. The policies' options may differ. */
int gate_match(const struct gate_side *base, const struct gate_side *now, struct err *e);
/* ERR_USAGE where the margins differ, unless one was given (has_margin), or the numerics classes, unless that
 * is allowed (other_numerics); which also allows that an endpoint's name is all there is of the weights. */
int gate_terms(const struct gate_side *base, const struct gate_side *now, int has_margin, int other_numerics,
               struct err *e);

/* Returns the sums over the first n samples of a problem, or over all that it has where they are fewer, n is
 * 0, or the side is a base file. */
struct gate_sums gate_sums(const struct gate_problem *p, int n);
/* Returns the label of a setting, "POLICY SETTINGS", in the arena; `policy` itself when settings is NULL or
 * empty. */
const char *gate_setting_label(const char *policy, const char *settings, struct arena *a);

/* ---- tier 2 (gate_decide.c, gate_guards.c, gate_fault.c) */

enum gate_verdict { GATE_PASS, GATE_REGRESSION, GATE_INCONCLUSIVE, GATE_OPEN, GATE_ERROR };
const char *gate_verdict_name(
    enum gate_verdict v); /* "pass", "regression", "inconclusive", "open", "error"; a constant */

/* In percent: how much longer answers may get; points by which the shares of cut-off and of unreadable
 * answers may rise; how much total reads may change either way; and how many jobs may fail. */
struct gate_limits {
    double length, cut, unparsed, reads;
    int errors;
};
extern const struct param gate_limit_params[];

struct gate_guard {
    const char *name;           /* "length", "cut off", "unparsed", "reads", "errors" */
    double base, now, limit, p; /* p: one-sided, NaN where no test is needed */
    int failed;
    int is_blind; /* its test cannot fail with so few problems; only its limit without a test can */
    const char *words;
};
enum { GATE_GUARDS = 5 };
struct gate_look { /* after `samples` samples of each problem */
    int samples;
    double base, now;           /* accuracies, fractions, all problems alike */
    double chance;              /* the accuracy of one who guesses among options */
    double lower, holm, within; /* P of so few right answers; that with Holm; P of a loss of the margin */
    double fail_p, pass_p;      /* the limits of the look */
};
struct gate_setting {
    const char *label;
    const char *differs; /* options of the policy that are not the baseline's, in words; NULL: none */
    int n_problems, is_binary;
    struct gate_look look[3];
    int n_looks;
    struct interval ci; /* of now - base at the last look, problems given */
    double z;           /* the same in standard errors under no change, for the control chart */
    struct gate_guard guard[GATE_GUARDS];
    enum gate_verdict verdict;
    const char *why;
};
/* What the tasks of all settings may together add to the false alarms of a night, over its looks. */
#define GATE_NOTES_ALPHA 0.01
struct gate_note { /* a task of a setting, for people alone unless it is catastrophic */
    const char *setting, *task;
    double base, now, p, bh; /* bh: Benjamini and Hochberg over all tasks of all settings */
    int is_catastrophic;     /* less than half of the baseline's accuracy, beyond GATE_NOTES_ALPHA */
};
struct gate_flip {
    const char *setting, *task, *problem;
    double base, now;
};
struct gate_result {
    const struct gate_side *base, *now;
    double margin;
    int same_class;
    struct gate_drift *drifts;
    int n_drifts;         /* 0: tier 1 was not run */
    const char *unscored; /* why it was not, where a server decoded; else NULL */
    int tier1_failed;
    struct gate_setting *settings;
    int n_settings;
    struct gate_note *notes;
    int n_notes;
    struct gate_flip flips[10]; /* the largest losses */
    int n_flips;
    enum gate_verdict verdict;
    const char *words;   /* one sentence */
    const char *changed; /* which settings have other options than in the baseline, in words; NULL: none */
};
/* Takes the looks up to `samples` of each problem, setting by setting, each until it is decided. is_last: no
 * further samples will come, so that the last look takes all there is up to `samples`, and what is open then
 * is inconclusive. samples 0 with is_last: one look at all there is. Returns 0 whatever the verdict, and out
 * borrows base and now. ERR_USAGE when gate_match() refuses the two, when now is a base file, or when a
 * setting whose options differ has not failed and no setting has; ERR_IO with is_last when a setting has no
 * answers. */
int gate_decide(struct gate_result *out, const struct gate_side *base, const struct gate_side *now,
                const struct gate_limits *limits, double margin, int samples, int is_last, struct arena *a,
                struct err *e);
/* Returns, in words in the arena, all in which two JSON objects differ ("k_pages is 4, the base has 16");
 * NULL: nothing. */
const char *gate_changed(const char *base, const char *now, struct arena *a);
/* Returns the same for the options of a setting's policy; also that a file which one of them names holds
 * something else, where both cells are of run folders of one numerics class. */
const char *gate_changed_options(const struct gate_cell *base, const struct gate_cell *now, int same_class,
                                 struct arena *a);
/* Fills in the settings of r, whose base and now gate_match() has accepted, with what differs in their
 * options; verdicts are open. */
void gate_list_settings(struct gate_result *r, struct arena *a);
/* Greedy settings within one numerics class and with the baseline's options are judged by their answers
 * alone: all the same is a pass, some changed and a lower accuracy a regression. Other verdicts stay. */
void gate_judge_greedy(struct gate_result *r, struct arena *a);
/* Settings whose options differ and whose verdict is pass or inconclusive become errors. Returns 0, or
 * ERR_USAGE when there are such and no setting has failed. */
int gate_refuse_others(struct gate_result *r, struct arena *a, struct err *e);
/* Removes the results of an earlier command, the files of gate_write(), from dir; a file or folder that is
 * not there is no error. ERR_IO when one cannot be removed. */
int gate_clear(const char *dir, struct err *e);
/* Fills *r with the result of a command that could not compare: GATE_ERROR in the words of e. base, now: the
 * paths; NULL: not known. */
void gate_fault(struct gate_result *r, const char *base, const char *now, const struct err *e,
                struct arena *a);
/* Fills the GATE_GUARDS guards of a setting from the first `samples` samples of each problem on the new side
 * (0: all) and all of the baseline's. n_settings: how many settings share the level of the tests. Verdicts
 * stay as they are. */
void gate_guards(struct gate_setting *s, const struct gate_side *base, const struct gate_side *now,
                 const struct gate_limits *limits, int samples, int n_settings, struct arena *a);

/* ---- what is written (gate_json.c, gate_page.c, gate_history.c) */

struct gate_night {                       /* a line of the history file */
    double time;                          /* seconds since 1970 */
    const char *version, *verdict, *base; /* base: digest of what was compared with */
    const char **setting, **answers;      /* answers: digest of the first look's */
    double *z, *delta; /* by setting; NaN where the answers are those of an earlier night */
    int n;
};
struct gate_history {
    const char *path; /* that it was read from */
    struct gate_night *night;
    int n;
};
/* Reads the nights of the last base that have new answers. A missing file is an empty history; ERR_FORMAT for
 * a damaged line, ERR_IO or ERR_DISK when the file cannot be read. */
int gate_history_read(struct gate_history *h, const char *path, struct arena *a, struct err *e);
/* Appends a night, at `time` seconds since 1970, as one line, and syncs the file, which is made where it is
 * missing. ERR_IO when that fails. */
int gate_history_add(const char *path, const struct gate_result *r, double time, struct err *e);
/* The control chart of the settings over the nights, oldest first: CUSUM of the drops (stat_cusum_add).
 * *alarm receives the index of the first night in which any setting is beyond the limit, or -1. Adds to out
 * an SVG figure, or nothing without settings. */
#define GATE_CUSUM_K 0.5
#define GATE_CUSUM_H 5.0
void gate_chart(struct str *out, const struct gate_history *h, int *alarm, struct arena *a);
/* The section "Nights" of a page with the chart as `file`; svg, when not NULL, receives the chart, too. A
 * history without nights gives one sentence and no chart. */
struct doc;
void gate_nights(struct doc *d, const struct gate_history *h, const char *file, struct str *svg);

/* The texts of gate.json and gate.xml (JUnit), and the lines for a terminal. */
void gate_json(struct str *out, const struct gate_result *r);
void gate_junit(struct str *out, const struct gate_result *r);
void gate_console(struct str *out, const struct gate_result *r);
/* GitHub's workflow commands for replays and settings that did not pass, at most ten; nothing when all
 * passed. */
void gate_github(struct str *out, const struct gate_result *r);
/* The same page as markdown and as HTML. h NULL: no history; without a night in it nothing is added to svg,
 * which else receives the chart. */
void gate_page(struct str *md, struct str *html, struct str *svg, const struct gate_result *r,
               const struct gate_history *h, struct arena *a);
/* Writes gate.json, gate.xml, gate.md, gate.html and, where h (NULL: no history) has nights, gate.svg into
 * dir, which is made if missing. md receives the page in markdown. ERR_IO or ERR_DISK at the first file that
 * cannot be written; those before it stay. */
int gate_write(const char *dir, const struct gate_result *r, const struct gate_history *h, struct str *md,
               struct arena *a, struct err *e);

/* ---- --run (gate_decode.c) */

/* Decodes what the folder lacks of the first `samples` samples of each problem, in the cells that are wanted
 * (wanted[cell]; NULL: all). show: the terminal; NULL: nothing is shown. Jobs that ended in an error are not
 * decoded again, but by a server, whose errors need not be the model's. Returns 0 when nothing is left, and
 * also when a signal or the time stopped it: *signal then says what, else 0, and what was finished is saved.
 * An error is one of run_load_with() or sweep_decode(). */
int gate_decode(struct sweep *s, const char *dir, int samples, const char *wanted,
                const struct process_env *show, int *signal, struct err *e);
/* Decodes a list of n jobs in place of the plan's, which is put back also after an error. dir: the run folder
 * whose journal gets the records; NULL: all are replays. Returns as sweep_decode() does; for n 0 it returns 0
 * at once and leaves *signal as it is. */
int gate_decode_list(struct sweep *s, const char *dir, struct job *jobs, long n,
                     const struct process_env *show, int *signal, struct err *e);

#endif
