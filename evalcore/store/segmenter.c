/* Opening the Chinese segmenter beside this program (contract: segmenter.h). */
#include "evalcore/store/segmenter.h"

#include <unistd.h>

int segmenter_open(struct zh_segmenter **out, const char *zh_dict, struct err *e)
{
    char program[4096];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    return zh_segmenter_open(out, zh_dict, n > 0 ? program : NULL, e);
}
