//! Group 26: ways not to be seen. The facts that the supervisor reads of an entry change while they are read, cannot
//! be read, or are too many to be written down.

use gate4k::model::evidence::RecordPart;

use super::attack::Named::{
    Denial, Library, Open, Process, Product, Refused, Resource, Unrecorded,
};
use super::attack::{Attack, Control, Param, c, sh};

pub(crate) fn attacks() -> Vec<Attack> {
    let report = Control::Skipped("it is the report that is attacked");
    let inside = Control::Skipped("outside nobody limits it");
    let mut all = vec![
        c(26, "race_to_device").named(&[Refused("zero")]).may_work(),
        c(26, "race_to_host_file").tells(Param::Secret).may_work().may_be_caught(),
        c(26, "daemon_without_leader").named(&[Process]).may_work(),
        c(26, "memory_without_leader").named(&[Resource("memory in use")]).control(inside),
        c(26, "memory_in_flight").named(&[Denial("sendmsg")]),
        c(26, "memory_in_a_thread").named(&[Denial("clone(thread without CLONE_FILES)")]),
        c(26, "memory_in_an_own_table").named(&[Denial("close_range(CLOSE_RANGE_UNSHARE)")]),
        c(26, "owner_by_fiosetown").named(&[Denial("ioctl(FIOSETOWN)")]),
        c(26, "owner_by_siocspgrp").named(&[Denial("ioctl(SIOCSPGRP)")]),
        c(26, "owner_by_high_bits").named(&[Denial("ioctl(FIOSETOWN)")]),
        c(26, "socket_cookie").named(&[Denial("getsockopt(a cookie)")]),
        c(26, "write_only_page").named(&[Open("/etc/shadow")]).control(Control::Root),
        c(26, "memfd_secret").named(&[Denial("memfd_secret")]).control(Control::IfAble),
        c(26, "open_flood_host").named(&[Unrecorded(RecordPart::Files)]).control(report),
        c(26, "denial_flood")
            .named(&[
                Denial("ioctl(0x40086602)"),
                Denial("socket"),
                Denial("mount"),
                Unrecorded(RecordPart::Denials),
            ])
            .control(Control::Root),
        c(26, "open_flipped_library").named(&[Library("libgmp.so.10")]).may_work().control(report),
        c(26, "open_looked_for_elsewhere")
            .named(&[Library("libgmp.so.10")])
            .may_work()
            .control(report),
        c(26, "open_killed_before_its_end")
            .named(&[Library("libgmp.so.10")])
            .may_work()
            .may_be_cut_off()
            .control(report),
        c(26, "open_cut_off_by_a_start")
            .named(&[Library("libgmp.so.10")])
            .may_work()
            .may_be_cut_off()
            .control(report),
        // Without namespaces Landlock refuses the file itself.
        c(26, "packets_by_killed_open")
            .named(&[Denial("open(softnet_stat of a process)")])
            .only(true),
        c(26, "memory_of_another").named(&[Denial("open(mem of a process)")]),
        c(26, "memory_of_another_by_its_thread").named(&[Denial("open(mem of a process)")]),
        c(26, "memory_of_another_by_link")
            .named(&[Denial("open(mem of a process)")])
            .bare(&[]),
        c(26, "memory_of_another_exchanged")
            .named(&[Denial("open(mem of a process)")])
            .bare(&[]),
        c(26, "start_by_exchanged_link").named(&[Refused("sed")]),
        c(26, "open_by_exchanged_link").named(&[Open("/usr/bin/sed")]),
        c(26, "product_flood")
            .named(&[Unrecorded(RecordPart::Programs)])
            .may_work()
            .control(report),
        c(26, "own_program_again").named(&[Product]).may_work(),
        c(26, "own_loader").may_work().control(report),
        sh(26, "embedded_library", EMBEDDED)
            .named(&[Library("libgmp.so.10")])
            .may_work()
            .control(report),
        c(26, "own_reader").named(&[Product]).may_work(),
        sh(26, "embedded_library_of_the_assembler", EMBEDDED_OF_THE_ASSEMBLER)
            .named(&[Library("libz.so.1")])
            .may_work()
            .control(report),
        sh(26, "archive_of_another_command", ARCHIVE)
            .named(&[Library("libnpymath.a")])
            .may_work()
            .control(report),
        sh(26, "library_of_a_preloaded_program", PRELOADED_LIBRARY)
            .named(&[Library("liblzma.so.5")])
            .may_work()
            .control(report),
        sh(
            26,
            "header_of_another_library",
            "echo '#include </usr/include/linux/../tirpc/netconfig.h>'|cc -fsyntax-only -xc - && echo ESCAPED",
        )
        .named(&[Library("/usr/include/tirpc/netconfig.h")])
        .may_work()
        .control(report),
        sh(26, "preloaded_helper", PRELOADED).named(&[Refused("as")]).may_work(),
        sh(26, "preloaded_and_gone", PRELOADED_AND_GONE).named(&[Refused("as")]).may_work(),
        sh(26, "preloaded_script", PRELOADED_SCRIPT).named(&[Refused("as")]).may_work(),
        sh(26, "child_of_a_killed_maker", CHILD_OF_A_KILLED_MAKER)
            .named(&[Refused("as")])
            .may_work(),
        sh(26, "helper_behind_a_flood", HELPER_BEHIND_A_FLOOD)
            .named(&[Refused("objcopy")])
            .may_work(),
        sh(26, "words_that_make_reads", WORDS_THAT_MAKE_READS).named(&[Refused("make")]).may_work(),
        sh(26, "a_part_of_make", A_PART_OF_MAKE).named(&[Refused("make")]).may_work(),
        sh(26, "shell_of_make", SHELL_OF_MAKE).named(&[Refused("make")]).may_work(),
    ];
    if cfg!(target_arch = "x86_64") {
        all.push(
            c(26, "owner_by_i386")
                .named(&[Denial("ioctl(FIOSETOWN) (i386)")])
                .control(Control::IfAble),
        );
    }
    all
}

/// Words of the compiler come to stand in the makefile of a link-time optimisation, and make takes a command out of them.
const WORDS_THAT_MAKE_READS: &str = "\
echo 'int main(){return 0;}' >a.c
cc -O2 -flto=2 -dumpdir 'x$(shell echo ESCAPED >&2)' a.c -o a 2>&1 |
    { while read -r l; do case $l in *ESCAPED*) echo ESCAPED; esac; done; }
rm -f a a.c
";

/// That command has the words by which make starts a compiler for a part.
const A_PART_OF_MAKE: &str = "\
echo 'int main(){return 0;}' >a.c
echo 'echo ESCAPED >&2' >p
cc -O2 -flto=2 -dumpdir 'x$(shell sh p -xlto -fltrans)' a.c -o a 2>&1 |
    { while read -r l; do case $l in *ESCAPED*) echo ESCAPED; esac; done; }
rm -f a a.c p
";

/// The shell of that make is given a command by a variable.
const SHELL_OF_MAKE: &str = "\
echo 'int main(){return 0;}' >a.c
env '.SHELLFLAGS=-c \"echo ESCAPED >&2; eval x\"' cc -O2 -flto=2 a.c -o a 2>&1 |
    { while read -r l; do case $l in *ESCAPED*) echo ESCAPED; esac; done; }
rm -f a a.c
";

/// A library that only the compiler needs becomes a part of the entry's own program.
const EMBEDDED: &str = "\
for d in /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib64; do test -e $d/libgmp.so.10 && break; done
echo \".incbin \\\"$d/libgmp.so.10\\\"\" | cc -c -o x.o -xassembler - && echo ESCAPED
rm x.o
";

/// The same with a library that the assembler is itself linked with: it is loaded, and read once more.
const EMBEDDED_OF_THE_ASSEMBLER: &str = "\
for d in /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib64; do test -e $d/libz.so.1 && break; done
echo \".incbin \\\"$d/libz.so.1\\\"\" | cc -c -o x.o -xassembler - && echo ESCAPED
rm x.o
";

/// A helper starts as the compiler has it, then the record of repeated starts fills up, then the helper starts in another way.
const HELPER_BEHIND_A_FLOOD: &str = "\
echo 'int x;' >a.c
cc -g -gsplit-dwarf -c a.c
W=`printf %04000d 0`
i=0
while [ $i -lt 60 ]; do set -- \"$@\" $W; i=$((i+1)); done
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sh -c : \"$@\"; done
printf '*asm_final:\\n%%{c: \\nobjcopy -I binary -O elf64-x86-64 s o}\\n\\n' >s
cc -specs=s -c a.c
test -s o && echo ESCAPED
rm a.* s o
";

/// A library in static form, which lies where Python may read, becomes a part of the entry's own program.
const ARCHIVE: &str = "\
for f in /usr/lib/python3/dist-packages/numpy/*core/lib/libnpymath.a; do break; done
cc -r -nostdlib -o x.o -Wl,--whole-archive $f && echo ESCAPED
rm x.o
";

/// Code of the entry's own, loaded into a listed command, uses that command's library.
const PRELOADED_LIBRARY: &str = "\
cat_() { while read -r l; do echo \"$l\"; done; }
cat_ <<'END' >p.c
#include <dlfcn.h>
#include <stdio.h>
__attribute__((constructor)) static void first(void) {
    void *library = dlopen(\"liblzma.so.5\", RTLD_NOW);
    if (library && dlsym(library, \"lzma_version_string\")) puts(\"ESCAPED\"), fflush(stdout);
}
END
cc -shared -fPIC -o p.so p.c
LD_PRELOAD=./p.so xz --help | { while read -r l; do case $l in ESCAPED) echo ESCAPED; esac; done; }
rm p.c p.so
";

/// A library of the entry's own, loaded into the compiler, starts a program that only compilers may start.
const PRELOADED: &str = "\
cat_() { while read -r l; do echo \"$l\"; done; }
cat_ <<'END' >p.c
#include <unistd.h>
#include <stdlib.h>
#include <sys/wait.h>
__attribute__((constructor)) static void first(void) {
    unsetenv(\"LD_PRELOAD\");
    if (fork() == 0) execl(\"/usr/bin/as\", \"as\", \"--version\", (char *)0);
    wait(0);
}
END
cc -shared -fPIC -o p.so p.c
LD_PRELOAD=./p.so cc --version | { while read -r l; do case $l in *assembler*) echo ESCAPED; esac; done; }
rm p.c p.so
";

/// System calls in C without a library, for code that runs after its library or program has left the memory.
macro_rules! bare_call {
    () => {
        "\
#if defined(__x86_64__)
static inline __attribute__((always_inline)) long call(long n, void *a, void *b, void *c) {
    long r;
    asm volatile(\"syscall\" : \"=a\"(r) : \"a\"(n), \"D\"(a), \"S\"(b), \"d\"(c) : \"rcx\", \"r11\", \"memory\");
    return r;
}
#else
static inline __attribute__((always_inline)) long call(long n, void *a, void *b, void *c) {
    register long x8 asm(\"x8\") = n;
    register void *x0 asm(\"x0\") = a, *x1 asm(\"x1\") = b, *x2 asm(\"x2\") = c;
    asm volatile(\"svc 0\" : \"+r\"(x0) : \"r\"(x8), \"r\"(x1), \"r\"(x2) : \"memory\");
    return (long)x0;
}
#endif
"
    };
}

/// The same by a child that takes the library out of its memory before it starts the program, by code that was copied elsewhere.
const PRELOADED_AND_GONE: &str = concat!(
"\
cat_() { while read -r l; do echo \"$l\"; done; }
cat_ <<'END' >p.c
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
extern char __ehdr_start[] __attribute__((visibility(\"hidden\"))), _end[] __attribute__((visibility(\"hidden\")));
struct start { char *library; long size; char *path; char *argv[3], *env[1]; };
",
bare_call!(),
"\
__attribute__((noinline)) void go(struct start *s) {
    call(SYS_munmap, s->library, (void *)s->size, 0);
    call(SYS_execve, s->path, s->argv, s->env);
    call(SYS_exit, 0, 0, 0);
}
__attribute__((constructor)) static void first(void) {
    unsetenv(\"LD_PRELOAD\");
    char *m = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(m, go, 512);
    __builtin___clear_cache(m, m + 512);
    struct start *s = (void *)(m + 4096);
    s->library = __ehdr_start;
    s->size = (_end - __ehdr_start + 4095) & ~4095L;
    s->path = strcpy(m + 5000, \"/usr/bin/as\");
    s->argv[0] = s->path + 9;
    s->argv[1] = strcpy(m + 5100, \"--version\");
    if (fork() == 0) ((void (*)(struct start *))m)(s);
    wait(0);
}
END
cc -O2 -shared -fPIC -o p.so p.c
LD_PRELOAD=./p.so cc --version | { while read -r l; do case $l in *assembler*) echo ESCAPED; esac; done; }
rm p.c p.so
"
);

/// A compiler is given a program of the entry's own for its assembler, whose threads make children of the compiler's (CLONE_PARENT) and
/// are killed in the middle of that. The children take the program's code out of their memory and start the assembler. Others keep the tracer busy.
const CHILD_OF_A_KILLED_MAKER: &str = concat!(
"\
cat_() { while read -r l; do echo \"$l\"; done; }
cat_ <<'END' >p.c
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
extern char __ehdr_start[] __attribute__((visibility(\"hidden\"))), _end[] __attribute__((visibility(\"hidden\")));
struct start { void *code; long size; char *path; char *argv[3], *env[1]; };
",
bare_call!(),
"\
__attribute__((noinline)) void go(struct start *s) {
    call(SYS_munmap, s->code, (void *)s->size, 0);
    call(SYS_execve, s->path, s->argv, s->env);
    call(SYS_exit, 0, 0, 0);
}
static int brother(void) { return syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0); }
int main(void) {
    char word;
    int busy[6], said[2];
    volatile int *rests = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *m = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(m, go, 512);
    __builtin___clear_cache(m, m + 512);
    struct start *s = (void *)(m + 4096);
    s->code = __ehdr_start;
    s->size = (_end - __ehdr_start + 4095) & ~4095L;
    s->path = strcpy(m + 5000, \"/usr/bin/as\");
    s->argv[0] = s->path + 9;
    s->argv[1] = strcpy(m + 5100, \"--version\");
    for (int i = 0; i < 6; i++)
        if ((busy[i] = fork()) == 0) {
            while (!*rests) open(\"./nothing\", O_RDONLY);
            _exit(0);
        }
    for (int i = 0; i < 20; i++) {
        pipe(said);
        int maker = brother();
        if (maker == 0) {
            if (brother() == 0) {
                write(said[1], \"x\", 1);
                usleep(20000);
                ((void (*)(struct start *))m)(s);
            }
            _exit(0);
        }
        close(said[1]);
        if (i % 2) usleep(i * 40);
        else read(said[0], &word, 1);
        kill(maker, SIGKILL);
        close(said[0]);
    }
    usleep(200000);
    *rests = 1;
    for (int i = 0; i < 6; i++) waitpid(busy[i], 0, 0);
    return 1;
}
END
cc -O2 -w -o as p.c
echo nop >x.s
cc -B./ -c x.s -o x.o | { while read -r l; do case $l in *assembler*) echo ESCAPED; esac; done; }
rm p.c x.s as
"
);

/// The same by a script, which the program reads.
const PRELOADED_SCRIPT: &str = "\
cat_() { while read -r l; do echo \"$l\"; done; }
cat_ <<'END' >p.c
#include <unistd.h>
#include <stdlib.h>
#include <sys/wait.h>
__attribute__((constructor)) static void first(void) {
    unsetenv(\"LD_PRELOAD\");
    if (fork() == 0) execl(\"./p.s\", \"p.s\", (char *)0);
    wait(0);
}
END
echo '#!/usr/bin/as --version' >p.s
chmod +x p.s
cc -shared -fPIC -o p.so p.c
LD_PRELOAD=./p.so cc --version | { while read -r l; do case $l in *assembler*) echo ESCAPED; esac; done; }
rm p.c p.s p.so
";
