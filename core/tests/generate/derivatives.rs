//! Derivatives of elementwise rows and of reductions as steps, which kernels compute in one pass per sum.

use std::fmt::Write;

use nomina_core::op::{self, Class, Grad, ParamKind, Row};
use syn::{BinOp, Expr, ExprCall, Lit, UnOp};

use super::ids::variant;

/// The steps of one line, without duplicates.
struct Steps<'r> {
    row: &'r Row,
    steps: Vec<String>,
}

/// An intermediate value: a step, or a constant.
#[derive(Clone, Copy)]
enum Value {
    Step(usize),
    Number(f64),
}

impl Steps<'_> {
    fn step(&mut self, text: String) -> Value {
        let known = self.steps.iter().position(|step| *step == text);
        Value::Step(known.unwrap_or_else(|| {
            self.steps.push(text);
            self.steps.len() - 1
        }))
    }

    fn place(&mut self, value: Value) -> usize {
        match value {
            Value::Step(at) => at,
            Value::Number(number) => {
                let Value::Step(at) = self.step(match number.is_finite() {
                    true => format!("Number({number:?})"),
                    false if number < 0.0 => "Number(f64::NEG_INFINITY)".to_owned(),
                    false => "Number(f64::INFINITY)".to_owned(),
                }) else {
                    unreachable!("a step")
                };
                at
            }
        }
    }

    fn apply(&mut self, name: &str, args: &[Value]) -> Value {
        let args: Vec<String> = args
            .iter()
            .map(|&arg| self.place(arg).to_string())
            .collect();
        self.step(format!(
            "Apply(Op::{}, &[{}])",
            variant(name),
            args.join(", ")
        ))
    }

    fn value(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Paren(inner) => self.value(&inner.expr),
            Expr::Group(inner) => self.value(&inner.expr),
            Expr::Lit(lit) => Value::Number(match &lit.lit {
                Lit::Int(number) => number.base10_parse().expect("a number"),
                Lit::Float(number) => number.base10_parse().expect("a number"),
                _ => panic!("{}: a line has numbers alone", self.row.name),
            }),
            Expr::Path(path) => {
                let word = path.path.require_ident().expect("a word").to_string();
                self.word(&word)
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
                match self.value(&unary.expr) {
                    Value::Number(number) => Value::Number(-number),
                    value => self.apply("neg", &[value]),
                }
            }
            Expr::Binary(binary) => {
                let (a, b) = (self.value(&binary.left), self.value(&binary.right));
                let (name, of): (_, fn(f64, f64) -> f64) = match binary.op {
                    BinOp::Add(_) => ("add", |a, b| a + b),
                    BinOp::Sub(_) => ("sub", |a, b| a - b),
                    BinOp::Mul(_) => ("mul", |a, b| a * b),
                    BinOp::Div(_) => ("div", |a, b| a / b),
                    _ => panic!("{}: no such operator", self.row.name),
                };
                match (a, b) {
                    (Value::Number(a), Value::Number(b)) => Value::Number(of(a, b)),
                    (value, Value::Number(1.0)) if matches!(name, "mul" | "div") => value,
                    (a, b) => self.apply(name, &[a, b]),
                }
            }
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else {
                    panic!("{}: no function", self.row.name)
                };
                let name = path.path.require_ident().expect("a row").to_string();
                if let Some(value) = self.reduction(&name, call) {
                    return value;
                }
                let args: Vec<Value> = call.args.iter().map(|arg| self.value(arg)).collect();
                self.call(&name, args)
            }
            _ => panic!("{}: a line that is read alone", self.row.name),
        }
    }

    /// Lowers a reduction over the dims of the operator, or a broadcast along them.
    fn reduction(&mut self, name: &str, call: &ExprCall) -> Option<Value> {
        if name == "spread" {
            let value = self.value(&call.args[0]);
            let at = self.place(value);
            return Some(self.step(format!("Spread({at})")));
        }
        let keeps = keeps(name, call)?;
        let value = self.value(&call.args[0]);
        let at = self.place(value);
        Some(self.step(format!("Over(Op::{}, {at}, {keeps})", variant(name))))
    }

    fn word(&mut self, word: &str) -> Value {
        match word {
            "count" => self.step("Count".to_owned()),
            "i" => self.step("Imaginary".to_owned()),
            "grad" => self.step("Grad".to_owned()),
            "result" => self.step("Result".to_owned()),
            "inf" => Value::Number(f64::INFINITY),
            name => {
                if let Some(at) = operands(self.row).position(|param| param == name) {
                    return self.step(format!("Operand({at})"));
                }
                // With other numbers the operator is composed of several others.
                let param = self.row.params().find(|param| param.name == name);
                let number = param.and_then(|param| param.default?.parse().ok());
                Value::Number(number.unwrap_or_else(|| panic!("{}: `{name}`", self.row.name)))
            }
        }
    }

    fn call(&mut self, name: &str, mut args: Vec<Value>) -> Value {
        if name == "conj" || name == "real" {
            return match args[0] {
                Value::Step(at) => self.step(format!("{}({at})", variant(name))),
                number => number,
            };
        }
        let name = if name == "where_cond" { "where" } else { name };
        let row = op::rows().find(|row| row.name == name).expect("a row");
        let all: Vec<(&str, Option<&str>)> = row
            .params()
            .filter(|param| operands(row).any(|name| name == param.name))
            .map(|param| (param.name, param.default))
            .collect();
        // Omitted numbers have the default of the row.
        for (_, default) in &all[args.len().min(all.len())..] {
            let number = default.and_then(|text| text.parse().ok());
            args.push(Value::Number(number.expect("a number")));
        }
        // A kernel takes tensors first, independent of the order in the signature.
        let order = operands(row).map(|name| all.iter().position(|(param, _)| *param == name));
        let args: Vec<Value> = order.map(|at| args[at.expect("a parameter")]).collect();
        self.apply(name, &args)
    }
}

/// The operands of an elementwise kernel: tensors, then the numbers of its expression.
fn operands(row: &Row) -> impl Iterator<Item = &'static str> {
    let tensors = row.expression().map_or(usize::MAX, |(tensors, _)| tensors);
    let first = row
        .params()
        .filter(|param| matches!(param.kind, ParamKind::Tensor | ParamKind::Operand))
        .map(|param| param.name)
        .take(tensors);
    let numbers = row.params().filter(move |param| match row.expression() {
        Some(_) => row.numbers().any(|number| number.name == param.name),
        None => param.kind == ParamKind::Scalar,
    });
    first.chain(numbers.map(|param| param.name))
}

/// For a sum or a mean over the dims of the operator: whether the dims stay with size 1, or are as in its result.
fn keeps(name: &str, call: &ExprCall) -> Option<bool> {
    if !matches!(name, "sum" | "mean" | "nanmean") || call.args.len() != 3 {
        return None;
    }
    let is = |expr: &Expr, word: &str| matches!(expr, Expr::Path(path) if path.path.is_ident(word));
    match &call.args[2] {
        _ if !is(&call.args[1], "dim") => None,
        Expr::Lit(lit) => Some(matches!(&lit.lit, Lit::Bool(kept) if kept.value)),
        keepdim => is(keepdim, "keepdim").then_some(false),
    }
}

/// The lines for real and for complex numbers, if a line distinguishes them.
pub(super) fn if_real(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match expr {
        Expr::Call(call) if call.args.len() == 2 => match &*call.func {
            Expr::Path(path) if path.path.is_ident("if_real") => {
                Some((&call.args[0], &call.args[1]))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The steps of a line, the last of which is the gradient.
fn steps(row: &Row, expr: &Expr) -> String {
    let mut steps = Steps {
        row,
        steps: Vec::new(),
    };
    let last = steps.value(expr);
    let last = steps.place(last);
    assert!(
        last + 1 == steps.steps.len() || steps.steps.len() == 1,
        "{}: a line that does not end in its gradient",
        row.name
    );
    steps.steps.join(", ")
}

/// Whether a line consists of elementwise rows and sums over the dims of the operator.
fn is_lowered(expr: &Expr) -> bool {
    if let Some((real, complex)) = if_real(expr) {
        return is_lowered(real) && is_lowered(complex);
    }
    match expr {
        Expr::Paren(inner) => is_lowered(&inner.expr),
        Expr::Group(inner) => is_lowered(&inner.expr),
        Expr::Unary(unary) => is_lowered(&unary.expr),
        Expr::Binary(binary) => is_lowered(&binary.left) && is_lowered(&binary.right),
        Expr::Lit(_) => true,
        Expr::Path(path) => path
            .path
            .get_ident()
            .is_some_and(|word| ["zero", "none"].iter().all(|other| word != other)),
        Expr::Call(call) => {
            let Expr::Path(path) = &*call.func else {
                return false;
            };
            let Some(name) = path.path.get_ident().map(ToString::to_string) else {
                return false;
            };
            if name == "spread" || keeps(&name, call).is_some() {
                return is_lowered(&call.args[0]);
            }
            let name = if name == "where_cond" { "where" } else { &name };
            let known = matches!(name, "conj" | "real")
                || op::rows().any(|row| row.name == name && row.expression().is_some());
            known && call.args.iter().all(is_lowered)
        }
        _ => false,
    }
}

fn place(row: &Row, param: &str) -> usize {
    let place = operands(row).position(|name| name == param);
    place.expect("an operand")
}

/// The text of `runtime/src/tape/generated.rs`.
pub fn lines() -> String {
    let mut out = String::from(
        "// @generated by core/tests/generate_ops.rs\n\n\
         #![allow(clippy::approx_constant, reason = \"a line says its numbers in digits\")]\n\n\
         use nomina_core::op::Op;\n\n\
         use super::derivative::Line;\n\
         use super::derivative::Step::{Apply, Conj, Count, Grad, Imaginary, Number, Operand, Over, Real, Result, Spread};\n\n\
         /// Returns the lines of an elementwise row or of a reduction, `None` if it has no derivative.\n\
         pub(crate) fn lines(op: Op) -> Option<&'static [Line]> {\n\
         Some(match op {\n",
    );
    let over = |row: &Row| matches!(row.class, Class::Reduce | Class::Softmax);
    for row in op::rows().filter(|row| row.expression().is_some() || over(row)) {
        if row.grad != Grad::Lines {
            continue;
        }
        let mut lowered = String::new();
        for (param, line) in &row.derivative_lines() {
            let expr: Expr = syn::parse_str(line).expect("a line parses");
            if !is_lowered(&expr) {
                let left =
                    row.expression().is_none() || *line == "zero" || line.starts_with("never");
                assert!(left, "{}: {line} is no chain of elementwise rows", row.name);
                if line.starts_with("never") {
                    let at = place(row, param);
                    let _ = write!(lowered, "Line::new({at}, &[]),");
                }
                continue;
            }
            let at = place(row, param);
            let _ = match if_real(&expr) {
                Some((real, complex)) => {
                    let (real, complex) = (steps(row, real), steps(row, complex));
                    write!(lowered, "Line::by_kind({at}, &[{real}], &[{complex}]),")
                }
                None => write!(lowered, "Line::new({at}, &[{}]),", steps(row, &expr)),
            };
        }
        if !lowered.is_empty() || row.expression().is_some() {
            let _ = writeln!(
                out,
                "Op::{} => const {{ &[{lowered}] }},",
                variant(row.name)
            );
        }
    }
    out.push_str("_ => return None,\n})\n}\n");
    out
}
