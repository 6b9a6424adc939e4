//! Positions of elements in the form of kernels: the structs of `index.cuh`.

use crate::SmallVec;
use crate::plan::Plan;

/// The most dims that kernels support, after the planner has merged dims.
pub(crate) const RANK: usize = 8;

/// The least position that needs 64 bits.
pub(crate) const WIDE: usize = 1 << 31;

/// Division by a number that is known before the launch, by a product and a shift, for numerators and divisors below
/// 2^31 (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Divider {
    pub(crate) size: u32,
    pub(crate) magic: u32,
    pub(crate) shift: u32,
}

impl Divider {
    /// Prepares a division. The divisor is from 1 to 2^31; kernels never divide by others.
    pub(crate) fn new(size: u32) -> Self {
        let size = size.max(1);
        let shift = u32::BITS - (size - 1).leading_zeros();
        // 2^32 (2^shift - size) / size + 1, which fits: 2^shift < 2 size.
        let magic = ((1_u64 << 32) * ((1_u64 << shift) - u64::from(size))) / u64::from(size) + 1;
        Self {
            size,
            magic: magic as u32,
            shift,
        }
    }

    /// Divides like kernels do.
    #[cfg(test)]
    fn divide(self, n: u32) -> u32 {
        let high = ((u64::from(n) * u64::from(self.magic)) >> 32) as u32;
        ((u64::from(high) + u64::from(n)) >> self.shift) as u32
    }
}

/// The dims of `N` operands, innermost first, with strides in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct StridedIndex<const N: usize> {
    rank: u32,
    pad: u32,
    sizes: [u64; RANK],
    magic: [u32; RANK],
    shift: [u32; RANK],
    steps: [[i64; RANK]; N],
}

impl<const N: usize> StridedIndex<N> {
    /// Converts the first `N` operands of a plan; `None` for more dims than kernels support.
    pub(crate) fn new(plan: &Plan) -> Option<Self> {
        let dims = plan.dims().iter().map(|dim| {
            let mut steps = [0; N];
            steps.copy_from_slice(&dim.steps[..N]);
            (dim.size, steps)
        });
        Self::from_dims(dims)
    }

    /// Converts dims, given by sizes and strides in bytes, innermost first; `None` for more than kernels support.
    pub(crate) fn from_dims(dims: impl IntoIterator<Item = (usize, [isize; N])>) -> Option<Self> {
        let mut this = Self {
            rank: 0,
            pad: 0,
            sizes: [1; RANK],
            magic: [0; RANK],
            shift: [0; RANK],
            steps: [[0; RANK]; N],
        };
        for (size, steps) in dims {
            let at = this.rank as usize;
            if at == RANK {
                return None;
            }
            // Kernels divide by larger sizes in 64 bits.
            let divider = Divider::new(u32::try_from(size).unwrap_or(1));
            this.sizes[at] = size as u64;
            (this.magic[at], this.shift[at]) = (divider.magic, divider.shift);
            for (operand, &step) in steps.iter().enumerate() {
                this.steps[operand][at] = step as i64;
            }
            this.rank += 1;
        }
        Some(this)
    }

    /// Returns whether positions, in elements or in bytes of any operand, reach 2^31.
    pub(crate) fn is_wide(&self) -> bool {
        let dims = || 0..self.rank as usize;
        let count: u64 = dims().map(|dim| self.sizes[dim]).product();
        count >= WIDE as u64
    }
}

/// Returns the words of a `Strided<N>` for a generated kernel, which knows `N`.
pub(crate) fn walk_words(
    dims: impl IntoIterator<Item = (usize, SmallVec<[isize; 8]>)>,
    operands: usize,
) -> Option<SmallVec<[u64; 64]>> {
    let (mut rank, mut sizes) = (0, [1_u64; RANK]);
    let (mut magic, mut shift) = ([0_u32; RANK], [0_u32; RANK]);
    let mut all: SmallVec<[[i64; RANK]; 8]> = SmallVec::from_elem([0; RANK], operands);
    for (size, steps) in dims {
        if rank == RANK {
            return None;
        }
        let divider = Divider::new(u32::try_from(size).unwrap_or(1));
        sizes[rank] = size as u64;
        (magic[rank], shift[rank]) = (divider.magic, divider.shift);
        for (to, &step) in all.iter_mut().zip(&steps) {
            to[rank] = step as i64;
        }
        rank += 1;
    }
    let pairs = |words: [u32; RANK]| {
        let (pairs, _) = words.as_chunks::<2>();
        let joined = pairs
            .iter()
            .map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32);
        joined.collect::<SmallVec<[u64; RANK]>>()
    };
    let mut words = SmallVec::from_slice(&[rank as u64]);
    words.extend_from_slice(&sizes);
    words.extend_from_slice(&pairs(magic));
    words.extend_from_slice(&pairs(shift));
    words.extend(all.iter().flatten().map(|&step| step as u64));
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_is_exact() {
        let most = (1_u32 << 31) - 1;
        let sizes = (1..2000).chain([4095, 4096, 4097, 1 << 20, (1 << 30) + 1, most]);
        for size in sizes {
            let divider = Divider::new(size);
            let near = (0..5).flat_map(|k| {
                let multiple = u64::from(size)
                    * (u64::from(most) / u64::from(size) - k.min(u64::from(most / size)));
                [multiple.saturating_sub(1), multiple, multiple + 1]
            });
            for n in (0..300_u64).chain(near).filter(|&n| n <= u64::from(most)) {
                assert_eq!(divider.divide(n as u32), n as u32 / size, "{n} / {size}");
            }
        }
    }
}
