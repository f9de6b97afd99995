/* The likelihood of a plain text. What perplexity tables of sparse-attention papers show (Quest, arXiv
 * 2406.10774, section 4.2; DMS, arXiv 2506.05345) and the cheapest look at a policy: no answer is asked for,
 * the text's own tokens are decoded step by step. The file is one text; evalcore/plan/windows.c cuts it. */
#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "tasks/task_list.h"

enum { TEXT_BYTES_MAX = 64 << 20 };

static int load_text(struct task *t, const char *path, struct err *e)
{
    struct file_map map;
    if (!path)
        return err_set(e, ERR_USAGE, "task %s: name a file of plain text with file", t->ops->name);
    int rc = file_map_open(&map, path, e);
    if (rc)
        return rc;
    if (!map.size)
        rc = err_set(e, ERR_FORMAT, "task %s: %s is empty", t->ops->name, path);
    else if (map.size > TEXT_BYTES_MAX)
        rc = err_set(e, ERR_USAGE, "task %s: %s has %zu bytes; at most %d are read, so cut a part out",
                     t->ops->name, path, map.size, TEXT_BYTES_MAX);
    if (!rc) {
        t->n_problems = 1;
        t->problems = arena_alloc(&t->arena, sizeof *t->problems);
        *t->problems = (struct problem){.id = "text",
                                        .prompt = arena_strndup(&t->arena, (const char *)map.data, map.size),
                                        .prompt_len = map.size,
                                        .no_chat = 1};
        sha256_hex(map.data, map.size, t->source, 64);
    }
    file_map_close(&map);
    return rc;
}

const struct task_ops task_text = {
    .name = "text",
    .help = "the likelihood of a plain text, in bits per byte, and how far a policy is from full attention",
    .version = "1",
    .fields = "none, it is plain text; the problems are windows of its tokens",
    .options = "window,prompt_tokens",
    .metric = "bits_per_byte",
    .expected_tokens = 896,
    .load = load_text,
};
