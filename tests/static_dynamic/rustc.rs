//! One call of rustc over many lines, for each core.

use std::collections::BTreeMap;
use std::thread;

use crate::calls::Call;
use crate::generated_crate::Krate;

/// Returns the text of the first error of each line that does not compile.
pub fn failing_lines(calls: &[Call]) -> BTreeMap<usize, String> {
    // rustc checks a crate on one thread.
    let crates = thread::available_parallelism().map_or(1, usize::from);
    let len = calls.len().div_ceil(crates).max(1);
    thread::scope(|scope| {
        let parts = calls.chunks(len).enumerate().map(|(part, calls)| {
            let failing = move || failing_in(&format!("static_dynamic_{part}"), calls);
            (part * len, scope.spawn(failing))
        });
        let parts: Vec<_> = parts.collect();
        let shifted = parts.into_iter().flat_map(|(first, failing)| {
            let failing = failing.join().expect("the crate itself compiles");
            failing
                .into_iter()
                .map(move |(line, text)| (first + line, text))
        });
        shifted.collect()
    })
}

fn failing_in(name: &str, calls: &[Call]) -> BTreeMap<usize, String> {
    let krate = Krate::new(name);
    let mut source = String::from(
        "#![allow(unused, non_snake_case)]\nuse nomina::prelude::*; dims! { A, B, C, D, E, F }\n",
    );
    let head = source.lines().count();
    for (i, call) in calls.iter().enumerate() {
        source += &format!("fn call_{i}{}\n", call.text());
    }
    source += "fn main() {}\n";
    krate.write("main.rs", &source);
    let mut failing = BTreeMap::new();
    for mistake in krate.build() {
        assert!(
            mistake.line > head,
            "the crate itself does not compile: {}",
            mistake.text
        );
        failing
            .entry(mistake.line - 1 - head)
            .or_insert(mistake.text);
    }
    failing
}
