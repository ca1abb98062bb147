//! The measure of other work on this host: what the processors did, less what this process and its entries did.
//!
//! A mean over a whole check hides a burst of some seconds, in which a sound entry misses its limits. So a thread reads the
//! kernel's sums four times a second, and the worst stretch counts.
//!
//! A host may also be taken away without a trace in those sums: a hypervisor that does not tell what it steals, a virtual machine or a
//! process that is stopped for a while. Then that thread itself comes late to its reading. And the control group of a container may be granted less
//! than one processor: the kernel counts for how long it is kept from one.

use std::fs;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::sandbox;
use crate::sandbox::limits::processor_quota::ProcessorQuota;

/// A time shorter than this says nothing, since the kernel counts in hundredths of a second.
const LEAST: Duration = Duration::from_millis(500);
/// From one reading to the next; a host that is not there for more than this and [`MUCH_TOO_LATE`] together makes one come late.
const EVERY: Duration = Duration::from_millis(250);
/// The stretch of which the worst counts: long enough to keep an entry back, and shorter than any burst that matters.
pub(super) const STRETCH: Duration = Duration::from_secs(3);

/// A thread that only reads comes as late as this on no host that has a processor for it: one that wakes goes before those that compute.
const MUCH_TOO_LATE: Duration = Duration::from_millis(500);

/// One that computes alone is a third slower, if so much of each second is withheld from it.
const MUCH_WITHHELD: f64 = 0.25;

/// A control group that may use less than one processor, and was kept from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HeldBack {
    /// The share of a processor that it may use.
    pub(super) granted: f64,
    /// The processors that it was kept from, in the worst stretch of time.
    pub(super) withheld: f64,
}

/// The load of the host in the worst stretch of time: the processors that other work took, of all that it has, and signs that gate4k got none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HostLoad {
    pub(super) taken: f64,
    pub(super) processors: f64,
    /// The stretch, since the measurement began.
    pub(super) from: Duration,
    pub(super) until: Duration,
    /// The most that a reading came late.
    pub(super) late: Duration,
    /// None where its control group has no such limit.
    pub(super) held_back: Option<HeldBack>,
}

impl HostLoad {
    /// True if half of the host or more was taken, so that a single thread may have had to wait; or one had to.
    pub(super) fn is_much(self) -> bool {
        self.takes_half() || self.late >= MUCH_TOO_LATE || self.held_back().is_some()
    }

    /// The limit of its control group, if that kept it back for long: it is there for as long as this process is.
    pub(super) fn held_back(self) -> Option<HeldBack> {
        self.held_back.filter(|held| held.withheld >= MUCH_WITHHELD)
    }

    /// True if half of the host or more was taken.
    pub(super) fn takes_half(self) -> bool {
        self.taken * 2.0 >= self.processors
    }
}

/// A measurement that goes on.
pub(super) struct Measurement {
    stop: mpsc::Sender<()>,
    readings: JoinHandle<Vec<Reading>>,
}

impl Measurement {
    /// Begins to measure.
    pub(super) fn begin() -> Measurement {
        let (stop, stopped) = mpsc::channel();
        let readings = thread::spawn(move || {
            let quota = ProcessorQuota::find().filter(ProcessorQuota::is_less_than_one);
            let reading = |due| Reading::due_at(due, quota.as_ref());
            let mut readings: Vec<Reading> = reading(Instant::now()).into_iter().collect();
            let mut due = Instant::now() + EVERY;
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                readings.extend(reading(due));
                due = Instant::now() + EVERY;
            }
            readings.extend(reading(Instant::now()));
            readings
        });
        Measurement { stop, readings }
    }

    /// The stretch with the most other work since then; none where that cannot be told.
    pub(super) fn worst(self) -> Option<HostLoad> {
        drop(self.stop);
        worst(&self.readings.join().unwrap_or_default())
    }
}

/// Times of the host and of ourselves at one moment.
#[derive(Clone, Copy, Debug)]
struct Reading {
    at: Instant,
    /// The processor time of all, and what the hypervisor took.
    all: Duration,
    /// The time of this process and of all entries that it has started.
    ours: Duration,
    processors: usize,
    /// The time by which it came late.
    late: Duration,
    /// The share of a processor that is granted, and the time so far in which it was withheld.
    quota: Option<(f64, Duration)>,
}

impl Reading {
    fn due_at(due: Instant, quota: Option<&ProcessorQuota>) -> Option<Reading> {
        let at = Instant::now();
        let (all, processors) = busy(&fs::read_to_string("/proc/stat").ok()?)?;
        let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
        let own = (usage.user_time() + usage.system_time()).num_microseconds();
        let own = u64::try_from(own).map(Duration::from_micros).ok()?;
        let ours = own + sandbox::time_of_all_entries();
        let late = at.saturating_duration_since(due);
        let quota = quota.and_then(|quota| Some((quota.processors(), quota.withheld()?)));
        Some(Reading { at, all, ours, processors, late, quota })
    }

    /// The other work from here to a later reading.
    fn until(&self, end: &Reading, began: Instant) -> Option<HostLoad> {
        let lasted = end.at.saturating_duration_since(self.at);
        let all = end.all.saturating_sub(self.all);
        let others = all.saturating_sub(end.ours.saturating_sub(self.ours));
        let held_back = self.quota.zip(end.quota).map(|((_, before), (granted, after))| {
            let withheld = after.saturating_sub(before).as_secs_f64() / lasted.as_secs_f64();
            HeldBack { granted, withheld }
        });
        (lasted >= LEAST).then(|| HostLoad {
            taken: others.as_secs_f64() / lasted.as_secs_f64(),
            processors: end.processors as f64,
            from: self.at.saturating_duration_since(began),
            until: end.at.saturating_duration_since(began),
            late: end.late,
            held_back,
        })
    }
}

/// The worst of all stretches in each respect; of the whole where it is no longer than one.
fn worst(readings: &[Reading]) -> Option<HostLoad> {
    let (first, last) = (readings.first()?, readings.last()?);
    let stretch = STRETCH.min(last.at.saturating_duration_since(first.at));
    let works = readings.iter().enumerate().filter_map(|(at, begin)| {
        let mut later = readings.get(at + 1..)?.iter();
        let end = later.find(|end| end.at.saturating_duration_since(begin.at) >= stretch)?;
        begin.until(end, first.at)
    });
    let works: Vec<HostLoad> = works.collect();
    let late = readings.iter().map(|reading| reading.late).max()?;
    let held_back = works.iter().filter_map(|work| work.held_back);
    let held_back = held_back.max_by(|one, other| one.withheld.total_cmp(&other.withheld));
    let worst = works.iter().max_by(|one, other| one.taken.total_cmp(&other.taken))?;
    Some(HostLoad { late, held_back, ..*worst })
}

/// The time that the processors were taken, and their number, from /proc/stat (proc(5)): user, nice, system, irq,
/// softirq and steal in hundredths of a second; guests are in user and nice already.
fn busy(stat: &str) -> Option<(Duration, usize)> {
    let mut lines = stat.lines();
    let fields: Vec<u64> = lines
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace()
        .map_while(|f| f.parse().ok())
        .collect();
    let ticks: u64 = [0, 1, 2, 5, 6, 7].iter().filter_map(|field| fields.get(*field)).sum();
    let processors = lines.take_while(|line| line.starts_with("cpu")).count();
    (processors > 0).then(|| (Duration::from_millis(ticks * 10), processors))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(began: Instant, seconds: u64, all: u64, ours: u64) -> Reading {
        Reading {
            at: began + Duration::from_secs(seconds),
            all: Duration::from_secs(all),
            ours: Duration::from_secs(ours),
            processors: 4,
            late: Duration::ZERO,
            quota: None,
        }
    }

    #[test]
    fn the_kernels_figures_are_read_without_guests_and_waits() {
        let stat = "cpu  100 10 50 9000 700 3 4 5 60 7\ncpu0 1 1\ncpu1 1 1\nintr 5 cpu\n";
        assert_eq!(busy(stat), Some((Duration::from_millis(1720), 2)));
        assert_eq!(busy("intr 5\n"), None);
    }

    #[test]
    fn our_own_work_is_not_other_work() {
        let now = Instant::now();
        let since = at(now, 0, 100, 7).until(&at(now, 10, 140, 27), now).unwrap();
        assert_eq!((since.taken, since.processors), (2.0, 4.0));
        assert_eq!(at(now, 0, 0, 0).until(&at(now, 0, 9, 0), now), None);
    }

    /// Forty seconds, in six of which others took all four processors: a share of a sixth of the whole.
    #[test]
    fn a_burst_is_seen_in_a_long_quiet_check() {
        let now = Instant::now();
        let burst = |second: u64| second.clamp(20, 26) - 20;
        let readings: Vec<Reading> =
            (0..=40).map(|second| at(now, second, second + 4 * burst(second), second)).collect();
        let worst = worst(&readings).unwrap();
        assert!(worst.is_much(), "{worst:?}");
        assert!((worst.taken - 4.0).abs() < 1e-9, "{worst:?}");
        assert!(worst.from.as_secs() >= 20 && worst.until.as_secs() <= 26, "{worst:?}");
        let quiet = at(now, 40, 41, 40);
        let whole = readings[0].until(&quiet, now).unwrap();
        assert!(!whole.is_much(), "without it the host was quiet: {whole:?}");
    }

    /// A host that is taken away for a while shows nothing in its own sums.
    #[test]
    fn a_reading_that_comes_late_tells_of_a_host_that_was_not_there() {
        let now = Instant::now();
        let late = |milliseconds| {
            let mut readings: Vec<Reading> =
                (0..=9).map(|second| at(now, second, second, second)).collect();
            readings[4].late = Duration::from_millis(milliseconds);
            worst(&readings).unwrap()
        };
        assert!(late(710).is_much() && !late(710).takes_half(), "{:?}", late(710));
        assert!(!late(60).is_much(), "{:?}", late(60));
    }

    /// Ten seconds in a container that may use half of a processor, in three of which something computed.
    #[test]
    fn a_limit_below_one_processor_tells_when_it_holds_back() {
        let now = Instant::now();
        let limited = |withheld: fn(u64) -> u64| {
            let readings: Vec<Reading> = (0..=10)
                .map(|second| {
                    let quota = Some((0.5, Duration::from_millis(withheld(second))));
                    Reading { quota, ..at(now, second, second, second) }
                })
                .collect();
            worst(&readings).unwrap()
        };
        let held = limited(|second| (second.clamp(4, 7) - 4) * 500);
        assert_eq!(held.held_back(), Some(HeldBack { granted: 0.5, withheld: 0.5 }));
        assert!(held.is_much() && !held.takes_half(), "{held:?}");
        let idle = limited(|second| second * 20);
        assert!(idle.held_back().is_none() && !idle.is_much(), "{idle:?}");
    }

    #[test]
    fn a_check_shorter_than_a_stretch_is_measured_whole() {
        let now = Instant::now();
        let short = [at(now, 0, 0, 0), at(now, 1, 1, 1), at(now, 2, 6, 2)];
        assert!((worst(&short).unwrap().taken - 2.0).abs() < 1e-9);
        assert_eq!(worst(&short[..1]), None);
        assert_eq!(worst(&[]), None);
    }

    #[test]
    fn a_measurement_ends_when_it_is_asked_for() {
        // Too short to tell anything, and no second is waited for.
        assert_eq!(Measurement::begin().worst(), None);
    }
}
