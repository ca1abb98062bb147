/* Calls by other spellings, newer and rarer parts of the kernel, and memory that nobody seems to hold. */
#include "attack.h"
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/uio.h>

static char block[1 << 20];

/* Files in memory that only a mapping keeps: no descriptor, and no page that was touched through it. */
ATTACK(memory_mapped) {
    memset(block, 1, sizeof block);
    for (int i = 0; i < 20; i++) {
        int fd = memfd_create("m", 0);
        for (int k = 0; k < 20; k++) if (write(fd, block, sizeof block) < 0) return 0;
        if (mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) return 0;
        close(fd);
    }
    sleep(3);
    return 1;
}
/* Shared memory without a name, each part of it touched and let go. */
ATTACK(memory_let_go) {
    for (int i = 0; i < 20; i++) {
        char *part = mmap(0, 20 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (part == MAP_FAILED) return 0;
        memset(part, 1, 20 << 20);
        madvise(part, 20 << 20, MADV_DONTNEED);
    }
    sleep(10);
    return 1;
}
/* A byte is read of every second mebibyte: each needs a page of tables. */
ATTACK(memory_tables) {
    size_t all = 300ul << 30;
    volatile char *at = mmap(0, all, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return 0;
    madvise((void *)at, all, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < all; i += 2 << 20) (void)at[i];
    sleep(10);
    return 1;
}

/* The high half of an argument that the kernel reads as 32 bits. */
CALL(socket_high_type, SYS_socket, AF_INET, SOCK_STREAM | 1L << 33, 0)
CALL(socketpair_inet, SYS_socketpair, AF_INET, SOCK_STREAM, 0, block)
CALL(socketpair_tipc, SYS_socketpair, 30, SOCK_SEQPACKET, 0, block)
CALL(prctl_seccomp_high, SYS_prctl, PR_SET_SECCOMP | 1L << 32, 1, 0, 0, 0)
CALL(prctl_dumpable_high, SYS_prctl, PR_SET_DUMPABLE | 1L << 32, 1L << 32, 0, 0, 0)
CALL(fcntl_lease_high, SYS_fcntl, 0, 1024 | 1L << 32, F_RDLCK)
CALL(fadvise_high, SYS_fadvise64, 0, 0, 0, 4 | 1L << 32)
CALL(clone_newcgroup, SYS_clone, 0x02000000 | SIGCHLD, 0, 0, 0, 0)
CALL(clone_newipc, SYS_clone, 0x08000000 | SIGCHLD, 0, 0, 0, 0)
CALL(clone_newuts, SYS_clone, 0x04000000 | SIGCHLD, 0, 0, 0, 0)
CALL(unshare_time, SYS_unshare, 0x80)
CALL(unshare_files, SYS_unshare, CLONE_FILES)
ATTACK(clone3_into_cgroup) {
    unsigned long long a[11] = {0x200000000ull, 0, 0, 0, SIGCHLD, 0, 0, 0, 0, 0, 0};
    long child = syscall(435, a, 88);
    if (child == 0) _exit(0);
    return child != -1;
}
ATTACK(clone3_pidfd) {
    int fd = -1;
    unsigned long long a[11] = {CLONE_PIDFD, (unsigned long)&fd, 0, 0, SIGCHLD};
    long child = syscall(435, a, 88);
    if (child == 0) _exit(0);
    return child != -1;
}

/* Rare and new calls. */
CALL(io_uring_enter, SYS_io_uring_enter, -1, 0, 0, 0, 0, 0)
CALL(io_uring_register, SYS_io_uring_register, -1, 0, 0, 0)
CALL(process_vm_write_self, SYS_process_vm_writev, getpid(), 0, 0, 0, 0, 0)
CALL(fsmount, SYS_fsmount, -1, 0, 0)
CALL(fsconfig, SYS_fsconfig, -1, 0, 0, 0, 0)
CALL(fspick, SYS_fspick, AT_FDCWD, "/", 0)
CALL(quotactl_fd, 443, -1, 0, 0, 0)
CALL(open_tree_attr, 467, AT_FDCWD, "/", 1, 0, 0)
CALL(mount_told, 457, 0, 0, 0, 0)
CALL(kexec_file, SYS_kexec_file_load, -1, -1, 0, "", 0)
CALL(finit_module, SYS_finit_module, -1, "", 0)
CALL(delete_module, SYS_delete_module, "gate4k", 0)
CALL(acct, SYS_acct, 0)
CALL(vhangup, SYS_vhangup)
CALL(clock_settime, SYS_clock_settime, 0, 0)
CALL(clock_adjtime, SYS_clock_adjtime, 0, 0)
CALL(adjtimex, SYS_adjtimex, 0)
CALL(setdomainname, SYS_setdomainname, "x", -1)
CALL(swapoff, SYS_swapoff, "/nothing")
CALL(handle_open, SYS_open_by_handle_at, -1, 0, 0)
CALL(fanotify_mark, SYS_fanotify_mark, -1, 0, 0, -1, 0)
CALL(send_many, SYS_sendmmsg, -1, 0, 0, 0)
CALL(keyctl_join, SYS_keyctl, 1, 0)
CALL(keyctl_persistent, SYS_keyctl, 22, -1, -4)
CALL(core_scheduling, SYS_prctl, 62, 1, 0, 0, 0)
CALL(barrier_of_all, SYS_membarrier, 1, 0, 0)
CALL(barrier_for_all, SYS_membarrier, 4, 0, 0)
CALL(sync_host, SYS_sync)
CALL(sync_host_by_file, SYS_syncfs, open("/usr", O_RDONLY))
CALL(add_logon_key, SYS_add_key, "logon", "gate4k:x", "x", 1, -4)
/* Leaves the core that a game was given: on a host of one processor there is none to leave. */
ATTACK(other_processors) {
    cpu_set_t all, one, now;
    if (sched_getaffinity(0, sizeof all, &all) || CPU_COUNT(&all) < 2) return 0;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) if (CPU_ISSET(cpu, &all)) { CPU_SET(cpu, &one); break; }
    sched_setaffinity(0, sizeof one, &one);
    return sched_getaffinity(0, sizeof now, &now) == 0 && CPU_COUNT(&now) == 1;
}
ATTACK(netns_cookie) {
    unsigned long cookie;
    socklen_t size = sizeof cookie;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 0;
    return getsockopt(pair[0], SOL_SOCKET, 71, &cookie, &size) == 0;
}
ATTACK(pages_lent_to_a_pipe) {
    struct iovec part = {block, 4096};
    int p[2];
    return pipe(p) == 0 && vmsplice(p[1], &part, 1, 0) == 4096;
}
ATTACK(filter_of_a_socket) {
    struct { unsigned short code; unsigned char jt, jf; unsigned k; } all = {6, 0, 0, 0xffff};
    struct { unsigned short length; void *filter; } program = {1, &all};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 0;
    return setsockopt(pair[0], SOL_SOCKET, 26 /* SO_ATTACH_FILTER */, &program, sizeof program) == 0;
}
ATTACK(file_made_huge) {
    size_t huge = 2 << 20;
    int fd = memfd_create("m", 0);
    if (ftruncate(fd, 2 * huge)) return 0;
    char *at = mmap(0, 2 * huge, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *even = (char *)(((unsigned long)at + huge - 1) & ~(huge - 1));
    memset(even, 1, huge);
    return madvise(even, huge, 25 /* MADV_COLLAPSE */) == 0;
}
/* The number of a call is 32 bits, too, of a register that has more. */
CALL(socket_by_high_number, SYS_socket | 1L << 32, AF_INET, SOCK_STREAM, 0)
CALL(priority_by_high_number, SYS_setpriority | 1L << 32, PRIO_PGRP, 0, 7)
ATTACK(priority_of_the_group) { return setpriority(PRIO_PGRP, 0, 7) == 0; }
ATTACK(class_of_the_group) { return syscall(SYS_ioprio_set, 2 /* IOPRIO_WHO_PGRP */, 0, 3 << 13) == 0; }
ATTACK(pages_dropped_after) {
    struct iovec part = {block, 1};
    return syscall(SYS_preadv2, open("/proc/self/exe", O_RDONLY), &part, 1, 0, 0, 0x80) != -1;
}

/* What is refused by the kernel, since a start has no rights: nothing is named. */
ATTACK(other_program_file) {
    /* PR_SET_MM_EXE_FILE: /proc/self/exe would tell of another program. */
    int fd = open("/usr/bin/xz", O_RDONLY);
    return prctl(PR_SET_MM, PR_SET_MM_EXE_FILE, fd < 0 ? 0 : fd, 0, 0) == 0;
}
ATTACK(nice_back) { return setpriority(PRIO_PROCESS, 0, -5) == 0; }
ATTACK(real_time) {
    struct sched_param p = {1};
    return sched_setscheduler(0, SCHED_FIFO, &p) == 0;
}
ATTACK(deadline_class) {
    unsigned attr[12] = {48, 6, 0, 0, 0, 0, 1000000, 0, 9000000, 0, 9000000, 0};
    return syscall(SYS_sched_setattr, 0, attr, 0) == 0;
}
ATTACK(lock_all_memory) { memset(block, 1, sizeof block); return mlockall(MCL_CURRENT) == 0; }
ATTACK(less_likely_killed) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY);
    return fd != -1 && write(fd, "-500", 4) == 4;
}
ATTACK(maps_of_ids) {
    int fd = open("/proc/self/uid_map", O_WRONLY);
    return fd != -1 && write(fd, "0 0 1", 5) == 5;
}
ATTACK(memory_of_pid1) { return open("/proc/1/mem", O_RDWR) != -1; }
ATTACK(descriptors_of_pid1) { return open("/proc/1/fd/0", O_RDONLY) != -1; }
ATTACK(maps_of_pid1) { char c; int fd = open("/proc/1/maps", O_RDONLY); return fd != -1 && read(fd, &c, 1) == 1; }
static int reads(const char *path) { char c; int fd = open(path, O_RDONLY); return fd != -1 && read(fd, &c, 1) == 1; }
ATTACK(size_of_pid1) {
    return reads("/proc/1/statm") || reads("/proc/1/status") || reads("/proc/1/stat") || reads("/proc/1/cmdline");
}
ATTACK(size_of_parent) {
    char path[64];
    static const char *const names[] = {"statm", "status", "stat", "cmdline", "maps", "task/2/statm"};
    for (int i = 0; i < 6; i++) {
        sprintf(path, "/proc/%d/%s", getppid(), names[i]);
        if (reads(path)) return 1;
    }
    return getppid() != 2 || access("/proc/2", F_OK);
}
ATTACK(size_of_pid1_by_another_way) {
    int top = open("/proc/self/..", O_PATH);
    char c;
    int fd = openat(top, "1/task/1/statm", O_RDONLY);
    return reads("/proc/1/task/1/stat") || (fd != -1 && read(fd, &c, 1) == 1);
}
ATTACK(kernel_memory) { return open("/proc/kcore", O_RDONLY) != -1; }
ATTACK(timers_of_all) { return open("/proc/timer_list", O_RDONLY) != -1; }
ATTACK(pressure) { return open("/proc/pressure/cpu", O_RDONLY) != -1; }
ATTACK(cgroup_files) { return open("/sys/fs/cgroup/cgroup.procs", O_RDONLY) != -1; }
ATTACK(debug_files) { return open("/sys/kernel/debug", O_RDONLY | O_DIRECTORY) != -1; }
ATTACK(tracing_files) { return open("/sys/kernel/tracing/trace", O_RDONLY) != -1; }
ATTACK(userfault_device) { return open("/dev/userfaultfd", O_RDWR) != -1; }
ATTACK(fuse_device) { return open("/dev/fuse", O_RDWR) != -1; }
ATTACK(loop_device) { return open("/dev/loop-control", O_RDWR) != -1; }
ATTACK(kvm_device) { return open("/dev/kvm", O_RDWR) != -1; }
ATTACK(tun_device) { return open("/dev/net/tun", O_RDWR) != -1; }
ATTACK(memory_device) { return open("/dev/mem", O_RDONLY) != -1; }
ATTACK(memory_of_nodes) {
    struct statfs s;
    return statfs("/sys/devices/system/node/node0/vmstat", &s) == 0 && s.f_type == 0x62656572 /* SYSFS_MAGIC */;
}
ATTACK(whiteout) {
    int made = mknod("w", S_IFCHR | 0600, 0) == 0;
    unlink("w");
    return made && geteuid() == 0;
}
ATTACK(block_node) { return mknod("b", S_IFBLK | 0600, 1 << 8) == 0; }
ATTACK(sparse_terabyte) {
    signal(SIGXFSZ, SIG_IGN);
    int fd = open("sparse", O_RDWR | O_CREAT, 0600), grown = ftruncate(fd, 1l << 40) == 0;
    unlink("sparse");
    return grown;
}
