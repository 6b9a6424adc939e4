//! The operands of binary operators on a mesh, and the placements of their results.

use std::marker::PhantomData;

use nomina::dims::Dims;
use nomina::{Complex, Element, Tensor, bf16, f16};
use nomina_core::mesh::{Joined, PlacedWith, PlacedWithNumber, Placement};

use super::{Described, Sharded};

/// An operand: a tensor of a mesh, owned or borrowed, or a number. Whether it can be combined with a tensor is decided
/// by nomina's [`Combine`](nomina::Combine) for dims and dtypes, and by [`Fits`] for placements.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a tensor of a mesh nor a number",
    label = "expected a `Sharded` or a number"
)]
pub trait MeshOperand {
    /// [`OfTensor`](nomina::OfTensor) or [`OfScalar`](nomina::OfScalar).
    type Kind;
    /// Its placement.
    type Placed: Beside;
    /// The type of its piece.
    type Local<'a>: nomina::Operand<Kind = Self::Kind>
    where
        Self: 'a;
    /// Returns its piece.
    fn local(&self) -> Self::Local<'_>;
    /// Returns its dims, sizes and mesh; `None` for a number.
    #[doc(hidden)]
    fn described(&self) -> Option<Described<'_>>;
}

/// The placement `Q` of an operand of dims `E`.
#[derive(Clone, Copy, Debug)]
pub struct PlacedBy<E, Q>(PhantomData<(E, Q)>);

/// The placement of a number: each rank has it.
#[derive(Clone, Copy, Debug)]
pub enum Everywhere {}

/// The placement of a tensor that is on no mesh.
#[derive(Clone, Copy, Debug)]
pub enum WithoutMesh {}

/// The effect of an operand on the placement of a result.
pub trait Beside {
    /// The placement of the result, for the other operand in placement `P`.
    type Joined<P: Placement>: Placement<Mesh = P::Mesh>;
}
impl<E: Dims, Q: Placement> Beside for PlacedBy<E, Q> {
    type Joined<P: Placement> = Joined<P, Q>;
}
impl Beside for Everywhere {
    type Joined<P: Placement> = P;
}
impl Beside for WithoutMesh {
    type Joined<P: Placement> = P;
}

/// The placement of the result of `P` and the operand `R`.
pub type OutPlace<R, P> = <<R as MeshOperand>::Placed as Beside>::Joined<P>;

/// An operand in this placement can be combined with a tensor of dims `D` in placement `P`, in an operator of mode `M`.
pub trait Fits<M, P, D>: Beside {}
impl<M, P: Placement + PlacedWith<M, Q, D, E>, D: Dims, E: Dims, Q: Placement> Fits<M, P, D>
    for PlacedBy<E, Q>
{
}
impl<M, P: PlacedWithNumber<M>, D> Fits<M, P, D> for Everywhere {}
impl<M, P, D> Fits<M, P, D> for WithoutMesh where D: OnOneMesh<P> {}

/// Never holds: the message for a tensor that is on no mesh.
#[diagnostic::on_unimplemented(
    message = "a local tensor with a sharded one: each rank has its own local tensor",
    label = "place it first: `mesh.whole(t)`, or `mesh.whole(t).cut(axis, dim)`"
)]
pub trait OnOneMesh<P> {}

#[diagnostic::do_not_recommend]
impl<E: Dims, Q: Placement, U: Element> MeshOperand for Sharded<E, Q, U> {
    type Kind = nomina::OfTensor<E, U>;
    type Placed = PlacedBy<E, Q>;
    type Local<'a> = &'a Tensor<E, U>;
    fn local(&self) -> &Tensor<E, U> {
        &self.local
    }
    fn described(&self) -> Option<Described<'_>> {
        Some((self.operand(), &self.mesh.shared))
    }
}

#[diagnostic::do_not_recommend]
impl<E: Dims, Q: Placement, U: Element> MeshOperand for &Sharded<E, Q, U> {
    type Kind = nomina::OfTensor<E, U>;
    type Placed = PlacedBy<E, Q>;
    type Local<'a>
        = &'a Tensor<E, U>
    where
        Self: 'a;
    fn local(&self) -> &Tensor<E, U> {
        &self.local
    }
    fn described(&self) -> Option<Described<'_>> {
        (**self).described()
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl MeshOperand for $number {
            type Kind = nomina::OfScalar<$number>;
            type Placed = Everywhere;
            type Local<'a> = $number;
            fn local(&self) -> $number {
                *self
            }
            fn described(&self) -> Option<Described<'_>> {
                None
            }
        }
    )*};
}
numbers! { bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 Complex<f32> Complex<f64> }

#[diagnostic::do_not_recommend]
impl<E: Dims, U: Element> MeshOperand for Tensor<E, U> {
    type Kind = nomina::OfTensor<E, U>;
    type Placed = WithoutMesh;
    type Local<'a> = &'a Self;
    fn local(&self) -> &Self {
        self
    }
    fn described(&self) -> Option<Described<'_>> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<E: Dims, U: Element> MeshOperand for &Tensor<E, U> {
    type Kind = nomina::OfTensor<E, U>;
    type Placed = WithoutMesh;
    type Local<'a>
        = Self
    where
        Self: 'a;
    fn local(&self) -> Self {
        self
    }
    fn described(&self) -> Option<Described<'_>> {
        None
    }
}
