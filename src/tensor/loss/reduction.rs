//! Reductions of the losses of single elements, as types: the result's dims depend on it.

use nomina_core::dims::Dims;
use nomina_runtime::tensor::Reduction;

/// Their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mean;

/// Their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum;

/// They stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct None;

/// One of [`Mean`], [`Sum`] and [`None`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reduction",
    label = "expected `reduction::Mean`, `reduction::Sum` or `reduction::None`"
)]
pub trait Reduce {
    /// The dims of the loss, where single elements have dims `D`.
    type Of<D: Dims>: Dims;
    /// The same by value.
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
