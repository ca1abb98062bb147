use super::*;
use crate::policy::elf_needs;
use crate::policy::grants::is_installed;

fn here() -> Toolchain {
    Toolchain::discover(Arc::new(Allowlist::built_in().clone()), Strictness::Tolerant)
}

#[test]
fn a_library_of_the_system_starts_its_own_programs() {
    let tools = here();
    let name = |asked: &str, real: &str, library: &str| {
        let file = std::fs::metadata(real).ok();
        tools.serves_library(&SeenProgram {
            asked: asked.into(),
            real: Some(real.into()),
            inode: file.map(|file| (file.dev(), file.ino())),
            argv: Vec::new(),
            reader_argv: Vec::new(),
            own: false,
            script: false,
            own_reader: false,
            starter_libraries: vec![library.into()],
        })
    };
    let pocl = "/usr/lib/x86_64-linux-gnu/libpocl.so.2.10.0";
    let ld = Path::new("/usr/bin/ld").canonicalize().unwrap();
    let ld = ld.to_str().unwrap();
    assert_eq!(name("/usr/bin/ld", ld, pocl).as_deref(), Some("ld"));
    let modprobe = "/usr/bin/nvidia-modprobe";
    let cuda = "/usr/local/nvidia/lib64/libcuda.so.1";
    assert_eq!(name(modprobe, modprobe, cuda).as_deref(), Some("nvidia-modprobe"));
    // A link of the entry's own, to what a loader or an editor is on this host.
    assert_eq!(name("/usr/../tmp/ld", "/usr/bin/sed", pocl), None);
    assert_eq!(name("/usr/../tmp/nvidia-modprobe", "/usr/bin/sed", cuda), None);
    assert_eq!(name("/usr/bin/ld", ld, "/usr/lib/x86_64-linux-gnu/libOpenCL.so.1"), None);
    assert_eq!(name("/usr/bin/ld", ld, "/opt/mine/libpocl.so.2.10.0"), None);
}

#[test]
fn the_shell_is_found_and_forbidden_programs_are_not_granted() {
    let tools = here();
    assert!(!tools.missing.contains(&"sh".to_owned()), "{:?}", tools.missing);
    let granted = |name: &str| {
        let place = Path::new("/usr/bin").join(name).canonicalize();
        place.is_ok_and(|real| {
            let all = tools.grants.execute.iter().chain(&tools.grants.read);
            all.clone().any(|path| real.starts_with(path))
        })
    };
    assert!(granted("sh") && granted("tail") && granted("rm"));
    for name in ["sed", "cat", "dd", "curl", "uname"] {
        assert!(!granted(name), "{name}");
    }
}

#[test]
fn a_program_that_was_replaced_keeps_its_name_and_no_other_gets_it() {
    let mut tools = here();
    let xz = Path::new("/usr/bin/tail").canonicalize().unwrap();
    let inode = std::fs::metadata(&xz).map(|file| (file.dev(), file.ino())).unwrap();
    assert!(tools.replaced().is_empty());
    // As if another file had stood there when it was looked.
    tools.known.remove(&inode);
    for file in tools.files.iter_mut().filter(|(path, _)| *path == xz) {
        file.1 = Some((0, 0));
    }
    assert_eq!(tools.replaced(), ["tail"]);
    let seen = |real: &Path, own: bool| SeenProgram {
        asked: "/usr/bin/tail".into(),
        inode: std::fs::metadata(real).ok().map(|file| (file.dev(), file.ino())),
        real: Some(real.to_owned()),
        argv: vec!["tail".into()],
        reader_argv: Vec::new(),
        own,
        script: false,
        own_reader: false,
        starter_libraries: Vec::new(),
    };
    assert_eq!(tools.classify(&seen(&xz, false), &[]), (ProgramClass::Listed, "tail".into()));
    let other = Path::new("/usr/bin/uname");
    assert_eq!(tools.classify(&seen(other, false), &[]).0, ProgramClass::Refused);
}

#[test]
fn a_program_needs_its_own_libraries_under_each_of_its_names() {
    let tools = here();
    let perl = Path::new("/usr/bin/perl").canonicalize().unwrap();
    let needed = elf_needs::follow([perl.clone()], &libraries()).libraries;
    // Debian's perl has a name with its version beside the short one.
    let others = std::fs::read_dir("/usr/bin").unwrap().map(|file| file.unwrap().path());
    let mut others = others.filter(|path| *path != perl && !path.is_symlink());
    let other = others.find(|path| inode(path) == inode(&perl));
    let Some(other) = other else { return };
    assert!(!needed.is_empty());
    assert!(needed.iter().all(|one| tools.needs(Some(&other), one)), "{other:?}: {needed:?}");
}

#[test]
fn a_path_through_a_descriptor_is_no_program_of_the_host() {
    let tools = here();
    let helper = tools.found.iter().find(|found| tools.list.command(&found.name).is_none());
    let Some(helper) = helper else { return };
    // Open in this process, it would be found by a number that is the entry's own.
    let open = File::open(&helper.real).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&open);
    assert!(tools.program_at(&helper.real).is_some());
    for path in [format!("/dev/fd/{number}"), format!("/usr/../proc/self/fd/{number}")] {
        assert_eq!(tools.program_at(Path::new(&path)), None, "{path}");
    }
    assert_eq!(tools.program_at(Path::new("/proc/self/exe")), None);
}

#[test]
fn a_program_needs_its_own_libraries_and_not_those_of_others() {
    let tools = here();
    let real = |name: &str| Path::new("/usr/bin").join(name).canonicalize().unwrap();
    let library = |path: &Path| elf_needs::follow([path.to_owned()], &libraries()).libraries;
    let of_perl = library(&real("perl"));
    assert!(of_perl.iter().all(|one| tools.needs(Some(&real("perl")), one)), "{of_perl:?}");
    let of_the_assembler = library(&real("as"));
    let is_strange = |one: &&PathBuf| one.to_string_lossy().contains("libbfd");
    let strange = of_the_assembler.iter().find(is_strange).unwrap();
    assert!(!tools.needs(Some(&real("perl")), strange));
    assert!(!tools.needs(Some(Path::new("/tmp/lib/python/x")), strange), "a program of its own");
    // Of a compiler's parts, the one that is linked with it, and that one loads it.
    assert!(tools.needs(Some(&real("as")), strange) && !tools.needs(Some(&real("cc")), strange));
    assert!(!tools.reads(Some(&real("as")), strange), "by .incbin");
    // An interpreter compiles nothing, though it has a helper.
    let of_compilers = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        ["libLLVM", "liblto", "libbfd"].iter().any(|of| name.starts_with(of))
    };
    for library in tools.grants.read.iter().filter(of_compilers) {
        assert!(!tools.needs(Some(&real("python3")), library), "{}", library.display());
    }
    let Some(compiles) = tools.found.iter().find(|found| found.name == "cc1") else { return };
    let of_the_compiler = library(&compiles.real);
    let is_strange = |one: &&PathBuf| one.to_string_lossy().contains("libgmp");
    if let Some(strange) = of_the_compiler.iter().find(is_strange) {
        assert!(tools.needs(Some(&compiles.real), strange));
        assert!(!tools.needs(Some(&real("as")), strange), "by .incbin");
        assert!(!tools.needs(Some(&real("ld")), strange), "by -b binary");
    }
}

#[test]
fn object_code_belongs_to_the_compilers_and_to_nobody_else() {
    let tools = here();
    let real = |name: &str| Path::new("/usr/bin").join(name).canonicalize().unwrap();
    let linker = real("ld");
    let own = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];
    let own = own.map(|dir| Path::new(dir).join("crt1.o"));
    let own = own.iter().find(|path| path.exists()).unwrap();
    assert!(tools.needs(Some(&linker), own), "{}", own.display());
    assert!(!tools.needs(Some(&real("tail")), own), "a copy of it");
    let of_numpy = Path::new("/usr/lib/python3/dist-packages/numpy/core/lib/libnpymath.a");
    assert!(!tools.needs(Some(&linker), of_numpy));
}

fn libraries() -> Vec<PathBuf> {
    ["/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib"]
        .map(PathBuf::from)
        .to_vec()
}

/// A copy of a program that no entry may start would be a program of the entry's own.
#[test]
fn a_program_that_an_entry_may_not_start_is_known_wherever_it_lies() {
    let tools = here();
    assert_eq!(tools.program_at(Path::new("/usr/bin/as")), Some(HostProgram::Helper));
    for name in ["tail", "rm", "bzcat"] {
        assert_eq!(tools.program_at(&Path::new("/usr/bin").join(name)), None, "{name}");
    }
    // One among the files that a compiler reads, beside what is none.
    let dir = tempfile::tempdir().unwrap();
    let is = |name: &str, from: &str, mode: u32| {
        let path = dir.path().join(name);
        std::fs::copy(from, &path).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode))
            .unwrap();
        tools.program_at(&path)
    };
    assert_eq!(is("mapper-server", "/usr/bin/uname", 0o755), Some(HostProgram::Unlisted));
    assert_eq!(is("plug-in.so.1", "/usr/bin/uname", 0o755), None);
    assert_eq!(is("crt1.o", "/usr/bin/uname", 0o644), None);
    assert_eq!(is("pdb.py", "/etc/passwd", 0o755), None);
    assert_eq!(tools.program_at(dir.path()), None);
}

#[test]
fn strict_grants_no_tolerated_command() {
    let list = Arc::new(Allowlist::built_in().clone());
    let tools = Toolchain::discover(list, Strictness::Strict);
    let rm = Path::new("/usr/bin/rm").canonicalize().unwrap();
    assert!(!tools.grants.execute.contains(&rm));
}

#[test]
fn nothing_installed_besides_numpy_is_readable() {
    for path in here().grants.read {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let parent_is_installed = path.parent().is_some_and(is_installed);
        assert!(!parent_is_installed || name.starts_with("numpy"), "{}", path.display());
        assert!(!is_installed(&path), "{}", path.display());
    }
}
