//! Operators that need parts of other ranks: rows of a table, what windows cover, factors that go round.

use std::panic::Location;

use nomina::{
    AttentionOptions, AvgPoolOptions, ConvOptions, DiffOptions, DynTensor, Error, ErrorKind,
    MaxPoolOptions, Name, Names, Result,
};
use nomina_core::mesh::value::{Mode, Place};
use nomina_core::op::Op;

use super::{DimVia, DynSharded};
use crate::frame::At;
use crate::parts::{Attention, Slid, Sliding, groups_apart};

fn one(name: &Name) -> Result<Names> {
    Names::new([Some(name.clone())])
}

impl DynSharded {
    /// The states, as where the parts along an axis are together.
    pub(super) fn met(&self, axis: Option<usize>) -> Vec<Place> {
        let mut places = self.places.clone();
        if let Some(axis) = axis {
            places[axis] = Place::Whole;
        }
        places
    }

    /// Joins the states of two, which go together in an operator of a mode.
    fn joined(
        &self,
        op: Op,
        mode: Mode,
        own: (&[Place], &Names),
        its: (&[Place], &Names),
    ) -> Result<Vec<Place>> {
        self.ask(op, |axis, _| {
            own.0[axis].beside(mode, &its.0[axis], own.1, its.1)
        })?;
        let both = own.0.iter().zip(its.0);
        Ok(both.map(|(own, its)| own.join(its)).collect())
    }

    /// As [`Sharded::embedding`](crate::Sharded::embedding).
    ///
    /// # Errors
    /// As there, and where the placements do not go together.
    #[track_caller]
    pub fn embedding(&self, dim: impl Into<DimVia>, ids: &Self) -> Result<Self> {
        let (op, at) = (Op::Embedding, Location::caller());
        let found = self.found(op, dim.into())?;
        self.one_mesh(op, ids)?;
        ids.ask(op, |_, place| place.finished())?;
        let met = self.met(found.axis);
        let own = (&met[..], self.names());
        let places = self.joined(op, Mode::Pointwise, own, (&ids.places, ids.names()))?;
        let local = match found.axis {
            Some(axis) => {
                let parts = self.parts(op, found.dim, axis, at);
                parts.rows(&self.local, &ids.local, &ids.places[axis])?
            }
            None => self.local.embedding(found.dim, &ids.local)?,
        };
        ids.result(op, local, places, &[self])
    }

    /// The product over a dim that is split in `other` alone.
    pub(super) fn contract_around(
        &self,
        other: &Self,
        dim: &str,
        axis: &str,
        at: At,
    ) -> Result<Self> {
        let op = Op::Contract;
        self.one_mesh(op, other)?;
        let (name, axis) = (Name::new(dim)?, self.axis(op.name(), axis)?);
        let names = one(&name)?;
        self.ask(op, |own, _| match own == axis {
            true => other.places[own].splits(&name),
            false => other.places[own].has_every(&names),
        })?;
        self.ask(op, |_, place| place.has_all(&names))?;
        let met = other.met(Some(axis));
        let own = (&self.places[..], self.names());
        let places = self.joined(op, Mode::ProductOfTwo, own, (&met, other.names()))?;
        let position = other.frame().position(op.name(), &name)?;
        let parts = other.parts(op, position, axis, at);
        let local = parts.contract(&self.local, &other.local, dim)?;
        self.result(op, local, places, &[other])
    }

    /// As [`Sharded::scaled_dot_product_attention_via`](crate::Sharded::scaled_dot_product_attention_via).
    ///
    /// # Errors
    /// As there, and where the placements do not go together.
    #[track_caller]
    pub fn scaled_dot_product_attention_via(
        &self,
        key: &Self,
        value: &Self,
        source: impl Into<DimVia>,
        options: AttentionOptions,
    ) -> Result<Self> {
        let (op, at) = (Op::ScaledDotProductAttention, Location::caller());
        self.one_mesh(op, key)?;
        self.one_mesh(op, value)?;
        let found = key.found(op, source.into())?;
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
            x.ask(op, |_, place| {
                place.finished().and_then(|()| place.has_all(&last))
            })?;
        }
        let met = key.met(found.axis);
        let own = (&self.places[..], self.names());
        let places = self.joined(op, Mode::Pointwise, own, (&met, key.names()))?;
        self.joined(op, Mode::Pointwise, own, (&met, value.names()))?;
        let first = match self.sizes.len() {
            0 | 1 => 0,
            rank => self.frame().range(rank - 2, None).0,
        };
        let attention = Attention {
            frame: key.frame(),
            op: op.name(),
            source: found.dim,
            via: found.axis,
            at,
            first,
        };
        let local = attention.of(&self.local, &key.local, &value.local, options)?;
        self.result(op, local, places, &[key, value])
    }

    fn sliding<const S: usize>(&self, op: Op, dims: [DimVia; S], at: At) -> Result<Sliding> {
        let found = dims.into_iter().map(|dim| {
            let found = self.found(op, dim)?;
            Ok((found.dim, found.axis))
        });
        Ok(Sliding {
            frame: self.frame(),
            op: op.name(),
            at,
            dims: found.collect::<Result<_>>()?,
        })
    }

    fn slid(&self, op: Op, slid: Slid, places: Vec<Place>, others: &[&Self]) -> Result<Self> {
        let mut found = self.result(op, slid.local, places, others)?;
        for (dim, size) in slid.sizes {
            found.sizes[dim] = size;
        }
        Ok(found)
    }

    /// The placement of a convolution.
    fn convolved(
        &self,
        op: Op,
        channel: &str,
        weight: &Self,
        bias: Option<&Self>,
        groups: usize,
    ) -> Result<(usize, Vec<Place>)> {
        self.one_mesh(op, weight)?;
        let name = Name::new(channel)?;
        let position = self.frame().position(op.name(), &name)?;
        let names = one(&name)?;
        self.ask(op, |_, place| {
            place.finished().and_then(|()| place.has_all(&names))
        })?;
        // Of the weight output channels may be split: the first of its dims beside the channel.
        let others = weight.names().iter();
        let mut others = others.filter(|own| own.as_ref() != Some(&name));
        let out = others.next().cloned();
        let rest = Names::new(others.cloned().chain([Some(name.clone())]))?;
        weight.ask(op, |_, place| {
            place.finished().and_then(|()| place.has_all(&rest))
        })?;
        let none = Names::default();
        let own = (&self.places[..], self.names());
        let places = self.joined(op, Mode::Pointwise, own, (&weight.places, &none))?;
        if let Some(bias) = bias {
            self.one_mesh(op, bias)?;
            if bias.places != weight.places {
                let what = "the bias is placed otherwise than the weight";
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
            return Err(groups_apart(op.name(), groups));
        }
        Ok((position, places))
    }
}

macro_rules! windows {
    ($($s:literal $conv_op:ident $conv:ident $conv_by:ident $max_op:ident $max:ident $max_by:ident $avg_op:ident $avg:ident $avg_by:ident;)*) => {
        impl DynSharded {$(
            #[doc = concat!("As [`Sharded::", stringify!($conv), "`](crate::Sharded::", stringify!($conv), ").")]
            ///
            /// # Errors
            /// As there, and where the placements do not go together.
            #[track_caller]
            pub fn $conv(&self, channel: &str, dims: [DimVia; $s], weight: &Self, bias: Option<&Self>, options: ConvOptions<$s>) -> Result<Self> {
                let (op, at) = (Op::$conv_op, Location::caller());
                let sliding = self.sliding(op, dims, at)?;
                let (channel, places) = self.convolved(op, channel, weight, bias, options.groups)?;
                let spatial = sliding.places();
                let bias: Option<&DynTensor> = bias.map(|bias| &bias.local);
                let slid = sliding.conv(&self.local, channel, &weight.local, options, |x, options| {
                    x.$conv_by(channel, &spatial, &weight.local, bias, options)
                })?;
                self.slid(op, slid, places, &[weight])
            }

            #[doc = concat!("As [`Sharded::", stringify!($max), "`](crate::Sharded::", stringify!($max), ").")]
            ///
            /// # Errors
            /// As there, and where the placement does not allow it.
            #[track_caller]
            pub fn $max(&self, dims: [DimVia; $s], kernel_size: [usize; $s], options: MaxPoolOptions<$s>) -> Result<Self> {
                let (op, at) = (Op::$max_op, Location::caller());
                let sliding = self.sliding(op, dims, at)?;
                let spatial = sliding.places();
                let slid = sliding.max_pool(&self.local, kernel_size, options, |x, options| {
                    x.$max_by(&spatial, kernel_size, options)
                })?;
                self.slid(op, slid, self.places.clone(), &[])
            }

            #[doc = concat!("As [`Sharded::", stringify!($avg), "`](crate::Sharded::", stringify!($avg), ").")]
            ///
            /// # Errors
            /// As there, and where the placement does not allow it.
            #[track_caller]
            pub fn $avg(&self, dims: [DimVia; $s], kernel_size: [usize; $s], options: AvgPoolOptions<$s>) -> Result<Self> {
                let (op, at) = (Op::$avg_op, Location::caller());
                let sliding = self.sliding(op, dims, at)?;
                let spatial = sliding.places();
                let slid = sliding.avg_pool(&self.local, kernel_size, options, |x, options| {
                    x.$avg_by(&spatial, kernel_size, options)
                })?;
                self.slid(op, slid, self.places.clone(), &[])
            }
        )*}
    };
}
windows! {
    1 Conv1d conv1d_with conv1d_by MaxPool1d max_pool1d_with max_pool1d_by AvgPool1d avg_pool1d_with avg_pool1d_by;
    2 Conv2d conv2d_with conv2d_by MaxPool2d max_pool2d_with max_pool2d_by AvgPool2d avg_pool2d_with avg_pool2d_by;
    3 Conv3d conv3d_with conv3d_by MaxPool3d max_pool3d_with max_pool3d_by AvgPool3d avg_pool3d_with avg_pool3d_by;
}

impl DynSharded {
    /// As [`Sharded::diff_with`](crate::Sharded::diff_with).
    ///
    /// # Errors
    /// As there, and where the placement does not allow it.
    #[track_caller]
    pub fn diff_with(&self, dim: impl Into<DimVia>, options: DiffOptions) -> Result<Self> {
        let (op, at) = (Op::Diff, Location::caller());
        let found = self.found(op, dim.into())?;
        let slid = match found.axis {
            Some(axis) => self
                .parts(op, found.dim, axis, at)
                .diff(&self.local, options)?,
            None => Slid {
                local: self.local.diff_with(found.dim, options)?,
                sizes: Vec::new(),
            },
        };
        self.slid(op, slid, self.places.clone(), &[])
    }
}
