use insta::assert_snapshot;

use super::tensor;
use crate::testing::{expression, mistakes, typed};

fn snapshot(codes: &[&str]) -> String {
    let line = |code: &&str| format!("{code}\n    {}", expression(tensor, code));
    codes.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn dtype_of_the_values() {
    assert_snapshot!(snapshot(&[
        "1.5",
        "[1, 2, 3]; N",
        "[1., -2.5e3, 3]; N",
        "[[1., 2.], [3., 4.]]; N, C",
        "[true, false]; N",
        "[1f64, 2, -3.]; N",
        "[1u8, 0xff]; N",
        "[b'a', 2]; N",
        "[]; N",
        "[[], []]; N, C,",
        "[1_000, 0b11, 9223372036854775807]; N",
    ]));
}

#[test]
fn dtype_said() {
    assert_snapshot!(snapshot(&[
        "[1, 2.5, -3, 0xff]; N; f64",
        "[1, 2]; N; u8",
        "7; ; i32",
        "[1, -2.5, true]; N; f16",
        "[1]; N; Complex<f32>",
        "[x, 1]; N; T",
        "[true]; N; bool",
        "[x, y]; N; f32",
    ]));
}

#[test]
fn expressions_and_repeats() {
    assert_snapshot!(snapshot(&[
        "x",
        "[x, 1.0]; N",
        "[x, 1.0, 2, -3]; N",
        "[x + 1., f(2)]; N",
        "rows; N, C",
        "[row, [1., 2.]]; N, C",
        "[[0.; 3]; 2]; N, C",
        "[0; LEN]; a::N",
        "[[1., 2.], [0.; 2], [1.; K]]; Wild, Rgb; f64",
    ]));
}

#[test]
fn every_mistake() {
    let codes = [
        "",
        "[[1., 2.], [3.]]; N, C",
        "[[1.], [1., 2.], [3., 4.]]; N, C",
        "[[1., 2.], [3., 4.], []]; N, C",
        "[[[1], [2]], [[3], [4, 5]]]; N, C, H",
        "[[[1], [2]], [[3]]]; N, C, H",
        "[[1, 2], 3]; N, C",
        "[1, [2], 3]; N",
        "[[1; 2], [1, 2, 3]]; N, C",
        "[[1., 2.], [3., 4.]]; N",
        "[1., 2.]; N, C",
        "[1., 2.]",
        "[[1.], [2.]];",
        "1.5; N",
        "1.5; f64",
        "[[x]]; N",
        "[1.]; (N,)",
        "[1.]; _",
        "[1.] N",
        "[1.], N",
        "[[1.]]; N C",
        "[1.]; N; f64; x",
        "[1 2 3, 4]; N",
        "[[1., 2.] [3., 4.]]; N, C",
        "[1, , 2]; N",
        "[1, 2; 3]; N",
        "[1; 2, 3]; N",
        "[1; ]; N",
        "[1 +, 2]; N",
        "; N",
        "[1., 2.]; N,, C",
        "[1.]; N, 3",
        "[1.]; N; 3",
        "[1 2]; N C; f64 x",
        "[1.5, 2]; N; i32",
        "[1, -2, -0]; N; u8",
        "[true, 1]; N",
        "[1, 0.]; N; bool",
        "[\"a\", 'b']; N",
        "[-true]; N",
        "[1x, 0]; N",
        "[0, 1.5u16, 2usize]; N",
        "[1b, 0]; N; f64",
        "[[1.5], [2, 3]]; N, C; i64",
    ];
    let all: Vec<String> = codes.iter().map(|code| mistakes(tensor, code)).collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn the_type_that_later_lines_see() {
    let told = snapshot(&[
        "[[1., 2.], [3.]]; N, C",
        "[1., 2.]; N, C",
        "[[1, 2] [3, 4]]; (N, C)",
        "[1.5, 2]; N; i32",
        "[1.] N",
        "[1.], N, C",
        "[true, 1]; _; bool",
        "; N",
        "[\"a\"]; N; T",
        "[x y]; N",
    ]);
    assert_snapshot!(told);
}

#[test]
fn mistakes_of_shape_and_dtype_are_told_together() {
    let told = mistakes(tensor, "[[1.5], [2, 3]]; N, C; i64");
    assert_eq!(told.lines().count(), 3, "{told}");
}

#[test]
fn every_beginning_expands_to_code() {
    typed(tensor, "[[1., -x.y], [2.; 3]]; N, a::C<K>; f64");
}
