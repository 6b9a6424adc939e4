//! Operators along a dim, which may be split: then they communicate over the axis that splits it.

use std::panic::Location;

use nomina::dynamic::{LayerNormOptions, Reduction, RmsNormOptions};
use nomina::{DiffOptions, DynTensor, Name, Names, Result, SortOptions, TopkOptions};
use nomina_core::mesh::Combine;
use nomina_core::mesh::value::Mode;
use nomina_core::op::{Op, Spread};
use nomina_core::rule::DimArg;
use nomina_runtime::tensor::CrossEntropyOptions;

use super::DynSharded;
use crate::origin::CallSite;
use crate::split_dim::{EntropyArgs, Scan, SplitDim, WindowResult, entropy};

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

/// Options of `cross_entropy_with` and `nll_loss_with`. The weight is split like the classes, and whole along other
/// axes.
#[derive(Clone, Copy, Debug)]
pub struct ClassOptions<'a> {
    /// A weight for each class.
    pub weight: Option<&'a DynSharded>,
    /// The target value of rows to ignore.
    pub ignore_index: i64,
    /// The share of each target that is spread evenly over all classes.
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

/// A dim and the axis that splits it, resolved for an operator.
pub(super) struct ResolvedDim {
    pub(super) op: Op,
    pub(super) name: Name,
    pub(super) dim: usize,
    pub(super) axis: Option<usize>,
}

impl DynSharded {
    /// Resolves a dim, and checks that an operator that must see all of it may go along it.
    pub(super) fn resolve(&self, op: Op, dim: DimVia) -> Result<ResolvedDim> {
        let name = Name::new(&dim.dim)?;
        let position = self.metadata().position(op.name(), &name)?;
        let axis = dim.axis.map(|axis| self.axis(op.name(), &axis));
        let axis = axis.transpose()?;
        let names = Names::new([Some(name.clone())])?;
        self.require(op, |own, place| {
            if axis == Some(own) {
                place.splits(&name)
            } else {
                place.has_every(&names)
            }
        })?;
        self.require(op, |_, place| match op.row().spread {
            Spread::LinearAlong => place.linear(),
            _ => place.finished(),
        })?;
        Ok(ResolvedDim {
            op,
            name,
            dim: position,
            axis,
        })
    }

    pub(super) fn split_dim(&self, op: Op, dim: usize, axis: usize, at: CallSite) -> SplitDim {
        SplitDim {
            metadata: self.metadata(),
            op: op.name(),
            dim,
            axis,
            at,
        }
    }

    /// Wraps a result with this tensor's placement.
    fn wrap(&self, found: &ResolvedDim, local: DynTensor) -> Result<Self> {
        Ok(Self {
            local,
            origin: self.origin.then(found.op.name()),
            ..self.clone()
        })
    }

    /// Like [`wrap`](Self::wrap), for two results.
    fn wrap_both(&self, found: &ResolvedDim, both: (DynTensor, DynTensor)) -> Result<(Self, Self)> {
        Ok((self.wrap(found, both.0)?, self.wrap(found, both.1)?))
    }

    /// Wraps a result whose split dims have new sizes.
    fn wrap_window(&self, found: &ResolvedDim, slid: WindowResult) -> Result<Self> {
        self.wrap_slid(found.op, slid, self.places.clone(), &[])
    }

    /// Wraps a result that is replicated along the axis.
    fn wrap_whole(&self, found: &ResolvedDim, local: DynTensor) -> Result<Self> {
        self.wrap_result(found.op, local, self.whole_along(found.axis), &[])
    }

    /// Like [`whole`](Self::whole), for two results.
    fn wrap_both_whole(
        &self,
        found: &ResolvedDim,
        both: (DynTensor, DynTensor),
    ) -> Result<(Self, Self)> {
        Ok((
            self.wrap_whole(found, both.0)?,
            self.wrap_whole(found, both.1)?,
        ))
    }
}

/// Defines a method for each row: its name and operator, its arguments before and after the dim, the wrapper and the
/// type of its result, and the computations along a dim that each rank has all of and `via` an axis.
macro_rules! along {
    ($($name:ident $op:ident [$($first:ident: $first_type:ty),*] [$($more:ident: $more_type:ty),*] $wrap:ident $out:ty:
        |$x:ident, $dim:ident| $plain:expr, |$split_dim:ident| $via:expr;)*) => {
        impl DynSharded {$(
            #[doc = concat!("As [`Sharded::", stringify!($name), "`](crate::Sharded::", stringify!($name), ").")]
            ///
            /// # Errors
            /// Like the method of [`Sharded`](crate::Sharded), and if the placement does not allow it.
            #[track_caller]
            pub fn $name(&self, $($first: $first_type,)* dim: impl Into<DimVia> $(, $more: $more_type)*) -> Result<$out> {
                let (found, $x) = (self.resolve(Op::$op, dim.into())?, &self.local);
                let made = match found.axis {
                    Some(axis) => {
                        let $split_dim = self.split_dim(Op::$op, found.dim, axis, Location::caller());
                        $via
                    }
                    None => {
                        let $dim = found.dim;
                        $plain
                    }
                };
                self.$wrap(&found, made?)
            }
        )*}
    };
}
along! {
    softmax Softmax [] [] wrap Self: |x, dim| x.softmax(dim), |split_dim| split_dim.softmax(x);
    log_softmax LogSoftmax [] [] wrap Self: |x, dim| x.log_softmax(dim), |split_dim| split_dim.log_softmax(x);
    layer_norm LayerNorm [] [eps: f64] wrap Self:
        |x, dim| x.layer_norm_with(dim, LayerNormOptions { weight: None, bias: None, eps }), |split_dim| split_dim.layer_norm(x, eps);
    rms_norm RmsNorm [] [eps: f64] wrap Self:
        |x, dim| x.rms_norm_with(dim, RmsNormOptions { weight: None, eps: Some(eps) }), |split_dim| split_dim.rms_norm(x, eps);
    cumsum Cumsum [] [] wrap Self: |x, dim| x.cumsum(dim), |split_dim| split_dim.cumsum(x);
    cumprod Cumprod [] [] wrap Self: |x, dim| x.cumprod(dim), |split_dim| split_dim.scan(x, Scan::Prod);
    logcumsumexp Logcumsumexp [] [] wrap Self: |x, dim| x.logcumsumexp(dim), |split_dim| split_dim.scan(x, Scan::LogSumExp);
    cummax Cummax [] [] wrap_both (Self, Self): |x, dim| x.cummax(dim), |split_dim| split_dim.running(x, Combine::Max);
    cummin Cummin [] [] wrap_both (Self, Self): |x, dim| x.cummin(dim), |split_dim| split_dim.running(x, Combine::Min);
    sort_with Sort [] [options: SortOptions] wrap_both (Self, Self): |x, dim| x.sort_with(dim, options), |split_dim| split_dim.sort(x, options);
    diff_with Diff [] [options: DiffOptions] wrap_window Self:
        |x, dim| x.diff_with(dim, options).map(WindowResult::from), |split_dim| split_dim.diff(x, options);
    unfold Unfold [] [size: usize, step: usize, outdim: Option<&str>] wrap_window Self:
        |x, dim| x.unfold(dim, size, step, outdim).map(WindowResult::from), |split_dim| split_dim.unfold(x, size, step, outdim);
    roll Roll [shift: i64] [] wrap Self: |x, dim| x.roll(&[shift], dim), |split_dim| split_dim.roll(x, shift);
    logsumexp Logsumexp [] [] wrap_whole Self: |x, dim| x.logsumexp(dim), |split_dim| split_dim.logsumexp(x)?.squeeze(split_dim.dim);
    max Max [] [] wrap_both_whole (Self, Self): |x, dim| x.max(DimArg::from_dim(dim)), |split_dim| split_dim.extreme(x, Combine::Max);
    min Min [] [] wrap_both_whole (Self, Self): |x, dim| x.min(DimArg::from_dim(dim)), |split_dim| split_dim.extreme(x, Combine::Min);
    kthvalue Kthvalue [k: usize] [] wrap_both_whole (Self, Self):
        |x, dim| x.kthvalue(i64::try_from(k).unwrap_or(i64::MAX), DimArg::from_dim(dim)), |split_dim| split_dim.kthvalue(x, k);
    median Median [] [] wrap_both_whole (Self, Self): |x, dim| x.median(DimArg::from_dim(dim)), |split_dim| split_dim.median(x);
    argmax Argmax [] [] wrap_whole Self: |x, dim| x.argmax(DimArg::from_dim(dim)), |split_dim| Ok(split_dim.extreme(x, Combine::Max)?.1);
    argmin Argmin [] [] wrap_whole Self: |x, dim| x.argmin(DimArg::from_dim(dim)), |split_dim| Ok(split_dim.extreme(x, Combine::Min)?.1);
    topk_with Topk [k: usize] [options: TopkOptions] wrap_both_whole (Self, Self):
        |x, dim| x.topk_with(i64::try_from(k).unwrap_or(i64::MAX), dim, options), |split_dim| split_dim.topk(x, k, options);
}

impl DynSharded {
    /// Like [`Sharded::cross_entropy_with`](crate::Sharded::cross_entropy_with).
    ///
    /// # Errors
    /// Like [`Sharded::cross_entropy_with`](crate::Sharded::cross_entropy_with), and if the placements cannot be
    /// combined.
    #[track_caller]
    pub fn cross_entropy_with(
        &self,
        target: &Self,
        dim: impl Into<DimVia>,
        reduction: Reduction,
        options: ClassOptions<'_>,
    ) -> Result<Self> {
        let call = (Op::CrossEntropy, dim.into(), Location::caller());
        self.class_loss(call, target, reduction, options)
    }

    /// Like [`Sharded::nll_loss_with`](crate::Sharded::nll_loss_with).
    ///
    /// # Errors
    /// Like [`Sharded::nll_loss_with`](crate::Sharded::nll_loss_with), and if the placements cannot be combined.
    #[track_caller]
    pub fn nll_loss_with(
        &self,
        target: &Self,
        dim: impl Into<DimVia>,
        reduction: Reduction,
        options: ClassOptions<'_>,
    ) -> Result<Self> {
        let call = (Op::NllLoss, dim.into(), Location::caller());
        self.class_loss(call, target, reduction, options)
    }

    fn class_loss(
        &self,
        (op, dim, at): (Op, DimVia, CallSite),
        target: &Self,
        reduction: Reduction,
        options: ClassOptions<'_>,
    ) -> Result<Self> {
        let found = self.resolve(op, dim)?;
        self.require_same_mesh(op, target)?;
        self.require(op, |axis, place| {
            let its = &target.places[axis];
            place.beside(Mode::Pointwise, its, self.names(), target.names())
        })?;
        if let Some(weight) = options.weight {
            self.require_same_mesh(op, weight)?;
            self.require(op, |axis, _| {
                let own = &weight.places[axis];
                if found.axis == Some(axis) {
                    own.splits(&found.name)
                } else {
                    own.plain()
                }
            })?;
        }
        let args = EntropyArgs {
            target: &target.local,
            weight: options.weight.map(|weight| &weight.local),
            ignore_index: options.ignore_index,
            smoothing: options.label_smoothing,
            logits: op == Op::CrossEntropy,
            reduction,
        };
        let call = (op.name(), found.dim, found.axis, at);
        let local = entropy(&self.local, &args, self.metadata(), call)?;
        let summed = match reduction {
            Reduction::None => Names::new([Some(found.name)])?,
            _ => self.names().clone(),
        };
        let places = self.places.iter().zip(&target.places);
        let places = places.map(|(own, its)| own.join(its).across(&summed, Combine::Add));
        self.wrap_result(op, local, places.collect(), &[target])
    }
}
