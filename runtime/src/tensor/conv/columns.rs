//! im2col and col2im: windows as columns, and back.

use nomina_core::op::Op;
use nomina_core::{Names, Result};

use super::{ColumnsOptions, DynTensor, about};
use crate::call::{self, Columns};

impl DynTensor {
    /// Copies the elements of `(N, C, H, W)` at each position of a window into a column:
    /// `(N, C * KH * KW, positions)`. PyTorch's `torch.nn.functional.unfold`. The two new dims have
    /// no names; a tensor without batch dim gives a result without one.
    ///
    /// # Errors
    /// If rank or sizes do not match.
    pub fn im2col(&self, kernel_size: [usize; 2], options: ColumnsOptions) -> Result<Self> {
        let ColumnsOptions {
            dilation,
            padding,
            stride,
        } = options;
        self.lowered(&Columns {
            kernel: &kernel_size,
            dilation: &dilation,
            padding: &padding,
            stride: &stride,
        })
    }

    pub(in crate::tensor) fn lowered(&self, args: &Columns<'_>) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        if self.rank() == 3 {
            let raw = call::im2col(&self.raw.unsqueeze(0)?, args).map_err(fail)?;
            return Ok(Self::new(raw.squeeze(0)?, Names::unnamed(2)));
        }
        let raw = call::im2col(&self.raw, args).map_err(fail)?;
        let names = [self.names[0].clone(), None, None];
        Ok(Self::new(raw, Names::unchecked(names)))
    }

    /// Adds columns to the elements at the positions of their windows: the transpose of
    /// [`DynTensor::im2col`], from `(N, C * KH * KW, positions)` to `(N, C, H, W)`. The new dims
    /// have no names.
    ///
    /// # Errors
    /// If rank or sizes do not match.
    pub fn fold(
        &self,
        output_size: [usize; 2],
        kernel_size: [usize; 2],
        options: ColumnsOptions,
    ) -> Result<Self> {
        let ColumnsOptions {
            dilation,
            padding,
            stride,
        } = options;
        let args = Columns {
            kernel: &kernel_size,
            dilation: &dilation,
            padding: &padding,
            stride: &stride,
        };
        self.folded(&output_size, &args)
    }

    pub(in crate::tensor) fn folded(&self, sizes: &[usize], args: &Columns<'_>) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        if self.rank() == 2 {
            let raw = call::fold(&self.raw.unsqueeze(0)?, sizes, args).map_err(fail)?;
            return Ok(Self::new(raw.squeeze(0)?, Names::unnamed(3)));
        }
        let raw = call::fold(&self.raw, sizes, args).map_err(fail)?;
        let names = [self.names[0].clone(), None, None, None];
        debug_assert_eq!(raw.rank(), 4, "{}", Op::Fold.name());
        Ok(Self::new(raw, Names::unchecked(names)))
    }
}
