//! The rows, by family.

mod activation;
mod attribute;
mod contract;
mod conv;
mod einsum;
mod factory;
mod gather;
mod index;
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

use super::Row;

/// A family's name, which is its file's, and its rows.
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
];

pub(super) fn families() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter()
}

pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().flat_map(|(_, rows)| rows.iter())
}

pub(super) fn row(mut index: usize) -> &'static Row {
    for (_, rows) in FAMILIES {
        if index < rows.len() {
            return &rows[index];
        }
        index -= rows.len();
    }
    unreachable!("`Op` is generated from these rows")
}
