/* See calibration_run.h. */
#include "evalcore/calibration/calibration_run.h"

int calibration_run_open(struct calibration_run *r, const struct process_env *p, const char *path,
                         const struct calibration_options *o, struct err *e)
{
    struct runfile_options fo = {.model = o->model, .tasks = o->tasks, .set = &o->set};
    struct device_list device;
    int rc = device_list_parse(&device, o->device, 1, e);
    if (!rc)
        rc = runfile_load(&r->file, path, &fo, e);
    if (!rc)
        rc = runfile_find_models(&r->file, p, e);
    struct runplan_options po = {.data_dir = o->data,
                                 .limit = o->limit,
                                 .backend = device.backend,
                                 .ordinal = device.ordinal[0],
                                 .threads = o->threads,
                                 .max_batch = 2, /* a policy, and full attention beside it */
                                 .cache_dir = p->cache_dir};
    if (!rc)
        rc = runplan_build(&r->plan, &r->file, &po, e);
    return rc ? rc : dev_set_decode(&r->dev, &r->plan, o->max_new, e);
}

void calibration_run_close(struct calibration_run *r)
{
    dev_set_release(&r->dev);
    runplan_release(&r->plan);
    runfile_release(&r->file);
}
