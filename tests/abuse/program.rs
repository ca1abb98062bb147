//! The C program with all attacks, compiled once; each attack is a copy with its name written into it.

use std::path::PathBuf;
use std::process::Command;

use crate::attack::{Attack, How};
use crate::world::World;

/// The entries that carry out the attacks.
pub(crate) struct Program {
    bytes: Vec<u8>,
}

impl Program {
    /// Compiles it, or takes what the test that started this one has compiled.
    pub(crate) fn get() -> Program {
        if let Some(path) = std::env::var_os("GATE4K_ABUSE_PROGRAM") {
            return Program { bytes: std::fs::read(path).unwrap() };
        }
        let source = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/abuse/c"));
        let files = ["main", "programs", "network", "privileges", "processes", "files"];
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("attacks");
        let status = Command::new("cc")
            .args(["-O1", "-w", "-pthread", "-o"])
            .arg(&out)
            .args(files.map(|name| source.join(format!("{name}.c"))))
            .status()
            .unwrap();
        assert!(status.success(), "the attacks do not compile");
        Program { bytes: std::fs::read(out).unwrap() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The entry that carries out an attack in this world.
    pub(crate) fn entry(&self, attack: &Attack, world: &World) -> Vec<u8> {
        let param = world.tell(attack.param);
        match attack.how {
            How::Sh(script) => {
                format!("#!/bin/sh\n{}\n", script.replace("@P", &param)).into_bytes()
            }
            How::C => {
                let mut bytes = self.bytes.clone();
                write(&mut bytes, b"@@WHICH@@", attack.name);
                write(&mut bytes, b"@@PARAM@@", &param);
                bytes
            }
        }
    }
}

fn write(bytes: &mut [u8], mark: &[u8], text: &str) {
    let at = bytes.windows(mark.len()).position(|window| window == mark).unwrap();
    let mut value = text.as_bytes().to_vec();
    value.push(0);
    bytes[at..at + value.len()].copy_from_slice(&value);
}
