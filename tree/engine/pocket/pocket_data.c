/* Returns the embedded files, which pocket_data.S and the table made by CMakeLists.txt put into the program.
 */
#include "engine/pocket/pocket.h"

#include <strings.h>

extern const char pocket_model_data[], pocket_model_data_end[], pocket_config_data[],
    pocket_config_data_end[];
extern const char pocket_tokenizer_data[], pocket_tokenizer_data_end[];
extern const char pocket_cr2_data[], pocket_cr2_data_end[], pocket_cr4_data[], pocket_cr4_data_end[];
extern const char pocket_cr8_data[], pocket_cr8_data_end[];

const void *pocket_weights(size_t *n)
{
    *n = (size_t)(pocket_model_data_end - pocket_model_data);
    return pocket_model_data;
}

const char *pocket_config(size_t *n)
{
    *n = (size_t)(pocket_config_data_end - pocket_config_data);
    return pocket_config_data;
}

const char *pocket_tokenizer(size_t *n)
{
    *n = (size_t)(pocket_tokenizer_data_end - pocket_tokenizer_data);
    return pocket_tokenizer_data;
}

const void *pocket_gates(double cr, size_t *n)
{
    static const struct {
        double cr;
        const char *data, *end;
    } gates[] = {{2, pocket_cr2_data, pocket_cr2_data_end},
                 {4, pocket_cr4_data, pocket_cr4_data_end},
                 {8, pocket_cr8_data, pocket_cr8_data_end}};
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++)
        if (gates[i].cr == cr) {
            *n = (size_t)(gates[i].end - gates[i].data);
            return gates[i].data;
        }
    return NULL;
}

extern const struct shipped_gates shipped_gates_table[]; /* ends with model NULL */

const struct shipped_gates *shipped_gates(size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!shipped_gates_table[k].model)
            return NULL;
    return shipped_gates_table[i].model ? &shipped_gates_table[i] : NULL;
}

const struct shipped_gates *shipped_gates_find(const char *model, double cr)
{
    for (const struct shipped_gates *g = shipped_gates_table; g->model; g++)
        if (!strcasecmp(g->model, model) && g->cr == cr)
            return g;
    return NULL;
}
