//! The typed tensor on a mesh.

pub mod along;
mod arithmetic;
pub mod entropy;
pub mod gather;
pub mod grad;
pub mod halo;
pub mod layers;
pub mod operand;
pub mod order;
pub mod pairs;
pub mod product;
pub mod reduce;
pub mod view;
pub mod window;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use nomina::dims::{Axes, Dim, Dims, Distinct, Has, Without, position};
use nomina::{Combine, DynTensor, Element, Error, ErrorKind, Names, Result, Tensor, Typed};
use nomina_core::mesh::value::{Place, StaticPlace};
use nomina_core::mesh::{Combine as By, MeshAxis, Placement};
use nomina_runtime::Raw;
use operand::{Fits, MeshOperand, OutPlace};

use crate::mesh::Mesh;
use crate::metadata::Metadata;
use crate::origin::Origin;
use crate::shared::Shared;

/// The dims of the result of a tensor and the operand `R`.
pub type OutDims<R, D, T> = <<R as MeshOperand>::Kind as Combine<D, T>>::Dims;

/// The common dtype of a tensor and the operand `R`.
pub type OutDtype<R, D, T> = <<R as MeshOperand>::Kind as Combine<D, T>>::Dtype;

/// A tensor distributed over the ranks of a mesh, each of which has a piece. It has dims `D` and dtype `T`; `P` is the
/// mesh with a [`State`](nomina_core::mesh::State) for each of its axes.
///
/// An operator works on the pieces if that gives the pieces of the result; otherwise it does not compile. **A call
/// communicates if and only if it names a mesh axis.**
///
/// ```
/// use nomina_mesh::prelude::*;
/// dims! { Batch, Feature }
/// mesh! { Grid: Data, Model }
/// layout! { Rows on Grid: Batch => Data }
/// type On<D> = Sharded<D, Place<Rows, D>>;
///
/// let means = Grid::threads([2, 1], |mesh| {
///     let x = tensor!([[1., 2.], [3., 4.], [5., 9.]]; Batch, Feature);
///     let x: On<(Batch, Feature)> = mesh.whole(x).cut(Data, Batch);
///     let mean: Sharded<(Feature,), Grid<Whole, Whole>> = x.mean(across(Batch)).all_reduce(Data);
///     Ok(mean.to_vec())
/// })?;
/// assert_eq!(means, [[3.0, 5.0], [3.0, 5.0]]);
/// # Ok::<(), nomina::Error>(())
/// ```
pub struct Sharded<D: Dims, P: Placement, T: Element = f32> {
    pub(crate) local: Tensor<D, T>,
    /// The global sizes.
    pub(crate) sizes: Vec<usize>,
    pub(crate) origin: Origin,
    pub(crate) mesh: Mesh<P::Mesh>,
}

impl<D: Dims, P: Placement, T: Element> Clone for Sharded<D, P, T> {
    fn clone(&self) -> Self {
        Self {
            local: self.local.clone(),
            sizes: self.sizes.clone(),
            origin: self.origin,
            mesh: self.mesh.clone(),
        }
    }
}

/// Returns the states of a placement as values.
pub(crate) fn places<P: Placement>() -> Vec<Place> {
    P::PLACES.iter().map(|place| place.place()).collect()
}

/// The dims of a tensor of a mesh, its global sizes and its origin.
#[doc(hidden)]
pub type SizedDims<'a> = (&'static [Option<&'static str>], &'a [usize], Origin);

/// [`SizedDims`], with the mesh.
#[doc(hidden)]
pub type Described<'a> = (SizedDims<'a>, &'a Arc<Shared>);

/// Returns the origin of a result.
pub(crate) fn origin_of(op: &'static str, operands: &[SizedDims<'_>]) -> Option<Origin> {
    let (first, others) = operands.split_first()?;
    let all = others
        .iter()
        .fold(first.2, |all, other| all.combined_with(other.2));
    Some(all.then(op))
}

/// Returns the global sizes of a result from the shape of its piece; the size of a split dim is that of the operands.
pub(crate) fn sizes_of<D: Dims, P: Placement>(
    op: &'static str,
    shape: &[usize],
    operands: &[SizedDims<'_>],
) -> Result<Vec<usize>> {
    let size = |(at, name): (usize, &Option<&'static str>)| {
        let split = P::PLACES
            .iter()
            .any(|place| matches!(place, StaticPlace::Split(dim) if dim == name));
        if !split {
            return Ok(shape[at]);
        }
        let mut found = operands.iter().filter_map(|(names, sizes, _)| {
            let dim = names.iter().position(|own| own == name)?;
            Some(sizes[dim])
        });
        let Some(one) = found.next() else {
            return Ok(shape[at]);
        };
        match found.find(|&other| other != one) {
            None => Ok(one),
            Some(other) => {
                let found = [one, other];
                let name = name.unwrap_or("*");
                let what = format!("split dim `{name}` has sizes {found:?} in the operands");
                let error = Error::new(ErrorKind::Shape, op, what);
                let error = operands.iter().fold(error, |error, (names, sizes, _)| {
                    error.operand(&Names::from_static(names), sizes)
                });
                Err(error.hint("split dims need equal sizes and do not broadcast"))
            }
        }
    };
    D::NAMES.iter().enumerate().map(size).collect()
}

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    pub(crate) fn operand(&self) -> SizedDims<'_> {
        (D::NAMES, &self.sizes, self.origin)
    }

    /// Wraps a result of operands of one mesh.
    pub(crate) fn from_result(
        op: &'static str,
        local: Tensor<D, T>,
        mesh: Mesh<P::Mesh>,
        operands: &[SizedDims<'_>],
    ) -> Result<Self> {
        let sizes = sizes_of::<D, P>(op, local.shape(), operands)?;
        let origin =
            origin_of(op, operands).unwrap_or_else(|| Origin::of_local(Location::caller()));
        Ok(Self {
            local,
            sizes,
            origin,
            mesh,
        })
    }

    /// Returns the tensor's metadata, for conversions.
    pub(crate) fn metadata(&self) -> Metadata {
        Metadata {
            names: self.local.names(),
            sizes: self.sizes.clone(),
            places: places::<P>(),
            origin: self.origin,
            shared: self.mesh.shared.clone(),
        }
    }

    pub(crate) fn raw(&self) -> Raw {
        self.local.to_dyn().into_parts().0
    }

    /// Wraps a result with the same dims and placement.
    fn mapped<U: Element>(
        &self,
        op: &'static str,
        local: Result<Tensor<D, U>>,
    ) -> Result<Sharded<D, P, U>> {
        Ok(Sharded {
            local: local?,
            sizes: self.sizes.clone(),
            origin: self.origin.then(op),
            mesh: self.mesh.clone(),
        })
    }

    /// Wraps a result of this tensor with other dims.
    pub(crate) fn reduced<E: Dims, Q: Placement<Mesh = P::Mesh>, U: Element>(
        &self,
        op: &'static str,
        local: Result<Tensor<E, U>>,
    ) -> Result<Sharded<E, Q, U>> {
        Sharded::from_result(op, local?, self.mesh.clone(), &[self.operand()])
    }

    /// Returns this rank's contribution to a max or min across split dims, if it has no elements.
    fn of_none<A: OverIn<P, D>, U: Element>(
        &self,
        combine: By,
    ) -> Result<Option<Tensor<Without<D, A::Axes>, U>>>
    where
        Without<D, A::Axes>: Distinct,
    {
        if !A::ACROSS || self.local.numel() > 0 {
            return Ok(None);
        }
        let local = self.local.to_dyn();
        let dims = if A::Axes::ALL {
            local.names().clone()
        } else {
            Names::from_static(A::Axes::NAMES)
        };
        let none = crate::identity::identity_if_empty(&local, &dims, combine)?;
        none.map(|none| typed(none.into_parts().0)).transpose()
    }

    /// Wraps a result of this tensor and another.
    fn combined<R: MeshOperand, E: Dims, Q: Placement<Mesh = P::Mesh>, U: Element>(
        &self,
        op: &'static str,
        other: &R,
        local: Result<Tensor<E, U>>,
    ) -> Result<Sharded<E, Q, U>> {
        let local = match local {
            Ok(local) => local,
            // If split sizes differ, report that instead.
            Err(error) => return self.require_fit(op, other).and(Err(error)),
        };
        match other.described() {
            Some((described, shared)) => {
                self.require_mesh(op, shared)?;
                // The result does not show the sizes of dims that it lacks, so compare them here.
                let lacks = |place: &StaticPlace| matches!(place, StaticPlace::Split(dim) if !E::NAMES.contains(dim));
                if P::PLACES.iter().any(lacks) {
                    self.require_fit(op, other)?;
                }
                Sharded::from_result(op, local, self.mesh.clone(), &[self.operand(), described])
            }
            None => Sharded::from_result(op, local, self.mesh.clone(), &[self.operand()]),
        }
    }

    /// Refuses an operand of another mesh of the same type, or with other sizes of split dims.
    pub(crate) fn require_fit<R: MeshOperand>(&self, op: &'static str, other: &R) -> Result<()> {
        let Some((other, shared)) = other.described() else {
            return Ok(());
        };
        sizes_of::<D, P>(op, self.local.shape(), &[self.operand(), other])?;
        self.require_mesh(op, shared)
    }

    /// Refuses an operand of another mesh of the same type.
    pub(crate) fn require_same_mesh<E: Dims, Q: Placement, U: Element>(
        &self,
        op: &'static str,
        other: &Sharded<E, Q, U>,
    ) -> Result<()> {
        self.require_mesh(op, &other.mesh.shared)
    }

    fn require_mesh(&self, op: &'static str, shared: &Arc<Shared>) -> Result<()> {
        if self.mesh.shared.is_same(shared) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Mesh,
            op,
            "the operands are on two meshes of one type",
        )
        .hint("start a mesh once, and clone its handle"))
    }

    /// Returns this rank's piece.
    #[must_use]
    pub fn local(&self) -> &Tensor<D, T> {
        &self.local
    }

    /// Returns the mesh.
    #[must_use]
    pub fn mesh(&self) -> &Mesh<P::Mesh> {
        &self.mesh
    }

    /// Returns the global sizes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.sizes
    }

    /// Returns the global size of a dim.
    #[must_use]
    pub fn size<X: Dim>(&self, _: X) -> usize
    where
        D: Has<X>,
    {
        self.sizes[position::<X, D>()]
    }

    /// Returns the range of a dim that this rank's piece covers.
    #[must_use]
    pub fn range<X: Dim>(&self, _: X) -> std::ops::Range<usize>
    where
        D: Has<X>,
    {
        let (start, len) = self.metadata().range(position::<X, D>(), None);
        start..start + len
    }

    /// Returns the tensor detached from the graph.
    #[must_use]
    pub fn detach(&self) -> Self {
        Self {
            local: self.local.detach(),
            ..self.clone()
        }
    }
}

/// Adds the dims of the type to a piece.
pub(crate) fn typed<D: Dims + Distinct, T: Element>(raw: Raw) -> Result<Tensor<D, T>> {
    let tensor = DynTensor::from_parts(raw, Names::from_static(D::NAMES))?;
    tensor.into_typed().map_err(|(_, error)| error)
}

/// Returns the index of a mesh axis.
pub(crate) const fn axis_index<X: MeshAxis>() -> usize {
    <X::Index as nomina_core::mesh::AxisIndex>::INDEX
}

include!("generated.rs");

impl<D: Dims, P: Placement, T: Element> fmt::Debug for Sharded<D, P, T>
where
    Tensor<D, T>: fmt::Debug,
{
    /// Formats the placement and this rank's piece. Never communicates.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sharded")
            .field("places", &places::<P>())
            .field("sizes", &self.sizes)
            .field("mesh", &self.mesh)
            .field("local", &self.local)
            .finish()
    }
}
