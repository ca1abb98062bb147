//! Group 25: attacks on the report itself.

use gate4k::model::evidence::RecordPart;

use super::attack::Named::{Denial, Left, Open, Refused, Unrecorded};
use super::attack::{Attack, Control, Param, c};

pub(crate) fn attacks() -> Vec<Attack> {
    let report = Control::Skipped("it is the report that is attacked");
    vec![
        c(25, "exec_flood_same").named(&[Refused("sed")]).control(report),
        c(25, "exec_flood_names")
            .named(&[Denial("different programs"), Unrecorded(RecordPart::Programs)])
            .control(report),
        c(25, "open_flood_own").tells(Param::Secret).bare(&[Open("")]).control(report),
        c(25, "open_flood_denied").tells(Param::Secret).bare(&[Open("")]).control(report),
        c(25, "socket_flood").named(&[Denial("socket(AF_INET, SOCK_DGRAM")]),
        c(25, "ugly_exec").control(report),
        c(25, "exec_fifo").control(report),
        c(25, "not_dumpable").named(&[Denial("prctl(PR_SET_DUMPABLE, 0)")]),
        // A supervisor that is root can look at it all the same, and lists it; another one ends it.
        c(25, "mode_0111").named(&[Left("/x")]).may_work(),
    ]
}
