//! The files of a receipt, and the receipt of a check in parts.

use std::path::Path;

use anyhow::Context;

use super::reports::{Sink, cannot};
use crate::receipt::document::Receipt;
use crate::receipt::sign::{self, Signer};
use crate::shard::check::EntryOutcome;
use crate::shard::checked::Checked;

/// The file of a receipt, and that of its signature.
pub(super) struct ReceiptTo {
    sink: Sink,
    signature: Option<(Signer, Sink)>,
}

impl ReceiptTo {
    pub(super) fn open(
        path: Option<&Path>,
        key: Option<&Path>,
    ) -> anyhow::Result<Option<ReceiptTo>> {
        let Some(path) = path else { return Ok(None) };
        let sink = Sink::open(path).with_context(|| cannot(path))?;
        let signature = match key {
            None => None,
            Some(key) => {
                let beside = sign::beside(path);
                let sink = Sink::open(&beside).with_context(|| cannot(&beside))?;
                Some((Signer::load(key)?, sink))
            }
        };
        Ok(Some(ReceiptTo { sink, signature }))
    }

    pub(super) fn write(self, text: &str) -> anyhow::Result<()> {
        if let Some((signer, sink)) = self.signature {
            sink.write(&signer.sign(text)?)?;
        }
        self.sink.write(text)
    }
}

/// The receipt of all that is there.
pub(super) fn receipt(checked: &Checked) -> Receipt {
    let parts = checked.found.values().filter_map(|found| match &found.outcome {
        EntryOutcome::Judged(report) => Some((&**report, &*found.host, &*found.tools)),
        EntryOutcome::NotJudged { .. } => None,
    });
    let check = &checked.check;
    let (gate4k, settings) = (check.gate4k.clone(), check.settings.clone());
    Receipt::of_parts(gate4k, settings, check.allowlist_sha256.clone(), parts)
}
