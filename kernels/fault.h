#ifndef KERNELS_FAULT_H
#define KERNELS_FAULT_H

/* Failures on request, for tests; otherwise one could not try what becomes of a run when a device fails. Each
 * backend reads one environment variable when a device is opened, KVEVAL_CUDA_FAULT or KVEVAL_CPU_FAULT. It
 * is not a setting and no help text names it. Numbers count from 1 on each open device.
 *
 *   open:CODE   looking for devices fails with this CUDA error (35: the driver is too old); the CPU does not
 *               open at all
 *   alloc:N     the N-th allocation finds no memory
 *   launch:N    the N-th operation launched outside a capture fails (prefill, pages given to a sequence,
 *               a decode step that is not captured yet)
 *   replay:N    the N-th replay fails (decoding)
 *   hang:N      the N-th replay never ends
 *   slow:MS     not a failure: every replay takes so many milliseconds longer, as with a large model, so that
 *               many workers on few cores are as many devices to the process that gives them work
 *   few:N       not a failure: kernels are launched as on a GPU with at most N multiprocessors, so that even
 *               in a small test blocks must take one piece of work after another
 *   nowgmma:1   not a failure: the GPU is treated as one without Hopper's matrix instructions (wgmma)
 *   card:80     not a failure: the GPU is treated as one of compute capability 8.0, card:89 as one of 8.9;
 *               on the emulated GPU (tests/emulated) also card:100, a 10.0 with a program compiled for 8.0,
 *               and, which are refused, card:86, an 8.6 with one compiled for others, and card:75
 *
 * On a GPU, launch:N and replay:N run a kernel that traps, so that the failure appears as a real one does:
 * some time later, and then at every further call. */
#ifdef __cplusplus
extern "C" {
#endif

enum fault_kind {
    FAULT_NONE,
    FAULT_OPEN,
    FAULT_ALLOC,
    FAULT_LAUNCH,
    FAULT_REPLAY,
    FAULT_HANG,
    FAULT_FEW,
    FAULT_NOWGMMA,
    FAULT_CARD,
    FAULT_SLOW
};

struct fault {
    enum fault_kind kind;
    long n, seen;
};

/* Sets *f to the fault that the environment variable of this name asks for, with nothing counted. A variable
 * that is not set, or has any text but the forms above, means no fault. */
void fault_read(struct fault *f, const char *variable);
/* Counts this one if *f is of this kind. Returns 1 if it must fail: the N-th, or every one for FAULT_OPEN;
 * else 0. */
int fault_due(struct fault *f, enum fault_kind kind);
/* Counts a replay and returns, at once or as late as FAULT_SLOW says; never for the one that must hang. */
void fault_wait(struct fault *f);

#ifdef __cplusplus
}
#endif
#endif
