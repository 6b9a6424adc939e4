//! Gradients at edges, equal to PyTorch's.

use nomina::DynTensor;
use nomina_by_name::Value;
use nomina_core::op::Op;

use crate::call::run;
use crate::lines::Scope;
use crate::tape::{Said, said, tensors};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// A row, its operands, and their gradients for an output gradient of one.
pub const EDGES: &[(&str, &[f64], &[f64])] = &[
    ("maximum", &[2.0, 2.0], &[0.5, 0.5]),
    ("minimum", &[2.0, 2.0], &[0.5, 0.5]),
    ("fmax", &[2.0, NAN], &[1.0, 0.0]),
    ("clamp", &[1.0, 1.0, 2.0], &[1.0, 0.0, 0.0]),
    ("clamp", &[2.0, 1.0, 2.0], &[1.0, 0.0, 0.0]),
    ("clamp", &[1.5, 2.0, 1.0], &[0.0, 0.0, 1.0]),
    ("relu", &[0.0], &[0.0]),
    ("relu", &[NAN], &[1.0]),
    ("abs", &[0.0], &[0.0]),
    ("sqrt", &[0.0], &[INF]),
    ("sinc", &[0.0], &[0.0]),
    ("i1", &[0.0], &[0.5]),
    ("i1e", &[0.0], &[0.5]),
    ("pow", &[0.0, 0.0], &[0.0, 0.0]),
    ("pow", &[0.0, 2.0], &[0.0, 0.0]),
    ("pow", &[0.0, 1.0], &[1.0, 0.0]),
    ("xlogy", &[0.0, 0.0], &[0.0, 0.0]),
    ("xlogy", &[0.0, 2.0], &[std::f64::consts::LN_2, 0.0]),
    ("atan2", &[0.0, 0.0], &[0.0, 0.0]),
    ("hardtanh", &[1.0], &[0.0]),
    ("relu6", &[6.0], &[0.0]),
    ("softshrink", &[0.5], &[0.0]),
    ("copysign", &[0.0, -1.0], &[0.0, 0.0]),
    ("logit", &[2.0], &[NAN]),
    ("entr", &[-1.0], &[NAN]),
];

/// Compares the gradients; the error describes the difference.
pub fn check(name: &str, operands: &[f64], wanted: &[f64]) -> Said<()> {
    let op = Op::from_name(name).ok_or("a row")?;
    let number = |x: f64| said(DynTensor::from_vec(vec![x], &[1], ()));
    let mut given = operands.iter();
    let mut values = Vec::new();
    for param in op.row().params() {
        let scalar = param.kind == nomina_core::op::ParamKind::Scalar;
        let next = if scalar { None } else { given.next() };
        values.push(match next {
            Some(x) => (param.name, Value::Tensor(number(*x)?)),
            None => (param.name, crate::call::default(&param)),
        });
    }
    let results = tensors(&run(op, &values)?);
    let grads = [number(1.0)?];
    let scope = Scope {
        op,
        values: &values,
        grads: &grads,
        results: &results,
    };
    let operands = values.iter().filter_map(|(name, value)| match value {
        Value::Tensor(x) => Some((name, x.clone())),
        _ => None,
    });
    for ((param, operand), want) in operands.zip(wanted) {
        let got = scope.gradients(param, &[operand])?;
        let got = said(got[0].item())?.to_f64();
        if got != *want && !(got.is_nan() && want.is_nan()) {
            return Err(format!("{name}{values:?}: {param} has {got}, not {want}"));
        }
    }
    Ok(())
}
