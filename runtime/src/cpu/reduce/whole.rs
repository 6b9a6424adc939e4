//! Outputs of few elements, computed side by side from all their elements at once.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

pub(crate) use crate::cpu::transpose::LANES;

/// All elements of several outputs; [`LANES`] outputs form a group.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<'a> {
    pub xs: *const u8,
    /// The distance between groups, in elements.
    pub step: usize,
    pub groups: usize,
    /// The offsets of the outputs' elements from the first of their group, in elements.
    pub rows: &'a [isize],
    /// The distance between the results of consecutive groups, in elements.
    pub into: usize,
}

impl<'a> Lanes<'a> {
    /// Returns one of the groups.
    ///
    /// # Safety
    /// The lanes have type `T`, the group exists, and nobody writes to it meanwhile.
    #[inline(always)]
    pub unsafe fn group<T>(&'a self, group: usize) -> Group<'a, T> {
        Group {
            lanes: self,
            group,
            element: PhantomData,
        }
    }

    /// Returns one element of each output of a group.
    ///
    /// # Safety
    /// The lanes have type `T`, and the group has such a row.
    #[inline(always)]
    pub unsafe fn row<T>(&self, group: usize, row: isize) -> &[T; LANES] {
        let at = (group * self.step) as isize + row;
        // SAFETY: guaranteed by the caller.
        unsafe { &*self.xs.cast::<T>().offset(at).cast() }
    }

    /// Returns the room for the results of a group.
    ///
    /// # Safety
    /// `results` has room for the results of all groups, and nobody else accesses it meanwhile.
    #[inline(always)]
    pub unsafe fn results<'b, T>(
        self,
        results: *mut T,
        group: usize,
    ) -> &'b mut [MaybeUninit<T>; LANES] {
        // SAFETY: guaranteed by the caller.
        unsafe { &mut *results.add(group * self.into).cast() }
    }
}

/// A group of outputs whose elements are all available.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a, T> {
    lanes: &'a Lanes<'a>,
    group: usize,
    element: PhantomData<T>,
}

impl<'a, T: Copy + 'a> Group<'a, T> {
    /// Returns the number of elements of each output.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.lanes.rows.len()
    }

    /// Returns element `r` of each output.
    #[inline(always)]
    pub fn row(self, r: usize) -> &'a [T; LANES] {
        self.at(self.lanes.rows[r])
    }

    /// Iterates over the elements of the outputs.
    #[inline(always)]
    pub fn rows(self) -> impl Iterator<Item = &'a [T; LANES]> {
        self.lanes.rows.iter().map(move |&row| self.at(row))
    }

    /// Like [`Group::row`], for four rows from `r` on.
    #[inline(always)]
    pub fn four(self, r: usize) -> [&'a [T; LANES]; 4] {
        [
            self.row(r),
            self.row(r + 1),
            self.row(r + 2),
            self.row(r + 3),
        ]
    }

    #[inline(always)]
    fn at(self, row: isize) -> &'a [T; LANES] {
        // SAFETY: the creator of the group guarantees that its lanes are readable.
        unsafe { self.lanes.row(self.group, row) }
    }
}
