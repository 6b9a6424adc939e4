//! Positions of names in types, computed at compile time.

use super::axes::Axes;
use super::dims::Dims;

/// Positions in a list of at most 8 dims.
#[derive(Clone, Copy, Debug)]
pub struct Positions {
    at: [usize; 8],
    len: usize,
}

impl Positions {
    /// Returns the positions, in the order of the argument.
    #[must_use]
    pub const fn as_slice(&self) -> &[usize] {
        self.at.split_at(self.len).0
    }
}

/// The source position of each dim of an order; `None` for a new dim of size 1.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    at: [Option<usize>; 8],
    len: usize,
}

impl Places {
    /// Returns one entry per dim of the new list.
    #[must_use]
    pub const fn as_slice(&self) -> &[Option<usize>] {
        self.at.split_at(self.len).0
    }
}

/// Returns the positions of `A`'s dims in `D`; every position for `..`. A missing dim is left out;
/// the bound `A::Checked: In<D>` rules it out.
#[must_use]
#[inline(always)]
pub const fn positions<A: Axes, D: Dims>() -> &'static [usize] {
    const { &find_all(A::NAMES, A::ALL, D::NAMES) }.as_slice()
}

/// Returns the position of dim `X` in `D`, which has it (`D: Has<X>`).
#[must_use]
#[inline(always)]
pub const fn position<X: super::Dim, D: Dims>() -> usize {
    const {
        match find(X::NAME, D::NAMES) {
            Some(at) => at,
            // Unreachable if the bound holds.
            None => usize::MAX,
        }
    }
}

/// Returns the position in `D` of each dim of `E`: by name, and the k-th unnamed dim for the k-th
/// unnamed one. `None` for a dim that `D` lacks, which `align_to` adds with size 1.
#[must_use]
#[inline(always)]
pub const fn places<D: Dims, E: Dims>() -> &'static [Option<usize>] {
    const { &place_all(D::NAMES, E::NAMES) }.as_slice()
}

const fn find(name: Option<&str>, names: &[Option<&str>]) -> Option<usize> {
    let mut i = 0;
    while i < names.len() {
        if let (Some(name), Some(other)) = (name, names[i])
            && is_equal(name, other)
        {
            return Some(i);
        }
        i += 1;
    }
    None
}

const fn find_all(wanted: &[Option<&str>], all: bool, names: &[Option<&str>]) -> Positions {
    let mut found = Positions { at: [0; 8], len: 0 };
    let mut i = 0;
    while i < if all { names.len() } else { wanted.len() } {
        if all {
            found.at[found.len] = i;
            found.len += 1;
        } else if let Some(at) = find(wanted[i], names) {
            found.at[found.len] = at;
            found.len += 1;
        }
        i += 1;
    }
    found
}

const fn place_all(from: &[Option<&str>], to: &[Option<&str>]) -> Places {
    let mut places = Places {
        at: [None; 8],
        len: to.len(),
    };
    let mut unnamed = 0;
    let mut i = 0;
    while i < to.len() {
        places.at[i] = if to[i].is_some() {
            find(to[i], from)
        } else {
            unnamed += 1;
            nth_unnamed(from, unnamed)
        };
        i += 1;
    }
    places
}

const fn nth_unnamed(names: &[Option<&str>], mut n: usize) -> Option<usize> {
    let mut i = 0;
    while i < names.len() {
        if names[i].is_none() {
            n -= 1;
            if n == 0 {
                return Some(i);
            }
        }
        i += 1;
    }
    None
}

const fn is_equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
