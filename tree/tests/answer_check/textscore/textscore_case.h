#ifndef TESTS_TEXTSCORE_CASE_H
#define TESTS_TEXTSCORE_CASE_H

#include <jansson.h>

#include "answer_check/answer_check.h"
#include "tests/check.h"

/* Fills a call of textscore() from a JSON object with the fields metric, variant, prediction,
 * ground_truth, all_classes. The texts stay in the object; `names` holds the classes. */
enum { CLASSES_MAX = 256 };

static inline void textscore_case(struct textscore_call *c, const char *names[CLASSES_MAX], const json_t *o)
{
    const json_t *pred = json_object_get(o, "prediction"), *gold = json_object_get(o, "ground_truth");
    const json_t *classes = json_object_get(o, "all_classes");
    *c = (struct textscore_call){.metric = json_string_value(json_object_get(o, "metric")),
                                 .variant = json_string_value(json_object_get(o, "variant")),
                                 .pred = json_string_value(pred),
                                 .pred_len = json_string_length(pred),
                                 .gold = json_string_value(gold),
                                 .gold_len = json_string_length(gold)};
    if (!c->metric || !c->pred || !c->gold || json_array_size(classes) > CLASSES_MAX) {
        fprintf(stderr, "not a case\n");
        exit(1);
    }
    for (size_t i = 0; i < json_array_size(classes); i++)
        names[c->n_classes++] = json_string_value(json_array_get(classes, i));
    c->all_classes = json_is_array(classes) ? names : NULL;
}

#endif
