//! Parses and checks the lines of derivatives, whose syntax `core/src/op/grad.rs` describes.

use std::collections::BTreeSet;

use nomina_core::DType;
use nomina_core::op::{DTypeRule, Grad, Op, ParamKind, Row, Spread, derivatives, rows};
use syn::{BinOp, Expr, Lit, Member, UnOp};

use super::derivatives::if_real;

/// Parameters that hold indices, truth values or counts.
const PLACES: &[&str] = &["index", "indices", "mask", "condition", "repeats"];

/// Faulty lines, each with a part of its message.
pub const FAULTY: &[(&str, &[(&str, &str)], &str)] = &[
    ("exp", &[("self", "grad * conj(result")], "does not parse"),
    (
        "exp",
        &[("self", "grad * conj(output)")],
        "`output` is no word",
    ),
    (
        "exp",
        &[("self", "grad * conj(expp(self))")],
        "`expp` is no row",
    ),
    (
        "exp",
        &[("self", "rule::exp(grad)")],
        "`rule::exp` is no rule",
    ),
    (
        "exp",
        &[("self", "rule::prod(grad)")],
        "`rule::prod` takes 3",
    ),
    (
        "exp",
        &[("self", "grad * result")],
        "`result` is not conjugated",
    ),
    (
        "mul",
        &[("self", "grad * (2 * other)"), ("other", "zero")],
        "`other` is not conjugated",
    ),
    (
        "mm",
        &[("self", "mm(grad, t(mat2))"), ("mat2", "zero")],
        "`mat2` is not conjugated",
    ),
    (
        "mul",
        &[("self", "grad * conj(other)")],
        "no line for `other`",
    ),
    (
        "gather",
        &[("self", "grad"), ("index", "grad")],
        "`index` has no derivative",
    ),
    (
        "sum",
        &[("self", "spread(grad)"), ("dim", "grad")],
        "`dim` has no derivative",
    ),
    (
        "lt",
        &[("self", "grad"), ("other", "grad")],
        "no float comes out",
    ),
    (
        "relu",
        &[("self", "where_cond(self > 0, grad, 0)")],
        "an operator that lines do not have",
    ),
    ("relu", &[("self", "zero * grad")], "`zero` is a whole line"),
    ("relu", &[("self", "conj(self)")], "does not mention `grad`"),
];

/// The rules and their numbers of arguments, from the table in the docs of `Grad`.
fn rules() -> Vec<(&'static str, usize)> {
    let table = include_str!("../../src/op/grad.rs").lines();
    let calls = table.filter_map(|line| line.strip_prefix("//! | `")?.split_once(")` |"));
    let calls = calls.filter_map(|(call, _)| call.split_once('('));
    let known = calls.map(|(name, args)| (name, args.split(',').count()));
    known.collect()
}

/// Returns a message for each row with lines that `derivatives.txt` lacks, and for each name in it that is not a row
/// with lines.
pub fn misplaced() -> Vec<String> {
    let listed: BTreeSet<&str> = derivatives().map(|(name, _)| name).collect();
    let expected = rows()
        .filter(|row| row.grad == Grad::Lines)
        .map(|row| row.name);
    let expected: BTreeSet<&str> = expected.collect();
    let lacking = expected.difference(&listed).map(|name| {
        format!(
            "`{name}` says nothing of its derivative: list its lines in core/src/op/derivatives.txt, or write \
             `.grad(Parts)`, `.grad(View)`, `.grad(Constant)` or `.grad(Never(\"why\"))`"
        )
    });
    let other = listed.difference(&expected);
    let other = other.map(|name| format!("derivatives.txt: `{name}` is not a row with lines"));
    lacking.chain(other).collect()
}

/// Returns a message for each fault in the derivative of a row.
pub fn faults(row: &Row) -> Vec<String> {
    match row.grad {
        Grad::Lines => {
            let lines = row.derivative_lines();
            let lines = lines.iter().map(|(param, line)| (*param, &**line));
            faults_of(row, &lines.collect::<Vec<_>>())
        }
        Grad::Never("") => vec![format!("{}: say why", row.name)],
        _ => Vec::new(),
    }
}

/// Returns a message for each fault in these lines of a row.
pub fn faults_of(row: &Row, lines: &[(&str, &str)]) -> Vec<String> {
    let told = |what: String| format!("{}: {what}", row.name);
    let mut wrong = Vec::new();
    let nothing = matches!(
        row.dtype,
        DTypeRule::Bool | DTypeRule::FloatBool | DTypeRule::Index | DTypeRule::None
    );
    if nothing || !row.dtypes.iter().any(|d| d.is_float() || d.is_complex()) {
        wrong.push(told("no float comes out, which is `Constant`".into()));
    }
    let operands = operands(row);
    for (param, line) in lines {
        if !operands.contains(param) {
            wrong.push(told(format!("`{param}` has no derivative")));
        }
        wrong.extend(check(row, line).map(|what| told(format!("{param}, {line:?}: {what}"))));
    }
    let lacking = operands
        .iter()
        .filter(|name| lines.iter().filter(|(param, _)| param == *name).count() != 1);
    wrong.extend(lacking.map(|name| told(format!("no line for `{name}`, or several"))));
    wrong
}

/// The parameters that may hold floats.
fn operands(row: &Row) -> BTreeSet<&'static str> {
    let tensors = row.params().filter(|param| {
        matches!(
            param.kind,
            ParamKind::Tensor | ParamKind::Operand | ParamKind::Tensors
        )
    });
    let names = tensors.map(|param| param.name);
    names.filter(|name| !PLACES.contains(name)).collect()
}

fn check(row: &Row, line: &str) -> Option<String> {
    let expr: Expr = match syn::parse_str(line) {
        Ok(expr) => expr,
        Err(error) => return Some(format!("does not parse: {error}")),
    };
    if line == "zero" {
        return None;
    }
    if let Expr::Call(call) = &expr
        && name(&call.func).as_deref() == Some("never")
    {
        let reason = call.args.first().map(literal);
        return match reason {
            Some(Some(Lit::Str(_))) if call.args.len() == 1 => None,
            _ => Some("`never` takes a text".into()),
        };
    }
    if let Some((real, complex)) = if_real(&expr) {
        let known = words(row, real).and_then(|()| words(row, complex));
        let carried = || carries(real) && carries(complex);
        return known
            .err()
            .or_else(|| (!carried()).then(|| "does not mention `grad`".into()))
            .or_else(|| conjugated(complex).err());
    }
    let is_complex = row.dtypes.contains(DType::C128)
        && !matches!(row.dtype, DTypeRule::Real | DTypeRule::RealFloat);
    words(row, &expr)
        .err()
        .or_else(|| (!carries(&expr)).then(|| "does not mention `grad`".into()))
        .or_else(|| is_complex.then(|| conjugated(&expr).err()).flatten())
}

fn literal(expr: &Expr) -> Option<Lit> {
    match expr {
        Expr::Lit(lit) => Some(lit.lit.clone()),
        _ => None,
    }
}

/// Returns a path as text.
fn name(expr: &Expr) -> Option<String> {
    let Expr::Path(path) = expr else { return None };
    let parts = path.path.segments.iter().map(|part| part.ident.to_string());
    Some(parts.collect::<Vec<_>>().join("::"))
}

/// Checks that all words exist.
fn words(row: &Row, expr: &Expr) -> Result<(), String> {
    match expr {
        Expr::Paren(inner) => words(row, &inner.expr),
        Expr::Lit(lit) => match lit.lit {
            Lit::Int(_) | Lit::Float(_) | Lit::Bool(_) => Ok(()),
            _ => Err("a literal that lines do not have".into()),
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => words(row, &unary.expr),
        Expr::Binary(binary) if is_arithmetic(&binary.op) => {
            words(row, &binary.left)?;
            words(row, &binary.right)
        }
        Expr::Field(field) => match (name(&field.base).as_deref(), &field.member) {
            (Some("grads" | "results"), Member::Unnamed(_)) => Ok(()),
            _ => Err("a field that lines do not have".into()),
        },
        Expr::Path(_) => match name(expr).unwrap_or_default().as_str() {
            "grad" | "result" | "count" | "i" | "inf" | "none" => Ok(()),
            "zero" => Err("`zero` is a whole line".into()),
            word if row.params().any(|param| param.name == word) => Ok(()),
            word => Err(format!("`{word}` is no word")),
        },
        Expr::Call(call) => {
            known(&name(&call.func).unwrap_or_default(), call.args.len())?;
            call.args.iter().try_for_each(|arg| words(row, arg))
        }
        _ => Err("an operator that lines do not have".into()),
    }
}

fn is_arithmetic(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_)
    )
}

/// Checks that a function exists and takes this number of arguments.
fn known(function: &str, given: usize) -> Result<(), String> {
    let (least, most) = match function.strip_prefix("rule::") {
        Some(rule) => match rules().iter().find(|(known, _)| *known == rule) {
            Some((_, takes)) => (*takes, *takes),
            None => return Err(format!("`{function}` is no rule")),
        },
        None if matches!(function, "spread" | "sizes") => (1, 1),
        None if function == "where_cond" => (3, 3),
        None => match row_of(function) {
            Some(row) => {
                let must = row.params().filter(|param| param.default.is_none());
                (must.count(), row.params().count())
            }
            None => return Err(format!("`{function}` is no row")),
        },
    };
    if (least..=most).contains(&given) {
        return Ok(());
    }
    Err(format!("`{function}` takes {least} to {most} arguments"))
}

/// Finds a row by its name or an alias, including internal rows.
fn row_of(function: &str) -> Option<&'static Row> {
    let named = Op::from_name(function).map(Op::row);
    named.or_else(|| rows().find(|row| row.name == function))
}

/// Whether an expression depends on the gradient, including its real part.
fn carries(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => carries(&inner.expr),
        Expr::Unary(unary) => carries(&unary.expr),
        Expr::Binary(binary) => carries(&binary.left) || carries(&binary.right),
        Expr::Field(field) => name(&field.base).as_deref() == Some("grads"),
        Expr::Path(_) => name(expr).as_deref() == Some("grad"),
        Expr::Call(call) => call.args.iter().any(carries),
        _ => false,
    }
}

/// Checks that all factors of `grad` are conjugated or real.
fn conjugated(expr: &Expr) -> Result<(), String> {
    match expr {
        Expr::Paren(inner) => conjugated(&inner.expr),
        Expr::Unary(unary) => conjugated(&unary.expr),
        Expr::Binary(binary) => {
            conjugated(&binary.left)?;
            conjugated(&binary.right)?;
            if matches!(binary.op, BinOp::Mul(_) | BinOp::Div(_)) {
                factors([&*binary.left, &*binary.right])?;
            }
            Ok(())
        }
        Expr::Call(call) => {
            let function = name(&call.func).unwrap_or_default();
            // A factor of a real part needs no conjugate.
            if function == "conj" || function.starts_with("rule::") {
                return Ok(());
            }
            call.args.iter().try_for_each(conjugated)?;
            let product = |row: &Row| matches!(row.spread, Spread::Contract | Spread::ProductOfTwo);
            if row_of(&function).is_some_and(product) {
                factors(call.args.iter())?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn factors<'a>(sides: impl IntoIterator<Item = &'a Expr>) -> Result<(), String> {
    let (with, without): (Vec<_>, Vec<_>) = sides.into_iter().partition(|side| carries(side));
    if with.is_empty() || with.iter().all(|side| is_real(side)) {
        return Ok(());
    }
    without.into_iter().try_for_each(bare)
}

/// Finds an operand outside of `conj(..)` and of real functions.
fn bare(expr: &Expr) -> Result<(), String> {
    match expr {
        Expr::Paren(inner) => bare(&inner.expr),
        Expr::Unary(unary) => bare(&unary.expr),
        Expr::Binary(binary) => bare(&binary.left).and_then(|()| bare(&binary.right)),
        Expr::Path(_) => match name(expr).unwrap_or_default().as_str() {
            "count" | "inf" | "i" => Ok(()),
            word => Err(format!("`{word}` is not conjugated")),
        },
        Expr::Field(_) => Err("a result is not conjugated".into()),
        Expr::Call(call) if name(&call.func).as_deref() == Some("conj") || is_real(expr) => Ok(()),
        Expr::Call(call) => call.args.iter().try_for_each(bare),
        _ => Ok(()),
    }
}

fn is_real(expr: &Expr) -> bool {
    let Expr::Call(call) = expr else { return false };
    name(&call.func)
        .and_then(|function| row_of(&function))
        .is_some_and(|row| {
            !row.dtype
                .resolve(DType::C64, DType::F32)
                .result
                .is_complex()
        })
}
