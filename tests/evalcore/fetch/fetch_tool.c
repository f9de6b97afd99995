/* fetch_tool ENDPOINT TOKEN DATA PART SHA256 [PART SHA256]: fetches a made-up source, for fetch_cases.py.
 * Prints "CODE SIGNAL MESSAGE". */
#include <stdio.h>

#include "evalcore/cli/stop.h"
#include "evalcore/fetch/fetch.h"

int main(int argc, char **argv)
{
    if (argc != 6 && argc != 8)
        return 2;
    const struct task_source s = {.hub = "made/up",
                                  .revision = "0123",
                                  .part = {argv[4], argc > 6 ? argv[6] : NULL},
                                  .sha256 = {argv[5], argc > 6 ? argv[7] : NULL},
                                  .file = "made/up.jsonl",
                                  .is_gated = 1};
    const struct fetch_options o = {
        .endpoint = argv[1], .token = argv[2], .retries = 2, .wait_s = 0.05, .stall_s = 1};
    struct err e = {0};
    struct str note = {0};
    int signal = 0;
    stop_block();
    int rc = fetch_source_get(&s, argv[3], &o, &note, &signal, &e);
    str_release(&note);
    printf("%d %d %s\n", rc, signal, e.text);
    return 0;
}
