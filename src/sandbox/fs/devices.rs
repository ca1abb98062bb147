//! Accelerators: device nodes that are opened to an entry on request, and only those (rule 7.6 allows CUDA
//! and OpenCL).

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::model::layer_status::{Layer, LayerName, LayerState};
use crate::model::listed_enum::listed_enum;
use crate::sandbox::fs::landlock::Grants;

/// The Landlock interface that can limit ioctl to the devices that are granted.
const IOCTL_ABI: i32 = 5;

listed_enum! {
    /// A kind of accelerator.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
    pub(crate) enum DeviceClass {
        /// NVIDIA's driver: `/dev/nvidia*`.
        Nvidia => "nvidia",
        /// The kernel's graphics drivers: `/dev/dri/*`, and `/dev/kfd` for computing on AMD's.
        Dri => "dri",
    }
}

impl DeviceClass {
    /// The nodes that this host has of the class.
    fn nodes(self, dev: &Path) -> Vec<PathBuf> {
        match self {
            DeviceClass::Nvidia => {
                let mut all = nodes_in(dev, |name| name.starts_with("nvidia"));
                all.extend(nodes_in(&dev.join("nvidia-caps"), |_| true));
                all
            }
            DeviceClass::Dri => {
                let drivers = |name: &str| name.starts_with("card") || name.starts_with("renderD");
                let mut all = nodes_in(&dev.join("dri"), drivers);
                all.extend(nodes_in(dev, |name| name == "kfd"));
                all
            }
        }
    }
}

/// The character devices of a directory, sorted. Links are not followed: each grant is on the node itself.
fn nodes_in(dir: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut nodes: Vec<PathBuf> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|item| item.file_type().is_ok_and(|kind| kind.is_char_device()))
        .filter(|item| wanted(&item.file_name().to_string_lossy()))
        .map(|item| item.path())
        .collect();
    nodes.sort();
    nodes
}

/// Nodes without a driver that could be spoken to: they keep nothing and tell nothing.
const PLAIN: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// True if a path that the allow-list opens is a device with a driver behind it, so that ioctl belongs to it.
#[must_use]
pub(crate) fn is_accelerator(path: &Path) -> bool {
    let plain = PLAIN.iter().any(|name| path == Path::new("/dev").join(name));
    !plain && std::fs::metadata(path).is_ok_and(|file| file.file_type().is_char_device())
}

/// The directories in which drivers read about the devices that are there. Most hold links only.
const SYSFS: [&str; 8] = [
    "/sys/bus/pci",
    "/sys/class/drm",
    "/sys/class/kfd",
    "/sys/dev/char",
    "/sys/devices/virtual/kfd",
    "/sys/module/amdgpu",
    "/sys/module/nvidia",
    "/sys/module/nvidia_uvm",
];

/// The classes of PCI devices that compute: displays (with those that have no screen) and accelerators, by the first digits.
const PCI_CLASSES: [&str; 2] = ["0x03", "0x12"];

/// The directories of /sys that drivers of accelerators need on this host. Of the PCI devices only those that compute are among them: the
/// counters of disks and network cards would tell of the host, and of one entry to another.
pub(in crate::sandbox) fn sysfs() -> Vec<PathBuf> {
    let directories = SYSFS.iter().map(PathBuf::from).filter(|path| path.is_dir());
    let items = std::fs::read_dir("/sys/bus/pci/devices").into_iter().flatten();
    let computing = items.filter_map(Result::ok).map(|item| item.path()).filter(|device| {
        let class = std::fs::read_to_string(device.join("class")).unwrap_or_default();
        PCI_CLASSES.iter().any(|known| class.starts_with(known))
    });
    let computing = computing.filter_map(|device| device.canonicalize().ok());
    let mut all: Vec<PathBuf> = directories.chain(computing).collect();
    all.sort();
    all
}

/// Opens the devices of these classes to entries, beside those that the allow-list has opened, and says so.
pub(crate) fn open(grants: &mut Grants, classes: &[DeviceClass], landlock_abi: i32) -> Layer {
    let mut found = Vec::new();
    let mut none = Vec::new();
    for class in classes {
        let nodes = class.nodes(Path::new("/dev"));
        if nodes.is_empty() {
            none.push(class.word());
        }
        found.extend(nodes);
    }
    found.retain(|path| !grants.accelerators.contains(path));
    let layer = layer(&found, &grants.accelerators, &none, landlock_abi);
    grants.accelerators.extend(found);
    if !grants.accelerators.is_empty() {
        grants.read.extend(sysfs());
    }
    layer
}

fn layer(found: &[PathBuf], listed: &[PathBuf], none: &[&str], landlock_abi: i32) -> Layer {
    let names = |paths: &[PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let open: Vec<String> = [("--devices", found), ("the allow-list", listed)]
        .into_iter()
        .filter(|(_, paths)| !paths.is_empty())
        .map(|(by, paths)| format!("opened by {by}, to read, write and ioctl: {}", names(paths)))
        .collect();
    let mut reason = if open.is_empty() {
        "only those that keep nothing and tell nothing".to_owned()
    } else {
        open.join("; ")
    };
    if !open.is_empty() && landlock_abi < IOCTL_ABI {
        reason.push_str(&format!("; ioctl is not limited to them below Landlock ABI {IOCTL_ABI}"));
    }
    if !none.is_empty() {
        reason.push_str(&format!("; this host has none of --devices {}", none.join(",")));
    }
    let state = if open.is_empty() { LayerState::Enforced } else { LayerState::Partial };
    Layer { name: LayerName::Devices, state, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_opened_is_told() {
        let closed = layer(&[], &[], &["dri"], 7);
        assert_eq!(closed.state, LayerState::Enforced);
        assert!(closed.reason.ends_with("this host has none of --devices dri"), "{closed:?}");
        let open = layer(&["/dev/nvidia0".into(), "/dev/nvidiactl".into()], &[], &[], 4);
        assert_eq!(open.state, LayerState::Partial);
        assert!(open.reason.contains("/dev/nvidia0, /dev/nvidiactl"), "{open:?}");
        assert!(open.reason.contains("ABI 5"), "{open:?}");
        let listed = layer(&[], &["/dev/apu".into()], &[], 7);
        assert_eq!(listed.state, LayerState::Partial);
        assert!(listed.reason.contains("opened by the allow-list"), "{listed:?}");
    }

    #[test]
    fn only_what_has_a_driver_is_an_accelerator() {
        for plain in ["/dev/null", "/dev/urandom", "/dev/none", "/etc/passwd", "/dev"] {
            assert!(!is_accelerator(Path::new(plain)), "{plain}");
        }
        // Any other character device; this one every host has.
        assert!(is_accelerator(Path::new("/dev/ptmx")) || !Path::new("/dev/ptmx").exists());
    }

    #[test]
    fn the_built_in_list_opens_none() {
        use crate::policy::allowlist::{Allowlist, HostAccess};
        let list = Allowlist::built_in();
        let writable = list.files.iter().filter(|file| file.access == HostAccess::ReadWrite);
        for file in writable {
            let name = file.path.strip_prefix("/dev/").unwrap();
            let own = ["fd", "stdin", "stdout", "stderr"];
            assert!(PLAIN.contains(&name) || own.contains(&name), "{name}");
        }
    }

    #[test]
    fn only_devices_count() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("nvidia0"), "no device").unwrap();
        std::os::unix::fs::symlink("/dev/null", dir.path().join("nvidia1")).unwrap();
        assert_eq!(DeviceClass::Nvidia.nodes(dir.path()), [""; 0].map(PathBuf::from));
        let null = nodes_in(Path::new("/dev"), |name| name == "null");
        assert_eq!(null, [PathBuf::from("/dev/null")]);
    }

    #[test]
    fn words_and_classes_are_one_to_one() {
        for class in DeviceClass::ALL {
            assert_eq!(DeviceClass::named(class.word()), Some(class));
        }
    }
}
