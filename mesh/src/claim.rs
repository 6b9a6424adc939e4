//! Rank-local code: access to the pieces, for computations that placements cannot express, and the way back by a claim
//! whose sizes are checked.

use std::panic::Location;

use nomina::dims::{Dims, Distinct};
use nomina::types::OneElement;
use nomina::{Element, Error, ErrorKind, Result, Tensor};
use nomina_core::mesh::{HasAllValues, Placement};
use nomina_macros::twin;

use crate::check::Description;
use crate::factory::AllOwn;
use crate::metadata::Metadata;
use crate::origin::Origin;
use crate::sharded::{Sharded, places};

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// Computes on this rank's piece. The result is local to the rank; use [`claim`](Self::claim) to declare what the
    /// pieces are together.
    ///
    /// # Errors
    /// If `compute` fails.
    #[track_caller]
    pub fn local_with<E: Dims, U: Element>(
        &self,
        compute: impl FnOnce(&Tensor<D, T>) -> Result<Tensor<E, U>>,
    ) -> Result<Sharded<E, AllOwn<P::Mesh>, U>> {
        Ok(self.mesh.own(compute(&self.local)?))
    }

    /// Returns the values in row-major order, if each rank has all of them. They are equal on all ranks, so control
    /// flow may depend on them.
    #[must_use]
    #[track_caller]
    pub fn to_vec(&self) -> Vec<T>
    where
        P: HasAllValues,
    {
        self.local.to_vec()
    }

    /// Returns the value of a tensor without dims, if each rank has it.
    ///
    /// # Errors
    /// If the device fails.
    #[twin]
    pub fn try_item(&self) -> Result<T>
    where
        D: OneElement,
        P: HasAllValues,
    {
        self.local.try_item()
    }
}

/// The tensor is local to each rank along all axes.
#[diagnostic::on_unimplemented(
    message = "placement `{Self}` is not each rank's own along all axes",
    label = "along some axis, the pieces already form a tensor"
)]
pub trait EachOwn<Q> {}
impl<Q> EachOwn<Q> for Q {}

impl<D: Dims + Distinct, Q: Placement, T: Element> Sharded<D, Q, T> {
    /// Declares what the local pieces are together. Their sizes are checked: along a split axis they are the parts of
    /// `sizes`, along other axes they are equal. The caller guarantees that replicas have equal values.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Shape`] on all ranks if the piece of one does not have the sizes of the claim.
    #[track_caller]
    pub fn claim<P: Placement<Mesh = Q::Mesh>>(&self, sizes: &[usize]) -> Result<Sharded<D, P, T>>
    where
        Q: EachOwn<AllOwn<Q::Mesh>>,
    {
        let at = Location::caller();
        let metadata = Metadata {
            names: self.local.names(),
            sizes: sizes.to_vec(),
            places: places::<P>(),
            origin: Origin::of_local(at),
            shared: self.mesh.shared.clone(),
        };
        let wrong = match sizes.len() == D::RANK {
            false => Some(format!("{} sizes for {} dims", sizes.len(), D::RANK)),
            true if metadata.shape(None) == self.local.shape() => None,
            true => Some(format!(
                "this rank's piece has sizes {:?}, but the claim needs {:?}",
                self.local.shape(),
                metadata.shape(None)
            )),
        };
        let outcome = wrong.map_or(Ok(((), Vec::new())), |what| {
            let error = Error::new(ErrorKind::Shape, "claim", what);
            Err(error.operand(&metadata.names, self.local.shape()))
        });
        metadata.shared.agree_on_outcome(
            Description::new("claim", at),
            ErrorKind::Shape,
            0,
            outcome,
        )?;
        Ok(Sharded {
            local: self.local.clone(),
            sizes: metadata.sizes,
            origin: self.mesh.shared.origin(at),
            mesh: self.mesh.clone(),
        })
    }
}
