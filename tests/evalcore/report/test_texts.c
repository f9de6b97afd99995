/* The report of a text, with numbers that can be checked by hand. */
#include "tests/cases.h"

#include "evalcore/report/report.h"
#include "evalcore/report/report_parts.h"
#include "tests/evalcore/report/fake_run.h"
#include "tests/evalcore/report/written.h"

enum { CELLS = 3, WINDOWS = 3 };

/* full: 1, 2 and 3 bits per byte. The second cell has 0.5, 0.25 and 0.75 more, and its last window failed in
 * the third cell, which otherwise equals full. */
static const struct likelihood window[CELLS][WINDOWS] = {
    {{2, {{8, 4, 4, 10, 10, 0}, {16, 6, 6, 10, 10, 0}}},
     {2, {{8, 4, 4, 10, 20, 0}, {16, 6, 6, 10, 20, 0}}},
     {1, {{16, 10, 10, 20, 60, 0}}}},
    {{2, {{8, 4, 4, 10, 10, 0}, {16, 6, 3, 10, 20, 3}}},
     {2, {{8, 4, 3, 10, 20, 1}, {16, 6, 5, 10, 25, 1}}},
     {1, {{16, 10, 5, 20, 75, 5}}}},
    {{2, {{8, 4, 4, 10, 10, 0}, {16, 6, 6, 10, 10, 0}}},
     {2, {{8, 4, 4, 10, 20, 0}, {16, 6, 6, 10, 20, 0}}},
     {0}},
};

static void text_run(struct run *r)
{
    static const struct fake_policy policies[CELLS] = {
        {"full", "full", "{}", "", "", "", "", "", "all tokens", 1, 0},
        {"quest", "quest k_pages=2", "{\"k_pages\":2}", "2", "", "", "k_pages", "2", "2 pages", 0.5, 0},
        {"quest", "quest k_pages=9", "{\"k_pages\":9}", "9", "", "", "k_pages", "9", "9 pages", 1, 0}};
    static const struct fake_task task = {"text", "text", "bits_per_byte", 0, 10, 8};
    fake_run(r, &(struct fake_options){policies, CELLS, &task, 1, WINDOWS, 1, 100, 0, 1});
    r->tasks[0].is_text = 1;
    for (int c = 0; c < CELLS; c++)
        for (int i = 0; i < WINDOWS; i++) {
            struct record *rec = (struct record *)&r->cells[c].records[i];
            const struct likelihood *l = &window[c][i];
            struct likelihood_bucket sum = likelihood_total(l);
            rec->tokens = 10;
            rec->finish = l->n ? FINISHED_LENGTH : FINISHED_ERROR;
            rec->verdict = VERDICT_ERROR;
            rec->likelihood = l->n ? l : NULL;
            rec->score = l->n ? sum.bits / (double)sum.bytes : 0;
        }
}

/* The field of a row whose first fields are `start`, as text in *out. */
static const char *text_row(struct str *out, const char *csv, const char *start)
{
    str_clear(out);
    const char *at = strstr(csv, start);
    if (at)
        str_add(out, at + strlen(start), strcspn(at + strlen(start), "\n"));
    return str_text(out);
}

int main(void)
{
    struct run r;
    struct err e = {0};
    struct str csv = {0}, out = {0}, table = {0};
    open_folder("test_texts");
    text_run(&r);
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, &table, &e), 0);
    read_file(&csv, "likelihood.csv");
    CHECK_STR(text_row(&out, csv.data, ",full,full,,,,text,"),
              ",30,60,2,0,1,,,,,,,,pocket,\"{\"\"temperature\"\":0}\",,,");
    CHECK_STR(text_row(&out, csv.data, ",full,full,,,,text,8"),
              ",8,20,1.5,0,1,,,,,,,,pocket,\"{\"\"temperature\"\":0}\",,,");
    CHECK_STR(text_row(&out, csv.data, ",full,full,,,,text,16"),
              ",22,40,2.25,0,1,,,,,,,,pocket,\"{\"\"temperature\"\":0}\",,,");
    /* (30 + 45 + 75) / 60; 10 nats over 30 tokens, 20 of which agree; mean difference 0.5, t(2) = 4.303 times
     * 0.25 / sqrt(3); of 8 flips of three signs two are as far from 0 */
    CHECK_STR(text_row(&out, csv.data, ",quest k_pages=2,quest,2,,32,text,"),
              ",30,60,2.5,0.333333,0.666667,full.text-00000abc,3,0.5,-0.121034,1.121034,0.25,0.5,pocket,\"{"
              "\"\"temperature\"\":0}\",k_pages,2,0");
    /* the differences are all 0, so there is no interval, and the failed window is left out */
    CHECK_STR(text_row(&out, csv.data, ",quest k_pages=9,quest,9,,144,text,"),
              ",20,40,1.5,0,1,full.text-00000abc,2,0,,,1,1,pocket,\"{\"\"temperature\"\":0}\",k_pages,9,0");
    read_file(&csv, "accuracy.csv");
    CHECK(strstr(csv.data, ",all tokens,2,0,1,") && strstr(csv.data, ",2 pages,2.5,0.333333,0.666667,"));
    CHECK_STR(text_row(&out, csv.data, ",text,3,3,"),
              ",,,,10,,,,0,1,19,,,0,10,10,0,1,3,,\"{\"\"temperature\"\":0}\",all "
              "tokens,2,0,1,1,,,,,,,,,,3,0,,,,,,,,");
    read_file(&csv, "pairs.csv");
    CHECK_INT(count_text(csv.data, "\n"), 1);
    read_file(&csv, "report.md");
    CHECK(strstr(csv.data, "| quest k_pages=2 | 3/3 | 2.5000 | +0.5000<br><sub>[-0.1210, +1.1210]</sub> | "
                           "0.5 | 0.33333 | 66.67 |"));
    CHECK(strstr(csv.data, "1 window of a text failed, in 1 cell. The sums are over the others;"));
    CHECK(strstr(
        csv.data,
        "| quest k_pages=9 | **2/3**<br><sub>1 failed</sub> | 1.5000 | +0.0000 | 1 | 0.00000 | 100.00 |"));
    CHECK(!strstr(csv.data, "## Accuracy") && !strstr(csv.data, "## Health") &&
          !strstr(csv.data, "## Figures"));
    CHECK(is_written("divergence_text.svg") && is_written("bits_text.svg") &&
          !is_written("length_cdf_text.svg"));
    CHECK(strstr(table.data, "quest k_pages=2     2.5000     +0.5000   0.33333    66.67         56 %\n"));
    str_release(&csv);
    str_release(&out);
    str_release(&table);
    fake_release(&r);
    CHECK_INT(file_remove_tree(folder, &e), 0);
    return check_done();
}
