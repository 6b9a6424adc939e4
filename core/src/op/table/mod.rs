//! The rows, by family.

mod contract;
mod factory;
mod index;
mod math;
mod names;
mod number;
mod pointwise;
mod query;
mod reduce;
mod view;

use super::Row;

const FAMILIES: &[&[Row]] = &[
    pointwise::ROWS,
    math::ROWS,
    number::ROWS,
    reduce::ROWS,
    contract::ROWS,
    view::ROWS,
    names::ROWS,
    index::ROWS,
    factory::ROWS,
    query::ROWS,
];

pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().copied().flatten()
}

pub(super) fn row(mut index: usize) -> &'static Row {
    for family in FAMILIES {
        if index < family.len() {
            return &family[index];
        }
        index -= family.len();
    }
    unreachable!("`Op` is generated from these rows")
}
