//! Weights for many convolutions, and operations that follow a convolution.

use std::sync::OnceLock;

use nomina_core::op::Op;
use nomina_core::{ErrorKind, Result};

use super::refuse;
use crate::job::{FinalOp, KeptWeight};
use crate::raw::{Raw, Strided};

/// A weight for many convolutions. The first one keeps it in the order in which its kernel reads it, which is a second
/// copy; those with other dims or groups pack it anew.
#[derive(Debug)]
pub struct PreparedWeight {
    pub(super) weight: Raw,
    /// The layout and the number of groups that are kept.
    first: OnceLock<(Strided, usize)>,
    kept: KeptWeight,
}

impl PreparedWeight {
    /// Creates a weight that is packed by the first convolution.
    #[must_use]
    pub fn new(weight: Raw) -> Self {
        Self {
            weight,
            first: OnceLock::new(),
            kept: KeptWeight::default(),
        }
    }

    /// Returns where a weight with this layout is kept.
    pub(super) fn kept(&self, layout: &Strided, groups: usize) -> Option<&KeptWeight> {
        let first = self.first.get_or_init(|| (layout.clone(), groups));
        (first.0 == *layout && first.1 == groups).then_some(&self.kept)
    }
}

/// The weight of a convolution.
#[derive(Clone, Copy, Debug)]
pub enum ConvWeight<'a> {
    /// One for this call.
    Once(&'a Raw),
    /// One that stays packed.
    Prepared(&'a PreparedWeight),
}

/// Operations that follow a convolution.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConvAfter<'a> {
    /// A tensor of the result's sizes and dtype that is added to it.
    pub plus: Option<&'a Raw>,
    /// The operator that is applied then.
    pub op: Option<FinalOp>,
}

/// Checks that a tensor has the sizes, the dtype and the device of a result.
pub(super) fn check_plus(op: Op, x: &Raw, plus: &Raw, shape: &[usize]) -> Result<()> {
    if plus.shape() == shape && plus.dtype() == x.dtype() && plus.device() == x.device() {
        return Ok(());
    }
    let what = format!(
        "{} of sizes {:?} on `{}` is added to a result of {} and sizes {shape:?} on `{}`",
        plus.dtype(),
        plus.shape(),
        plus.device(),
        x.dtype(),
        x.device()
    );
    Err(refuse(ErrorKind::Shape, op, &[x, plus], what))
}
