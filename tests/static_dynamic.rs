//! Static and dynamic agree: a typed call compiles exactly if the dynamic rule accepts the names,
//! and both give the same names.
//!
//! Random calls on random names are written into a crate, one call per line; one run of rustc
//! reports which lines compile. A call that the rule accepts is annotated with the names that the
//! rule gives, so that different static names would be an error too. A `Wild` represents a dim
//! without a name.
//!
//! `NOMINA_SEED` selects different calls, `NOMINA_CALLS` sets their number for each relation.

#[path = "static_dynamic/calls.rs"]
mod calls;
#[path = "static_dynamic/draw.rs"]
mod draw;
#[allow(dead_code, reason = "other tests run what they compile")]
#[path = "generated_crate/mod.rs"]
mod generated_crate;
#[path = "static_dynamic/index.rs"]
mod index;
#[path = "static_dynamic/products.rs"]
mod products;
#[path = "static_dynamic/rustc.rs"]
mod rustc;

use draw::Draw;
use nomina::ErrorKind;

fn from_env(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

#[test]
fn types_accept_what_rules_accept() {
    let seed = from_env("NOMINA_SEED", 20_260);
    let count = from_env("NOMINA_CALLS", 40);
    let mut draw = Draw::new(seed);
    let mut drawn = Vec::new();
    for relation in calls::RELATIONS.into_iter().chain(index::RELATIONS) {
        drawn.extend((0..count).map(|_| relation(&mut draw)));
    }
    let failed = rustc::failing_lines(&drawn);
    let mut wrong = Vec::new();
    for (line, call) in drawn.iter().enumerate() {
        let says = failed.get(&line);
        match (&call.verdict, says) {
            (Ok(_), None) | (Err(_), Some(_)) => {}
            (Ok(names), Some(text)) => {
                wrong.push(format!(
                    "{}\n  the rule gives {names}, rustc says: {text}",
                    call.text()
                ));
            }
            // A product with unknown batch dims: the types leave it to run time to check that an
            // unnamed dim does not align with a feature dim.
            (Err(error), None) if call.is_late() && error.kind() == ErrorKind::Misaligned => {}
            (Err(error), None) => {
                wrong.push(format!(
                    "{}\n  compiles, but the rule says: {error}",
                    call.text()
                ));
            }
        }
    }
    let accepted = drawn.iter().filter(|call| call.verdict.is_ok()).count();
    println!(
        "{} calls, {accepted} accepted by the rules, seed {seed}",
        drawn.len()
    );
    // Almost all accepted or almost all rejected would test little.
    assert!(
        accepted > drawn.len() / 8 && accepted < drawn.len() * 7 / 8,
        "a poor draw"
    );
    assert!(
        wrong.is_empty(),
        "{} disagree:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
