/* Other people's processes, too many of one's own, and too much of everything. */
#include "attack.h"
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <sys/ipc.h>
#include <sys/resource.h>
#include <sys/shm.h>

static pid_t other(void) { return atoi(param); }
/* (By a signal that does nothing: whether its parent lives an entry may ask.) */
ATTACK(kill_other) { return kill(other(), SIGURG) == 0; }
/* In namespaces its parent is all that it may reach. */
ATTACK(kill_all) { return kill(-1, 0) == 0 && getppid() != 2; }
ATTACK(kill_group) { return kill(-other(), 0) == 0; }
ATTACK(tgkill_other) { return syscall(SYS_tgkill, other(), other(), 0) == 0; }
ATTACK(sigqueue_other) { union sigval v = {0}; return sigqueue(other(), 0, v) == 0; }
ATTACK(pidfd_other) { return syscall(434, other(), 0) != -1; }
ATTACK(affinity_of_other) { cpu_set_t s; return sched_getaffinity(other(), sizeof s, &s) == 0; }
ATTACK(scheduler_of_other) { return sched_getscheduler(other()) != -1; }
ATTACK(priority_of_other) { errno = 0; getpriority(PRIO_PROCESS, other()); return errno == 0; }
ATTACK(priority_of_user) { return atoi(param) && syscall(SYS_getpriority, PRIO_USER, 0) != -1; }
ATTACK(processor_time_of_other) { long t[2]; return syscall(SYS_clock_gettime, ~(unsigned)other() << 3 | 2, t) == 0; }
ATTACK(timer_on_other) { int t; return syscall(SYS_timer_create, ~(unsigned)other() << 3 | 2, 0, &t) == 0; }
ATTACK(session_of_other) { return getsid(other()) != -1; }
ATTACK(prlimit_other) { struct rlimit l; return prlimit(other(), RLIMIT_CPU, 0, &l) == 0; }
/* (With namespaces every number is answered alike, and nothing is done.) */
ATTACK(affinity_other) {
    cpu_set_t s;
    return sched_getaffinity(0, sizeof s, &s) == 0 && sched_setaffinity(other(), sizeof s, &s) == 0
        && sched_setaffinity(0x3fffff00, sizeof s, &s);
}
ATTACK(priority_other) { return setpriority(PRIO_PROCESS, other(), 19) == 0; }
ATTACK(ioprio_other) { return syscall(SYS_ioprio_set, 1, other(), 2 << 13 | 4) == 0; }
ATTACK(setown_other) { int p[2]; return pipe(p) == 0 && fcntl(p[0], F_SETOWN, other()) == 0; }
ATTACK(ptrace_other) { char path[64]; sprintf(path, "/proc/%d/mem", other()); return open(path, O_RDWR) != -1; }
ATTACK(environ_other) { char path[64]; sprintf(path, "/proc/%d/environ", other()); return open(path, O_RDONLY) != -1; }
ATTACK(pid1_environ) { return open("/proc/1/environ", O_RDONLY) != -1; }
ATTACK(pid1_root) { return open("/proc/1/root/etc", O_RDONLY | O_DIRECTORY) != -1; }
ATTACK(pid1_exe) { char to[64]; return readlink("/proc/1/exe", to, sizeof to) != -1; }
static void *ends(void *unused) { usleep(50000); return unused; }
/* Threads that end and processes that share a word are waited for. */
static int waits_for_its_own(void) {
    pthread_t t;
    sem_t *s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct timespec until = {time(0) + 60, 0};
    sem_init(s, 1, 0);
    if (fork() == 0) { usleep(50000); sem_post(s); _exit(0); }
    int good = sem_timedwait(s, &until) == 0;
    wait(0);
    return good && pthread_create(&t, 0, ends, 0) == 0 && pthread_join(t, 0) == 0;
}
/* The supervisor's own processes within the namespace. */
ATTACK(limit_of_first) { struct rlimit l = {1, 1}; return prlimit(1, RLIMIT_CPU, &l, 0) == 0; }
ATTACK(affinity_of_first) { cpu_set_t s; return sched_getaffinity(0, sizeof s, &s) == 0 && sched_setaffinity(1, sizeof s, &s) == 0; }
ATTACK(policy_of_first) { struct sched_param p = {0}; return sched_setscheduler(1, SCHED_IDLE, &p) == 0; }
ATTACK(priority_of_first) { return setpriority(PRIO_PROCESS, 1, 19) == 0; }
ATTACK(limit_of_parent) { struct rlimit l = {1, 1}; return prlimit(getppid(), RLIMIT_CPU, &l, 0) == 0; }
ATTACK(priority_of_parent) { return setpriority(PRIO_PROCESS, getppid(), 19) == 0; }
/* Whether or not it can: all ends as it does elsewhere. */
ATTACK(end_of_parent) {
    pid_t parent = getppid();
    if (kill(parent, 0)) return 1;
    kill(parent, SIGSTOP), kill(parent, SIGTERM), kill(parent, SIGKILL), kill(parent, SIGSTOP);
    usleep(100000);
    return getppid() != parent && getppid() != 1;
}
/* The kernel hangs up a group that is orphaned while one of it stands still, whoever is in it. */
ATTACK(hang_up_of_parent) {
    pid_t parent = getppid(), group = getpgrp();
    if (setpgid(0, 0)) return 0;
    pid_t child = fork();
    if (child == 0) {
        int status;
        setpgid(0, group);
        signal(SIGHUP, SIG_IGN);
        pid_t still = fork();
        if (still == 0) raise(SIGSTOP), _exit(0);
        waitpid(still, &status, WUNTRACED);
        _exit(0);
    }
    waitpid(child, 0, 0);
    usleep(100000);
    return getppid() != parent;
}
ATTACK(priority_of_all) { return syscall(SYS_ioprio_set, 3, getuid(), 2 << 13 | 7) == 0; }
/* A group is reached while anybody is in it, its leader a zombie or gone, and a zombie while nobody has waited for it. */
static int reaches_a_group_without_its_leader(void) {
    siginfo_t ended;
    int p[2];
    char c;
    if (pipe(p)) return 0;
    pid_t leader = fork();
    if (leader == 0) {
        setpgid(0, 0);
        if (fork() == 0) for (;;) pause();
        _exit(0);
    }
    close(p[1]);
    waitid(P_PID, leader, &ended, WEXITED | WNOWAIT);
    int good = kill(leader, 0) == 0 && kill(-leader, 0) == 0;
    waitpid(leader, 0, 0);
    good = good && kill(-leader, 0) == 0 && kill(-leader, SIGKILL) == 0;
    /* The pipe ends with the last of the group. */
    return read(p[0], &c, 1) == 0 && good;
}
/* All that an engine does with its own must go on working. */
ATTACK(own_processes) {
    cpu_set_t s;
    long t[2];
    pid_t child = fork();
    if (child == 0) for (;;) pause();
    sched_getaffinity(0, sizeof s, &s);
    int good = waits_for_its_own() && reaches_a_group_without_its_leader() && sched_setaffinity(child, sizeof s, &s) == 0 && sched_setaffinity(0, sizeof s, &s) == 0 &&
        setpriority(PRIO_PROCESS, child, getpriority(PRIO_PROCESS, 0)) == 0 &&
        syscall(SYS_clock_gettime, ~(unsigned)child << 3 | 2, t) == 0 && syscall(SYS_clock_gettime, ~0u << 3 | 6, t) == 0 &&
        kill(child, SIGTERM) == 0;
    waitpid(child, 0, 0);
    return !(good && kill(child, 0) == -1 && errno == ESRCH);
}
/* Calls on processes of its own that end and are waited for meanwhile: they succeed, or there is none. */
ATTACK(calls_beside_ends) {
    int wrong = 0;
    for (int i = 0; i < 60; i++) {
        struct rlimit l;
        pid_t child = fork();
        if (child == 0) usleep(i * 10), _exit(0);
        pid_t caller = fork();
        if (caller == 0) {
            for (int k = 0; k < 40; k++) {
                int fd = syscall(434, child, 0);
                if (fd == -1 ? errno != ESRCH : close(fd)) _exit(1);
                if (prlimit(child, RLIMIT_CPU, 0, &l) && errno != ESRCH) _exit(2);
                if (kill(-child, 0) == 0 || errno != ESRCH) _exit(3);
            }
            _exit(0);
        }
        int status;
        waitpid(child, 0, 0);
        waitpid(caller, &status, 0);
        wrong += status != 0;
    }
    return wrong;
}
static void *looks_again_and_again(void *unused) {
    for (;;) access("/dev/null", R_OK);
    return unused;
}
/* A process starts a program while others of its threads stand at the beginning of calls. Nobody may end it for that. (Calls that
   open are lost with their threads, and make the record incomplete.) */
ATTACK(starts_beside_calls) {
    int ended = 0;
    for (int i = 0; i < 60; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            pthread_t t;
            for (int k = 0; k < 4; k++) pthread_create(&t, 0, looks_again_and_again, 0);
            usleep(1500 + i * 20);
            execl("/bin/sh", "sh", "-c", "exit 7", (char *)0);
            _exit(9);
        }
        waitpid(child, &status, 0);
        ended += !WIFEXITED(status) || WEXITSTATUS(status) != 7;
    }
    return ended;
}
ATTACK(fork_bomb) {
    int failed = 0, p[2];
    if (pipe(p)) return 0;
    for (int i = 0; i < 400; i++) {
        pid_t child = fork();
        if (child == -1) { failed = errno; break; }
        if (child == 0) { char c; close(p[1]); read(p[0], &c, 1); _exit(0); }
    }
    close(p[1]);
    while (wait(0) > 0) {}
    errno = failed;
    return !failed;
}
/* Children that have ended and that nobody waits for: each keeps a number of the host's. */
ATTACK(zombie_bomb) {
    for (int i = 0; i < 400; i++) {
        pid_t child = fork();
        if (child == -1) return 0;
        if (child == 0) _exit(0);
    }
    usleep(500000);
    return 1;
}
/* Whose parent has ended as well keeps no number: as many as one likes, one after the other. */
ATTACK(ended_orphans) {
    int failed = 0;
    for (int i = 0; i < 600 && !failed; i++) {
        pid_t child = fork();
        failed = child == -1;
        if (child == 0) { if (i % 2) usleep(1000); _exit(fork() == -1); }
        int status;
        if (!failed) waitpid(child, &status, 0), failed = status;
    }
    return failed;
}
static int gate[2];
static void *sit(void *unused) { char c; read(gate[0], &c, 1); return unused; }
ATTACK(thread_bomb) {
    pthread_attr_t a;
    int n = 0;
    pipe(gate);
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 65536);
    for (; n < 400; n++) { pthread_t t; if ((errno = pthread_create(&t, &a, sit, 0))) break; }
    return n == 400;
}
ATTACK(daemon) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            close(0), close(1), close(2);
            sleep(12);
        }
        _exit(0);
    }
    wait(0);
    return 1;
}
ATTACK(holds_stdout) { if (fork() == 0) { sleep(12); _exit(0); } return 1; }
ATTACK(stopped_child) { if (fork() == 0) { raise(SIGSTOP); _exit(0); } usleep(100000); return 1; }
ATTACK(ignores_signals) { if (fork() == 0) { for (int s = 1; s < 32; s++) signal(s, SIG_IGN); sleep(12); _exit(0); } return 1; }

static int take(size_t bytes) {
    char *m = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED) return 0;
    for (size_t i = 0; i < bytes; i += 4096) m[i] = 1;
    return 1;
}
/* The test gives 96 MiB; address space beyond it is fine, use is not. */
ATTACK(memory_one) { if (!take(400u << 20)) return 0; sleep(6); return 1; }
ATTACK(memory_many) {
    for (int i = 0; i < 10; i++) if (fork() == 0) { take(40u << 20); sleep(6); _exit(0); }
    sleep(6);
    while (wait(0) > 0) {}
    return 1;
}
ATTACK(memory_file) {
    int fd = memfd_create("m", 0);
    static char block[1 << 20];
    memset(block, 1, sizeof block);
    for (int i = 0; i < 400; i++) if (write(fd, block, sizeof block) < 0) return 0;
    sleep(6);
    return 1;
}
ATTACK(memory_reserved) {
    char *m = mmap(0, 64l << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED) return 1;
    m[0] = 1;
    usleep(300000);
    return 0;
}
ATTACK(memory_shared) {
    char *m = mmap(0, 40 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(m, 1, 40 << 20);
    for (int i = 0; i < 6; i++) if (fork() == 0) { volatile char c = 0; for (int k = 0; k < 40 << 20; k += 4096) c += m[k]; usleep(400000); _exit(0); }
    while (wait(0) > 0) {}
    return 0;
}
ATTACK(file_size) {
    signal(SIGXFSZ, SIG_IGN);
    int fd = open("./big", O_WRONLY | O_CREAT, 0600);
    int worked = pwrite(fd, "x", 1, 1l << 30) == 1;
    int e = errno;
    unlink("./big");
    errno = e;
    return worked;
}
ATTACK(memfd_size) { signal(SIGXFSZ, SIG_IGN); return ftruncate(memfd_create("m", 0), (1l << 30) + 1) == 0; }
ATTACK(disk_fill) {
    char name[32];
    int n = 0;
    for (; n < 3; n++) {
        sprintf(name, "/dev/shm/fill%d", n);
        if (posix_fallocate(open(name, O_WRONLY | O_CREAT, 0600), 0, (1l << 30) - 4096)) break;
    }
    for (int i = 0; i <= n; i++) { sprintf(name, "/dev/shm/fill%d", i); unlink(name); }
    return n == 3;
}
ATTACK(inode_fill) {
    char name[32];
    int n = 0;
    mkdir("i", 0700);
    chdir("i");
    for (; n < 70000; n++) { sprintf(name, "%d", n); if (mknod(name, S_IFREG | 0600, 0)) break; }
    for (int i = 0; i < n; i++) { sprintf(name, "%d", i); unlink(name); }
    chdir("..");
    rmdir("i");
    return n == 70000;
}
ATTACK(open_files) { int n = 0; while (n < 5000 && dup(0) != -1) n++; return n == 5000; }
ATTACK(raise_limits) { struct rlimit l = {RLIM_INFINITY, RLIM_INFINITY}; return setrlimit(RLIMIT_FSIZE, &l) == 0; }
ATTACK(core) { struct rlimit l; getrlimit(RLIMIT_CORE, &l); return l.rlim_max > 1; }
ATTACK(shm_segment) { int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600); if (id != -1) shmctl(id, IPC_RMID, 0); return id != -1; }
CALL(sem_set, SYS_semget, 4711, 1, 0666)
CALL(msg_queue, SYS_msgget, 4711, 0666)
/* By its number, whoever made it. */
ATTACK(segment_of_another) {
    int made = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    void *at = shmat(made == -1 ? 0 : made, 0, 0);
    if (made != -1) shmctl(made, IPC_RMID, 0);
    return at != (void *)-1;
}
static char told[256];
CALL(segments_of_all, SYS_shmctl, 0, 14 /* SHM_INFO */, told)
CALL(queues_of_all, SYS_msgctl, 0, 12 /* MSG_INFO */, told)
CALL(semaphores_of_all, SYS_semctl, 0, 0, 19 /* SEM_INFO */, told)
CALL(semaphores_of_another, SYS_semop, 0, told, 1)
CALL(message_to_another, SYS_msgsnd, 0, told, 1, 04000 /* IPC_NOWAIT */)
CALL(message_of_another, SYS_msgrcv, 0, told, 1, 0, 04000)
CALL(queue_unlinked, SYS_mq_unlink, "no-such-queue")

static void missing(const char *format, int i) {
    char name[128];
    sprintf(name, format, i);
    execl(name, name, (char *)0);
}
ATTACK(exec_flood_same) { for (int i = 0; i < 1500; i++) missing("./none", 0); missing(FORBIDDEN, 0); return 0; }
ATTACK(exec_flood_names) { for (int i = 0; i < 3000; i++) missing("./none%d", i); return 1; }
ATTACK(open_flood_own) {
    char name[32];
    for (int i = 0; i < 1500; i++) { sprintf(name, "./o%d", i); close(open(name, O_CREAT | O_WRONLY, 0600)); unlink(name); }
    return open(param, O_RDONLY) != -1;
}
ATTACK(open_flood_denied) {
    char name[300];
    int fd = open(param, O_RDONLY);
    for (int i = 0; i < 1500; i++) { sprintf(name, "/etc/shadow/../shadow%.*s", i % 200, "////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////"); open(name, O_RDONLY); }
    return fd != -1;
}
ATTACK(socket_flood) { int n = 0; for (int i = 0; i < 3000; i++) n += socket(AF_INET, SOCK_DGRAM, i % 300) != -1; return n > 0; }
ATTACK(ugly_name) { int fd = open("./a\nb\x1b[31m\xff", O_WRONLY | O_CREAT, 0600); return fd != -1; }
ATTACK(ugly_exec) { missing("./no\n\x1b]0;x\a%d", 1); return 0; }
