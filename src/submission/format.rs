//! Rule `format` (7.2, 7.10): an executable or a script that this kind of host can start.
//!
//! The reader looks at bytes only; whether the thing really starts is for the rules that run it.

mod env;
mod script;

use std::path::Path;

use serde::Serialize;

use crate::model::next_step::ENTRY;
use crate::model::rule::RuleId;
use crate::model::text::escape;
use crate::model::units::Bytes;
use crate::model::verdict::{Finding, Status};
use crate::policy::allowlist::Allowlist;
use crate::policy::find::SYSTEM_PATH;
use crate::policy::libraries;
use crate::submission::Mode;
use crate::submission::elf::{self, Class, Elf, ElfFault, Linkage};
use crate::submission::shebang::{self, FirstLine};
use crate::submission::stub::{self, Packing};

/// The kind of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FileKind {
    /// An ELF file.
    Elf,
    /// A script with a shebang.
    Script,
    /// A text without one, which a shell runs after the kernel refused it.
    ShellText,
    /// Nothing at all.
    Empty,
    /// A program for Windows.
    Pe,
    /// A program for DOS.
    Dos,
    /// A program for macOS.
    MachO,
    /// Compiled Java.
    JavaClass,
    /// A zip archive (jar, wheel).
    Zip,
    /// WebAssembly.
    Wasm,
    /// Compressed data without a stub.
    Compressed,
    /// Anything else.
    #[default]
    Unknown,
}

/// The kinds of file that an event takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Files {
    /// All that a host can start (rule 7.2).
    #[default]
    All,
    /// ELF executables alone, as in TCEC's "4k ELF-Only" events.
    ElfOnly,
}

impl Files {
    /// All, or ELF executables only.
    pub(crate) fn of(elf_only: bool) -> Files {
        if elf_only { Files::ElfOnly } else { Files::All }
    }
}

impl FileKind {
    fn word(self) -> &'static str {
        match self {
            FileKind::Elf => "an ELF file",
            FileKind::Script => "a script",
            FileKind::ShellText => "a shell script",
            FileKind::Empty => "an empty file",
            FileKind::Pe => "a program for Windows (PE)",
            FileKind::Dos => "a program for DOS (MZ)",
            FileKind::MachO => "a program for macOS (Mach-O)",
            FileKind::JavaClass => "a compiled Java class",
            FileKind::Zip => "a zip archive (zip, jar, wheel)",
            FileKind::Wasm => "a WebAssembly module",
            FileKind::Compressed => "compressed data without a stub that unpacks them",
            FileKind::Unknown => "neither an executable nor text",
        }
    }

    /// The next step for a file that the event's machine cannot start.
    fn instead(self) -> &'static str {
        match self {
            FileKind::Pe | FileKind::Dos | FileKind::MachO => "build it for x86-64 Linux",
            FileKind::Zip => {
                "take out of it the one file that is the engine, and hand that in; one that Python is to run (`__main__.py`) needs the \
                 line `#!/usr/bin/python3` before it"
            }
            FileKind::Compressed => {
                "unpack it, and give the file that comes out to `gate4k pack`: it packs it behind a stub that unpacks it \
                 at the start"
            }
            _ => "hand in an ELF executable for x86-64 Linux or a script",
        }
    }
}

/// The facts of a file that its bytes tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileFormat {
    /// The kind of the file.
    pub(crate) kind: FileKind,
    /// ELF: 32 or 64 bits.
    pub(crate) class: Option<Class>,
    /// ELF: the machine.
    pub(crate) machine: Option<String>,
    /// ELF: static or dynamic.
    pub(crate) linkage: Option<Linkage>,
    /// ELF: the loader (PT_INTERP). Scripts: the path of the shebang, escaped.
    pub(crate) interpreter: Option<String>,
    /// Scripts: the shebang's one argument, escaped.
    pub(crate) argument: Option<String>,
    /// Scripts: the name of the program that reads it (`sh`; with `env`, what env looks up).
    pub(crate) reader: Option<String>,
    /// ELF: DT_NEEDED.
    pub(crate) needed: Vec<String>,
    /// The packer that was found.
    pub(crate) packer: Option<String>,
    /// Bytes that unpack and start the rest, where that can be told.
    pub(crate) stub_bytes: Option<Bytes>,
    /// Bytes that are unpacked, where that can be told.
    pub(crate) payload_bytes: Option<Bytes>,
    /// The format of the packed bytes (`xz`), where a magic number tells.
    pub(crate) payload_magic: Option<&'static str>,
}

impl FileFormat {
    fn plain(kind: FileKind) -> FileFormat {
        FileFormat { kind, ..FileFormat::default() }
    }

    fn packed(mut self, packing: Packing) -> FileFormat {
        // The words name the program of the first line as it is written.
        self.packer = packing.packer.map(|packer| escape(packer.as_bytes(), 120));
        self.stub_bytes = packing.stub;
        self.payload_bytes = packing.packed;
        self.payload_magic = packing.magic;
        self
    }

    /// True if a shell, rather than the kernel, has to be tried with it: a script for `sh`.
    pub(crate) fn is_for_sh(&self) -> bool {
        self.kind == FileKind::ShellText || self.reader.as_deref() == Some("sh")
    }

    /// The format in a line for people.
    pub fn describe(&self) -> String {
        let mut line = match (self.kind, self.class) {
            (FileKind::Elf, Some(class)) => format!(
                "ELF executable, {} bits, {}, {}",
                class.bits(),
                self.machine.as_deref().unwrap_or("?"),
                self.linkage.map_or("?", Linkage::word)
            ),
            (FileKind::Script, _) => {
                format!("script for {}", self.reader.as_deref().unwrap_or("?"))
            }
            (FileKind::ShellText, _) => "script without a shebang, which a shell runs".to_owned(),
            (kind, _) => kind.word().to_owned(),
        };
        if let Some(packer) = &self.packer {
            line.push_str(&format!(", packed ({packer})"));
        }
        if let (Some(stub), Some(payload)) = (self.stub_bytes, self.payload_bytes) {
            line.push_str(&format!(": stub {}, payload {}", stub.0, payload));
        }
        line
    }
}

/// The machine whose code a host can execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// x86-64, which runs i386 as well. The event's machine is one.
    X86_64,
    /// Another machine, by ELF's name for it (`AArch64`).
    Other(&'static str),
}

/// The facts of a host on which the judgement of a format rests.
pub trait FormatHost {
    /// The machine whose code it executes.
    fn machine(&self) -> Machine;
    /// True if there is such a file.
    fn has_file(&self, path: &Path) -> bool;
    /// True if a command of that name is found along the usual PATH.
    fn has_command(&self, name: &str) -> bool;
}

/// The host that this program runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThisHost;

impl FormatHost for ThisHost {
    fn machine(&self) -> Machine {
        match std::env::consts::ARCH {
            "x86_64" => Machine::X86_64,
            "aarch64" => Machine::Other("AArch64"),
            other => Machine::Other(other),
        }
    }

    fn has_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn has_command(&self, name: &str) -> bool {
        SYSTEM_PATH.iter().any(|directory| Path::new(directory).join(name).is_file())
    }
}

/// The remarks on a file, from the worst down.
#[derive(Default)]
struct Remarks {
    fail: Vec<(String, String)>,
    undecided: Vec<(String, String)>,
    advice: Vec<(String, String)>,
}

/// A remark and its help with all text of the file escaped, which both may repeat; text that was escaped before stays as it is.
fn harmless(what: impl Into<String>, help: impl Into<String>) -> (String, String) {
    (escape(what.into().as_bytes(), 1000), escape(help.into().as_bytes(), 1000))
}

impl Remarks {
    fn fail(&mut self, what: impl Into<String>, help: impl Into<String>) {
        self.fail.push(harmless(what, help));
    }

    fn undecided(&mut self, what: impl Into<String>, help: impl Into<String>) {
        self.undecided.push(harmless(what, help));
    }

    fn advice(&mut self, what: impl Into<String>, help: impl Into<String>) {
        self.advice.push(harmless(what, help));
    }

    fn finding(self, format: &FileFormat) -> Finding {
        let status = match (&self.fail[..], &self.undecided[..], &self.advice[..]) {
            ([_, ..], _, _) => Status::Fail,
            (_, [_, ..], _) => Status::Undecided,
            (_, _, [_, ..]) => Status::Advice,
            _ => Status::Pass,
        };
        let mut remarks = self.fail.into_iter().chain(self.undecided).chain(self.advice);
        let mut finding = match remarks.next() {
            Some((what, help)) => {
                Finding::new(RuleId::Format, status, format!("{}; {what}", format.describe()))
                    .help(help)
            }
            None => Finding::new(RuleId::Format, status, format.describe()),
        };
        finding = finding.details(remarks.map(|(what, help)| format!("{what}: {help}")));
        if let Ok(serde_json::Value::Object(evidence)) = serde_json::to_value(format) {
            finding.evidence = evidence;
        }
        finding
    }
}

/// Reads the format of a file and makes the finding.
pub fn judge(
    bytes: &[u8],
    mode: Mode,
    files: Files,
    host: &dyn FormatHost,
    list: &Allowlist,
) -> (FileFormat, Finding) {
    let mut reading = Reading { host, list, remarks: Remarks::default() };
    let format = reading.read(bytes);
    let mut remarks = reading.remarks;
    if files == Files::ElfOnly && matches!(format.kind, FileKind::Script | FileKind::ShellText) {
        remarks.fail(
            "this event takes ELF executables only",
            "enter the program itself: an ELF executable, without a script that unpacks or compiles it",
        );
    }
    let runs = matches!(format.kind, FileKind::Elf | FileKind::Script | FileKind::ShellText);
    if runs && !mode.is_executable() {
        remarks.advice("it has no execute bit", format!("set it: chmod +x {ENTRY}"));
    }
    let finding = remarks.finding(&format);
    (format, finding)
}

/// A file that is read on a host, by a list of what is allowed, with what is to be said about it.
struct Reading<'a> {
    host: &'a dyn FormatHost,
    list: &'a Allowlist,
    remarks: Remarks,
}

impl Reading<'_> {
    fn read(&mut self, bytes: &[u8]) -> FileFormat {
        if elf::is_elf(bytes) {
            return match elf::parse(bytes) {
                Ok(elf) => self.executable(elf, bytes),
                Err(fault) => {
                    self.broken_elf(&fault);
                    FileFormat::plain(FileKind::Elf)
                }
            };
        }
        match shebang::parse(bytes) {
            FirstLine::Shebang(shebang) => self.script(&shebang, bytes),
            FirstLine::Refused(why) => {
                self.remarks.advice(
                    format!("its first line {why}, so the kernel does not start it"),
                    match why {
                        shebang::CUT_OFF => "write a first line of 255 bytes at most",
                        _ => "write the interpreter's path there",
                    },
                );
                shell_text(bytes)
            }
            FirstLine::Other => match not_text(bytes) {
                Some(kind) => {
                    self.remarks.fail("the event's machine cannot start it", kind.instead());
                    FileFormat::plain(kind)
                }
                None => {
                    let later = (bytes.iter().position(|byte| !byte.is_ascii_whitespace()))
                        .is_some_and(|at| bytes[at..].starts_with(b"#!"));
                    if bytes.starts_with(b"\xef\xbb\xbf#!") {
                        self.remarks.advice(
                            "it begins with a byte order mark (EF BB BF), so the kernel sees no shebang and does not start it; which shell \
                             does is up to the caller",
                            "remove its first 3 bytes (UTF-8 without BOM); all lines stay where they are",
                        );
                    } else if later {
                        self.remarks.advice(
                            "the kernel sees no shebang below the first line",
                            "begin the file with #!",
                        );
                    } else if bytes.starts_with(b"#if 0") {
                        // A compiler that is given the file itself takes no `#!`.
                        self.remarks.advice(
                            "the kernel does not start it; which shell does is up to the caller",
                            "begin the file with #!/bin/sh, and give the compiler what stands below that line (`tail -n+2 \"$0\"|cc -xc -` in \
                             place of `cc -xc \"$0\"`); or leave it so, and try it where /bin/sh is dash and where it is bash",
                        );
                    } else {
                        self.remarks.advice(
                            "the kernel does not start it; which shell does is up to the caller",
                            "begin the file with #!/bin/sh, which costs 10 bytes, and count the new line where a stub cuts its payload (`tail -n +N`); or \
                             leave it so, and try it where /bin/sh is dash and where it is bash",
                        );
                    }
                    let format = shell_text(bytes);
                    self.stub_text(&format, "sh", bytes);
                    format
                }
            },
        }
    }

    /// True if the host has a file of that absolute path; a relative one depends on who starts the entry.
    fn has_absolute(&self, path: &str) -> bool {
        path.starts_with('/') && self.host.has_file(Path::new(path))
    }

    fn broken_elf(&mut self, fault: &ElfFault) {
        let help = "build it for x86-64 Linux (or i386)";
        match (fault, self.host.machine()) {
            (ElfFault::Machine(machine), Machine::Other(own)) if machine == own => {
                // only reached for machines whose headers are not read here
                self.remarks.undecided(format!("{fault}, as this host is"), help);
            }
            (ElfFault::Header(_), _) => self.remarks.fail(
                format!("the kernel refuses it: {fault}"),
                "check its program headers; the kernel reads nothing else",
            ),
            (ElfFault::CoreDump, _) => self.remarks.fail(
                fault.to_string(),
                "hand in the program itself: a core dump is the memory of one that crashed",
            ),
            (ElfFault::Kind(_), _) => {
                self.remarks.fail(
                    fault.to_string(),
                    format!("link it into a program: cc -o program {ENTRY}"),
                );
            }
            _ => self.remarks.fail(fault.to_string(), help),
        }
    }

    fn executable(&mut self, elf: Elf, bytes: &[u8]) -> FileFormat {
        let x86 = matches!(elf.machine.as_str(), "x86-64" | "i386");
        match self.host.machine() {
            Machine::X86_64 if !x86 => self.remarks.fail(
                format!("it is made for {}", elf.machine),
                "build it for x86-64 Linux (or i386)",
            ),
            Machine::Other(own) if own != elf.machine && x86 => self.remarks.undecided(
                format!("this host is {own} and cannot run it"),
                "check it on an x86-64 machine, as the event's is",
            ),
            Machine::Other(own) if own != elf.machine => self.remarks.fail(
                format!("it is made for {}, and this host is {own}", elf.machine),
                "build it for x86-64 Linux (or i386)",
            ),
            _ => {
                if let Some(loader) =
                    (elf.interpreter.as_deref()).filter(|path| !self.has_absolute(path))
                {
                    let what = format!("its loader {loader} is not on this host");
                    // A host may have it where systems keep their libraries, and nowhere else.
                    let is_systems =
                        loader.starts_with('/') && libraries::judge(self.list, loader).is_allowed();
                    if is_systems {
                        self.remarks.undecided(
                            what,
                            "check it where that loader is installed, or link it statically",
                        );
                    } else {
                        self.remarks.fail(what, "link it with the system's loader, or statically");
                    }
                }
            }
        }
        let mut format = FileFormat::plain(FileKind::Elf).packed(stub::of_elf(bytes));
        format.class = Some(elf.class);
        format.machine = Some(elf.machine);
        format.linkage = Some(elf.linkage);
        format.interpreter = elf.interpreter;
        format.needed = elf.needed;
        format
    }
}

fn shell_text(bytes: &[u8]) -> FileFormat {
    let mut format = FileFormat::plain(FileKind::ShellText).packed(stub::of_script(bytes, "sh"));
    format.reader = Some("sh".to_owned());
    format
}

/// The kind of a file that neither the kernel nor a shell takes; none for one that a shell tries.
fn not_text(bytes: &[u8]) -> Option<FileKind> {
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    if bytes.is_empty() {
        return Some(FileKind::Empty);
    }
    if starts(b"MZ") {
        let pe = (bytes.get(0x3c..0x40))
            .and_then(|at| usize::try_from(u32::from_le_bytes(at.try_into().ok()?)).ok())
            .and_then(|at| bytes.get(at..at.checked_add(4)?))
            == Some(b"PE\0\0");
        if pe {
            return Some(FileKind::Pe);
        }
    }
    for magic in [0xfeed_face_u32, 0xfeed_facf] {
        if starts(&magic.to_le_bytes()) || starts(&magic.to_be_bytes()) {
            return Some(FileKind::MachO);
        }
    }
    if starts(b"\xca\xfe\xba\xbe") {
        // a universal binary has a handful of architectures where Java has its version, at least 45
        let number = bytes.get(4..8).map_or(0, |b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]));
        return Some(if number < 45 { FileKind::MachO } else { FileKind::JavaClass });
    }
    if starts(b"\0asm") {
        return Some(FileKind::Wasm);
    }
    match stub::magic(bytes) {
        Some("zip") => return Some(FileKind::Zip),
        Some(_) => return Some(FileKind::Compressed),
        None => {}
    }
    // as bash does: a NUL before the first newline means that this is no script
    let first_line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if first_line.contains(&0) {
        return Some(if starts(b"MZ") { FileKind::Dos } else { FileKind::Unknown });
    }
    // the first word names a command, which no file of binary junk does
    let mut words = bytes.split(|byte| byte.is_ascii_whitespace());
    match words.find(|word| !word.is_empty()) {
        None => Some(FileKind::Empty),
        Some(word) => {
            let text = std::str::from_utf8(&word[..word.len().min(80)]);
            let begun = match text {
                Ok(text) => !text.contains(char::is_control),
                Err(error) => {
                    let good = &word[..error.valid_up_to()];
                    good.len() > 1 && good.iter().all(|byte| !byte.is_ascii_control())
                }
            };
            (!begun).then_some(FileKind::Unknown)
        }
    }
}

#[cfg(test)]
mod tests;
