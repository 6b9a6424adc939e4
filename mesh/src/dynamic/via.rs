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
use crate::frame::At;
use crate::parts::{Classes, Parts, Scan, Slid, entropy};

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
pub(super) struct Found {
    pub(super) op: Op,
    pub(super) name: Name,
    pub(super) dim: usize,
    pub(super) axis: Option<usize>,
}

impl DynSharded {
    /// Resolves a dim, and checks that an operator that must see all of it may go along it.
    pub(super) fn found(&self, op: Op, dim: DimVia) -> Result<Found> {
        let name = Name::new(&dim.dim)?;
        let position = self.frame().position(op.name(), &name)?;
        let axis = dim.axis.map(|axis| self.axis(op.name(), &axis));
        let axis = axis.transpose()?;
        let names = Names::new([Some(name.clone())])?;
        self.ask(op, |own, place| {
            if axis == Some(own) {
                place.splits(&name)
            } else {
                place.has_every(&names)
            }
        })?;
        self.ask(op, |_, place| match op.row().spread {
            Spread::LinearAlong => place.linear(),
            _ => place.finished(),
        })?;
        Ok(Found {
            op,
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

    /// Wraps a result with this tensor's placement.
    fn like(&self, found: &Found, local: DynTensor) -> Result<Self> {
        Ok(Self {
            local,
            origin: self.origin.then(found.op.name()),
            ..self.clone()
        })
    }

    /// Like [`like`](Self::like), for two results.
    fn likes(&self, found: &Found, both: (DynTensor, DynTensor)) -> Result<(Self, Self)> {
        Ok((self.like(found, both.0)?, self.like(found, both.1)?))
    }

    /// Wraps a result whose split dims have new sizes.
    fn slides(&self, found: &Found, slid: Slid) -> Result<Self> {
        self.slid(found.op, slid, self.places.clone(), &[])
    }

    /// Wraps a result that is replicated along the axis.
    fn whole(&self, found: &Found, local: DynTensor) -> Result<Self> {
        self.result(found.op, local, self.met(found.axis), &[])
    }

    /// Like [`whole`](Self::whole), for two results.
    fn wholes(&self, found: &Found, both: (DynTensor, DynTensor)) -> Result<(Self, Self)> {
        Ok((self.whole(found, both.0)?, self.whole(found, both.1)?))
    }
}

/// Defines a method for each row: its name and operator, its arguments before and after the dim, the wrapper and the
/// type of its result, and the computations along a dim that each rank has all of and `via` an axis.
macro_rules! along {
    ($($name:ident $op:ident [$($first:ident: $first_type:ty),*] [$($more:ident: $more_type:ty),*] $placed:ident $out:ty:
        |$x:ident, $dim:ident| $plain:expr, |$parts:ident| $via:expr;)*) => {
        impl DynSharded {$(
            #[doc = concat!("As [`Sharded::", stringify!($name), "`](crate::Sharded::", stringify!($name), ").")]
            ///
            /// # Errors
            /// Like the method of [`Sharded`](crate::Sharded), and if the placement does not allow it.
            #[track_caller]
            pub fn $name(&self, $($first: $first_type,)* dim: impl Into<DimVia> $(, $more: $more_type)*) -> Result<$out> {
                let (found, $x) = (self.found(Op::$op, dim.into())?, &self.local);
                let made = match found.axis {
                    Some(axis) => {
                        let $parts = self.parts(Op::$op, found.dim, axis, Location::caller());
                        $via
                    }
                    None => {
                        let $dim = found.dim;
                        $plain
                    }
                };
                self.$placed(&found, made?)
            }
        )*}
    };
}
along! {
    softmax Softmax [] [] like Self: |x, dim| x.softmax(dim), |parts| parts.softmax(x);
    log_softmax LogSoftmax [] [] like Self: |x, dim| x.log_softmax(dim), |parts| parts.log_softmax(x);
    layer_norm LayerNorm [] [eps: f64] like Self:
        |x, dim| x.layer_norm_with(dim, LayerNormOptions { weight: None, bias: None, eps }), |parts| parts.layer_norm(x, eps);
    rms_norm RmsNorm [] [eps: f64] like Self:
        |x, dim| x.rms_norm_with(dim, RmsNormOptions { weight: None, eps: Some(eps) }), |parts| parts.rms_norm(x, eps);
    cumsum Cumsum [] [] like Self: |x, dim| x.cumsum(dim), |parts| parts.cumsum(x);
    cumprod Cumprod [] [] like Self: |x, dim| x.cumprod(dim), |parts| parts.scan(x, Scan::Prod);
    logcumsumexp Logcumsumexp [] [] like Self: |x, dim| x.logcumsumexp(dim), |parts| parts.scan(x, Scan::LogSumExp);
    cummax Cummax [] [] likes (Self, Self): |x, dim| x.cummax(dim), |parts| parts.running(x, Combine::Max);
    cummin Cummin [] [] likes (Self, Self): |x, dim| x.cummin(dim), |parts| parts.running(x, Combine::Min);
    sort_with Sort [] [options: SortOptions] likes (Self, Self): |x, dim| x.sort_with(dim, options), |parts| parts.sort(x, options);
    diff_with Diff [] [options: DiffOptions] slides Self:
        |x, dim| x.diff_with(dim, options).map(Slid::from), |parts| parts.diff(x, options);
    unfold Unfold [] [size: usize, step: usize, outdim: Option<&str>] slides Self:
        |x, dim| x.unfold(dim, size, step, outdim).map(Slid::from), |parts| parts.unfold(x, size, step, outdim);
    roll Roll [shift: i64] [] like Self: |x, dim| x.roll(&[shift], dim), |parts| parts.rolled(x, shift);
    logsumexp Logsumexp [] [] whole Self: |x, dim| x.logsumexp(dim), |parts| parts.logsumexp(x)?.squeeze(parts.dim);
    max Max [] [] wholes (Self, Self): |x, dim| x.max(DimArg::from_dim(dim)), |parts| parts.extreme(x, Combine::Max);
    min Min [] [] wholes (Self, Self): |x, dim| x.min(DimArg::from_dim(dim)), |parts| parts.extreme(x, Combine::Min);
    kthvalue Kthvalue [k: usize] [] wholes (Self, Self):
        |x, dim| x.kthvalue(i64::try_from(k).unwrap_or(i64::MAX), DimArg::from_dim(dim)), |parts| parts.kthvalue(x, k);
    median Median [] [] wholes (Self, Self): |x, dim| x.median(DimArg::from_dim(dim)), |parts| parts.median(x);
    argmax Argmax [] [] whole Self: |x, dim| x.argmax(DimArg::from_dim(dim)), |parts| Ok(parts.extreme(x, Combine::Max)?.1);
    argmin Argmin [] [] whole Self: |x, dim| x.argmin(DimArg::from_dim(dim)), |parts| Ok(parts.extreme(x, Combine::Min)?.1);
    topk_with Topk [k: usize] [options: TopkOptions] wholes (Self, Self):
        |x, dim| x.topk_with(i64::try_from(k).unwrap_or(i64::MAX), dim, options), |parts| parts.topk(x, k, options);
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
        self.classes(call, target, reduction, options)
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
                if found.axis == Some(axis) {
                    own.splits(&found.name)
                } else {
                    own.is_plain()
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
