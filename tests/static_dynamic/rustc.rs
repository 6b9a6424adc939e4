//! One call of rustc over many lines.

use std::collections::BTreeMap;

use crate::calls::Call;
use crate::generated_crate::Krate;

/// The text of the first error of each line that does not compile.
pub fn failing_lines(calls: &[Call]) -> BTreeMap<usize, String> {
    let krate = Krate::new("static_dynamic");
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
