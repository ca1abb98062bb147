#include "attack.h"

static volatile char which[64] = "@@WHICH@@";
static volatile char given[256] = "@@PARAM@@";
static volatile char after[16] = "@@AFTER@@";
const char *param, *self;
int engine(void);

extern const struct attack __start_attacks[], __stop_attacks[];

int output_of(int (*run)(void), const char *word) {
    int p[2];
    char buffer[4096];
    size_t n = 0;
    ssize_t got;
    if (pipe(p)) return 0;
    pid_t child = fork();
    if (child == 0) {
        dup2(p[1], 1);
        dup2(p[1], 2);
        close(p[0]);
        close(p[1]);
        run();
        _exit(99);
    }
    close(p[1]);
    while (n < sizeof buffer - 1 && (got = read(p[0], buffer + n, sizeof buffer - 1 - n)) > 0) n += got;
    buffer[n] = 0;
    close(p[0]);
    waitpid(child, 0, 0);
    return strstr(buffer, word) != 0;
}

int forbidden(const char *path) {
    execl(path, "x", "--version", (char *)0);
    return 0;
}

int main(int argc, char **argv) {
    param = (const char *)given;
    self = argv[0];
    if (argc > 1) { /* started again by itself */
        puts("AGAIN");
        return 0;
    }
    for (const struct attack *a = __start_attacks; a < __stop_attacks; a++)
        if (!strcmp(a->name, (const char *)which)) {
            errno = 0;
            int worked = a->run();
            int e = errno;
            printf("%s %s (%s)\n", worked ? "ESCAPED" : "HELD", a->name, strerror(e));
            fflush(stdout);
            return strcmp("play", (const char *)after) ? 0 : engine();
        }
    printf("no attack %s\n", (const char *)which);
    return 2;
}
