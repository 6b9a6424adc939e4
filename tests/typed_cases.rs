//! The typed form of the recorded cases: every case of `f32` and `f64` tensors with known names is
//! written as a typed call into a generated crate. If PyTorch accepts a case, it must compile and
//! give the recorded names and values; if PyTorch rejects it for its names, it must not compile.
//!
//! In addition, every row is called in each of its other dtypes and compared with the result of the
//! dynamic call: typed = dynamic.
//!
//! `NOMINA_CASES` adds files, as for `tests/conformance.rs`; `NOMINA_ONLY` selects the cases whose
//! id contains that text.

#[allow(
    dead_code,
    reason = "of the recorded cases, only what was given is of interest here"
)]
#[path = "conformance/case.rs"]
mod case;
#[path = "generated_crate/mod.rs"]
mod generated_crate;
#[path = "typed_cases/program.rs"]
mod program;
#[path = "typed_cases/samples.rs"]
mod samples;
#[path = "typed_cases/select.rs"]
mod select;
#[path = "typed_cases/spell/mod.rs"]
mod spell;
#[path = "typed_cases/translate.rs"]
mod translate;
#[path = "typed_cases/words.rs"]
mod words;

use std::collections::BTreeMap;

use translate::Translated;

#[test]
fn every_recorded_case_has_its_typed_form() {
    let mut recorded = select::all();
    let samples = samples::write(&recorded);
    recorded.extend(select::read(&[samples], |_| true, true));
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    let mut untyped: BTreeMap<&str, usize> = BTreeMap::new();
    let mut missing = Vec::new();
    for one in &recorded {
        match translate::case(&one.case) {
            Translated::Call(code) if one.rejected_for_names() => wrong.push((one, code)),
            Translated::Call(code) => right.push((one, code)),
            Translated::Inexpressible(reason) => *untyped.entry(reason).or_default() += 1,
            Translated::Missing(what) => missing.push(format!("{}: {what}", one.case.id)),
        }
    }
    let compiled = program::compiling(&wrong);
    let failed = program::failing(&right);
    println!(
        "{} cases: {} right, {} wrong, no types for {untyped:?}",
        recorded.len(),
        right.len(),
        wrong.len()
    );
    let show = |what: &str, list: &[String]| {
        list.iter()
            .map(|line| format!("{what}: {line}\n"))
            .collect::<String>()
    };
    let told = show("no typed form", &missing)
        + &show("compiles, though rejected", &compiled)
        + &show("fails", &failed);
    assert!(told.is_empty(), "{told}");
}
