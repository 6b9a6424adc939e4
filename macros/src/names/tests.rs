use insta::assert_snapshot;

use super::names;
use crate::testing::{expression, mistakes, typed};

#[test]
fn expansions() {
    let codes = ["", "\"N\"", "\"N\", _, \"C\"", "_, _,"];
    let all: Vec<String> = codes.iter().map(|code| expression(names, code)).collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn a_wrong_list_is_a_list_to_later_lines() {
    let text = expression(names, "\"N\", \"N\"");
    assert!(
        text.contains("stand_in::<::nomina::__private::Names>()"),
        "{text}"
    );
}

#[test]
fn every_mistake() {
    let too_many = vec!["_"; 65].join(", ");
    let codes = [
        "\"N\", \"C\", \"N\"",
        "\"N\", N",
        "N, C::D, \"C\"",
        "None, \"N\"",
        "\"N\", ..",
        "\"N\" \"C\"",
        "\"2d\", \"\", \"my dim\", \"größe\"",
        "\"N\"x",
        "3, -1",
        ", \"N\"",
        "(\"N\", \"C\")",
        &too_many,
    ];
    let all: Vec<String> = codes.iter().map(|code| mistakes(names, code)).collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn unnamed_dims_are_no_duplicates() {
    let most = vec!["_"; 64].join(", ");
    assert_eq!(mistakes(names, &most), format!("{most}\n"));
}

#[test]
fn every_beginning_expands_to_code() {
    typed(names, "\"N\", _, \"C\"");
}
