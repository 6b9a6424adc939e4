//! Inputs of loops: one tensor, or several in a tuple.

use nomina_core::dims::{DimOf, Dims, OneDim, Without, position};
use nomina_core::{Element, Error, Result};
use nomina_runtime::DynTensor;
use nomina_runtime::memory::list;

use crate::Tensor;
use crate::erased::{ErasedRef, Known, compose, explain};

/// A borrowed tensor with the dim `N`, or a tuple of up to 4: `&x`, `(&x, &y)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no slices along `{N}`",
    label = "expected borrowed tensors with dim `{N}`",
    note = "borrow a tensor, or up to 4: `&x`, `(&x, &y)`"
)]
pub trait Slices<N: OneDim> {
    /// A slice, without the dim; of several tensors, a tuple of slices.
    type Slice;
    /// The tensors, owned.
    type Whole: Tensors;

    /// Returns the slices, in order.
    ///
    /// # Errors
    /// If sizes along the dim differ, or memory runs out.
    fn try_slices(&self, op: &'static str, dim: N) -> Result<Vec<Self::Slice>>;

    #[doc(hidden)]
    fn to_dyns(&self) -> Vec<DynTensor>;
}

/// A tensor, or a tuple of up to 4 tensors.
pub trait Tensors: Sized {
    #[doc(hidden)]
    fn into_dyns(self) -> Vec<DynTensor>;
    #[doc(hidden)]
    fn from_dyns(found: &[DynTensor]) -> Self;
}

#[diagnostic::do_not_recommend]
impl<D: Dims, T: Element> Tensors for Tensor<D, T> {
    fn into_dyns(self) -> Vec<DynTensor> {
        vec![self.into_dyn()]
    }

    fn from_dyns(found: &[DynTensor]) -> Self {
        from_dyn(&found[0])
    }
}

/// Returns a tensor whose names and dtype are known to be those of the type.
#[cfg_attr(debug_assertions, track_caller)]
fn from_dyn<D: Dims, T: Element>(found: &DynTensor) -> Tensor<D, T> {
    Tensor::from_erased(compose::erase(found.clone(), D::STATIC))
}

#[diagnostic::do_not_recommend]
impl<N: OneDim + DimOf<D>, D: Dims, T: Element> Slices<N> for &Tensor<D, T> {
    type Slice = Tensor<Without<D, N>, T>;
    type Whole = Tensor<D, T>;

    fn try_slices(&self, _: &'static str, dim: N) -> Result<Vec<Self::Slice>> {
        self.try_unbind(dim)
    }

    fn to_dyns(&self) -> Vec<DynTensor> {
        vec![Tensor::to_dyn(self)]
    }
}

/// Checks that all tensors have the same size along a dim, given with its position in each.
fn check_sizes(op: &'static str, given: &[(ErasedRef<'_>, usize)]) -> Result<()> {
    let size = |(x, at): &(ErasedRef<'_>, usize)| x.raw.shape()[*at];
    let other = given.iter().position(|x| size(x) != size(&given[0]));
    let Some(other) = other else {
        return Ok(());
    };
    let shapes = given.iter().map(|(x, _)| x.raw.shape());
    let error = Error::sizes(op, shapes, [(0, given[0].1), (other, given[other].1)]);
    let operands: Vec<ErasedRef<'_>> = given.iter().map(|(x, _)| *x).collect();
    Err(explain(error, &operands).hint("all tensors have one size along the dim"))
}

macro_rules! tuples {
    ($($d:ident $t:ident $x:ident $at:tt),*) => {
        #[diagnostic::do_not_recommend]
        impl<$($d: Dims, $t: Element,)*> Tensors for ($(Tensor<$d, $t>,)*) {
            fn into_dyns(self) -> Vec<DynTensor> {
                vec![$(self.$at.into_dyn()),*]
            }

            fn from_dyns(found: &[DynTensor]) -> Self {
                ($(from_dyn(&found[$at]),)*)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<N: OneDim $(+ DimOf<$d>)*, $($d: Dims, $t: Element,)*> Slices<N>
            for ($(&Tensor<$d, $t>,)*)
        {
            type Slice = ($(Tensor<Without<$d, N>, $t>,)*);
            type Whole = ($(Tensor<$d, $t>,)*);

            fn try_slices(&self, op: &'static str, dim: N) -> Result<Vec<Self::Slice>> {
                check_sizes(op, &[$((Tensor::erased(self.$at), position::<N, $d>())),*])?;
                let mut slices = list(op, [self.0.size(dim)])?;
                $(let mut $x = self.$at.try_unbind(dim)?.into_iter();)*
                slices.extend(std::iter::from_fn(|| Some(($($x.next()?,)*))));
                Ok(slices)
            }

            fn to_dyns(&self) -> Vec<DynTensor> {
                vec![$(Tensor::to_dyn(self.$at)),*]
            }
        }
    };
}
tuples!(D0 T0 a 0);
tuples!(D0 T0 a 0, D1 T1 b 1);
tuples!(D0 T0 a 0, D1 T1 b 1, D2 T2 c 2);
tuples!(D0 T0 a 0, D1 T1 b 1, D2 T2 c 2, D3 T3 d 3);
