//! `gate4k pack` and the other help for authors: the smallest entry that works, and hints.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use gate4k::pack::candidate::{self, Recipe};
use gate4k::pack::language::Language;
use gate4k::pack::packer::{self, Unpacker};

use crate::outcome::told;
use crate::trials::Test;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn fixture(name: &str) -> PathBuf {
    root().join("fixtures/entries/accept").join(name).join("engine")
}

/// A source as the shipped entries are packed from it: without comments, names shortened.
fn squeezed(call: &str) -> Vec<u8> {
    let script = format!(
        "import importlib.machinery as m,importlib.util as u,sys\n\
         sys.dont_write_bytecode=True\n\
         l=m.SourceFileLoader('b','fixtures/build')\n\
         b=u.module_from_spec(u.spec_from_loader('b',l))\n\
         l.exec_module(b)\n\
         sys.stdout.buffer.write(b.{call})"
    );
    let output = Command::new("python3")
        .args(["-c", &script])
        .current_dir(root())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn gate4k(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(words)
        .env_remove("CLICOLOR_FORCE")
        .env("COLUMNS", "120")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn it_packs_no_worse_than_by_hand() {
    for (call, language, by_hand) in [
        ("c_source()", Language::C, "c-xz"),
        ("rust_source()", Language::Rust, "rust-xz"),
        ("python_source()", Language::Python, "process-substitution"),
        ("perl_source()", Language::Perl, "perl"),
    ] {
        let source = squeezed(call);
        let smallest = &candidate::all(&source, &Recipe::new(language, None, None))[0];
        let by_hand = usize::try_from(fs::metadata(fixture(by_hand)).unwrap().len()).unwrap();
        assert!(smallest.bytes.len() <= by_hand, "{call}: {} > {by_hand}", smallest.bytes.len());
    }
}

fn what_it_packs_is_proved_by_the_gate() {
    let source = squeezed("c_source()");
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("engine.c"), folder.path().join("entry"));
    fs::write(&from, source).unwrap();
    let words = ["pack", "--quick", from.to_str().unwrap(), "-o", to.to_str().unwrap()];
    let output = gate4k(&words);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let metadata = fs::metadata(&to).unwrap();
    assert!(metadata.len() <= fs::metadata(fixture("c-xz")).unwrap().len());
    assert!(metadata.permissions().mode() & 0o100 != 0);
    assert!(told(&output).contains(&format!("{} of 4096 bytes", metadata.len())));
    // A source that does not compile: nothing is written.
    fs::write(&from, "int main( {").unwrap();
    fs::remove_file(&to).unwrap();
    let output = gate4k(&words);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert!(told(&output).contains("nothing was written"), "{}", told(&output));
    assert!(!to.exists());
}

fn what_cannot_be_packed_is_told_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("entry");
    // Noise: nothing packs it.
    let mut state = 1u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24).to_le_bytes()[0]
    })
    .take(6000)
    .collect();
    for (name, bytes, code, part) in [
        ("a.txt", &b"x"[..], 2, "give it the ending of its language"),
        ("a.c", &noise, 1, "over the limit"),
    ] {
        let from = folder.path().join(name);
        fs::write(&from, bytes).unwrap();
        let output = gate4k(&["pack", from.to_str().unwrap(), "-o", to.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(code), "{}", told(&output));
        assert!(told(&output).contains(part), "{}", told(&output));
        assert!(!to.exists());
    }
    let output = gate4k(&["pack", "/no/such.c", "-o", to.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
}

/// A device, a pipe and a file without an end are no sources: none of them is read until memory is full.
fn a_source_without_an_end_is_not_read_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::File::create(path("hole.c")).unwrap().set_len(1 << 40).unwrap();
    let made = Command::new("mkfifo").arg(path("pipe.c")).status().unwrap();
    assert!(made.success());
    let pipe = path("pipe.c");
    let writer = std::thread::spawn(move || {
        let mut pipe = fs::OpenOptions::new().write(true).open(pipe).unwrap();
        // Until the reader has enough.
        while pipe.write_all(&[b'x'; 4096]).is_ok() {}
    });
    for (source, part) in [
        ("/dev/zero".to_owned(), "it is a device; name a file"),
        (path("hole.c"), "it is longer than 1 MiB"),
        (path("pipe.c"), "it is longer than 1 MiB"),
    ] {
        let output = gate4k(&["pack", &source, "-o", &path("entry")]);
        assert_eq!(output.status.code(), Some(3), "{source}: {}", told(&output));
        assert!(told(&output).contains(part), "{source}: {}", told(&output));
    }
    writer.join().unwrap();
}

/// An engine that always moves alike and stays after `quit`: another packing might end it, none makes it read moves.
fn a_fault_of_the_engine_itself_ends_the_packing() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("engine.c");
    let source = "#include <stdio.h>\nint main(){char l[9999];setbuf(stdout,0);while(1){if(!fgets(l,9999,stdin))return 0;\n\
                  if(*l=='u'&&l[3]<32)puts(\"uciok\");if(*l=='i')puts(\"readyok\");if(*l=='g')puts(\"bestmove e2e4\");}}\n";
    fs::write(&from, source).unwrap();
    let to = folder.path().join("entry");
    let output =
        gate4k(&["pack", "-q", "--quick", from.to_str().unwrap(), "-o", to.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    let told = told(&output);
    assert!(told.contains("uci-quit") && told.contains("uci-position"), "{told}");
    assert!(told.contains("the engine itself is not accepted, however it is packed"), "{told}");
    assert!(!to.exists());
}

fn hints_are_what_can_really_be_saved() {
    let entry = fixture("rules-example-2");
    let output = gate4k(&["size", "--hints", entry.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    let text = told(&output);
    assert!(text.contains("bytes less: the payload packed as lzma"), "{text}");
    assert!(text.contains("   1 byte  less: `tail -n+` for `tail -n +`"), "{text}");
    let output = gate4k(&["size", "--hints", fixture("elf").to_str().unwrap()]);
    let part = "bytes less: all of it packed by `gate4k pack`";
    assert!(told(&output).contains(part), "{}", told(&output));
    // A script by its interpreter, with its words.
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("engine");
    let text = format!("#!/usr/bin/python3 -u\n{}", "print('uciok')\n".repeat(99));
    fs::write(&script, text).unwrap();
    let output = gate4k(&["size", "-q", "--hints", script.to_str().unwrap()]);
    assert!(told(&output).contains(part), "{}", told(&output));
    fs::write(&script, "#!/bin/sh\nexec python3 -\n").unwrap();
    let output = gate4k(&["size", "--hints", script.to_str().unwrap()]);
    assert!(told(&output).contains("no other packing"), "{}", told(&output));
}

/// Section headers behind what is loaded, and zeros before them: the copy without them is proved by the gate.
fn the_end_of_an_executable_that_nothing_loads_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let sound = fs::read(fixture("elf")).unwrap();
    let mut longer = sound.clone();
    // The only segment of the fixture that has bytes of the file gets twenty more.
    let word = |at: usize| u64::from_le_bytes(sound[at..at + 8].try_into().unwrap());
    let (offset, length) = (word(64 + 8), word(64 + 32));
    assert_eq!(offset + length, sound.len() as u64, "the fixture ends with a segment");
    longer[64 + 32..64 + 40].copy_from_slice(&(length + 20).to_le_bytes());
    longer.extend([0; 20]);
    longer.extend(b".shstrtab");
    fs::write(path("entry"), &longer).unwrap();
    let output = gate4k(&["size", "--hints", &path("entry")]);
    let part = "29 bytes less: its end left out: 9 of which nothing is loaded, 20 of zeros";
    assert!(told(&output).contains(part), "{}", told(&output));
    let text = told(&output);
    let line = text.lines().find(|line| line.contains(part)).unwrap();
    let number = line.trim().split('.').next().unwrap();
    let output =
        gate4k(&["size", "--hints", "--apply", number, &path("entry"), "-o", &path("shorter")]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(fs::read(path("shorter")).unwrap().len(), sound.len());
}

/// The output of a command for the bytes, however it ends.
fn through(words: &str, data: &[u8]) -> Vec<u8> {
    let mut words = words.split(' ');
    let mut child = Command::new(words.next().unwrap())
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // It may have seen enough.
        scope.spawn(move || drop(input.write_all(data)));
        child.wait_with_output().unwrap().stdout
    })
}

fn c_source() -> Vec<u8> {
    fs::read(root().join("fixtures/src/engine.c")).unwrap()
}

fn each_command_unpacks_what_is_packed_for_it() {
    let data = c_source();
    let all = packer::all(&data);
    for by in [Unpacker::Xz, Unpacker::Gzip, Unpacker::Bzip2] {
        assert!(all.iter().any(|packed| packed.by == by), "nothing is packed for {by:?}");
    }
    for packed in all {
        assert!(through(packed.by.command(), &packed.bytes) == data, "{}", packed.how);
    }
}

fn what_has_no_head_is_read_by_the_command_that_it_names() {
    let data = c_source();
    let raw = packer::raw(&data).unwrap();
    assert_eq!(through(&raw.command, &raw.bytes), data);
    assert!(packer::unpacked(&raw.bytes).is_none());
}

fn it_is_smaller_than_what_xz_makes_with_its_best_settings() {
    let data = c_source();
    let by_hand = through("xz --format=lzma --lzma1=preset=9e,lc=4,lp=0,pb=0 -c", &data);
    assert!(packer::all(&data)[0].bytes.len() < by_hand.len());
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow it_packs_no_worse_than_by_hand [Python3],
        slow what_it_packs_is_proved_by_the_gate [Landlock, Python3, Xz],
        quick a_source_without_an_end_is_not_read_to_it,
        slow what_cannot_be_packed_is_told_and_nothing_is_written,
        slow a_fault_of_the_engine_itself_ends_the_packing [Landlock, Xz],
        quick hints_are_what_can_really_be_saved [Xz],
        slow the_end_of_an_executable_that_nothing_loads_is_left_out [Landlock],
        quick each_command_unpacks_what_is_packed_for_it [Xz, Bzip2],
        quick what_has_no_head_is_read_by_the_command_that_it_names [Xz],
        quick it_is_smaller_than_what_xz_makes_with_its_best_settings [Xz],
    ]
}
