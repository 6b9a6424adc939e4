//! Tensors on a mesh with run-time names and placements: the same rules as the typed ones, and the same error messages.

mod generated;
mod operand;
mod origin;
mod over;
mod pieces;
mod remote;
mod via;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use nomina::dims::{Dims, Distinct};
use nomina::{DType, DynTensor, Element, Error, ErrorKind, Name, Names, Result, Typed};
use nomina_core::mesh::value::{Mode, Place, Verdict, error};
use nomina_core::mesh::{Combine, Fault, Placement};
use nomina_core::op::{Op, Spread};

use crate::mesh::Mesh;
use crate::metadata::Metadata;
use crate::origin::Origin;
use crate::sharded::{Sharded, places};
use crate::shared::Shared;

pub use operand::{IntoShardedOperand, ShardedOperand};
pub use over::Over;
pub use via::{ClassOptions, DimVia};

/// A tensor distributed over the ranks of a mesh. Like [`Sharded`], but with names, dtype and placement as values.
///
/// ```
/// use nomina_mesh::prelude::*;
/// dims! { Batch, Feature }
/// mesh! { Grid: Data, Model }
///
/// let mesh = Grid::alone();
/// let x: Sharded<(Batch, Feature), Grid<Split<Batch>, Whole>> = mesh.whole(Tensor::ones([2, 3])).cut(Data, Batch);
/// let total = x.to_dyn().sum(nomina_mesh::Over::across(["Batch"]))?.all_reduce("Data")?;
/// assert_eq!(total.local().to_vec::<f32>()?, [2.0, 2.0, 2.0]);
/// let error = x.to_dyn().sum(["Batch"]).unwrap_err();
/// assert!(error.to_string().contains("dim `Batch` is split over mesh axis `Data`"));
/// # Ok::<(), nomina::Error>(())
/// ```
#[derive(Clone)]
pub struct DynSharded {
    local: DynTensor,
    sizes: Vec<usize>,
    places: Vec<Place>,
    origin: Origin,
    shared: Arc<Shared>,
}

impl DynSharded {
    /// Returns this rank's piece.
    pub fn local(&self) -> &DynTensor {
        &self.local
    }

    /// Returns the global sizes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.sizes
    }

    /// Returns the names of the dims.
    #[must_use]
    pub fn names(&self) -> &Names {
        self.local.names()
    }

    /// Returns the state along each mesh axis.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    pub(crate) fn metadata(&self) -> Metadata {
        Metadata {
            names: self.local.names().clone(),
            sizes: self.sizes.clone(),
            places: self.places.clone(),
            origin: self.origin,
            shared: self.shared.clone(),
        }
    }

    /// Checks a condition for each axis, and returns the error of the first axis that fails it.
    fn require(&self, op: Op, mut check: impl FnMut(usize, &Place) -> Verdict) -> Result<()> {
        for (axis, place) in self.places.iter().enumerate() {
            check(axis, place).map_err(|wrong| {
                error(op.name(), self.shared.axes[axis].name, &wrong)
                    .operand(self.names(), &self.sizes)
            })?;
        }
        Ok(())
    }

    /// Wraps a result, with global sizes from its piece and the operands.
    fn wrap_result(
        &self,
        op: Op,
        local: DynTensor,
        places: Vec<Place>,
        others: &[&Self],
    ) -> Result<Self> {
        let mut sizes = local.shape().to_vec();
        for (at, name) in local.names().iter().enumerate() {
            let split = places
                .iter()
                .any(|place| place.dim().is_some() && place.dim() == name.as_ref());
            if !split {
                continue;
            }
            let operands = std::iter::once(&self).chain(others);
            let mut found = operands.filter_map(|one| {
                let dim = one.names().iter().position(|own| own == name)?;
                Some(one.sizes[dim])
            });
            let first = found.next().unwrap_or(sizes[at]);
            if let Some(other) = found.find(|&size| size != first) {
                let name = name.as_ref().map_or("*", Name::as_str);
                let what = format!(
                    "split dim `{name}` has size {first} in one operand and {other} in the other"
                );
                return Err(Error::new(ErrorKind::Shape, op.name(), what));
            }
            sizes[at] = first;
        }
        Ok(Self {
            local,
            sizes,
            places,
            origin: others
                .iter()
                .fold(self.origin, |all, other| all.combined_with(other.origin))
                .then(op.name()),
            shared: self.shared.clone(),
        })
    }

    fn elementwise(
        &self,
        op: Op,
        compute: impl FnOnce(&DynTensor) -> Result<DynTensor>,
    ) -> Result<Self> {
        self.require(op, |_, place| match op.row().spread {
            Spread::Linear => place.linear(),
            _ => place.finished(),
        })?;
        self.wrap_result(op, compute(&self.local)?, self.places.clone(), &[])
    }

    /// Refuses a tensor of another mesh.
    fn require_same_mesh(&self, op: Op, other: &Self) -> Result<()> {
        if self.shared.is_same(&other.shared) {
            Ok(())
        } else {
            Err(Error::new(
                ErrorKind::Mesh,
                op.name(),
                "the operands are on two meshes",
            ))
        }
    }

    fn reduced(
        &self,
        op: Op,
        over: Over,
        compute: impl FnOnce(&DynTensor, &[&str]) -> Result<DynTensor>,
    ) -> Result<Self> {
        let combine = match op.row().spread {
            Spread::Reduce(combine) => Some(combine),
            _ => None,
        };
        self.reduced_by(op, (combine, op == Op::Sum), over, compute)
    }

    /// Like [`reduced`](Self::reduced), with the combiner of pieces, and whether the operator is linear.
    fn reduced_by(
        &self,
        op: Op,
        (combine, linear): (Option<Combine>, bool),
        over: Over,
        compute: impl FnOnce(&DynTensor, &[&str]) -> Result<DynTensor>,
    ) -> Result<Self> {
        if let Some(axis) = &over.via {
            let axis = self.axis(op.name(), axis)?;
            let dims = over.dims.iter().map(|dim| Name::new(dim));
            let wrong = (Fault::ViaOfSum, dims.collect::<Result<Vec<_>>>()?);
            return Err(error(op.name(), self.shared.axes[axis].name, &wrong)
                .operand(self.names(), &self.sizes));
        }
        let dims = over.names();
        let names = if dims.is_empty() {
            self.names().clone()
        } else {
            Names::new(
                dims.iter()
                    .map(|dim| Name::new(dim).map(Some))
                    .collect::<Result<Vec<_>>>()?,
            )?
        };
        let across = over.across && combine.is_some();
        let across_some = self.places.iter().any(|place| place.splits_in(&names));
        self.require(op, |_, place| {
            match (linear, across) {
                (true, _) => place.linear()?,
                (false, _) => place.finished()?,
            }
            match across {
                false => place.has_all(&names),
                true if across_some => Ok(()),
                true => Err((
                    Fault::NotSplit,
                    names.iter().flatten().take(1).cloned().collect(),
                )),
            }
        })?;
        let places = self.places.iter().map(|place| match combine {
            Some(combine) if across => place.across(&names, combine),
            _ => place.clone(),
        });
        let none = match combine {
            Some(combine) if across => {
                crate::identity::identity_if_empty(&self.local, &names, combine)?
            }
            _ => None,
        };
        let local = none.map_or_else(|| compute(&self.local, &dims), Ok)?;
        self.wrap_result(op, local, places.collect(), &[])
    }

    fn along(
        &self,
        op: Op,
        dim: &str,
        compute: impl FnOnce(&DynTensor, &str) -> Result<DynTensor>,
    ) -> Result<Self> {
        let names = Names::new([Some(Name::new(dim)?)])?;
        self.require(op, |_, place| {
            match op.row().spread {
                Spread::LinearAlong => place.linear()?,
                _ => place.finished()?,
            }
            place.has_all(&names)
        })?;
        self.wrap_result(op, compute(&self.local, dim)?, self.places.clone(), &[])
    }

    /// Contracts a dim of both tensors: one that each rank has all of, or across one that is split in both.
    ///
    /// # Errors
    /// Like [`DynTensor::contract`], and if the placements cannot be combined.
    #[track_caller]
    pub fn contract(&self, other: &Self, dims: impl Into<Over>) -> Result<Self> {
        let (op, over) = (Op::Contract, dims.into());
        if let (Some(axis), [dim]) = (&over.via, &over.dims[..]) {
            return self.contract_around(other, dim, axis, Location::caller());
        }
        let dims = over.names();
        let names = Names::new(
            dims.iter()
                .map(|dim| Name::new(dim).map(Some))
                .collect::<Result<Vec<_>>>()?,
        )?;
        let some = self
            .places
            .iter()
            .chain(&other.places)
            .any(|place| place.splits_in(&names));
        self.require(op, |axis, place| {
            let its = &other.places[axis];
            match over.across {
                false => place.has_all(&names).and_then(|()| its.has_all(&names))?,
                true if some => place.across_both(its, &names)?,
                true => {
                    return Err((
                        Fault::NotSplit,
                        names.iter().flatten().take(1).cloned().collect(),
                    ));
                }
            }
            place.beside(Mode::ProductOfTwo, its, self.names(), other.names())
        })?;
        let places = self.places.iter().zip(&other.places);
        let places = places.map(|(one, other)| {
            let joined = one.join(other);
            if over.across {
                joined.across(&names, Combine::Add)
            } else {
                joined
            }
        });
        self.wrap_result(
            op,
            self.local.contract(&other.local, &dims[..])?,
            places.collect(),
            &[other],
        )
    }

    fn axis(&self, op: &'static str, axis: &str) -> Result<usize> {
        let found = self.shared.axes.iter().position(|own| own.name == axis);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.shared.axes.iter().map(|axis| axis.name).collect();
            Error::new(
                ErrorKind::Argument,
                op,
                format!("`{axis}` is not in the mesh"),
            )
            .hint(format!("use one of {}", names.join(", ")))
        })
    }

    fn converted(
        &self,
        axis: usize,
        place: Place,
        convert: impl FnOnce(&Metadata) -> Result<nomina_runtime::Raw>,
    ) -> Result<Self> {
        let metadata = self.metadata();
        let local = DynTensor::from_parts(convert(&metadata)?, metadata.names.clone())?;
        Ok(Self {
            local,
            sizes: self.sizes.clone(),
            places: metadata.with_place(axis, place).places,
            origin: metadata.origin,
            shared: self.shared.clone(),
        })
    }

    /// Like [`Sharded::all_reduce`].
    ///
    /// # Errors
    /// Like [`Sharded::all_reduce`], and if nothing is pending.
    #[track_caller]
    pub fn all_reduce(&self, axis: &str) -> Result<Self> {
        let (at, op) = (Location::caller(), "all_reduce");
        let axis = self.axis(op, axis)?;
        self.converted(axis, Place::Whole, |metadata| {
            metadata.all_reduce(op, self.local.raw(), axis, false, at)
        })
    }

    /// Like [`Sharded::reduce_scatter`].
    ///
    /// # Errors
    /// Like [`Sharded::reduce_scatter`], and if nothing is pending, or the tensor has no such dim.
    #[track_caller]
    pub fn reduce_scatter(&self, axis: &str, dim: &str) -> Result<Self> {
        let (at, op, dim) = (Location::caller(), "reduce_scatter", Name::new(dim)?);
        let axis = self.axis(op, axis)?;
        let position = self.metadata().position(op, &dim)?;
        self.converted(axis, Place::Split(dim), |metadata| {
            metadata.reduce_scatter(self.local.raw(), axis, position, at)
        })
    }

    /// Like [`Sharded::all_gather`].
    ///
    /// # Errors
    /// Like [`Sharded::all_gather`], and if nothing is split.
    #[track_caller]
    pub fn all_gather(&self, axis: &str) -> Result<Self> {
        let at = Location::caller();
        let axis = self.axis("all_gather", axis)?;
        self.converted(axis, Place::Whole, |metadata| {
            metadata.all_gather(self.local.raw(), axis, false, at)
        })
    }

    /// Like [`Sharded::all_to_all`].
    ///
    /// # Errors
    /// Like [`Sharded::all_to_all`], and if nothing is split, or the tensor has no such dim.
    #[track_caller]
    pub fn all_to_all(&self, axis: &str, dim: &str) -> Result<Self> {
        let (at, op, dim) = (Location::caller(), "all_to_all", Name::new(dim)?);
        let axis = self.axis(op, axis)?;
        let position = self.metadata().position(op, &dim)?;
        self.converted(axis, Place::Split(dim), |metadata| {
            metadata.all_to_all(self.local.raw(), axis, position, at)
        })
    }

    /// Like [`Sharded::cut`].
    ///
    /// # Errors
    /// Like [`Sharded::cut`], and if the tensor is not whole, or has no such dim.
    #[track_caller]
    pub fn cut(&self, axis: &str, dim: &str) -> Result<Self> {
        let (at, op, dim) = (Location::caller(), "cut", Name::new(dim)?);
        let axis = self.axis(op, axis)?;
        let position = self.metadata().position(op, &dim)?;
        self.converted(axis, Place::Split(dim), |metadata| {
            metadata.cut(self.local.raw(), axis, position, at)
        })
    }

    /// Like [`Sharded::pend`].
    ///
    /// # Errors
    /// Like [`Sharded::pend`], and if the tensor is not whole.
    pub fn pend(&self, axis: &str) -> Result<Self> {
        let axis = self.axis("pend", axis)?;
        self.converted(axis, Place::Pending(Combine::Add), |metadata| {
            metadata.pend(self.local.raw(), axis)
        })
    }

    /// Converts to a typed tensor, after checking names, dtype and placement.
    ///
    /// # Errors
    /// Like [`DynTensor::typed`](nomina::Typed::typed), and [`ErrorKind::Mesh`] if the placement or the mesh differs.
    pub fn typed<D: Dims + Distinct, P: Placement, T: Element>(
        &self,
        mesh: &Mesh<P::Mesh>,
    ) -> Result<Sharded<D, P, T>> {
        let wanted = places::<P>();
        if wanted != self.places || !self.shared.is_same(&mesh.shared) {
            let what = format!(
                "the tensor is placed as {:?}, not as {wanted:?}",
                self.places
            );
            return Err(
                Error::new(ErrorKind::Mesh, "typed", what).operand(self.names(), &self.sizes)
            );
        }
        Ok(Sharded {
            local: self.local.typed()?,
            sizes: self.sizes.clone(),
            origin: self.origin,
            mesh: mesh.clone(),
        })
    }

    /// Returns the dtype.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.local.dtype()
    }
}

impl<M: Placement<Mesh = M>> Mesh<M> {
    /// Declares a tensor replicated: each rank passes all of it, and the caller guarantees that all pass the same.
    /// Sends nothing.
    #[must_use]
    #[track_caller]
    pub fn whole_dyn(&self, tensor: DynTensor) -> DynSharded {
        DynSharded {
            sizes: tensor.shape().to_vec(),
            local: tensor,
            places: places::<M>(),
            origin: self.shared.origin(Location::caller()),
            shared: self.shared.clone(),
        }
    }
}

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// Converts to run-time names, dtype and placement. Costs nothing.
    #[must_use]
    pub fn to_dyn(&self) -> DynSharded {
        DynSharded {
            local: self.local.to_dyn(),
            sizes: self.sizes.clone(),
            places: places::<P>(),
            origin: self.origin,
            shared: self.mesh.shared.clone(),
        }
    }
}

impl fmt::Debug for DynSharded {
    /// Formats the placement and this rank's piece. Never communicates.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynSharded")
            .field("places", &self.places)
            .field("sizes", &self.sizes)
            .field("local", &self.local)
            .finish_non_exhaustive()
    }
}
