//! The description of an attack: how it is made, the sign that it works, and the report that must follow.

use gate4k::model::evidence::RecordPart;
use gate4k::model::rule::RuleId;
use gate4k::model::verdict::Status;

use crate::needs::Need;

/// The way in which it is carried out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum How {
    /// A function of the C program, which is handed in as the entry itself.
    C,
    /// A script for the shell; `@P` is the parameter. It says ESCAPED if it worked.
    Sh(&'static str),
}

/// The thing outside that the attack is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Param {
    Nothing,
    /// A file that everybody may read.
    Secret,
    /// A directory in which everybody may write, with files in it.
    Victim,
    /// A port that somebody listens on.
    Port,
    /// A socket that somebody listens on, in the file system.
    Socket,
    /// The same without a file.
    Abstract,
    /// A process of the same user: the supervisor.
    Process,
}

/// The proof that it works outside the sandbox.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Control {
    User,
    Root,
    /// As root, where the kernel has what it needs; else that is said.
    RootIfAble,
    /// It is not tried outside, for this reason.
    Skipped(&'static str),
    /// It works outside where the kernel has what it needs; else that is said.
    IfAble,
}

/// A thing that the report must name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Named {
    /// A denial whose text holds this.
    Denial(&'static str),
    /// A program that was refused, by this name.
    Refused(&'static str),
    /// A file that was refused, whose path ends so; empty: the parameter.
    Open(&'static str),
    /// A helper of a compiler that was read, by this path.
    Read(&'static str),
    /// A library that is on no list and that was opened, whose path holds this.
    Library(&'static str),
    /// A command that was looked for and not found.
    NotInstalled(&'static str),
    /// A program of the entry's own, with its size and hash.
    Product,
    /// A file that was left, whose path ends so.
    Left(&'static str),
    /// A process that was left.
    Process,
    /// A resource that was refused, whose text holds this.
    Resource(&'static str),
    /// A part of the record that has no room for what it did: whatever rests on it is open.
    Unrecorded(RecordPart),
}

/// The words that a finding must have.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) rule: RuleId,
    pub(crate) status: Status,
    /// The text that stands in its summary or details.
    pub(crate) name: String,
}

/// Where it is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Namespaces,
    /// In the host's namespaces.
    Bare,
}

/// The rules that are open where a part of the record is not whole.
fn rests_on(record: RecordPart) -> &'static [RuleId] {
    match record {
        RecordPart::Programs | RecordPart::Denials => &[RuleId::Commands],
        RecordPart::Files => &[RuleId::Libraries, RuleId::ChessLibrary],
        RecordPart::LeftFiles => &[RuleId::LeftoverFiles],
        RecordPart::Paths | RecordPart::Tracer => {
            &[RuleId::Commands, RuleId::Libraries, RuleId::ChessLibrary]
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Attack {
    /// As numbered in the list of what the tests must hold against.
    pub(crate) group: u8,
    pub(crate) name: &'static str,
    pub(crate) how: How,
    pub(crate) param: Param,
    pub(crate) control: Control,
    /// Its deed is allowed, or cannot be stopped: then it must be named.
    pub(crate) may_work: bool,
    /// A race: now and then it starts the file outside that it is told of, which is refused, and it is rejected for that alone.
    pub(crate) may_be_caught: bool,
    /// A race: now and then it is killed before its path could be read, and what rests on that is open.
    pub(crate) may_be_cut_off: bool,
    /// In namespaces, and in the host's.
    named: [&'static [Named]; 2],
    only: Option<bool>,
    root_supervisor: bool,
}

impl Attack {
    fn new(group: u8, name: &'static str, how: How) -> Attack {
        Attack {
            group,
            name,
            how,
            param: Param::Nothing,
            control: Control::User,
            may_work: false,
            may_be_caught: false,
            may_be_cut_off: false,
            named: [&[]; 2],
            only: None,
            root_supervisor: false,
        }
    }

    pub(crate) fn tells(mut self, param: Param) -> Attack {
        self.param = param;
        self
    }

    pub(crate) fn control(mut self, control: Control) -> Attack {
        self.control = control;
        self
    }

    pub(crate) fn may_work(mut self) -> Attack {
        self.may_work = true;
        self
    }

    pub(crate) fn may_be_caught(mut self) -> Attack {
        self.may_be_caught = true;
        self
    }

    pub(crate) fn may_be_cut_off(mut self) -> Attack {
        self.may_be_cut_off = true;
        self
    }

    /// Sets the things that are named everywhere.
    pub(crate) fn named(mut self, named: &'static [Named]) -> Attack {
        self.named = [named; 2];
        self
    }

    /// Sets the things that are named in the host's namespaces.
    pub(crate) fn bare(mut self, named: &'static [Named]) -> Attack {
        self.named[1] = named;
        self
    }

    /// It says something in namespaces only, or outside of them only.
    pub(crate) fn only(mut self, namespaces: bool) -> Attack {
        self.only = Some(namespaces);
        self
    }

    /// Only a supervisor that is root can see it.
    pub(crate) fn seen_by_root(mut self) -> Attack {
        self.root_supervisor = true;
        self
    }

    pub(crate) fn is_for(&self, place: Place) -> bool {
        (!self.root_supervisor || nix::unistd::Uid::effective().is_root())
            && self.only.is_none_or(|namespaces| namespaces == (place == Place::Namespaces))
    }

    /// The commands that its script starts, and the packages that it reads, of those that not every host has.
    pub(crate) fn needs(&self) -> Vec<Need> {
        const COMMANDS: [(&str, Need); 6] = [
            ("flto", Need::Make),
            ("numpy", Need::Numpy),
            ("python3", Need::Python3),
            ("bash", Need::Bash),
            ("perl", Need::Perl),
            ("xz", Need::Xz),
        ];
        let How::Sh(script) = self.how else { return Vec::new() };
        let used = |(name, _): &&(&str, Need)| {
            script.split(|c: char| !c.is_alphanumeric()).any(|word| word == *name)
        };
        COMMANDS.iter().filter(used).map(|(_, need)| *need).collect()
    }

    pub(crate) fn must_name(&self, place: Place) -> &'static [Named] {
        match place {
            Place::Namespaces => self.named[0],
            Place::Bare => self.named[1],
        }
    }

    /// The findings that must tell of it, if the engine behind it is sound. `killed`: it was ended by the sandbox;
    /// `left`: something of it still ran at the end.
    pub(crate) fn told(&self, place: Place, param: &str, killed: bool, left: bool) -> Vec<Told> {
        let named = self.must_name(place);
        let accused = named.iter().any(|named| match named {
            Named::Refused(_) | Named::NotInstalled(_) | Named::Read(_) => true,
            Named::Open(path) => path.starts_with("/usr/bin/"),
            _ => false,
        });
        // A finding that breaks a rule goes before one that is only told.
        let open = named.iter().any(|named| {
            matches!(named, Named::Unrecorded(record) if rests_on(*record).contains(&RuleId::Commands))
        });
        let remark = match (accused, open) {
            (true, _) => Status::Fail,
            (false, true) => Status::Undecided,
            (false, false) => Status::Advice,
        };
        let mut told = Vec::new();
        let mut tell = |rule, status, name: &str| {
            told.push(Told { rule, status, name: name.to_owned() });
        };
        for named in named {
            match *named {
                // Asked for by every look-up of a user's name.
                Named::Denial(what) if what.contains("AF_UNIX") => {}
                Named::Denial(what) => tell(RuleId::Commands, remark, what),
                Named::Refused(name) | Named::NotInstalled(name) | Named::Read(name) => {
                    tell(RuleId::Commands, Status::Fail, name);
                }
                Named::Library(name) => tell(RuleId::Libraries, Status::Fail, name),
                Named::Open("") => tell(RuleId::Commands, remark, param),
                Named::Open(path) => tell(RuleId::Commands, remark, path),
                Named::Product if accused => {}
                Named::Product => tell(RuleId::Commands, Status::Pass, "made by itself"),
                Named::Left(end) => tell(RuleId::LeftoverFiles, Status::Fail, end),
                Named::Process => tell(RuleId::LeftoverProcesses, Status::Fail, "still ran"),
                Named::Unrecorded(record) => {
                    for rule in
                        rests_on(record).iter().filter(|r| !accused || **r != RuleId::Commands)
                    {
                        tell(*rule, Status::Undecided, &record.to_string());
                    }
                }
                // No fault of the entry's: it may be made for a bigger machine.
                Named::Resource(what) if killed => tell(RuleId::Startup, Status::Undecided, what),
                Named::Resource(what) => {
                    tell(RuleId::Startup, Status::Advice, what);
                    if left {
                        tell(RuleId::LeftoverProcesses, Status::Undecided, what);
                    }
                }
            }
        }
        if killed && !told.iter().any(|told| told.rule == RuleId::Startup) {
            told.push(Told {
                rule: RuleId::Startup,
                status: Status::Fail,
                name: "it ended before `uciok`".into(),
            });
        }
        told
    }

    pub(crate) fn is_about_limits(&self) -> bool {
        self.group == 21 || self.name.starts_with("memory_")
    }
}

pub(crate) fn c(group: u8, name: &'static str) -> Attack {
    Attack::new(group, name, How::C)
}

pub(crate) fn sh(group: u8, name: &'static str, script: &'static str) -> Attack {
    Attack::new(group, name, How::Sh(script))
}
