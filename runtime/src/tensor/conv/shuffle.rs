//! `pixel_shuffle`, its inverse, and `channel_shuffle`.

use nomina_core::op::Op;
use nomina_core::rule::{DimArg, DimRef};
use nomina_core::{Error, ErrorKind, Result};

use super::{DynTensor, about};
use crate::raw::Raw;
use crate::shape::Shape;

fn refused(x: &DynTensor, op: Op, dim: usize, by: usize) -> Error {
    let what = format!("{by} does not divide size {}", x.shape()[dim]);
    let error = Error::new(ErrorKind::Shape, op.name(), what)
        .operand(&x.names, x.shape())
        .at(0, dim);
    error.hint("use another factor")
}

fn rank(x: &DynTensor, op: Op, least: usize) -> Result<()> {
    if x.rank() >= least {
        return Ok(());
    }
    let what = format!("{} dims, expected {least}", x.rank());
    let error = Error::new(ErrorKind::Rank, op.name(), what).hint("add dims with `unsqueeze`");
    Err(about(error, &[x]))
}

impl DynTensor {
    /// Turns channels into pixels: the last dims `(C * r * r, H, W)` become `(C, H * r, W * r)`.
    ///
    /// # Errors
    /// If there are fewer than three dims, or the channels are not a multiple of `r * r`.
    pub fn pixel_shuffle(&self, upscale_factor: usize) -> Result<Self> {
        rank(self, Op::PixelShuffle, 3)?;
        let rank = self.rank();
        self.shuffled(rank - 3, [rank - 2, rank - 1], upscale_factor)
    }

    /// Like [`DynTensor::pixel_shuffle`], but for dims given by name.
    ///
    /// # Errors
    /// Like [`DynTensor::pixel_shuffle`].
    pub fn pixel_shuffle_by<'a>(
        &self,
        channel: impl Into<DimRef<'a>>,
        dims: impl Into<DimArg<'a>>,
        upscale_factor: usize,
    ) -> Result<Self> {
        let sites = self.named_sites(Op::PixelShuffle, channel.into(), &dims.into(), 2)?;
        let spatial = [sites.spatial[0], sites.spatial[1]];
        self.shuffled(sites.channel, spatial, upscale_factor)
    }

    fn shuffled(&self, channel: usize, [h, w]: [usize; 2], r: usize) -> Result<Self> {
        let op = Op::PixelShuffle;
        let square = r.checked_mul(r).filter(|&square| square > 0);
        let size = self.shape()[channel];
        let Some(square) = square.filter(|square| size.is_multiple_of(*square)) else {
            return Err(refused(self, op, channel, r.saturating_mul(r)));
        };
        let grown = |dim: usize| {
            self.shape()[dim]
                .checked_mul(r)
                .ok_or_else(|| refused(self, op, dim, r))
        };
        let [height, width] = [grown(h)?, grown(w)?];
        // Each dim is followed by the part that joins it.
        self.split_and_joined(&[(channel, &[size / square, r, r])], |at| {
            let mut order: Shape = Shape::new();
            let mut shape = Shape::new();
            for dim in 0..self.rank() {
                order.push(at[dim][0]);
                if dim == h {
                    order.push(at[channel][1]);
                } else if dim == w {
                    order.push(at[channel][2]);
                }
                shape.push(match dim {
                    _ if dim == channel => size / square,
                    _ if dim == h => height,
                    _ if dim == w => width,
                    _ => self.shape()[dim],
                });
            }
            (order, shape)
        })
    }

    /// Turns pixels into channels: the last dims `(C, H * r, W * r)` become `(C * r * r, H, W)`.
    ///
    /// # Errors
    /// If there are fewer than three dims, or a size is not a multiple of `r`.
    pub fn pixel_unshuffle(&self, downscale_factor: usize) -> Result<Self> {
        rank(self, Op::PixelUnshuffle, 3)?;
        let rank = self.rank();
        self.unshuffled(rank - 3, [rank - 2, rank - 1], downscale_factor)
    }

    /// Like [`DynTensor::pixel_unshuffle`], but for dims given by name.
    ///
    /// # Errors
    /// Like [`DynTensor::pixel_unshuffle`].
    pub fn pixel_unshuffle_by<'a>(
        &self,
        channel: impl Into<DimRef<'a>>,
        dims: impl Into<DimArg<'a>>,
        downscale_factor: usize,
    ) -> Result<Self> {
        let sites = self.named_sites(Op::PixelUnshuffle, channel.into(), &dims.into(), 2)?;
        let spatial = [sites.spatial[0], sites.spatial[1]];
        self.unshuffled(sites.channel, spatial, downscale_factor)
    }

    fn unshuffled(&self, channel: usize, [h, w]: [usize; 2], r: usize) -> Result<Self> {
        let op = Op::PixelUnshuffle;
        for dim in [h, w] {
            if r == 0 || !self.shape()[dim].is_multiple_of(r) {
                return Err(refused(self, op, dim, r));
            }
        }
        let parts = [[self.shape()[h] / r, r], [self.shape()[w] / r, r]];
        let channels = r
            .checked_mul(r)
            .and_then(|square| square.checked_mul(self.shape()[channel]));
        let channels = channels.ok_or_else(|| refused(self, op, channel, r))?;
        self.split_and_joined(&[(h, &parts[0]), (w, &parts[1])], |at| {
            let mut order: Shape = Shape::new();
            let mut shape = Shape::new();
            for dim in 0..self.rank() {
                order.push(at[dim][0]);
                if dim == channel {
                    order.extend([at[h][1], at[w][1]]);
                }
                shape.push(match dim {
                    _ if dim == channel => channels,
                    _ if dim == h => parts[0][0],
                    _ if dim == w => parts[1][0],
                    _ => self.shape()[dim],
                });
            }
            (order, shape)
        })
    }

    /// Interleaves the channels, the second dim, of several groups.
    ///
    /// # Errors
    /// If there are fewer than three dims, or the channels are not a multiple of the groups.
    pub fn channel_shuffle(&self, groups: usize) -> Result<Self> {
        rank(self, Op::ChannelShuffle, 3)?;
        self.regrouped(1, groups)
    }

    /// Like [`DynTensor::channel_shuffle`], but for a dim given by name.
    ///
    /// # Errors
    /// If the dim does not exist, or its size is not a multiple of the groups.
    pub fn channel_shuffle_by<'a>(
        &self,
        channel: impl Into<DimRef<'a>>,
        groups: usize,
    ) -> Result<Self> {
        let channel = channel.into().position("channel_shuffle", &self.names);
        self.regrouped(channel.map_err(|e| about(e, &[self]))?, groups)
    }

    fn regrouped(&self, channel: usize, groups: usize) -> Result<Self> {
        let size = self.shape()[channel];
        if groups == 0 || !size.is_multiple_of(groups) {
            return Err(refused(self, Op::ChannelShuffle, channel, groups));
        }
        self.split_and_joined(&[(channel, &[groups, size / groups])], |at| {
            let mut order = Shape::new();
            for (dim, parts) in at.iter().enumerate() {
                if dim == channel {
                    order.extend([parts[1], parts[0]]);
                } else {
                    order.push(parts[0]);
                }
            }
            (order, Shape::from_slice(self.shape()))
        })
    }

    /// Splits dims into parts, permutes all parts, and reshapes. `arrange` receives the positions
    /// of the parts of each dim.
    fn split_and_joined(
        &self,
        split: &[(usize, &[usize])],
        arrange: impl FnOnce(&[Shape]) -> (Shape, Shape),
    ) -> Result<Self> {
        let (mut parts, mut places, mut next) = (Shape::new(), Vec::new(), 0);
        for (dim, &size) in self.shape().iter().enumerate() {
            let own = [size];
            let sizes = split
                .iter()
                .find(|(at, _)| *at == dim)
                .map_or(&own[..], |(_, sizes)| sizes);
            places.push((next..next + sizes.len()).collect::<Shape>());
            next += sizes.len();
            parts.extend_from_slice(sizes);
        }
        let (order, shape) = arrange(&places);
        let moved = |raw: &Raw| raw.reshape(&parts)?.permute(&order)?.reshape(&shape);
        let raw = moved(&self.raw).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }
}
