/* Other people's files. The parameter is a file, or a directory, that the test made outside. */
#include "attack.h"
#include <sys/time.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <utime.h>

static char path[512];
static const char *in(const char *name) { snprintf(path, sizeof path, "%s/%s", param, name); return path; }
static int read_it(int fd) { char c; return fd != -1 && read(fd, &c, 1) == 1; }
ATTACK(read) { return read_it(open(param, O_RDONLY)); }
ATTACK(read_opath) {
    char again[64];
    sprintf(again, "/proc/self/fd/%d", open(param, O_PATH));
    return read_it(open(again, O_RDONLY));
}
ATTACK(read_openat2) { long how[3] = {O_RDONLY, 0, 0}; return read_it(syscall(437, AT_FDCWD, param, how, 24)); }
ATTACK(read_symlink) { unlink("./l"); symlink(param, "./l"); int fd = open("./l", O_RDONLY); unlink("./l"); return read_it(fd); }
ATTACK(read_dotdot) { char p[600]; snprintf(p, sizeof p, "/usr/../%s", param); return read_it(open(p, O_RDONLY)); }
ATTACK(read_map) { int fd = open(param, O_RDONLY); return fd != -1 && mmap(0, 1, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED; }
ATTACK(write) { return open(in("file"), O_WRONLY) != -1; }
ATTACK(touch_device) { return utimensat(AT_FDCWD, "/dev/null", 0, 0) == 0; }
ATTACK(touch_device_by_descriptor) { return futimens(open("/dev/zero", O_WRONLY), 0) == 0; }
ATTACK(create) { return open(in("new"), O_WRONLY | O_CREAT, 0600) != -1; }
ATTACK(truncate) { return truncate(in("file"), 0) == 0; }
ATTACK(unlink) { return unlink(in("gone")) == 0; }
ATTACK(rename_over) { close(open("./r", O_CREAT | O_WRONLY, 0600)); int r = rename("./r", in("file")); unlink("./r"); return r == 0; }
ATTACK(mkdir) { return mkdir(in("dir"), 0700) == 0; }
ATTACK(symlink) { return symlink("/x", in("link")) == 0; }
ATTACK(mkfifo) { return mkfifo(in("fifo"), 0600) == 0; }
ATTACK(link_out) { close(open("./r", O_CREAT | O_WRONLY, 0600)); int r = link("./r", in("hard")); unlink("./r"); return r == 0; }
ATTACK(chmod) { return chmod(in("file"), 0640) == 0; }
ATTACK(fchmodat) { int d = open(param, O_PATH | O_DIRECTORY); return fchmodat(d, "file", 0640, 0) == 0; }
ATTACK(chmod_symlink) { unlink("./l"); symlink(in("file"), "./l"); int r = chmod("./l", 0640); unlink("./l"); return r == 0; }
ATTACK(utime) { return utime(in("file"), 0) == 0; }
ATTACK(utimensat_link) { struct timespec t[2] = {{1, 0}, {1, 0}}; return utimensat(AT_FDCWD, in("file"), t, AT_SYMLINK_NOFOLLOW) == 0; }
ATTACK(chown) { return chown(in("file"), -1, getgid()) == 0; }
ATTACK(setxattr) { return setxattr(in("file"), "user.x", "x", 1, 0) == 0; }
ATTACK(bind_unix) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(a.sun_path, in("socket"));
    return fd != -1 && bind(fd, (void *)&a, sizeof a) == 0;
}
ATTACK(system_file) { return open("/etc/hostname", O_WRONLY) != -1; }
ATTACK(system_dir) { return open("/usr/lib/gate4k-was-here", O_WRONLY | O_CREAT, 0600) != -1; }
ATTACK(proc_sys) { return open("/proc/sys/kernel/hostname", O_WRONLY) != -1; }
ATTACK(sysrq) { return open("/proc/sysrq-trigger", O_WRONLY) != -1; }
ATTACK(disk) { return open("/dev/vda", O_RDONLY) != -1; }
ATTACK(kmsg) { return open("/dev/kmsg", O_RDONLY) != -1; }
ATTACK(mknod_device) { return mknod("./mem", S_IFCHR | 0600, 1 << 8 | 1) == 0; }
/* The mode, the owner and the times of one's own files are one's own business. */
ATTACK(own_modes) {
    struct stat s;
    int fd = open("./own", O_RDWR | O_CREAT, 0600);
    int good = fchmod(fd, 0755) == 0 && fstat(fd, &s) == 0 && (s.st_mode & 0777) == 0755 &&
        chmod("./own", 0700) == 0 && stat("./own", &s) == 0 && (s.st_mode & 0777) == 0700 && futimens(fd, 0) == 0 &&
        utimes("./own", 0) == 0 && chmod("./none", 0700) == -1 && errno == ENOENT;
    unlink("./own");
    return !good;
}
ATTACK(deep_tree) { for (int i = 0; i < 1500; i++) if (mkdir("d", 0700) || chdir("d")) return 0; return 1; }
ATTACK(closed_directory) { mkdir("c", 0700); close(open("c/f", O_CREAT | O_WRONLY, 0600)); return chmod("c", 0) == 0; }
/* An attribute of a directory that was there before is no file that remains. */
ATTACK(left_attribute) {
    static const char name[] = "user.learned", book[] = "e2e4 e7e5";
    return setxattr(getenv("HOME"), name, book, 9, 0) == 0 || lsetxattr(".", name, book, 9, 0) == 0 ||
        fsetxattr(open(".", O_RDONLY), name, book, 9, 0) == 0;
}
ATTACK(left_attribute_at) {
    struct { unsigned long value; unsigned size, flags; } book = {(unsigned long)"e2e4", 4, 0};
    return syscall(463, AT_FDCWD, ".", 0, "user.learned", &book, sizeof book) == 0;
}
ATTACK(left_fifo) { return mkfifo("./pipe", 0600) == 0; }
