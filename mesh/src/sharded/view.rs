//! The same elements in another order, under other names, or some of them.

use std::ops::RangeBounds;

use nomina::dims::{
    AlignTarget, Aligned, Axes, Dim, DimOf, Dims, Flatten, Flattened, Insert, Inserted, OneDim,
    Order, OrderSpec, Rename, RenameArg, Renamed, Resizable, SizeOf, Transposed, Without,
};
use nomina::{Element, Error, ErrorKind, Result, Tensor};
use nomina_core::mesh::{FlattenedIn, FlattensIn, HasWhole, Placement, RenamedIn};
use nomina_macros::twin;

use super::{Sharded, places};

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// The same tensor with its dims in another order, and new ones of size 1.
    ///
    /// # Errors
    /// Names that only the run time knows.
    #[twin]
    pub fn try_align_to<O: OrderSpec + Order<D>>(
        &self,
        order: O,
    ) -> Result<Sharded<Aligned<D, O>, P, T>> {
        self.reduced("align_to", self.local.try_align_to(order))
    }

    /// The same tensor with its dims where `other` has them, and dims of size 1 where it lacks one.
    ///
    /// # Errors
    /// Names that only the run time knows.
    #[twin]
    pub fn try_align_as<E: AlignTarget<D>, Q: Placement<Mesh = P::Mesh>, U: Element>(
        &self,
        other: &Sharded<E, Q, U>,
    ) -> Result<Sharded<E, P, T>> {
        self.reduced("align_as", self.local.try_align_as(&other.local))
    }

    /// The same tensor with two dims in each other's place.
    ///
    /// # Errors
    /// Names that only the run time knows.
    #[twin]
    pub fn try_transpose<X: DimOf<D>, Y: DimOf<D>>(
        &self,
        dim0: X,
        dim1: Y,
    ) -> Result<Sharded<Transposed<D, X, Y>, P, T>> {
        self.reduced("transpose", self.local.try_transpose(dim0, dim1))
    }

    /// The same tensor with other names for some dims; a split dim is renamed in the placement, too.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for `..` where something is split: name the dims that change.
    #[twin]
    pub fn try_rename<F: RenameArg + Axes + Rename<D, X>, X: RenameArg>(
        &self,
        from: F,
        to: X,
    ) -> Result<Sharded<Renamed<D, F, X>, RenamedIn<P, F::Old, X::New>, T>> {
        if <F as Axes>::ALL && places::<P>().iter().any(|place| place.dim().is_some()) {
            let what = "`..` of a tensor that is split";
            return Err(
                Error::new(ErrorKind::Argument, "rename", what).hint("name the dims that change")
            );
        }
        let local = self.local.try_rename(from, to)?;
        Ok(Sharded {
            local,
            sizes: self.sizes.clone(),
            origin: self.origin.then("rename"),
            mesh: self.mesh.clone(),
        })
    }

    /// The same tensor with a new dim of size 1 in front.
    ///
    /// # Errors
    /// Names that only the run time knows.
    #[twin]
    pub fn try_unsqueeze<X: OneDim + Insert<D>>(
        &self,
        dim: X,
    ) -> Result<Sharded<Inserted<D, X>, P, T>> {
        self.reduced("unsqueeze", self.local.try_unsqueeze(dim))
    }

    /// The elements at one index of a dim that each rank has all of.
    ///
    /// # Errors
    /// [`ErrorKind::Index`].
    #[twin]
    pub fn try_select<X: DimOf<D> + Dim>(
        &self,
        dim: X,
        index: i64,
    ) -> Result<Sharded<Without<D, X>, P, T>>
    where
        P: HasWhole<(X,)>,
    {
        self.reduced("select", self.local.try_select(dim, index))
    }

    /// A range of a dim that each rank has all of.
    ///
    /// # Errors
    /// [`ErrorKind::Index`].
    #[twin]
    pub fn try_narrow<X: DimOf<D> + Dim>(
        &self,
        dim: X,
        range: impl RangeBounds<usize>,
    ) -> Result<Self>
    where
        P: HasWhole<(X,)>,
        SizeOf<X>: Resizable<X>,
    {
        self.reduced("narrow", self.local.try_narrow(dim, range))
    }

    /// Several dims as one. A split dim comes first among them, and divides evenly over its ranks.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when a split dim's size is no multiple of the number of ranks: the parts of the result would then
    /// have other sizes than those of a tensor that is split so.
    #[twin]
    pub fn try_flatten<F: FlattensIn<P> + Flatten<D, X>, X: OneDim>(
        &self,
        dims: F,
        to: X,
    ) -> Result<Sharded<Flattened<D, F, X>, FlattenedIn<P, F::List, X>, T>> {
        let frame = self.frame();
        let mut all = 1_usize;
        for name in F::NAMES {
            let at = D::NAMES
                .iter()
                .position(|own| own == name)
                .unwrap_or_default();
            let ranks = frame
                .places
                .iter()
                .enumerate()
                .filter(|(_, place)| place.dim().map(nomina::Name::as_str) == *name);
            let ranks: usize = ranks
                .map(|(axis, _)| frame.shared.axes[axis].ranks.size())
                .product();
            if !self.sizes[at].is_multiple_of(ranks) {
                let what = format!(
                    "{ranks} ranks split dim `{}`, and do not divide its size",
                    name.unwrap_or("*")
                );
                return Err(Error::new(ErrorKind::Shape, "flatten", what)
                    .operand(&frame.names, &self.sizes)
                    .hint("gather the dim first, or pad it"));
            }
            all = all.saturating_mul(self.sizes[at]);
        }
        let local: Tensor<Flattened<D, F, X>, T> = self.local.try_flatten(dims, to)?;
        let mut sizes = super::sizes_of::<Flattened<D, F, X>, FlattenedIn<P, F::List, X>>(
            "flatten",
            local.shape(),
            &[self.operand()],
        )?;
        let names = <Flattened<D, F, X> as nomina_core::dims::DimTuple>::NAMES;
        if let Some(at) = names.iter().position(|name| *name == X::NAME) {
            sizes[at] = all;
        }
        Ok(Sharded {
            local,
            sizes,
            origin: self.origin.then("flatten"),
            mesh: self.mesh.clone(),
        })
    }
}
