//! Tests of rules on texts other than the programs of the catalogue.

use std::path::PathBuf;

use super::*;
use crate::edit::apply;
use crate::message::Place;

/// Creates a message at the last occurrence of `at` in a text, with its label.
fn message(text: &str, at: &str, first_line: &str, label: &str) -> Message {
    let start = text.rfind(at).unwrap();
    Message {
        code: String::new(),
        message: first_line.to_owned(),
        places: vec![Place {
            file: PathBuf::from("src/main.rs"),
            range: start..start + at.len(),
            line: 1,
            column: 1,
            primary: true,
            label: label.to_owned(),
            text: Vec::new(),
            replacement: None,
            own: true,
        }],
        children: Vec::new(),
    }
}

fn mended(text: &str, at: &str, first_line: &str, label: &str) -> String {
    let source = Source::new(text.to_owned());
    let fixes = fixes(&message(text, at, first_line, label), &source);
    apply(text, &fixes[0].edits)
}

#[test]
fn operands_are_aligned_as_the_label_says() {
    let line = "dim `W` and dim `T` are at the same position from the right but do not match";
    let label =
        "cannot broadcast dims (T, W) with dims (T,); align by name first: `y.align_as(&x)`";
    let text = "fn f(a: &Tensor<(T, W)>, b: &Tensor<(T,)>) { g(a * (b - 1.0)); }";
    assert_eq!(
        mended(text, "*", line, label),
        "fn f(a: &Tensor<(T, W)>, b: &Tensor<(T,)>) { g(a * (b - 1.0).align_as(&a)); }"
    );
}

#[test]
fn a_dim_that_is_missing_becomes_the_one_of_a_like_name() {
    let line = "dim `Chan` not found in dims (Channels, Rows)";
    assert_eq!(
        mended(
            "fn f() { p.sum(keep(Chan)); }",
            "keep(Chan)",
            line,
            "no such dim"
        ),
        "fn f() { p.sum(keep(Channels)); }"
    );
}

#[test]
fn a_position_becomes_its_dim() {
    let text = "fn f() { let p = Tensor::<(Rows, Cols)>::ones([2, 3]); p.mean(-1); }";
    let mended = mended(text, "mean", "`{integer}` is not a dim", "expected a dim");
    assert!(mended.ends_with("p.mean(Cols); }"), "{mended}");
}

#[test]
fn an_item_of_a_macro_goes_with_its_comma() {
    assert_eq!(
        mended("dims! { A, B, A }", "A", "dim `A` is declared twice", ""),
        "dims! { A, B }"
    );
    assert_eq!(
        mended("dims! { A B }", "B", "expected `,` after dim `A`", ""),
        "dims! { A, B }"
    );
}

#[test]
fn a_message_of_another_crate_has_no_fix() {
    let text = "fn f() { let a: u8 = \"b\"; }";
    let source = Source::new(text.to_owned());
    let other = message(
        text,
        "\"b\"",
        "mismatched types",
        "expected `u8`, found `&str`",
    );
    assert!(fixes(&other, &source).is_empty());
}
