//! Adaptive pooling, and resampling.

use std::marker::PhantomData;

use nomina::dims::{Axes, AxesOf, Dims, Distinct, EachResizable, Shape, SizesFor, positions};
use nomina::{
    DynTensor, Element, Error, ErrorKind, Float, InterpolateMode, InterpolateOptions, Numeric,
    Real, Result, Tensor,
};
use nomina_core::op::Op;
use nomina_macros::twin;
use nomina_runtime::Raw;
use nomina_runtime::call::{self, Resize};
use nomina_runtime::tensor::about;

use super::Layer;
use crate::{Mode, Module};

/// Defines a layer that divides dims into nearly equal parts.
macro_rules! adaptive {
    ($(
        $(#[$doc:meta])*
        $name:ident, $method:ident, [$($bound:ident)*], $ops:expr, $pool:expr;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Module)]
        #[module(crate = crate)]
        pub struct $name<A: Axes> {
            /// The sizes of the results, in the order of the dims `A`.
            #[module(skip)]
            pub sizes: Shape,
            #[module(skip)]
            dims: PhantomData<A>,
        }

        impl<A: Axes> $name<A> {
            /// Creates a layer whose results have the given sizes.
            #[must_use]
            pub fn new(sizes: impl SizesFor<A>) -> Self {
                Self { sizes: sizes.sizes(), dims: PhantomData }
            }

            /// Pools the input.
            ///
            /// # Errors
            /// If a dim has no elements, or an allocation fails.
            #[twin]
            pub fn try_forward<D: Dims + Distinct, T: $($bound +)* Element>(
                &self,
                x: &Tensor<D, T>,
            ) -> Result<Tensor<D, T>>
            where
                A: AxesOf<D>,
                A::List: EachResizable,
            {
                let at = positions::<A, D>();
                let op = ($ops)[at.len().clamp(1, 3) - 1];
                let pool: fn(Op, &Raw, &[usize], &[usize]) -> Result<Raw> = $pool;
                same_dims(x, |x| pool(op, x.raw(), at, &self.sizes))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<D: Dims + Distinct, A: AxesOf<D>, T: $($bound +)* Element> Layer<Tensor<D, T>> for $name<A>
        where
            A::List: EachResizable,
        {
            type Out = Tensor<D, T>;
            fn try_apply(&self, x: &Tensor<D, T>, _: Mode) -> Result<Tensor<D, T>> {
                self.try_forward(x)
            }
        }
    )*};
}

/// Computes a tensor with the dims of another.
fn same_dims<D: Dims + Distinct, T: Element>(
    x: &Tensor<D, T>,
    compute: impl FnOnce(&DynTensor) -> Result<Raw>,
) -> Result<Tensor<D, T>> {
    let x = x.to_dyn();
    let raw = compute(&x).map_err(|error| about(error, &[&x]))?;
    DynTensor::from_parts(raw, x.names().clone())?.try_into()
}

adaptive! {
    /// Adaptive average pooling: divides each of the dims `A` into a number of nearly equal parts, and computes the
    /// mean of each part. A dim that is not in `A` keeps its size, like `None` in PyTorch.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_nn::prelude::*;
    /// dims! { N, C, H, W }
    /// let pool = AdaptiveAvgPool::new((H.of(1), W.of(2)));
    /// let y = pool.forward(&Tensor::<(N, C, H, W)>::ones([2, 3, 7, 9]));
    /// assert_eq!((y.shape(), y.to_vec()), (&[2, 3, 1, 2][..], vec![1.0; 12]));
    /// ```
    AdaptiveAvgPool, adaptive_avg, [Float],
        [Op::AdaptiveAvgPool1d, Op::AdaptiveAvgPool2d, Op::AdaptiveAvgPool3d], call::adaptive_avg;

    /// Adaptive maximum pooling: divides each of the dims `A` into a number of nearly equal parts, and computes the
    /// maximum of each part.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_nn::prelude::*;
    /// dims! { C, Time }
    /// let pool = AdaptiveMaxPool::new(Time.of(2));
    /// let y = pool.forward(&tensor!([[1., 2., 3., 4., 5.]]; C, Time));
    /// assert_eq!(y.to_vec(), [3.0, 5.0]);
    /// ```
    AdaptiveMaxPool, adaptive_max, [Real Numeric],
        [Op::AdaptiveMaxPool1d, Op::AdaptiveMaxPool2d, Op::AdaptiveMaxPool3d],
        |op, x, at, sizes| call::adaptive_max(op, x, at, sizes, false).map(|(values, _)| values);
}

/// The sizes of the results of [`Upsample`].
#[derive(Clone, Debug, PartialEq)]
enum Target {
    Sizes(Shape),
    Factors(Vec<f64>),
}

/// Resampling of the dims `A` to given sizes, or by factors. PyTorch's `bilinear` and `trilinear` are
/// [`InterpolateMode::Linear`] along two and three dims.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { C, H, W }
/// let x = tensor!([[[1., 2.], [3., 4.]]]; C, H, W);
/// let twice = Upsample::new((H, W), 2.0, InterpolateMode::Nearest);
/// assert_eq!(twice.forward(&x).select(H, 0).to_vec(), [1., 1., 2., 2.]);
///
/// let options = InterpolateOptions {
///     mode: InterpolateMode::Linear,
///     align_corners: true,
///     ..default()
/// };
/// let wide = Upsample::to_sizes(W.of(3), options);
/// assert_eq!(wide.forward(&x).to_vec(), [1., 1.5, 2., 3., 3.5, 4.]);
/// ```
#[derive(Clone, Debug, Module)]
#[module(crate = crate)]
pub struct Upsample<A: Axes> {
    #[module(skip)]
    target: Target,
    /// The mode, whether corners are aligned, and antialiasing.
    #[module(skip)]
    pub options: InterpolateOptions,
    #[module(skip)]
    dims: PhantomData<A>,
}

impl<A: Axes> Upsample<A> {
    /// Creates a layer that multiplies the size of each dim by a factor, rounded down.
    #[must_use]
    pub fn new(dims: A, factor: f64, mode: InterpolateMode) -> Self {
        let options = InterpolateOptions {
            mode,
            ..InterpolateOptions::default()
        };
        Self::with(dims, &[factor], options)
    }

    /// Like [`new`](Self::new), but with options, and either a factor for each dim or one for all.
    #[must_use]
    pub fn with(dims: A, factors: &[f64], options: InterpolateOptions) -> Self {
        let _ = dims;
        let target = Target::Factors(factors.to_vec());
        Self {
            target,
            options,
            dims: PhantomData,
        }
    }

    /// Creates a layer whose results have the given sizes.
    #[must_use]
    pub fn to_sizes(sizes: impl SizesFor<A>, options: InterpolateOptions) -> Self {
        Self {
            target: Target::Sizes(sizes.sizes()),
            options,
            dims: PhantomData,
        }
    }

    /// Resamples the input. Positions are computed with the given factors, as PyTorch does, and not with the quotients
    /// of the rounded sizes.
    ///
    /// # Errors
    /// If a size is 0, the number of factors is not that of the dims, in smooth modes if the dtype is not a float, or if
    /// an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims + Distinct, T: Element>(
        &self,
        x: &Tensor<D, T>,
    ) -> Result<Tensor<D, T>>
    where
        A: AxesOf<D>,
        A::List: EachResizable,
    {
        let at = positions::<A, D>();
        let x = x.to_dyn();
        let resize = |(i, &dim): (usize, &usize)| {
            let (size, factor) = match &self.target {
                Target::Sizes(sizes) => (sizes[i], None),
                Target::Factors(factors) => {
                    let factor = *factors.get(i).or(factors.first())?;
                    // The conversion saturates, and a size that is too large is refused later.
                    (
                        (x.shape()[dim] as f64 * factor).floor() as usize,
                        Some(factor),
                    )
                }
            };
            Some(Resize { dim, size, factor })
        };
        let all: Option<Vec<Resize>> = at.iter().enumerate().map(resize).collect();
        let all = all.filter(|_| match &self.target {
            Target::Sizes(_) => true,
            Target::Factors(factors) => [1, at.len()].contains(&factors.len()),
        });
        let Some(all) = all else {
            let what = format!("the factors do not fit {} dims", at.len());
            let error = Error::new(ErrorKind::Argument, "upsample", what);
            return Err(about(
                error.hint("give one factor, or one for each dim"),
                &[&x],
            ));
        };
        x.interpolate_dims(&all, self.options)?.try_into()
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims + Distinct, A: AxesOf<D>, T: Element> Layer<Tensor<D, T>> for Upsample<A>
where
    A::List: EachResizable,
{
    type Out = Tensor<D, T>;
    fn try_apply(&self, x: &Tensor<D, T>, _: Mode) -> Result<Tensor<D, T>> {
        self.try_forward(x)
    }
}
