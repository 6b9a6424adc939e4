//! Hostile arguments for every public function of `call`, of tensors without names, and of their parts. Whatever the
//! arguments are, a function returns a result whose elements are inside its buffer, or an error; it does not panic, and
//! leaves its operands unchanged.
//!
//! A crate that includes this calls it `hostile`, in its root, next to a module `bytes`.
//!
//! An entry is a line: the function and, for each parameter, `_` for anything of its type or a method of [`Draw`] that
//! makes arguments which get further.

#[macro_use]
mod entry;
mod draw;
mod given;
mod make;
mod see;
pub mod trial;

mod conv;
mod elementwise;
mod gather;
mod linalg;
mod product;
mod random;
mod reduce;
mod rest;
mod shape;
mod sort;
mod sparse;
mod tensor;

use super::bytes::Bytes;
use entry::Call;

/// Returns all entries.
pub fn calls() -> impl Iterator<Item = &'static Call> {
    let lists = [
        conv::CALLS,
        elementwise::CALLS,
        gather::CALLS,
        #[cfg(feature = "fft")]
        linalg::fft::CALLS,
        #[cfg(feature = "linalg")]
        linalg::matrices::CALLS,
        product::CALLS,
        random::CALLS,
        reduce::CALLS,
        shape::CALLS,
        sort::CALLS,
        sparse::CALLS,
        tensor::raw::CALLS,
        tensor::raw_mut::CALLS,
        tensor::gradients::CALLS,
        tensor::coo::CALLS,
        tensor::strided::CALLS,
        rest::generator::CALLS,
        rest::random::CALLS,
        rest::bytes::CALLS,
        rest::shape::CALLS,
        rest::format::CALLS,
        rest::memory::CALLS,
        rest::display::CALLS,
    ];
    lists.into_iter().flatten()
}

/// Calls one function once, both selected by the bytes.
///
/// # Panics
/// If the function does harm.
pub fn run(bytes: &mut Bytes<'_>) {
    let at = bytes.below(calls().count());
    if let Some(call) = calls().nth(at) {
        entry::once(call, bytes);
    }
}
