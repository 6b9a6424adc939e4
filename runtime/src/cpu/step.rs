//! Optimizer steps: all parameters in one pass, each element read and written once.

use nomina_core::Element;

use super::parallel::each;
use super::reduce::simd::{Kernel, dispatch};
use crate::SmallVec;
use crate::job::{Formula, StepJob, StepNumber};
use crate::memory::NoMemory;
use crate::shape::product;

/// The elements of one task.
const PIECE: usize = 1 << 14;

macro_rules! value {
    ($t:ty) => {
        impl StepNumber for $t {
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
            #[inline(always)]
            fn sign(self) -> Self {
                if self > 0.0 {
                    1.0
                } else if self < 0.0 {
                    -1.0
                } else {
                    self
                }
            }
            #[inline(always)]
            fn relu(self) -> Self {
                if self < 0.0 { 0.0 } else { self }
            }
        }
    };
}
value!(f32);
value!(f64);

/// A range of one parameter's elements.
struct ParameterPiece<T, F, const K: usize> {
    count: usize,
    param: *mut T,
    grad: *const T,
    state: [*mut T; K],
    by: F,
}

impl<T: Element + StepNumber, F: Formula<K>, const K: usize> Kernel for ParameterPiece<T, F, K> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for i in 0..self.count {
            // SAFETY: the creator of this struct guarantees that the elements are valid and that nobody else accesses
            // them.
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

/// The steps of several parameters, divided into pieces.
pub(crate) struct ParameterSteps<F, const K: usize> {
    jobs: SmallVec<[StepJob<F, K>; 8]>,
    /// The index of each job's first piece.
    firsts: SmallVec<[usize; 16]>,
    pieces: usize,
}

impl<F: Formula<K>, const K: usize> ParameterSteps<F, K> {
    /// Creates an empty list with room for `count` jobs.
    ///
    /// # Errors
    /// If the memory cannot be allocated.
    pub(crate) fn with_room(count: usize) -> Result<Self, NoMemory> {
        let mut steps = Self {
            jobs: SmallVec::new(),
            firsts: SmallVec::new(),
            pieces: 0,
        };
        let room = steps.jobs.try_reserve(count);
        let room = room.and_then(|()| steps.firsts.try_reserve(count));
        room.map_err(|_| NoMemory(count.saturating_mul(size_of::<StepJob<F, K>>())))?;
        Ok(steps)
    }

    pub(crate) fn push(&mut self, job: StepJob<F, K>) {
        self.firsts.push(self.pieces);
        self.pieces += job.count.div_ceil(PIECE);
        self.jobs.push(job);
    }

    /// Performs all steps.
    ///
    /// # Safety
    /// Each job's addresses have its number of elements of `T`, and nobody else accesses those that are written.
    pub(crate) unsafe fn run<T: Element + StepNumber>(&self) {
        let (jobs, firsts) = (Jobs(&self.jobs), &self.firsts);
        each(self.pieces, &|piece| {
            let of = firsts.partition_point(|&first| first <= piece) - 1;
            let job = jobs.get(of);
            let start = product([piece - firsts[of], PIECE]);
            let at = |place: *mut u8| place.cast::<T>().wrapping_add(start);
            dispatch(ParameterPiece {
                count: PIECE.min(job.count - start),
                param: at(job.param),
                grad: at(job.grad.cast_mut()).cast_const(),
                state: job.state.map(at),
                by: job.by,
            });
        });
    }
}

/// The jobs, shared by all tasks.
struct Jobs<'a, F, const K: usize>(&'a [StepJob<F, K>]);

// SAFETY: tasks only read the addresses; code that writes through them ensures that nobody else does so there.
unsafe impl<F: Sync, const K: usize> Sync for Jobs<'_, F, K> {}

impl<F, const K: usize> Jobs<'_, F, K> {
    /// Returns a job. A method, so that closures capture the wrapper and not the bare list.
    fn get(&self, at: usize) -> &StepJob<F, K> {
        &self.0[at]
    }
}
