//! Local code: what types say too much or too little of, and the way back with a claim whose sizes are checked.

use std::panic::Location;

use nomina::dims::{Dims, Distinct};
use nomina::{Element, Error, ErrorKind, Result, Tensor};
use nomina_core::mesh::{HasAllValues, Placement};
use nomina_macros::twin;

use crate::check::What;
use crate::factory::AllOwn;
use crate::frame::Frame;
use crate::origin::Origin;
use crate::sharded::{Sharded, places};

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// Computes something of this rank's piece, which is then its own: say what the pieces are together by
    /// [`claim`](Self::claim).
    ///
    /// # Errors
    /// Those of `compute`.
    #[track_caller]
    pub fn local_with<E: Dims, U: Element>(
        &self,
        compute: impl FnOnce(&Tensor<D, T>) -> Result<Tensor<E, U>>,
    ) -> Result<Sharded<E, AllOwn<P::Mesh>, U>> {
        Ok(self.mesh.own(compute(&self.local)?))
    }

    /// All of the piece's values, where each rank has them all, row-major. Decisions may follow from them: they are equal on all
    /// ranks.
    #[must_use]
    #[track_caller]
    pub fn to_vec(&self) -> Vec<T>
    where
        P: HasAllValues,
    {
        self.local.to_vec()
    }

    /// The only value, where each rank has it.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when there is more than one.
    #[twin]
    pub fn try_item(&self) -> Result<T>
    where
        P: HasAllValues,
    {
        self.local.try_item()
    }
}

/// The tensor is each rank's own along all axes.
#[diagnostic::on_unimplemented(
    message = "placement `{Self}` is not each rank's own along all axes",
    label = "what the pieces are together is known along some axis"
)]
pub trait EachOwn<Q> {}
impl<Q> EachOwn<Q> for Q {}

impl<D: Dims + Distinct, Q: Placement, T: Element> Sharded<D, Q, T> {
    /// Says what the ranks' own pieces are together. Their sizes are compared: along a split axis they follow each other as the
    /// parts of `sizes` do, along others they are equal. That equal pieces have equal values is the caller's word.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] on all ranks when the piece of one has other sizes than the claim says.
    #[track_caller]
    pub fn claim<P: Placement<Mesh = Q::Mesh>>(&self, sizes: &[usize]) -> Result<Sharded<D, P, T>>
    where
        Q: EachOwn<AllOwn<Q::Mesh>>,
    {
        let at = Location::caller();
        let frame = Frame {
            names: self.local.names(),
            sizes: sizes.to_vec(),
            places: places::<P>(),
            origin: Origin::of_own(at),
            shared: self.mesh.shared.clone(),
        };
        let wrong = match sizes.len() == D::RANK {
            false => Some(format!("{} sizes for {} dims", sizes.len(), D::RANK)),
            true if frame.shape(None) == self.local.shape() => None,
            true => Some(format!(
                "this rank's piece has sizes {:?}, and the claim asks for {:?}",
                self.local.shape(),
                frame.shape(None)
            )),
        };
        let done = wrong.map_or(Ok(((), Vec::new())), |what| {
            let error = Error::new(ErrorKind::Shape, "claim", what);
            Err(error.operand(&frame.names, self.local.shape()))
        });
        frame
            .shared
            .settle(What::new("claim", at), ErrorKind::Shape, 0, done)?;
        Ok(Sharded {
            local: self.local.clone(),
            sizes: frame.sizes,
            origin: self.mesh.shared.origin(at),
            mesh: self.mesh.clone(),
        })
    }
}
