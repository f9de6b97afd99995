/* What the estimate of the time left is told of a sweep's speed (sweep_progress_show()). */
#include <unistd.h>

#include "evalcore/base/clock.h"
#include "evalcore/sweep/sweep_progress.h"
#include "tests/check.h"

/* A device decodes for a while, beside others that load: seconds of all that worked, over those that passed.
 */
static double working_devices(int devices, int loading, int is_late)
{
    struct eta_job job = {.limit = 1000, .usual = 500, .prompt = 50};
    struct board board;
    struct status_device device = {.name = ""};
    const struct process_env terminal = {.columns = 80};
    const struct running_job running = {.job = 0, .tokens = 100};
    const struct status_worker worker = {.name = "", .life = STATUS_LIVE, .running = 1, .tokens = 100};
    board_init(&board, BOARD_NONE, &terminal, NULL, NULL);
    board.now.device = &device;
    board.now.n_devices = 1;
    double began = clock_seconds();
    struct sweep_progress t = {.board = &board,
                               .job = &job,
                               .eta = {.job = &job, .n_jobs = 1, .n_cells = 1, .n_tasks = 1},
                               .last_clock = began,
                               .looked = began};
    const struct devices_now none = {.worker = &worker, .n_workers = 1};
    struct devices_now now = {.tokens = 100,
                              .steps = 100,
                              .decode_seconds = 0.25,
                              .devices = devices,
                              .loading = loading,
                              .places = devices * 32,
                              .worker = &worker,
                              .n_workers = 1,
                              .running = &running,
                              .n = 1};
    if (is_late) { /* no device worked on these jobs, then one was loading for them */
        usleep(150000);
        sweep_progress_show(&t, &none);
        usleep(150000);
        now.loading = now.devices;
        now.steps = now.tokens = now.decode_seconds = 0;
        sweep_progress_show(&t, &now);
        now.loading = loading;
        now.steps = now.tokens = 100;
        now.decode_seconds = 0.25;
        began = t.looked;
    }
    usleep(300000);
    sweep_progress_show(&t, &now);
    CHECK(t.eta.speed.sum.steps > 0);
    CHECK_NEAR(t.eta.speed.sum.context, 150.0 / (devices - loading) * 100, 1e-9);
    return t.eta.speed.sum.wall / (t.last_clock - began);
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
