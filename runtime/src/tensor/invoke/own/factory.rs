//! Factories, conversions, copies.

use nomina_core::op::Op;
use nomina_core::{MemoryFormat, Result, Scalar};

use super::{only_in_place, pure};
use crate::tensor::factory::sizes;
use crate::tensor::generated::own::Factory;
use crate::tensor::invoke::bind::Bound;
use crate::tensor::invoke::read::{factory, names, options};
use crate::tensor::invoke::value::Value;
use crate::tensor::invoke::{Form, computed};

/// Calls `own`, which is `op` by another name.
pub(in crate::tensor) fn call(own: Factory, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match own {
        Factory::Zeros
        | Factory::Ones
        | Factory::Empty
        | Factory::Full
        | Factory::Rand
        | Factory::Randn => computed(op, form, args, |a| factory(op, a)),
        Factory::Arange => computed(op, form, args, |a| {
            let zero = Scalar::Int(0);
            let step = a.scalar("step", Scalar::Int(1))?;
            let (start, end) = (a.scalar("start", zero)?, a.scalar("end", zero)?);
            let options = options(a)?;
            match names(a)? {
                Some(names) => options.arange(start, end, step, &names[..]),
                None => options.arange(start, end, step, ()),
            }
        }),
        Factory::Eye => computed(op, form, args, |a| {
            let n = a.int("n", 0)?;
            let nm = sizes("eye", &[n, a.int("m", n)?])?;
            match names(a)? {
                Some(names) => options(a)?.eye(nm[0], nm[1], &names[..]),
                None => options(a)?.eye(nm[0], nm[1], ()),
            }
        }),
        Factory::Tensor => pure(op, form, args, crate::tensor::invoke::data::tensor),
        Factory::ZerosLike
        | Factory::OnesLike
        | Factory::EmptyLike
        | Factory::RandLike
        | Factory::RandnLike => {
            let one = i64::from(own == Factory::OnesLike);
            pure(op, form, args, |a| {
                options(a)?.like(op, a.tensor("self")?, Scalar::Int(one))
            })
        }
        Factory::FullLike => pure(op, form, args, |a| {
            let value = a.scalar("fill_value", Scalar::Int(0))?;
            options(a)?.like(op, a.tensor("self")?, value)
        }),
        Factory::To => pure(op, form, args, |a| {
            let x = a.tensor("self")?;
            let moved = x.to_device(a.device("device")?.unwrap_or(x.device()))?;
            let format = a.format()?.unwrap_or(MemoryFormat::Preserve);
            moved.to_dtype_with(a.dtype()?.unwrap_or(x.dtype()), format)
        }),
        Factory::Contiguous => pure(op, form, args, |a| {
            let format = a.format()?.unwrap_or_default();
            a.tensor("self")?.contiguous_with(format)
        }),
        Factory::Clone => pure(op, form, args, |a| {
            let format = a.format()?.unwrap_or(MemoryFormat::Preserve);
            a.tensor("self")?.clone_with(format)
        }),
        Factory::Copy => only_in_place(op, form, args, |own, a| {
            own.copy_(a.tensor("src")?).map(drop)
        }),
        Factory::Fill => only_in_place(op, form, args, |own, a| {
            own.fill_(a.operand("value")?).map(drop)
        }),
    }
}
