//! Tests the counts of `tests/conformance.rs`, whose custom harness has no tests.

#![allow(dead_code, reason = "only the counts are of interest here")]

#[path = "conformance/report.rs"]
mod report;

use report::Report;

#[test]
fn failures_are_counted_and_shown() {
    let mut report = Report::default();
    report.pass("torch.add");
    assert_eq!((report.passed(), report.failed()), (1, 0));
    assert_eq!(report.by_operator(), "");
    report.fail("torch.erf", "erf/1", "no operator".into());
    report.fail("torch.erf", "erf/2", "no operator".into());
    assert_eq!((report.passed(), report.failed()), (1, 2));
    let shown = report.by_operator();
    assert!(
        shown.starts_with("torch.erf: 0 passed, 2 failed"),
        "{shown}"
    );
    assert!(shown.contains("erf/2: no operator"), "{shown}");
}
