//! Attributes, conversions by name, and resizing.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, MemoryFormat, Result};
use nomina_runtime::Device;

use super::{in_place, only_in_place, pure, value};
use crate::Form;
use crate::bind::Bound;
use crate::generated::Attribute;
use crate::read::sizes;
use crate::value::Value;

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Attribute, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    let to = |args: &Bound, dtype| {
        pure(op, form, args, |a| {
            let x = a.tensor("self")?;
            x.to_dtype_with(dtype, a.format()?.unwrap_or(MemoryFormat::Preserve))
        })
    };
    match which {
        Attribute::ElementSize => int(op, form, args, |a| {
            Ok(a.tensor("self")?.element_size() as i64)
        }),
        Attribute::Nbytes => int(op, form, args, |a| Ok(a.tensor("self")?.nbytes() as i64)),
        Attribute::GetDevice => int(op, form, args, |a| Ok(a.tensor("self")?.get_device())),
        Attribute::IsComplex => flag(op, form, args, |a| Ok(a.tensor("self")?.is_complex())),
        Attribute::IsFloatingPoint => flag(op, form, args, |a| {
            Ok(a.tensor("self")?.is_floating_point())
        }),
        Attribute::IsSigned => flag(op, form, args, |a| Ok(a.tensor("self")?.is_signed())),
        Attribute::IsCuda => flag(op, form, args, |a| Ok(a.tensor("self")?.is_cuda())),
        Attribute::IsCpu => flag(op, form, args, |a| Ok(a.tensor("self")?.is_cpu())),
        Attribute::IsSparse => flag(op, form, args, |a| Ok(a.tensor("self")?.is_sparse())),
        Attribute::IsSparseCsr => flag(op, form, args, |a| Ok(a.tensor("self")?.is_sparse_csr())),
        Attribute::IsSameSize => flag(op, form, args, |a| {
            Ok(a.tensor("self")?.is_same_size(a.tensor("other")?))
        }),
        Attribute::IsNonzero => flag(op, form, args, |a| a.tensor("self")?.is_nonzero()),
        Attribute::Type => value(op, form, args, |a| {
            let x = a.tensor("self")?;
            match a.dtype()? {
                None => Ok(Value::Str(x.type_name())),
                Some(dtype) => x.to_dtype(dtype).map(Value::Tensor),
            }
        }),
        Attribute::Bool => to(args, DType::Bool),
        Attribute::Byte => to(args, DType::U8),
        Attribute::Char => to(args, DType::I8),
        Attribute::Short => to(args, DType::I16),
        Attribute::Int => to(args, DType::I32),
        Attribute::Long => to(args, DType::I64),
        Attribute::Half => to(args, DType::F16),
        Attribute::Bfloat16 => to(args, DType::BF16),
        Attribute::Float => to(args, DType::F32),
        Attribute::Double => to(args, DType::F64),
        Attribute::Cfloat => to(args, DType::C64),
        Attribute::Cdouble => to(args, DType::C128),
        Attribute::TypeAs => pure(op, form, args, |a| {
            a.tensor("self")?.type_as(a.tensor("other")?)
        }),
        Attribute::Cpu => pure(op, form, args, |a| a.tensor("self")?.cpu()),
        Attribute::Cuda => pure(op, form, args, |a| {
            let ordinal = match a.device("device")? {
                None | Some(Device::Cuda(None)) => None,
                Some(Device::Cuda(ordinal)) => ordinal,
                Some(Device::Cpu) => {
                    let what = "`cpu` is no CUDA device";
                    return Err(Error::new(ErrorKind::Device, op.name(), what).hint("use `cpu()`"));
                }
            };
            a.tensor("self")?.cuda(ordinal)
        }),
        Attribute::Detach if form == Form::InPlace => in_place(args, |own, _| {
            own.detach_();
            Ok(())
        }),
        Attribute::Detach => pure(op, form, args, |a| Ok(a.tensor("self")?.detach())),
        Attribute::Zero => only_in_place(op, form, args, |own, _| own.zero_().map(drop)),
        Attribute::Resize => only_in_place(op, form, args, |own, a| {
            let size = sizes(op.name(), &a.sizes("size")?)?;
            match a.format()? {
                None => own.resize_(&size).map(drop),
                Some(format) => own.resize_with_(&size, format).map(drop),
            }
        }),
        Attribute::ResizeAs => only_in_place(op, form, args, |own, a| {
            own.resize_as_(a.tensor("the_template")?).map(drop)
        }),
        Attribute::Grad => value(op, form, args, |a| {
            let grad = a.tensor("self")?.grad();
            Ok(grad.map_or(Value::None, Value::Tensor))
        }),
        Attribute::IsLeaf => flag(op, form, args, |a| Ok(a.tensor("self")?.is_leaf())),
        Attribute::RequiresGrad if form == Form::InPlace => in_place(args, |own, a| {
            if a.flag("requires_grad")? {
                return own.requires_grad_().map(drop);
            }
            own.detach_();
            Ok(())
        }),
        Attribute::RequiresGrad => flag(op, form, args, |a| Ok(a.tensor("self")?.requires_grad())),
        // A hook cannot be passed by name, so a hook that does nothing is registered.
        Attribute::RegisterHook => value(op, form, args, |a| {
            let hook = a.tensor("self")?.register_hook(|_| Ok(None))?;
            hook.remove();
            Ok(Value::None)
        }),
        Attribute::RegisterPostAccumulateGradHook => value(op, form, args, |a| {
            let own = a.tensor("self")?;
            own.register_post_accumulate_grad_hook(|_| Ok(()))?.remove();
            Ok(Value::None)
        }),
    }
}

fn flag(
    op: Op,
    form: Form,
    args: &Bound,
    answer: impl FnOnce(&Bound) -> Result<bool>,
) -> Result<Value> {
    value(op, form, args, |a| answer(a).map(Value::Bool))
}

fn int(
    op: Op,
    form: Form,
    args: &Bound,
    answer: impl FnOnce(&Bound) -> Result<i64>,
) -> Result<Value> {
    value(op, form, args, |a| answer(a).map(Value::Int))
}
