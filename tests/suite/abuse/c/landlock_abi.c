/* Runs a program and all that it starts as if the kernel had an older Landlock: `landlock_abi ABI program arguments…`.
 *
 * A filter on landlock_create_ruleset asks this process, which answers as a kernel of that interface version would: the
 * version itself, EINVAL for rights that are newer, E2BIG for attributes that are longer (include/uapi/linux/landlock.h
 * has which came when). The kernel does the rest, with nothing but rights that the older one had as well. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATE_RULESET 444
#define RESTRICT_SELF 446
#define ASKS_VERSION 1

static const struct {
    uint64_t files, ports, scopes;
    size_t size;
} known[] = {
    [3] = {0x7fff, 0, 0, 8},
    [4] = {0x7fff, 3, 0, 16},
    [5] = {0xffff, 3, 0, 16},
    [6] = {0xffff, 3, 3, 24},
};

/* Answers one call: a value, a negated errno, or 1 << 32 for "ask the kernel". */
#define ASK_THE_KERNEL (1LL << 32)
static long long answer(const struct seccomp_notif *call, int abi) {
    const __u64 *a = call->data.args;
    if (a[2] == ASKS_VERSION && a[0] == 0 && a[1] == 0) return abi;
    /* Newer versions have more flags, but all of them ask and make no ruleset. */
    if (a[2] != 0) return -EINVAL;
    unsigned char attributes[4096] = {0};
    size_t size = a[1] < sizeof attributes ? a[1] : sizeof attributes;
    struct iovec here = {attributes, size}, there = {(void *)a[0], size};
    /* What cannot be read is the kernel's to refuse. */
    if (process_vm_readv(call->pid, &here, 1, &there, 1, 0) != (ssize_t)size) return ASK_THE_KERNEL;
    for (size_t i = known[abi].size; i < size; i++)
        if (attributes[i]) return -E2BIG;
    uint64_t rights[3];
    memcpy(rights, attributes, sizeof rights);
    if (rights[0] & ~known[abi].files || rights[1] & ~known[abi].ports || rights[2] & ~known[abi].scopes)
        return -EINVAL;
    return ASK_THE_KERNEL;
}

/* In the process that becomes the program. Its descriptor is closed when the program starts. */
static int install(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CREATE_RULESET, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RESTRICT_SELF, 0, 3),
        /* Flags came with version 7. */
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

int main(int argc, char **argv) {
    int abi = argc > 2 ? atoi(argv[1]) : 0;
    if (abi < 3 || abi > 6) return fprintf(stderr, "landlock_abi: the version is 3, 4, 5 or 6\n"), 2;
    if (syscall(CREATE_RULESET, 0, 0, ASKS_VERSION) < abi)
        return fprintf(stderr, "landlock_abi: this kernel's own version is lower than %d\n", abi), 2;
    /* The child shares our table of descriptors until it starts the program, so what it makes is ours as well: the
     * lowest number that is free. CLONE_VFORK: by the time we go on, the program has started. */
    int listener = dup(0);
    close(listener);
    pid_t child = syscall(SYS_clone, CLONE_FILES | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (install() == listener) execvp(argv[2], argv + 2);
        fprintf(stderr, "landlock_abi: %s: %s\n", argv[2], strerror(errno));
        _exit(126);
    }
    struct pollfd asked = {listener, POLLIN, 0};
    for (;;) {
        /* It hangs up when the last process that has the filter is gone. */
        if (poll(&asked, 1, -1) != 1) continue;
        if (!(asked.revents & POLLIN)) break;
        struct seccomp_notif call = {0};
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call)) continue;
        long long value = answer(&call, abi);
        struct seccomp_notif_resp reply = {.id = call.id};
        if (value == ASK_THE_KERNEL)
            reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        else if (value < 0)
            reply.error = value;
        else
            reply.val = value;
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
