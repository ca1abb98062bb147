//! The things outside that must not be reached: a secret, a directory of victims, servers, a process.

use std::io;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::attack::Param;

/// The user that owns nothing.
pub(crate) const NOBODY: u32 = 65534;

pub(crate) struct World {
    dir: TempDir,
    tcp: TcpListener,
    _unix: UnixListener,
    _abstract: UnixListener,
    name: String,
    /// Somebody's process: the supervisor's own, or one made for the purpose.
    process: u32,
    sleeper: Option<Child>,
}

const VICTIMS: [&str; 2] = ["file", "gone"];

impl World {
    /// A world of this user's. `process` is whom attacks on processes are to reach.
    pub(crate) fn new(owner: Option<u32>, process: Option<u32>) -> World {
        let dir = tempfile::Builder::new().prefix("world-").tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let open = |path: &PathBuf, mode| {
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
            if let Some(owner) = owner {
                chown(path, Some(owner), Some(owner)).unwrap();
            }
        };
        open(&dir.path().to_owned(), 0o755);
        std::fs::write(at("secret"), "secret\n").unwrap();
        open(&at("secret"), 0o644);
        std::fs::create_dir(at("victim")).unwrap();
        for name in VICTIMS {
            std::fs::write(at("victim").join(name), "unharmed").unwrap();
            open(&at("victim").join(name), 0o666);
        }
        open(&at("victim"), 0o777);
        let unix = UnixListener::bind(at("socket")).unwrap();
        open(&at("socket"), 0o777);
        let name = format!("{}.abstract", dir.path().file_name().unwrap().to_string_lossy());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let sleeper = process.is_none().then(|| {
            let mut command = Command::new("sleep");
            command.arg("60").stdin(Stdio::null());
            if let Some(owner) = owner {
                std::os::unix::process::CommandExt::uid(&mut command, owner);
                std::os::unix::process::CommandExt::gid(&mut command, owner);
            }
            command.spawn().unwrap()
        });
        World {
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            _unix: unix,
            _abstract: UnixListener::bind_addr(&address).unwrap(),
            name,
            process: process.or(sleeper.as_ref().map(Child::id)).unwrap(),
            sleeper,
            dir,
        }
    }

    pub(crate) fn tell(&self, param: Param) -> String {
        let path = |name: &str| self.dir.path().join(name).to_string_lossy().into_owned();
        match param {
            Param::Nothing => "nothing".into(),
            Param::Secret => path("secret"),
            Param::Victim => path("victim"),
            Param::Port => self.tcp.local_addr().unwrap().port().to_string(),
            Param::Socket => path("socket"),
            Param::Abstract => self.name.clone(),
            Param::Process => self.process.to_string(),
        }
    }

    /// The change that an attack made, where it made one.
    pub(crate) fn harm(&self) -> Option<String> {
        let victim = self.dir.path().join("victim");
        let mut names: Vec<String> = std::fs::read_dir(&victim)
            .unwrap()
            .map(|item| item.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        if names != VICTIMS {
            return Some(format!("the victims are now {names:?}"));
        }
        let file = victim.join("file");
        let mode = file.metadata().unwrap().permissions().mode() & 0o7777;
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        (mode != 0o666 || text != "unharmed").then(|| format!("a victim has mode {mode:o}: {text}"))
    }

    pub(crate) fn is_connected_to(&self) -> bool {
        self.tcp.set_nonblocking(true).unwrap();
        !matches!(self.tcp.accept(), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(child) = &mut self.sleeper {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
