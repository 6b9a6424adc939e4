//! Elements in and out: vectors, slices, iterators.
//!
//! [`Tensor::to_vec`], [`Tensor::into_vec`], [`Tensor::as_slice`], [`Tensor::as_mut_slice`],
//! [`Tensor::iter`], [`Tensor::indexed_iter`], [`Tensor::iter_dim`], [`Tensor::map`].

use nomina_core::dims::{Dim, DimOf, Dims, Distinct, Shape, Without, position};
use nomina_core::{Element, Error, Result};
use nomina_macros::twin;
use nomina_runtime::Raw;
use nomina_runtime::call::to_device;
use nomina_runtime::raw::Iter;

use super::Tensor;
use crate::erased::{Erased, Known, ok, view};

/// # Elements, in and out
impl<D: Dims, T: Element> Tensor<D, T> {
    fn explained<V>(&self, result: Result<V>) -> Result<V> {
        result.map_err(|error: Error| self.erased().blame(error))
    }

    /// Copies the elements to a vector in row-major order. Waits for elements on another device.
    ///
    /// # Errors
    /// If the tensor's device fails, or memory runs out.
    #[twin]
    pub fn try_to_vec(&self) -> Result<Vec<T>> {
        self.explained(self.erased.raw.to_vec())
    }

    /// Returns the elements in row-major order; without a copy if the buffer came from a vector and
    /// is not shared.
    ///
    /// # Panics
    /// If the tensor's device fails, or memory runs out.
    #[track_caller]
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        ok(self.erased.raw.into_vec())
    }

    /// Returns the elements as a slice if they are on the CPU in row-major order without gaps.
    #[must_use]
    pub fn as_slice(&self) -> Option<&[T]> {
        self.erased.raw.as_slice()
    }

    /// Returns the elements in row-major order for writing. Copies first if the buffer is shared or
    /// the order differs.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// let mut x = tensor!([1., 2.]; N);
    /// x.as_mut_slice()[1] = 5.0;
    /// assert_eq!(x.to_vec(), [1.0, 5.0]);
    /// ```
    ///
    /// # Panics
    /// If the tensor is not on the CPU, or memory runs out.
    #[track_caller]
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        ok(self.erased.raw.as_mut_slice())
    }

    /// Iterates over the elements in row-major order.
    ///
    /// # Panics
    /// If the tensor's device fails, or memory runs out.
    #[track_caller]
    #[must_use]
    pub fn iter(&self) -> Iter<'_, T> {
        ok(self.explained(self.erased.raw.iter()))
    }

    /// Iterates over the elements in row-major order, with their indices.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    /// let (index, value) = x.indexed_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    /// assert_eq!((&index[..], value), (&[1, 1][..], 4.0));
    /// ```
    ///
    /// # Panics
    /// If the tensor's device fails, or memory runs out.
    #[track_caller]
    pub fn indexed_iter(&self) -> impl ExactSizeIterator<Item = (Shape, T)> + '_ {
        let mut next: Shape = self.shape().into();
        next.fill(0);
        self.iter().map(move |value| {
            let index = next.clone();
            for (at, &size) in next.iter_mut().zip(self.shape()).rev() {
                *at += 1;
                if *at < size {
                    break;
                }
                *at = 0;
            }
            (index, value)
        })
    }

    /// Iterates over the slices along a dim.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    /// let sums: Vec<f32> = x.iter_dim(N).map(|row| row.sum(C).item()).collect();
    /// assert_eq!(sums, [3.0, 7.0]);
    /// ```
    pub fn iter_dim<X: DimOf<D>>(
        &self,
        dim: X,
    ) -> impl ExactSizeIterator<Item = Tensor<Without<D, X>, T>> + DoubleEndedIterator + '_ {
        let _ = dim;
        let at = position::<X, D>();
        (0..self.shape()[at]).map(move |i| {
            let slice = view::select(self.erased(), at, i as i64, <Without<D, X>>::STATIC);
            Tensor::kept(ok(slice))
        })
    }

    /// Computes a function of every element, on the host; the result is on the tensor's device.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// let x = tensor!([1., 2.]; N).map(|v| v as i64 * 10);
    /// assert_eq!(x.to_vec(), [10, 20]);
    /// ```
    ///
    /// # Panics
    /// If the tensor's device fails, or memory runs out.
    #[track_caller]
    #[must_use]
    pub fn map<U: Element>(&self, f: impl FnMut(T) -> U) -> Tensor<D, U> {
        let data: Vec<U> = self.iter().map(f).collect();
        let raw = Raw::from_vec(data, self.shape());
        let raw = ok(raw.and_then(|raw| to_device(&raw, self.device())));
        Tensor::from_erased(Erased {
            raw,
            wild: self.erased().wild(),
        })
    }
}

/// Collects elements into one dim.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N }
/// let x: Tensor<(N,), i64> = (0..4).map(|i| i * i).collect();
/// assert_eq!(x.to_vec(), [0, 1, 4, 9]);
/// ```
///
/// # Panics
/// If the dim has a constant size that is not their number.
impl<X: Dim, T: Element> FromIterator<T> for Tensor<(X,), T>
where
    (X,): Distinct,
{
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let data: Vec<T> = elements.into_iter().collect();
        let shape = [data.len()];
        ok(Self::from_parts(data, &shape))
    }
}

/// Appends elements; copies all of them, so it is cheaper to collect once.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N }
/// let mut x = tensor!([1., 2.]; N);
/// x.extend([3., 4.]);
/// assert_eq!(x.to_vec(), [1., 2., 3., 4.]);
/// ```
///
/// # Panics
/// If the dim has a constant size, or memory runs out. The tensor is unchanged in that case.
impl<X: Dim, T: Element> Extend<T> for Tensor<(X,), T>
where
    (X,): Distinct,
{
    #[track_caller]
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        let device = self.device();
        let all: Self = self.iter().chain(elements).collect();
        *self = all.to_device(device);
    }
}

impl<'a, D: Dims, T: Element> IntoIterator for &'a Tensor<D, T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;
    #[track_caller]
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}
