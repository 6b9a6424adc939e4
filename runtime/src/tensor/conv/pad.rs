//! Padding.

use nomina_core::op::Op;
use nomina_core::rule::DimArg;
use nomina_core::{Error, ErrorKind, Result};
use nomina_macros::forms;

use super::{DynTensor, PadOptions, about};
use crate::call::{self, PadPair};

/// Returns PyTorch's list, which starts with the last dim, as dims and pairs.
pub(in crate::tensor) fn pairs(
    op: Op,
    x: &DynTensor,
    pad: &[i64],
) -> Result<(Vec<usize>, Vec<PadPair>)> {
    if !pad.len().is_multiple_of(2) || pad.len() / 2 > x.rank() {
        let what = format!("{} numbers for {} dims", pad.len(), x.rank());
        let error = Error::new(ErrorKind::Argument, op.name(), what)
            .hint("give two for each dim, from the last dim on");
        return Err(about(error, &[x]));
    }
    Ok(pad
        .chunks_exact(2)
        .enumerate()
        .map(|(at, pair)| (x.rank() - 1 - at, (pair[0], pair[1])))
        .unzip())
}

impl DynTensor {
    /// Pads dims before and after, in PyTorch's order: two numbers for the last dim, two for the
    /// one before it, and so on. Negative numbers remove elements.
    ///
    /// # Errors
    /// If there are more than two numbers per dim, or more elements are removed than exist. With
    /// options, also if reflected or circular padding is longer than a dim.
    #[forms(with = "but pads with the number, or the mode, of the options.")]
    pub fn pad_with(&self, pad: &[i64], options: PadOptions) -> Result<Self> {
        let (dims, pairs) = pairs(Op::Pad, self, pad)?;
        self.padded(Op::Pad, &dims, &pairs, options)
    }

    /// Like [`DynTensor::pad_with`], but for dims given by name: the number of elements before and
    /// after each.
    ///
    /// # Errors
    /// Like [`DynTensor::pad_with`].
    pub fn pad_by<'a>(
        &self,
        dims: impl Into<DimArg<'a>>,
        pad: &[PadPair],
        options: PadOptions,
    ) -> Result<Self> {
        let dims = self.dims_at(Op::Pad, &dims.into())?;
        self.padded(Op::Pad, &dims, pad, options)
    }

    /// Like [`DynTensor::pad_by`], but for dims by position.
    pub(in crate::tensor) fn padded(
        &self,
        op: Op,
        dims: &[usize],
        pad: &[PadPair],
        options: PadOptions,
    ) -> Result<Self> {
        let raw = call::pad(op, &self.raw, dims, pad, options.mode, options.value);
        let raw = raw.map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }
}
