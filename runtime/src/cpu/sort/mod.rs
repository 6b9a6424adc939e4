//! Order along a dim: sorting, selection, the most frequent element, extremes.
//!
//! Elements are treated as bits: a [`KeyKind`] maps them to unsigned keys in the order of the dtype,
//! NaN last. A key and its original position form one number ([`PackedKey`]), so that sorting is
//! stable with any algorithm, and one algorithm serves all dtypes.

mod few;
mod key;
mod line;
mod lines;
mod packed;
mod rows;
mod search;
#[cfg(test)]
mod tests;
mod top;

pub(crate) use key::KeyKind;
pub(crate) use lines::execute;
pub(crate) use rows::groups;
pub(crate) use search::search;

/// Evaluates `$body` with the type of the bits of a dtype, and their kind.
macro_rules! by_bits {
    ($dtype:expr, $b:ident, $kind:ident => $body:expr) => {
        match $crate::cpu::sort::KeyKind::for_dtype($dtype) {
            (1, $kind) => {
                type $b = u8;
                $body
            }
            (2, $kind) => {
                type $b = u16;
                $body
            }
            (4, $kind) => {
                type $b = u32;
                $body
            }
            (_, $kind) => {
                type $b = u64;
                $body
            }
        }
    };
}
pub(crate) use by_bits;
