#ifndef EVALCORE_DOCTOR_DOCTOR_PARTS_H
#define EVALCORE_DOCTOR_DOCTOR_PARTS_H

#include "engine/model/model_config.h"
#include "evalcore/doctor/doctor.h"

/* None of these functions fails: what is wrong is printed and counted in patient.faults. What is
 * printed goes to standard output.
 *
 * What the checks share. Each looks at one thing, in the order of doctor.c, and leaves here what later ones
 * need. */
struct patient {
    const struct doctor_order *order;
    const char *model;
    const char *folder;          /* NULL: the embedded model, or random weights */
    struct model_config config;  /* family NULL: config.json could not be read */
    struct engine_info info;     /* from engine_describe() */
    int has_weights;             /* they are complete and can be loaded */
    struct tokenizer *tokenizer; /* NULL: none that can be used */
    struct chat_own chat;
    const struct chat *form;  /* that "auto" means; NULL: none */
    struct token_list prompt; /* the question as a sweep would ask it; empty when that is not possible */
    int is_refused;           /* tokenizer or template stop the engine too, and that is said already */
    int faults;
};

enum finding { FINDING_OK, FINDING_WARNING, FINDING_FAULT };
/* Prints one line: finding, what was looked at, what was found. FINDING_FAULT counts in p->faults. */
void doctor_say(struct patient *p, enum finding f, const char *what, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Print a line below it, indented; the second with "-> " before what the user can do. */
void doctor_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void doctor_way_out(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Appends n bytes of text with line ends and other control characters as escapes, and invalid UTF-8 as
 * U+FFFD, so that all of it can be seen. */
void doctor_visible(struct str *out, const char *text, size_t n);
/* Prints n ids with the text of each, in lines of a terminal's width, below a line of doctor_say(). */
void doctor_tokens(const struct tokenizer *t, const int32_t *id, size_t n);
/* Appends an id and its text, as "1 <|im_start|>"; the id alone when t is NULL or has no such token. */
void doctor_token(struct str *out, const struct tokenizer *t, int32_t id);
/* Appends n >= 0 as a whole number with commas, "134,515,008". */
void doctor_number(struct str *out, double n);

/* Copies the value of the first line "name : value" or name="value" of a file of the system to out, cut at
 * the line's or the quotation's end and to size - 1 bytes; "" when there is none or the file cannot be read.
 * separator: ':' or '='. */
void system_line(const char *path, const char *name, char separator, char *out, size_t size);

/* The checks. One that lacks what an earlier one should have found says nothing, or a warning.
 * doctor_tokenizer() opens p->tokenizer itself, for the caller of the checks to close: one that is missing,
 * or that cannot be opened, is a fault, and the latter sets is_refused. */
void doctor_files(struct patient *p);     /* files, config.json, weights: doctor_files.c */
void doctor_memory(struct patient *p);    /* whether weights and shape agree, and memory: doctor_memory.c */
void doctor_tokenizer(struct patient *p); /* round trip, tokens around a text: doctor_tokenizer.c */
void doctor_chat(struct patient *p);      /* template, prompt, end tokens: doctor_chat.c */
void doctor_answer(struct patient *p);    /* one answer of the model: doctor_answer.c */

#endif
