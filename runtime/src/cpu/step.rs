//! Steps of optimizers: all parameters in one pass, each element read and written once.

use nomina_core::Element;

use super::parallel::{Shared, each};
use super::reduce::simd::{Kernel, dispatch};
use crate::job::{Formula, StepJob, Value};
use crate::shape::product;

/// Elements of one task.
const PIECE: usize = 1 << 14;

macro_rules! value {
    ($t:ty) => {
        impl Value for $t {
            #[inline(always)]
            fn times(self, factor: f64) -> Self {
                self * factor as $t
            }
            #[inline(always)]
            fn plus(self, number: f64) -> Self {
                self + number as $t
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$t>::sqrt(self)
            }
        }
    };
}
value!(f32);
value!(f64);

/// So many elements of one parameter.
struct Piece<T, F, const K: usize> {
    count: usize,
    param: *mut T,
    grad: *const T,
    state: [*mut T; K],
    by: F,
}

impl<T: Element + Value, F: Formula<K>, const K: usize> Kernel for Piece<T, F, K> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for i in 0..self.count {
            // SAFETY: whoever made this says that so many elements are there, and nobody else's.
            unsafe {
                let mut state = [*self.param.add(i); K];
                for (element, from) in state.iter_mut().zip(self.state) {
                    *element = *from.add(i);
                }
                let (param, state) = self.by.step(*self.param.add(i), *self.grad.add(i), state);
                self.param.add(i).write(param);
                for (element, to) in state.into_iter().zip(self.state) {
                    to.add(i).write(element);
                }
            }
        }
    }
}

/// A step of all parameters.
///
/// # Safety
/// Each parameter has so many elements of `T` at all its places, of which nobody else uses those that are written.
pub(crate) unsafe fn step<T: Element + Value, F: Formula<K>, const K: usize>(
    jobs: &[StepJob<F, K>],
) {
    let pieces = |job: &StepJob<F, K>| job.count.div_ceil(PIECE);
    // Which parameter each piece is of: the first piece of each, and their number.
    let firsts = jobs.iter().scan(0, |next, job| {
        let first = *next;
        *next += pieces(job);
        Some(first)
    });
    let firsts: crate::SmallVec<[usize; 16]> = firsts.collect();
    let shared: crate::SmallVec<[([Shared; 2], [Shared; K], usize, F); 8]> = jobs
        .iter()
        .map(|job| {
            let both = [job.param, job.grad.cast_mut()].map(Shared);
            (both, job.state.map(Shared), job.count, job.by)
        })
        .collect();
    let all = jobs.iter().map(pieces).sum();
    each(all, &|piece| {
        let of = firsts.partition_point(|&first| first <= piece) - 1;
        let start = product([piece - firsts[of], PIECE]);
        let at = |place: Shared| place.get().cast::<T>().wrapping_add(start);
        let ([param, grad], state, count, by) = shared[of];
        dispatch(Piece {
            count: PIECE.min(count - start),
            param: at(param),
            grad: at(grad).cast_const(),
            state: state.map(at),
            by,
        });
    });
}
