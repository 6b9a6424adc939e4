//! Random fills, samples and seeds.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::{in_place, only_in_place, pure, value};
use crate::bind::Bound;
use crate::generated::Random;
use crate::read::{count, names, optional, options, sizes};
use crate::value::Value;
use crate::{Form, computed};
use nomina_runtime::random;
use nomina_runtime::tensor::{DynTensor, MultinomialOptions, Operand, Options};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Random, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    let fill = |args: &mut Bound, write: fn(&mut DynTensor, &Bound) -> Result<()>| {
        only_in_place(op, form, args, write)
    };
    match which {
        Random::Bernoulli if form == Form::InPlace => in_place(args, |own, a| {
            let p = optional(a, "p")?.unwrap_or(Operand::Scalar(Scalar::Float(0.5)));
            own.bernoulli_(p).map(drop)
        }),
        Random::Bernoulli => computed(op, form, args, |a| {
            let x = a.tensor("self")?;
            match optional(a, "p")? {
                None => x.bernoulli(),
                Some(p) => {
                    let mut out = x.empty_like()?;
                    out.bernoulli_(p)?;
                    Ok(out)
                }
            }
        }),
        Random::Uniform => fill(args, |own, a| {
            own.uniform_(a.float("from")?, a.float("to")?).map(drop)
        }),
        Random::NormalInPlace => fill(args, |own, a| {
            own.normal_(a.float("mean")?, a.float("std")?).map(drop)
        }),
        Random::LogNormal => fill(args, |own, a| {
            own.log_normal_(a.float("mean")?, a.float("std")?).map(drop)
        }),
        Random::Exponential => fill(args, |own, a| own.exponential_(a.float("lambd")?).map(drop)),
        Random::Cauchy => fill(args, |own, a| {
            own.cauchy_(a.float("median")?, a.float("sigma")?).map(drop)
        }),
        Random::Geometric => fill(args, |own, a| own.geometric_(a.float("p")?).map(drop)),
        Random::Random => fill(args, |own, a| {
            let from = a.int("from")?;
            match a.given("to") {
                Some(_) => own.random_(from..a.int("to")?),
                None => own.random_(from..),
            }
            .map(drop)
        }),
        Random::Normal => computed(op, form, args, normal),
        Random::Poisson => pure(op, form, args, |a| a.tensor("self")?.poisson()),
        Random::Multinomial => computed(op, form, args, |a| {
            let options = MultinomialOptions {
                replacement: a.flag("replacement")?,
            };
            let samples = count(op, "num_samples", a.int("num_samples")?)?;
            a.tensor("self")?
                .multinomial_with(samples, a.dim("dim")?, options)
        }),
        Random::Randint => computed(op, form, args, |a| {
            let size = sizes(op.name(), &a.sizes("size")?)?;
            let range = a.int("low")?..a.int("high")?;
            match names(a)? {
                Some(names) => made_in(a)?.randint(range, &size, &names[..]),
                None => made_in(a)?.randint(range, &size, ()),
            }
        }),
        Random::RandintLike => pure(op, form, args, |a| {
            let range = a.int("low")?..a.int("high")?;
            a.tensor("self")?.randint_like_with(range, options(a)?)
        }),
        Random::Randperm => computed(op, form, args, |a| {
            let n = count(op, "n", a.int("n")?)?;
            match names(a)? {
                Some(names) => made_in(a)?.randperm(n, &names[..]),
                None => made_in(a)?.randperm(n, ()),
            }
        }),
        Random::ManualSeed => value(op, form, args, |a| {
            random::manual_seed(a.int("seed")? as u64);
            Ok(Value::None)
        }),
        Random::Seed => value(op, form, args, |_| Ok(Value::Int(random::seed() as i64))),
        Random::InitialSeed => value(op, form, args, |_| {
            Ok(Value::Int(random::initial_seed() as i64))
        }),
    }
}

/// Returns the options; the dtype defaults to that of an out tensor.
fn made_in(args: &Bound) -> Result<Options> {
    let options = options(args)?;
    Ok(match (&args.out, args.dtype()?) {
        (Some(Value::Tensor(out)), None) => options.dtype(out.dtype()),
        _ => options,
    })
}

fn normal(args: &Bound) -> Result<DynTensor> {
    let std = optional(args, "std")?.unwrap_or(Operand::Scalar(Scalar::Int(1)));
    if args.given("size").is_none() {
        return DynTensor::normal(args.operand("mean")?, std);
    }
    let size = sizes("normal", &args.sizes("size")?)?;
    let (mean, std) = (args.float("mean")?, args.float("std")?);
    match names(args)? {
        Some(names) => made_in(args)?.normal(mean, std, &size, &names[..]),
        None => made_in(args)?.normal(mean, std, &size, ()),
    }
}
