//! Normalisations.

use nomina_core::op::Op;
use nomina_core::rule::DimArg;
use nomina_core::{Error, ErrorKind, Result};

use super::parametric::number;
use super::{pure, value};
use crate::bind::Bound;
use crate::generated::Norm;
use crate::value::{Value, wrong};
use crate::{Form, computed};
use nomina_runtime::tensor::{
    BatchNormOptions, CosineSimilarityOptions, DynTensor, LayerNormOptions,
    LocalResponseNormOptions, NormalizeOptions, PairwiseDistanceOptions, RmsNormOptions,
};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Norm, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Norm::LayerNorm => pure(op, form, args, |a| {
            let x = a.tensor("self")?;
            x.layer_norm_with(normalized(op, a, x)?, layer(a)?)
        }),
        Norm::RmsNorm => pure(op, form, args, |a| {
            let x = a.tensor("self")?;
            let options = RmsNormOptions {
                weight: optional(a, "weight")?,
                eps: number(a, "eps")?,
            };
            x.rms_norm_with(normalized(op, a, x)?, options)
        }),
        Norm::BatchNorm => value(op, form, args, batch_norm),
        Norm::GroupNorm => pure(op, form, args, |a| {
            let x = a.tensor("self")?;
            let groups = usize::try_from(a.int("num_groups")?).unwrap_or(0);
            let dims = match a.given("dim") {
                Some(_) => a.dims("dim", true)?,
                None => DimArg::list((1..x.rank()).collect::<Vec<_>>()),
            };
            x.group_norm_with(a.dim("channel")?, dims, groups, layer(a)?)
        }),
        Norm::InstanceNorm => pure(op, form, args, instance_norm),
        Norm::LocalResponseNorm => pure(op, form, args, |a| {
            let options = LocalResponseNormOptions {
                alpha: a.float("alpha")?,
                beta: a.float("beta")?,
                k: a.float("k")?,
            };
            let size = usize::try_from(a.int("size")?).unwrap_or(0);
            a.tensor("self")?
                .local_response_norm_with(a.dim("dim")?, size, options)
        }),
        Norm::Normalize => computed(op, form, args, |a| {
            let options = NormalizeOptions {
                p: a.float("p")?,
                eps: a.float("eps")?,
            };
            let dims = match a.given("dim") {
                Some(_) => a.dims("dim", true)?,
                None => DimArg::from_dim(1_usize),
            };
            a.tensor("self")?.normalize_with(dims, options)
        }),
        Norm::CosineSimilarity => pure(op, form, args, |a| {
            let options = CosineSimilarityOptions {
                eps: a.float("eps")?,
            };
            a.tensor("x1")?
                .cosine_similarity_with(a.tensor("x2")?, a.dim("dim")?, options)
        }),
        Norm::PairwiseDistance => pure(op, form, args, |a| {
            let options = PairwiseDistanceOptions {
                p: a.float("p")?,
                eps: a.float("eps")?,
            };
            let dim = DimArg::from_dim(a.dim("dim")?).with_keepdim(a.flag("keepdim")?);
            a.tensor("x1")?
                .pairwise_distance_with(a.tensor("x2")?, dim, options)
        }),
    }
}

fn optional<'a>(args: &'a Bound, param: &str) -> Result<Option<&'a DynTensor>> {
    args.given(param).map(|_| args.tensor(param)).transpose()
}

fn layer(a: &Bound) -> Result<LayerNormOptions<'_>> {
    Ok(LayerNormOptions {
        weight: optional(a, "weight")?,
        bias: optional(a, "bias")?,
        eps: a.float("eps")?,
    })
}

/// Returns dims by name, or the last dims, given by their sizes.
fn normalized<'a>(op: Op, a: &'a Bound, x: &DynTensor) -> Result<DimArg<'a>> {
    let given = a.get("normalized_shape").unwrap_or(&Value::None);
    let sizes = match given {
        Value::List(items) if items.iter().any(|item| !matches!(item, Value::Int(_))) => {
            return a.dims("normalized_shape", false);
        }
        Value::List(_) | Value::Int(_) => given
            .as_sizes()
            .ok_or_else(|| wrong(op.name(), "normalized_shape", "dims", given))?,
        _ => return a.dims("normalized_shape", false),
    };
    let first = x.rank().checked_sub(sizes.len());
    let fits = first.is_some_and(|first| {
        let own = x.shape()[first..].iter().map(|&size| size as i64);
        !sizes.is_empty() && own.eq(sizes.iter().copied())
    });
    if !fits {
        let what = format!("the last sizes are not {sizes:?}");
        return Err(Error::new(ErrorKind::Shape, op.name(), what)
            .operand(x.names(), x.shape())
            .hint("give the sizes of the last dims, or dims by name"));
    }
    Ok(DimArg::list(
        (first.unwrap_or(0)..x.rank()).collect::<Vec<_>>(),
    ))
}

fn batch_norm(a: &Bound) -> Result<Value> {
    let (x, dim) = (a.tensor("self")?, a.dim("dim")?);
    let options = BatchNormOptions {
        weight: optional(a, "weight")?,
        bias: optional(a, "bias")?,
        momentum: a.float("momentum")?,
        eps: a.float("eps")?,
    };
    let running = (optional(a, "running_mean")?, optional(a, "running_var")?);
    let result = match (a.flag("training")?, running) {
        (false, (Some(mean), Some(var))) => x.batch_norm_eval(dim, mean, var, options),
        (false, _) => {
            let what = "there are no running statistics";
            return Err(Error::new(ErrorKind::Argument, "batch_norm", what)
                .hint("give them, or `training=True`"));
        }
        (true, (Some(mean), Some(var))) => {
            // Buffers are copied on write, so the caller's statistics do not change.
            x.batch_norm_train(dim, &mut mean.clone(), &mut var.clone(), options)
        }
        (true, _) => x.batch_norm_with(dim, options),
    };
    result.map(Value::Tensor)
}

fn instance_norm(a: &Bound) -> Result<DynTensor> {
    let x = a.tensor("self")?;
    if !a.flag("use_input_stats")? {
        let (mean, var) = (a.tensor("running_mean")?, a.tensor("running_var")?);
        let options = BatchNormOptions {
            weight: optional(a, "weight")?,
            bias: optional(a, "bias")?,
            eps: a.float("eps")?,
            ..BatchNormOptions::default()
        };
        let error = |e: Error| e.in_op("instance_norm");
        return x
            .batch_norm_eval(1_usize, mean, var, options)
            .map_err(error);
    }
    let dims = match a.given("dim") {
        Some(_) => a.dims("dim", true)?,
        None => DimArg::list((2..x.rank()).collect::<Vec<_>>()),
    };
    x.instance_norm_with(dims, layer(a)?)
}
