/* Two entries of one game that would tell each other something: by what the host has one of, or so many for each user.
   Each way can set a bit and look at it; `param` says who this is: "send SALT", "hear SALT", or one call alone. */
#include "attack.h"
#include <dirent.h>
#include <linux/aio_abi.h>
#include <mqueue.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

/* A file that every entry may read, and nobody else locks. */
static int loader(void) {
    static const char *const names[] = {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"};
    int fd = open(names[0], O_RDONLY);
    return fd < 0 ? open(names[1], O_RDONLY) : fd;
}
ATTACK(lock_flock) { return flock(loader(), LOCK_SH | LOCK_NB) == 0; }
static int lock(int command, int kind) {
    struct flock l = {.l_type = kind, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    return fcntl(loader(), command, &l) == 0;
}
ATTACK(lock_posix) { return lock(F_SETLK, F_RDLCK); }
ATTACK(lock_posix_asked) { return lock(F_GETLK, F_WRLCK); }
ATTACK(lock_of_open_file) { return lock(F_OFD_SETLK, F_RDLCK); }
ATTACK(lock_of_open_file_asked) { return lock(F_OFD_GETLK, F_WRLCK); }
ATTACK(lock_high_bits) {
    struct flock l = {.l_type = F_RDLCK};
    return syscall(SYS_fcntl, loader(), F_SETLK | 1L << 32, &l) == 0;
}
ATTACK(lease) {
    int fd = open("leased", O_RDONLY | O_CREAT, 0600);
    unlink("leased");
    return fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
}
ATTACK(directory_news) {
    signal(SIGIO, SIG_IGN);
    return fcntl(open("/usr/lib", O_RDONLY | O_DIRECTORY), F_NOTIFY, DN_ACCESS) == 0;
}
ATTACK(inotify_instance) { return inotify_init1(0) != -1; }
#ifdef SYS_inotify_init
ATTACK(inotify_old) { return syscall(SYS_inotify_init) != -1; }
#else
ATTACK(inotify_old) { return inotify_init1(0) != -1; }
#endif
ATTACK(aio_contexts) {
    aio_context_t context = 0;
    return syscall(SYS_io_setup, 1024, &context) == 0;
}
ATTACK(pipe_pages) {
    int p[2];
    return pipe(p) == 0 && fcntl(p[1], F_SETPIPE_SZ, 1 << 20) != -1;
}
ATTACK(pages_in_memory) {
    static unsigned char seen[1];
    int fd = loader();
    void *page = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    return page != MAP_FAILED && mincore(page, 4096, seen) == 0;
}
ATTACK(pages_counted) {
    struct { unsigned long long from, length; } range = {0, 4096};
    unsigned long long stat[5];
    return syscall(451, loader(), &range, stat, 0) == 0;
}
ATTACK(number_of_eventfd) {
    char path[50], text[500] = {0};
    sprintf(path, "/proc/self/fdinfo/%d", (int)syscall(SYS_eventfd2, 0, 0));
    int fd = open(path, O_RDONLY);
    return fd != -1 && read(fd, text, sizeof text - 1) > 0 && strstr(text, "eventfd");
}
ATTACK(pages_dropped) { return posix_fadvise(loader(), 0, 4096, POSIX_FADV_DONTNEED) == 0; }
ATTACK(pages_read_at_once) {
    char byte;
    struct iovec part = {&byte, 1};
    return preadv2(loader(), &part, 1, 0, RWF_NOWAIT) == 1;
}
#ifdef __x86_64__
static int low(long number, long b, long c, long d, long e, long s) {
    long result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(b), "c"(c), "d"(d), "S"(e), "D"(s)
                     : "memory", "r8", "r9", "r10", "r11");
    if (result < 0 && result > -4096) errno = -result;
    return result >= 0 || result < -4095;
}
ATTACK(lock_i386) { return low(143, loader(), LOCK_SH | LOCK_NB, 0, 0, 0); }
ATTACK(pages_merged_i386) {
    char *low_page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    return low(219, (long)low_page, 4096, 12, 0, 0);
}
ATTACK(inotify_i386) { return low(291, 0, 0, 0, 0, 0); }
#endif

/* How many processes have a page in their memory. */
static int opens_of_itself(const char *path) { return open(path, O_RDONLY) != -1; }
ATTACK(pages_by_smaps) { return opens_of_itself("/proc/self/smaps"); }
ATTACK(pages_by_rollup) { return opens_of_itself("/proc/thread-self/../../smaps_rollup"); }
ATTACK(pages_by_pagemap) { return opens_of_itself("/proc/self/pagemap"); }
ATTACK(pages_by_numa_maps) { return opens_of_itself("/proc/self/numa_maps"); }
ATTACK(pages_by_directory) {
    int top = open("/proc/self/task", O_RDONLY | O_DIRECTORY);
    char path[64];
    sprintf(path, "%d/smaps", getpid());
    return openat(top, path, O_RDONLY) != -1;
}
/* The process that opens it is ended, and another has the same table of descriptors. */
ATTACK(number_by_shared_table) {
    char path[60], text[500];
    int number = syscall(SYS_eventfd2, 0, 0);
    sprintf(path, "/proc/%d/fdinfo/%d", getpid(), number);
    if (symlink(path, "./link")) return 0;
    pid_t child = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        open("./link", O_RDONLY);
        _exit(0);
    }
    waitpid(child, 0, 0);
    unlink("./link");
    for (int fd = number + 1; fd < number + 9; fd++) {
        memset(text, 0, sizeof text);
        if (read(fd, text, sizeof text - 1) > 0 && strstr(text, "eventfd")) return 1;
    }
    return 0;
}
/* Nobody knows by its path where a link leads: it is opened, and whoever opened it is ended. */
ATTACK(pages_by_link) {
    int p[2], came = 0;
    if (pipe(p) || symlink("/proc/self/smaps", "./link")) return 0;
    pid_t child = fork();
    if (child == 0) {
        char text[64];
        int fd = open("./link", O_RDONLY);
        if (fd != -1 && read(fd, text, sizeof text) > 0) write(p[1], "y", 1);
        _exit(0);
    }
    waitpid(child, 0, 0);
    unlink("./link");
    fcntl(p[0], F_SETFL, O_NONBLOCK);
    char c;
    came = read(p[0], &c, 1) == 1;
    return came;
}
ATTACK(hint_at_file) {
    unsigned long long hint = 2;
    return fcntl(loader(), 1036, &hint) == 0;
}
static char page[4096] __attribute__((aligned(4096)));
ATTACK(pages_moved_here) { page[0] = 1; return syscall(SYS_mbind, page, 4096, 0, 0, 0, 1 << 1) == 0; }
ATTACK(pages_migrated) {
    unsigned long first = 1;
    return syscall(SYS_migrate_pages, 0, 2L, &first, &first) != -1;
}
ATTACK(pages_asked_for_place) {
    void *pages[] = {page};
    int places[1];
    page[0] = 1;
    return syscall(SYS_move_pages, 0, 1L, pages, 0, places, 0) == 0;
}

/* Equal pages of two processes become one. */
ATTACK(pages_merged) { page[0] = 1; return madvise(page, 4096, 12 /* MADV_MERGEABLE */) == 0; }
ATTACK(pages_merged_by_process) {
    struct iovec part = {page, 4096};
    page[0] = 1;
    return syscall(440, syscall(SYS_pidfd_open, getpid(), 0), &part, 1L, 12, 0) == 4096;
}
/* A page of a file that the user owns leaves the memory for all. */
ATTACK(pages_put_out) { page[0] = 1; return madvise(page, 4096, 21 /* MADV_PAGEOUT */) == 0; }
ATTACK(pages_put_out_by_process) {
    struct iovec part = {page, 4096};
    page[0] = 1;
    return syscall(440, syscall(SYS_pidfd_open, getpid(), 0), &part, 1L, 21, 0) == 4096;
}
#ifdef SYS_ustat
/* The free space of a file system that is nowhere to be seen from here. */
ATTACK(space_by_number) {
    struct stat of;
    char told[32];
    return stat("/usr", &of) == 0 && syscall(SYS_ustat, of.st_dev, told) == 0;
}
ATTACK(space_by_number_i386) {
    struct stat of;
    char *told = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    return stat("/usr", &of) == 0 && low(62, of.st_dev, (long)told, 0, 0, 0);
}
#endif
ATTACK(all_pages_merged) { return prctl(67 /* PR_SET_MEMORY_MERGE */, 1, 0, 0, 0) == 0; }

/* Numbers that the kernel counts from its start on. */
ATTACK(number_of_mount) {
    unsigned told[64] = {0};
    return syscall(SYS_statx, AT_FDCWD, "/", 0, 0x4000 /* STATX_MNT_ID_UNIQUE */, told) == 0 && told[0] & 0x4000;
}
ATTACK(numbers_of_mounts) {
    unsigned long long asked[] = {24, -1, 0}, told[16];
    return syscall(458, asked, told, 16L, 0) > 0;
}
ATTACK(number_of_namespace) {
    unsigned long long told;
    return ioctl(open("/proc/self/ns/mnt", O_RDONLY), 0x8008b705 /* NS_GET_MNTNS_ID */, &told) == 0;
}
ATTACK(number_of_group) {
    unsigned long long told[8] = {4};
    return ioctl(syscall(SYS_pidfd_open, getpid(), 0), 0xc040ff0b /* PIDFD_GET_INFO */, told) == 0;
}

/* A word in a file that all may read: who waits there can be woken by anybody. */
static int *word(int at) {
    static int *page;
    if (!page) page = mmap(0, 4096, PROT_READ, MAP_SHARED, loader(), 0);
    return page + at % 1024;
}
static long waits(int *at) { return syscall(SYS_futex, at, 0 /* FUTEX_WAIT */, *at + 1, 0, 0, 0) == -1 && errno == EAGAIN; }
ATTACK(wait_in_a_file) { return waits(word(0)); }
ATTACK(wait_in_the_library) { return waits((int *)((long)puts & ~3l)); }
ATTACK(wait_moved_to_a_file) {
    static int here;
    return syscall(SYS_futex, &here, 3 /* FUTEX_REQUEUE */, 0, 1, word(0), 0) != -1;
}
ATTACK(wait_by_new_calls) {
    int calls[] = {449, 455, 456}, there = 0;
    for (int i = 0; i < 3; i++) there |= syscall(calls[i], 0, 0, 0, 0, 0, 0) != -1 || errno != ENOSYS;
    return there;
}

/* What the machine tells of itself. */
static int tells(const char *path) {
    char buffer[256];
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, buffer, sizeof buffer);
    return n > 0;
}
ATTACK(huge_page_counters) {
    return open("/sys/kernel/mm/transparent_hugepage/khugepaged/full_scans", O_RDONLY) != -1;
}
ATTACK(machine_in_proc) {
    static const char *const names[] = {
        "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/vmstat", "/proc/interrupts", "/proc/diskstats",
        "/proc/locks", "/proc/version", "/proc/cmdline", "/proc/swaps", "/proc/modules", "/proc/partitions",
        "/proc/softirqs", "/proc/buddyinfo", "/proc/zoneinfo", "/proc/schedstat", "/proc/pressure/cpu",
        "/proc/sys/kernel/random/boot_id", "/proc/sys/kernel/hostname", "/proc/sys/fs/file-nr",
        "/proc/sys/fs/inode-nr", "/proc/sys/fs/aio-nr", "/proc/sys/kernel/random/entropy_avail",
    };
    int told = 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (tells(names[i])) told++, printf("told by %s\n", names[i]);
    return told > 0;
}
/* What the network's files tell counts for the whole machine, though the network is the entry's own. */
ATTACK(packets_of_the_machine) {
    static const char *const names[] = {
        "/proc/self/net/softnet_stat", "/proc/thread-self/net/sockstat", "/proc/net/protocols", "/proc/net/stat/rt_cache", "/proc/net/rt_acct",
    };
    int told = 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) told += tells(names[i]);
    return told > 0;
}
ATTACK(supervisor_command_line) {
    char buffer[4096];
    int fd = open("/proc/1/cmdline", O_RDONLY);
    ssize_t n = read(fd, buffer, sizeof buffer);
    for (ssize_t i = 0; i < n; i++)
        if (buffer[i]) return 1;
    return 0;
}
ATTACK(host_name) {
    char name[256] = "";
    gethostname(name, sizeof name);
    return strcmp(name, "entry") != 0;
}

/* One bit, by one of these ways. */
static int held = -1;
static int fd_of(int (*open_it)(void)) { return held < 0 ? held = open_it() : held; }
static char name[64];
static unsigned salt;

static void flock_set(int bit) { flock(fd_of(loader), bit ? LOCK_SH : LOCK_UN); }
static int flock_get(void) {
    int fd = loader(), busy = flock(fd, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK;
    close(fd);
    return busy;
}
static void posix_set(int bit) {
    struct flock l = {.l_type = bit ? F_RDLCK : F_UNLCK, .l_start = salt, .l_len = 1};
    fcntl(fd_of(loader), F_SETLK, &l);
}
static int asked(int command) {
    struct flock l = {.l_type = F_WRLCK, .l_start = salt, .l_len = 1};
    int fd = loader(), busy = fcntl(fd, command, &l) == 0 && l.l_type != F_UNLCK;
    close(fd);
    return busy;
}
static int posix_get(void) { return asked(F_GETLK); }
static void ofd_set(int bit) {
    struct flock l = {.l_type = bit ? F_RDLCK : F_UNLCK, .l_start = salt, .l_len = 1};
    fcntl(fd_of(loader), F_OFD_SETLK, &l);
}
static int ofd_get(void) { return asked(F_OFD_GETLK); }

static int events(void) {
    int fd = inotify_init1(IN_NONBLOCK);
    inotify_add_watch(fd, "/etc/ld.so.conf", IN_OPEN);
    return fd;
}
static void events_set(int bit) {
    if (bit) close(open("/etc/ld.so.conf", O_RDONLY));
}
static int events_get(void) {
    char all[4096];
    return read(fd_of(events), all, sizeof all) > 0;
}
static void instances_set(int bit) {
    static int all[512], count;
    if (bit)
        while (count < 512 && (all[count] = inotify_init1(0)) != -1) count++;
    else
        while (count) close(all[--count]);
}
static int instances_get(void) {
    int fd = inotify_init1(0);
    if (fd >= 0) close(fd);
    return fd < 0 && errno == EMFILE;
}
static void pipes_set(int bit) {
    static int all[64][2], count;
    if (bit)
        while (count < 64 && pipe(all[count]) == 0) fcntl(all[count++][1], F_SETPIPE_SZ, 1 << 20);
    else
        while (count) close(all[--count][0]), close(all[count][1]);
}
static int pipes_get(void) {
    int p[2];
    if (pipe(p)) return 0;
    int refused = fcntl(p[1], F_SETPIPE_SZ, 1 << 20) == -1;
    close(p[0]), close(p[1]);
    return refused && geteuid();
}
static int first_number(const char *path) {
    char text[256] = "";
    int fd = open(path, O_RDONLY);
    read(fd, text, sizeof text - 1);
    close(fd);
    return atoi(text);
}
static void files_set(int bit) {
    static int all[600], count;
    if (bit)
        while (count < 600) all[count++] = open("/dev/null", O_RDONLY);
    else
        while (count) close(all[--count]);
}
static int files_get(void) {
    static int least = 1 << 30;
    int now = first_number("/proc/sys/fs/file-nr");
    if (now < least) least = now;
    return now > least + 400;
}
static void aio_set(int bit) {
    static aio_context_t context;
    if (bit && !context) syscall(SYS_io_setup, 8192, &context);
    if (!bit && context) syscall(SYS_io_destroy, context), context = 0;
}
static int aio_get(void) { return first_number("/proc/sys/fs/aio-nr") > 4000; }
static void abstract_set(int bit) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    sprintf(a.sun_path + 1, "bit-%u", salt);
    if (bit && held < 0) bind(held = socket(AF_UNIX, SOCK_STREAM, 0), (void *)&a, sizeof a), listen(held, 1);
    if (!bit && held >= 0) close(held), held = -1;
}
static int abstract_get(void) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    sprintf(a.sun_path + 1, "bit-%u", salt);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), there = connect(fd, (void *)&a, sizeof a) == 0 || errno == EAGAIN;
    close(fd);
    return there;
}
static void file_set(int bit) {
    sprintf(name, "/tmp/bit-%u", salt);
    if (bit) close(open(name, O_CREAT | O_WRONLY, 0644));
    else unlink(name);
}
static int file_get(void) {
    sprintf(name, "/tmp/bit-%u", salt);
    return access(name, F_OK) == 0;
}
static void memory_set(int bit) {
    sprintf(name, "/bit-%u", salt);
    if (bit) close(shm_open(name, O_CREAT | O_RDWR, 0644));
    else shm_unlink(name);
}
static int memory_get(void) {
    sprintf(name, "/bit-%u", salt);
    int fd = shm_open(name, O_RDONLY, 0);
    if (fd >= 0) close(fd);
    return fd >= 0;
}
static void segment_set(int bit) {
    static int id = -1;
    if (bit && id < 0) id = shmget(salt, 4096, IPC_CREAT | 0666);
    if (!bit && id >= 0) shmctl(id, IPC_RMID, 0), id = -1;
}
static int segment_get(void) { return shmget(salt, 0, 0) != -1; }
static void queue_set(int bit) {
    sprintf(name, "/bit-%u", salt);
    if (bit) mq_close(mq_open(name, O_CREAT | O_RDWR, 0666, 0));
    else mq_unlink(name);
}
static int queue_get(void) {
    sprintf(name, "/bit-%u", salt);
    mqd_t q = mq_open(name, O_RDONLY);
    if (q != (mqd_t)-1) mq_close(q);
    return q != (mqd_t)-1;
}
static volatile char *mapped(void) {
    int fd = open("/etc/ld.so.conf", O_RDONLY);
    volatile char *page = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (page != MAP_FAILED) (void)page[0];
    return page;
}
static void maps_set(int bit) {
    static volatile char *page;
    if (bit && !page) page = mapped();
    if (!bit && page) munmap((void *)page, 4096), page = 0;
}
static void wait_set(int bit) {
    static pid_t child;
    if (bit && !child && (child = fork()) == 0)
        for (;;) if (syscall(SYS_futex, word(salt), 0, *word(salt), 0, 0, 0) == -1) usleep(1000);
    if (!bit && child) kill(child, SIGKILL), waitpid(child, 0, 0), child = 0;
}
static int wait_get(void) { return syscall(SYS_futex, word(salt), 1 /* FUTEX_WAKE */, 1, 0, 0, 0) > 0; }
static int maps_get(void) {
    unsigned long long seen = 1ULL << 56;
    volatile char *page = mapped();
    int fd = open("/proc/self/pagemap", O_RDONLY);
    pread(fd, &seen, sizeof seen, (unsigned long)page / 4096 * sizeof seen);
    close(fd);
    munmap((void *)page, 4096);
    return !(seen >> 56 & 1);
}
static int process_of_bit(void) {
    pid_t child = fork();
    if (child == 0)
        for (;;) pause();
    return child;
}
static void processes_set(int bit) {
    static pid_t all[200];
    static int count;
    if (bit)
        while (count < 200) all[count++] = process_of_bit();
    else
        while (count) kill(all[--count], SIGKILL), waitpid(all[count], 0, 0);
}
static int processes_get(void) {
    static int least = 1 << 30;
    char text[256] = "";
    int fd = open("/proc/loadavg", O_RDONLY), now = 0;
    read(fd, text, sizeof text - 1);
    close(fd);
    char *slash = strchr(text, '/');
    if (slash) now = atoi(slash + 1);
    if (now < least) least = now;
    return now > least + 100;
}

static const struct way {
    const char *name;
    void (*set)(int);
    int (*get)(void);
} ways[] = {
    {"flock", flock_set, flock_get},          {"posix", posix_set, posix_get},
    {"ofd", ofd_set, ofd_get},                {"events", events_set, events_get},
    {"instances", instances_set, instances_get},
    {"pipes", pipes_set, pipes_get},          {"files", files_set, files_get},
    {"aio", aio_set, aio_get},                {"abstract", abstract_set, abstract_get},
    {"file", file_set, file_get},             {"memory", memory_set, memory_get},
    {"segment", segment_set, segment_get},    {"queue", queue_set, queue_get},
    {"processes", processes_set, processes_get}, {"maps", maps_set, maps_get},
    {"wait", wait_set, wait_get},
};
static long now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000L + t.tv_nsec / 1000000;
}
static void until(long ms) {
    for (long left; (left = ms - now_ms()) > 0;) usleep(left * 1000);
}
/* param: WAY send|hear SALT BEGIN SLOT BITS — the bits are sent one a slot, and each is looked at in the middle of it. */
ATTACK(tell_a_bit) {
    char way[32], role[8], bits[64];
    long begin, slot;
    if (sscanf(param, "%31s %7s %u %ld %ld %63s", way, role, &salt, &begin, &slot, bits) != 6) return 0;
    for (unsigned w = 0; w < sizeof ways / sizeof *ways; w++) {
        if (strcmp(ways[w].name, way)) continue;
        int sends = !strcmp(role, "send");
        if (!sends) ways[w].get();
        if (sends) ways[w].set(0);
        char heard[64] = "";
        for (unsigned i = 0; i < strlen(bits); i++) {
            until(begin + i * slot + (sends ? 0 : slot / 2));
            if (sends) ways[w].set(bits[i] == '1');
            else heard[i] = ways[w].get() ? '1' : '0';
        }
        until(begin + strlen(bits) * slot);
        if (sends) ways[w].set(0);
        printf("told %s\n", sends ? "" : heard);
        return 0;
    }
    return 0;
}
