//! Operators that need other ranks' parts: row lookup, sliding windows and ring operators.

use std::panic::Location;

use nomina::{
    AttentionOptions, AvgPoolOptions, ConvOptions, ConvTransposeOptions, DynTensor, Error,
    ErrorKind, MaxPoolOptions, Name, Names, Result,
};
use nomina_core::mesh::value::{Mode, Place};
use nomina_core::op::Op;

use super::{DimVia, DynSharded};
use crate::origin::CallSite;
use crate::split_dim::{Attention, SlidingOp, SplitDim, WindowResult, split_groups_error};

fn single_name(name: &Name) -> Result<Names> {
    Names::new([Some(name.clone())])
}

impl DynSharded {
    /// Returns the states with the axis whole, if one is given.
    pub(super) fn whole_along(&self, axis: Option<usize>) -> Vec<Place> {
        let mut places = self.places.clone();
        if let Some(axis) = axis {
            places[axis] = Place::Whole;
        }
        places
    }

    /// Joins the states of two operands after checking that an operator of the mode can combine them.
    pub(super) fn join_places(
        &self,
        op: Op,
        mode: Mode,
        own: (&[Place], &Names),
        its: (&[Place], &Names),
    ) -> Result<Vec<Place>> {
        self.require(op, |axis, _| {
            own.0[axis].beside(mode, &its.0[axis], own.1, its.1)
        })?;
        let both = own.0.iter().zip(its.0);
        Ok(both.map(|(own, its)| own.join(its)).collect())
    }

    /// Like [`Sharded::embedding`](crate::Sharded::embedding).
    ///
    /// # Errors
    /// Like [`Sharded::embedding`](crate::Sharded::embedding), and if the placements cannot be combined.
    #[track_caller]
    pub fn embedding(&self, dim: impl Into<DimVia>, ids: &Self) -> Result<Self> {
        let call = (Op::Embedding, dim.into(), Location::caller());
        let plain = |x: &DynTensor, dim, ids: &DynTensor| x.embedding(dim, ids);
        self.look_up(call, ids, plain, SplitDim::rows)
    }

    /// Like [`Sharded::index_select`](crate::Sharded::index_select).
    ///
    /// # Errors
    /// Like [`Sharded::index_select`](crate::Sharded::index_select), and if the placements cannot be combined.
    #[track_caller]
    pub fn index_select(&self, dim: impl Into<DimVia>, index: &Self) -> Result<Self> {
        let call = (Op::IndexSelect, dim.into(), Location::caller());
        let plain = |x: &DynTensor, dim, index: &DynTensor| x.index_select(dim, index);
        self.look_up(call, index, plain, SplitDim::index_select)
    }

    fn look_up(
        &self,
        (op, dim, at): (Op, DimVia, CallSite),
        index: &Self,
        plain: impl FnOnce(&DynTensor, usize, &DynTensor) -> Result<DynTensor>,
        via: impl FnOnce(&SplitDim, &DynTensor, &DynTensor, &Place) -> Result<DynTensor>,
    ) -> Result<Self> {
        let found = self.resolve(op, dim)?;
        self.require_same_mesh(op, index)?;
        index.require(op, |_, place| place.finished())?;
        let met = self.whole_along(found.axis);
        let own = (&met[..], self.names());
        let places = self.join_places(op, Mode::Pointwise, own, (&index.places, index.names()))?;
        let local = match found.axis {
            Some(axis) => {
                let split_dim = self.split_dim(op, found.dim, axis, at);
                via(&split_dim, &self.local, &index.local, &index.places[axis])?
            }
            None => plain(&self.local, found.dim, &index.local)?,
        };
        index.wrap_result(op, local, places, &[self])
    }

    /// Contracts over a dim that is split only in `other`.
    pub(super) fn contract_around(
        &self,
        other: &Self,
        dim: &str,
        axis: &str,
        at: CallSite,
    ) -> Result<Self> {
        let op = Op::Contract;
        self.require_same_mesh(op, other)?;
        let (name, axis) = (Name::new(dim)?, self.axis(op.name(), axis)?);
        let names = single_name(&name)?;
        self.require(op, |own, _| {
            if own == axis {
                other.places[own].splits(&name)
            } else {
                other.places[own].has_every(&names)
            }
        })?;
        self.require(op, |_, place| place.has_all(&names))?;
        let met = other.whole_along(Some(axis));
        let own = (&self.places[..], self.names());
        let places = self.join_places(op, Mode::ProductOfTwo, own, (&met, other.names()))?;
        let position = other.metadata().position(op.name(), &name)?;
        let split_dim = other.split_dim(op, position, axis, at);
        let local = split_dim.contract(&self.local, &other.local, dim)?;
        self.wrap_result(op, local, places, &[other])
    }

    /// Like [`Sharded::scaled_dot_product_attention_via`](crate::Sharded::scaled_dot_product_attention_via).
    ///
    /// # Errors
    /// Like [`Sharded::scaled_dot_product_attention_via`](crate::Sharded::scaled_dot_product_attention_via), and if the
    /// placements cannot be combined.
    #[track_caller]
    pub fn scaled_dot_product_attention_via(
        &self,
        key: &Self,
        value: &Self,
        source: impl Into<DimVia>,
        options: AttentionOptions,
    ) -> Result<Self> {
        let (op, at) = (Op::ScaledDotProductAttention, Location::caller());
        self.require_same_mesh(op, key)?;
        self.require_same_mesh(op, value)?;
        let found = key.resolve(op, source.into())?;
        for (own, axis) in key.places.iter().zip(0..) {
            if value.places[axis] != *own {
                let what = "keys and values are placed differently";
                return Err(Error::new(ErrorKind::Mesh, op.name(), what)
                    .operand(key.names(), &key.sizes)
                    .operand(value.names(), &value.sizes)
                    .hint("place both alike"));
            }
        }
        for x in [self, key, value] {
            let last = Names::new(x.names().iter().last().cloned())?;
            x.require(op, |_, place| {
                place.finished().and_then(|()| place.has_all(&last))
            })?;
        }
        let met = key.whole_along(found.axis);
        let own = (&self.places[..], self.names());
        let places = self.join_places(op, Mode::Pointwise, own, (&met, key.names()))?;
        self.join_places(op, Mode::Pointwise, own, (&met, value.names()))?;
        let first = match self.sizes.len() {
            0 | 1 => 0,
            rank => self.metadata().range(rank - 2, None).0,
        };
        let attention = Attention {
            metadata: key.metadata(),
            op: op.name(),
            source: found.dim,
            via: found.axis,
            at,
            first,
        };
        let local = attention.compute(&self.local, &key.local, &value.local, options)?;
        self.wrap_result(op, local, places, &[key, value])
    }

    fn sliding<const S: usize>(
        &self,
        op: Op,
        dims: [DimVia; S],
        at: CallSite,
    ) -> Result<SlidingOp> {
        let found = dims.into_iter().map(|dim| {
            let found = self.resolve(op, dim)?;
            Ok((found.dim, found.axis))
        });
        Ok(SlidingOp {
            metadata: self.metadata(),
            op: op.name(),
            at,
            dims: found.collect::<Result<_>>()?,
        })
    }

    pub(super) fn wrap_slid(
        &self,
        op: Op,
        slid: WindowResult,
        places: Vec<Place>,
        others: &[&Self],
    ) -> Result<Self> {
        let mut found = self.wrap_result(op, slid.local, places, others)?;
        for (dim, size) in slid.sizes {
            found.sizes[dim] = size;
        }
        Ok(found)
    }

    /// Checks the operands of a convolution. Returns the position of the channel dim and the placement of the result.
    fn check_convolution(
        &self,
        op: Op,
        channel: &str,
        weight: &Self,
        bias: Option<&Self>,
        groups: usize,
    ) -> Result<(usize, Vec<Place>)> {
        self.require_same_mesh(op, weight)?;
        let name = Name::new(channel)?;
        let position = self.metadata().position(op.name(), &name)?;
        let names = single_name(&name)?;
        self.require(op, |_, place| {
            place.finished().and_then(|()| place.has_all(&names))
        })?;
        // The weight's output channels may be split: its first dim other than the channel dim.
        let others = weight.names().iter();
        let mut others = others.filter(|own| own.as_ref() != Some(&name));
        let out = others.next().cloned();
        let rest = Names::new(others.cloned().chain([Some(name.clone())]))?;
        weight.require(op, |_, place| {
            place.finished().and_then(|()| place.has_all(&rest))
        })?;
        let none = Names::default();
        let own = (&self.places[..], self.names());
        let places = self.join_places(op, Mode::Pointwise, own, (&weight.places, &none))?;
        if let Some(bias) = bias {
            self.require_same_mesh(op, bias)?;
            if bias.places != weight.places {
                let what = "the placements of bias and weight differ";
                return Err(Error::new(ErrorKind::Mesh, op.name(), what)
                    .operand(weight.names(), &weight.sizes)
                    .operand(bias.names(), &bias.sizes)
                    .hint("place both alike"));
            }
        }
        let split = |place: &Place| {
            place.dim().is_some() && place.dim() == out.as_ref().and_then(Option::as_ref)
        };
        if groups != 1 && weight.places.iter().any(split) {
            return Err(split_groups_error(op.name(), groups));
        }
        Ok((position, places))
    }
}

/// Defines a method for each row: its rank, operator, name, the operator on one rank, and the type of its options.
macro_rules! convolutions {
    ($($s:literal $op:ident $name:ident $by:ident $options:ident $slid:ident;)*) => {
        impl DynSharded {$(
            #[doc = concat!("As [`Sharded::", stringify!($name), "`](crate::Sharded::", stringify!($name), ").")]
            ///
            /// # Errors
            /// Like the method of [`Sharded`](crate::Sharded), and if the placements cannot be combined.
            #[track_caller]
            pub fn $name(&self, channel: &str, dims: [DimVia; $s], weight: &Self, bias: Option<&Self>, options: $options<$s>) -> Result<Self> {
                let (op, at) = (Op::$op, Location::caller());
                let sliding = self.sliding(op, dims, at)?;
                let (channel, places) = self.check_convolution(op, channel, weight, bias, options.groups)?;
                let (dims, by) = (sliding.dim_positions(), &weight.local);
                let bias: Option<&DynTensor> = bias.map(|bias| &bias.local);
                let slid = sliding.$slid(&self.local, channel, by, bias, options, |x, bias, options| {
                    x.$by(channel, &dims, by, bias, options)
                })?;
                self.wrap_slid(op, slid, places, &[weight])
            }
        )*}
    };
}
convolutions! {
    1 Conv1d conv1d_with conv1d_by ConvOptions conv;
    2 Conv2d conv2d_with conv2d_by ConvOptions conv;
    3 Conv3d conv3d_with conv3d_by ConvOptions conv;
    1 ConvTranspose1d conv_transpose1d_with conv_transpose1d_by ConvTransposeOptions conv_transpose;
    2 ConvTranspose2d conv_transpose2d_with conv_transpose2d_by ConvTransposeOptions conv_transpose;
    3 ConvTranspose3d conv_transpose3d_with conv_transpose3d_by ConvTransposeOptions conv_transpose;
}

/// Like [`convolutions`], for pools.
macro_rules! pools {
    ($($s:literal $op:ident $name:ident $by:ident $options:ident $slid:ident;)*) => {
        impl DynSharded {$(
            #[doc = concat!("As [`Sharded::", stringify!($name), "`](crate::Sharded::", stringify!($name), ").")]
            ///
            /// # Errors
            /// Like the method of [`Sharded`](crate::Sharded), and if the placement does not allow it.
            #[track_caller]
            pub fn $name(&self, dims: [DimVia; $s], kernel_size: [usize; $s], options: $options<$s>) -> Result<Self> {
                let (op, at) = (Op::$op, Location::caller());
                let sliding = self.sliding(op, dims, at)?;
                let dims = sliding.dim_positions();
                let slid = sliding.$slid(&self.local, kernel_size, options, |x, options| x.$by(&dims, kernel_size, options))?;
                self.wrap_slid(op, slid, self.places.clone(), &[])
            }
        )*}
    };
}
pools! {
    1 MaxPool1d max_pool1d_with max_pool1d_by MaxPoolOptions max_pool;
    2 MaxPool2d max_pool2d_with max_pool2d_by MaxPoolOptions max_pool;
    3 MaxPool3d max_pool3d_with max_pool3d_by MaxPoolOptions max_pool;
    1 AvgPool1d avg_pool1d_with avg_pool1d_by AvgPoolOptions avg_pool;
    2 AvgPool2d avg_pool2d_with avg_pool2d_by AvgPoolOptions avg_pool;
    3 AvgPool3d avg_pool3d_with avg_pool3d_by AvgPoolOptions avg_pool;
}
