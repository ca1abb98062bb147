//! Group 24: what is left behind, wherever it lies and whatever it is called.

use super::attack::Named::{Denial, Left};
use super::attack::{Attack, Control, c, sh};

pub(crate) fn attacks() -> Vec<Attack> {
    vec![
        sh(24, "in_tmp", ": >${TMPDIR:-/tmp}/.left;echo ESCAPED")
            .named(&[Left("/.left")])
            .may_work(),
        sh(24, "in_home", "HOME=${HOME:-/tmp};: >$HOME/.left;echo ESCAPED")
            .named(&[Left("/.left")])
            .may_work(),
        sh(24, "in_cwd", ": >left;echo ESCAPED").named(&[Left("/left")]).may_work(),
        sh(24, "in_shm", ": >/dev/shm/gate4k-left && echo ESCAPED;rm -f /dev/shm/gate4k-gone")
            .named(&[Left("/dev/shm/gate4k-left")])
            .may_work()
            .only(true),
        sh(24, "in_var_tmp", ": >/var/tmp/gate4k-left && echo ESCAPED")
            .named(&[Left("/var/tmp/gate4k-left")])
            .may_work()
            .only(true),
        sh(24, "hidden_directory", "mktemp -d ./...XXXX >/dev/null;echo ESCAPED")
            .named(&[Left("")])
            .may_work(),
        sh(24, "blank_name", ": >'  ';echo ESCAPED").named(&[Left("/  ")]).may_work(),
        c(24, "left_fifo").named(&[Left("/pipe")]).may_work(),
        c(24, "deep_tree").named(&[Left("/d")]).may_work(),
        c(24, "closed_directory").named(&[Left("/c")]).may_work(),
        c(24, "left_attribute").control(Control::IfAble),
        c(24, "left_attribute_at").bare(&[Denial("setxattrat")]).control(Control::IfAble),
        c(24, "ugly_name").named(&[Left("/a\\nb\\u{1b}[31m\\xff")]).may_work(),
    ]
}
