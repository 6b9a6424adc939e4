//! The measured relations: how each draws its operands and spells its call in both forms.

use crate::draw::{NEW, Rng};
use crate::program::{strings, tuple};

/// An operand of a call.
pub struct Operand {
    pub dims: Vec<&'static str>,
    pub dtype: &'static str,
}

/// One call: `$a` and `$b` stand for the operands.
pub struct Line {
    pub operands: Vec<Operand>,
    pub typed: String,
    pub dynamic: String,
}

/// A family of calls that asks rustc the same question.
pub struct Relation {
    pub name: &'static str,
    /// Whether it is part of the mix.
    pub mixed: bool,
    pub draw: fn(&mut Rng, usize) -> Line,
}

fn f32s(dims: &[&'static str]) -> Operand {
    Operand {
        dims: dims.to_vec(),
        dtype: "f32",
    }
}

fn one(dims: &[&'static str], typed: String, dynamic: String) -> Line {
    Line {
        operands: vec![f32s(dims)],
        typed,
        dynamic,
    }
}

fn two(a: &[&'static str], b: &[&'static str], typed: &str, dynamic: &str) -> Line {
    let operands = vec![f32s(a), f32s(b)];
    Line {
        operands,
        typed: typed.to_owned(),
        dynamic: dynamic.to_owned(),
    }
}

const fn mixed(name: &'static str, draw: fn(&mut Rng, usize) -> Line) -> Relation {
    Relation {
        name,
        mixed: true,
        draw,
    }
}

const fn alone(name: &'static str, draw: fn(&mut Rng, usize) -> Line) -> Relation {
    Relation {
        name,
        mixed: false,
        draw,
    }
}

/// All of them. The mix takes those a program is full of; `alone` are dearer or cheaper corners.
pub const RELATIONS: &[Relation] = &[
    mixed("sum", |rng, rank| {
        let d = rng.dims(rank);
        let x = d[rng.below(rank)];
        one(&d, format!("$a.sum({x})"), format!("$a.sum(\"{x}\")"))
    }),
    alone("sum_two", |rng, rank| {
        let d = rng.dims(rank);
        let x = rng.sample(&d, 2);
        one(
            &d,
            format!("$a.sum({})", tuple(&x)),
            format!("$a.sum({})", strings(&x)),
        )
    }),
    alone("mean_keep", |rng, rank| {
        let d = rng.dims(rank);
        let x = d[rng.below(rank)];
        one(
            &d,
            format!("$a.mean(keep({x}))"),
            format!("$a.mean(\"{x}\")"),
        )
    }),
    mixed("add", |rng, rank| {
        let d = rng.dims(rank);
        two(&d, &d[rank / 2..], "&$a + &$b", "$a.add(&$b)")
    }),
    alone("add_same", |rng, rank| {
        let d = rng.dims(rank);
        one(&d, "&$a + &$a".to_owned(), "$a.add(&$a)".to_owned())
    }),
    alone("add_dtypes", |rng, rank| {
        let d = rng.dims(rank);
        let mut line = two(&d, &d, "&$a + &$b", "$a.add(&$b)");
        line.operands[1].dtype = "f64";
        line
    }),
    alone("mul_scalar", |rng, rank| {
        one(
            &rng.dims(rank),
            "&$a * 2.0".to_owned(),
            "$a.mul(2.0)".to_owned(),
        )
    }),
    alone("add_assign", |rng, rank| {
        let d = rng.dims(rank);
        two(&d, &d[rank / 2..], "$a += &$b", "$a.add_(&$b)")
    }),
    mixed("align_to", |rng, rank| {
        let d = rng.dims(rank);
        let order = rng.sample(&d, rank);
        one(
            &d,
            format!("$a.align_to({})", tuple(&order)),
            format!("$a.align_to({})", strings(&order)),
        )
    }),
    alone("align_rest", |rng, rank| {
        let d = rng.dims(rank);
        let x = d[rng.below(rank)];
        one(
            &d,
            format!("$a.align_to(({x}, ..))"),
            format!("$a.align_to([\"{x}\", \"...\"])"),
        )
    }),
    mixed("align_as", |rng, rank| {
        let d = rng.dims(rank);
        two(
            &rng.sample(&d, rank / 2),
            &d,
            "$a.align_as(&$b)",
            "$a.align_as(&$b)",
        )
    }),
    mixed("rename", |rng, rank| {
        let d = rng.dims(rank);
        let (x, new) = (d[rng.below(rank)], NEW[0]);
        one(
            &d,
            format!("$a.rename({x}, {new})"),
            format!("$a.rename([(\"{x}\", \"{new}\")])"),
        )
    }),
    mixed("transpose", |rng, rank| {
        let d = rng.dims(rank);
        let x = rng.sample(&d, 2);
        let dynamic = format!("$a.transpose(\"{}\", \"{}\")", x[0], x[1]);
        one(&d, format!("$a.transpose({}, {})", x[0], x[1]), dynamic)
    }),
    mixed("flatten", |rng, rank| {
        let d = rng.dims(rank);
        let dynamic = format!("$a.flatten({}, \"{}\")", strings(&d[1..]), NEW[0]);
        one(
            &d,
            format!("$a.flatten({}, {})", tuple(&d[1..]), NEW[0]),
            dynamic,
        )
    }),
    mixed("unflatten", |rng, rank| {
        let d = rng.dims(rank - 1);
        let typed = format!(
            "$a.unflatten({}, ({}.of(3), {}.of(4)))",
            d[1], NEW[0], NEW[1]
        );
        let dynamic = format!(
            "$a.unflatten(\"{}\", [(\"{}\", 3), (\"{}\", 4)])",
            d[1], NEW[0], NEW[1]
        );
        one(&d, typed, dynamic)
    }),
    mixed("matmul", |rng, rank| {
        let d = rng.dims(rank);
        let mut right = d[..rank - 2].to_vec();
        right.extend([d[rank - 1], NEW[0]]);
        two(&d, &right, "$a.matmul(&$b)", "$a.matmul(&$b)")
    }),
    alone("contract", |rng, rank| {
        let d = rng.dims(rank);
        let mut right = d[..rank - 2].to_vec();
        right.extend([NEW[0], d[rank - 1]]);
        let x = d[rank - 1];
        two(
            &d,
            &right,
            &format!("$a.contract(&$b, {x})"),
            &format!("$a.contract(&$b, \"{x}\")"),
        )
    }),
    mixed("select", |rng, rank| {
        let d = rng.dims(rank);
        let x = d[rng.below(rank)];
        one(
            &d,
            format!("$a.select({x}, 0)"),
            format!("$a.select(\"{x}\", 0)"),
        )
    }),
    alone("cat", |rng, rank| {
        let d = rng.dims(rank);
        let x = d[rng.below(rank)];
        one(
            &d,
            format!("cat(&[&$a, &$a], {x})"),
            format!("DynTensor::cat(&[&$a, &$a], \"{x}\")"),
        )
    }),
];
