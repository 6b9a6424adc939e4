//! Products over any dims: random calls of each relation.

use nomina::Names;
use nomina_core::rule::{self, DimArg, PairArg};

use crate::calls::Call;
use crate::draw::Draw;

/// Draws two operands that often match, with at least `least` dims.
fn two(draw: &mut Draw, least: usize) -> (Names, Names) {
    let rank = least + draw.below(3);
    let x = draw.names(rank);
    let mut y = draw.alike(&x);
    while y.len() < least {
        y.push(None);
    }
    (x, y)
}

pub fn contract_two(draw: &mut Draw) -> Call {
    let (x, y) = two(draw, 2);
    let (a, b) = (draw.of(&x), draw.of(&x));
    let dims = DimArg::list([a, b]);
    let verdict = rule::contract("contract", &x, &y, &dims).map(|plan| plan.names);
    let text = format!("x.contract(y, ({a}, {b}))");
    Call::new(vec![("x", x), ("y", y)], text, verdict)
}

pub fn tensordot(draw: &mut Draw) -> Call {
    let (x, y) = two(draw, 1);
    let named = |names: &Names| names.fully_named();
    let dim = draw.of(&x);
    let dims = PairArg::Both(dim.into());
    let verdict = match rule::contract("tensordot", &x, &y, &dim.into()) {
        // The types require every name, as `contract` does.
        Err(error) if !named(&x) || !named(&y) => Err(error),
        _ => rule::tensordot("tensordot", &x, &y, &dims).map(|plan| plan.names),
    };
    let text = format!("x.tensordot(y, {dim})");
    Call::new(vec![("x", x), ("y", y)], text, verdict)
}

pub fn outer(draw: &mut Draw) -> Call {
    let rank = |draw: &mut Draw| if draw.chance(90) { 1 } else { 2 };
    let (a, b) = (rank(draw), rank(draw));
    let (x, y) = (draw.names(a), draw.names(b));
    let verdict = rule::outer("outer", &x, &y);
    Call::new(vec![("x", x), ("y", y)], "x.outer(y)".into(), verdict)
}

pub fn inner(draw: &mut Draw) -> Call {
    let (a, b) = (1 + draw.below(3), 1 + draw.below(3));
    let (x, y) = (draw.names(a), draw.names(b));
    let verdict = rule::inner("inner", &x, &y);
    Call::new(vec![("x", x), ("y", y)], "x.inner(y)".into(), verdict)
}

pub fn cdist(draw: &mut Draw) -> Call {
    let (a, b) = (1 + draw.below(3), 2 + draw.below(2));
    let (x, y) = (draw.names(a), draw.names(b));
    let verdict = rule::cdist("cdist", &x, &y);
    Call::new(vec![("x", x), ("y", y)], "x.cdist(y)".into(), verdict)
}

pub fn attention(draw: &mut Draw) -> Call {
    let rank = if draw.chance(95) {
        2 + draw.below(2)
    } else {
        1
    };
    let q = draw.names(rank);
    // Keys have the query's dims with `source` in place of the length; values have those of the
    // keys.
    let mut k = q.clone();
    if let Some(source) = k.len().checked_sub(2) {
        let name = nomina::Name::from_static(draw.name());
        k[source] = (k.position(&name).is_none() || draw.chance(10)).then_some(name);
        if k.duplicate().is_some() {
            k[source] = None;
        }
    }
    let v = if draw.chance(80) {
        k.clone()
    } else {
        draw.alike(&k)
    };
    let verdict = rule::attention("attention", &q, &k, &v, None);
    let text = "x.scaled_dot_product_attention(y, z)".into();
    Call::new(vec![("x", q), ("y", k), ("z", v)], text, verdict)
}

/// Draws an operand's list: all its names in another order, some and `..`, or something else.
fn list(draw: &mut Draw, names: &Names) -> String {
    let mut own: Vec<String> = names.iter().flatten().map(ToString::to_string).collect();
    if own.len() > 1 {
        let (i, j) = (draw.below(own.len()), draw.below(own.len()));
        own.swap(i, j);
    }
    if draw.chance(30) {
        own.truncate(draw.below(own.len() + 1));
        own.push("..".into());
    } else if draw.chance(10) {
        own.pop();
    } else if draw.chance(10) {
        own.push(draw.name().into());
    }
    format!("[{}]", own.join(", "))
}

pub fn einsum(draw: &mut Draw) -> Call {
    let (a, b) = (draw.below(4), draw.below(4));
    let (x, y) = (draw.names(a), draw.names(b));
    let (left, right) = (list(draw, &x), list(draw, &y));
    let all: Names = x.iter().chain(y.iter()).cloned().collect();
    let mut result: Vec<String> = Vec::new();
    for _ in 0..draw.below(3) {
        let name = draw.of(&all).to_owned();
        if !result.contains(&name) || draw.chance(10) {
            result.push(name);
        }
    }
    if draw.chance(30) {
        result.insert(draw.below(result.len() + 1), "..".into());
    }
    let result = format!("[{}]", result.join(", "));
    let equation = format!("{left} * {right} -> {result}");
    let verdict = rule::einsum("einsum", &equation, &[&x, &y]).map(|read| read.names);
    let text = format!("einsum!(x{left} * y{right} -> {result})");
    Call::new(vec![("x", x), ("y", y)], text, verdict)
}
