//! Convolutions and transposed convolutions.

use nomina_core::Result;
use nomina_core::op::Op;

use super::operand_rule::record_saved;
use crate::job::Sliding;
use crate::raw::Raw;

/// The saved values of a convolution or its transpose. Operands are the batch, channels and the dims that a kernel slides along.
pub(crate) struct ConvolutionSaved {
    pub(crate) x: Raw,
    pub(crate) weight: Raw,
    /// The window of each dim, from the side with more elements to the other.
    pub(crate) windows: Vec<Sliding>,
    pub(crate) groups: usize,
    pub(crate) transposed: bool,
}

/// Records a convolution or its transpose. Of the three `windows`, the last ones are the operand's.
pub(crate) fn record_convolution(
    op: Op,
    out: Raw,
    [x, weight]: [&Raw; 2],
    bias: Option<&Raw>,
    (windows, groups): (&[Sliding], usize),
    transposed: bool,
) -> Result<Raw> {
    let save = || ConvolutionSaved {
        x: x.clone(),
        weight: weight.clone(),
        windows: windows[3 - (x.rank() - 2)..].to_vec(),
        groups,
        transposed,
    };
    match bias {
        Some(bias) => record_saved(op, out, [x, weight, bias], save),
        None => record_saved(op, out, [x, weight], save),
    }
}
