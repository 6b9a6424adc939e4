//! The dtype in which a reduction, a scan or a softmax computes.

use std::marker::PhantomData;

/// Options of a reduction: the dtype `U` to compute in and return.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N }
/// let x: Tensor<(N,), i32> = Tensor::from_array([1, 2, 4, 5]);
/// let mean = x.mean_with(N, ReduceOptions::<f64>::default());
/// assert_eq!(mean.item(), 3.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ReduceOptions<U> {
    /// The dtype, as a type.
    pub dtype: PhantomData<fn() -> U>,
}

impl<U> Default for ReduceOptions<U> {
    fn default() -> Self {
        Self { dtype: PhantomData }
    }
}
