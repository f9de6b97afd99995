/* Chooses the writer (contract: completion.h), and how texts are quoted. */
#include <string.h>

#include "evalcore/completion/completion_parts.h"

void escape(struct str *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            str_putc(out, '\\');
        str_putc(out, *text);
    }
}

void single_quote(struct str *out, const char *text)
{
    str_putc(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            str_puts(out, "'\\''");
        else
            str_putc(out, *text);
    str_putc(out, '\'');
}

int completion_write(const char *kind, const struct command_entry *list, struct str *out, struct err *e)
{
    static const struct {
        const char *kind;
        void (*write)(const struct command_entry *list, struct str *out);
    } writers[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}, {"man", write_man}};
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
        if (!strcmp(kind, writers[i].kind)) {
            writers[i].write(list, out);
            return 0;
        }
    return err_set(e, ERR_USAGE, "completion takes bash, zsh, fish or man, not \"%s\"", kind);
}
