//! Reductions of elementwise losses, as types: the dims of the result depend on them.

use nomina_core::dims::Dims;
use nomina_runtime::tensor::Reduction;

/// The mean of the losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mean;

/// The sum of the losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum;

/// No reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct None;

/// One of [`Mean`], [`Sum`] and [`None`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reduction",
    label = "expected `reduction::Mean`, `reduction::Sum` or `reduction::None`"
)]
pub trait Reduce {
    /// The dims of the loss, for elements with dims `D`.
    type Of<D: Dims>: Dims;
    /// The reduction as a value.
    const REDUCTION: Reduction;
}

#[diagnostic::do_not_recommend]
impl Reduce for Mean {
    type Of<D: Dims> = ();
    const REDUCTION: Reduction = Reduction::Mean;
}

#[diagnostic::do_not_recommend]
impl Reduce for Sum {
    type Of<D: Dims> = ();
    const REDUCTION: Reduction = Reduction::Sum;
}

#[diagnostic::do_not_recommend]
impl Reduce for None {
    type Of<D: Dims> = D;
    const REDUCTION: Reduction = Reduction::None;
}
