//! May this library be loaded, this module be imported (rules 7.6 and 7.7)? Pure: names and paths in,
//! a word out.

use crate::model::command_words::base_name;
use crate::policy::allowlist::{Allowlist, NamedLibrary};
use crate::policy::pattern;
use crate::sandbox::plan::{header_name, is_static_object};

/// The decision on a library or module under rules 7.6 and 7.7.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LibraryDecision {
    /// The library may be used, and this is the ground.
    Allowed(String),
    /// A chess library of the host (7.7), by its top-level name.
    ChessLibrary(String),
    /// The library is on no list; this names the lists.
    Refused(String),
    /// The file is neither a shared library nor a module of Python or Perl.
    NotALibrary,
}

impl LibraryDecision {
    /// True if it may be used.
    #[must_use]
    pub(crate) fn is_allowed(&self) -> bool {
        matches!(self, LibraryDecision::Allowed(_))
    }
}

/// Judges a name of DT_NEEDED (`libc.so.6`), a path that was opened, or the name of a Python module.
///
/// A path is first looked at as a module of Python or Perl, then as a shared library, which must have
/// an allowed name and lie where the system keeps its libraries. The libraries of the listed commands
/// themselves are known to whoever resolved them, not to this list.
#[must_use]
pub(crate) fn judge(list: &Allowlist, name_or_path: &str) -> LibraryDecision {
    if is_static_object(name_or_path) {
        // The objects of the compilers themselves are known to whoever resolved them.
        let base = base_name(name_or_path);
        let reason = format!("{base} is object code that comes with no compiler");
        return LibraryDecision::Refused(reason);
    }
    if let Some(word) = python_file(list, name_or_path) {
        return word;
    }
    if let Some(word) = perl_file(list, name_or_path) {
        return word;
    }
    if let Some(word) = header(list, name_or_path) {
        return word;
    }
    let base = base_name(name_or_path);
    if is_shared_library(base) {
        shared_library(list, name_or_path)
    } else if !name_or_path.contains('/') {
        python_module(list, name_or_path)
    } else {
        NOT
    }
}

/// True if a path is that of a header of the host.
pub(crate) fn is_header(path: &str) -> bool {
    header_name(path).is_some()
}

/// Judges a header: all of a library may be in it, and comes into the program that is compiled with it.
fn header(list: &Allowlist, path: &str) -> Option<LibraryDecision> {
    let name = header_name(path).filter(|_| !list.headers.is_empty())?;
    let top = name.split('/').next().unwrap_or(name);
    if let Some(chess @ LibraryDecision::ChessLibrary(_)) = named_module(list, module_of(top)) {
        return Some(chess);
    }
    let line = list.headers.iter().find(|line| pattern::covers(&line.path, path));
    Some(match line {
        Some(line) => LibraryDecision::Allowed(line.ground()),
        None => LibraryDecision::Refused(format!(
            "{top} is none of the headers that come with the system's libraries and compilers"
        )),
    })
}

const NOT: LibraryDecision = LibraryDecision::NotALibrary;

/// `libx.so`, `libx.so.6`, `x.cpython-311-x86_64-linux-gnu.so`; not `x.sort`.
pub(super) fn is_shared_library(base: &str) -> bool {
    base.ends_with(".so")
        || base
            .split_once(".so.")
            .is_some_and(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// A shared library by its name, and by its place where one is given.
fn shared_library(list: &Allowlist, path: &str) -> LibraryDecision {
    let base = base_name(path);
    let Some(line) = (list.libraries.iter()).find(|line| pattern::matches(&line.name, base)) else {
        return LibraryDecision::Refused(format!("{base} is not a library that rule 7.6 allows"));
    };
    let Some((directory, _)) = path.rsplit_once('/') else {
        return LibraryDecision::Allowed(line.ground());
    };
    let in_place = |directory: &str| {
        (list.library_directories.iter())
            .any(|place| pattern::matches(place.directory.trim_end_matches('/'), directory))
    };
    if in_place(directory) || below_usr(directory).is_some_and(|directory| in_place(&directory)) {
        LibraryDecision::Allowed(line.ground())
    } else {
        LibraryDecision::Refused(format!(
            "{base} has an allowed name, but {directory} is no directory of the system's libraries"
        ))
    }
}

/// The path below /usr of what lies below /lib or its like: one is a link to the other on most hosts, and the loader asks by either.
pub(crate) fn below_usr(path: &str) -> Option<String> {
    let first = path.strip_prefix('/')?.split('/').next()?;
    matches!(first, "lib" | "lib32" | "lib64" | "libx32").then(|| format!("/usr{path}"))
}

/// A module by its dotted name, as `import` has it: what is neither allowed nor a chess library is
/// unknown here, since the names of the standard library are not listed.
fn python_module(list: &Allowlist, name: &str) -> LibraryDecision {
    let top = name.split('.').next().unwrap_or(name);
    named_module(list, name).or_else(|| named_module(list, top)).unwrap_or(NOT)
}

fn named_module(list: &Allowlist, name: &str) -> Option<LibraryDecision> {
    let find = |lines: &[NamedLibrary]| {
        (lines.iter()).find(|line| pattern::matches(&line.name, name)).map(NamedLibrary::ground)
    };
    find(&list.chess_libraries)
        .map(|_| LibraryDecision::ChessLibrary(name.to_owned()))
        .or_else(|| find(&list.python_modules).map(LibraryDecision::Allowed))
}

/// Judges a file in a directory of Python's: in site-packages or dist-packages the top-level name decides,
/// elsewhere it is the standard library.
fn python_file(list: &Allowlist, path: &str) -> Option<LibraryDecision> {
    if !path.starts_with('/') {
        return None;
    }
    let components: Vec<&str> = path.split('/').collect();
    let packages = |name: &&str| matches!(*name, "site-packages" | "dist-packages");
    // the last one: numpy.libs of an environment below another's site-packages is still numpy's
    if let Some(at) = components.iter().rposition(packages) {
        let top = *components.get(at + 1)?;
        if top.is_empty() {
            return None;
        }
        let word = named_module(list, module_of(top)).or_else(|| named_module(list, top));
        return Some(word.unwrap_or_else(|| {
            LibraryDecision::Refused(format!(
                "the Python module {} is not in the standard library and not NumPy",
                module_of(top)
            ))
        }));
    }
    (list.python_directories.iter())
        .find(|place| pattern::covers(&place.directory, path))
        .map(|place| LibraryDecision::Allowed(place.ground()))
}

/// `chess` of `chess.py`, `chess.cpython-311-x86_64-linux-gnu.so` and `chess`.
fn module_of(top: &str) -> &str {
    let file = top.ends_with(".py") || top.ends_with(".pyc") || top.ends_with(".so");
    match top.split_once('.') {
        Some((module, _)) if file => module,
        _ => top,
    }
}

/// Judges a file in a directory of Perl's core, and any `.pm` elsewhere.
fn perl_file(list: &Allowlist, path: &str) -> Option<LibraryDecision> {
    if !path.starts_with('/') {
        return None;
    }
    let is_installed = ["/site_perl/", "/vendor_perl/"].iter().any(|part| path.contains(part));
    if let Some(place) = (list.perl_directories.iter())
        .find(|place| !is_installed && pattern::covers(&place.directory, path))
    {
        return Some(LibraryDecision::Allowed(place.ground()));
    }
    if !(path.ends_with(".pm") || path.contains("/perl5/") || is_installed) {
        return None;
    }
    let module = base_name(path).trim_end_matches(".pm");
    let chess = path.split('/').any(|part| {
        let part = part.trim_end_matches(".pm");
        matches!(named_module(list, part), Some(LibraryDecision::ChessLibrary(_)))
    });
    Some(if chess {
        LibraryDecision::ChessLibrary(module.to_owned())
    } else {
        LibraryDecision::Refused(format!("the Perl module {module} is not a core module"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(name: &str) -> char {
        match judge(Allowlist::built_in(), name) {
            LibraryDecision::Allowed(ground) => {
                assert!(!ground.is_empty());
                'a'
            }
            LibraryDecision::ChessLibrary(_) => 'c',
            LibraryDecision::Refused(_) => 'r',
            LibraryDecision::NotALibrary => 'n',
        }
    }

    #[test]
    fn libraries_need_a_name_and_a_place() {
        for (path, expected) in [
            ("libc.so.6", 'a'),
            ("ld-linux-x86-64.so.2", 'a'),
            ("libstdc++.so.6", 'a'),
            ("libcuda.so.1", 'a'),
            ("libOpenCL.so.1", 'a'),
            ("libcurl.so.4", 'r'),
            ("libchess.so", 'r'),
            ("/lib/x86_64-linux-gnu/libc.so.6", 'a'),
            ("/usr/lib/x86_64-linux-gnu/libm.so.6", 'a'),
            ("/usr/local/cuda-12.4/targets/x/lib/libcudart.so.12", 'a'),
            ("/usr/local/nvidia/lib64/libcuda.so.1", 'a'),
            ("/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1", 'a'),
            ("/lib/x86_64-linux-gnu/pocl/libpocl-devices-basic.so", 'a'),
            ("/tmp/pocl/libpocl-devices-basic.so", 'r'),
            ("/tmp/libc.so.6", 'r'),
            ("/lib/ld-linux.so.2", 'a'),
            ("/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0", 'r'),
            ("/usr/lib/python3.11/config-3.11-x86_64-linux-gnu/libpython3.11.a", 'r'),
            ("/usr/lib/python3/dist-packages/numpy/core/lib/libnpymath.a", 'r'),
            ("/usr/lib/x86_64-linux-gnu/crt1.o", 'r'),
            ("/etc/ld.so.cache", 'n'),
            ("/tmp/list.sort", 'n'),
            ("", 'n'),
        ] {
            assert_eq!(letter(path), expected, "{path}");
        }
    }

    #[test]
    fn headers_are_those_of_the_system() {
        for (path, expected) in [
            ("/usr/include/stdio.h", 'a'),
            ("/usr/include/c++/12/bits/stl_vector.h", 'a'),
            ("/usr/include/x86_64-linux-gnu/c++/12/32/bits/c++config.h", 'a'),
            ("/usr/include/x86_64-linux-gnu/bits/types.h", 'a'),
            ("/usr/include/x86_64-linux-musl/stdio.h", 'a'),
            ("/usr/include/linux/futex.h", 'a'),
            ("/usr/include/CL/cl.h", 'a'),
            ("/usr/include/tbb/tbb.h", 'a'),
            ("/usr/include/nettle/aes.h", 'r'),
            ("/usr/include/boost/multiprecision/cpp_int.hpp", 'r'),
            ("/usr/include/x86_64-linux-gnu/openssl/configuration.h", 'r'),
            ("/usr/include/bits.hpp", 'r'),
            ("/usr/include/chess.hpp", 'c'),
            ("/usr/include/chess.h", 'c'),
            ("/usr/local/include/chess/board.hpp", 'c'),
            ("/usr/local/include/own.h", 'r'),
            ("/usr/include", 'n'),
            ("/usr/include/", 'n'),
            ("/usr/lib/gcc/x86_64-linux-gnu/12/include/immintrin.h", 'n'),
        ] {
            assert_eq!(letter(path), expected, "{path}");
        }
        let none = "version = 1\n";
        let list = Allowlist::parse(none, std::path::Path::new("list.toml")).unwrap();
        assert_eq!(judge(&list, "/usr/include/boost/any.hpp"), NOT, "an older list has no headers");
    }

    #[test]
    fn modules_are_judged_by_their_top_level_name() {
        for (path, expected) in [
            ("numpy", 'a'),
            ("chess", 'c'),
            ("chess.engine", 'c'),
            ("json", 'n'),
            ("/usr/lib/python3.11/json/decoder.py", 'a'),
            ("/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so", 'a'),
            ("/usr/lib/python3/dist-packages/numpy/core/_multiarray.so", 'a'),
            ("/usr/lib/python3.11/site-packages/numpy.libs/libopenblas.so.0", 'a'),
            ("/usr/lib/python3.11/site-packages/numpy-1.26.4.dist-info/METADATA", 'a'),
            ("/usr/lib/python3/dist-packages/chess/__init__.py", 'c'),
            ("/usr/local/lib/python3.11/dist-packages/chess.py", 'c'),
            ("/usr/lib/python3/dist-packages/requests/__init__.py", 'r'),
            ("/opt/x/.pyenv/versions/3.12.1/lib/python3.12/json/__init__.py", 'a'),
            ("/usr/lib/pypy3.9/json.py", 'a'),
            ("/usr/share/perl/5.36.0/strict.pm", 'a'),
            ("/usr/share/perl5/Chess/PGN/Parse.pm", 'c'),
            ("/usr/share/perl5/JSON.pm", 'r'),
            ("/usr/lib64/perl5/DynaLoader.pm", 'a'),
            ("/usr/lib64/perl5/vendor_perl/JSON/XS.pm", 'r'),
        ] {
            assert_eq!(letter(path), expected, "{path}");
        }
    }
}
