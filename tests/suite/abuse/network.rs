//! Groups 17 and 18: sockets of every kind.

use super::attack::Named::Denial;
use super::attack::{Attack, Control, Param, c, sh};

pub(crate) fn attacks() -> Vec<Attack> {
    let (able, root) = (Control::IfAble, Control::Root);
    vec![
        c(17, "tcp").tells(Param::Port).named(&[Denial("socket(AF_INET, SOCK_STREAM)")]),
        c(17, "tcp_cloexec_nonblock").named(&[Denial("socket(AF_INET, SOCK_STREAM)")]),
        c(17, "mptcp")
            .tells(Param::Port)
            .named(&[Denial("socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP)")])
            .control(able),
        c(17, "tcp6").named(&[Denial("socket(AF_INET6, SOCK_STREAM)")]).control(able),
        c(17, "udp").named(&[Denial("socket(AF_INET, SOCK_DGRAM)")]),
        c(17, "listen").named(&[Denial("socket(AF_INET, SOCK_STREAM)")]),
        c(17, "high_bits").named(&[Denial("socket(AF_INET, SOCK_STREAM)")]),
        c(17, "netlink").named(&[Denial("socket(AF_NETLINK, SOCK_RAW)")]),
        c(17, "vsock").named(&[Denial("socket(AF_VSOCK, SOCK_STREAM)")]).control(able),
        c(17, "packet").named(&[Denial("socket(AF_PACKET, SOCK_RAW)")]).control(root),
        c(17, "raw").named(&[Denial("socket(AF_INET, SOCK_RAW)")]).control(root),
        c(17, "alg").named(&[Denial("socket(AF_ALG, SOCK_SEQPACKET)")]).control(able),
        c(17, "io_uring").named(&[Denial("io_uring_setup")]).control(able),
        sh(17, "python_http", "python3 -c 'import urllib.request as u\nu.urlopen(\"http://127.0.0.1:@P/\",timeout=2);print(\"ESCAPED\")'")
            .tells(Param::Port)
            .named(&[Denial("socket(AF_INET, SOCK_STREAM)")])
            .control(Control::Skipped("the listener speaks no HTTP")),
        sh(17, "bash_tcp", "bash -c 'exec 3<>/dev/tcp/127.0.0.1/@P && echo ESCAPED'")
            .tells(Param::Port)
            .named(&[Denial("socket(AF_INET, SOCK_STREAM)")]),
        c(18, "unix_path").tells(Param::Socket).bare(&[Denial("socket(AF_UNIX, SOCK_STREAM)")]),
        c(18, "unix_abstract").tells(Param::Abstract).bare(&[Denial("socket(AF_UNIX, SOCK_STREAM)")]),
        c(18, "unix_pair_datagram")
            .bare(&[Denial("socketpair(AF_UNIX, SOCK_DGRAM)")])
            .only(false),
        c(18, "unix_pair_named").bare(&[Denial("bind")]).only(false),
        c(18, "unix_pair_names_itself").bare(&[Denial("setsockopt(the sender)")]).only(false),
        c(18, "unix_pair_names_itself_for_a_pidfd")
            .bare(&[Denial("setsockopt(the sender)")])
            .only(false)
            .control(able),
        c(18, "interfaces").bare(&[Denial("ioctl(0x8910)")]).only(false),
        c(18, "interfaces_by_number")
            .bare(&[Denial("setsockopt(an interface)")])
            .only(false)
            .control(able),
        c(18, "interfaces_by_name")
            .bare(&[Denial("setsockopt(an interface)")])
            .only(false)
            .control(able),
        c(18, "unix_pair").control(Control::Skipped("it is no attack: it must work inside")),
        c(18, "unix_seqpacket").bare(&[Denial("socket(AF_UNIX, SOCK_SEQPACKET)")]).only(false),
    ]
}
