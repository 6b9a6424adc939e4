//! Values that are stacked along a new dim.

use std::fmt;

use half::{bf16, f16};
use nomina_core::dims::{Dims, Insert, Inserted, OneDim};
use nomina_core::{Element, Result};
use nomina_runtime::memory::list;
use num_complex::Complex;

use crate::Tensor;
use crate::tensor::join::try_stack;

/// A value of which several can be stacked along a new dim `N`, in front of its own dims.
///
/// | value | batch |
/// |---|---|
/// | `Tensor<(C,), T>` | `Tensor<(N, C), T>` |
/// | a number: `f32`, `i64`, `bool`, … | `Tensor<(N,), f32>`, … |
/// | `()` and tuples of up to 8 | the tuple of batches |
/// | a struct, with `#[derive(Batch)]` | a struct with the same fields |
/// | `String`, `Option<T>` | a `Vec` |
///
/// ```
/// use nomina::loops::Batch;
/// use nomina::prelude::*;
/// dims! { N, C }
/// let samples = vec![(tensor!([1., 2.]; C), 3_i64), (tensor!([4., 5.]; C), 6)];
/// let (x, labels): (Tensor<(N, C)>, Tensor<(N,), i64>) = Batch::try_batch(samples, N)?;
/// assert_eq!(labels.to_vec(), [3, 6]);
/// # Ok::<(), Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stacked along `{N}`",
    label = "not a tensor without dim `{N}`, a number, or a tuple of them",
    note = "for a struct of tensors and numbers: `#[derive(Batch)]`"
)]
pub trait Batch<N>: Sized {
    /// The values in a batch.
    type Batched: Clone + fmt::Debug;

    /// Stacks values, in order.
    ///
    /// # Errors
    /// If there is no tensor, sizes differ, or memory runs out.
    fn try_batch(values: Vec<Self>, dim: N) -> Result<Self::Batched>;
}

#[diagnostic::do_not_recommend]
impl<N: OneDim + Insert<D>, D: Dims, T: Element> Batch<N> for Tensor<D, T> {
    type Batched = Tensor<Inserted<D, N>, T>;

    fn try_batch(values: Vec<Self>, dim: N) -> Result<Self::Batched> {
        try_stack(&values[..], dim)
    }
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<N: OneDim> Batch<N> for $t {
            type Batched = Tensor<(N,), $t>;

            fn try_batch(values: Vec<Self>, _: N) -> Result<Self::Batched> {
                let count = values.len();
                Tensor::from_parts(values, &[count])
            }
        }
    )*};
}
numbers!(bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 Complex<f32> Complex<f64>);

macro_rules! lists {
    ($([$($generics:tt)*] $t:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<N: OneDim, $($generics)*> Batch<N> for $t {
            type Batched = Vec<Self>;

            fn try_batch(values: Vec<Self>, _: N) -> Result<Self::Batched> {
                Ok(values)
            }
        }
    )*};
}
lists! {
    [] String;
    [T: Clone + fmt::Debug] Option<T>;
}

#[diagnostic::do_not_recommend]
impl<N> Batch<N> for () {
    type Batched = ();

    fn try_batch(_: Vec<Self>, _: N) -> Result<()> {
        Ok(())
    }
}

macro_rules! tuples {
    ($($b:ident $x:ident $at:tt),*) => {
        #[diagnostic::do_not_recommend]
        impl<N: OneDim, $($b: Batch<N>),*> Batch<N> for ($($b,)*) {
            type Batched = ($($b::Batched,)*);

            fn try_batch(values: Vec<Self>, dim: N) -> Result<Self::Batched> {
                $(let mut $x = list("stack", [values.len()])?;)*
                for value in values {
                    $($x.push(value.$at);)*
                }
                Ok(($($b::try_batch($x, dim)?,)*))
            }
        }
    };
}
tuples!(A a 0);
tuples!(A a 0, B b 1);
tuples!(A a 0, B b 1, C c 2);
tuples!(A a 0, B b 1, C c 2, D d 3);
tuples!(A a 0, B b 1, C c 2, D d 3, E e 4);
tuples!(A a 0, B b 1, C c 2, D d 3, E e 4, F f 5);
tuples!(A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6);
tuples!(A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7);
