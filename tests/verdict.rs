//! The verdict of `tests/conformance.rs`, which is a program without tests of its own.

#![allow(dead_code, reason = "only the verdict is of interest here")]

#[path = "conformance/report.rs"]
mod report;

use std::collections::BTreeSet;

use report::Report;

fn list(ops: &[&str]) -> BTreeSet<String> {
    ops.iter().map(|&op| op.to_owned()).collect()
}

#[test]
fn the_verdict_follows_the_pending_list() {
    let mut report = Report::default();
    report.pass("torch.add");
    report.fail("torch.erf", "erf/1", "no operator".into());
    assert!(report.verdict(&list(&["torch.erf"])).is_empty());
    assert_eq!(report.verdict(&list(&[])).len(), 1);
    assert_eq!(report.verdict(&list(&["torch.erf", "torch.add"])).len(), 1);
    assert_eq!(report.verdict(&list(&["torch.erf", "torch.none"])).len(), 1);
    assert_eq!((report.passed(), report.failed()), (1, 1));
}
