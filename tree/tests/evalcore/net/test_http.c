/* The rule of retries: doubled from the first wait, at least what the server asks for, with one limit. */
#include "evalcore/net/http.h"
#include "tests/check.h"

int main(void)
{
    static const struct {
        double first;
        int n_tries;
        double asked, want;
    } rows[] = {{1, 0, 0, 1},   {1, 1, 0, 1},     {1, 2, 0, 2},      {1, 5, 0, 16},    {0.25, 3, 0, 1},
                {1, 9, 0, 256}, {1, 10, 0, 300},  {1, 1000, 0, 300}, {300, 2, 0, 300}, {1, 1, 30, 30},
                {1, 7, 30, 64}, {1, 1, 900, 300}, {2, 3, 8, 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(http_backoff(rows[i].first, rows[i].n_tries, rows[i].asked) == rows[i].want);
    return check_done();
}
