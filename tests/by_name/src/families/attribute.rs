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

/// Calls `op`, which is `which`.
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
        // Without gradients a tensor is a leaf that requires none.
        Attribute::Grad => value(op, form, args, |a| a.tensor("self").map(|_| Value::None)),
        Attribute::IsLeaf => flag(op, form, args, |a| a.tensor("self").map(|_| true)),
        Attribute::RequiresGrad if form == Form::InPlace => in_place(args, |own, a| {
            let wanted = a.flag("requires_grad")?;
            if wanted && own.dtype().is_integral() {
                let what = format!("a tensor of {} has no gradient", own.dtype());
                return Err(Error::new(ErrorKind::DType, "requires_grad", what)
                    .operand(own.names(), own.shape())
                    .hint("convert it to a float dtype first"));
            }
            Ok(())
        }),
        Attribute::RequiresGrad => flag(op, form, args, |a| a.tensor("self").map(|_| false)),
        Attribute::RegisterHook | Attribute::RegisterPostAccumulateGradHook => {
            let what = "the tensor requires no gradient, so no hook is ever called";
            Err(Error::new(ErrorKind::Argument, op.name(), what)
                .hint("gradients are not recorded yet"))
        }
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
