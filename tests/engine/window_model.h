#ifndef TESTS_WINDOW_MODEL_H
#define TESTS_WINDOW_MODEL_H

#include "evalcore/base/str.h"
#include "tests/engine/made.h"

/* Test helper: the small random model of windows/windows.txt, in which every other layer reads a window and
 * each query head has a sink, and what the NumPy reference decoder makes of some prompts under every policy.
 */
enum { MAX_STREAMS = 96, MAX_PROMPT = 192, STREAM_NEW = 40, STREAM_LAYERS = 16, STREAM_CONTEXT = 256 };
struct stream {
    char policy[128];
    int32_t prompt[MAX_PROMPT], ids[STREAM_NEW];
    int n;
    uint64_t problem;
    double reads, reads_full, key_elements;
};
struct windows {
    struct str config;
    struct made_tensors model, gates;
    struct stream s[MAX_STREAMS];
    int n, vocab, n_layers, n_kv, hidden, window[STREAM_LAYERS];
};

/* Reads the fixture and writes the model to the folder "model", its gates to gates.safetensors and gates that
 * flag nothing to never.safetensors. What is wrong ends the test. */
void windows_open(struct windows *w);
void windows_release(struct windows *w);

#endif
