/* The system calls that nothing in a sandbox may make. A submission is one process: of fork, vfork and clone
 * only threads are left, so that no process outlives another one or fills the table of processes. Memory that
 * no limit of a process counts (memfd, System V's, queues of messages) is refused, and so is what reaches
 * into the kernel from a user name space: mounts, namespaces, tracing, BPF, keys, io_uring. clone3 hides its
 * flags in memory, where a filter cannot look; glibc takes clone where it is missing. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "code_check/sandbox.h"

#define LOAD(field)  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define REFUSE       RETURN(SECCOMP_RET_ERRNO | EPERM)
#define IF_SO(test, value)                                                                                   \
    BPF_JUMP(BPF_JMP | (test) | BPF_K, (value), 0, 1) /* else the next one is skipped */
#define DENY(name) IF_SO(BPF_JEQ, SYS_##name), REFUSE

/* Calls that are newer than the kernel headers of Debian 12 may lack a name; their numbers are those of
 * x86-64. */
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
enum { X32_BIT = 0x40000000 };

static const struct sock_filter filter[] = {
    LOAD(arch),
    IF_SO(BPF_JEQ, AUDIT_ARCH_X86_64),
    BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
    RETURN(SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
    IF_SO(BPF_JGE, X32_BIT),
    REFUSE,
    IF_SO(BPF_JEQ, SYS_clone3),
    RETURN(SECCOMP_RET_ERRNO | ENOSYS),
    /* processes */
    DENY(fork),
    DENY(vfork),
    DENY(ptrace),
    DENY(process_vm_readv),
    DENY(process_vm_writev),
    DENY(pidfd_open),
    DENY(pidfd_getfd),
    DENY(kcmp),
    DENY(personality),
    /* namespaces and mounts */
    DENY(unshare),
    DENY(setns),
    DENY(mount),
    DENY(umount2),
    DENY(pivot_root),
    DENY(chroot),
    DENY(move_mount),
    DENY(open_tree),
    DENY(fsopen),
    DENY(fsconfig),
    DENY(fsmount),
    DENY(fspick),
    DENY(mount_setattr),
    DENY(open_by_handle_at),
    DENY(name_to_handle_at),
    DENY(fanotify_init),
    DENY(mknod),
    DENY(mknodat),
    DENY(swapon),
    DENY(swapoff),
    DENY(quotactl),
    /* the network, also the kernel's own addresses in it */
    DENY(socket),
    /* memory and objects that no limit of the process counts */
    DENY(memfd_create),
    DENY(memfd_secret),
    DENY(shmget),
    DENY(msgget),
    DENY(semget),
    DENY(mq_open),
    DENY(io_uring_setup),
    DENY(userfaultfd),
    DENY(mlock),
    DENY(mlock2),
    DENY(mlockall),
    /* the kernel */
    DENY(bpf),
    DENY(perf_event_open),
    DENY(add_key),
    DENY(request_key),
    DENY(keyctl),
    DENY(kexec_load),
    DENY(kexec_file_load),
    DENY(init_module),
    DENY(finit_module),
    DENY(delete_module),
    DENY(reboot),
    DENY(syslog),
    DENY(acct),
    DENY(settimeofday),
    DENY(clock_settime),
    DENY(adjtimex),
    DENY(clock_adjtime),
    DENY(sethostname),
    DENY(setdomainname),
    DENY(iopl),
    DENY(ioperm),
    /* a thread, or nothing */
    IF_SO(BPF_JEQ, SYS_clone),
    BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
    RETURN(SECCOMP_RET_ALLOW),
    LOAD(args[0]),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
    REFUSE,
    RETURN(SECCOMP_RET_ALLOW),
};

const struct sock_filter *sandbox_filter(size_t *n)
{
    *n = sizeof filter / sizeof *filter;
    return filter;
}
