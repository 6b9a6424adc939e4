//! Sparse tensors.

use nomina_by_name::{Bound, Form, Value};
use nomina_core::op::Op;
use nomina_runtime::DynSparse;

use crate::translate::{Call, Declare, Own, Words, inexpressible, missing};
use crate::words::{dtype, is_ident, number, sparse_type, tensor_type, tuple};

/// Returns the typed form, if it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    match call.op {
        Op::SparseCooTensor => inexpressible("coordinates in nested lists"),
        Op::ToSparse if call.given("sparse_dim").is_some() => {
            inexpressible("dense dims of a sparse tensor")
        }
        Op::ToDense => inexpressible("a dense tensor made dense"),
        _ => Ok(None),
    }
}

/// Writes a call with sparse tensors among its arguments.
pub fn case(op: Op, form: Form, bound: &Bound, args: &[Value], declare: Declare<'_>) -> Words {
    let tensors = args
        .iter()
        .filter(|arg| matches!(arg, Value::Tensor(_)))
        .count();
    let (mut code, mut names) = (String::new(), Vec::new());
    let (mut sparse, mut dense) = (0, 0);
    for arg in args {
        match arg {
            Value::Sparse(x) if x.dense_dim() > 0 => {
                return inexpressible("dense dims of a sparse tensor");
            }
            Value::Sparse(x) => {
                code += &format!(
                    "let s{sparse}: {} = input.sparse({sparse})?; ",
                    sparse_type(x, &declare(tensors + sparse, x.names()))
                );
                names.push(format!("s{sparse}"));
                sparse += 1;
            }
            Value::Tensor(x) => {
                code += &format!(
                    "let x{dense}: {} = input.tensor({dense})?; ",
                    tensor_type(x, &declare(dense, x.names()))
                );
                names.push(format!("x{dense}"));
                dense += 1;
            }
            _ => names.push(String::new()),
        }
    }
    if form == Form::InPlace || bound.has_out() {
        return inexpressible("a sparse operand in place or beside an out tensor");
    }
    let [first, ..] = args else {
        return missing("a sparse tensor by keyword");
    };
    let own = &names[0];
    let other = names.get(1).cloned().unwrap_or_default();
    let words = match (first, args.get(1)) {
        (Value::Sparse(x), second) => on_sparse(op, bound, x, second, own, &other)?,
        (Value::Tensor(_), Some(Value::Sparse(_))) => match op {
            Op::Add if bound.get("alpha").is_none() => format!("{own}.try_add_sparse(&{other})?"),
            Op::Add => return inexpressible("a factor of a sparse operand"),
            Op::Mul => format!("{other}.try_mul(&{own})?"),
            Op::Mm | Op::Matmul => format!("{own}.try_mm_sparse(&{other})?"),
            Op::SparseMask => format!("{own}.try_sparse_mask(&{other})?"),
            _ => return missing(format!("{} of a dense and a sparse tensor", op.name())),
        },
        (Value::List(_), _) => return inexpressible("a list of sparse tensors"),
        _ => return inexpressible("a number on the left"),
    };
    Ok(format!("{code}give({words})"))
}

fn on_sparse(
    op: Op,
    bound: &Bound,
    x: &DynSparse,
    second: Option<&Value>,
    own: &str,
    other: &str,
) -> Words {
    let dim = |param: &str| match bound.get(param) {
        Some(value) => name(x, value),
        None => missing(format!("no {param}")),
    };
    let argument = match second {
        Some(Value::Tensor(y)) if y.rank() == 0 => format!("{other}.item()"),
        Some(Value::Sparse(_) | Value::Tensor(_)) => format!("&{other}"),
        Some(value) => number(value).unwrap_or_default(),
        None => String::new(),
    };
    Ok(match op {
        Op::Add | Op::Sub => match bound.get("alpha").and_then(number) {
            None => format!("{own}.try_{}({argument})?", op.name()),
            Some(alpha) => {
                let options = format!("AddOptions {{ alpha: opt({alpha}) }}");
                format!("{own}.try_{}_with({argument}, {options})?", op.name())
            }
        },
        Op::Mul | Op::Div | Op::Mm | Op::Mv | Op::Matmul => {
            format!("{own}.try_{}({argument})?", op.name())
        }
        Op::Sum => {
            let dims = match bound.get("dim") {
                None => "..".to_owned(),
                Some(Value::List(items)) => each(x, items)?,
                Some(one) => name(x, one)?,
            };
            format!("{own}.try_sum({dims})?")
        }
        Op::Transpose => format!("{own}.try_transpose({}, {})?", dim("dim0")?, dim("dim1")?),
        Op::Permute | Op::AlignTo | Op::RefineNames => {
            let list = bound.get("dims").or_else(|| bound.get("names"));
            let Some(Value::List(items)) = list else {
                return missing(format!("{} of no list", op.name()));
            };
            format!("{own}.try_{}({})?", op.name(), each(x, items)?)
        }
        Op::Rename => match bound.get("names") {
            Some(Value::List(items)) => format!("{own}.try_rename(.., {})?", each(x, items)?),
            _ => format!("{own}.drop_names()"),
        },
        Op::To => match bound.get("dtype") {
            Some(Value::DType(given)) => format!("{own}.try_to::<{}>()?", dtype(*given)),
            _ => return missing("to nothing"),
        },
        Op::ToDense => match bound.get("dtype") {
            Some(Value::DType(given)) => {
                format!("{own}.try_to_dense()?.try_to::<{}>()?", dtype(*given))
            }
            _ => format!("{own}.try_to_dense()?"),
        },
        Op::Clone | Op::ToSparse => format!("{own}.clone()"),
        Op::Size => format!("{own}.shape()"),
        Op::Dim => format!("{own}.rank()"),
        Op::IsCoalesced
        | Op::Nnz
        | Op::SparseDim
        | Op::DenseDim
        | Op::Numel
        | Op::IsSparse
        | Op::Dtype => format!("{own}.{}()", op.name()),
        _ => format!("{own}.try_{}()?", op.name()),
    })
}

/// Writes a dim's name, given by name or by position.
fn name(x: &DynSparse, value: &Value) -> Words {
    match value {
        Value::Str(name) if is_ident(name) => Ok(name.clone()),
        Value::Ellipsis => Ok("..".into()),
        Value::Int(at) => {
            let at = if *at < 0 { at + x.rank() as i64 } else { *at };
            match usize::try_from(at).ok().and_then(|at| x.names().get(at)) {
                Some(Some(name)) => Ok(name.to_string()),
                _ => inexpressible("a position that does not exist"),
            }
        }
        _ => inexpressible("a dim without a name"),
    }
}

fn each(x: &DynSparse, items: &[Value]) -> Words {
    let items = items.iter().map(|item| name(x, item));
    Ok(tuple(items.collect::<Result<Vec<_>, _>>()?))
}
