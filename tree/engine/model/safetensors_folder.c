/* What a folder without model.safetensors and without an index holds, for the sentence that refuses it. */
#include <stdio.h>
#include <string.h>

#include "engine/model/safetensors_parts.h"
#include "evalcore/base/foreign_file.h"

/* Names of files of one kind, the first few of them. */
struct seen {
    struct str names;
    size_t n;
};

static void note_name(struct seen *s, const char *name)
{
    if (s->n++ < 3)
        str_printf(&s->names, "%s%s", s->n > 1 ? ", " : "", name);
}

static const char *text_of(struct seen *s)
{
    if (s->n > 3)
        str_printf(&s->names, " and %zu more", s->n - 3);
    return str_text(&s->names);
}

static int ends_in(const char *name, const char *const *endings)
{
    size_t n = strlen(name);
    for (; *endings; endings++)
        if (n > strlen(*endings) && !strcmp(name + n - strlen(*endings), *endings))
            return 1;
    return 0;
}

/* The base model that an adapter names, or "". */
static void base_of(struct str *out, const char *dir)
{
    struct str path = {0};
    json_t *o = NULL;
    file_join(&path, dir, "adapter_config.json");
    if (!json_read_file(&o, path.data, NULL)) {
        const char *base = json_string_value(json_object_get(o, "base_model_name_or_path"));
        if (base)
            str_printf(out, " of %.100s", base);
    }
    json_decref(o);
    str_release(&path);
}

static void say_found(struct str *out, const char *dir)
{
    static const char *const shards[] = {".safetensors", NULL}, *const other[] = {".bin",  ".pt",
                                                                                  ".pth",  ".ckpt",
                                                                                  ".gguf", ".ggml",
                                                                                  ".h5",   ".msgpack",
                                                                                  ".onnx", ".npz",
                                                                                  NULL},
                             *const broken[] = {".incomplete", ".part",     ".partial", ".crdownload",
                                                ".aria2",      ".download", NULL};
    struct seen st = {0}, old = {0}, cut = {0};
    struct file_list list = {0};
    struct str base = {0};
    int has_adapter = 0, has_snapshots = 0;
    if (!file_list(&list, dir, "", NULL))
        for (size_t i = 0; i < list.n; i++) {
            const char *name = list.name[i];
            has_adapter |= !strcmp(name, "adapter_config.json");
            has_snapshots |= !strcmp(name, "snapshots");
            if (ends_in(name, shards) && strncmp(name, "adapter_model", 13))
                note_name(&st, name);
            else if (ends_in(name, broken))
                note_name(&cut, name);
            else if (ends_in(name, other))
                note_name(&old, name);
        }
    file_list_release(&list);
    if (has_adapter)
        base_of(&base, dir);
    if (st.n && strstr(st.names.data, "-of-"))
        str_printf(out,
                   "; it has the shards %s without the index, which says what is in them: get it, or all of "
                   "the model "
                   "with " FOREIGN_FETCH,
                   text_of(&st));
    else if (st.n)
        str_printf(out, "; it has %s: if that is the model's, name it model.safetensors", text_of(&st));
    else if (has_adapter)
        str_printf(
            out,
            "; it has an adapter%s and no model: merge it into that (PEFT's merge_and_unload) and save both",
            str_text(&base));
    else if (has_snapshots)
        str_puts(out, "; it is the folder of a model in the Hub's cache: give the model's id, or "
                      "snapshots/COMMIT below it");
    else if (cut.n)
        str_printf(out, "; it has %s, a download that was not finished: repeat it, or use " FOREIGN_FETCH,
                   text_of(&cut));
    else if (old.n)
        str_printf(
            out,
            "; it has %s, a form that is not read: get the model's safetensors weights with " FOREIGN_FETCH
            ", or convert it with Transformers' save_pretrained()",
            text_of(&old));
    else
        str_puts(
            out,
            "; give the folder of a Hugging Face model in safetensors form, or get one with " FOREIGN_FETCH);
    str_release(&st.names);
    str_release(&old.names);
    str_release(&cut.names);
    str_release(&base);
}

int st_refuse_folder(const char *dir, struct err *e)
{
    struct str why = {0};
    foreign_missing(&why, dir, "model.safetensors");
    if (!why.len)
        foreign_missing(&why, dir, "model.safetensors.index.json");
    if (!why.len)
        say_found(&why, dir);
    int rc = err_set(e, ERR_IO, "%s: holds neither model.safetensors nor model.safetensors.index.json%s", dir,
                     why.data);
    str_release(&why);
    return rc;
}
