//! Operators along a dim, which may be split: then they communicate over the axis that splits it.

use std::panic::Location;

use nomina::dynamic::{LayerNormOptions, Reduction, RmsNormOptions};
use nomina::{DynTensor, Name, Names, Result, SortOptions, TopkOptions};
use nomina_core::mesh::Combine;
use nomina_core::mesh::value::{Mode, Place};
use nomina_core::op::{Op, Spread};
use nomina_core::rule::DimArg;
use nomina_runtime::tensor::CrossEntropyOptions;

use super::DynSharded;
use crate::frame::At;
use crate::parts::{Classes, Parts, Scan, entropy};

/// A dim that each rank has all of, or one via the mesh axis that splits it.
///
/// ```
/// use nomina_mesh::prelude::*;
/// use nomina_mesh::DimVia;
/// dims! { N, C }
/// mesh! { Line: Model }
///
/// let sums = Line::threads([2], |mesh| {
///     let x: Sharded<(N, C), Line<Split<C>>> = mesh.zeros([2, 4])?;
///     let y = x.to_dyn().softmax(DimVia::new("C", "Model"))?;
///     assert!(x.to_dyn().softmax("C").is_err());
///     y.local().sum(..)?.to_vec::<f32>()
/// })?;
/// assert_eq!(sums, [[1.0], [1.0]]);
/// # Ok::<(), nomina::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DimVia {
    dim: String,
    axis: Option<String>,
}

impl DimVia {
    /// A dim via the mesh axis that splits it.
    pub fn new(dim: impl Into<String>, axis: impl Into<String>) -> Self {
        Self {
            dim: dim.into(),
            axis: Some(axis.into()),
        }
    }
}

impl From<&str> for DimVia {
    fn from(dim: &str) -> Self {
        Self {
            dim: dim.into(),
            axis: None,
        }
    }
}

/// Options of `cross_entropy_with` and `nll_loss_with`: the weight is split as the classes are, and whole along other axes.
#[derive(Clone, Copy, Debug)]
pub struct ClassOptions<'a> {
    /// A weight for each class.
    pub weight: Option<&'a DynSharded>,
    /// A target that does not count.
    pub ignore_index: i64,
    /// How much of each target is spread over all classes.
    pub label_smoothing: f64,
}

impl Default for ClassOptions<'_> {
    fn default() -> Self {
        let CrossEntropyOptions {
            ignore_index,
            label_smoothing,
            ..
        } = CrossEntropyOptions::default();
        Self {
            weight: None,
            ignore_index,
            label_smoothing,
        }
    }
}

/// A dim and the axis that splits it, found.
pub(super) struct Found {
    pub(super) name: Name,
    pub(super) dim: usize,
    pub(super) axis: Option<usize>,
}

impl DynSharded {
    /// Where a dim stands, and whether an operator that has to see all of it may go along it.
    pub(super) fn found(&self, op: Op, dim: DimVia) -> Result<Found> {
        let name = Name::new(&dim.dim)?;
        let position = self.frame().position(op.name(), &name)?;
        let axis = dim.axis.map(|axis| self.axis(op.name(), &axis));
        let axis = axis.transpose()?;
        let names = Names::new([Some(name.clone())])?;
        self.ask(op, |own, place| match axis == Some(own) {
            true => place.splits(&name),
            false => place.has_every(&names),
        })?;
        self.ask(op, |_, place| match op.row().spread {
            Spread::LinearAlong => place.linear(),
            _ => place.finished(),
        })?;
        Ok(Found {
            name,
            dim: position,
            axis,
        })
    }

    pub(super) fn parts(&self, op: Op, dim: usize, axis: usize, at: At) -> Parts {
        Parts {
            frame: self.frame(),
            op: op.name(),
            dim,
            axis,
            at,
        }
    }

    fn like(&self, local: DynTensor) -> Self {
        Self {
            local,
            ..self.clone()
        }
    }

    /// A result that each rank has all of, along the axis.
    fn whole_along(&self, op: Op, axis: Option<usize>, local: DynTensor) -> Result<Self> {
        let mut places = self.places.clone();
        if let Some(axis) = axis {
            places[axis] = Place::Whole;
        }
        self.result(op, local, places, &[])
    }

    /// Along a dim, which stays as it is.
    fn through<V>(
        &self,
        (op, dim, at): (Op, DimVia, At),
        plain: impl FnOnce(&DynTensor, usize) -> Result<V>,
        via: impl FnOnce(&Parts, &DynTensor) -> Result<V>,
    ) -> Result<V> {
        let found = self.found(op, dim)?;
        match found.axis {
            Some(axis) => via(&self.parts(op, found.dim, axis, at), &self.local),
            None => plain(&self.local, found.dim),
        }
    }

    /// As [`Sharded::softmax`](crate::Sharded::softmax).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn softmax(&self, dim: impl Into<DimVia>) -> Result<Self> {
        let call = (Op::Softmax, dim.into(), Location::caller());
        let done = self.through(call, |x, dim| x.softmax(dim), Parts::softmax)?;
        Ok(self.like(done))
    }

    /// As [`Sharded::log_softmax`](crate::Sharded::log_softmax).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn log_softmax(&self, dim: impl Into<DimVia>) -> Result<Self> {
        let call = (Op::LogSoftmax, dim.into(), Location::caller());
        let done = self.through(call, |x, dim| x.log_softmax(dim), Parts::log_softmax)?;
        Ok(self.like(done))
    }

    /// As [`Sharded::layer_norm`](crate::Sharded::layer_norm).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn layer_norm(&self, dim: impl Into<DimVia>, eps: f64) -> Result<Self> {
        let call = (Op::LayerNorm, dim.into(), Location::caller());
        let options = LayerNormOptions {
            weight: None,
            bias: None,
            eps,
        };
        let done = self.through(
            call,
            |x, dim| x.layer_norm_with(dim, options),
            |parts, x| parts.layer_norm(x, eps),
        )?;
        Ok(self.like(done))
    }

    /// As [`Sharded::rms_norm`](crate::Sharded::rms_norm).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn rms_norm(&self, dim: impl Into<DimVia>, eps: f64) -> Result<Self> {
        let call = (Op::RmsNorm, dim.into(), Location::caller());
        let options = RmsNormOptions {
            weight: None,
            eps: Some(eps),
        };
        let done = self.through(
            call,
            |x, dim| x.rms_norm_with(dim, options),
            |parts, x| parts.rms_norm(x, eps),
        )?;
        Ok(self.like(done))
    }

    /// As [`Sharded::logsumexp`](crate::Sharded::logsumexp).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn logsumexp(&self, dim: impl Into<DimVia>) -> Result<Self> {
        let (op, at) = (Op::Logsumexp, Location::caller());
        let found = self.found(op, dim.into())?;
        let local = match found.axis {
            Some(axis) => {
                let parts = self.parts(op, found.dim, axis, at);
                parts.logsumexp(&self.local)?.squeeze(found.dim)?
            }
            None => self.local.logsumexp(found.dim)?,
        };
        self.whole_along(op, found.axis, local)
    }

    /// As [`Sharded::cumsum`](crate::Sharded::cumsum).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn cumsum(&self, dim: impl Into<DimVia>) -> Result<Self> {
        let call = (Op::Cumsum, dim.into(), Location::caller());
        let done = self.through(call, |x, dim| x.cumsum(dim), Parts::cumsum)?;
        Ok(self.like(done))
    }

    /// As [`Sharded::cumprod`](crate::Sharded::cumprod).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn cumprod(&self, dim: impl Into<DimVia>) -> Result<Self> {
        let call = (Op::Cumprod, dim.into(), Location::caller());
        let via = |parts: &Parts, x: &DynTensor| parts.scan(x, Scan::Prod);
        Ok(self.like(self.through(call, |x, dim| x.cumprod(dim), via)?))
    }

    /// As [`Sharded::logcumsumexp`](crate::Sharded::logcumsumexp).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn logcumsumexp(&self, dim: impl Into<DimVia>) -> Result<Self> {
        let call = (Op::Logcumsumexp, dim.into(), Location::caller());
        let via = |parts: &Parts, x: &DynTensor| parts.scan(x, Scan::LogSumExp);
        Ok(self.like(self.through(call, |x, dim| x.logcumsumexp(dim), via)?))
    }

    /// As [`Sharded::cummax`](crate::Sharded::cummax).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn cummax(&self, dim: impl Into<DimVia>) -> Result<(Self, Self)> {
        let call = (Op::Cummax, dim.into(), Location::caller());
        let via = |parts: &Parts, x: &DynTensor| parts.running(x, Combine::Max);
        let (values, places) = self.through(call, |x, dim| x.cummax(dim), via)?;
        Ok((self.like(values), self.like(places)))
    }

    /// As [`Sharded::cummin`](crate::Sharded::cummin).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn cummin(&self, dim: impl Into<DimVia>) -> Result<(Self, Self)> {
        let call = (Op::Cummin, dim.into(), Location::caller());
        let via = |parts: &Parts, x: &DynTensor| parts.running(x, Combine::Min);
        let (values, places) = self.through(call, |x, dim| x.cummin(dim), via)?;
        Ok((self.like(values), self.like(places)))
    }

    /// As [`Sharded::sort_with`](crate::Sharded::sort_with).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn sort_with(&self, dim: impl Into<DimVia>, options: SortOptions) -> Result<(Self, Self)> {
        let call = (Op::Sort, dim.into(), Location::caller());
        let (values, places) = self.through(
            call,
            |x, dim| x.sort_with(dim, options),
            |parts, x| parts.sort(x, options),
        )?;
        Ok((self.like(values), self.like(places)))
    }

    fn extreme(&self, op: Op, dim: DimVia, combine: Combine, at: At) -> Result<(Self, Self)> {
        let found = self.found(op, dim)?;
        let dim = found.dim;
        let (values, places) = match (found.axis, combine) {
            (Some(axis), _) => {
                let parts = self.parts(op, dim, axis, at);
                let (values, places) = parts.extreme(&self.local, combine)?;
                (values.squeeze(dim)?, places.squeeze(dim)?)
            }
            (None, Combine::Max) => self.local.max(DimArg::one(dim))?,
            (None, _) => self.local.min(DimArg::one(dim))?,
        };
        Ok((
            self.whole_along(op, found.axis, values)?,
            self.whole_along(op, found.axis, places)?,
        ))
    }

    /// As [`Sharded::max`](crate::Sharded::max).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn max(&self, dim: impl Into<DimVia>) -> Result<(Self, Self)> {
        self.extreme(Op::Max, dim.into(), Combine::Max, Location::caller())
    }

    /// As [`Sharded::min`](crate::Sharded::min).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn min(&self, dim: impl Into<DimVia>) -> Result<(Self, Self)> {
        self.extreme(Op::Min, dim.into(), Combine::Min, Location::caller())
    }

    /// As [`Sharded::argmax`](crate::Sharded::argmax).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn argmax(&self, dim: impl Into<DimVia>) -> Result<Self> {
        let at = Location::caller();
        Ok(self.extreme(Op::Argmax, dim.into(), Combine::Max, at)?.1)
    }

    /// As [`Sharded::argmin`](crate::Sharded::argmin).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn argmin(&self, dim: impl Into<DimVia>) -> Result<Self> {
        let at = Location::caller();
        Ok(self.extreme(Op::Argmin, dim.into(), Combine::Min, at)?.1)
    }

    /// As [`Sharded::topk_with`](crate::Sharded::topk_with).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn topk_with(
        &self,
        k: usize,
        dim: impl Into<DimVia>,
        options: TopkOptions,
    ) -> Result<(Self, Self)> {
        let (op, at) = (Op::Topk, Location::caller());
        let found = self.found(op, dim.into())?;
        let (values, places) = match found.axis {
            Some(axis) => {
                let parts = self.parts(op, found.dim, axis, at);
                parts.topk(&self.local, k, options)?
            }
            None => {
                let k = i64::try_from(k).unwrap_or(i64::MAX);
                self.local.topk_with(k, found.dim, options)?
            }
        };
        Ok((
            self.whole_along(op, found.axis, values)?,
            self.whole_along(op, found.axis, places)?,
        ))
    }

    /// As [`Sharded::cross_entropy_with`](crate::Sharded::cross_entropy_with).
    ///
    /// # Errors
    /// As there, and where the placements do not go together.
    #[track_caller]
    pub fn cross_entropy_with(
        &self,
        target: &Self,
        dim: impl Into<DimVia>,
        reduction: Reduction,
        options: ClassOptions<'_>,
    ) -> Result<Self> {
        let call = (Op::CrossEntropy, dim.into(), Location::caller());
        self.classes(call, target, reduction, options)
    }

    /// As [`Sharded::nll_loss_with`](crate::Sharded::nll_loss_with).
    ///
    /// # Errors
    /// As there, and where the placements do not go together.
    #[track_caller]
    pub fn nll_loss_with(
        &self,
        target: &Self,
        dim: impl Into<DimVia>,
        reduction: Reduction,
        options: ClassOptions<'_>,
    ) -> Result<Self> {
        let call = (Op::NllLoss, dim.into(), Location::caller());
        self.classes(call, target, reduction, options)
    }

    fn classes(
        &self,
        (op, dim, at): (Op, DimVia, At),
        target: &Self,
        reduction: Reduction,
        options: ClassOptions<'_>,
    ) -> Result<Self> {
        let found = self.found(op, dim)?;
        self.one_mesh(op, target)?;
        self.ask(op, |axis, place| {
            let its = &target.places[axis];
            place.beside(Mode::Pointwise, its, self.names(), target.names())
        })?;
        if let Some(weight) = options.weight {
            self.one_mesh(op, weight)?;
            self.ask(op, |axis, _| {
                let own = &weight.places[axis];
                match found.axis == Some(axis) {
                    true => own.splits(&found.name),
                    false => own.is_plain(),
                }
            })?;
        }
        let classes = Classes {
            target: &target.local,
            weight: options.weight.map(|weight| &weight.local),
            ignore_index: options.ignore_index,
            smoothing: options.label_smoothing,
            logits: op == Op::CrossEntropy,
            reduction,
        };
        let call = (op.name(), found.dim, found.axis, at);
        let local = entropy(&self.local, &classes, self.frame(), call)?;
        let summed = match reduction {
            Reduction::None => Names::new([Some(found.name)])?,
            _ => self.names().clone(),
        };
        let places = self.places.iter().zip(&target.places);
        let places = places.map(|(own, its)| own.join(its).across(&summed, Combine::Add));
        self.result(op, local, places.collect(), &[target])
    }
}
