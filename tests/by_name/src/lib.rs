//! Calls every operator of `nomina-runtime` by its name in PyTorch, with positional and keyword arguments. Recorded
//! calls are compared through this crate.

mod adapt;
mod bind;
mod data;
mod families;
mod generated;
mod read;
mod sparse;
mod spelling;
mod value;

use nomina_core::op::{Op, Param, ParamKind, Status};
use nomina_core::{Error, ErrorKind, Result};
use smallvec::SmallVec;

use generated::{Family, Route, route};
use nomina_runtime::call;
use nomina_runtime::tensor::{DynTensor, Operand, family};

pub use bind::Bound;
pub use spelling::{Form, parse};
pub use value::Value;

/// Calls an operator as PyTorch spells it, with arguments by position and by keyword.
///
/// ```
/// use nomina_runtime::DynTensor;
/// use nomina_by_name::{Value, call};
/// let x = DynTensor::ones(&[2, 3], ["N", "C"])?;
/// let total = call("torch.sum", vec![x.into(), "N".into()], vec![])?;
/// let Value::Tensor(total) = total else { panic!("a tensor") };
/// assert_eq!(total.names().to_string(), "(C,)");
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Argument`] if no operator has this spelling or the arguments do not fit it, and any error of the
/// operator.
pub fn call(spelling: &str, args: Vec<Value>, kwargs: Vec<(String, Value)>) -> Result<Value> {
    let Some((op, form)) = parse(spelling) else {
        let what = format!("no operator is spelled {spelling:?}");
        return Err(Error::new(ErrorKind::Argument, "call", what)
            .hint("spell it as PyTorch does, as in `torch.Tensor.add_`"));
    };
    let args = adapt_method(op, form, spelling, args);
    let bound = Bound::new(op, args, kwargs)?;
    let form = if bound.out.is_some() { Form::Out } else { form };
    invoke(op, form, bound)
}

/// Reorders arguments of methods whose `self` is not the row's first parameter: `x.where(condition, y)`,
/// `x.polygamma(n)`, `x.__rsub__(2)`.
fn adapt_method(op: Op, form: Form, spelling: &str, mut args: Vec<Value>) -> Vec<Value> {
    let name = spelling.rsplit('.').next().unwrap_or(spelling);
    if args.len() > 1 && matches!(spelling::operator(name), Some((_, spelling::Side::Right))) {
        args.swap(0, 1);
    }
    if op == Op::Polygamma && form != Form::Function && args.len() > 1 {
        args.swap(0, 1);
    }
    if op == Op::Where
        && form == Form::Method
        && !spelling.ends_with("where_cond")
        && args.len() > 1
    {
        args.swap(0, 1);
    }
    args
}

/// Calls an operator with bound arguments. In place, the result is the updated `self`; with an out tensor, the updated
/// out tensor.
///
/// # Errors
/// Any error of the operator; [`ErrorKind::Argument`] if it lacks the form or an argument has the wrong kind.
pub fn invoke(op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let takes_sparse = matches!(route(op), Route::Family(Family::Sparse(_)));
    if !takes_sparse && let Some(x) = args.any_sparse() {
        return sparse::call(op, form, &mut args, &x);
    }
    match route(op) {
        Route::Pointwise => pointwise(op, form, args),
        Route::Reduce => {
            let options = call::ReduceOptions {
                dtype: args.dtype()?,
                ..Default::default()
            };
            computed(op, form, &mut args, |args| {
                // In PyTorch, `prod` and `logsumexp` treat `None` as the unnamed dim.
                let one = matches!(op, Op::Prod | Op::Logsumexp);
                let dims = args.dims("dim", !one)?;
                let dims = dims.with_keepdim(args.flag("keepdim")?);
                family::reduce(op, args.tensor("self")?, &dims, options)
            })
        }
        Route::Scan => computed(op, form, &mut args, |args| {
            let dim = args.dim("dim")?.into();
            family::scan(op, args.tensor("self")?, &dim, args.dtype()?)
        }),
        Route::Softmax => computed(op, form, &mut args, |args| {
            let dim = args.dim("dim")?.into();
            family::softmax(op, args.tensor("self")?, &dim, args.dtype()?)
        }),
        Route::Family(family) => family.call(op, form, args),
        Route::PythonOnly => Err(python_only(op)),
    }
}

/// Calls an elementwise operator with the operands in the row's order.
fn pointwise(op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let row = op.row();
    let params = || {
        row.params().filter(|p| match p.kind {
            ParamKind::Tensor | ParamKind::Operand => true,
            // Only the numbers in the expression; `alpha` of `add` is applied before.
            ParamKind::Scalar => row.numbers().any(|number| number.name == p.name),
            _ => false,
        })
    };
    match form {
        Form::Function | Form::Method => {
            let operands = operands(&args, params())?;
            if operands.iter().all(|operand| operand.tensor().is_none()) {
                let what = "no operand is a tensor";
                return Err(Error::new(ErrorKind::Argument, row.name, what).hint("give one"));
            }
            family::pointwise(op, &operands).map(Value::Tensor)
        }
        Form::InPlace => {
            let mut own = args.take_tensor("self")?;
            let rest = operands(&args, params().skip(1))?;
            family::pointwise_in_place(op, &mut own, &rest)?;
            Ok(Value::Tensor(own))
        }
        Form::Out => {
            let mut out = args.take_out()?;
            let operands = operands(&args, params())?;
            family::pointwise_out(op, &operands, &mut out)?;
            Ok(Value::Tensor(out))
        }
    }
}

fn operands<'a>(
    args: &'a Bound,
    params: impl Iterator<Item = Param>,
) -> Result<SmallVec<[Operand<'a>; 3]>> {
    let each = |param: Param| match param.default {
        // A number of the expression with a default in the row.
        Some(_) if param.kind == ParamKind::Scalar => args.scalar(param.name).map(Operand::Scalar),
        _ if param.kind == ParamKind::Scalar => {
            let value = args.operand(param.name)?;
            if value.tensor().is_none() {
                return Ok(value);
            }
            args.scalar(param.name).map(Operand::Scalar)
        }
        _ => args.operand(param.name),
    };
    params.map(each).collect()
}

/// Computes an operator first, then writes the result in place or to the out tensor.
fn computed(
    op: Op,
    form: Form,
    args: &mut Bound,
    compute: impl FnOnce(&Bound) -> Result<DynTensor>,
) -> Result<Value> {
    match form {
        Form::Function | Form::Method => compute(args).map(Value::Tensor),
        Form::InPlace => {
            let result = compute(args)?;
            let mut own = args.take_tensor("self")?;
            own.overwrite(op, result)?;
            Ok(Value::Tensor(own))
        }
        Form::Out => {
            let result = compute(args)?;
            let mut out = args.take_out()?;
            family::store(op, result, &mut out)?;
            Ok(Value::Tensor(out))
        }
    }
}

/// Returns the error for an operator that does not exist in Rust.
#[cold]
fn python_only(op: Op) -> Error {
    let instead = match op.row().status {
        Status::PythonOnly(instead) => instead,
        Status::Built | Status::Part => "",
    };
    Error::new(ErrorKind::Argument, op.name(), "it is of Python alone").hint(instead)
}

/// Returns the error for a form that the operator does not have.
#[cold]
fn no_form(op: Op, form: Form) -> Error {
    let what = match form {
        Form::InPlace => "there is no in-place form",
        Form::Out => "there is no form with an out tensor",
        Form::Function | Form::Method => "there is an in-place form only",
    };
    Error::new(ErrorKind::Argument, op.name(), what).hint(format!("call `{}`", op.row().signature))
}

#[cfg(test)]
mod tests;
