/* Ways to the outside. */
#include "attack.h"
#include <arpa/inet.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/un.h>

static int to_port(int family, int kind, int protocol) {
    int fd = socket(family, kind, protocol);
    if (fd < 0) return 0;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(param))};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect(fd, (void *)&a, sizeof a) == 0;
}
ATTACK(tcp) { return to_port(AF_INET, SOCK_STREAM, 0); }
ATTACK(tcp_cloexec_nonblock) { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) != -1; }
ATTACK(mptcp) { return to_port(AF_INET, SOCK_STREAM, 262); }
ATTACK(tcp6) { return socket(AF_INET6, SOCK_STREAM, 0) != -1; }
ATTACK(udp) {
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(9)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return fd != -1 && sendto(fd, "x", 1, 0, (void *)&a, sizeof a) == 1;
}
ATTACK(high_bits) { return syscall(SYS_socket, AF_INET | 1L << 32, SOCK_STREAM, 0) != -1; }
ATTACK(netlink) { return socket(AF_NETLINK, SOCK_RAW, 0) != -1; }
ATTACK(vsock) { return socket(AF_VSOCK, SOCK_STREAM, 0) != -1; }
ATTACK(packet) { return socket(AF_PACKET, SOCK_RAW, 0) != -1; }
ATTACK(raw) { return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) != -1; }
ATTACK(alg) { return socket(38, SOCK_SEQPACKET, 0) != -1; }
ATTACK(listen) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd != -1 && listen(fd, 1) == 0;
}
ATTACK(io_uring) { char p[120] = {0}; return syscall(SYS_io_uring_setup, 4, p) != -1; }

static int to_unix(int kind, int abstract) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, kind, 0);
    if (fd < 0) return 0;
    strcpy(a.sun_path + abstract, param);
    return connect(fd, (void *)&a, offsetof(struct sockaddr_un, sun_path) + abstract + strlen(param)) == 0;
}
ATTACK(unix_path) { return to_unix(SOCK_STREAM, 0); }
ATTACK(unix_abstract) { return to_unix(SOCK_STREAM, 1); }
ATTACK(unix_seqpacket) { return socket(AF_UNIX, SOCK_SEQPACKET, 0) != -1; }
/* A pair of datagram sockets can be pointed at somebody else's. */
ATTACK(unix_pair_datagram) { int p[2]; return socketpair(AF_UNIX, SOCK_DGRAM, 0, p) == 0; }
/* An end of a pair can be given a name of the host's, which no other program may have then. */
ATTACK(unix_pair_named) {
    int p[2];
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    int length = snprintf(name.sun_path + 1, 40, "gate4k-%d", getpid()) + 1;
    return socketpair(AF_UNIX, SOCK_STREAM, 0, p) == 0
        && bind(p[0], (struct sockaddr *)&name, offsetof(struct sockaddr_un, sun_path) + length) == 0;
}
/* One that is to be told who sends gets a name by sending. */
static int has_name_of_its_own(int option) {
    int pair[2], on = 1;
    struct sockaddr_un name;
    socklen_t length = sizeof name;
    return socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0
        && setsockopt(pair[0], SOL_SOCKET, option, &on, sizeof on) == 0 && send(pair[0], "x", 1, 0) == 1
        && getsockname(pair[0], (struct sockaddr *)&name, &length) == 0
        && length > offsetof(struct sockaddr_un, sun_path);
}
ATTACK(unix_pair_names_itself) { return has_name_of_its_own(SO_PASSCRED); }
ATTACK(unix_pair_names_itself_for_a_pidfd) { return has_name_of_its_own(76 /* SO_PASSPIDFD */); }
/* Any socket tells of the host's interfaces. */
ATTACK(interfaces) {
    int p[2];
    struct ifreq first = { .ifr_ifindex = 1 };
    return socketpair(AF_UNIX, SOCK_STREAM, 0, p) == 0 && ioctl(p[0], SIOCGIFNAME, &first) == 0;
}
ATTACK(interfaces_by_number) {
    int pair[2], number = 1;
    char name[16] = "";
    socklen_t length = sizeof name;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 0;
    if (setsockopt(pair[0], SOL_SOCKET, 62 /* SO_BINDTOIFINDEX */, &number, sizeof number)) return 0;
    return getsockopt(pair[0], SOL_SOCKET, 25 /* SO_BINDTODEVICE */, name, &length) == 0 && *name;
}
ATTACK(interfaces_by_name) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 0;
    return setsockopt(pair[0], SOL_SOCKET, 25 /* SO_BINDTODEVICE */, "lo", 3) == 0;
}
/* A connected pair cannot, and run-times need it. */
ATTACK(unix_pair) {
    int p[2];
    return !(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, p) == 0);
}
