use insta::assert_snapshot;

use super::einsum;
use crate::testing::{expression, mistakes};

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
    ];
    let all: Vec<String> = codes.iter().map(|code| mistakes(einsum, code)).collect();
    assert_snapshot!(all.join("\n"));
}
