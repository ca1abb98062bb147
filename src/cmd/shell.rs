//! `gate4k completions` and `gate4k man`: what a package puts beside the program.

use std::io::Write;

use anyhow::Context;
use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::files::write::make_folder;
use crate::model::exit::Exit;
use crate::model::text::shown;

/// The completions of a shell on standard output.
pub(crate) fn completions(args: &CompletionsArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    // Made in memory: the generator would panic on an output that is closed.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "gate4k", &mut text);
    out.write_all(&text)?;
    Ok(Exit::Success)
}

/// A manual page on standard output, or all of them into a folder.
pub(crate) fn man(args: &ManArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    match &args.out {
        Some(folder) => {
            make_folder(folder)
                .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
                .with_context(|| format!("cannot write the pages into {}", shown(folder)))?;
        }
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut text)?;
            out.write_all(&text)?;
        }
    }
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;
    use clap_complete::Shell;

    #[test]
    fn every_shell_learns_every_command() {
        for shell in Shell::value_variants() {
            let mut out = Vec::new();
            completions(&CompletionsArgs { shell: *shell }, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            for command in Cli::command().get_subcommands() {
                assert!(text.contains(command.get_name()), "{shell}: {}", command.get_name());
            }
        }
    }

    #[test]
    fn every_command_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        man(&ManArgs { out: Some(folder.path().into()) }, &mut Vec::new()).unwrap();
        assert!(folder.path().join("gate4k.1").exists());
        for command in Cli::command().get_subcommands() {
            let page = folder.path().join(format!("gate4k-{}.1", command.get_name()));
            assert!(page.exists(), "{}", page.display());
        }
        let mut out = Vec::new();
        man(&ManArgs { out: None }, &mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().contains(".TH gate4k 1"));
    }
}
