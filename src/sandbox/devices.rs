//! Accelerators: device nodes that are opened to an entry on request, and only those (rule 7.6 allows CUDA
//! and OpenCL).

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::landlock::Grants;
use super::status::{Layer, LayerName, State};

/// The Landlock interface that can limit ioctl to the devices that are granted.
const IOCTL_ABI: i32 = 5;

/// A kind of accelerator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceClass {
    /// NVIDIA's driver: `/dev/nvidia*`.
    Nvidia,
    /// The kernel's graphics drivers: `/dev/dri/*`, and `/dev/kfd` for computing on AMD's.
    Dri,
}

impl DeviceClass {
    /// Every class.
    pub const ALL: [DeviceClass; 2] = [DeviceClass::Nvidia, DeviceClass::Dri];

    /// The word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            DeviceClass::Nvidia => "nvidia",
            DeviceClass::Dri => "dri",
        }
    }

    /// The class of a word.
    #[must_use]
    pub fn named(word: &str) -> Option<DeviceClass> {
        DeviceClass::ALL.into_iter().find(|class| class.word() == word)
    }

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

/// What drivers read of the devices that are there.
const SYSFS: [&str; 3] = ["/sys/bus/pci", "/sys/class/drm", "/sys/dev/char"];

/// Opens the devices of these classes to entries, and says so.
pub fn open(grants: &mut Grants, classes: &[DeviceClass], landlock_abi: i32) -> Layer {
    let mut found = Vec::new();
    let mut none = Vec::new();
    for class in classes {
        let nodes = class.nodes(Path::new("/dev"));
        if nodes.is_empty() {
            none.push(class.word());
        }
        found.extend(nodes);
    }
    let layer = layer(&found, &none, landlock_abi);
    if !found.is_empty() {
        let sysfs = SYSFS.map(PathBuf::from).into_iter().chain(pci_roots());
        grants.read.extend(sysfs.filter(|path| path.is_dir()));
        grants.accelerators.extend(found);
    }
    layer
}

fn pci_roots() -> Vec<PathBuf> {
    let items = std::fs::read_dir("/sys/devices").into_iter().flatten().filter_map(Result::ok);
    items
        .filter(|item| item.file_name().to_string_lossy().starts_with("pci"))
        .map(|item| item.path())
        .collect()
}

fn layer(found: &[PathBuf], none: &[&str], landlock_abi: i32) -> Layer {
    let mut reason = if found.is_empty() {
        "only those that keep nothing and tell nothing".to_owned()
    } else {
        let names: Vec<_> = found.iter().map(|path| path.display().to_string()).collect();
        format!("opened by --devices, to read, write and ioctl: {}", names.join(", "))
    };
    if !found.is_empty() && landlock_abi < IOCTL_ABI {
        reason.push_str(&format!("; ioctl is not limited to them below Landlock ABI {IOCTL_ABI}"));
    }
    if !none.is_empty() {
        reason.push_str(&format!("; this host has none of --devices {}", none.join(",")));
    }
    let state = if found.is_empty() { State::Enforced } else { State::Partial };
    Layer { name: LayerName::Devices, state, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_opened_is_told() {
        let closed = layer(&[], &["dri"], 7);
        assert_eq!(closed.state, State::Enforced);
        assert!(closed.reason.ends_with("this host has none of --devices dri"), "{closed:?}");
        let open = layer(&["/dev/nvidia0".into(), "/dev/nvidiactl".into()], &[], 4);
        assert_eq!(open.state, State::Partial);
        assert!(open.reason.contains("/dev/nvidia0, /dev/nvidiactl"), "{open:?}");
        assert!(open.reason.contains("ABI 5"), "{open:?}");
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
