//! Scratch memory of calls, with fallible allocation.
//!
//! `Vec` and `Box` abort the process if memory runs out. Everything that grows with a tensor is
//! allocated here instead, so that a failure is an error of the operator, like for the result
//! itself.

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

use nomina_core::Error;

use super::{Block, refused};
use crate::shape::product;

/// The allocation of this number of bytes failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoMemory(pub(crate) usize);

impl NoMemory {
    /// Returns the failure to allocate `len` elements.
    #[cold]
    fn for_len<T>(len: usize) -> Self {
        Self(len.saturating_mul(size_of::<T>()))
    }

    /// Converts to an error of the operator.
    #[cold]
    pub(crate) fn in_op(self, op: &'static str) -> Error {
        refused(op, self.0)
    }
}

/// Temporary elements of a kernel, aligned like tensors.
pub(crate) struct Scratch<T> {
    block: Block,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Copy> Scratch<T> {
    fn room<const N: usize>(factors: [usize; N]) -> Result<Self, NoMemory> {
        let len = product(factors);
        const { assert!(align_of::<T>() <= crate::memory::ALIGNMENT) };
        let block = Block::new(product([len, size_of::<T>()]), false);
        Ok(Self {
            block: block.ok_or_else(|| NoMemory::for_len::<T>(len))?,
            len,
            elements: PhantomData,
        })
    }

    /// Allocates the product of the factors in elements, all equal to `value`.
    pub(crate) fn new<const N: usize>(factors: [usize; N], value: T) -> Result<Self, NoMemory> {
        let this = Self::room(factors)?;
        let first = this.block.as_ptr().cast::<T>();
        for i in 0..this.len {
            // SAFETY: the block has room for `len` elements.
            unsafe { first.add(i).write(value) };
        }
        Ok(this)
    }
}

impl<T: Copy> Scratch<MaybeUninit<T>> {
    /// Allocates the product of the factors in elements, uninitialised.
    pub(crate) fn uninit<const N: usize>(factors: [usize; N]) -> Result<Self, NoMemory> {
        Self::room(factors)
    }
}

impl<T> Deref for Scratch<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `len` elements, either written at creation or `MaybeUninit`.
        unsafe { std::slice::from_raw_parts(self.block.as_ptr().as_ptr().cast(), self.len) }
    }
}

impl<T> DerefMut for Scratch<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the block is not shared.
        unsafe { std::slice::from_raw_parts_mut(self.block.as_ptr().as_ptr().cast(), self.len) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Scratch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}

/// Creates an empty vector with a capacity of the product of the factors.
pub(crate) fn room<T, const N: usize>(factors: [usize; N]) -> Result<Vec<T>, NoMemory> {
    let mut all = Vec::new();
    reserve(&mut all, product(factors))?;
    Ok(all)
}

/// Like `room`, but the error is that of operator `op`.
///
/// # Errors
/// If there is no memory.
pub fn list<T, const N: usize>(op: &'static str, factors: [usize; N]) -> Result<Vec<T>, Error> {
    room(factors).map_err(|error| error.in_op(op))
}

/// Reserves space for `more` elements.
pub(crate) fn reserve<T>(all: &mut Vec<T>, more: usize) -> Result<(), NoMemory> {
    let wanted = all.len().saturating_add(more);
    all.try_reserve_exact(more)
        .map_err(|_| NoMemory::for_len::<T>(wanted))
}

/// Creates a vector of the product of the factors in elements, all equal to `value`.
pub(crate) fn filled<T: Clone, const N: usize>(
    factors: [usize; N],
    value: T,
) -> Result<Vec<T>, NoMemory> {
    let mut all = room(factors)?;
    all.resize(product(factors), value);
    Ok(all)
}

/// Collects an iterator into a vector.
pub(crate) fn collect<T>(items: impl IntoIterator<Item = T>) -> Result<Vec<T>, NoMemory> {
    let mut items = items.into_iter();
    let least = items.size_hint().0;
    let mut all = room([least])?;
    all.extend(items.by_ref().take(least));
    for item in items {
        push(&mut all, item)?;
    }
    Ok(all)
}

/// Collects results into a vector, up to the first error.
///
/// # Errors
/// The first error; also if there is no memory.
pub fn try_list<T>(
    op: &'static str,
    items: impl ExactSizeIterator<Item = Result<T, Error>>,
) -> Result<Vec<T>, Error> {
    let mut all = list(op, [items.len()])?;
    for item in items {
        all.push(item?);
    }
    Ok(all)
}

/// Copies elements to a vector.
pub(crate) fn copied<T: Copy>(items: &[T]) -> Result<Vec<T>, NoMemory> {
    let mut all = room([items.len()])?;
    all.extend_from_slice(items);
    Ok(all)
}

/// Appends an element.
#[inline]
pub(crate) fn push<T>(all: &mut Vec<T>, item: T) -> Result<(), NoMemory> {
    if all.len() == all.capacity() {
        let more = all.len().max(4);
        reserve(all, more)?;
    }
    all.push(item);
    Ok(())
}

#[cfg(test)]
mod tests {
    use nomina_core::ErrorKind;

    use super::*;

    #[test]
    fn what_is_not_there_is_told() {
        let error = Scratch::new([usize::MAX], 0_u8).unwrap_err();
        assert_eq!(error, NoMemory(usize::MAX));
        let error = error.in_op("sort");
        assert_eq!((error.kind(), error.op()), (ErrorKind::Memory, "sort"));
        assert!(Scratch::<MaybeUninit<u64>>::uninit([usize::MAX / 8]).is_err());
        assert!(room::<u64, 2>([usize::MAX, 3]).is_err());
        assert!(filled([usize::MAX], 1_u16).is_err());
    }

    #[test]
    fn elements_are_what_was_asked_for() {
        let mut scratch = Scratch::new([10, 100], 7_i32).unwrap();
        assert_eq!(scratch.as_ptr() as usize % crate::memory::ALIGNMENT, 0);
        assert!(scratch.len() == 1000 && scratch.iter().all(|&x| x == 7));
        scratch[999] = 1;
        assert_eq!(scratch.iter().sum::<i32>(), 7 * 999 + 1);
        assert!(Scratch::new([0, usize::MAX], 0_i32).unwrap().is_empty());
        assert_eq!(collect((0..100).filter(|i| i % 7 == 0)).unwrap().len(), 15);
        assert_eq!(filled([3], 'x').unwrap(), ['x'; 3]);
    }
}
