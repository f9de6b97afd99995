/* A device's part of the numerics class: on a CPU one name for all instruction sets and numbers of threads;
 * on a GPU it says which kernels it is given, and GPUs that have none are refused. The emulated GPU can be
 * any (KVEVAL_CUDA_FAULT, kernels/fault.h). */
#include "kernels/backend.h"
#include "tests/check.h"

static const struct {
    const char *fault, *kernels, *refusal; /* kernels: between the multiprocessors and cuBLASLt's version */
} rows[] = {{"", "-", ""},
            {"nowgmma:1", "-nowgmma-", ""},
            {"card:80", "-", ""},
            {"card:100", "-plain-", ""},
            {"card:75", NULL, "emulated GPU has compute capability 7.5; kveval needs a GPU of 8.0 or above"},
            {"card:86", NULL,
             "emulated GPU has compute capability 8.6, which this program was not built for; build it with "
             "-DKVEVAL_CUDA_ARCHS=8.6"}};

static void check_emulated(const struct backend *b, struct device *d, const char *why, const char *fault)
{
    int found = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].fault, fault))
            continue;
        found = 1;
        CHECK_STR(why, rows[i].refusal);
        CHECK_INT(d != NULL, rows[i].kernels != NULL);
        if (!d)
            continue;
        char kernels[16] = "";
        CHECK_INT(sscanf(b->arithmetic(d), "%*d-emulated-GPU-x%*d%15s", kernels), 1);
        char *version = strrchr(kernels, '-');
        if (version)
            version[1] = 0;
        CHECK_STR(kernels, rows[i].kernels);
    }
    CHECK(found);
}

static void one_name(const struct backend *b, struct device *d)
{
    struct device *other;
    char why[320];
    CHECK_INT(b->open(&other, 0, &(struct device_options){.isa = "scalar", .threads = 1}, why, sizeof why),
              0);
    CHECK_STR(b->arithmetic(d), b->arithmetic(other));
    b->close(other);
}

int main(void)
{
    const char *name = getenv("KVEVAL_TEST_BACKEND"), *fault = getenv("KVEVAL_CUDA_FAULT");
    const struct backend *b = backend_find(name ? name : "cpu");
    struct device *d = NULL;
    char why[320] = "";
    if (!b || b->count() < 1) {
        printf("skipped: no device of backend %s\n", name ? name : "cpu");
        return 77;
    }
    b->open(&d, 0, &(struct device_options){.threads = 2}, why, sizeof why);
    int real = d && name && !strstr(b->describe(d), "emulated GPU");
    if (real)
        printf("skipped: no emulated GPU\n");
    else if (name)
        check_emulated(b, d, why, fault ? fault : "");
    else
        one_name(b, d);
    b->close(d);
    return real ? 77 : check_done();
}
