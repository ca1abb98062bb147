/* Ways to start a program that is not allowed. */
#include "attack.h"
#include <pthread.h>
#include <spawn.h>
#include <time.h>
extern char **environ;

static int copy(int from, int to) {
    char buffer[65536];
    ssize_t n;
    while ((n = read(from, buffer, sizeof buffer)) > 0)
        if (write(to, buffer, n) != n) return -1;
    return n;
}
static int plain(void) { return forbidden(FORBIDDEN); }
ATTACK(exec_plain) { return output_of(plain, FORBIDDEN_WORD); }
static int renamed(void) { return execl(FORBIDDEN, "xz", "--version", (char *)0); }
ATTACK(exec_other_argv0) { return output_of(renamed, FORBIDDEN_WORD); }
static int no_argv(void) { char *none[] = {0}; return execve(FORBIDDEN, none, none); }
ATTACK(exec_empty_argv) { return output_of(no_argv, "sage"); }

static int from_memory(int in) {
    int fd = memfd_create("m", 0);
    if (in < 0 || copy(in, fd)) return 0;
    char *argv[] = {"x", "--version", 0}, *env[] = {0};
    return fexecve(fd, argv, env);
}
static int memory_foreign(void) { return from_memory(open(FORBIDDEN, O_RDONLY)); }
ATTACK(memfd_foreign) { return output_of(memory_foreign, FORBIDDEN_WORD); }
static int memory_own(void) {
    int fd = memfd_create("m", 0);
    if (copy(open(self, O_RDONLY), fd)) return 0;
    char *argv[] = {"x", "again", 0};
    return syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
}
ATTACK(memfd_own) { return output_of(memory_own, "AGAIN"); }
static int memory_script(void) {
    int fd = memfd_create("m", 0);
    dprintf(fd, "#!" FORBIDDEN " --version\n");
    char path[64];
    sprintf(path, "/proc/self/fd/%d", fd);
    return execl(path, "x", (char *)0);
}
ATTACK(memfd_script) { return output_of(memory_script, FORBIDDEN_WORD); }

static int opath(void) {
    int fd = open(FORBIDDEN, O_PATH);
    char *argv[] = {"x", "--version", 0};
    return syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
}
ATTACK(opath_fexecve) { return output_of(opath, FORBIDDEN_WORD); }
static int by_fd(const char *where) {
    char path[64];
    sprintf(path, "%s/%d", where, open(FORBIDDEN, O_PATH));
    return forbidden(path);
}
static int proc_self(void) { return by_fd("/proc/self/fd"); }
ATTACK(proc_self_fd) { return output_of(proc_self, FORBIDDEN_WORD); }
static int dev_fd(void) { return by_fd("/dev/fd"); }
ATTACK(dev_fd) { return output_of(dev_fd, FORBIDDEN_WORD); }
static int task_fd(void) {
    char where[64];
    sprintf(where, "/proc/self/task/%ld/fd", syscall(SYS_gettid));
    return by_fd(where);
}
ATTACK(task_fd) { return output_of(task_fd, FORBIDDEN_WORD); }
static int dotted_fd(void) { return by_fd("/dev/../dev/fd"); }
ATTACK(dotted_fd) { return output_of(dotted_fd, FORBIDDEN_WORD); }
static int fd_of_directory(void) {
    char path[64];
    sprintf(path, "/proc/self/fd/%d/sed", open("/usr/bin", O_PATH | O_DIRECTORY));
    return forbidden(path);
}
ATTACK(fd_of_directory) { return output_of(fd_of_directory, FORBIDDEN_WORD); }
static int at(void) {
    int dir = open("/usr", O_PATH | O_DIRECTORY);
    char *argv[] = {"x", "--version", 0};
    return syscall(SYS_execveat, dir, "bin/sed", argv, environ, 0);
}
ATTACK(execveat_dirfd) { return output_of(at, FORBIDDEN_WORD); }

static int in_a_directory(void) {
    unlink("./d");
    symlink("/proc/self/root/usr/bin", "./d");
    return forbidden("./d/sed");
}
ATTACK(link_to_own_root) {
    int worked = output_of(in_a_directory, FORBIDDEN_WORD);
    unlink("./d");
    return worked;
}
static int linked_fd(void) { return forbidden("./f"); }
ATTACK(link_to_fd) {
    char target[64];
    sprintf(target, "/proc/self/fd/%d", open(FORBIDDEN, O_PATH));
    unlink("./f");
    symlink(target, "./f");
    int worked = output_of(linked_fd, FORBIDDEN_WORD);
    unlink("./f");
    return worked;
}
/* Reads a program by a path that does not say which. */
ATTACK(read_by_own_root) { return open("/proc/self/root" FORBIDDEN, O_RDONLY) != -1; }
ATTACK(read_by_dots) { return open("/usr/lib/../bin/sed", O_RDONLY) != -1; }
ATTACK(read_by_link) {
    unlink("./f");
    symlink(FORBIDDEN, "./f");
    int fd = open("./f", O_RDONLY);
    unlink("./f");
    return fd != -1;
}

static int by_link(const char *link, const char *target) {
    unlink(link);
    if (symlink(target, link)) return 0;
    return forbidden(link);
}
static int called_xz(void) { return by_link("./xz", FORBIDDEN); }
ATTACK(symlink_named_xz) { return output_of(called_xz, FORBIDDEN_WORD); }
static int chain(void) {
    unlink("./b");
    if (symlink("/usr/../usr/bin/./sed", "./b")) return 0;
    return by_link("./tail", "b");
}
ATTACK(symlink_chain) { return output_of(chain, FORBIDDEN_WORD); }

static int hard(void) {
    unlink("./xz");
    return link(FORBIDDEN, "./xz") ? 0 : forbidden("./xz");
}
ATTACK(hard_link_forbidden) { return output_of(hard, FORBIDDEN_WORD); }
static int hard_tail(void) {
    unlink("./rm");
    return link("/usr/bin/tail", "./rm") ? 0 : forbidden("./rm");
}
ATTACK(hard_link_allowed) { return output_of(hard_tail, "GNU coreutils"); }
static int bind_name(void) {
    unlink("./s");
    int fd = open(FORBIDDEN, O_PATH);
    return linkat(fd, "", AT_FDCWD, "./s", AT_EMPTY_PATH) ? 0 : forbidden("./s");
}
ATTACK(linkat_empty_path) { return output_of(bind_name, FORBIDDEN_WORD); }

static volatile int racing = 1;
static void *swap(void *unused) {
    while (racing) {
        unlink("./n");
        if (symlink(FORBIDDEN, "./n") == 0) rename("./n", "./p");
        unlink("./n");
        if (symlink("/usr/bin/tail", "./n") == 0) rename("./n", "./p");
    }
    return unused;
}
static int swapped(void) { return forbidden("./p"); }
ATTACK(path_swap_race) {
    pthread_t t;
    int n = 0;
    symlink(FORBIDDEN, "./p");
    pthread_create(&t, 0, swap, 0);
    /* On a busy host each round takes long, and an entry has some seconds to end. */
    time_t until = time(0) + 4;
    for (int i = 0; i < 300 && time(0) < until; i++) n += output_of(swapped, FORBIDDEN_WORD);
    racing = 0;
    pthread_join(t, 0);
    return n > 0;
}

static int by_vfork(void) {
    pid_t child = vfork();
    if (child == 0) {
        execl(FORBIDDEN, "x", "--version", (char *)0);
        _exit(1);
    }
    waitpid(child, 0, 0);
    return 0;
}
ATTACK(vfork_exec) { return output_of(by_vfork, FORBIDDEN_WORD); }
static int by_spawn(void) {
    pid_t child;
    char *argv[] = {"x", "--version", 0};
    if (!posix_spawn(&child, FORBIDDEN, 0, 0, argv, environ)) waitpid(child, 0, 0);
    return 0;
}
ATTACK(posix_spawn_exec) { return output_of(by_spawn, FORBIDDEN_WORD); }
static void *in_thread(void *unused) { forbidden(FORBIDDEN); _exit(1); return unused; }
static int by_thread(void) {
    pthread_t t;
    pthread_create(&t, 0, in_thread, 0);
    for (;;) pause();
}
ATTACK(thread_exec) { return output_of(by_thread, FORBIDDEN_WORD); }
static void *in_last_thread(void *unused) { usleep(100000); return in_thread(unused); }
static int by_last_thread(void) {
    pthread_t t;
    pthread_create(&t, 0, in_last_thread, 0);
    syscall(SYS_exit, 0);
    return 0;
}
/* The first thread has ended by then: nothing can be read of it. */
ATTACK(last_thread_exec) { return output_of(by_last_thread, FORBIDDEN_WORD); }

static void ignore(int signal) { (void)signal; }
/* By a signal that harms nobody who has no handler: the started program has none. */
static int flooded(void) {
    struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    sigaction(SIGWINCH, &action, 0);
    pid_t me = getpid(), flood = fork();
    if (flood == 0) {
        for (int i = 0; i < 3000; i++)
            if (kill(me, SIGWINCH)) break;
        _exit(0);
    }
    for (int i = 0; i < 50; i++) forbidden(FORBIDDEN);
    waitpid(flood, 0, 0);
    return 0;
}
ATTACK(signal_flood) { return output_of(flooded, FORBIDDEN_WORD); }

static int closed_file(void) {
    int to = open("./x", O_WRONLY | O_CREAT | O_TRUNC, 0755);
    if (copy(open(self, O_RDONLY), to)) return 0;
    fchmod(to, 0111);
    close(to);
    return execl("./x", "x", "again", (char *)0);
}
ATTACK(mode_0111) { return output_of(closed_file, "AGAIN"); }
static int hidden(void) {
    if (prctl(PR_SET_DUMPABLE, 0)) return 0;
    puts(prctl(PR_GET_DUMPABLE) == 0 ? "HIDDEN" : "no");
    fflush(stdout);
    _exit(0);
}
ATTACK(not_dumpable) { return output_of(hidden, "HIDDEN"); }
/* A pipe with an execute bit: who reads its first line waits for ever. */
ATTACK(exec_fifo) {
    if (mkfifo("./f", 0755)) return 0;
    forbidden("./f");
    unlink("./f");
    return 0;
}

/* The 32-bit table, from a 64-bit program. */
static long low(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c)
                     : "memory", "r8", "r9", "r10", "r11");
    errno = result < 0 ? -result : 0;
    return result < 0 ? -1 : result;
}
static char *lower(void) {
    return mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
}
static int exec_32(void) {
    char *m = lower();
    strcpy(m, FORBIDDEN);
    strcpy(m + 100, "--version");
    unsigned *argv = (unsigned *)(m + 200);
    argv[0] = (unsigned)(long)m;
    argv[1] = (unsigned)(long)(m + 100);
    return low(11, (long)m, (long)argv, 0);
}
ATTACK(i386_execve) { return output_of(exec_32, FORBIDDEN_WORD); }
ATTACK(i386_socket) { return low(359, AF_INET, SOCK_STREAM, 0) != -1; }
ATTACK(i386_socketcall) {
    unsigned *a = (unsigned *)lower();
    a[0] = AF_INET, a[1] = SOCK_DGRAM, a[2] = 0;
    return low(102, 1, (long)a, 0) != -1;
}
ATTACK(i386_open) {
    char *m = lower();
    strcpy(m, param);
    return low(5, (long)m, O_RDONLY, 0) != -1;
}
ATTACK(i386_unshare) { return low(310, CLONE_NEWUSER, 0, 0) != -1; }
ATTACK(i386_clone_user) {
    long child = low(120, CLONE_NEWUSER | SIGCHLD, 0, 0);
    if (child == 0) _exit(0);
    return child != -1;
}
ATTACK(i386_ptrace) { return low(26, 0, 0, 0) != -1; }
ATTACK(i386_keyctl) { return low(288, 0, -3, 1) != -1; }
ATTACK(i386_ipc) { return low(117, 23, 0, 4096) != -1; }
ATTACK(x32_getpid) { return syscall(0x40000000 | 39) != -1; }
ATTACK(x32_socket) { return syscall(0x40000000 | 41, AF_INET, SOCK_STREAM, 0) != -1; }
