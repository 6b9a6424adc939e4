//! Factories.
//!
//! [`Tensor::zeros`], [`Tensor::ones`], [`Tensor::empty`], [`Tensor::rand`], [`Tensor::randn`],
//! [`Tensor::eye`], [`Tensor::full`], [`Tensor::from_vec`], [`Tensor::from_fn`],
//! [`Tensor::from_array`], [`Tensor::from_integers`], [`Tensor::arange`].

use half::{bf16, f16};
use nomina_core::dims::{ArrayFor, Dims, Distinct, Matrix, Shape, ShapeFor, Vector};
use nomina_core::{Element, Error, Float, Inexact, Names, Result, Scalar};
use nomina_macros::twin;
use nomina_runtime::Raw;
use nomina_runtime::call;

use super::Tensor;
use crate::erased::factory::{self, Fill, TensorOptions};
use crate::erased::view::check_sizes;
use crate::erased::{Erased, Known, ok};

/// Factories from sizes. The tensor's type determines the dtype, by default `f32`:
///
/// ```
/// # use nomina::prelude::*;
/// dims! { N, C }
/// type Grid = Tensor<(N, C), f64>;
/// let x: Tensor<(N, C), f64> = Tensor::ones([2, 3]);
/// let y = Grid::zeros([2, 3]);
/// let z = Tensor::<(N, C)>::ones([2, 3]);
/// assert_eq!([x.dtype(), y.dtype(), z.dtype()], [DType::F64, DType::F64, DType::F32]);
/// ```
/// # Creating tensors
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Creates a tensor of zeros. The shape is an array with one size per dim, or a tuple of dims
    /// with sizes, from which the dims are inferred.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = Tensor::<(N, C)>::zeros([2, 3]);
    /// assert_eq!(x.shape(), [2, 3]);
    /// let y = Tensor::zeros((N.of(2), C.of(3)));
    /// assert!(x.equal(&y));
    /// ```
    ///
    /// # Errors
    /// If the dims cannot have the sizes, or memory runs out.
    #[twin]
    pub fn try_zeros<S: ShapeFor<D, T>>(shape: S) -> Result<Self>
    where
        D: Distinct,
    {
        Self::try_shaped("zeros", &shape.sizes(), Fill::Zeros)
    }

    /// Like [`zeros`](Self::zeros), but with elements of type `U`.
    #[track_caller]
    #[must_use]
    pub fn zeros_with<U: Element>(shape: impl ShapeFor<D>) -> Tensor<D, U>
    where
        D: Distinct,
    {
        Tensor::<D>::options().dtype::<U>().zeros(shape)
    }

    /// Creates a tensor of ones.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// assert_eq!(Tensor::<(N,)>::ones([2]).to_vec(), [1.0, 1.0]);
    /// ```
    ///
    /// # Errors
    /// If the dims cannot have the sizes, or memory runs out.
    #[twin]
    pub fn try_ones<S: ShapeFor<D, T>>(shape: S) -> Result<Self>
    where
        D: Distinct,
    {
        Self::try_shaped("ones", &shape.sizes(), Fill::Number(1.into()))
    }

    /// Like [`ones`](Self::ones), but with elements of type `U`.
    #[track_caller]
    #[must_use]
    pub fn ones_with<U: Element>(shape: impl ShapeFor<D>) -> Tensor<D, U>
    where
        D: Distinct,
    {
        Tensor::<D>::options().dtype::<U>().ones(shape)
    }

    /// Creates a tensor with unspecified elements: they are zero, since uninitialised memory must
    /// not be read in Rust.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// assert_eq!(Tensor::<(N,)>::empty([2]).numel(), 2);
    /// ```
    ///
    /// # Errors
    /// If the dims cannot have the sizes, or memory runs out.
    #[twin]
    pub fn try_empty<S: ShapeFor<D, T>>(shape: S) -> Result<Self>
    where
        D: Distinct,
    {
        Self::try_shaped("empty", &shape.sizes(), Fill::Zeros)
    }

    /// Like [`empty`](Self::empty), but with elements of type `U`.
    #[track_caller]
    #[must_use]
    pub fn empty_with<U: Element>(shape: impl ShapeFor<D>) -> Tensor<D, U>
    where
        D: Distinct,
    {
        Tensor::<D>::options().dtype::<U>().empty(shape)
    }

    /// Draws uniform random numbers between 0 and 1, excluding 1.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// nomina::manual_seed(0);
    /// assert!(Tensor::<(N,)>::rand([8]).to_vec().iter().all(|v| (0.0..1.0).contains(v)));
    /// ```
    ///
    /// # Errors
    /// If the dims cannot have the sizes, or memory runs out.
    #[twin]
    pub fn try_rand<S: ShapeFor<D, T>>(shape: S) -> Result<Self>
    where
        D: Distinct,
        T: Float,
    {
        Self::try_shaped("rand", &shape.sizes(), Fill::Uniform(None))
    }

    /// Like [`rand`](Self::rand), but with elements of type `U`.
    #[track_caller]
    #[must_use]
    pub fn rand_with<U: Float>(shape: impl ShapeFor<D>) -> Tensor<D, U>
    where
        D: Distinct,
    {
        Tensor::<D>::options().dtype::<U>().rand(shape)
    }

    /// Draws random numbers from the standard normal distribution.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// nomina::manual_seed(0);
    /// assert_eq!(Tensor::<(N, C)>::randn([2, 3]).numel(), 6);
    /// ```
    ///
    /// # Errors
    /// If the dims cannot have the sizes, or memory runs out.
    #[twin]
    pub fn try_randn<S: ShapeFor<D, T>>(shape: S) -> Result<Self>
    where
        D: Distinct,
        T: Inexact,
    {
        Self::try_shaped("randn", &shape.sizes(), Fill::Normal(None))
    }

    /// Like [`randn`](Self::randn), but with elements of type `U`.
    #[track_caller]
    #[must_use]
    pub fn randn_with<U: Inexact>(shape: impl ShapeFor<D>) -> Tensor<D, U>
    where
        D: Distinct,
    {
        Tensor::<D>::options().dtype::<U>().randn(shape)
    }

    /// Creates a matrix with ones on the diagonal and zeros elsewhere.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// assert_eq!(Tensor::<(N, C)>::eye([2, 2]).to_vec(), [1.0, 0.0, 0.0, 1.0]);
    /// ```
    ///
    /// # Errors
    /// If the dims cannot have the sizes, or memory runs out.
    #[twin]
    pub fn try_eye<S: ShapeFor<D, T>>(shape: S) -> Result<Self>
    where
        D: Distinct + Matrix,
    {
        Self::try_shaped("eye", &shape.sizes(), Fill::Diagonal)
    }

    /// Like [`eye`](Self::eye), but with elements of type `U`.
    #[track_caller]
    #[must_use]
    pub fn eye_with<U: Element>(shape: impl ShapeFor<D>) -> Tensor<D, U>
    where
        D: Distinct + Matrix,
    {
        Tensor::<D>::options().dtype::<U>().eye(shape)
    }
}

/// Factories that take the dtype from their values.
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Creates a tensor of one number, which determines the dtype: `full([2, 3], 0.5)` is `f64`,
    /// the type of the literal in Rust.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x: Tensor<(N, C)> = Tensor::full([1, 2], 0.5);
    /// assert_eq!(x.to_vec(), [0.5, 0.5]);
    /// ```
    ///
    /// # Errors
    /// If the dims cannot have the sizes, or memory runs out.
    #[twin]
    pub fn try_full<S: ShapeFor<D>>(shape: S, value: T) -> Result<Self>
    where
        D: Distinct,
    {
        let fill = Fill::Number(value.to_scalar());
        Self::try_shaped("full", &shape.sizes(), fill)
    }

    #[cfg_attr(debug_assertions, track_caller)]
    fn try_shaped(op: &'static str, shape: &[usize], fill: Fill<'_>) -> Result<Self> {
        let options = TensorOptions::on_cpu::<T>();
        Self::try_from_erased(factory::new(op, shape, D::STATIC, fill, options))
    }

    /// Creates a tensor from a vector of its elements in row-major order, without a copy.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = Tensor::<(N, C), _>::from_vec(vec![1_i64, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(x.sum(C).to_vec(), [6, 15]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the sizes do not multiply to the number of elements, or the dims cannot have the
    /// sizes.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn from_vec<S: ShapeFor<D>>(data: Vec<T>, shape: S) -> Result<Self>
    where
        D: Distinct,
    {
        Self::from_parts(data, &shape.sizes())
    }

    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn from_parts(data: Vec<T>, shape: &[usize]) -> Result<Self> {
        let names = |error: Error| error.with_names([&Names::from_static(D::NAMES)]);
        let raw = Raw::from_vec(data, shape).map_err(names)?;
        Self::try_from_erased(factory::from_raw(raw, D::STATIC, "from_vec"))
    }

    /// Creates a tensor whose elements are a function of their indices.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x: Tensor<(N, C), i64> = Tensor::from_fn([2, 2], |i| (10 * i[0] + i[1]) as i64);
    /// assert_eq!(x.to_vec(), [0, 1, 10, 11]);
    /// ```
    ///
    /// # Panics
    /// If the dims cannot have the sizes, or memory runs out.
    #[track_caller]
    #[must_use]
    pub fn from_fn<S: ShapeFor<D>>(shape: S, mut element: impl FnMut(&[usize]) -> T) -> Self
    where
        D: Distinct,
    {
        let shape = shape.sizes();
        let count = ok(check_sizes("from_fn", &shape, D::STATIC)
            .and_then(|()| nomina_core::rule::numel("from_fn", &shape)));
        let mut index = shape.clone();
        index.fill(0);
        let mut data = ok(nomina_runtime::memory::list("from_fn", [count]));
        for _ in 0..count {
            data.push(element(&index));
            for (at, &size) in index.iter_mut().zip(&shape).rev() {
                *at += 1;
                if *at < size {
                    break;
                }
                *at = 0;
            }
        }
        ok(Self::from_parts(data, &shape))
    }

    /// Creates a tensor from a nested array; [`tensor!`](crate::tensor!) also names the dims.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x: Tensor<(N, C)> = Tensor::from_array([[1., 2.], [3., 4.]]);
    /// assert_eq!(x.size(C), 2);
    /// ```
    ///
    /// # Panics
    /// If the dims cannot have the lengths.
    #[track_caller]
    #[must_use]
    pub fn from_array<A: ArrayFor<D, Item = T>>(array: A) -> Self
    where
        D: Distinct,
    {
        let (data, shape) = array.into_parts();
        ok(Self::from_parts(data, &shape))
    }

    /// Creates the numbers from `start` to `end`, excluding `end`, in steps of `step`. Whole
    /// numbers also work for floats.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// let x: Tensor<(N,)> = Tensor::arange(0.0, 1.0, 0.25);
    /// assert_eq!(x.to_vec(), [0.0, 0.25, 0.5, 0.75]);
    /// let y: Tensor<(N,), f64> = Tensor::arange(-2, 3, 2);
    /// assert_eq!(y.to_vec(), [-2.0, 0.0, 2.0]);
    /// ```
    ///
    /// # Errors
    /// If `step` is zero or leads away from `end`.
    #[twin]
    pub fn try_arange<B: Bound<T>>(start: B, end: B, step: B) -> Result<Self>
    where
        D: Distinct + Vector,
    {
        let [start, end, step] = [start, end, step].map(B::scalar);
        let raw = call::arange(start, end, step, T::DTYPE, nomina_runtime::Device::Cpu)?;
        check_sizes("arange", raw.shape(), D::STATIC)?;
        Ok(Self::from_erased(Erased::new(raw)))
    }
}

impl<D: Dims + Distinct> Tensor<D, i64> {
    /// Creates a tensor of `i64` from integers of any type, such as the `u32` of tokenizers, in
    /// row-major order. The dtypes have no `u16`, `u32` or `u64`.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Token, Word, Dim }
    /// let ids: Vec<u32> = vec![2, 0, 2];
    /// let ids = Tensor::<(Token,), i64>::from_integers(&ids, [3])?;
    /// let table = tensor!([[1., 2.], [3., 4.], [5., 6.]]; Word, Dim);
    /// let rows: Tensor<(Token, Dim)> = table.index_select(Word, &ids);
    /// assert_eq!(rows.to_vec(), [5.0, 6.0, 1.0, 2.0, 5.0, 6.0]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If a value exceeds `i64`; also like [`from_vec`](Tensor::from_vec).
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn from_integers<U: Copy + TryInto<i64>, S: ShapeFor<D>>(
        data: &[U],
        shape: S,
    ) -> Result<Self> {
        Self::from_parts(call::integers(data)?, &shape.sizes())
    }
}

/// Creates a tensor without elements: all sizes are zero except constant ones. Without dims, one
/// zero.
impl<D: Dims + Distinct, T: Element> Default for Tensor<D, T> {
    #[track_caller]
    fn default() -> Self {
        let shape: Shape = D::SIZES.iter().map(|size| size.unwrap_or(0)).collect();
        ok(Self::try_shaped("default", &shape, Fill::Zeros))
    }
}

/// A bound of an `arange` of elements `T`: an element, or for floats also a whole number.
#[diagnostic::on_unimplemented(
    message = "a range of `{T}` has no end of type `{Self}`",
    label = "expected `{T}`"
)]
pub trait Bound<T> {
    #[doc(hidden)]
    fn scalar(self) -> Scalar;
}

#[diagnostic::do_not_recommend]
impl<T: Element> Bound<T> for T {
    fn scalar(self) -> Scalar {
        self.to_scalar()
    }
}

macro_rules! whole_bounds {
    ($($float:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Bound<$float> for i32 {
            fn scalar(self) -> Scalar {
                self.to_scalar()
            }
        }
    )*};
}
whole_bounds!(f16 bf16 f32 f64);

/// Creates a tensor from the array of `tensor!`.
#[doc(hidden)]
#[track_caller]
#[must_use]
pub fn tensor_from_array<D, T, A>(array: A) -> Tensor<D, T>
where
    D: Dims + Distinct,
    T: Element,
    A: ArrayFor<D, Item = T>,
{
    Tensor::from_array(array)
}
