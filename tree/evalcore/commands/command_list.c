/* The commands as a table, under the titles of `kveval help`, and what the program says of itself. */
#include "evalcore/cli/version.h"
#include "evalcore/commands/commands.h"
#include "kernels/backend.h"

const struct command_entry command_list[] = {
#define X(name) {"Run and compare", &cmd_##name},
    COMMANDS_RUN(X)
#undef X
#define X(name) {"Look", &cmd_##name},
        COMMANDS_LOOK(X)
#undef X
#define X(name) {"Grade, JSON Lines in and out", &cmd_##name},
            COMMANDS_GRADE(X)
#undef X
#define X(name) {"Tools", &cmd_##name},
                COMMANDS_TOOLS(X)
#undef X
                    {NULL, NULL},
};

void commands_version(struct str *out)
{
    str_printf(out, "kveval %s\nbackends:", KVEVAL_VERSION);
    for (int i = 0; backend_at(i); i++)
        str_printf(out, "%s %s", i ? "," : "", backend_at(i)->name);
    str_puts(out, backend_find("cuda") ? "\n" : " (built without CUDA)\n");
}
