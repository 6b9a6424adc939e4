//! Views: reordering, renaming, flattening and selection of dims.

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
    /// Reorders the dims, and inserts new ones of size 1.
    ///
    /// # Errors
    /// If names that only the run time knows do not match.
    #[twin]
    pub fn try_align_to<O: OrderSpec + Order<D>>(
        &self,
        order: O,
    ) -> Result<Sharded<Aligned<D, O>, P, T>> {
        self.reduced("align_to", self.local.try_align_to(order))
    }

    /// Reorders the dims to match `other`, and inserts dims of size 1 for those that `self` lacks.
    ///
    /// # Errors
    /// If names that only the run time knows do not match.
    #[twin]
    pub fn try_align_as<E: AlignTarget<D>, Q: Placement<Mesh = P::Mesh>, U: Element>(
        &self,
        other: &Sharded<E, Q, U>,
    ) -> Result<Sharded<E, P, T>> {
        self.reduced("align_as", self.local.try_align_as(&other.local))
    }

    /// Swaps two dims.
    ///
    /// # Errors
    /// If names that only the run time knows do not match.
    #[twin]
    pub fn try_transpose<X: DimOf<D>, Y: DimOf<D>>(
        &self,
        dim0: X,
        dim1: Y,
    ) -> Result<Sharded<Transposed<D, X, Y>, P, T>> {
        self.reduced("transpose", self.local.try_transpose(dim0, dim1))
    }

    /// Renames dims; a split dim is renamed in the placement, too.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for `..` if any dim is split: name the dims that change.
    #[twin]
    pub fn try_rename<F: RenameArg + Axes + Rename<D, X>, X: RenameArg>(
        &self,
        from: F,
        to: X,
    ) -> Result<Sharded<Renamed<D, F, X>, RenamedIn<P, F::Old, X::New>, T>> {
        if <F as Axes>::ALL && places::<P>().iter().any(|place| place.dim().is_some()) {
            let what = "`..` of a split tensor";
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

    /// Inserts a new first dim of size 1.
    ///
    /// # Errors
    /// If names that only the run time knows do not match.
    #[twin]
    pub fn try_unsqueeze<X: OneDim + Insert<D>>(
        &self,
        dim: X,
    ) -> Result<Sharded<Inserted<D, X>, P, T>> {
        self.reduced("unsqueeze", self.local.try_unsqueeze(dim))
    }

    /// Selects one index of a dim that each rank has all of.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] if the index is out of range.
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

    /// Selects a range of a dim that each rank has all of.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] if the range is out of bounds.
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

    /// Flattens several dims into one. A split dim must be the first of them, and its ranks must divide its size.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] if the size of a split dim is not a multiple of the number of ranks: the parts of the
    /// result would then not have the sizes of a split dim's parts.
    #[twin]
    pub fn try_flatten<F: FlattensIn<P> + Flatten<D, X>, X: OneDim>(
        &self,
        dims: F,
        to: X,
    ) -> Result<Sharded<Flattened<D, F, X>, FlattenedIn<P, F::List, X>, T>> {
        let metadata = self.metadata();
        let mut all = 1_usize;
        for name in F::NAMES {
            let at = D::NAMES
                .iter()
                .position(|own| own == name)
                .unwrap_or_default();
            let ranks = metadata
                .places
                .iter()
                .enumerate()
                .filter(|(_, place)| place.dim().map(nomina::Name::as_str) == *name);
            let ranks: usize = ranks
                .map(|(axis, _)| metadata.shared.axes[axis].ranks.size())
                .product();
            if !self.sizes[at].is_multiple_of(ranks) {
                let what = format!(
                    "{ranks} ranks do not divide the size of dim `{}`",
                    name.unwrap_or("*")
                );
                return Err(Error::new(ErrorKind::Shape, "flatten", what)
                    .operand(&metadata.names, &self.sizes)
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
