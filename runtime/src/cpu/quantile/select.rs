//! Quantiles of lines in any order, by selection instead of a sort.

use super::Quantile;
use crate::cpu::reduce::plan::{LinePlan, Loop, offsets};
use crate::cpu::reduce::split::{Shared, try_for_each};
use crate::job::{Interpolation, SelectJob};
use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// The approximate number of elements of a block of adjacent lines.
const BLOCK: usize = 1 << 17;
/// The most lines of a block; their elements at one position are read together.
const LINES: usize = 64;
/// The side of the squares in which lines are gathered.
const SIDE: usize = 16;
/// With more quantiles than this, a line is sorted.
const FEW: usize = 4;

/// A float whose order is that of an integer.
pub(crate) trait OrderedFloat: Quantile {
    /// Integers in the order of the floats.
    type Key: Copy + Default + Ord + Send + Sync;

    /// The key of every NaN, which is the greatest.
    const NAN_KEY: Self::Key;

    /// Returns the key of an element.
    fn key(self) -> Self::Key;

    /// Returns the element of a key.
    fn from_key(key: Self::Key) -> Self;
}

macro_rules! ordered {
    ($($t:ty, $key:ty, $unsigned:ty;)*) => {$(
        impl OrderedFloat for $t {
            type Key = $key;
            const NAN_KEY: $key = <$key>::MAX;

            #[inline(always)]
            fn key(self) -> $key {
                let bits = self.to_bits() as $key;
                // The bits of negative numbers below the sign are inverted, so that they rise with the number.
                let key = bits ^ (((bits >> (<$key>::BITS - 1)) as $unsigned) >> 1) as $key;
                if self.is_nan() { <$key>::MAX } else { key }
            }

            #[inline(always)]
            fn from_key(key: $key) -> Self {
                let bits = key ^ (((key >> (<$key>::BITS - 1)) as $unsigned) >> 1) as $key;
                <$t>::from_bits(bits as $unsigned)
            }
        }
    )*};
}
ordered! {
    f32, i32, u32;
    f64, i64, u64;
}

/// Performs a job.
///
/// # Safety
/// The operands and the results are in bounds, and nobody else accesses the results meanwhile.
pub(crate) unsafe fn execute<T: OrderedFloat>(job: &SelectJob<'_>) -> Result<(), NoMemory> {
    let mark: crate::SmallVec<[bool; 8]> = (0..job.shape.len()).map(|dim| dim == job.dim).collect();
    let mut out: crate::shape::Strides = crate::shape::zeros(job.shape.len());
    let mut lines = 1;
    for dim in (0..job.shape.len()).rev().filter(|&dim| dim != job.dim) {
        out[dim] = lines as isize;
        lines *= job.shape[dim];
    }
    let plan = LinePlan::new(job.shape, job.strides, &out, &mark, true);
    let kept = *plan.kept.last().unwrap_or(&Loop {
        size: 1,
        src: 0,
        dst: 0,
    });
    let (len, step) = (job.shape[job.dim], job.strides[job.dim]);
    let width = (BLOCK / len).clamp(SIDE, LINES).min(kept.size);
    let per_row = kept.size.div_ceil(width);
    let outer = &plan.kept[..plan.kept.len().saturating_sub(1)];
    // SAFETY: guaranteed by the caller.
    let q = unsafe { std::slice::from_raw_parts(job.q.cast::<T>(), job.count) };
    let (x, to) = (Shared(job.x.cast_mut()), Shared(job.out));
    let (ignore, by) = (job.ignore_nan, job.by);
    // A selection reads an element about three times.
    let work = product([width, len, 8]);
    try_for_each(plan.outputs() / kept.size * per_row, work, &|index| {
        let start = index % per_row * width;
        let n = width.min(kept.size - start);
        let (src, dst) = offsets(outer, index / per_row);
        let src = plan.src + src + start as isize * kept.src;
        let dst = plan.dst + dst + start as isize * kept.dst;
        let mut keys = Scratch::new([n, len], T::Key::default())?;
        // SAFETY: the lines are within the operand; each task writes the results of its own lines.
        unsafe {
            let from = x.get().cast::<T>().wrapping_offset(src);
            gather(from, [kept.src, step], &mut keys, len);
            for (line, keys) in keys.chunks_exact_mut(len).enumerate() {
                let at = dst + line as isize * kept.dst;
                let mut found = OrderedLine::<T>::new(keys, q.len() > FEW);
                for (i, &q) in q.iter().enumerate() {
                    let to = to.get().cast::<T>().wrapping_add(i * lines);
                    to.wrapping_offset(at).write(found.quantile(q, ignore, by));
                }
            }
        }
        Ok(())
    })
}

/// Writes the keys of lines, one line after the other. Strides are from line to line and along a line.
///
/// # Safety
/// All elements of the lines are readable.
unsafe fn gather<T: OrderedFloat>(
    from: *const T,
    [across, along]: [isize; 2],
    keys: &mut [T::Key],
    len: usize,
) {
    let lines = keys.len() / len;
    // SAFETY: guaranteed by the caller.
    let element = |line: usize, at: usize| unsafe {
        let offset = line as isize * across + at as isize * along;
        from.wrapping_offset(offset).read_unaligned().key()
    };
    for first in (0..lines).step_by(SIDE) {
        let n = SIDE.min(lines - first);
        for start in (0..len).step_by(SIDE) {
            let m = SIDE.min(len - start);
            if n < SIDE || m < SIDE || across != 1 {
                for line in first..first + n {
                    for at in start..start + m {
                        keys[line * len + at] = element(line, at);
                    }
                }
                continue;
            }
            // A square of adjacent lines: whole cache lines are read and written.
            let mut square = [[T::Key::default(); SIDE]; SIDE];
            for (at, row) in square.iter_mut().enumerate() {
                for (line, key) in row.iter_mut().enumerate() {
                    *key = element(first + line, start + at);
                }
            }
            for line in 0..SIDE {
                let to = &mut keys[(first + line) * len + start..][..SIDE];
                for (at, to) in to.iter_mut().enumerate() {
                    *to = square[at][line];
                }
            }
        }
    }
}

/// The keys of a line, ordered as far as quantiles needed.
struct OrderedLine<'a, T: OrderedFloat> {
    keys: &'a mut [T::Key],
    /// The number of keys of numbers.
    numbers: usize,
    is_sorted: bool,
}

impl<'a, T: OrderedFloat> OrderedLine<'a, T> {
    fn new(keys: &'a mut [T::Key], sort: bool) -> Self {
        let numbers = keys.iter().filter(|key| **key != T::NAN_KEY).count();
        if sort {
            keys.sort_unstable();
        }
        Self {
            keys,
            numbers,
            is_sorted: sort,
        }
    }

    fn quantile(&mut self, q: T, ignore: bool, by: Interpolation) -> T {
        if self.numbers == 0 || (self.numbers < self.keys.len() && !ignore) {
            return T::NAN;
        }
        let place = T::place(self.numbers, q, by);
        let (low, high) = if self.is_sorted {
            (self.keys[place.low], self.keys[place.high])
        } else {
            let (_, low, above) = self.keys.select_nth_unstable(place.low);
            let low = *low;
            // The next place, if it is another one.
            let next = above.iter().min().filter(|_| place.high > place.low);
            (low, next.copied().unwrap_or(low))
        };
        T::between(T::from_key(low), T::from_key(high), place.weight)
    }
}
