//! Sources of batches: items that are stacked, and tensors whose rows are selected.

use std::panic::{AssertUnwindSafe, catch_unwind};

use nomina::dims::{DimOf, Dims, Distinct, OneDim};
use nomina::{DynTensor, Element, Error, ErrorKind, Generator, Result, Tensor};

use super::error::LoadPlace;
use super::sampler::mixed;
use super::{BoxError, Dataset};

/// A batch to load.
pub(super) struct Order<'a> {
    pub(super) epoch: u64,
    pub(super) batch: usize,
    /// The indices of the items.
    pub(super) indices: &'a [usize],
    /// The seed of the epoch's random numbers.
    pub(super) seed: u64,
    /// Returns whether the batch is no longer needed.
    pub(super) is_cancelled: &'a dyn Fn() -> bool,
}

impl Order<'_> {
    /// Runs a function of the user, and adds the place to its error or panic.
    pub(super) fn guarded<V>(
        &self,
        index: Option<usize>,
        run: impl FnOnce() -> Result<V, BoxError>,
    ) -> Result<V> {
        let place = LoadPlace {
            epoch: self.epoch,
            batch: self.batch,
            index,
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(result) => result.map_err(|cause| place.failed(&cause)),
            Err(payload) => Err(place.panicked(&*payload)),
        }
    }
}

/// Loads batches.
pub(super) trait Source<B>: Send + Sync {
    fn len(&self) -> usize;
    /// Returns `None` if the batch was cancelled.
    fn load(&self, order: &Order<'_>) -> Option<Result<B>>;
}

/// Items of a data set, made into a batch by a function.
pub(super) struct Collated<D, F> {
    pub(super) data: D,
    pub(super) collate: F,
}

impl<B, D: Dataset, F> Source<B> for Collated<D, F>
where
    F: Fn(Vec<D::Item>) -> Result<B, BoxError> + Send + Sync,
{
    fn len(&self) -> usize {
        self.data.len()
    }

    fn load(&self, order: &Order<'_>) -> Option<Result<B>> {
        let mut items = Vec::with_capacity(order.indices.len());
        for &index in order.indices {
            if (order.is_cancelled)() {
                return None;
            }
            let mut generator = Generator::new(mixed(order.seed, index as u64));
            match order.guarded(Some(index), || self.data.try_draw(index, &mut generator)) {
                Ok(item) => items.push(item),
                Err(error) => return Some(Err(error)),
            }
        }
        Some(order.guarded(None, || (self.collate)(items)))
    }
}

/// Tensors in memory with rows along `N`: a tensor, or a tuple of up to 6.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no rows along `{N}`",
    label = "expected tensors with dim `{N}`, by value",
    note = "give a tensor, or up to 6: `(images, labels)`"
)]
pub trait Rows<N>: Send + Sync + Sized {
    #[doc(hidden)]
    fn sizes(&self) -> Vec<usize>;
    #[doc(hidden)]
    fn try_rows(&self, indices: &DynTensor) -> Result<Self>;
}

/// Returns the size along `N`, which all tensors have.
pub(super) fn common_size<N, R: Rows<N>>(rows: &R) -> Result<usize> {
    let sizes = rows.sizes();
    match sizes.iter().find(|&&size| size != sizes[0]) {
        None => Ok(sizes[0]),
        Some(other) => {
            let what = format!(
                "{} rows in the first tensor and {other} in another",
                sizes[0]
            );
            let hint = "all tensors have one size along the dim of the rows";
            Err(Error::new(ErrorKind::Shape, "loader", what).hint(hint))
        }
    }
}

#[diagnostic::do_not_recommend]
impl<N: OneDim + DimOf<D>, D: Dims + Distinct, T: Element> Rows<N> for Tensor<D, T> {
    fn sizes(&self) -> Vec<usize> {
        vec![self.size(N::default())]
    }

    fn try_rows(&self, indices: &DynTensor) -> Result<Self> {
        let found = self.to_dyn().index_select(N::default(), indices)?;
        found.try_into()
    }
}

macro_rules! tuples {
    ($($r:ident $at:tt),*) => {
        #[diagnostic::do_not_recommend]
        impl<N, $($r: Rows<N>),*> Rows<N> for ($($r,)*) {
            fn sizes(&self) -> Vec<usize> {
                [$(self.$at.sizes()),*].concat()
            }

            fn try_rows(&self, indices: &DynTensor) -> Result<Self> {
                Ok(($(self.$at.try_rows(indices)?,)*))
            }
        }
    };
}
tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);

/// Tensors in memory, whose rows are selected for a whole batch at once.
pub(super) struct InMemory<N, R> {
    pub(super) rows: R,
    pub(super) len: usize,
    pub(super) dim: N,
}

impl<N: OneDim, R: Rows<N>> Source<R> for InMemory<N, R> {
    fn len(&self) -> usize {
        self.len
    }

    fn load(&self, order: &Order<'_>) -> Option<Result<R>> {
        let _ = self.dim;
        let indices: Vec<i64> = order.indices.iter().map(|&index| index as i64).collect();
        Some(order.guarded(None, || {
            let count = indices.len();
            let indices = DynTensor::from_vec(indices, &[count], [N::NAME])?;
            Ok(self.rows.try_rows(&indices)?)
        }))
    }
}
