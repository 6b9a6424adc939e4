//! `Wild` in every position of every operator: types with less information never let more through.
//!
//! Recorded calls are written as typed calls into a generated crate, with any of their operands'
//! dims replaced by `Wild`; at run time such a dim has its original name, or none. If rustc accepts
//! a call, it must give exactly the result of the dynamic call: the same names and values, or an
//! error of the same kind. If rustc refuses it, the message must be one of nomina's own.
//!
//! `NOMINA_SEED` selects different calls, `NOMINA_CALLS` sets their number for each form of each
//! operator, `NOMINA_ONLY` selects the cases whose id contains that text.

#[path = "wild_everywhere/by_hand.rs"]
mod by_hand;
#[allow(
    dead_code,
    reason = "of the recorded cases, only what was given is of interest here"
)]
#[path = "conformance/case.rs"]
mod case;
#[path = "static_dynamic/draw.rs"]
#[allow(dead_code, reason = "names are not drawn here")]
mod draw;
#[path = "generated_crate/mod.rs"]
mod generated_crate;
#[path = "typed_cases/program.rs"]
#[allow(dead_code, reason = "other programs are built from these parts")]
mod program;
#[path = "typed_cases/select.rs"]
#[allow(dead_code, reason = "which cases are rejected does not matter here")]
mod select;
#[path = "typed_cases/spell/mod.rs"]
mod spell;
#[path = "typed_cases/translate.rs"]
#[allow(
    dead_code,
    reason = "why a call has no typed form does not matter here"
)]
mod translate;
#[path = "wild_everywhere/veil.rs"]
mod veil;
#[path = "typed_cases/words.rs"]
mod words;

use std::collections::{BTreeMap, BTreeSet};

use draw::Draw;
use nomina_core::op;
use select::Recorded;
use veil::Veiled;

fn from_env(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

/// Groups the cases by operator and form; calls with an out tensor are a separate form.
fn forms(recorded: &[Recorded]) -> BTreeMap<(&'static str, &'static str), Vec<&Recorded>> {
    let mut forms: BTreeMap<_, Vec<&Recorded>> = BTreeMap::new();
    for one in recorded {
        let Some((op, form)) = nomina_by_name::parse(&one.case.op) else {
            continue;
        };
        let form = match form {
            _ if one.case.kwargs.iter().any(|(name, _)| name == "out") => "out",
            nomina_by_name::Form::InPlace => "in place",
            _ => "method",
        };
        forms.entry((op.name(), form)).or_default().push(one);
    }
    forms
}

#[test]
fn what_types_do_not_know_the_run_time_checks() {
    let seed = from_env("NOMINA_SEED", 20_261);
    let count = from_env("NOMINA_CALLS", 4) as usize;
    let mut draw = Draw::new(seed);
    let recorded = select::read(&select::files(), select::floats, false);
    let mut drawn: Vec<Veiled<'_>> = Vec::new();
    let mut texts = BTreeSet::new();
    for cases in forms(&recorded).into_values() {
        let mut left = count;
        // A case may have no typed form, or repeat an earlier one.
        for _ in 0..8 * count {
            if left == 0 {
                break;
            }
            // Half of the calls are ones that PyTorch rejects, if there are any.
            let rejected = draw.chance(50);
            let some = cases.iter().filter(|one| one.is_result() != rejected);
            let some: Vec<_> = some.collect();
            let from = if some.is_empty() {
                cases.iter().collect()
            } else {
                some
            };
            let one: &Recorded = from[draw.below(from.len())];
            if let Some(veiled) = veil::draw(one, &mut draw)
                && texts.insert((one.case.id.clone(), veiled.code.clone()))
            {
                drawn.push(veiled);
                left -= 1;
            }
        }
    }
    let outcome = veil::run(&drawn);
    let rows: BTreeSet<&str> = drawn.iter().map(|one| one.op.name()).collect();
    println!(
        "{} calls of {} operators, seed {seed}: {} refused by rustc, {} errors at run time, {} \
         results, {} without a typed form",
        drawn.len(),
        rows.len(),
        outcome.refused,
        outcome.errors,
        outcome.results,
        outcome.misspelled,
    );
    assert!(outcome.misspelled < drawn.len() / 20, "a poor draw");
    // If almost all calls had the same outcome, the test would show little.
    for share in [outcome.refused, outcome.errors, outcome.results] {
        assert!(share > drawn.len() / 50, "a poor draw");
    }
    assert!(
        rows.len() > op::families().flat_map(|(_, rows)| rows).count() / 2,
        "only {} operators",
        rows.len()
    );
    assert!(
        outcome.wrong.is_empty(),
        "{} are wrong:\n{}",
        outcome.wrong.len(),
        outcome.wrong.join("\n")
    );
}

#[test]
fn so_where_types_say_other_words() {
    let seed = from_env("NOMINA_SEED", 20_261);
    let mut draw = Draw::new(seed);
    let (calls, outcome) = by_hand::run(&mut draw, 4);
    println!(
        "{calls} calls, seed {seed}: {} refused by rustc, {} errors at run time, {} results",
        outcome.refused, outcome.errors, outcome.results,
    );
    assert!(outcome.results > calls / 4, "a poor draw");
    assert!(
        outcome.wrong.is_empty(),
        "{} are wrong:\n{}",
        outcome.wrong.len(),
        outcome.wrong.join("\n")
    );
}
