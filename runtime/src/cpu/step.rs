//! Steps of optimizers: all parameters in one pass, each element read and written once.

use nomina_core::Element;

use super::parallel::{Shared, each};
use super::reduce::simd::{Kernel, dispatch};
use crate::job::{AdamWFactors, AdamWJob};
use crate::shape::product;

/// Elements of one task.
const PIECE: usize = 1 << 14;

/// Arithmetic of an element.
pub(crate) trait Number:
    Element
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
{
    fn of(x: f64) -> Self;
    fn sqrt(self) -> Self;
}

macro_rules! number {
    ($t:ty) => {
        impl Number for $t {
            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$t>::sqrt(self)
            }
        }
    };
}
number!(f32);
number!(f64);

/// So many elements of one parameter.
struct Piece<T> {
    count: usize,
    param: *mut T,
    grad: *const T,
    mean: *mut T,
    square: *mut T,
    by: AdamWFactors,
}

impl<T: Number> Kernel for Piece<T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let by = self.by;
        let [decay, keep_mean, keep_square, rate, root, eps] = [
            by.decay,
            by.keep_mean,
            by.keep_square,
            by.rate,
            by.root,
            by.eps,
        ]
        .map(T::of);
        let [take_mean, take_square] = [1.0 - by.keep_mean, 1.0 - by.keep_square].map(T::of);
        for i in 0..self.count {
            // SAFETY: whoever made this says that so many elements are there, and nobody else's.
            unsafe {
                let grad = *self.grad.add(i);
                let mean = *self.mean.add(i) * keep_mean + grad * take_mean;
                let square = *self.square.add(i) * keep_square + grad * grad * take_square;
                let param = *self.param.add(i) * decay - mean * rate / (square.sqrt() * root + eps);
                self.mean.add(i).write(mean);
                self.square.add(i).write(square);
                self.param.add(i).write(param);
            }
        }
    }
}

/// A step of AdamW of all parameters.
///
/// # Safety
/// Each parameter has so many elements of `T` at its four places, of which nobody else uses those that are written.
pub(crate) unsafe fn adamw<T: Number>(jobs: &[AdamWJob], by: AdamWFactors) {
    let pieces = |job: &AdamWJob| job.count.div_ceil(PIECE);
    // Which parameter each piece is of: the first piece of each, and their number.
    let firsts = jobs.iter().scan(0, |next, job| {
        let first = *next;
        *next += pieces(job);
        Some(first)
    });
    let firsts: crate::SmallVec<[usize; 16]> = firsts.collect();
    let shared: crate::SmallVec<[[Shared; 4]; 16]> = jobs
        .iter()
        .map(|job| [job.param, job.grad.cast_mut(), job.mean, job.square].map(Shared))
        .collect();
    let counts: crate::SmallVec<[usize; 16]> = jobs.iter().map(|job| job.count).collect();
    let all = jobs.iter().map(pieces).sum();
    each(all, &|piece| {
        let of = firsts.partition_point(|&first| first <= piece) - 1;
        let start = product([piece - firsts[of], PIECE]);
        let at = |place: usize| shared[of][place].get().cast::<T>().wrapping_add(start);
        dispatch(Piece {
            count: PIECE.min(counts[of] - start),
            param: at(0),
            grad: at(1).cast_const(),
            mean: at(2),
            square: at(3),
            by,
        });
    });
}
