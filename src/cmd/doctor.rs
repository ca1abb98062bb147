//! `gate4k doctor`: what this host can enforce, what it has, and how to mend each gap.

use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;

use super::early_end::EarlyEnd;
use super::layout_of;
use crate::cli::{DoctorArgs, OutputFormat};
use crate::doctor::selftest::{self, SelfTest, SelfTestResult};
use crate::doctor::{self, HostLine, HostState, host, tools};
use crate::model::exit::Exit;
use crate::policy::allowlist::Allowlist;
use crate::policy::decide::Strictness;
use crate::policy::toolchain::Toolchain;
use crate::sandbox::Sandbox;
use crate::sandbox::capability::Capability;
use crate::sandbox::timing;

/// Looks and prints; the outcome is [`Exit::Undecided`] where no entry could be accepted here.
pub(crate) fn run(args: &DoctorArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let list = match &args.allowlist {
        None => Allowlist::built_in().clone(),
        Some(path) => Allowlist::load(path).map_err(EarlyEnd::usage)?,
    };
    let lines = look(list);
    match args.format {
        OutputFormat::Json => out.write_all(doctor::json(&lines)?.as_bytes())?,
        format => out.write_all(doctor::human(&lines, layout_of(format)).as_bytes())?,
    }
    Ok(if doctor::is_fit(&lines) { Exit::Success } else { Exit::Undecided })
}

fn look(list: Allowlist) -> Vec<HostLine> {
    let capability = Capability::probe();
    let tools = Arc::new(Toolchain::discover(Arc::new(list), Strictness::Tolerant));
    let mut lines = host::Kernel::read(capability.landlock_abi).lines();
    lines.extend(host::layers(&capability.layers()));
    lines.extend(host::timing(&timing::facts()));
    let commands: Vec<_> = tools.commands().collect();
    let pythons: Vec<&'static str> = ["python3", "pypy3"]
        .into_iter()
        .filter(|python| commands.iter().any(|(c, real)| *c.name == **python && real.is_some()))
        .collect();
    let there = commands.iter().filter(|(_, real)| real.is_some());
    let tests: Vec<SelfTest> = there
        .map(|(command, _)| SelfTest::Command(command.name.to_string()))
        .chain(pythons.iter().map(|python| SelfTest::Module(python, "numpy")))
        .collect();
    let tried = if capability.enforces_files() {
        let sandbox = Sandbox::new(tools.host(capability.namespaces.is_ok()), tools.clone());
        // Most of the time goes into compilers that wait for nothing but a processor.
        let workers = std::thread::available_parallelism().map_or(2, NonZeroUsize::get) + 1;
        match selftest::run(&sandbox, &tests, workers) {
            Ok(tried) => {
                lines.push(HostLine::pass(
                    "sandbox",
                    "start",
                    "entries start, confined and traced",
                ));
                tried
            }
            Err(error) => {
                lines.push(
                    HostLine::pass("sandbox", "start", error.to_string())
                        .but(HostState::Fail, "mend what fails above"),
                );
                Vec::new()
            }
        }
    } else {
        Vec::new()
    };
    let nothing = SelfTestResult::default();
    let result = |test: &SelfTest| {
        tests
            .iter()
            .position(|other| other == test)
            .and_then(|at| tried.get(at))
            .unwrap_or(&nothing)
    };
    for (command, real) in &commands {
        let tried = result(&SelfTest::Command(command.name.to_string()));
        lines.push(tools::command(&command.name, command.class, *real, tried));
    }
    let granted = tools.grants.execute.iter().chain(&tools.grants.read);
    lines.extend(tools::libraries(granted));
    for python in pythons {
        lines.push(tools::module(python, result(&SelfTest::Module(python, "numpy"))));
    }
    lines
}
