/* More rights than one was given. */
#include "attack.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

CALL(unshare_user, SYS_unshare, CLONE_NEWUSER)
CALL(unshare_net, SYS_unshare, CLONE_NEWNET)
CALL(unshare_mount, SYS_unshare, CLONE_NEWNS)
static int cloned(long flags) {
    long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    return child != -1;
}
ATTACK(clone_user) { return cloned(CLONE_NEWUSER); }
ATTACK(clone_user_high_bits) { return cloned(CLONE_NEWUSER | 1L << 40); }
ATTACK(clone_untraced) { return cloned(0x00800000); }
ATTACK(clone3_user) {
    unsigned long long a[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
    long child = syscall(435, a, 88);
    if (child == 0) _exit(0);
    return child != -1;
}
ATTACK(setns_own) {
    int fd = open("/proc/self/ns/uts", O_RDONLY);
    return syscall(SYS_setns, fd < 0 ? 0 : fd, CLONE_NEWUTS) != -1;
}
ATTACK(mount_tmpfs) { syscall(SYS_unshare, CLONE_NEWNS); return mount("none", "/tmp", "tmpfs", 0, 0) == 0; }
ATTACK(mount_bind) { syscall(SYS_unshare, CLONE_NEWNS); return mount("/usr", "/tmp", 0, MS_BIND, 0) == 0; }
ATTACK(umount) { syscall(SYS_unshare, CLONE_NEWNS); mount("none", "/mnt", "tmpfs", 0, 0); return umount2("/mnt", MNT_DETACH) == 0; }
ATTACK(chroot) { return syscall(SYS_chroot, "/usr") == 0; }
ATTACK(pivot_root) { return syscall(SYS_pivot_root, ".", ".") == 0; }
CALL(fsopen, SYS_fsopen, "tmpfs", 0)
CALL(open_tree, SYS_open_tree, -100, "/", 1)
CALL(move_mount, SYS_move_mount, -1, "", -100, "/mnt", 4)
ATTACK(mount_setattr) { long a[4] = {0}; return syscall(442, -100, "/", 0, a, 32) == 0; }
ATTACK(ptrace_me) { return ptrace(PTRACE_TRACEME, 0, 0, 0) == 0; }
static int on_child(long (*run)(pid_t)) {
    pid_t child = fork();
    if (child == 0) for (;;) pause();
    long result = run(child);
    int e = errno;
    kill(child, SIGKILL);
    waitpid(child, 0, 0);
    errno = e;
    return result != -1;
}
static long seize(pid_t child) { return ptrace(PTRACE_SEIZE, child, 0, 0); }
ATTACK(ptrace_child) { return on_child(seize); }
static long readv_(pid_t child) {
    char a[8];
    struct iovec here = {a, 8}, there = {(void *)param, 8};
    return process_vm_readv(child, &here, 1, &there, 1, 0);
}
ATTACK(vm_readv) { return on_child(readv_); }
static long writev_(pid_t child) {
    static char a[8];
    struct iovec here = {a, 8}, there = {a, 8};
    return process_vm_writev(child, &here, 1, &there, 1, 0);
}
ATTACK(vm_writev) { return on_child(writev_); }
static long getfd(pid_t child) { return syscall(438, syscall(434, child, 0), 1, 0); }
ATTACK(pidfd_getfd) { return on_child(getfd); }
static long compare(pid_t child) { return syscall(SYS_kcmp, getpid(), child, 0, 1, 1); }
ATTACK(kcmp) { return on_child(compare); }
ATTACK(bpf) { char a[120] = {0}; *(int *)a = 1; ((int *)a)[1] = 4; ((int *)a)[2] = 4; ((int *)a)[3] = 1; return syscall(SYS_bpf, 0, a, 120) != -1; }
ATTACK(perf) { unsigned a[32] = {1, 128, 0}; return syscall(SYS_perf_event_open, a, 0, -1, -1, 0) != -1; }
CALL(userfaultfd, SYS_userfaultfd, 1)
CALL(add_key, SYS_add_key, "user", "gate4k", "x", 1, -2)
CALL(keyctl, SYS_keyctl, 0, -3, 1)
ATTACK(request_key) { syscall(SYS_add_key, "user", "gate4k", "x", 1, -2); return syscall(SYS_request_key, "user", "gate4k", 0, 0) != -1; }
ATTACK(handle) {
    struct { unsigned bytes; int type; char f[128]; } h = {128};
    int id;
    return syscall(SYS_name_to_handle_at, -100, "/usr", &h, &id, 0) != -1;
}
CALL(fanotify, SYS_fanotify_init, 0, 0)
CALL(syslog, SYS_syslog, 10, 0, 0)
CALL(iopl, SYS_iopl, 3)
CALL(modify_ldt, SYS_modify_ldt, 0, (void *)param, 0)
CALL(mq_open, SYS_mq_open, "gate4k", O_RDWR | O_CREAT, 0600, 0)
CALL(sethostname, SYS_sethostname, "x", -1)
CALL(reboot, SYS_reboot, 0, 0, 0, 0)
CALL(settimeofday, SYS_settimeofday, 0, 0)
CALL(init_module, SYS_init_module, 0, 0, "")
CALL(swapon, SYS_swapon, "/nothing", 0)
CALL(quotactl, SYS_quotactl, 0, 0, 0, 0)
CALL(setuid_root, SYS_setuid, 0)
CALL(setgid_root, SYS_setresgid, 0, 0, 0)
ATTACK(capabilities) {
    unsigned header[2] = {0x20080522, 0}, sets[6] = {0};
    syscall(SYS_capget, header, sets);
    return sets[0] || sets[1] || sets[3] || sets[4];
}
ATTACK(setuid_product) {
    struct stat s;
    int fd = open("./s", O_WRONLY | O_CREAT, 0755);
    fchmod(fd, 04755);
    return geteuid() == 0 || (fstat(fd, &s) == 0 && (s.st_mode & S_ISUID) && s.st_uid == 0);
}
ATTACK(new_privs) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1; }

/* A filter of one's own that says "ask me" of socket(), and then "go on". */
static int listener = -1;
static void *say_go_on(void *unused) {
    struct seccomp_notif n;
    struct seccomp_notif_resp r;
    for (;;) {
        memset(&n, 0, sizeof n);
        memset(&r, 0, sizeof r);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n)) continue;
        r.id = n.id;
        r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
    }
    return unused;
}
static int filter(unsigned action, int by_prctl) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {4, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return by_prctl ? prctl(PR_SET_SECCOMP, 2, &program)
                    : syscall(SYS_seccomp, 1, action == SECCOMP_RET_USER_NOTIF ? 8 : 0, &program);
}
ATTACK(seccomp_notify) {
    pthread_t t;
    listener = filter(SECCOMP_RET_USER_NOTIF, 0);
    if (listener < 0) return 0;
    pthread_create(&t, 0, say_go_on, 0);
    return socket(AF_INET, SOCK_STREAM, 0) != -1;
}
ATTACK(seccomp_data) { return filter(SECCOMP_RET_ERRNO | 1, 0) == 0; }
/* The newer filter's data tell our tracer that this is something harmless. */
ATTACK(seccomp_prctl) { return filter(SECCOMP_RET_TRACE | 11, 1) == 0; }

ATTACK(tiocsti) { char c = 'x'; return ioctl(0, 0x5412, &c) == 0 || errno == ENOTTY || errno == EIO; }
ATTACK(tiocsti_high_bits) { char c = 'x'; return syscall(SYS_ioctl, 0, 0x5412 | 1L << 32, &c) == 0 || errno == ENOTTY; }
ATTACK(tioclinux) { char c = 2; return ioctl(0, 0x541c, &c) == 0 || errno == ENOTTY; }
ATTACK(setflags) { int f = 0; return ioctl(0, 0x40086602, &f) == 0 || errno == ENOTTY; }
/* Of a file system, by a descriptor that may only read. */
static int on_a_library(unsigned long request) {
    static char arguments[4096];
    int r = ioctl(open("/lib64", O_RDONLY), request, arguments);
    return r == 0 || errno == ENOTTY || errno == EINVAL || errno == EOPNOTSUPP;
}
ATTACK(ioctl_verity) { return on_a_library(0x40806685); }
ATTACK(ioctl_subvolume) { return on_a_library(0x5000940e); }
ATTACK(ioctl_version) { return on_a_library(0x40087602); }
ATTACK(ioctl_key) { return on_a_library(0xc0506617); }
ATTACK(tty) { return open("/dev/tty", O_RDWR) != -1; }
ATTACK(new_terminal) { return open("/dev/ptmx", O_RDWR) != -1; }
ATTACK(inherited) {
    for (int fd = 3; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) != -1) return 1;
    return 0;
}
CALL(new_call, SYS_lookup_dcookie + 100000)
