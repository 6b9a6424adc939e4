//! The rows, by family.

mod activation;
mod analysis;
mod attribute;
mod contract;
mod conv;
mod einsum;
mod factory;
mod fft;
mod gather;
mod index;
mod linalg;
mod loss;
mod math;
mod names;
mod norm;
mod number;
mod parametric;
mod part;
mod pointwise;
mod query;
mod random;
mod reduce;
mod shape;
mod sort;
mod sparse;
mod stat;
mod view;

use super::{Op, Row};

/// The name of a family, equal to its file name, and its rows.
type Family = (&'static str, &'static [Row]);

const FAMILIES: &[Family] = &[
    ("pointwise", pointwise::ROWS),
    ("math", math::ROWS),
    ("number", number::ROWS),
    ("reduce", reduce::ROWS),
    ("contract", contract::ROWS),
    ("view", view::ROWS),
    ("names", names::ROWS),
    ("index", index::ROWS),
    ("factory", factory::ROWS),
    ("query", query::ROWS),
    ("shape", shape::ROWS),
    ("gather", gather::ROWS),
    ("sort", sort::ROWS),
    ("stat", stat::ROWS),
    ("random", random::ROWS),
    ("attribute", attribute::ROWS),
    ("sparse", sparse::ROWS),
    ("einsum", einsum::ROWS),
    ("parametric", parametric::ROWS),
    ("part", part::ROWS),
    ("activation", activation::ROWS),
    ("norm", norm::ROWS),
    ("loss", loss::ROWS),
    ("conv", conv::ROWS),
    ("linalg", linalg::ROWS),
    ("fft", fft::ROWS),
    ("analysis", analysis::ROWS),
];

pub(super) fn families() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter()
}

pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().flat_map(|(_, rows)| rows.iter())
}

/// The number of rows. Independent of `Op`, which may not be generated yet.
const COUNT: usize = {
    let (mut family, mut count) = (0, 0);
    while family < FAMILIES.len() {
        count += FAMILIES[family].1.len();
        family += 1;
    }
    count
};

/// All rows, indexed by operator.
static ROWS: [&Row; COUNT] = {
    let mut all = [&FAMILIES[0].1[0]; COUNT];
    let (mut family, mut next) = (0, 0);
    while family < FAMILIES.len() {
        let rows = FAMILIES[family].1;
        let mut at = 0;
        while at < rows.len() {
            assert!(
                !matches!(rows[at].spread, crate::op::Spread::Unsaid),
                "the row lacks a mesh rule: write `.spread(Spread::Elementwise)`, or another of `Spread`"
            );
            all[next] = &rows[at];
            (at, next) = (at + 1, next + 1);
        }
        family += 1;
    }
    all
};

/// The row of an operator.
#[inline]
pub(super) fn row(op: Op) -> &'static Row {
    ROWS[op as usize]
}
