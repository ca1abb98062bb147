/* What every attack has: its name, and a parameter that the test writes into the file. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct attack {
    const char *name;
    int (*run)(void); /* 1: it worked; 0: it did not */
};
#define ATTACK(n)                                                                                  \
    static int attack_##n(void);                                                                   \
    static const struct attack entry_##n                                                           \
        __attribute__((used, section("attacks"), aligned(8))) = {#n, attack_##n};                  \
    static int attack_##n(void)
/* An attack that is one system call. */
#define CALL(n, ...)                                                                               \
    ATTACK(n) { return syscall(__VA_ARGS__) != -1; }

extern const char *param;
extern const char *self;
/* Runs it in a child whose output is read; 1 if the output holds the word. */
int output_of(int (*run)(void), const char *word);
/* Starts a forbidden program; only returns if that failed. */
int forbidden(const char *path);
#define FORBIDDEN "/usr/bin/sed"
#define FORBIDDEN_WORD "GNU sed"
