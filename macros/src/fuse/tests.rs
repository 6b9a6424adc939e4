use insta::assert_snapshot;

use super::fuse;
use crate::testing::{expression, mistakes, typed};

#[test]
fn expansions() {
    let codes = [
        "|x, b| (x + b).tanh() * 0.5",
        "|x, s = &scale * 2.0| { let h = x * s; -h.exp() * h }.sum(keep(C))",
        "|x, s = a | { let h = x * s; (-h.exp() * h.to::<f64>() - { rate }).mean((N, C)) }",
        "|c, x| c.where_cond(x, 1.0).atan2(x + 1.0)",
        "|x = d.typed::<(N, C), Vec<f32>>()?, y| x.lt(y).argmax(C)",
    ];
    let all: Vec<String> = codes.iter().map(|code| expression(fuse, code)).collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn every_mistake() {
    let codes = [
        "",
        "x + b",
        "|| x",
        "|x",
        "|x, x| x",
        "|x b| x",
        "|x =| x",
        "|x| x + y",
        "|x| x + 1.0, 2",
        "|x| x.tan_h()",
        "|x| x.add_(1.0)",
        "|x| x.matmul(x)",
        "|x| x.sum(C) + 1.0",
        "|x| x.sum(C).sum(N)",
        "|x| x.atan2()",
        "|x| x % 2 + x.eq(x == x)",
        "|x| { x += 1.0; x }",
        "|x| { let h = x + 1.0; }",
        "|x| { let (a, b) = x; a }",
        "|x| { let h = 2.0; x * h }",
        "|x| { let h = x * 2.0; x }",
        "|x| 2.0",
        "|x| 2.0.exp()",
        "|x| &x + 1.0",
        "|x| x.to(1.0)",
        "|x| if x { x } else { x }",
    ];
    let all: Vec<String> = codes.iter().map(|code| mistakes(fuse, code)).collect();
    assert_snapshot!(all.join(""));
}

#[test]
fn while_it_is_typed() {
    typed(
        fuse,
        "|x, s = &scale * 2.0| { let h = x * s; -h.exp() * h - { rate } }",
    );
}
