use super::*;
use proptest::prelude::*;

/// A host with sh, bash, python3 and env, and the usual loader.
struct FakeHost(Machine);

impl FormatHost for FakeHost {
    fn machine(&self) -> Machine {
        self.0
    }
    fn has_file(&self, path: &Path) -> bool {
        let there = [
            "/bin/sh",
            "/bin/bash",
            "/usr/bin/python3",
            "/usr/bin/env",
            "/usr/bin/awk",
            "/lib64/ld-linux-x86-64.so.2",
        ];
        there.iter().any(|known| Path::new(known) == path)
    }
    fn has_command(&self, name: &str) -> bool {
        ["sh", "bash", "python3"].contains(&name)
    }
}

fn judged(bytes: &[u8]) -> (FileFormat, Finding) {
    judge(bytes, Mode(0o755), Files::All, &FakeHost(Machine::X86_64), Allowlist::built_in())
}

fn status(bytes: &[u8]) -> Status {
    judged(bytes).1.status
}

/// An ELF of one PT_LOAD; `machine` as in the header.
fn tiny(machine: u16) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(120, 0);
    file[16] = 2;
    file[18..20].copy_from_slice(&machine.to_le_bytes());
    file[24] = 0x78;
    file[32] = 64;
    file[54] = 56;
    file[56] = 1;
    file[64] = 1;
    file
}

#[test]
fn executables_are_judged_by_machine() {
    let (format, finding) = judged(&tiny(62));
    assert_eq!(finding.status, Status::Pass);
    assert_eq!(finding.summary, "ELF executable, 64 bits, x86-64, static");
    assert_eq!(format.class, Some(Class::Bits64));
    assert_eq!(finding.evidence["class"], "64");
    assert_eq!(finding.evidence["linkage"], "static");
    let (_, finding) = judged(&tiny(183));
    assert_eq!(finding.status, Status::Fail);
    assert!(finding.summary.contains("AArch64"));
    assert!(judged(&tiny(243)).1.summary.contains("RISC-V"));
    let arm = FakeHost(Machine::Other("AArch64"));
    let on_arm =
        |bytes: &[u8]| judge(bytes, Mode(0o755), Files::All, &arm, Allowlist::built_in()).1.status;
    assert_eq!(on_arm(&tiny(62)), Status::Undecided);
    assert_eq!(on_arm(&tiny(183)), Status::Pass);
    assert_eq!(on_arm(&tiny(243)), Status::Fail);
    assert_eq!(status(&tiny(62)[..60]), Status::Fail);
    let mut upx = tiny(62);
    upx.extend(b"UPX!");
    assert!(judged(&upx).1.summary.ends_with("packed (UPX)"));
}

#[test]
fn a_loader_that_this_host_lacks_leaves_it_open_if_it_is_a_system_library() {
    let with_loader = |path: &[u8]| {
        let mut file = tiny(62);
        file[56] = 2;
        file.resize(176, 0);
        file[120] = 3;
        file[128] = 176;
        file[152..160].copy_from_slice(&(path.len() as u64).to_le_bytes());
        file.extend(path);
        file
    };
    assert_eq!(status(&with_loader(b"/lib64/ld-linux-x86-64.so.2\0")), Status::Pass);
    assert_eq!(status(&with_loader(b"/lib/ld-musl-x86_64.so.1\0")), Status::Undecided);
    assert_eq!(status(&with_loader(b"/lib64/ld-lsb-x86-64.so.3\0")), Status::Undecided);
    assert_eq!(status(&with_loader(b"/home/me/ld.so\0")), Status::Fail);
    for nowhere in [&b"/tmp/ld-linux-x86-64.so.2\0"[..], b"ld-linux-x86-64.so.2\0"] {
        let (_, finding) = judged(&with_loader(nowhere));
        assert_eq!(finding.status, Status::Fail, "{}", finding.summary);
        assert_eq!(finding.help, "link it with the system's loader, or statically");
    }
}

#[test]
fn scripts_are_judged_by_their_interpreter() {
    for (text, expected, word) in [
        ("#!/bin/sh\nexit\n", Status::Pass, "script for sh"),
        ("#!/bin/bash -e\nexit\n", Status::Pass, "script for bash"),
        ("#!/usr/bin/awk -f\n", Status::Pass, "script for awk"),
        ("#!/bin/sh\r\nexit\r\n", Status::Fail, "looks for /bin/sh\\r"),
        (
            "#!/usr/bin/pypy3\n",
            Status::Undecided,
            "its interpreter /usr/bin/pypy3 is not on this host",
        ),
        ("#!/usr/bin/python3.99\n", Status::Undecided, "/usr/bin/python3.99 is not on this host"),
        ("#!/usr/bin/pypy4\n", Status::Fail, "pypy4 is no command that rule 7.5 lists"),
        ("#!/usr/bin/node\n", Status::Fail, "node is no command that rule 7.5 lists"),
        ("#!python3\n", Status::Fail, "no absolute path"),
        ("#!/usr/bin/env python3\n", Status::Pass, "script for python3"),
        ("#!/usr/bin/env pypy3\n", Status::Undecided, "pypy3, which env looks up, is not"),
        ("#!/usr/bin/env node\n", Status::Fail, "node"),
        ("#!/usr/bin/env python3 -u\n", Status::Fail, "as one word"),
        ("#!/usr/bin/env -S python3 -u\n", Status::Pass, "script for python3"),
        ("#!/usr/bin/env python3\r\n", Status::Fail, "env looks for python3\\r"),
        ("#!/tmp/python3\n", Status::Fail, "no place where the event's machine has programs"),
        ("#!/usr/bin/env /tmp/python3\n", Status::Fail, "no place where"),
        ("#!/opt/pypy/bin/pypy3\n", Status::Undecided, "is not on this host"),
        ("#!/bin/sh -e\r\n", Status::Advice, "an argument with a CR"),
        ("#!\necho\n", Status::Advice, "names no interpreter"),
        ("\n#!/bin/sh\n", Status::Advice, "below the first line"),
        ("echo id;exit\n", Status::Advice, "without a shebang"),
        ("#!/bin/sh\nT=`mktemp`\r\nexit\r\n", Status::Advice, "line 2 ends with CR LF"),
        ("#!/bin/sh\ntail -n+3 “$0”|sh\n", Status::Advice, "line 2 has “ (U+201C) in it"),
        ("#!/bin/sh\n# “plain”\nexit\n", Status::Pass, "script for sh"),
        ("#!/bin/sh\nread x # “plain”\necho \"Größe – “x”\"\n", Status::Pass, "script for sh"),
        ("#!/usr/bin/python3\n'“'\r\n", Status::Pass, "script for python3"),
    ] {
        let (_, finding) = judged(text.as_bytes());
        assert_eq!(finding.status, expected, "{text:?}: {}", finding.summary);
        assert!(finding.summary.contains(word), "{text:?}: {}", finding.summary);
        assert!(expected == Status::Pass || !finding.help.is_empty());
    }
}

#[test]
fn what_env_is_told_by_options_and_quotes_is_no_missing_command() {
    for (argument, reader) in [
        ("-S -i python3 -u", "python3"),
        ("-iS python3 -u", "python3"),
        ("-S -u FOO python3", "python3"),
        ("-S -C /tmp python3", "python3"),
        ("-S\"python3\" -u", "python3"),
        ("-Spython3\\_-u", "python3"),
        ("-S PATH=/opt/x pypy3", "pypy3"),
        ("-S -i /bin/sh -e", "sh"),
        ("-S ${PY} -u", "env"),
        ("-i python3", "env"),
    ] {
        let (format, finding) = judged(format!("#!/usr/bin/env {argument}\nexit\n").as_bytes());
        assert_eq!(finding.status, Status::Pass, "{argument}: {}", finding.summary);
        assert_eq!(format.reader.as_deref(), Some(reader), "{argument}");
        assert_eq!(format.is_for_sh(), reader == "sh", "{argument}");
    }
    assert_eq!(status(b"#!/usr/bin/env -S -i pypy3\n"), Status::Undecided);
    assert_eq!(status(b"#!/usr/bin/env -S -i node\n"), Status::Fail);
}

#[test]
fn a_packed_script_is_told_with_its_parts() {
    let mut file = b"#!/bin/sh\ntail -n +3 $0|xz -d|sh;exit\n".to_vec();
    file.extend(b"\xfd7zXZ\0abc");
    let (format, finding) = judged(&file);
    assert_eq!(finding.summary, "script for sh, packed (sh + xz): stub 38, payload 9 bytes");
    assert_eq!(format.payload_magic, Some("xz"));
    assert_eq!(finding.evidence["packer"], "sh + xz");
    assert_eq!(finding.evidence["stub_bytes"], 38);
    assert_eq!(finding.evidence["payload_bytes"], 9);
}

#[test]
fn the_name_of_a_packer_cannot_move_a_terminal() {
    let (format, finding) =
        judged(b"#!/opt/py\x1b[2Jthon\nimport zlib\nexec(zlib.decompress(b''))\n");
    let packer = format.packer.unwrap();
    assert!(packer.ends_with(" + zlib") && packer.starts_with("py"), "{packer}");
    assert!(!packer.contains(char::is_control), "{packer:?}");
    let evidence = finding.evidence["packer"].as_str().unwrap();
    for text in [finding.summary.as_str(), evidence] {
        assert!(!text.contains(char::is_control), "{text:?}");
    }
}

#[test]
fn a_missing_execute_bit_is_advice() {
    let host = FakeHost(Machine::X86_64);
    let (_, finding) = judge(b"#!/bin/sh\n", Mode(0o644), Files::All, &host, Allowlist::built_in());
    assert_eq!(finding.status, Status::Advice);
    assert!(finding.summary.ends_with("it has no execute bit"));
}

#[test]
fn other_files_are_named() {
    let mut pe = b"MZ".to_vec();
    pe.resize(0x80, 0);
    pe[0x3c] = 0x80;
    pe.extend(b"PE\0\0");
    for (bytes, kind) in [
        (&b""[..], FileKind::Empty),
        (b"  \n\n", FileKind::Empty),
        (&pe, FileKind::Pe),
        (b"MZ\0\0\0", FileKind::Dos),
        (b"\xcf\xfa\xed\xfe\x07\0\0\x01", FileKind::MachO),
        (b"\xca\xfe\xba\xbe\0\0\0\x02", FileKind::MachO),
        (b"\xca\xfe\xba\xbe\0\0\0\x34", FileKind::JavaClass),
        (b"PK\x03\x04more", FileKind::Zip),
        (b"\0asm\x01\0\0\0", FileKind::Wasm),
        (b"\xfd7zXZ\0\n", FileKind::Compressed),
        (b"BZh91AY&SY\n", FileKind::Compressed),
        (b"junk\0\n", FileKind::Unknown),
        (b"\x01\x02\x03\n", FileKind::Unknown),
        (b"\xff\xfe\xfd\n", FileKind::Unknown),
        (b"\x7fEL", FileKind::Unknown),
    ] {
        let (format, finding) = judged(bytes);
        assert_eq!(format.kind, kind, "{bytes:?}");
        assert_eq!(finding.status, Status::Fail);
    }
    // text, and what shells take although it is none
    for bytes in [&b"exit"[..], b"tail -c+9 $0|xz -d #\xff\n\0", "écho\n".as_bytes()] {
        assert_eq!(judged(bytes).0.kind, FileKind::ShellText, "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        head in proptest::sample::select(vec![
            "", "#!", "#!/usr/bin/env ", "\x7fELF", "MZ", "tail -n +", "#!/bin/sh\nsed 1,",
        ]),
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let all = [head.as_bytes(), &bytes].concat();
        let (format, finding) = judged(&all);
        prop_assert!(!finding.summary.contains('\n'));
        prop_assert!(finding.evidence.contains_key("kind"));
        prop_assert!(!format.describe().is_empty());
    }
}

/// Found by `tests/suite/fuzz.rs`.
#[test]
fn an_interpreter_of_control_characters_moves_no_terminal() {
    let (_, finding) = judged(b"#!/usr/bin/\x01\x1b[2J\nimport sys\n");
    assert_eq!(finding.status, Status::Fail);
    let text = format!("{}{}{}", finding.summary, finding.help, finding.details.concat());
    assert!(!text.contains(char::is_control), "{text:?}");
}

#[test]
fn an_event_for_elf_files_takes_no_script() {
    let judged = |bytes: &[u8]| {
        let host = FakeHost(Machine::X86_64);
        judge(bytes, Mode(0o755), Files::ElfOnly, &host, Allowlist::built_in()).1
    };
    assert_eq!(judged(&tiny(62)).status, Status::Pass);
    for script in ["#!/bin/sh\nread x\n", "#!/usr/bin/python3\ninput()\n", "read x\n"] {
        let finding = judged(script.as_bytes());
        assert_eq!(finding.status, Status::Fail, "{script}");
        assert!(finding.summary.ends_with("this event takes ELF executables only"), "{finding:?}");
    }
}

#[test]
fn a_first_line_that_the_kernel_cuts_is_told() {
    let long = format!("#!/usr/bin/python3 {}\n", "-u".repeat(150));
    let (_, finding) = judged(long.as_bytes());
    assert_eq!(finding.status, Status::Advice);
    assert!(
        finding.summary.contains("python3 is given an argument that is cut off"),
        "{}",
        finding.summary
    );
}

#[test]
fn a_shebang_behind_a_byte_order_mark_is_told_so() {
    let (_, finding) = judged(b"\xef\xbb\xbf#!/bin/sh\necho uciok\n");
    assert_eq!(finding.status, Status::Advice);
    assert!(finding.summary.contains("begins with a byte order mark"), "{}", finding.summary);
    assert!(finding.help.starts_with("remove its first 3 bytes"), "{}", finding.help);
    assert!(!finding.help.contains("10 bytes"), "{}", finding.help);
}

#[test]
fn a_script_that_is_a_source_as_well_is_told_to_give_the_compiler_the_rest() {
    let (_, finding) = judged(b"#if 0\ncc -xc -o$T \"$0\";exec $T\n#endif\nint main(){}\n");
    assert_eq!(finding.status, Status::Advice);
    assert!(finding.help.contains("tail -n+2 \"$0\"|cc -xc -"), "{}", finding.help);
}

#[test]
fn nobody_is_told_to_link_a_core_dump() {
    let mut core = tiny(62);
    core[16] = 4;
    let (_, finding) = judged(&core);
    assert_eq!(finding.status, Status::Fail);
    assert!(
        finding.summary.contains("it is a core dump, not an executable"),
        "{}",
        finding.summary
    );
    assert!(!finding.help.contains("link"), "{}", finding.help);
}
