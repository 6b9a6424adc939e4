//! The node cases of the `onnx` wheel: one model per operator and option, with inputs and outputs.
//!
//! `NOMINA_CASE=text` runs those whose names contain the text, and prints each.

mod node;
#[path = "node/packed.rs"]
mod packed;

use std::collections::BTreeMap;
use std::io::Write;

use node::Miss;
use packed::cases;

#[test]
fn node_cases_pass_or_are_refused() {
    let wanted = std::env::var("NOMINA_CASE").ok();
    let (mut passed, mut refused, mut failed, mut all) = (0, 0, Vec::new(), 0);
    let mut reasons = BTreeMap::<String, usize>::new();
    for case in cases() {
        if wanted
            .as_ref()
            .is_some_and(|text| !case.name.contains(&text[..]))
        {
            continue;
        }
        all += 1;
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case.run()));
        let result = result.unwrap_or_else(|_| Err(Miss::Failed("a panic".into())));
        if wanted.is_some() || std::env::var_os("NOMINA_CASES").is_some() {
            println!("{}: {result:?}", case.name);
        }
        match result {
            Ok(()) => passed += 1,
            Err(Miss::Refused(why)) => {
                refused += 1;
                *reasons
                    .entry(why.split([';', '(']).next().unwrap_or("").to_owned())
                    .or_default() += 1;
            }
            Err(Miss::Failed(what)) => failed.push(format!("{}: {what}", case.name)),
        }
    }
    for (why, count) in reasons {
        println!("refused {count}: {why}");
    }
    // Standard error is not captured, so a passing test prints its counts, too.
    let _ = writeln!(
        std::io::stderr(),
        "node cases: {passed} passed, {refused} refused, {} failed, of {all}",
        failed.len()
    );
    assert!(
        failed.is_empty(),
        "{} failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(
        wanted.is_some() || passed >= PASSED,
        "{passed} passed, and {PASSED} did before"
    );
}

/// The cases that passed when this was written.
const PASSED: usize = 1564;
