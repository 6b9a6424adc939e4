//! Conversions, masks, bounds, moments of two tensors, means and views: computed on each rank's piece.

use nomina::{DType, DynTensor, Error, ErrorKind, Name, Names, Result, Scalar};
use nomina_core::mesh::Combine;
use nomina_core::mesh::value::{Mode, Place};
use nomina_core::op::Op;
use nomina_core::rule;
use nomina_runtime::tensor::{Operand, Order};

use super::{DynSharded, Over, ShardedOperand};

impl DynSharded {
    /// Converts to another dtype.
    ///
    /// # Errors
    /// If something is pending, or memory is missing.
    pub fn to_dtype(&self, dtype: DType) -> Result<Self> {
        self.elementwise(Op::To, |x| x.to_dtype(dtype))
    }

    /// Clamps elements to between two numbers.
    ///
    /// # Errors
    /// Like [`DynTensor::clamp`]; also if something is pending.
    pub fn clamp(&self, min: impl Into<Scalar>, max: impl Into<Scalar>) -> Result<Self> {
        let (min, max) = (Operand::Scalar(min.into()), Operand::Scalar(max.into()));
        self.elementwise(Op::Clamp, |x| x.clamp(min, max))
    }

    /// Selects from `a` where this condition is true, from `b`, a tensor or a number, elsewhere. Dims unify from the
    /// right, dtypes promote, placements join.
    ///
    /// # Errors
    /// Like [`DynTensor::where_cond`]; also if the placements do not match.
    pub fn where_cond<'a>(&self, a: &Self, b: impl Into<ShardedOperand<'a>>) -> Result<Self> {
        let (op, mode) = (Op::Where, Mode::Pointwise);
        self.require_same_mesh(op, a)?;
        let own = (&self.places[..], self.names());
        match b.into() {
            ShardedOperand::Number(number) => {
                a.require(op, |_, place| place.with_number(mode))?;
                let places = self.join_places(op, mode, own, (&a.places, a.names()))?;
                self.wrap_result(op, self.local.where_cond(&a.local, number)?, places, &[a])
            }
            ShardedOperand::Tensor(b) => {
                self.require_same_mesh(op, b)?;
                let its =
                    a.join_places(op, mode, (&a.places, a.names()), (&b.places, b.names()))?;
                let names = rule::unify(op.name(), a.names(), b.names())?;
                let places = self.join_places(op, mode, own, (&its, &names))?;
                let local = self.local.where_cond(&a.local, &b.local)?;
                self.wrap_result(op, local, places, &[a, b])
            }
        }
    }

    /// Writes `value` where the mask is true. The mask is placed like the tensor in the dims that both have.
    ///
    /// # Errors
    /// Like [`DynTensor::masked_fill`]; also if the placements do not match.
    pub fn masked_fill(&self, mask: &Self, value: impl Into<Scalar>) -> Result<Self> {
        let op = Op::MaskedFill;
        self.require_same_mesh(op, mask)?;
        let (own, its) = (
            (&self.places[..], self.names()),
            (&mask.places[..], mask.names()),
        );
        let places = self.join_places(op, Mode::Pointwise, own, its)?;
        let value = Operand::Scalar(value.into());
        self.wrap_result(
            op,
            self.local.masked_fill(&mask.local, value)?,
            places,
            &[mask],
        )
    }

    /// Returns the mean over dims that each rank has all of, or across split dims. In that case the result is pending;
    /// it is divided by the global size.
    ///
    /// # Errors
    /// Like [`DynTensor::mean`]; also if the placement does not allow it.
    pub fn mean(&self, dims: impl Into<Over>) -> Result<Self> {
        let over = dims.into();
        let is_over = |name: &Option<Name>| {
            let name = name.as_ref().map(Name::as_str);
            over.dims.is_empty() || over.dims.iter().any(|dim| Some(dim.as_str()) == name)
        };
        let count = |sizes: &[usize]| -> f64 {
            let sizes = self
                .names()
                .iter()
                .zip(sizes)
                .filter(|(name, _)| is_over(name));
            sizes.map(|(_, &size)| size as f64).product()
        };
        let (own, all) = (count(self.local.shape()), count(&self.sizes));
        let across = over.across;
        self.reduced_by(Op::Mean, (Some(Combine::Add), true), over, |x, dims| {
            let part = |x: &DynTensor| match dims {
                [] => x.mean(..),
                dims => x.mean(dims),
            };
            match (across, own == 0.0 && all > 0.0) {
                (false, _) => part(x),
                // A rank without elements adds zero.
                (true, true) if dims.is_empty() => x.sum(..),
                (true, true) => x.sum(dims),
                // Means of parts are used, since sums of 16-bit floats could overflow.
                (true, false) => part(x)?.mul(own / all),
            }
        })
    }

    /// Reverses the order along dims that each rank has all of.
    ///
    /// # Errors
    /// Like [`DynTensor::flip`]; also if a dim is split.
    pub fn flip(&self, dims: impl Into<Over>) -> Result<Self> {
        let over = dims.into();
        self.require_whole(Op::Flip, &over)?;
        self.require(Op::Flip, |_, place| place.linear())?;
        self.viewed(Op::Flip, self.local.flip(over.names()))
    }

    /// Removes a dim of size 1.
    ///
    /// # Errors
    /// Like [`DynTensor::squeeze`]; also if the dim is split.
    pub fn squeeze(&self, dim: &str) -> Result<Self> {
        self.require_whole(Op::Squeeze, &dim.into())?;
        self.viewed(Op::Squeeze, self.local.squeeze(dim))
    }

    /// Selects one index of a dim that each rank has all of.
    ///
    /// # Errors
    /// Like [`DynTensor::select`]; also if the dim is split.
    pub fn select(&self, dim: &str, index: i64) -> Result<Self> {
        self.require_whole(Op::Select, &dim.into())?;
        self.viewed(Op::Select, self.local.select(dim, index))
    }

    /// Selects `length` indices, from `start` on, of a dim that each rank has all of.
    ///
    /// # Errors
    /// Like [`DynTensor::narrow`]; also if the dim is split.
    pub fn narrow(&self, dim: &str, start: i64, length: usize) -> Result<Self> {
        self.require_whole(Op::Narrow, &dim.into())?;
        self.viewed(Op::Narrow, self.local.narrow(dim, start, length))
    }

    /// Swaps two dims.
    ///
    /// # Errors
    /// If the tensor lacks one of them.
    pub fn transpose(&self, dim0: &str, dim1: &str) -> Result<Self> {
        self.viewed(Op::Transpose, self.local.transpose(dim0, dim1))
    }

    /// Inserts a new first dim of size 1.
    ///
    /// # Errors
    /// If the tensor has the dim.
    pub fn unsqueeze(&self, dim: &str) -> Result<Self> {
        self.viewed(Op::Unsqueeze, self.local.unsqueeze(0, dim))
    }

    /// Reorders the dims, and inserts new ones of size 1.
    ///
    /// # Errors
    /// If a dim of the tensor is missing.
    pub fn align_to<'a>(&self, order: impl Into<Order<'a>>) -> Result<Self> {
        self.viewed(Op::AlignTo, self.local.align_to(order))
    }

    /// Reorders the dims to match `other`, and inserts dims of size 1 for those that `self` lacks.
    ///
    /// # Errors
    /// If `other` lacks a dim.
    pub fn align_as(&self, other: &Self) -> Result<Self> {
        self.viewed(Op::AlignAs, self.local.align_as(&other.local))
    }

    /// Renames a dim; a split dim is renamed in the placement, too.
    ///
    /// # Errors
    /// If the old name is missing, or the new one would occur twice.
    pub fn rename_dim(&self, from: &str, to: &str) -> Result<Self> {
        let (local, new) = (self.local.rename_dim(from, to)?, Name::new(to)?);
        let renamed = |place: &Place| match place {
            Place::Split(dim) if dim.as_str() == from => Place::Split(new.clone()),
            other => other.clone(),
        };
        Ok(Self {
            local,
            places: self.places.iter().map(renamed).collect(),
            origin: self.origin.then("rename"),
            ..self.clone()
        })
    }

    /// Wraps a view with the same placement.
    fn viewed(&self, op: Op, local: Result<DynTensor>) -> Result<Self> {
        self.wrap_result(op, local?, self.places.clone(), &[])
    }

    /// Checks that each rank has all of some dims, and returns their names.
    fn require_whole(&self, op: Op, over: &Over) -> Result<Names> {
        if over.across || over.via.is_some() {
            let what = "its dims are those that each rank has all of";
            return Err(Error::new(ErrorKind::Mesh, op.name(), what)
                .operand(self.names(), &self.sizes)
                .hint("gather a split dim first"));
        }
        let dims = over.dims.iter().map(|dim| Name::new(dim).map(Some));
        let names = Names::new(dims.collect::<Result<Vec<_>>>()?)?;
        self.require(op, |_, place| place.has_all(&names))?;
        Ok(names)
    }
}

/// Defines methods of two tensors over dims that each rank has all of.
macro_rules! moments {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {
        impl DynSharded {$(
            $(#[$doc])*
            ///
            /// # Errors
            #[doc = concat!("Like [`DynTensor::", stringify!($name), "`]; also if a dim is split, or the placements do not match.")]
            pub fn $name(&self, other: &Self, dims: impl Into<Over>) -> Result<Self> {
                let op = Op::$op;
                self.require_same_mesh(op, other)?;
                let over = dims.into();
                let names = self.require_whole(op, &over)?;
                other.require(op, |_, place| place.has_all(&names))?;
                let (own, its) = ((&self.places[..], self.names()), (&other.places[..], other.names()));
                let places = self.join_places(op, Mode::Pointwise, own, its)?;
                self.wrap_result(op, self.local.$name(&other.local, over.names())?, places, &[other])
            }
        )*}
    };
}
moments! {
    /// Computes Pearson's correlation over dims that each rank has all of. The dims of `other` align by name.
    corr Corr;
    /// Like [`corr`](Self::corr), but leaves out the pairs in which either is NaN.
    nancorr Nancorr;
    /// Computes the covariance over dims that each rank has all of. The dims of `other` align by name.
    covar Covar;
    /// Like [`covar`](Self::covar), but leaves out the pairs in which either is NaN.
    nancovar Nancovar;
    /// Computes the mean over dims that each rank has all of, with weights whose dims align by name.
    weighted_mean WeightedMean;
    /// Like [`weighted_mean`](Self::weighted_mean), but leaves out the elements that are NaN, and their weights.
    weighted_nanmean WeightedNanmean;
}
