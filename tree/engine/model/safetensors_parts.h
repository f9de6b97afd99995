#ifndef ENGINE_MODEL_SAFETENSORS_PARTS_H
#define ENGINE_MODEL_SAFETENSORS_PARTS_H

#include "engine/model/safetensors.h"
#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "evalcore/base/str.h"

/* What an open model is made of. Only safetensors*.c and tests include this. */
struct st_file {
    char *path;          /* or the `what` of memory */
    struct file_map map; /* data NULL for memory */
    const unsigned char *bytes;
    size_t n;
    json_t *header; /* owns the names */
};

struct st_entry {
    struct st_tensor tensor; /* first: what callers see */
    const char *dtype;       /* as the header spells it */
    int file;
    int is_read; /* safetensors_need() has given it out */
};

struct safetensors {
    struct st_file *file;
    size_t n_files, files_cap;
    struct st_entry *entry; /* sorted by name */
    size_t n, cap;
};

/* Reads the header of the last file of s and appends its tensors to s->entry. Returns 0, or ERR_FORMAT with
 * what is wrong. */
int st_read_header(struct safetensors *s, struct err *e);

/* Refuses a folder that has no weights, with what it has instead and the way out. */
int st_refuse_folder(const char *dir, struct err *e);

#endif
