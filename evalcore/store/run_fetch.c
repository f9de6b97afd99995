/* What a record holds beside its figures is fetched from its journal when it is asked for (contract: run.h).
 */
#include <string.h>

#include "evalcore/store/curve_json.h"
#include "evalcore/store/journal.h"
#include "evalcore/store/run.h"

int run_text(const struct run *r, const struct record *rec, struct str *out, struct err *e)
{
    return journal_fetch(r->journals[rec->journal], rec->offset, rec->length, NULL, out, NULL, e);
}

int run_ids(const struct run *r, const struct record *rec, struct str *out, struct err *e)
{
    return journal_fetch(r->journals[rec->journal], rec->offset, rec->length, out, NULL, NULL, e);
}

int run_curve(const struct run *r, const struct record *rec, struct kv_curve *out, struct err *e)
{
    json_t *tail;
    memset(out, 0, sizeof *out);
    if (!rec->length) /* no journal has it */
        return 0;
    int rc = journal_fetch(r->journals[rec->journal], rec->offset, rec->length, NULL, NULL, &tail, e);
    if (rc)
        return rc;
    const json_t *curve = json_object_get(tail, "curve");
    if (curve && !curve_json_read(curve, out))
        rc = err_set(e, ERR_FORMAT, "a record of %s has a curve of reads that cannot be read",
                     r->journals[rec->journal]);
    json_decref(tail);
    return rc;
}
