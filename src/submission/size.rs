//! Rule `size` (7.1, 7.3): the file and what engines.json adds to it are at most 4096 bytes.

use crate::model::next_step::ENTRY;
use crate::model::rule::RuleId;
use crate::model::size_figures::SizeFigures;
use crate::model::units::Bytes;
use crate::model::verdict::Finding;
use crate::model::words;
use crate::submission::format::FileFormat;
use crate::submission::payload::{Counting, PayloadReport};

/// The parts of the file that the format knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileParts {
    /// The part that unpacks and starts the rest.
    pub stub: Option<Bytes>,
    /// The part that is unpacked.
    pub packed: Option<Bytes>,
}

impl From<&FileFormat> for FileParts {
    fn from(format: &FileFormat) -> FileParts {
        FileParts { stub: format.stub_bytes, packed: format.payload_bytes }
    }
}

/// Adds up and decides.
pub fn judge(
    file: Bytes,
    parts: FileParts,
    payload: &PayloadReport,
    limit: Bytes,
) -> (SizeFigures, Finding) {
    let counts = payload.counts.unwrap_or_default();
    let report = SizeFigures {
        file,
        stub: parts.stub,
        payload: counts.canonical,
        payload_bare: counts.bare,
        total: file + counts.canonical,
        limit,
    };
    let finding = decide(&report, payload);
    let finding = finding
        .details(breakdown(&report, parts.packed))
        .with("file", report.file)
        .with("stub", report.stub)
        .with("packed", parts.packed)
        .with("payload", report.payload)
        .with("payload_bare", report.payload_bare)
        .with("total", report.total)
        .with("limit", report.limit);
    let finding = match report.over() {
        Bytes(0) => finding.with("left", report.left()),
        over => finding.with("over", over),
    };
    (report, finding)
}

fn decide(report: &SizeFigures, payload: &PayloadReport) -> Finding {
    let SizeFigures { file, total, limit, .. } = *report;
    let parts = format!("file {}, engines.json {}", file.0, report.payload.0);
    if payload.counts.is_none() && file <= limit {
        let mut finding = Finding::skipped(RuleId::Size, RuleId::Payload);
        finding.summary = format!(
            "the file has {} of {limit}; what engines.json adds is unknown, because of {}",
            file.0,
            RuleId::Payload
        );
        return finding;
    }
    let bare = file + report.payload_bare;
    if report.over() == Bytes(0) {
        let left = match report.left() {
            0 => "none left".to_owned(),
            left => format!("{left} left"),
        };
        Finding::pass(RuleId::Size, format!("{} of {limit}, {left} ({parts})", total.0))
    } else if bare <= limit {
        Finding::undecided(
            RuleId::Size,
            format!(
                "{} of {limit} with engines.json counted as \"Name\":\"value\", {} with its bare values: \
                 the two readings of rule 7.3 disagree",
                total.0, bare.0
            ),
        )
        .help(format!(
            "save {} to be within the limit in both readings, or ask the organisers which holds",
            report.over()
        ))
    } else {
        let over = report.over();
        let finding = Finding::fail(
            RuleId::Size,
            format!("{} of {limit}, {} over ({parts})", total.0, over.0),
        );
        finding.help(if file > limit {
            format!(
                "save {over} in the file: `gate4k pack` packs a source, a script or an executable, and `gate4k size --hints {ENTRY}` tries what else \
                 saves bytes"
            )
        } else {
            let counted: Vec<String> = (payload.fields.iter())
                .filter(|field| field.counting != Counting::NotCounted)
                .map(|field| format!("{} ({})", field.field, field.size.canonical.0))
                .collect();
            let named = words::some(&counted, NAMED);
            format!("save {over} in the file, or in what counts of engines.json: {named}")
        })
    }
}

/// The number of fields that are named where there is something to save.
const NAMED: usize = 6;

fn breakdown(report: &SizeFigures, packed: Option<Bytes>) -> Vec<String> {
    let mut lines = Vec::new();
    lines.push(format!("file: {}", report.file));
    if let (Some(stub), Some(packed)) = (report.stub, packed) {
        lines.push(format!("  of these, stub {} and payload {}", stub.0, packed.0));
    }
    lines.push(format!("engines.json: {} (bare values {})", report.payload, report.payload_bare.0));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::verdict::Status;
    use crate::submission::payload::Counts;
    use proptest::prelude::*;

    fn payload(canonical: u64, bare: u64) -> PayloadReport {
        PayloadReport {
            fields: Vec::new(),
            counts: Some(Counts { canonical: Bytes(canonical), bare: Bytes(bare) }),
        }
    }

    fn judged(file: u64, canonical: u64, bare: u64) -> Finding {
        judge(Bytes(file), FileParts::default(), &payload(canonical, bare), Bytes::LIMIT_4K).1
    }

    #[test]
    fn the_limit_is_exact() {
        let full = judged(4096, 0, 0);
        assert_eq!(full.status, Status::Pass);
        assert_eq!(full.summary, "4096 of 4096 bytes, none left (file 4096, engines.json 0)");
        let over = judged(4097, 0, 0);
        assert_eq!(over.status, Status::Fail);
        assert_eq!(over.summary, "4097 of 4096 bytes, 1 over (file 4097, engines.json 0)");
        assert!(over.help.starts_with("save 1 byte in the file: `gate4k pack"), "{}", over.help);
        assert_eq!(over.evidence["over"], 1);
        assert_eq!(
            judged(3912, 0, 0).summary,
            "3912 of 4096 bytes, 184 left (file 3912, engines.json 0)"
        );
    }

    #[test]
    fn another_event_has_another_limit() {
        let judged =
            |file| judge(Bytes(file), FileParts::default(), &payload(0, 0), Bytes(65536)).1;
        assert_eq!(judged(65536).status, Status::Pass);
        assert_eq!(
            judged(65537).summary,
            "65537 of 65536 bytes, 1 over (file 65537, engines.json 0)"
        );
    }

    #[test]
    fn engines_json_adds_to_the_file() {
        assert_eq!(judged(4000, 96, 80).status, Status::Pass);
        assert_eq!(judged(4000, 97, 80).status, Status::Undecided);
        assert_eq!(judged(4000, 110, 96).status, Status::Undecided);
        assert_eq!(judged(4000, 110, 97).status, Status::Fail);
        assert!(judged(4000, 97, 80).help.starts_with("save 1 byte"));
    }

    #[test]
    fn an_unreadable_configuration_leaves_the_sum_open_unless_the_file_is_too_large() {
        let unknown = PayloadReport::default();
        let judge =
            |file| judge(Bytes(file), FileParts::default(), &unknown, Bytes::LIMIT_4K).1.status;
        assert_eq!(judge(100), Status::Skipped);
        assert_eq!(judge(4097), Status::Fail);
    }

    proptest! {
        #[test]
        fn the_sum_decides(file in 0u64..5000, bare in 0u64..300, more in 0u64..60) {
            let status = judged(file, bare + more, bare).status;
            prop_assert_eq!(status == Status::Pass, file + bare + more <= 4096);
            prop_assert_eq!(status == Status::Fail, file + bare > 4096);
        }
    }
}
