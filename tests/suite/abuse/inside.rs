//! Runs an attack in the sandbox and holds what came of it against what must be named.

use std::sync::Arc;
use std::time::Duration;

use gate4k::model::evidence::{
    ExecOutcome, ExitHow, LeftProcess, ProgramClass, RecordPart, Resource, Shell,
};
use gate4k::model::rule::RuleId;
use gate4k::model::units::Bytes;
use gate4k::model::verdict::Status;
use gate4k::policy::allowlist::Allowlist;
use gate4k::policy::decide::Strictness;
use gate4k::policy::toolchain::Toolchain;
use gate4k::sandbox::Sandbox;
use gate4k::sandbox::plan::{Audit, Staging, StartPlan, Traces};

use super::attack::{Attack, Named, Place, Told};
use super::program::Program;
use super::verdict::{self, Sound};
use super::world::World;
use crate::sandboxed::{Done, run_plan};

/// The sandbox as an event has it, and one with little room, so that little has to be filled.
pub(crate) struct Sandboxes {
    plain: Sandbox,
    small: Sandbox,
    tools: Arc<Toolchain>,
}

impl Sandboxes {
    pub(crate) fn new(namespaces: bool) -> Sandboxes {
        let list = Arc::new(Allowlist::built_in().clone());
        let tools = Arc::new(Toolchain::discover(list, Strictness::Tolerant));
        let mut host = tools.host(namespaces);
        host.memory = Bytes(96 << 20);
        host.tasks = 150;
        let programs = || Arc::clone(&tools) as Arc<_>;
        Sandboxes {
            small: Sandbox::new(host, programs()),
            plain: Sandbox::new(tools.host(namespaces), programs()),
            tools,
        }
    }

    pub(crate) fn sound(&self, namespaces: bool) -> Sound {
        Sound::probe(&self.plain, &self.tools, namespaces)
    }

    pub(crate) fn plain(&self) -> &Sandbox {
        &self.plain
    }
}

/// Runs one entry. Nothing of it is waited for longer than `patience`.
pub(crate) fn run(sandbox: &Sandbox, bytes: Vec<u8>, audit: Audit, patience: Duration) -> Done {
    let plan =
        StartPlan { bytes: bytes.into(), staging: Staging::Neutral, shell: Shell::AsIs, audit };
    run_plan(sandbox, &plan, patience, Duration::from_millis(300))
}

/// Everything that is wrong with how the sandbox held.
pub(crate) fn judge(
    attack: &Attack,
    place: Place,
    sandboxes: &Sandboxes,
    program: &Program,
    world: &World,
    sound: &Sound,
) -> Vec<String> {
    let sandbox = if attack.is_about_limits() { &sandboxes.small } else { &sandboxes.plain };
    // Filling directories takes long under the eyes of a tracer.
    let audit = if attack.name == "inode_fill" { Audit::ProgramsOnly } else { Audit::Full };
    // Each of thousands of files or programs is a stop of its tracer; and one that kills itself in an open tries longer and longer.
    let is_long = ["inode_fill", "flood", "killed"].iter().any(|part| attack.name.contains(part));
    let patience = Duration::from_secs(if is_long { 240 } else { 40 });
    let done = run(sandbox, program.entry(attack, world), audit, patience);
    let mut wrong = Vec::new();
    if done.out.contains("ESCAPED") && !attack.may_work {
        wrong.push("it worked".to_owned());
    }
    for named in attack.must_name(place) {
        if !is_named(*named, attack, &done, world) {
            wrong.push(format!("{named:?} is not in the report"));
        }
    }
    if attack.name == "mode_0111"
        && !is_named(Named::Product, attack, &done, world)
        && !is_named(Named::Denial("cannot be looked at"), attack, &done, world)
    {
        wrong.push("it was neither listed nor ended".into());
    }
    for LeftProcess { pid, .. } in &done.left {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(')').and_then(|(_, tail)| tail.trim_start().chars().next());
        if state.is_some_and(|state| !"ZX".contains(state)) {
            wrong.push(format!("process {pid} outlived the sandbox"));
        }
    }
    if let Some(harm) = world.harm() {
        wrong.push(harm);
    }
    if world.is_connected_to() {
        wrong.push("it connected to a server outside".into());
    }
    for text in raw_text(&done.traces) {
        if text.chars().any(char::is_control) {
            wrong.push(format!("{text:?} is not escaped"));
        }
    }
    let findings = sound.with(&done, &sandboxes.tools);
    let killed = matches!(done.exit, Some(ExitHow::Signal(_)));
    let left = !done.left.is_empty();
    let mut told = attack.told(place, &world.tell(attack.param), killed, left);
    let cut_off = Named::Unrecorded(RecordPart::Paths);
    if attack.may_be_cut_off && is_named(cut_off, attack, &done, world) {
        let open = [RuleId::Commands, RuleId::ChessLibrary];
        let name = RecordPart::Paths.to_string();
        told.extend(open.map(|rule| Told { rule, status: Status::Undecided, name: name.clone() }));
    }
    let mut accused = verdict::wrong(&findings, &told);
    if attack.may_be_caught && !accused.is_empty() {
        // Then it is the file outside that it has started, by its name, and nothing else.
        let target = world.tell(attack.param);
        let name = target.rsplit('/').next().unwrap_or_default().to_owned();
        let refused = done.traces.execs.iter().filter(|e| e.class == ProgramClass::Refused);
        let others = refused.filter(|exec| exec.name != name).count();
        let caught = Told { rule: RuleId::Commands, status: Status::Fail, name };
        accused = verdict::wrong(&findings, &[caught]);
        if others > 0 {
            accused.push(format!("{others} other programs are called refused"));
        }
    }
    wrong.extend(accused);
    if !wrong.is_empty() {
        let t = &done.traces;
        let execs: Vec<_> = (t.execs.iter().rev().take(4))
            .map(|e| (&e.name, &e.asked, &e.real, e.class, e.outcome))
            .collect();
        let opens: Vec<_> = t.opens.iter().filter(|o| o.denied).map(|o| &o.path).take(5).collect();
        wrong.push(format!(
            "out {:?} err {:?} execs {execs:?} denied {opens:?} denials {:?} refusals {:?} left {:?}",
            done.out.chars().take(200).collect::<String>(),
            done.err.chars().take(200).collect::<String>(),
            t.denials.iter().take(4).map(|d| &d.what).collect::<Vec<_>>(),
            t.refusals,
            t.left_files.iter().take(4).map(|f| &f.path).collect::<Vec<_>>(),
        ));
    }
    wrong
}

fn is_named(named: Named, attack: &Attack, done: &Done, world: &World) -> bool {
    let traces = &done.traces;
    match named {
        Named::Denial(text) => traces.denials.iter().any(|denial| denial.what.contains(text)),
        Named::Refused(name) => traces.execs.iter().any(|exec| {
            exec.name == name
                && exec.class == ProgramClass::Refused
                && exec.outcome != ExecOutcome::NotFound
        }),
        Named::Open(end) => {
            let param = world.tell(attack.param);
            let end = if end.is_empty() { param.as_str() } else { end };
            traces.opens.iter().any(|open| open.denied && open.path.ends_with(end))
        }
        Named::Read(path) => {
            traces.opens.iter().any(|open| !open.denied && !open.own && open.path == path)
        }
        Named::Library(name) => {
            traces.opens.iter().any(|open| !open.denied && open.path.contains(name))
        }
        Named::NotInstalled(name) => traces.not_installed.iter().any(|n| n == name),
        Named::Product => traces.execs.iter().any(|exec| {
            exec.class == ProgramClass::OwnProduct
                && exec.product.as_ref().is_some_and(|p| p.sha256.len() == 64 && p.size.0 > 0)
        }),
        Named::Left(end) => {
            traces.left_files.iter().any(|f| f.path.ends_with(end) && f.exempt.is_none())
        }
        Named::Process => !done.left.is_empty(),
        Named::Unrecorded(record) => {
            traces.refusals.iter().any(|refusal| refusal.what == Resource::Unrecorded(record))
        }
        Named::Resource(text) => {
            traces.refusals.iter().any(|refusal| refusal.what.to_string().contains(text))
        }
    }
}

/// All text of the entry's making.
fn raw_text(traces: &Traces) -> impl Iterator<Item = &String> {
    let execs = traces.execs.iter();
    execs
        .flat_map(|exec| exec.argv.iter().chain([&exec.asked, &exec.name]).chain(&exec.real))
        .chain(traces.opens.iter().map(|open| &open.path))
        .chain(traces.denials.iter().map(|denial| &denial.what))
        .chain(traces.left_files.iter().map(|file| &file.path))
        .chain(&traces.not_installed)
}
