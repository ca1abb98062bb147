//! The host, as far as it confines an entry: it is looked at when the first entry has to be run, and once more for
//! each grant of programs that a waiver makes.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use super::Judge;
use super::waiver::Waiver;
use crate::model::evidence::HostFacts;
use crate::model::lock::lock;
use crate::model::units::Bytes;
use crate::policy::decide::Strictness;
use crate::policy::toolchain::Toolchain;
use crate::sandbox::capability::{self, Capability};
use crate::sandbox::{Sandbox, devices, limits};
use crate::submission::Submission;

/// The hosts that were needed so far.
pub(super) type Hosts = HashMap<HostFor, Arc<Host>>;

/// The demands of an entry on the sandbox beyond the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct HostFor {
    /// Programs that a waiver grants, each with its ground.
    pub(super) programs: Vec<(String, String)>,
    /// A limit of memory below the host's own.
    pub(super) memory: Option<Bytes>,
}

impl HostFor {
    /// The demands of an entry with these waivers.
    pub(super) fn of(submission: &Submission, waivers: &[&Waiver]) -> HostFor {
        let fits = |waiver: &&&Waiver| waiver.fits(submission.sha256.as_deref());
        let programs = waivers
            .iter()
            .filter(fits)
            .flat_map(|waiver| waiver.programs.iter().map(|name| (name.clone(), waiver.ground())));
        HostFor { programs: programs.collect(), memory: None }
    }
}

/// The toolchain of this host and the sandbox that is made of it.
pub(super) struct Host {
    pub(super) tools: Arc<Toolchain>,
    pub(super) sandbox: Arc<Sandbox>,
    pub(super) landlock: bool,
    pub(super) facts: HostFacts,
}

impl Judge {
    /// The host for an entry with these demands.
    pub(super) fn host(&self, wanted: HostFor) -> Arc<Host> {
        let mut hosts = lock(&self.hosts);
        // A package may have been upgraded since the host was looked at.
        hosts.retain(|_, host| host.tools.replaced().is_empty());
        Arc::clone(hosts.entry(wanted).or_insert_with_key(|wanted| Arc::new(self.look(wanted))))
    }

    fn look(&self, wanted: &HostFor) -> Host {
        let settings = &self.settings;
        let strictness = if settings.strict { Strictness::Strict } else { Strictness::Tolerant };
        let capability = Capability::probe();
        let list = if wanted.programs.is_empty() {
            Arc::clone(&self.list)
        } else {
            Arc::new(self.list.granting(&wanted.programs))
        };
        let tools = Arc::new(Toolchain::discover(list, strictness));
        let mut host = tools.host(capability.namespaces.is_ok());
        host.lazy_memory = settings.lazy_memory;
        host.cgroups = capability.cgroups.clone().ok();
        // Never more than the host can spare.
        let spared = host.memory;
        let limit = settings.memory_limit.filter(|limit| *limit <= spared);
        host.memory = wanted.memory.into_iter().chain(limit).fold(spared, Bytes::min);
        let opened = devices::open(&mut host.grants, &settings.devices, capability.landlock_abi);
        let mut layers = capability.layers();
        layers.push(opened);
        let facts = HostFacts {
            kernel: capability::kernel_release(),
            cpus: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            memory: capability::memory(),
            memory_limit: limit,
            overcommit: capability::overcommit(),
            lazy_memory: settings.lazy_memory,
            layers,
            lowered_limits: limits::lowered(),
            missing_commands: tools.missing.clone(),
            chess_libraries: tools.chess_libraries.clone(),
        };
        Host {
            sandbox: Arc::new(Sandbox::new(host, tools.clone())),
            landlock: capability.enforces_files(),
            tools,
            facts,
        }
    }
}
