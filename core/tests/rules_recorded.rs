//! Compares the rules with PyTorch's recorded calls: names, shapes and kinds of errors, for every
//! operator whose result follows from names and sizes.

mod recorded;

use recorded::Case;
use recorded::infer::{infer, word};
use serde_json::Value;

#[test]
fn every_recorded_call_that_names_decide() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/cases.jsonl");
    let text = std::fs::read_to_string(path).expect("the recorded calls");
    let (mut held, mut left, mut wrong) = (0, 0, Vec::new());
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("a call per line");
        let case = Case::parse(&line);
        let results = case.want.as_ref().map_or(1, Vec::len);
        let Some(got) = infer(&case, results) else {
            left += 1;
            continue;
        };
        let agrees = match (&case.want, &got) {
            (Err(kind), Err(error)) => *kind == word(error),
            (Ok(want), Ok(got)) => want.iter().zip(got).all(|(want, (names, shape))| {
                want.names == *names && shape.as_ref().is_none_or(|shape| want.shape == *shape)
            }),
            _ => false,
        };
        if agrees {
            held += 1
        } else {
            wrong.push(format!("{}: want {:?}, got {got:?}", case.id, case.want))
        }
    }
    let shown = wrong
        .iter()
        .take(30)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(wrong.is_empty(), "{} calls differ:\n{shown}", wrong.len());
    // The calls left out are queries without a tensor; this bound keeps a new rule from being left
    // out unnoticed.
    assert!(held >= 3000, "{held} calls held, {left} left out");
}
