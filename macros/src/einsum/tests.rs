use insta::assert_snapshot;

use super::{einsum, try_einsum};
use crate::testing::{expression, mistakes, typed};

#[test]
fn expansions() {
    let codes = [
        "x[N, C] -> [C]",
        "q[B, T, K] * (&k + 1.0)[.., a::K] -> [B, .., Prime<T>]",
    ];
    let all: Vec<String> = codes.iter().map(|code| expression(einsum, code)).collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn the_type_that_later_lines_see() {
    let codes = [
        "x[N, N] * y[N] -> [N, N]",
        "x[N C] -> [N] + 1",
        "x[N] -> N",
        "x[N] => [N]",
        "x[N, N] -> [..]",
        "x -> [N]",
    ];
    let mut all: Vec<String> = codes.iter().map(|code| expression(einsum, code)).collect();
    all.push(expression(try_einsum, "x[N, N] -> [N]"));
    assert_snapshot!(all.join("\n"));
}

#[test]
fn every_mistake() {
    let codes = [
        "",
        "x[N]",
        "x[N] ->",
        "x[N] -> N",
        "x[N] -> [N] + 1",
        "x -> [N]",
        "[N] -> [N]",
        "x[N] * -> [N]",
        "x * y[N] -> [N]",
        "x[N, N] * y[N] -> [N, N]",
        "x[.., ..] -> [..]",
        "x[N] -> [..]",
        "x[...] -> []",
        "x[\"N\", 3] -> [N]",
        "x[N C] -> [N]",
        "x +[N] -> [N]",
        "x[N] + y[N] -> [N]",
        "x[N] * y[N] - z[N] -> [N]",
        "x[N], y[N] -> []",
        "\"ij,jk->ik\", x, y",
        "x[N] => [N]",
        "x[N] *",
        "x[N, 3] * y -> N",
        "x[N] -> [N],",
    ];
    let all: Vec<String> = codes.iter().map(|code| mistakes(einsum, code)).collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn every_beginning_expands_to_code() {
    typed(einsum, "q[B, T, K] * (&k + 1.0)[.., S] -> [B, T, ..]");
}
