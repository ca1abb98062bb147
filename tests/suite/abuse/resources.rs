//! Group 22: memory, disk, files.

use super::attack::Named::{Denial, Resource};
use super::attack::{Attack, Control, c};

pub(crate) fn attacks() -> Vec<Attack> {
    const USED: &[super::attack::Named] = &[Resource("memory in use")];
    let inside = Control::Skipped("outside it would fill the machine");
    vec![
        c(22, "memory_one").named(USED),
        c(22, "memory_many").named(USED),
        c(22, "memory_file").named(USED),
        c(22, "memory_reserved").control(Control::Skipped("it is no attack: it must work inside")),
        c(22, "memory_shared").control(Control::Skipped("it is no attack: it must work inside")),
        c(22, "file_size"),
        c(22, "memfd_size"),
        c(22, "disk_fill").control(inside).only(true),
        c(22, "inode_fill").control(inside).only(true),
        c(22, "open_files").control(Control::Root),
        c(22, "raise_limits"),
        c(22, "core").control(Control::IfAble),
        c(22, "shm_segment").named(&[Denial("shmget")]),
        c(22, "sem_set").named(&[Denial("semget")]).control(inside),
        c(22, "msg_queue").named(&[Denial("msgget")]).control(inside),
        c(22, "segment_of_another").named(&[Denial("shmget"), Denial("shmat")]),
        c(22, "segments_of_all").named(&[Denial("shmctl")]),
        c(22, "queues_of_all").named(&[Denial("msgctl")]),
        c(22, "semaphores_of_all").named(&[Denial("semctl")]),
        c(22, "semaphores_of_another").named(&[Denial("semop")]).control(inside),
        c(22, "message_to_another").named(&[Denial("msgsnd")]).control(inside),
        c(22, "message_of_another").named(&[Denial("msgrcv")]).control(inside),
        c(22, "queue_unlinked").named(&[Denial("mq_unlink")]).control(inside),
    ]
}
