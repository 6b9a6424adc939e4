//! Operators for dense tensors, called with a sparse one.

use nomina_core::op::Op;
use nomina_core::rule::DimArg;
use nomina_core::{Error, ErrorKind, Result, Scalar};
use nomina_runtime::Device;

use super::Form;
use super::bind::Bound;
use super::read::{ints, rename};
use super::value::Value;
use nomina_runtime::tensor::{
    AddOptions, AnyLayout, DynSparse, DynTensor, Order, ReduceOptions, family,
};

impl From<AnyLayout> for Value {
    fn from(x: AnyLayout) -> Self {
        match x {
            AnyLayout::Sparse(x) => Self::Sparse(x),
            AnyLayout::Dense(x) => Self::Tensor(x),
        }
    }
}

/// Returns the error for an operator, or a form, without an implementation for sparse tensors.
#[cold]
pub(super) fn lacking(op: &'static str, x: &DynSparse) -> Error {
    Error::new(ErrorKind::Layout, op, "the operand is sparse")
        .operand(x.names(), x.shape())
        .hint("call `to_dense()` first")
}

/// Calls `op` on arguments of which `x` is sparse.
pub(super) fn call(op: Op, form: Form, args: &mut Bound, x: &DynSparse) -> Result<Value> {
    match form {
        Form::Function | Form::Method => computed(op, args, x),
        Form::Out => {
            let out = args.out.take();
            // The result of dense operands is dense.
            if args.any_sparse().is_none() {
                return Err(lacking(op.name(), x));
            }
            stored(op, computed(op, args, x)?, out)
        }
        Form::InPlace if op == Op::Add && matches!(args.get("self"), Some(Value::Tensor(_))) => {
            let AnyLayout::Dense(sum) = added(op, args)? else {
                return Err(lacking(op.name(), x));
            };
            let mut own = args.take_tensor("self")?;
            own.overwrite(op, sum)?;
            Ok(Value::Tensor(own))
        }
        Form::InPlace => Err(lacking(op.name(), x)),
    }
}

/// Writes a result into an out tensor with the same layout.
fn stored(op: Op, result: Value, out: Option<Value>) -> Result<Value> {
    match (result, out) {
        (Value::Tensor(result), Some(Value::Tensor(mut out))) => {
            family::store(op, result, &mut out)?;
            Ok(Value::Tensor(out))
        }
        (Value::Sparse(result), Some(Value::Sparse(out))) => {
            result.stored(op.name(), &out).map(Value::Sparse)
        }
        (result, Some(out)) => {
            let what = format!("the result is {}, `out` is {}", result.kind(), out.kind());
            Err(Error::new(ErrorKind::Layout, op.name(), what)
                .hint("give an `out` of the result's layout"))
        }
        (result, None) => Ok(result),
    }
}

fn computed(op: Op, args: &Bound, x: &DynSparse) -> Result<Value> {
    if let Some(mapped) = args.sparse("self").ok().and_then(|x| mapped(op, x)) {
        return mapped.map(Value::Sparse);
    }
    let own = |args: &Bound| args.sparse("self").cloned();
    Ok(match op {
        Op::Add | Op::Sub => added(op, args)?.into(),
        Op::Mul => multiplied(args)?.into(),
        Op::Div if args.given("rounding_mode").is_none() => {
            let divisor = number(args, "other").ok_or_else(|| lacking(op.name(), x))?;
            own(args)?.div(divisor?)?.into()
        }
        Op::Sum => {
            let dims: DimArg<'_> = args.dims("dim", true)?;
            let options = ReduceOptions {
                keepdim: args.flag("keepdim")?,
                dtype: args.dtype()?,
            };
            own(args)?.sum_with(dims, options)?.into()
        }
        Op::Mm => product(op, args, "mat2")?.into(),
        Op::Mv => product(op, args, "vec")?.into(),
        Op::Matmul => product(op, args, "other")?.into(),
        Op::Transpose => own(args)?
            .transpose(args.dim("dim0")?, args.dim("dim1")?)?
            .into(),
        Op::T => own(args)?.t()?.into(),
        Op::Permute => own(args)?.permute(args.dims("dims", false)?)?.into(),
        Op::AlignTo => own(args)?
            .align_to(Order::new(args.order("names")?))?
            .into(),
        Op::Rename => own(args)?.rename(rename(args)?)?.into(),
        Op::RefineNames => own(args)?
            .refine_names(Order::new(args.order("names")?))?
            .into(),
        Op::Clone | Op::Detach => own(args)?.into(),
        Op::To => {
            let x = own(args)?;
            let moved = x.to_device(args.device("device")?.unwrap_or(x.device()))?;
            moved.to_dtype(args.dtype()?.unwrap_or(x.dtype()))?.into()
        }
        _ => return asked(op, &own(args).map_err(|_| lacking(op.name(), x))?, args),
    })
}

/// Calls an elementwise operator that maps zero to zero.
fn mapped(op: Op, x: &DynSparse) -> Option<Result<DynSparse>> {
    Some(match op {
        Op::Neg => x.neg(),
        Op::Abs => x.abs(),
        Op::Sgn => x.sgn(),
        Op::Sign => x.sign(),
        Op::Square => x.square(),
        Op::Sqrt => x.sqrt(),
        Op::Relu => x.relu(),
        Op::Floor => x.floor(),
        Op::Ceil => x.ceil(),
        Op::Round => x.round(),
        Op::Trunc => x.trunc(),
        Op::Frac => x.frac(),
        Op::Sin => x.sin(),
        Op::Tan => x.tan(),
        Op::Asin => x.asin(),
        Op::Atan => x.atan(),
        Op::Sinh => x.sinh(),
        Op::Tanh => x.tanh(),
        Op::Asinh => x.asinh(),
        Op::Atanh => x.atanh(),
        Op::Expm1 => x.expm1(),
        Op::Log1p => x.log1p(),
        Op::Erf => x.erf(),
        Op::Erfinv => x.erfinv(),
        Op::Deg2rad => x.deg2rad(),
        Op::Rad2deg => x.rad2deg(),
        Op::Isnan => x.isnan(),
        Op::Isinf => x.isinf(),
        _ => return None,
    })
}

/// Calls a query that also works on a sparse tensor.
fn asked(op: Op, x: &DynSparse, args: &Bound) -> Result<Value> {
    Ok(match op {
        Op::Size => match args.given("dim") {
            None => ints(x.shape()),
            Some(_) => Value::Int(x.size(args.dim("dim")?)? as i64),
        },
        Op::Shape => ints(x.shape()),
        Op::Dim => Value::Int(x.rank() as i64),
        Op::Numel => Value::Int(x.numel() as i64),
        Op::Dtype => x.dtype().into(),
        Op::Device => x.device().into(),
        Op::IsSparse => true.into(),
        Op::IsSparseCsr => false.into(),
        Op::IsCpu => x.device().is_cpu().into(),
        Op::IsCuda => matches!(x.device(), Device::Cuda(_)).into(),
        Op::IsComplex => x.dtype().is_complex().into(),
        Op::IsFloatingPoint => x.dtype().is_float().into(),
        Op::HasNames => x.has_names().into(),
        Op::Names => {
            let name = |name: &Option<nomina_core::Name>| match name {
                Some(name) => Value::from(name.as_str()),
                None => Value::None,
            };
            Value::List(x.names().iter().map(name).collect())
        }
        _ => return Err(lacking(op.name(), x)),
    })
}

/// Returns a number, or the number in a zero-dim tensor.
fn number(args: &Bound, param: &str) -> Option<Result<Scalar>> {
    match args.get(param)? {
        Value::Tensor(x) if x.rank() == 0 => Some(x.item()),
        other => other.as_scalar().map(Ok),
    }
}

/// Adds or subtracts sparse and dense tensors.
fn added(op: Op, args: &Bound) -> Result<AnyLayout> {
    let alpha = args.scalar("alpha")?;
    let options = AddOptions { alpha };
    let lacks = |x| Err(lacking(op.name(), x));
    match (args.get("self"), args.get("other")) {
        (Some(Value::Sparse(a)), Some(Value::Sparse(b))) => {
            let sum = match op {
                Op::Add => a.add_with(b, options),
                _ => a.sub_with(b, options),
            };
            sum.map(AnyLayout::Sparse)
        }
        (Some(Value::Tensor(a)), Some(Value::Sparse(b))) if op == Op::Add => {
            a.add_sparse_with(b, options).map(AnyLayout::Dense)
        }
        (Some(Value::Sparse(a)), Some(Value::Tensor(b)))
            if op == Op::Add && alpha == Scalar::Int(1) =>
        {
            a.add_dense(b).map(AnyLayout::Dense)
        }
        (Some(Value::Sparse(x)), _) | (_, Some(Value::Sparse(x))) => lacks(x),
        _ => Err(super::no_form(op, Form::Function)),
    }
}

fn multiplied(args: &Bound) -> Result<DynSparse> {
    match (args.get("self"), args.get("other")) {
        (Some(Value::Sparse(a)), Some(Value::Sparse(b))) => a.mul(b),
        (Some(Value::Sparse(a)), Some(Value::Tensor(b))) if b.rank() > 0 => a.mul(b),
        (Some(Value::Tensor(a)), Some(Value::Sparse(b))) if a.rank() > 0 => b.mul(a),
        (Some(Value::Sparse(a)), _) => match number(args, "other") {
            Some(number) => a.mul(number?),
            None => Err(lacking("mul", a)),
        },
        (_, Some(Value::Sparse(b))) => match number(args, "self") {
            Some(number) => b.mul(number?),
            None => Err(lacking("mul", b)),
        },
        _ => Err(super::no_form(Op::Mul, Form::Function)),
    }
}

/// Multiplies with a sparse operand on one side.
fn product(op: Op, args: &Bound, other: &str) -> Result<DynTensor> {
    match (args.get("self"), args.get(other)) {
        (Some(Value::Sparse(a)), Some(Value::Tensor(b))) => match op {
            Op::Mm => a.mm(b),
            Op::Mv => a.mv(b),
            _ => a.matmul(b),
        },
        (Some(Value::Tensor(a)), Some(Value::Sparse(b))) if op != Op::Mv => a.mm_sparse(b),
        (Some(Value::Sparse(x)), _) | (_, Some(Value::Sparse(x))) => Err(lacking(op.name(), x)),
        _ => Err(super::no_form(op, Form::Function)),
    }
}
