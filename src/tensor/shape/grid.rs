//! Grids, blocks and combinations.
//!
//! [`Tensor::combinations`], [`Tensor::vander`].

use nomina_core::dims::{Append, Appended, Dims, Distinct, Matrix, OneDim, Vector};
use nomina_core::{Element, Result};
use nomina_macros::twin;
use nomina_runtime::DynTensor;
use nomina_runtime::tensor::{MeshgridOptions, VanderOptions};

use crate::erased::{Known, shape};
use crate::tensor::Tensor;
use crate::tensor::join::{Joinable, TensorList};

/// A tuple of references to vectors of one dtype, each with its own dim: `(&x, &y)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of vectors",
    label = "expected references to tensors of one dim and one dtype, such as `(&x, &y)`"
)]
pub trait Vectors {
    /// The dims of the grid: one of each vector.
    type Dims: Dims;
    /// Each vector, expanded over the grid.
    type Grids;
    #[doc(hidden)]
    #[cfg_attr(debug_assertions, track_caller)]
    fn grids(&self) -> Result<Self::Grids>;
}

macro_rules! grids {
    ($($dim:ident $at:tt),*; $dims:ty) => {
        #[diagnostic::do_not_recommend]
        impl<T: Element, $($dim: OneDim),*> Vectors for ($(&Tensor<($dim,), T>,)*)
        where
            $dims: Dims,
        {
            type Dims = $dims;
            type Grids = [Tensor<$dims, T>; count!($($dim)*)];

            #[cfg_attr(debug_assertions, track_caller)]
            fn grids(&self) -> Result<Self::Grids> {
                let out = <$dims>::STATIC;
                let operands = [$(self.$at.erased()),*];
                let all = shape::grid(&operands, out, MeshgridOptions::default())?;
                let all = Tensor::all_from_erased(all)?;
                // There is one grid per vector.
                Ok(std::array::from_fn(|at| all[at].clone()))
            }
        }
    };
}

macro_rules! count {
    () => { 0 };
    ($first:ident $($rest:ident)*) => { 1 + count!($($rest)*) };
}

grids!(A 0; (A,));
grids!(A 0, B 1; (A, B));
grids!(A 0, B 1, C 2; (A, B, C));
grids!(A 0, B 1, C 2, D 3; (A, B, C, D));
grids!(A 0, B 1, C 2, D 3, E 4; (A, B, C, D, E));
grids!(A 0, B 1, C 2, D 3, E 4, F 5; (A, B, C, D, E, F));

/// Expands each vector over the grid of all of them, without a copy. The dims are those of the
/// vectors, in their order.
///
/// ```
/// use nomina::prelude::*;
/// dims! { H, W }
/// let (rows, columns) = (tensor!([0., 1.]; H), tensor!([0., 1., 2.]; W));
/// let [y, x]: [Tensor<(H, W)>; 2] = meshgrid((&rows, &columns));
/// assert_eq!(y.to_vec(), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
/// assert_eq!(x.to_vec(), [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]);
/// ```
///
/// # Errors
/// If sizes overflow.
#[twin(free)]
pub fn try_meshgrid<V: Vectors<Dims: Distinct>>(vectors: V) -> Result<V::Grids> {
    vectors.grids()
}

/// Returns a matrix with the given matrices along its diagonal and zeros elsewhere.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N, C }
/// let a = tensor!([[1., 2.]]; N, C);
/// let b = tensor!([[3.]]; N, C);
/// assert_eq!(block_diag(&[&a, &b]).to_vec(), [1.0, 2.0, 0.0, 0.0, 0.0, 3.0]);
/// ```
///
/// # Errors
/// If a dim has a constant size that is not the sum, or memory runs out.
#[twin(free)]
pub fn try_block_diag<L: Joinable>(matrices: L) -> Result<Tensor<L::Dims, L::Dtype>>
where
    L::Dims: Matrix,
{
    let out = <L::Dims>::STATIC;
    let operands = matrices.operands("block_diag")?;
    Tensor::try_from_erased(shape::sized("block_diag", &operands, out, &[0, 1], |x| {
        DynTensor::block_diag(&x.iter().collect::<Vec<_>>())
    }))
}

/// Returns all combinations of one element of each vector, a row each.
///
/// # Errors
/// If a dim has another constant size, or memory runs out.
#[twin(free)]
pub fn try_cartesian_prod<L: TensorList, R: OneDim, C: OneDim>(
    vectors: L,
    rows: R,
    columns: C,
) -> Result<Tensor<(R, C), L::Dtype>>
where
    L::Dims: Vector,
    (R, C): Distinct,
{
    let _ = (rows, columns);
    let out = <(R, C)>::STATIC;
    let operands = vectors.operands("cartesian_prod")?;
    Tensor::try_from_erased(shape::sized(
        "cartesian_prod",
        &operands,
        out,
        &[0, 1],
        |x| {
            let all = DynTensor::cartesian_prod(&x.iter().collect::<Vec<_>>())?;
            // For one vector, the elements are a column.
            if all.rank() == 1 {
                all.unsqueeze(1, None)
            } else {
                Ok(all)
            }
        },
    ))
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns all combinations of `r` elements, a row each; a row contains an element once, unless
    /// `with_replacement` is set.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, Pairs, K }
    /// let x = tensor!([1., 2., 3.]; N);
    /// assert_eq!(x.combinations(2, false, Pairs, K).to_vec(), [1.0, 2.0, 1.0, 3.0, 2.0, 3.0]);
    /// assert_eq!(x.vander(K).to_vec(), [1.0, 1.0, 1.0, 4.0, 2.0, 1.0, 9.0, 3.0, 1.0]);
    /// ```
    ///
    /// # Errors
    /// If there are too many, or a dim has another constant size.
    #[twin]
    pub fn try_combinations<R: OneDim, C: OneDim>(
        &self,
        r: usize,
        with_replacement: bool,
        rows: R,
        columns: C,
    ) -> Result<Tensor<(R, C), T>>
    where
        D: Vector,
        (R, C): Distinct,
    {
        let _ = (rows, columns);
        let out = <(R, C)>::STATIC;
        Tensor::try_from_erased(shape::sized(
            "combinations",
            &[self.erased()],
            out,
            &[0, 1],
            |x| {
                let all = x[0].combinations(r, with_replacement)?;
                // Choosing nothing is possible in one way: a row without elements.
                if r == 0 {
                    all.unsqueeze(0, None)
                } else {
                    Ok(all)
                }
            },
        ))
    }

    /// Computes the powers of the elements along a new dim, from the highest to 0; their number is
    /// that of the elements. Integers are computed in i64.
    ///
    /// # Errors
    /// If the new dim has another constant size, or memory runs out.
    #[twin(with = "but with a given number of powers, in ascending order if the options say so.")]
    pub fn try_vander_with<K: OneDim + Append<D>>(
        &self,
        to: K,
        options: VanderOptions,
    ) -> Result<Tensor<Appended<D, K>, T::Sum>>
    where
        D: Vector,
    {
        let _ = to;
        let out = <Appended<D, K>>::STATIC;
        Tensor::try_from_erased(shape::sized("vander", &[self.erased()], out, &[1], |x| {
            x[0].vander_with(K::NAME, options)
        }))
    }
}
