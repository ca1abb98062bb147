//! The C program with all attacks, compiled once; each attack is a copy with its name written into it.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use super::attack::{Attack, How};
use super::world::World;

/// The entries that carry out the attacks.
pub(crate) struct Program {
    bytes: Vec<u8>,
}

impl Program {
    /// Compiles it, or takes what the test that started this one has compiled.
    pub(crate) fn get() -> &'static Program {
        static PROGRAM: OnceLock<Program> = OnceLock::new();
        PROGRAM.get_or_init(Program::make)
    }

    fn make() -> Program {
        if let Some(path) = std::env::var_os("GATE4K_ABUSE_PROGRAM") {
            return Program { bytes: std::fs::read(path).unwrap() };
        }
        let source = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/abuse/c"));
        let files = [
            "main",
            "engine",
            "programs",
            "network",
            "privileges",
            "processes",
            "files",
            "unseen",
            "channels",
            "kernel",
        ];
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

    /// An engine that carries out an attack at its start and is sound otherwise.
    pub(crate) fn engine(&self, attack: &Attack, world: &World) -> Vec<u8> {
        self.engine_told(attack, &world.tell(attack.param))
    }

    /// The same, told this.
    pub(crate) fn engine_told(&self, attack: &Attack, param: &str) -> Vec<u8> {
        let mut bytes = self.told(attack, param);
        match attack.how {
            How::C => write(&mut bytes, b"@@AFTER@@", "play"),
            How::Sh(_) => {
                // The stub of a fixture: four lines, and a packed source behind them.
                let stub = include_bytes!("../../../fixtures/entries/accept/c-xz/engine");
                let payload = stub.splitn(5, |byte| *byte == b'\n').nth(4).unwrap();
                let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 4;
                bytes.extend(
                    format!(
                        "T=`mktemp`\ntail -n+{lines} \"$0\"|xz -d|cc -o$T -xc -\n(sleep 1;rm $T)&exec $T\n"
                    )
                    .into_bytes(),
                );
                bytes.extend_from_slice(payload);
            }
        }
        bytes
    }

    /// The entry that carries out an attack in this world.
    pub(crate) fn entry(&self, attack: &Attack, world: &World) -> Vec<u8> {
        self.told(attack, &world.tell(attack.param))
    }

    /// The entry that carries out an attack, told this.
    pub(crate) fn told(&self, attack: &Attack, param: &str) -> Vec<u8> {
        match attack.how {
            How::Sh(script) => format!("#!/bin/sh\n{}\n", script.replace("@P", param)).into_bytes(),
            How::C => {
                let mut bytes = self.bytes.clone();
                write(&mut bytes, b"@@WHICH@@", attack.name);
                write(&mut bytes, b"@@PARAM@@", param);
                bytes
            }
        }
    }
}

fn write(bytes: &mut [u8], mark: &[u8], text: &str) {
    let at = memchr::memmem::find(bytes, mark).unwrap();
    let mut value = text.as_bytes().to_vec();
    value.push(0);
    bytes[at..at + value.len()].copy_from_slice(&value);
}
