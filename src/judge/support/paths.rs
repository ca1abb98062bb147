//! Paths by their form: programs, libraries, chess libraries.

use super::complaints::is_command_name;
use crate::model::command_words::base_name;
use crate::policy::libraries;
use crate::sandbox::plan::{is_shared_object, is_static_object};

/// Names of Python modules that know chess. (A Perl module that does is a library like any other: rule 7.6.)
const MODULES: [&str; 6] =
    ["chess", "python_chess", "python-chess", "pyffish", "stockfish", "shogi"];

/// Modules that Python itself looks for at every start; an entry has no part in it.
const LOOKED_FOR_BY_PYTHON: [&str; 4] =
    ["sitecustomize", "usercustomize", "apport_python_hook", "_distutils_hack"];

/// The name of the system's program that a path leads to. A program that can be read can be copied and run.
pub(crate) fn program_of(path: &str) -> Option<&str> {
    let (folder, name) = path.rsplit_once('/')?;
    let is_bin = ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"]
        .contains(&folder);
    (is_bin && is_command_name(name)).then_some(name)
}

/// True if a path is that of a library or module. A harmless probe (/etc/nsswitch.conf, a locale, the
/// directory of modules itself) is none.
pub(crate) fn is_library(path: &str) -> bool {
    let name = base_name(path);
    let stem = name.split('.').next().unwrap_or(name);
    if name == "ld.so.cache"
        || LOOKED_FOR_BY_PYTHON.contains(&stem)
        || path.contains("/_distutils_hack")
        || is_chess_path(path)
    {
        return false;
    }
    libraries::is_header(path)
        || is_static_object(path)
        || is_shared_object(name)
        || [".py", ".pyc", ".pm"].iter().any(|end| name.ends_with(end))
        // (Without an end to its name it is a directory, which is looked into and not loaded.)
        || below_packages(path).is_some_and(|rest| base_name(rest).contains('.') && !rest.ends_with(".pth"))
}

/// The part of a path after `dist-packages/` or `site-packages/`.
pub(crate) fn below_packages(path: &str) -> Option<&str> {
    ["/dist-packages/", "/site-packages/"]
        .iter()
        .find_map(|mark| path.split_once(mark))
        .map(|(_, rest)| rest)
}

/// True if a module's name is that of a chess library, or of something inside one.
pub(crate) fn is_chess_module(name: &str) -> bool {
    let first = name.split(['.', '/', ':']).next().unwrap_or(name);
    MODULES.contains(&first)
}

/// True if a path leads into a chess library among installed packages.
pub(crate) fn is_chess_path(path: &str) -> bool {
    below_packages(path).is_some_and(is_chess_module)
}
