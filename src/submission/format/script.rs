//! Scripts: the interpreter that the first line names, and the lines of a stub below it.

use super::env::{self, Sought};
use super::{FileFormat, FileKind, Reading};
use crate::model::command_words::base_name;
use crate::model::next_step::ENTRY;
use crate::model::text::escape;
use crate::model::typographic::Typographic;
use crate::policy::find::is_systems;
use crate::submission::shebang::Shebang;
use crate::submission::stub;

impl Reading<'_> {
    /// Advises on the lines of a stub that a shell does not read as its author meant them.
    pub(super) fn stub_text(&mut self, format: &FileFormat, reader: &str, bytes: &[u8]) {
        if !["sh", "bash", "dash"].contains(&reader) {
            return;
        }
        let end = format.stub_bytes.map_or(bytes.len(), |stub| stub.0 as usize);
        let stub = bytes.get(..end).unwrap_or(bytes);
        let lines = stub.split_inclusive(|byte| *byte == b'\n').zip(1..);
        let lines =
            lines.filter_map(|(line, number)| Some((std::str::from_utf8(line).ok()?, number)));
        // A first line that names the interpreter is looked at as such.
        let lines: Vec<(&str, usize)> = lines.filter(|(line, _)| !line.starts_with('#')).collect();
        if let Some((_, number)) = lines.iter().find(|(line, _)| line.ends_with("\r\n")) {
            self.remarks.advice(
                format!("line {number} ends with CR LF, so the shell takes the CR for a part of its last word"),
                "save the stub with LF line ends before its payload is put behind it (`tr -d '\\r'`)",
            );
        }
        let sign = |(line, number): &(&str, usize)| {
            Some((Typographic::first_in(&bare_words(line))?, *number))
        };
        if let Some((sign, number)) = lines.iter().find_map(sign) {
            self.remarks.advice(format!("line {number} has {} in it", sign.shown()), sign.help());
        }
    }

    pub(super) fn script(&mut self, shebang: &Shebang, bytes: &[u8]) -> FileFormat {
        let path = String::from_utf8_lossy(&shebang.interpreter).into_owned();
        let argument =
            (shebang.argument.as_deref()).map(|text| String::from_utf8_lossy(text).into_owned());
        let shown = escape(&shebang.interpreter, 120);
        let base = base_name(&path);
        let mut reader = base.trim_end_matches('\r').to_owned();
        if shebang.cut_off {
            self.remarks.advice(
                format!("the kernel reads 255 bytes of its first line, so {base} is given an argument that is cut off"),
                "write a first line of 255 bytes at most",
            );
        }
        if base.ends_with('\r') {
            self.remarks.fail(
                format!("it never starts: its first line ends with CR LF, so the kernel looks for {shown}"),
                format!(
                    "save it with LF line ends (sed -i 's/\\r$//' {ENTRY}), and mind that a binary payload stays as it is"
                ),
            );
        } else if !path.starts_with('/') {
            self.remarks.fail(
                format!(
                    "it never starts: {shown} is no absolute path, and the kernel does not search PATH"
                ),
                "write the interpreter's full path",
            );
        } else if !self.has_absolute(&path) {
            self.absent(&format!("its interpreter {shown}"), &path);
        } else if base == "env" {
            reader = self.looked_up(argument.as_deref()).unwrap_or(reader);
        } else if argument.as_deref().is_some_and(|text| text.ends_with('\r')) {
            self.remarks.advice(
                format!("its first line ends with CR LF, so {base} is given an argument with a CR"),
                "save it with LF line ends",
            );
        }
        let mut format =
            FileFormat::plain(FileKind::Script).packed(stub::of_script(bytes, &reader));
        self.stub_text(&format, &reader, bytes);
        format.interpreter = Some(shown);
        format.argument = (shebang.argument.as_deref()).map(|text| escape(text, 120));
        format.reader = Some(escape(reader.as_bytes(), 60));
        format
    }

    /// An interpreter or command, by its path or its name, that this host lacks.
    fn absent(&mut self, what: &str, path: &str) {
        let base = base_name(path);
        let directory = path.rsplit_once('/').map(|(directory, _)| directory);
        match self.list.command_or_version(base) {
            Some(command) if !directory.is_none_or(is_systems) => self.remarks.fail(
                format!("{what} is not on this host, and is no place where the event's machine has programs"),
                format!("name it as /usr/bin/{}, where the event's machine has it", command.name),
            ),
            Some(command) if self.host.has_command(&command.name) => self.remarks.undecided(
                format!("{what} is not on this host"),
                format!(
                    "name it as /usr/bin/{}, where the event's machine has it; or check it on a host that has {base} there",
                    command.name
                ),
            ),
            Some(_) => self.remarks.undecided(
                format!("{what} is not on this host"),
                format!("install {base} and check again; the event's machine has it"),
            ),
            None => self.remarks.fail(
                format!("{what} is not on this host, and {base} is no command that rule 7.5 lists"),
                "use an interpreter that rule 7.5 lists",
            ),
        }
    }

    /// The command that `env` is told to look up, by its name.
    fn looked_up(&mut self, argument: Option<&str>) -> Option<String> {
        let Sought { command, split, usual_path } = env::sought(argument?)?;
        let bare = command.trim_end_matches('\r');
        let path = bare.split_whitespace().next()?;
        let name = base_name(path);
        let shown = escape(command.as_bytes(), 60);
        let has_slash = path.contains('/');
        if bare != path {
            if !split {
                self.remarks.fail(
                    format!("it never starts: the kernel passes {shown:?} as one word, so env looks for a command of that name"),
                    format!("write the interpreter's full path, or #!/usr/bin/env -S {bare}"),
                );
            }
        } else if command != bare {
            self.remarks.fail(
                format!(
                    "it never starts: its first line ends with CR LF, so env looks for {shown}"
                ),
                "save it with LF line ends",
            );
        } else if has_slash && path.starts_with('/') && !self.has_absolute(path)
            || !has_slash && usual_path && !self.host.has_command(name)
        {
            self.absent(&format!("{shown}, which env looks up,"), path);
        }
        Some(name.to_owned())
    }
}

/// A line of a shell's script without its comment and without what stands in plain quotes, where every sign is one of the text.
fn bare_words(line: &str) -> String {
    let mut bare = String::new();
    let mut quote = None;
    let mut before = ' ';
    for sign in line.chars() {
        match quote {
            Some('"') if before == '\\' => {}
            Some(open) if open == sign => quote = None,
            Some(_) => {}
            None if sign == '#' && (before.is_whitespace() || ";&|()".contains(before)) => break,
            None if before != '\\' && matches!(sign, '\'' | '"') => quote = Some(sign),
            None => bare.push(sign),
        }
        before = sign;
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_quotes_are_no_words_of_a_shell() {
        for (line, bare) in [
            ("T=`mktemp` # “x”", "T=`mktemp` "),
            ("echo \"id – “x”\";tail -n+5 “$0”", "echo ;tail -n+5 “$0”"),
            ("echo ‘a' – 'b’", "echo ‘ab’"),
            ("echo \\\"–$#", "echo \\\"–$#"),
            ("echo 'an open – string", "echo "),
        ] {
            assert_eq!(bare_words(line), bare, "{line}");
        }
    }
}
