/* Devices as the command line names them. */
#include "evalcore/cli/device_list.h"
#include "tests/check.h"

#define FORMS "a device is cpu, cuda:0, cuda:0-3 or cuda:0,2 (each GPU once, at most 64), not "

static const struct {
    const char *text;
    int most;
    const char *want; /* names, or the message */
} rows[] = {
    {NULL, 1, "cpu:0"},
    {"cpu", 64, "cpu:0"},
    {"cpu:0", 1, "cpu:0"},
    {"cpu:0-1", 64, "cpu:0 cpu:1"},
    {"cpu:0,1,2", 64, "cpu:0 cpu:1 cpu:2"},
    {"cuda", 1, "cuda:0"},
    {"cuda:3", 1, "cuda:3"},
    {"cuda:0-3", 64, "cuda:0 cuda:1 cuda:2 cuda:3"},
    {"cuda:0,2", 64, "cuda:0 cuda:2"},
    {"cuda:5,0-1", 64, "cuda:5 cuda:0 cuda:1"},
    {"cpu:1", 64, "there is one CPU: cpu, or cpu:0-1 for 2 workers that share it, not \"cpu:1\""},
    {"cpu:1-3", 64, "there is one CPU: cpu, or cpu:0-2 for 3 workers that share it, not \"cpu:1-3\""},
    {"cuda:0-1", 1, "one device is possible here, not \"cuda:0-1\""},
    {"cpu:0-1", 1, "one device is possible here, not \"cpu:0-1\""},
    {"gpu:0", 1, "a device is cpu, cuda or cuda:0, not \"gpu:0\""},
    {"gpu", 64, FORMS "\"gpu\""},
    {"", 64, FORMS "\"\""},
    {"cuda:", 64, FORMS "\"cuda:\""},
    {"cuda:0,", 64, FORMS "\"cuda:0,\""},
    {"cuda:1,1", 64, FORMS "\"cuda:1,1\""},
    {"cuda:0-2,1", 64, FORMS "\"cuda:0-2,1\""},
    {"cuda:3-1", 64, FORMS "\"cuda:3-1\""},
    {"cuda:-1", 64, FORMS "\"cuda:-1\""},
    {"cuda:0 1", 64, FORMS "\"cuda:0 1\""},
    {"cuda:0-64", 64, FORMS "\"cuda:0-64\""},
    {"cuda:99999", 64, FORMS "\"cuda:99999\""},
    {"cudacudacudacudacuda:0", 64, FORMS "\"cudacudacudacudacuda:0\""},
};

int main(void)
{
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct device_list d;
        struct err e = {0};
        char got[1000] = "", name[DEVICE_NAME_MAX];
        size_t n = 0;
        int rc = device_list_parse(&d, rows[r].text, rows[r].most, &e);
        for (int i = 0; i < d.n && !rc; i++) {
            device_list_name(&d, i, name);
            n += (size_t)snprintf(got + n, sizeof got - n, "%s%s", i ? " " : "", name);
        }
        CHECK_STR(rc ? e.text : got, rows[r].want);
    }
    return check_done();
}
