//! Operators with arguments or rules of their own.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::bind::Bound;
use super::read::{factory, flatten, ints, names, optional, options, rename, unflatten};
use super::value::{Value, wrong};
use super::{Form, computed, no_form};
use crate::tensor::factory::sizes;
use crate::tensor::generated::Own;
use crate::tensor::{AddOptions, AddmmOptions, DynTensor, Order, SplitSizes, product};

/// Calls `own`, which is `op` by another name: one arm per operator, none left over.
pub(super) fn call(own: Own, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match own {
        Own::Add | Own::Sub => scaled(op, form, args),
        Own::Clamp => computed(op, form, args, |a| {
            a.tensor("self")?
                .clamp(optional(a, "min")?, optional(a, "max")?)
        }),
        Own::Addcmul => computed(op, form, args, |a| {
            let value = a.scalar("value", Scalar::Int(1))?;
            a.tensor("self")?
                .addcmul(a.tensor("tensor1")?, a.operand("tensor2")?, value)
        }),
        Own::Where => computed(op, form, args, |a| {
            a.tensor("condition")?
                .where_cond(a.operand("self")?, a.operand("other")?)
        }),
        Own::MaskedFill if form == Form::InPlace => in_place(args, |own, a| {
            own.masked_fill_(a.tensor("mask")?, a.operand("value")?)
                .map(drop)
        }),
        Own::MaskedFill => computed(op, form, args, |a| {
            a.tensor("self")?
                .masked_fill(a.tensor("mask")?, a.operand("value")?)
        }),
        Own::Var | Own::Std => computed(op, form, args, |a| {
            let correction = a.scalar("correction", Scalar::Int(1))?.to_f64();
            let dims = a.dims("dim", true)?.with_keepdim(a.flag("keepdim")?);
            let options = crate::call::ReduceOptions {
                correction,
                ..Default::default()
            };
            crate::tensor::family::reduce(op, a.tensor("self")?, &dims, options)
        }),
        Own::Max | Own::Min => extremum(op, form, args),
        Own::Argmax | Own::Argmin => computed(op, form, args, |a| {
            let dims = a.dims("dim", true)?.with_keepdim(a.flag("keepdim")?);
            a.tensor("self")?.arg_position(op, &dims)
        }),
        Own::Mm | Own::Bmm => two(op, form, args, "mat2"),
        Own::Mv => two(op, form, args, "vec"),
        Own::Dot => two(op, form, args, "tensor"),
        Own::Matmul => two(op, form, args, "other"),
        Own::Addmm => computed(op, form, args, |a| {
            let one = Scalar::Int(1);
            let options = AddmmOptions {
                beta: a.scalar("beta", one)?,
                alpha: a.scalar("alpha", one)?,
            };
            a.tensor("self")?
                .addmm_with(a.tensor("mat1")?, a.tensor("mat2")?, options)
        }),
        Own::Contract => pure(op, form, args, |a| {
            a.tensor("self")?
                .contract(a.tensor("other")?, a.dims("dim", false)?)
        }),
        Own::Transpose => pure(op, form, args, |a| {
            a.tensor("self")?.transpose(a.dim("dim0")?, a.dim("dim1")?)
        }),
        Own::T => pure(op, form, args, |a| a.tensor("self")?.t()),
        Own::Permute => pure(op, form, args, |a| {
            a.tensor("self")?.permute(a.dims("dims", false)?)
        }),
        Own::AlignTo => pure(op, form, args, |a| {
            a.tensor("self")?.align_to(Order::new(a.order("names")?))
        }),
        Own::AlignAs => pure(op, form, args, |a| {
            a.tensor("self")?.align_as(a.tensor("other")?)
        }),
        Own::Flatten => pure(op, form, args, flatten),
        Own::Unflatten => pure(op, form, args, unflatten),
        Own::Squeeze => pure(op, form, args, |a| {
            a.tensor("self")?.squeeze(a.dims("dim", false)?)
        }),
        Own::Unsqueeze => pure(op, form, args, |a| {
            a.tensor("self")?.unsqueeze(a.int("dim", 0)?, None)
        }),
        Own::Expand => pure(op, form, args, |a| {
            a.tensor("self")?.expand(&a.sizes("size")?)
        }),
        Own::Select => pure(op, form, args, |a| {
            a.tensor("self")?.select(a.dim("dim")?, a.int("index", 0)?)
        }),
        Own::Narrow => pure(op, form, args, |a| {
            let length = sizes(op.name(), &[a.int("length", 0)?])?[0];
            a.tensor("self")?
                .narrow(a.dim("dim")?, a.int("start", 0)?, length)
        }),
        Own::Unbind => value(op, form, args, |a| {
            Ok(a.tensor("self")?.unbind(a.dim("dim")?)?.into())
        }),
        Own::Split => value(op, form, args, |a| {
            let given = a.sizes("split_size")?;
            let each = matches!(a.get("split_size"), Some(Value::Int(_)));
            let sizes = if each {
                SplitSizes::Each(given[0])
            } else {
                given.into()
            };
            Ok(a.tensor("self")?.split(sizes, a.dim("dim")?)?.into())
        }),
        Own::Rename if form == Form::InPlace => {
            in_place(args, |own, a| own.rename_(rename(a)?).map(drop))
        }
        Own::Rename => pure(op, form, args, |a| a.tensor("self")?.rename(rename(a)?)),
        Own::RefineNames => pure(op, form, args, |a| {
            a.tensor("self")?
                .refine_names(Order::new(a.order("names")?))
        }),
        Own::Cat => computed(op, form, args, |a| {
            DynTensor::cat(&a.tensors("tensors")?, a.dim("dim")?)
        }),
        Own::Stack => computed(op, form, args, |a| {
            DynTensor::stack(&a.tensors("tensors")?, a.int("dim", 0)?, None)
        }),
        Own::MaskedSelect => computed(op, form, args, |a| {
            a.tensor("self")?.masked_select(a.tensor("mask")?)
        }),
        Own::Zeros | Own::Ones | Own::Empty | Own::Full | Own::Rand | Own::Randn => {
            computed(op, form, args, |a| factory(op, a))
        }
        Own::Arange => computed(op, form, args, |a| {
            let zero = Scalar::Int(0);
            let step = a.scalar("step", Scalar::Int(1))?;
            let (start, end) = (a.scalar("start", zero)?, a.scalar("end", zero)?);
            let options = options(a)?;
            match names(a)? {
                Some(names) => options.arange(start, end, step, &names[..]),
                None => options.arange(start, end, step, ()),
            }
        }),
        Own::Eye => computed(op, form, args, |a| {
            let n = a.int("n", 0)?;
            let nm = sizes("eye", &[n, a.int("m", n)?])?;
            match names(a)? {
                Some(names) => options(a)?.eye(nm[0], nm[1], &names[..]),
                None => options(a)?.eye(nm[0], nm[1], ()),
            }
        }),
        Own::Tensor => pure(op, form, args, super::data::tensor),
        Own::ZerosLike | Own::OnesLike | Own::EmptyLike | Own::RandLike | Own::RandnLike => {
            let one = i64::from(own == Own::OnesLike);
            pure(op, form, args, |a| {
                options(a)?.like(op, a.tensor("self")?, Scalar::Int(one))
            })
        }
        Own::FullLike => pure(op, form, args, |a| {
            let value = a.scalar("fill_value", Scalar::Int(0))?;
            options(a)?.like(op, a.tensor("self")?, value)
        }),
        Own::To => pure(op, form, args, |a| {
            let x = a.tensor("self")?;
            let moved = x.to_device(a.device()?.unwrap_or(x.device()))?;
            moved.to_dtype(a.dtype()?.unwrap_or(x.dtype()))
        }),
        Own::Contiguous => pure(op, form, args, |a| a.tensor("self")?.contiguous()),
        Own::Clone => pure(op, form, args, |a| Ok(a.tensor("self")?.clone())),
        Own::Copy => only_in_place(op, form, args, |own, a| {
            own.copy_(a.tensor("src")?).map(drop)
        }),
        Own::Fill => only_in_place(op, form, args, |own, a| {
            own.fill_(a.operand("value")?).map(drop)
        }),
        Own::Size => value(op, form, args, |a| {
            let x = a.tensor("self")?;
            match a.given("dim") {
                None => Ok(ints(x.shape())),
                Some(_) => Ok(Value::Int(x.size(a.dim("dim")?)? as i64)),
            }
        }),
        Own::Stride => value(op, form, args, |a| {
            let x = a.tensor("self")?;
            match a.given("dim") {
                None => Ok(Value::List(
                    x.strides().iter().map(|&s| Value::Int(s as i64)).collect(),
                )),
                Some(_) => Ok(Value::Int(x.stride(a.dim("dim")?)? as i64)),
            }
        }),
        Own::Names => value(op, form, args, |a| {
            let name = |name: &Option<nomina_core::Name>| match name {
                Some(name) => Value::from(name.as_str()),
                None => Value::None,
            };
            Ok(Value::List(
                a.tensor("self")?.names().iter().map(name).collect(),
            ))
        }),
        Own::HasNames => value(op, form, args, |a| Ok(a.tensor("self")?.has_names().into())),
        Own::Item => value(op, form, args, |a| Ok(a.tensor("self")?.item()?.into())),
        Own::Shape => value(op, form, args, |a| Ok(ints(a.tensor("self")?.shape()))),
        Own::Dim => value(op, form, args, |a| {
            Ok(Value::Int(a.tensor("self")?.rank() as i64))
        }),
        Own::Numel => value(op, form, args, |a| {
            Ok(Value::Int(a.tensor("self")?.numel() as i64))
        }),
        Own::Dtype => value(op, form, args, |a| Ok(a.tensor("self")?.dtype().into())),
        Own::Device => value(op, form, args, |a| Ok(a.tensor("self")?.device().into())),
        Own::StorageOffset => value(op, form, args, |a| {
            Ok(Value::Int(a.tensor("self")?.storage_offset() as i64))
        }),
        Own::IsContiguous => value(op, form, args, |a| {
            Ok(a.tensor("self")?.is_contiguous().into())
        }),
        Own::Equal => value(op, form, args, |a| {
            Ok(a.tensor("self")?.equal(a.tensor("other")?)?.into())
        }),
    }
}

fn value(
    op: Op,
    form: Form,
    args: &Bound,
    answer: impl FnOnce(&Bound) -> Result<Value>,
) -> Result<Value> {
    match form {
        Form::Function | Form::Method => answer(args),
        Form::InPlace | Form::Out => Err(no_form(op, form)),
    }
}

fn pure(
    op: Op,
    form: Form,
    args: &Bound,
    compute: impl FnOnce(&Bound) -> Result<DynTensor>,
) -> Result<Value> {
    value(op, form, args, |a| compute(a).map(Value::Tensor))
}

fn in_place(
    args: &mut Bound,
    write: impl FnOnce(&mut DynTensor, &Bound) -> Result<()>,
) -> Result<Value> {
    let mut own = args.take_tensor("self")?;
    write(&mut own, args)?;
    Ok(Value::Tensor(own))
}

fn only_in_place(
    op: Op,
    form: Form,
    args: &mut Bound,
    write: impl FnOnce(&mut DynTensor, &Bound) -> Result<()>,
) -> Result<Value> {
    if form == Form::InPlace {
        in_place(args, write)
    } else {
        Err(no_form(op, form))
    }
}

fn scaled(op: Op, form: Form, args: &mut Bound) -> Result<Value> {
    let alpha = args.scalar("alpha", Scalar::Int(1))?;
    let options = AddOptions { alpha };
    let number = !matches!(args.get("self"), Some(Value::Tensor(_)));
    if number && alpha == Scalar::Int(1) && form == Form::Function {
        return super::pointwise(op, form, args.clone());
    }
    match form {
        Form::Function | Form::Method => {
            let (x, other) = (args.tensor("self")?, args.operand("other")?);
            let sum = if op == Op::Add {
                x.add_with(other, options)
            } else {
                x.sub_with(other, options)
            };
            sum.map(Value::Tensor)
        }
        Form::InPlace => in_place(args, |own, a| {
            let other = a.operand("other")?;
            let done = if op == Op::Add {
                own.add_with_(other, options)
            } else {
                own.sub_with_(other, options)
            };
            done.map(drop)
        }),
        Form::Out => {
            let mut out = args.take_out()?;
            let (x, other) = (args.tensor("self")?, args.operand("other")?);
            if op == Op::Add {
                x.add_with_out(other, options, &mut out)?;
            } else {
                x.sub_with_out(other, options, &mut out)?;
            }
            Ok(Value::Tensor(out))
        }
    }
}

fn two(op: Op, form: Form, args: &mut Bound, other: &str) -> Result<Value> {
    computed(op, form, args, |a| {
        product::product(op, a.tensor("self")?, a.tensor(other)?)
    })
}

fn extremum(op: Op, form: Form, args: &mut Bound) -> Result<Value> {
    let keepdim = args.flag("keepdim")?;
    if args.get("dim").is_none() {
        return computed(op, form, args, |a| {
            let options = crate::call::ReduceOptions::default();
            crate::tensor::family::reduce(op, a.tensor("self")?, &(..).into(), options)
        });
    }
    let out = args.out.take();
    let dim = args.dims("dim", false)?.with_keepdim(keepdim);
    let x = args.tensor("self")?;
    match (form, out) {
        (Form::Function | Form::Method, _) => Ok(x.arg_reduce(op, &dim)?.into()),
        (Form::Out, Some(Value::List(mut outs))) => match (outs.pop(), outs.pop(), outs.pop()) {
            (Some(Value::Tensor(mut indices)), Some(Value::Tensor(mut values)), None) => {
                x.arg_reduce_out(op, &dim, &mut values, &mut indices)?;
                Ok((values, indices).into())
            }
            _ => Err(wrong(op.name(), "out", "two tensors", &Value::List(outs))),
        },
        (_, Some(other)) => Err(wrong(op.name(), "out", "two tensors", &other)),
        (_, None) => Err(no_form(op, form)),
    }
}
