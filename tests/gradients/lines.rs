//! The derivatives in the table, computed by the operators that they name.

use nomina::{DType, DynTensor};
use nomina_by_name::Value;
use nomina_core::op::{Grad, Op, ParamKind, Status};
use num_complex::Complex;
use syn::{BinOp, Expr, Lit, Member};

use crate::call::{default, run};
use crate::differences::compute;
use crate::tape::{Said, said, tensors};

/// The values that a derivative may refer to.
pub struct Scope<'a> {
    pub op: Op,
    pub values: &'a [(&'static str, Value)],
    pub grads: &'a [DynTensor],
    pub results: &'a [DynTensor],
}

/// Reasons why no gradient was computed.
pub const RULE: &str = "a rule";
pub const NEVER: &str = "no derivative";

/// Returns the row that computes a call: an argument may select another row.
pub fn row_of(op: Op, values: &[(&'static str, Value)]) -> Op {
    let given = |name: &str| {
        let found = values.iter().find(|(param, _)| *param == name);
        found.is_some_and(|(_, value)| !matches!(value, Value::None))
    };
    let says = |name: &str, word: &str| {
        values
            .iter()
            .any(|(param, value)| *param == name && matches!(value, Value::Str(own) if own == word))
    };
    match op {
        Op::Gelu if says("approximate", "tanh") => Op::GeluTanh,
        Op::Logit if given("eps") => Op::LogitEps,
        Op::Div if says("rounding_mode", "trunc") => Op::DivTrunc,
        Op::Div if says("rounding_mode", "floor") => Op::FloorDivide,
        _ => op,
    }
}

impl Scope<'_> {
    /// Returns the gradients of all tensors of a parameter, with the closing step applied.
    pub fn gradients(&self, param: &str, operands: &[DynTensor]) -> Said<Vec<DynTensor>> {
        let zeros = || operands.iter().map(|x| said(x.zeros_like())).collect();
        let lines = match self.op.row().grad {
            Grad::Lines => self.op.row().derivative_lines(),
            Grad::Constant => return zeros(),
            Grad::Parts => return Err("parts".into()),
            Grad::View => return Err("a view".into()),
            Grad::Never(_) => return Err(NEVER.into()),
        };
        let Some((_, line)) = lines.iter().find(|(name, _)| *name == param) else {
            return zeros();
        };
        if *line == "zero" {
            return zeros();
        }
        if line.starts_with("never(") {
            return Err(NEVER.into());
        }
        if line.contains("rule::") {
            return Err(RULE.into());
        }
        let expr: Expr = syn::parse_str(line).map_err(|e| e.to_string())?;
        let raw = self.eval(&expr)?;
        let raw = match raw {
            Value::Tensor(_) | Value::List(_) => tensors(&raw),
            number => tensors(&scalar(&number)?),
        };
        raw.iter().zip(operands).map(|(g, x)| close(g, x)).collect()
    }

    fn value(&self, name: &str) -> Option<&Value> {
        let found = self.values.iter().find(|(param, _)| *param == name);
        found.map(|(_, value)| value)
    }

    fn eval(&self, expr: &Expr) -> Said<Value> {
        match expr {
            Expr::Paren(inner) => self.eval(&inner.expr),
            Expr::Lit(lit) => match &lit.lit {
                Lit::Int(value) => Ok(Value::Int(value.base10_parse().map_err(text)?)),
                Lit::Float(value) => Ok(Value::Float(value.base10_parse().map_err(text)?)),
                Lit::Bool(value) => Ok(Value::Bool(value.value)),
                _ => Err("a literal".into()),
            },
            Expr::Unary(unary) => negative(self.eval(&unary.expr)?),
            Expr::Binary(binary) => {
                let (a, b) = (self.eval(&binary.left)?, self.eval(&binary.right)?);
                arithmetic(&binary.op, a, b)
            }
            Expr::Field(field) => {
                let Member::Unnamed(at) = &field.member else {
                    return Err("a field".into());
                };
                let list = match name(&field.base).as_str() {
                    "grads" => self.grads,
                    _ => self.results,
                };
                let found = list.get(at.index as usize).cloned();
                found.map(Value::Tensor).ok_or("an output".into())
            }
            Expr::Path(_) => self.word(&name(expr)),
            Expr::Call(call) if name(&call.func) == "if_real" => {
                let is_complex = |x: &DynTensor| x.dtype().is_complex();
                let mut operands = self.values.iter().flat_map(|(_, value)| tensors(value));
                let complex = operands.any(|x| is_complex(&x)) || self.grads.iter().any(is_complex);
                self.eval(&call.args[usize::from(complex)])
            }
            Expr::Call(call) => {
                let args = call.args.iter().map(|arg| self.eval(arg));
                let args = args.collect::<Said<Vec<_>>>()?;
                self.function(&name(&call.func), args)
            }
            _ => Err("an expression".into()),
        }
    }

    fn word(&self, word: &str) -> Said<Value> {
        Ok(match word {
            "grad" => Value::Tensor(self.grads[0].clone()),
            "result" => Value::Tensor(self.results[0].clone()),
            "count" => {
                let all = self.first()?.numel() as f64;
                Value::Float(all / self.results[0].numel() as f64)
            }
            "i" => Value::Complex(Complex::I),
            "inf" => Value::Float(f64::INFINITY),
            "none" => Value::None,
            _ => match (self.op, word, self.value(word)) {
                (Op::Clamp, "min", Some(Value::None)) => Value::Float(f64::NEG_INFINITY),
                (Op::Clamp, "max", Some(Value::None)) => Value::Float(f64::INFINITY),
                (.., Some(value)) => value.clone(),
                _ => return Err(format!("the word {word}")),
            },
        })
    }

    fn first(&self) -> Said<DynTensor> {
        let all = self.values.iter().flat_map(|(_, value)| tensors(value));
        all.into_iter().next().ok_or("a tensor".into())
    }

    fn function(&self, function: &str, mut args: Vec<Value>) -> Said<Value> {
        match (function, &args[..]) {
            ("spread", [Value::Tensor(x)]) => self.spread(x),
            ("sizes", [Value::Tensor(x)]) => Ok(sizes(x.shape())),
            ("conj", [Value::Complex(z)]) => Ok(Value::Complex(z.conj())),
            ("conj", [Value::Int(_) | Value::Float(_)]) => Ok(args.remove(0)),
            ("where_cond", _) => by_row(Op::Where, args),
            _ => match row_by(function) {
                Some(op) => by_row(op, args),
                None => Err(format!("the function {function}")),
            },
        }
    }

    /// Broadcasts a reduced tensor to the first operand.
    fn spread(&self, x: &DynTensor) -> Said<Value> {
        let operand = self.first()?;
        let rank = operand.shape().len();
        let at = |dim: i64| if dim < 0 { dim + rank as i64 } else { dim } as usize;
        let dims: Vec<usize> = match self.value("dim") {
            Some(Value::Int(dim)) => vec![at(*dim)],
            Some(Value::List(dims)) if !dims.is_empty() => dims
                .iter()
                .filter_map(|dim| match dim {
                    Value::Int(dim) => Some(at(*dim)),
                    _ => None,
                })
                .collect(),
            _ => (0..rank).collect(),
        };
        let mut kept = operand.shape().to_vec();
        for dim in dims.into_iter().filter(|dim| *dim < rank) {
            kept[dim] = 1;
        }
        let kept = by_row(Op::Reshape, vec![Value::Tensor(x.clone()), sizes(&kept)])?;
        by_row(Op::Expand, vec![kept, sizes(operand.shape())])
    }
}

/// Finds a row by its name or an alias, or a part of another row.
fn row_by(function: &str) -> Option<Op> {
    let part = || Op::ALL.iter().copied().find(|op| op.name() == function);
    Op::from_name(function).or_else(part)
}

fn text(error: syn::Error) -> String {
    error.to_string()
}

fn name(expr: &Expr) -> String {
    let Expr::Path(path) = expr else {
        return String::new();
    };
    let parts = path.path.segments.iter().map(|part| part.ident.to_string());
    parts.collect::<Vec<_>>().join("::")
}

fn sizes(shape: &[usize]) -> Value {
    Value::List(shape.iter().map(|&size| Value::Int(size as i64)).collect())
}

/// Converts a number to a tensor without dims.
fn scalar(value: &Value) -> Said<Value> {
    let made = match value {
        Value::Int(v) => DynTensor::from_vec(vec![*v], &[], ()),
        Value::Float(v) => DynTensor::from_vec(vec![*v], &[], ()),
        Value::Bool(v) => DynTensor::from_vec(vec![*v], &[], ()),
        Value::Complex(v) => DynTensor::from_vec(vec![*v], &[], ()),
        other => return Ok(other.clone()),
    };
    said(made).map(Value::Tensor)
}

/// Sorts arguments into the order of the signature.
fn by_row(op: Op, args: Vec<Value>) -> Said<Value> {
    let mut values = Vec::new();
    let mut args = args.into_iter();
    for (at, param) in op.row().params().enumerate() {
        let value = args.next().unwrap_or_else(|| default(&param));
        let tensor = param.kind == ParamKind::Tensor
            || (param.kind == ParamKind::Operand && (at == 0 || op == Op::Where));
        let value = if tensor { scalar(&value)? } else { value };
        values.push((param.name, value));
    }
    if op.row().status == Status::Part {
        return compute(op, &values).map(|found| Value::Tensor(found[0].clone()));
    }
    // Arguments equal to their default are omitted, since some entries do not take the keyword.
    let defaults: Vec<Value> = op.row().params().map(|param| default(&param)).collect();
    let given = values.into_iter().zip(defaults);
    let given =
        given.filter(|((_, value), default)| format!("{value:?}") != format!("{default:?}"));
    run(op, &given.map(|(value, _)| value).collect::<Vec<_>>())
}

fn negative(value: Value) -> Said<Value> {
    Ok(match value {
        Value::Int(v) => Value::Int(-v),
        Value::Float(v) => Value::Float(-v),
        Value::Complex(v) => Value::Complex(-v),
        Value::List(items) => Value::List(items.into_iter().map(negative).collect::<Said<_>>()?),
        Value::Tensor(_) => by_row(Op::Neg, vec![value])?,
        other => other,
    })
}

fn arithmetic(op: &BinOp, a: Value, b: Value) -> Said<Value> {
    let op = match op {
        BinOp::Add(_) => Op::Add,
        BinOp::Sub(_) => Op::Sub,
        BinOp::Mul(_) => Op::Mul,
        _ => Op::Div,
    };
    let number = |value: &Value| value.as_scalar().map(nomina::Scalar::to_complex);
    let (Some(x), Some(y)) = (number(&a), number(&b)) else {
        return by_row(op, vec![a, b]);
    };
    let z = match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        _ => x / y,
    };
    Ok(match (&a, &b) {
        (Value::Int(_), Value::Int(_)) if op != Op::Div => Value::Int(z.re as i64),
        _ if z.im == 0.0 => Value::Float(z.re),
        _ => Value::Complex(z),
    })
}

/// Applies the closing step: sums where the operand was broadcast, takes its real part, converts to
/// its dtype.
pub fn close(grad: &DynTensor, operand: &DynTensor) -> Said<DynTensor> {
    let mut grad = grad.clone();
    if grad.dtype().is_complex() && !operand.dtype().is_complex() {
        grad = said(grad.real())?;
    }
    let more = grad.shape().len().saturating_sub(operand.shape().len());
    let broadcast =
        |at: &usize| *at < more || (operand.shape()[at - more] == 1 && grad.shape()[*at] != 1);
    let dims = (0..grad.shape().len()).filter(broadcast);
    let dims: Vec<Value> = dims.map(|dim| Value::Int(dim as i64)).collect();
    let mut value = Value::Tensor(grad);
    if !dims.is_empty() {
        value = by_row(Op::Sum, vec![value, Value::List(dims)])?;
    }
    // A number represents a tensor filled with it.
    let [found] = &tensors(&value)[..] else {
        return Err("no tensor".into());
    };
    if found.numel() == operand.numel() {
        value = by_row(Op::Reshape, vec![value, sizes(operand.shape())])?;
    } else {
        value = by_row(Op::Expand, vec![value, sizes(operand.shape())])?;
    }
    let [closed] = &tensors(&value)[..] else {
        return Err("no tensor".into());
    };
    let dtype: DType = operand.dtype();
    said(closed.to_dtype(dtype))
}
