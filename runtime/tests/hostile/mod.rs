//! Arguments that nobody should give, to every public function of `call`, and of tensors without names and what they
//! are made of. Whatever they are, a function gives a
//! result whose elements lie in its buffer, or an error; it does not panic, and leaves its operands as they were.
//!
//! Whoever includes this names it `hostile`, in the root of a crate, beside a module `bytes`.
//!
//! An entry is a line: the function and, for each parameter, `_` for anything of its type or a method of [`Draw`]
//! that makes arguments which get further.

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

/// All entries.
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

/// One call of one function, both as the bytes say.
///
/// # Panics
/// When the function does harm.
pub fn run(bytes: &mut Bytes<'_>) {
    let at = bytes.below(calls().count());
    if let Some(call) = calls().nth(at) {
        entry::once(call, bytes);
    }
}
