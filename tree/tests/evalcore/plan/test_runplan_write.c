/* What a plan writes into a run folder: the prompts of a restricted task are in none of its files. */
#include "evalcore/base/file.h"
#include "evalcore/plan/runplan.h"
#include "tests/check.h"

static int is_in_file(const char *path, const char *text)
{
    struct str all = {0};
    struct err e = {0};
    CHECK_INT(file_read(path, &all, &e), 0);
    int found = all.len && memmem(all.data, all.len, text, strlen(text)) != NULL;
    str_release(&all);
    return found;
}

/* In any file of the folder? */
static int is_in_folder(const char *dir, const char *text)
{
    static const char *const folders[] = {"", "problems"};
    int found = 0, n_files = 0;
    for (int d = 0; d < 2; d++) {
        struct str folder = {0};
        struct file_list files;
        struct err e = {0};
        file_join(&folder, dir, folders[d]);
        CHECK_INT(file_list(&files, folder.data, "", &e), 0);
        for (size_t i = 0; i < files.n; i++) {
            struct str path = {0};
            file_join(&path, folder.data, files.name[i]);
            if (!file_is_dir(path.data)) {
                found |= is_in_file(path.data, text);
                n_files++;
            }
            str_release(&path);
        }
        file_list_release(&files);
        str_release(&folder);
    }
    CHECK_INT(n_files, 3); /* configuration, manifest, problems */
    return found;
}

/* A plan of one task with one problem, written into dir. */
static void write_plan(const char *dir, const struct task_ops *ops)
{
    static const char prompt[] = "How many ZEBRAS are striped?";
    struct problem problem = {
        .id = "p1", .prompt = prompt, .prompt_len = strlen(prompt), .gold = "B", .gold_len = 1};
    struct prompt_row row = {.n = 7};
    struct prompt_set set = {.task = {.ops = ops, .problems = &problem, .n_problems = 1},
                             .label = ops->name,
                             .rows = &row,
                             .file = "problems/p.jsonl"};
    struct loaded_model loaded = {
        .info = {.family = "f", .weights = "w", .configuration = "c", .numerics = "n", .device = "d"}};
    json_t *source = json_object();
    struct runfile file = {.path = "run.json",
                           .models = {{.path = "pocket", .label = "pocket", .shown = "pocket"}},
                           .n_models = 1,
                           .baseline = "",
                           .source = source,
                           .published = json_pack("[{s:s}]", "where", "Table 77")};
    struct runplan plan = {.file = &file, .loaded = &loaded, .sets = &set, .n_loaded = 1, .n_sets = 1};
    struct err e = {0};
    int dropped = -1;
    param_defaults(task_params, &set.task.options);
    CHECK_INT(runplan_write(&plan, dir, &dropped, &e), 0);
    CHECK_STR(e.text, "");
    CHECK_INT(dropped, 0);
    json_decref(source);
    json_decref(file.published);
}

int main(void)
{
    const struct task_ops open = {.name = "open", .version = "1", .metric = "accuracy"};
    const struct task_ops restricted = {
        .name = "secret", .version = "1", .metric = "accuracy", .is_restricted = 1};
    write_plan("open", &open);
    CHECK(is_in_folder("open", "ZEBRAS"));
    CHECK(is_in_folder("open", "Table 77")); /* the folder is complete by itself */
    write_plan("restricted", &restricted);
    CHECK(!is_in_folder("restricted", "ZEBRAS"));
    CHECK(is_in_folder("restricted", "\"golds\":[\"B\"]")); /* so that it can be graded from the folder */
    return check_done();
}
