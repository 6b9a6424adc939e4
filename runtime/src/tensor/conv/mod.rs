//! Windows that slide along dims: convolution, pooling, padding, resampling.
//!
//! Each method has a form like PyTorch's, by position, and one that ends in `_by`, which takes the
//! channel and spatial dims by name.

mod columns;
mod convolve;
mod options;
mod pad;
mod pool;
mod resample;
mod shuffle;

use nomina_core::Result;
use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, DimRef, Positions, Sites};

use super::{DynTensor, about};

pub use crate::call::{InterpolateMode, PadMode};
pub use options::{
    AvgPoolOptions, ColumnsOptions, ConvOptions, ConvTransposeOptions, InterpolateOptions,
    LpPoolOptions, MaxPoolOptions, PadOptions, Padding,
};

impl DynTensor {
    /// Returns the channel and spatial dims in PyTorch's order.
    pub(in crate::tensor) fn sites(&self, op: Op, spatial: usize) -> Result<Sites> {
        rule::sites(op.name(), &self.names, spatial).map_err(|e| about(e, &[self]))
    }

    /// Like [`Self::sites`], but for an operator with a weight, which its errors also show.
    pub(in crate::tensor) fn sites_for(
        &self,
        op: Op,
        spatial: usize,
        weight: &Self,
    ) -> Result<Sites> {
        rule::sites(op.name(), &self.names, spatial).map_err(|e| about(e, &[self, weight]))
    }

    /// Returns the channel and spatial dims given by name.
    fn named_sites(
        &self,
        op: Op,
        channel: DimRef<'_>,
        dims: &DimArg<'_>,
        count: usize,
    ) -> Result<Sites> {
        let name = op.name();
        let found = || {
            let sites = Sites {
                channel: channel.position(name, &self.names)?,
                spatial: dims.listed(name, &self.names)?,
            };
            rule::check_sites(name, &self.names, &sites, count)?;
            Ok(sites)
        };
        found().map_err(|e| about(e, &[self]))
    }

    /// Returns the positions of dims given by name.
    fn dims_at(&self, op: Op, dims: &DimArg<'_>) -> Result<Positions> {
        dims.listed(op.name(), &self.names)
            .map_err(|e| about(e, &[self]))
    }
}
