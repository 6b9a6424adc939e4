//! Translates recorded calls to typed ones.

use nomina::{DynTensor, Names};
use nomina_by_name::{Bound, Form, Value};
use nomina_core::op::{Op, Param, ParamKind};

use crate::case::Case;
use crate::select::tensors_in;
use crate::words::{dims, dtype, is_ident, number, tensor_type, tuple};

/// The translation of a case.
pub enum Translated {
    /// The body of a function from the tensors to a value.
    Call(String),
    /// The typed API cannot express it, with the reason.
    Inexpressible(&'static str),
    /// There should be a typed form, but it is missing.
    Missing(String),
}

/// The reason why there is no translation.
pub enum Not {
    Inexpressible(&'static str),
    Missing(String),
}

pub type Words = Result<String, Not>;

/// The spelling of an operator with a special form; `None` if it follows from the row.
pub type Own = Result<Option<String>, Not>;

pub fn missing<V>(what: impl Into<String>) -> Result<V, Not> {
    Err(Not::Missing(what.into()))
}

pub fn inexpressible<V>(reason: &'static str) -> Result<V, Not> {
    Err(Not::Inexpressible(reason))
}

/// The parts of a call.
pub struct Call<'a> {
    pub op: Op,
    pub form: Form,
    pub bound: Bound,
    /// The tensors, in the order of the arguments.
    pub tensors: Vec<&'a DynTensor>,
    pub out: bool,
}

/// Translates a case, declaring its tensors with their names.
#[allow(dead_code, reason = "one of two tests declares them otherwise")]
pub fn case(case: &Case) -> Translated {
    case_of(case, &|_, names| dims(names))
}

/// Writes the dims of an operand's type. Operands are counted in the order: tensors among the arguments, `out`, sparse
/// tensors.
pub type Declare<'a> = &'a dyn Fn(usize, &Names) -> String;

/// Translates a case, declaring its tensors by `declare`.
pub fn case_of(case: &Case, declare: Declare<'_>) -> Translated {
    match body(case, declare) {
        Ok(code) => Translated::Call(code),
        Err(Not::Inexpressible(reason)) => Translated::Inexpressible(reason),
        Err(Not::Missing(what)) => Translated::Missing(what),
    }
}

fn body(case: &Case, declare: Declare<'_>) -> Words {
    let Some((op, form)) = nomina_by_name::parse(&case.op) else {
        return missing(format!("{} is not known", case.op));
    };
    let mut tensors = Vec::new();
    case.args
        .iter()
        .for_each(|arg| tensors_in(arg, &mut tensors));
    let mut kwargs = case.kwargs.clone();
    let out = kwargs.iter().position(|(name, _)| name == "out");
    let out = match out {
        Some(at) if op != Op::Rename => Some(kwargs.remove(at).1),
        _ => None,
    };
    let given = case.kwargs.iter().filter(|(name, _)| name != "out");
    given.for_each(|(_, arg)| tensors_in(arg, &mut tensors));
    let mut args = case.args.clone();
    // `x.__rsub__(2)` is `2 - x`.
    let reversed = case.op.contains(".__r") && !case.op.ends_with("__rshift__");
    if reversed && args.len() > 1 {
        args.swap(0, 1);
    }
    if op == Op::Where && form == Form::Method && args.len() > 1 {
        args.swap(0, 1);
    }
    let Ok(bound) = Bound::new(op, args, kwargs.clone()) else {
        return inexpressible("arguments that the signature does not take");
    };
    if case.args.iter().any(|arg| matches!(arg, Value::Sparse(_))) {
        return crate::spell::sparse::case(op, form, &bound, &case.args, declare);
    }
    let call = Call {
        op,
        form,
        bound,
        tensors,
        out: matches!(out, Some(Value::Tensor(_))),
    };
    let mut code = String::new();
    let count = call.tensors.len();
    for (k, x) in call.tensors.iter().enumerate() {
        code += &format!(
            "let mut x{k}: {} = input.tensor({k})?; ",
            tensor_type(x, &declare(k, x.names()))
        );
    }
    match out {
        None | Some(Value::None) => {}
        Some(Value::Tensor(x)) => {
            code += &format!(
                "let mut out: {} = input.out(0)?; ",
                tensor_type(&x, &declare(count, x.names()))
            );
        }
        Some(Value::List(items)) => {
            for (k, item) in items.iter().enumerate() {
                let Value::Tensor(x) = item else {
                    return inexpressible("an out argument that is no tensor");
                };
                let of = tensor_type(x, &declare(count + k, x.names()));
                code += &format!("let mut out{k}: {of} = input.out({k})?; ");
            }
        }
        Some(_) => return inexpressible("an out argument that is no tensor"),
    }
    Ok(code + &crate::spell::call(&call)?)
}

impl Call<'_> {
    pub fn given(&self, param: &str) -> Option<&Value> {
        self.bound
            .get(param)
            .filter(|value| !matches!(value, Value::None))
    }

    /// Returns the variable that a tensor is bound to.
    pub fn variable(&self, x: &DynTensor) -> String {
        let same = |y: &&DynTensor| y.raw().shares_storage(x.raw());
        let at = self.tensors.iter().position(same);
        format!("x{}", at.unwrap_or_default())
    }

    /// Returns the parameter that is the method's receiver: `self`, or the first tensor.
    pub fn receiver(&self) -> Option<&'static str> {
        let mut params = self.op.row().params();
        let first = params.find(|p| matches!(p.kind, ParamKind::Tensor | ParamKind::Operand));
        first.map(|param| param.name)
    }

    /// Returns the tensor that is the method's receiver.
    pub fn own(&self) -> Option<&DynTensor> {
        match self.receiver().and_then(|name| self.bound.get(name)) {
            Some(Value::Tensor(x)) => Some(x),
            _ => None,
        }
    }

    /// Writes a dim of `self`, given by name or by position.
    pub fn dim(&self, value: &Value) -> Words {
        match value {
            Value::Str(name) if is_ident(name) => Ok(name.clone()),
            Value::Str(_) => inexpressible("a name that is no identifier"),
            Value::None => Ok("None".into()),
            Value::Ellipsis => Ok("..".into()),
            Value::Int(at) => {
                let Some(x) = self.own() else {
                    return inexpressible("a position without a tensor");
                };
                let rank = x.rank() as i64;
                let from = if *at < 0 { at + rank } else { *at };
                match usize::try_from(from).ok().and_then(|i| x.names().get(i)) {
                    Some(Some(name)) => Ok(name.to_string()),
                    Some(None) => inexpressible("a position of a dim without a name"),
                    None => inexpressible("a position that does not exist"),
                }
            }
            other => missing(format!("{} as a dim", other.kind())),
        }
    }

    /// Writes the dims to reduce over.
    pub fn dims(&self, value: Option<&Value>, keepdim: bool) -> Words {
        let dims = match value {
            None => "..".to_owned(),
            Some(Value::List(items)) if items.is_empty() => "..".to_owned(),
            Some(Value::List(items)) => tuple(
                items
                    .iter()
                    .map(|item| self.dim(item))
                    .collect::<Result<Vec<_>, _>>()?,
            ),
            Some(one) => self.dim(one)?,
        };
        Ok(if keepdim {
            format!("keep({dims})")
        } else {
            dims
        })
    }

    /// Writes an operand: a borrowed tensor or a number.
    pub fn operand(&self, value: &Value) -> Words {
        match value {
            Value::Tensor(x) => Ok(format!("&{}", self.variable(x))),
            other => match number(other) {
                Some(number) => Ok(number),
                None => missing(format!("{} as an operand", other.kind())),
            },
        }
    }

    /// Writes an argument according to its parameter's kind.
    pub fn argument(&self, param: &Param, value: &Value) -> Words {
        match param.kind {
            ParamKind::Tensor | ParamKind::Operand | ParamKind::Scalar => self.operand(value),
            ParamKind::Dim => self.dim(value),
            ParamKind::Dims => self.dims(Some(value), false),
            ParamKind::Tensors => match value {
                Value::List(items) => {
                    let items = items.iter().map(|item| self.operand(item));
                    Ok(tuple(items.collect::<Result<Vec<_>, _>>()?))
                }
                other => missing(format!("{} as tensors", other.kind())),
            },
            ParamKind::Int => match value {
                Value::Int(v) => Ok(v.to_string()),
                other => missing(format!("{} as an integer", other.kind())),
            },
            ParamKind::Bool => match value {
                Value::Bool(v) => Ok(v.to_string()),
                other => missing(format!("{} as a bool", other.kind())),
            },
            ParamKind::Sizes => match value {
                Value::Int(v) => Ok(format!("[{v}]")),
                Value::List(items) => {
                    let sizes: Option<Vec<String>> = items.iter().map(integer).collect();
                    match sizes {
                        Some(sizes) => Ok(format!("[{}]", sizes.join(", "))),
                        None => missing("sizes that are no integers"),
                    }
                }
                other => missing(format!("{} as sizes", other.kind())),
            },
            ParamKind::DType => match value {
                Value::DType(v) => Ok(dtype(*v).to_owned()),
                other => missing(format!("{} as a dtype", other.kind())),
            },
            _ => missing(format!("`{}` of {}", param.name, self.op.name())),
        }
    }

    /// Writes `give(x0.try_add(&x1)?)`, in the form of the call.
    pub fn method(&self, name: &str, arguments: &[String]) -> Words {
        let arguments = arguments.join(", ");
        let own = match self.own() {
            Some(x) => self.variable(x),
            // A function of several tensors.
            None if self.out => {
                return Ok(format!("try_{name}_out({arguments}, &mut out)?; give(out)"));
            }
            None => return Ok(format!("give(try_{name}({arguments})?)")),
        };
        Ok(match self.form {
            Form::InPlace => format!("{own}.try_{name}_({arguments})?; give({own})"),
            _ if self.out => {
                let comma = if arguments.is_empty() { "" } else { ", " };
                format!("{own}.try_{name}_out({arguments}{comma}&mut out)?; give(out)")
            }
            _ => format!("give({own}.try_{name}({arguments})?)"),
        })
    }
}

pub fn integer(value: &Value) -> Option<String> {
    match value {
        Value::Int(v) => Some(v.to_string()),
        _ => None,
    }
}
