/* What the estimate of the time left is told of a sweep's speed (sweep_progress_show()). */
#include <unistd.h>

#include "evalcore/base/clock.h"
#include "evalcore/sweep/sweep_progress.h"
#include "tests/check.h"

static struct decoder_sums sums; /* what the decoder says */
static struct running_job running = {.job = 0, .tokens = 100};

static void look(struct decoder *d, struct decoder_figures *out)
{
    (void)d;
    out->model[0] = sums;
    out->running = &running;
    out->n = sums.steps > 0;
    out->n_workers = 1;
    out->worker[0] = (struct status_worker){.name = "", .life = STATUS_LIVE, .running = 1, .tokens = 100};
}

/* A device decodes for a while, beside others that load: seconds of all that worked, over those that passed.
 */
static double working_devices(int devices, int loading, int is_late)
{
    struct forecast_job job = {.limit = 1000, .usual = 500, .prompt = 50};
    struct decoder decoder = {.look = look};
    struct board board;
    struct status_device device = {.name = ""};
    const struct process_env terminal = {.columns = 80};
    board_init(&board, BOARD_NONE, &terminal, NULL, NULL);
    board.now.device = &device;
    board.now.n_devices = 1;
    double began = clock_seconds();
    struct sweep_progress t = {
        .board = &board, .forecast = {.job = &job, .n_jobs = 1, .n_cells = 1, .n_tasks = 1, .n_models = 1}};
    t.sampled[0] = t.looked[0] = began;
    sums = (struct decoder_sums){0};
    if (is_late) { /* no device worked on these jobs, then one was loading for them */
        usleep(150000);
        sweep_progress_show(&t, &decoder);
        usleep(150000);
        sums.devices = sums.loading = devices;
        sums.places = devices * 32;
        sweep_progress_show(&t, &decoder);
        began = t.looked[0];
    }
    sums = (struct decoder_sums){.tokens = 100,
                                 .steps = 100,
                                 .decode_seconds = 0.25,
                                 .devices = devices,
                                 .loading = loading,
                                 .places = devices * 32};
    usleep(300000);
    sweep_progress_show(&t, &decoder);
    const struct forecast_speed *s = &t.forecast.speed[0];
    CHECK(s->all.steps > 0);
    CHECK_INT(s->devices, devices - loading);
    CHECK_NEAR(s->all.prompts, 50, 1e-9);
    forecast_release(&t.forecast);
    return s->all.wall / (t.sampled[0] - began);
}

int main(void)
{
    CHECK_NEAR(working_devices(1, 0, 0), 1, 1e-9);
    CHECK_NEAR(working_devices(2, 0, 0), 2, 1e-9);
    /* Seven that load were once taken for seven that do nothing: the time left was eight times too long. */
    CHECK_NEAR(working_devices(8, 7, 0), 1, 1e-9);
    /* The time before a model was loaded was once taken for decoding it. */
    CHECK_NEAR(working_devices(2, 1, 1), 1, 1e-9);
    return check_done();
}
