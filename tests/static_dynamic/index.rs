//! Index tensors.

use nomina::{Error, Names};
use nomina_core::rule::{self, DimArg, DimRef};

use crate::calls::Call;
use crate::draw::Draw;

pub const RELATIONS: [fn(&mut Draw) -> Call; 6] =
    [index_select, embedding, gather, index_add, at, index];

/// Draws the names of an index. With an unnamed index, types and run time give different names,
/// since the run time keeps the dim's name.
fn ids(draw: &mut Draw, most: usize) -> Names {
    let rank = draw.below(most + 1);
    let known = draw.known(rank);
    known
        .into_iter()
        .map(|name| Some(nomina::Name::from_static(name)))
        .collect()
}

fn some(draw: &mut Draw) -> Names {
    let rank = 1 + draw.below(4);
    draw.names(rank)
}

fn index_select(draw: &mut Draw) -> Call {
    let (x, ids) = (some(draw), ids(draw, 3));
    let dim = draw.of(&x);
    let verdict = rule::position("index_select", &x, DimRef::Name(dim))
        .and_then(|at| rule::index_select("index_select", &x, at, &ids));
    let operands = vec![("x", x), ("ids", ids)];
    Call::new(operands, format!("x.index_select({dim}, ids)"), verdict)
}

fn embedding(draw: &mut Draw) -> Call {
    let (x, ids) = (some(draw), ids(draw, 3));
    let dim = draw.of(&x);
    let verdict = rule::position("embedding", &x, DimRef::Name(dim)).and_then(|at| {
        let rows = rule::remove(&x, &[at]);
        let first: Names = x[at..=at].iter().chain(&rows).cloned().collect();
        rule::index_by("embedding", &first, 0, &ids)
    });
    let operands = vec![("x", x), ("ids", ids)];
    Call::new(operands, format!("x.embedding({dim}, ids)"), verdict)
}

fn gather(draw: &mut Draw) -> Call {
    let x = some(draw);
    let (ids, dim) = (draw.alike(&x), draw.of(&x));
    let verdict = rule::position("gather", &x, DimRef::Name(dim))
        .and_then(|_| rule::index_along("gather", &x, &ids));
    let operands = vec![("x", x), ("ids", ids)];
    Call::new(operands, format!("x.gather({dim}, ids)"), verdict)
}

fn index_add(draw: &mut Draw) -> Call {
    let (x, ids) = (some(draw), ids(draw, 2));
    let dim = draw.of(&x);
    let at = rule::position("index_add", &x, DimRef::Name(dim));
    let selected = at
        .clone()
        .and_then(|at| rule::index_select("index_add", &x, at, &ids));
    let source = match &selected {
        Ok(names) => draw.alike(names),
        Err(_) => some(draw),
    };
    // A dim without a name in `self` may get one at run time; its type does not change.
    let verdict = at
        .and_then(|at| rule::index_into("index_add", &x, at, &ids, &source))
        .map(|_| x.clone());
    let operands = vec![("x", x), ("ids", ids), ("source", source)];
    Call::new(
        operands,
        format!("x.index_add({dim}, ids, source)"),
        verdict,
    )
}

/// Checks that the dims of two indices exist and differ.
fn two(op: &'static str, x: &Names, dims: &[&'static str]) -> Result<(), Error> {
    DimArg::list(dims.iter().copied()).listed(op, x).map(|_| ())
}

fn at(draw: &mut Draw) -> Call {
    let (x, a, b) = (some(draw), ids(draw, 2), ids(draw, 2));
    let dims = [draw.of(&x), draw.of(&x), draw.of(&x)];
    let verdict = two("at", &x, &dims).and_then(|()| {
        let gone = rule::position("at", &x, DimRef::Name(dims[1]))?;
        let mut names = rule::remove(&x, &[gone]);
        for (dim, ids) in [(dims[0], &a), (dims[2], &b)] {
            let now = rule::position("at", &names, DimRef::Name(dim))?;
            names = rule::index_by("at", &names, now, ids)?;
        }
        Ok(names)
    });
    let [first, second, third] = dims;
    let expression = format!("x.at(({first}.i(ids_a), {second}.i(0), {third}.i(ids_b)))");
    Call::new(
        vec![("x", x), ("ids_a", a), ("ids_b", b)],
        expression,
        verdict,
    )
}

fn index(draw: &mut Draw) -> Call {
    let (x, a) = (some(draw), ids(draw, 2));
    let b = draw.alike(&a);
    let dims = [draw.of(&x), draw.of(&x)];
    let verdict = two("index", &x, &dims).and_then(|()| {
        let joint = rule::unify("index", &a, &b)?;
        let gone = rule::position("index", &x, DimRef::Name(dims[1]))?;
        let left = rule::remove(&x, &[gone]);
        let place = rule::position("index", &left, DimRef::Name(dims[0]))?;
        rule::index_by("index", &left, place, &joint)
    });
    let expression = format!("x.index(({}.i(ids_a), {}.i(ids_b)))", dims[0], dims[1]);
    Call::new(
        vec![("x", x), ("ids_a", a), ("ids_b", b)],
        expression,
        verdict,
    )
}
