//! Normalisations.
//!
//! A weight is along dims of the tensor: those of its names, or, if it has none, those that the
//! operator assigns.

mod options;
mod similarity;

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, DimRef};
use nomina_core::{DType, Error, ErrorKind, Result};
use nomina_macros::forms;

use super::{DynTensor, about};
use crate::call::{self, Affine};
use crate::dispatch::accumulator;
use crate::raw::Raw;

pub use options::{
    BatchNormOptions, CosineSimilarityOptions, LayerNormOptions, LocalResponseNormOptions,
    NormalizeOptions, PairwiseDistanceOptions, RmsNormOptions,
};

/// The kind of normalisation of rows.
struct RowNorm<'a> {
    op: Op,
    /// The dims along a row.
    dims: &'a [usize],
    /// The dims of a weight without names.
    scaled: &'a [usize],
    weight: Option<&'a DynTensor>,
    bias: Option<&'a DynTensor>,
    rms: bool,
    eps: f64,
}

impl DynTensor {
    /// Normalises to mean 0 and variance 1 over dims.
    ///
    /// # Errors
    /// If a dim does not exist, or the dtype is not a float. With options, also if weight or bias
    /// do not fit.
    #[forms(
        with = "but with a weight and a bias. If they have no names, they are along `dims` in this order."
    )]
    pub fn layer_norm_with<'a>(
        &self,
        dims: impl Into<DimArg<'a>>,
        options: LayerNormOptions<'_>,
    ) -> Result<Self> {
        let dims = self.dims_of(Op::LayerNorm, &dims.into())?;
        self.standardized(&RowNorm {
            op: Op::LayerNorm,
            dims: &dims,
            scaled: &dims,
            weight: options.weight,
            bias: options.bias,
            rms: false,
            eps: options.eps,
        })
    }

    /// Normalises to mean square 1 over dims.
    ///
    /// # Errors
    /// If a dim does not exist, or the dtype is not a float. With options, also if the weight does
    /// not fit.
    #[forms(with = "but with a weight. If it has no names, it is along `dims` in this order.")]
    pub fn rms_norm_with<'a>(
        &self,
        dims: impl Into<DimArg<'a>>,
        options: RmsNormOptions<'_>,
    ) -> Result<Self> {
        let dims = self.dims_of(Op::RmsNorm, &dims.into())?;
        let step = match self.dtype() {
            DType::F64 => f64::EPSILON,
            // 16-bit floats compute in f32; like PyTorch, uses the epsilon of that dtype.
            _ => f64::from(f32::EPSILON),
        };
        self.standardized(&RowNorm {
            op: Op::RmsNorm,
            dims: &dims,
            scaled: &dims,
            weight: options.weight,
            bias: None,
            rms: true,
            eps: options.eps.unwrap_or(step),
        })
    }

    /// Like [`DynTensor::layer_norm`], but with a weight and a bias per channel; without names,
    /// they are along the second dim.
    ///
    /// # Errors
    /// If a dim does not exist, the dtype is not a float, or there is at most one element to
    /// average over. With options, also if weight or bias do not match.
    #[forms(with = "but with a weight and a bias.")]
    pub fn instance_norm_with<'a>(
        &self,
        dims: impl Into<DimArg<'a>>,
        options: LayerNormOptions<'_>,
    ) -> Result<Self> {
        let channel = 1.min(self.rank().saturating_sub(1));
        self.instance_norm_along(dims, channel, options)
    }

    /// Like [`DynTensor::instance_norm_with`], but weight and bias without names are along
    /// `channel`.
    ///
    /// # Errors
    /// Like [`DynTensor::instance_norm_with`].
    pub fn instance_norm_along<'a, 'b>(
        &self,
        dims: impl Into<DimArg<'a>>,
        channel: impl Into<DimRef<'b>>,
        options: LayerNormOptions<'_>,
    ) -> Result<Self> {
        let channel = match (options.weight, options.bias) {
            (None, None) => 0,
            _ => self.one_dim(Op::InstanceNorm, channel.into())?,
        };
        let dims = self.dims_of(Op::InstanceNorm, &dims.into())?;
        if dims.iter().map(|&dim| self.shape()[dim]).product::<usize>() == 1 && self.numel() > 0 {
            return Err(self.one_value(Op::InstanceNorm));
        }
        self.standardized(&RowNorm {
            op: Op::InstanceNorm,
            dims: &dims,
            scaled: &[channel],
            weight: options.weight,
            bias: options.bias,
            rms: false,
            eps: options.eps,
        })
    }

    /// Normalises groups of channels along `channel`, together with `dims`, to mean 0 and variance
    /// 1.
    ///
    /// # Errors
    /// If a dim does not exist, the dtype is not a float, or the groups do not divide the channels.
    /// With options, also if weight or bias do not fit.
    #[forms(with = "but with a weight and a bias per channel.")]
    pub fn group_norm_with<'a>(
        &self,
        channel: impl Into<DimRef<'a>>,
        dims: impl Into<DimArg<'a>>,
        groups: usize,
        options: LayerNormOptions<'_>,
    ) -> Result<Self> {
        let op = Op::GroupNorm;
        let at = self.one_dim(op, channel.into())?;
        let dims = self.dims_of(op, &dims.into())?;
        let channels = self.shape()[at];
        if groups == 0 || !channels.is_multiple_of(groups) {
            let what = format!("{channels} channels in {groups} groups");
            return Err(
                about(Error::new(ErrorKind::Shape, op.name(), what), &[self])
                    .at(0, at)
                    .hint("give a number of groups that divides the channels"),
            );
        }
        // Splits the channel dim into groups and channels within a group.
        let split = |shape: &[usize]| -> Vec<usize> {
            let mut sizes = shape.to_vec();
            sizes.splice(at..=at, [groups, shape[at] / groups]);
            sizes
        };
        let shifted = |dim: usize| if dim > at { dim + 1 } else { dim };
        let mut rows: Vec<usize> = vec![at + 1];
        rows.extend(
            dims.iter()
                .filter(|&&dim| dim != at)
                .map(|&dim| shifted(dim)),
        );
        let scale = |of: Option<&Self>| -> Result<Option<Raw>> {
            of.map(|of| {
                let raw = self.along(op, of, &[at])?;
                let expanded = raw.expand(self.shape())?;
                expanded.reshape(&split(self.shape()))
            })
            .transpose()
        };
        let (weight, bias) = (scale(options.weight)?, scale(options.bias)?);
        let fail = |e| about(e, &[self]);
        let x = self.raw.reshape(&split(self.shape())).map_err(fail)?;
        let affine = Affine {
            weight: weight.as_ref(),
            bias: bias.as_ref(),
        };
        let (raw, _) =
            call::normalize(op, &x, &rows, (false, options.eps), affine, false).map_err(fail)?;
        Ok(Self::new(raw.reshape(self.shape())?, self.names.clone()))
    }

    /// Normalises each index of a dim to mean 0 and variance 1 over all other dims.
    ///
    /// # Errors
    /// If the dim does not exist, the dtype is not a float, or there is at most one element per
    /// channel. With options, also if weight or bias do not match.
    #[forms(with = "but with a weight and a bias.")]
    pub fn batch_norm_with<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        options: BatchNormOptions<'_>,
    ) -> Result<Self> {
        let at = self.one_dim(Op::BatchNorm, dim.into())?;
        self.batch_statistics(at, options).map(|(result, _)| result)
    }

    /// Like [`DynTensor::batch_norm_with`], but also updates running statistics, for training.
    ///
    /// # Errors
    /// Returns the errors of [`DynTensor::batch_norm_with`], and an error if a channel has no
    /// element or the running statistics do not fit. The running statistics are unchanged after an
    /// error.
    pub fn batch_norm_train<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        running_mean: &mut Self,
        running_var: &mut Self,
        options: BatchNormOptions<'_>,
    ) -> Result<Self> {
        let op = Op::BatchNorm;
        let at = self.one_dim(op, dim.into())?;
        self.along(op, running_mean, &[at])?;
        self.along(op, running_var, &[at])?;
        if self.numel() == 0 && self.shape()[at] > 0 {
            let what = "an empty channel has no statistics";
            return Err(
                about(Error::new(ErrorKind::Shape, op.name(), what), &[self])
                    .hint("skip empty batches, or use `batch_norm_eval`"),
            );
        }
        let (result, stats) = self.batch_statistics(at, options)?;
        let count = (self.numel() / self.shape()[at].max(1)) as f64;
        // The running variance is the unbiased one.
        let factors = [1.0, count / (count - 1.0)];
        let updated = |column: usize, running: &Self| {
            // The second column is the deviation, the square root of the variance.
            let found = Self::unnamed(stats.select(1, column)?);
            let found = if column == 1 { found.square()? } else { found };
            let kept = running.mul(1.0 - options.momentum)?;
            let found = found
                .mul(options.momentum * factors[column])?
                .to_dtype(running.dtype())?;
            let names = running.names.clone();
            Ok::<_, Error>(Self::new(call_add(&kept, &found)?, names))
        };
        let (mean, var) = (updated(0, running_mean)?, updated(1, running_var)?);
        (*running_mean, *running_var) = (mean, var);
        Ok(result)
    }

    /// Subtracts a mean and divides by the square root of a variance, given for each index of a
    /// dim: batch norm for inference.
    ///
    /// # Errors
    /// If the dim does not exist, the dtype is not a float, or statistics, weight or bias do not
    /// fit.
    pub fn batch_norm_eval<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        mean: &Self,
        var: &Self,
        options: BatchNormOptions<'_>,
    ) -> Result<Self> {
        let op = Op::BatchNorm;
        let at = self.one_dim(op, dim.into())?;
        let fail = |e: Error| about(e.in_op(op.name()), &[self]);
        op.row().check_dtype(self.dtype()).map_err(fail)?;
        // The numbers per channel are computed in a wide dtype.
        let wide = if self.dtype() == DType::F64 {
            DType::F64
        } else {
            DType::F32
        };
        let one = |of: &Self| -> Result<Self> {
            let raw = self.along(op, of, &[at])?;
            Ok(Self::unnamed(call::to_dtype(&raw, wide)?))
        };
        let mut factor = one(var)?.add(options.eps)?.rsqrt()?;
        if let Some(weight) = options.weight {
            factor = factor.mul(&one(weight)?)?;
        }
        let mut shift = one(mean)?.mul(&factor)?.neg()?;
        if let Some(bias) = options.bias {
            shift = shift.add(&one(bias)?)?;
        }
        let operands = [
            (&shift.raw).into(),
            (&self.raw).into(),
            (&factor.raw).into(),
        ];
        let out = call::pointwise_as(Op::Addcmul, &operands, self.dtype()).map_err(fail)?;
        Ok(Self::new(out, self.names.clone()))
    }

    fn batch_statistics(&self, at: usize, options: BatchNormOptions<'_>) -> Result<(Self, Raw)> {
        let op = Op::BatchNorm;
        let others: Vec<usize> = (0..self.rank()).filter(|&dim| dim != at).collect();
        if self.numel() > 0 && self.numel() == self.shape()[at] {
            return Err(self.one_value(op));
        }
        let plan = RowNorm {
            op,
            dims: &others,
            scaled: &[at],
            weight: options.weight,
            bias: options.bias,
            rms: false,
            eps: options.eps,
        };
        let (raw, stats) = self.rows(&plan, true)?;
        let stats = match stats {
            Some(stats) => stats,
            None => Raw::zeros(op.name(), &[0, 2], DType::F64, self.device())?,
        };
        Ok((Self::new(raw, self.names.clone()), stats))
    }

    fn standardized(&self, plan: &RowNorm<'_>) -> Result<Self> {
        let (raw, _) = self.rows(plan, false)?;
        Ok(Self::new(raw, self.names.clone()))
    }

    fn rows(&self, plan: &RowNorm<'_>, stats: bool) -> Result<(Raw, Option<Raw>)> {
        let scale = |of: Option<&Self>| {
            of.map(|of| self.along(plan.op, of, plan.scaled))
                .transpose()
        };
        let (weight, bias) = (scale(plan.weight)?, scale(plan.bias)?);
        let affine = Affine {
            weight: weight.as_ref(),
            bias: bias.as_ref(),
        };
        let how = (plan.rms, plan.eps);
        call::normalize(plan.op, &self.raw, plan.dims, how, affine, stats)
            .map_err(|e| about(e, &[self]))
    }

    /// Returns the elements of `of` in the order of dims of self, with size 1 for missing dims: by
    /// its names, or along `dims` if it has no names.
    fn along(&self, op: Op, of: &Self, dims: &[usize]) -> Result<Raw> {
        let fail = |e| about(e, &[self, of]);
        let places: Vec<usize> = if of.rank() > 0 && of.names.iter().any(Option::is_some) {
            of.names
                .iter()
                .map(|name| DimRef::from(name).position(op.name(), &self.names))
                .collect::<Result<_>>()
                .map_err(fail)?
        } else if of.rank() == dims.len() {
            dims.to_vec()
        } else {
            let what = format!("the weight has {} dims for {}", of.rank(), dims.len());
            return Err(fail(
                Error::new(ErrorKind::Shape, op.name(), what)
                    .hint("use the dims that are normalised"),
            ));
        };
        let fits =
            |(&place, &size): (&usize, &usize)| place < self.rank() && self.shape()[place] == size;
        if !places.iter().zip(of.shape()).all(fits) {
            let mut both = places.iter().zip(of.shape()).enumerate();
            let apart = both.find(|(_, dim)| !fits(*dim));
            let error = match apart.filter(|(_, (place, _))| **place < self.rank()) {
                Some((i, (place, _))) => {
                    let shapes = [self.shape(), of.shape()];
                    Error::sizes(op.name(), shapes, [(0, *place), (1, i)])
                }
                None => {
                    let what = format!("a weight of sizes {:?} does not fit", of.shape());
                    Error::new(ErrorKind::Shape, op.name(), what)
                }
            };
            return Err(fail(error.hint("use the sizes of the normalised dims")));
        }
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&i| places[i]);
        let mut raw = of.raw.permute(&order).map_err(fail)?;
        for dim in (0..self.rank()).filter(|dim| !places.contains(dim)) {
            raw = raw.unsqueeze(dim).map_err(fail)?;
        }
        Ok(raw)
    }

    fn dims_of(&self, op: Op, dims: &DimArg<'_>) -> Result<rule::Positions> {
        let found = dims.positions(op.name(), &self.names);
        found.map_err(|e| about(e, &[self]))
    }

    /// Returns the position of a dim of a tensor that has dims.
    fn one_dim(&self, op: Op, dim: DimRef<'_>) -> Result<usize> {
        dim.position(op.name(), &self.names)
            .map_err(|e| about(e, &[self]))
    }

    /// Wraps a tensor without names.
    fn unnamed(raw: Raw) -> Self {
        let names = nomina_core::Names::unnamed(raw.rank());
        Self::new(raw, names)
    }

    #[cold]
    fn one_value(&self, op: Op) -> Error {
        let what = "one element has no variance";
        about(Error::new(ErrorKind::Shape, op.name(), what), &[self])
            .hint("normalise over more than one element")
    }
}

/// Adds two tensors of the same sizes, in the dtype of the first.
fn call_add(kept: &DynTensor, found: &DynTensor) -> Result<Raw> {
    call::pointwise(Op::Add, &[(&kept.raw).into(), (&found.raw).into()])
}

impl DynTensor {
    /// Divides by a power of the scaled mean square of `size` neighbours along a dim.
    ///
    /// # Errors
    /// If the dim does not exist, the dtype is not a float, or `size` is zero.
    #[forms(with = "but with the given numbers.")]
    pub fn local_response_norm_with<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        size: usize,
        options: LocalResponseNormOptions,
    ) -> Result<Self> {
        let op = Op::LocalResponseNorm;
        let at = self.one_dim(op, dim.into())?;
        op.row()
            .check_dtype(self.dtype())
            .map_err(|e| about(e, &[self]))?;
        if size == 0 {
            let what = "no neighbours";
            return Err(
                about(Error::new(ErrorKind::Argument, op.name(), what), &[self])
                    .hint("give a size of one or more"),
            );
        }
        if self.numel() == 0 {
            return Ok(self.clone());
        }
        // Adds the squares of each neighbour where both exist: `size` passes over the squares.
        let squares = self.to_dtype(accumulator(self.dtype()))?.square()?;
        let n = self.shape()[at];
        let mut total = squares.mul(0)?;
        let (before, after) = (size / 2, (size - 1) / 2);
        for shift in -(before.min(n - 1) as isize)..=(after.min(n - 1) as isize) {
            let len = n - shift.unsigned_abs();
            let (from, to) = (shift.max(0) as usize, (-shift).max(0) as usize);
            let part = squares.raw.narrow(at, from, len)?;
            let into = total.raw.as_mut()?.narrow(at, to, len)?;
            call::pointwise_in_place(Op::Add, into, &[(&part).into()])?;
        }
        let scale = total
            .mul(options.alpha / size as f64)?
            .add(options.k)?
            .pow(options.beta)?;
        let both = [(&self.raw).into(), (&scale.raw).into()];
        let raw = call::pointwise_as(Op::Div, &both, self.dtype());
        let raw = raw.map_err(|e| about(e.in_op(op.name()), &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }
}
