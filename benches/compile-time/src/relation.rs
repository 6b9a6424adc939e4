//! The measured relations: how each draws its operands and spells its call in both forms.

use crate::draw::{NEW, Rng};
use crate::program::{strings, tuple};

/// An operand of a call.
pub struct Operand {
    pub dims: Vec<&'static str>,
    pub dtype: &'static str,
    /// Whether the call writes to it.
    pub written: bool,
}

/// A call; `$a` and `$b` are placeholders for the operands, which are references.
pub struct Line {
    pub operands: Vec<Operand>,
    pub typed: String,
    pub dynamic: String,
}

/// A family of calls that need the same trait bounds.
pub struct Relation {
    pub name: &'static str,
    pub draw: fn(&mut Rng, usize) -> Line,
}

fn f32s(dims: &[&'static str]) -> Operand {
    Operand {
        dims: dims.to_vec(),
        dtype: "f32",
        written: false,
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

const fn relation(name: &'static str, draw: fn(&mut Rng, usize) -> Line) -> Relation {
    Relation { name, draw }
}

/// All relations.
pub const RELATIONS: &[Relation] = &[
    relation("sum", |rng, rank| {
        let d = rng.dims(rank);
        let x = d[rng.below(rank)];
        one(&d, format!("$a.sum({x})"), format!("$a.sum(\"{x}\")"))
    }),
    relation("sum_two", |rng, rank| {
        let d = rng.dims(rank);
        let x = rng.sample(&d, 2);
        one(
            &d,
            format!("$a.sum({})", tuple(&x)),
            format!("$a.sum({})", strings(&x)),
        )
    }),
    relation("mean_keep", |rng, rank| {
        let d = rng.dims(rank);
        let x = d[rng.below(rank)];
        one(
            &d,
            format!("$a.mean(keep({x}))"),
            format!("$a.mean(\"{x}\")"),
        )
    }),
    relation("add", |rng, rank| {
        let d = rng.dims(rank);
        two(&d, &d[rank / 2..], "$a + $b", "$a.add($b)")
    }),
    relation("add_same", |rng, rank| {
        let d = rng.dims(rank);
        one(&d, "$a + $a".to_owned(), "$a.add($a)".to_owned())
    }),
    relation("add_dtypes", |rng, rank| {
        let d = rng.dims(rank);
        let mut line = two(&d, &d, "$a + $b", "$a.add($b)");
        line.operands[1].dtype = "f64";
        line
    }),
    relation("mul_scalar", |rng, rank| {
        one(
            &rng.dims(rank),
            "$a * 2.0".to_owned(),
            "$a.mul(2.0)".to_owned(),
        )
    }),
    relation("add_assign", |rng, rank| {
        let d = rng.dims(rank);
        let mut line = two(&d, &d[rank / 2..], "*$a += $b", "$a.add_($b)");
        line.operands[0].written = true;
        line
    }),
    relation("align_to", |rng, rank| {
        let d = rng.dims(rank);
        let order = rng.sample(&d, rank);
        one(
            &d,
            format!("$a.align_to({})", tuple(&order)),
            format!("$a.align_to({})", strings(&order)),
        )
    }),
    relation("align_rest", |rng, rank| {
        let d = rng.dims(rank);
        let x = d[rng.below(rank)];
        one(
            &d,
            format!("$a.align_to(({x}, ..))"),
            format!("$a.align_to([\"{x}\", \"...\"])"),
        )
    }),
    relation("align_as", |rng, rank| {
        let d = rng.dims(rank);
        two(
            &rng.sample(&d, rank / 2),
            &d,
            "$a.align_as($b)",
            "$a.align_as($b)",
        )
    }),
    relation("rename", |rng, rank| {
        let d = rng.dims(rank);
        let (x, new) = (d[rng.below(rank)], NEW[0]);
        one(
            &d,
            format!("$a.rename({x}, {new})"),
            format!("$a.rename([(\"{x}\", \"{new}\")])"),
        )
    }),
    relation("transpose", |rng, rank| {
        let d = rng.dims(rank);
        let x = rng.sample(&d, 2);
        let dynamic = format!("$a.transpose(\"{}\", \"{}\")", x[0], x[1]);
        one(&d, format!("$a.transpose({}, {})", x[0], x[1]), dynamic)
    }),
    relation("flatten", |rng, rank| {
        let d = rng.dims(rank);
        let dynamic = format!("$a.flatten({}, \"{}\")", strings(&d[1..]), NEW[0]);
        one(
            &d,
            format!("$a.flatten({}, {})", tuple(&d[1..]), NEW[0]),
            dynamic,
        )
    }),
    relation("unflatten", |rng, rank| {
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
    relation("matmul", |rng, rank| {
        let d = rng.dims(rank);
        let mut right = d[..rank - 2].to_vec();
        right.extend([d[rank - 1], NEW[0]]);
        two(&d, &right, "$a.matmul($b)", "$a.matmul($b)")
    }),
    relation("contract", |rng, rank| {
        let d = rng.dims(rank);
        let mut right = d[..rank - 2].to_vec();
        right.extend([NEW[0], d[rank - 1]]);
        let x = d[rank - 1];
        two(
            &d,
            &right,
            &format!("$a.contract($b, {x})"),
            &format!("$a.contract($b, \"{x}\")"),
        )
    }),
    relation("select", |rng, rank| {
        let d = rng.dims(rank);
        let x = d[rng.below(rank)];
        one(
            &d,
            format!("$a.select({x}, 0)"),
            format!("$a.select(\"{x}\", 0)"),
        )
    }),
    relation("cat", |rng, rank| {
        let d = rng.dims(rank);
        let x = d[rng.below(rank)];
        one(
            &d,
            format!("cat(&[$a, $a], {x})"),
            format!("DynTensor::cat(&[$a, $a], \"{x}\")"),
        )
    }),
];
