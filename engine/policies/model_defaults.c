/* The published constants per model. Refresh layers are those of a table in the second version of the DELTA
 * paper. Anchors and head maps are from microsoft/kascade at 76aea84 (results/head_mappings); digit i of a
 * map is the anchor head that KV head i reads. Those of the embedded model: engine/pocket/README.md. */
#include "engine/policies/model_defaults.h"

#include <string.h>
#include <strings.h>

#include "evalcore/base/str.h"

#define LLAMA_8B_MAP                                                                                         \
    "1:00000000+3:11111141+4:11111112+5:11511121+6:11112116+7:11121111+9:71563333+10:23503333+11:57135335+"  \
    "12:51115111+15:32266164+16:52026452+17:62222673+18:66625725+19:42262262+20:42642372+21:42662213+22:"    \
    "52672624+"                                                                                              \
    "23:27272562+24:22627552+25:25252222+26:42252265+27:24222566+28:22222222+29:22222222+30:62222242+31:"    \
    "22226622"
#define QWEN3_8B_MAP                                                                                         \
    "1:11111111+3:65371455+4:01555113+5:44134554+6:44444644+8:30335600+9:33501001+10:33030000+11:03103330+"  \
    "12:60000060+13:03150005+15:41364054+16:64044142+17:41746330+18:04434444+19:45235534+20:22223332+21:"    \
    "03304344+"                                                                                              \
    "22:42000300+24:51136107+25:00304661+26:06015773+27:06007116+28:10551100+29:11111016+30:00106010+31:"    \
    "61010401+"                                                                                              \
    "32:11106600+33:61111101+34:10406001+35:00000000"

static const struct model_defaults known[] = {
    {"pocket", 8, "2+5+7", "0+1+2+5+6+7", NULL},
    {"DeepSeek-R1-Distill-Qwen-1.5B", 28, "2+14+23", NULL, NULL},
    {"DeepSeek-R1-Distill-Qwen-7B", 28, "2+14+22", NULL, NULL},
    {"DeepSeek-R1-Distill-Qwen-14B", 48, "2+6+42", NULL, NULL},
    {"DeepSeek-R1-Distill-Llama-8B", 32, "2+8+31", "0+2+8+13+14", LLAMA_8B_MAP},
    {"Llama-3.1-8B", 32, NULL, "0+2+8+13+14", LLAMA_8B_MAP},
    {"Llama-3.1-8B-Instruct", 32, NULL, "0+2+8+13+14", LLAMA_8B_MAP},
    {"Meta-Llama-3.1-8B-Instruct", 32, NULL, "0+2+8+13+14", LLAMA_8B_MAP},
    {"Qwen3-8B", 36, NULL, "0+2+7+14+23", QWEN3_8B_MAP},
};

const struct model_defaults *model_defaults_find(const char *model, int n_layers)
{
    size_t end = strlen(model), start;
    while (end > 1 && model[end - 1] == '/')
        end--;
    for (start = end; start > 0 && model[start - 1] != '/'; start--)
        ;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].model) == end - start &&
            !strncasecmp(known[i].model, model + start, end - start) && known[i].n_layers == n_layers)
            return &known[i];
    return NULL;
}

int model_defaults_missing(const char *key, const char *field, const char *model, struct err *e)
{
    struct str names = {0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(field, "delta_layers") ? known[i].delta_layers != NULL : known[i].kascade_anchors != NULL)
            str_printf(&names, "%s%s", names.len ? ", " : "", known[i].model);
    int rc = err_set(e, ERR_USAGE,
                     "\"%s\" is missing and model %s has no default for it; give it in the run file (models "
                     "with a default: %s)",
                     key, model, str_text(&names));
    str_release(&names);
    return rc;
}
