//! Central differences in `f64` and in complex numbers: for elementwise rows on broadcasting operands, for other rows
//! on the operands of recorded calls.

use nomina::{DType, DynTensor};
use nomina_by_name::{Bound, Value};
use nomina_core::op::{Op, ParamKind, Samples, Status};
use nomina_runtime::tensor::{Operand, family};
use num_complex::Complex;

use crate::call::run;
use crate::inputs::{Inputs, principal};
use crate::lines::{NEVER, RULE, Scope, row_of};
use crate::recorded::Call;
use crate::tape::{Said, said, tensors};

/// The step size of the differences.
pub const STEP: f64 = 1e-5;

/// The maximum number of elements moved per operand.
pub const ELEMENTS: usize = 24;

type Values = Vec<(&'static str, Value)>;

/// Computes a call. Rows that are parts of other rows cannot be called by name.
pub fn compute(op: Op, values: &Values) -> Said<Vec<DynTensor>> {
    if op.row().status != Status::Part {
        return Ok(tensors(&run(op, values)?));
    }
    let numbers: Vec<&str> = op.row().numbers().map(|param| param.name).collect();
    // Tensors first, then numbers: `polygamma` has the reverse order.
    let (tensors, rest): (Vec<_>, Vec<_>) = values
        .iter()
        .partition(|(_, value)| matches!(value, Value::Tensor(_)));
    let mut operands = Vec::new();
    for (name, value) in tensors.into_iter().chain(rest) {
        match value {
            Value::Tensor(x) => operands.push(Operand::from(x)),
            other if numbers.contains(name) => {
                let number = other.as_scalar().ok_or("a number")?;
                operands.push(Operand::Scalar(number));
            }
            _ => {}
        }
    }
    Ok(vec![said(family::pointwise(op, &operands))?])
}

/// Returns a pseudo-random number between 0 and 1.
fn draw(seed: &mut u64) -> f64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1u64 << 53) as f64
}

pub fn filled(op: Op, dtype: DType, shape: &[usize], at: usize, seed: &mut u64) -> Said<DynTensor> {
    let within = |x: f64| match (op.row().samples, op.name()) {
        (_, "acosh") => 1.2 + x,
        (_, "logit" | "ndtri" | "binary_entropy" | "dropped" | "logit_eps") => 0.1 + 0.8 * x,
        (_, "zeta") => 2.2 + x,
        (_, "poisson_error" | "stirling" | "divergence") => 1.1 + x,
        (Samples::Unit, _) => 1.6 * x - 0.8,
        (Samples::Positive, _) => 0.3 + 1.5 * x,
        (Samples::NonZero, _) if at > 0 => 0.4 + x,
        _ => 4.0 * x - 2.0,
    };
    let count: usize = shape.iter().product();
    let one = (0..count).map(|_| Complex::new(within(draw(seed)), draw(seed) - 0.5));
    let numbers: Vec<Complex<f64>> = one.collect();
    if dtype.is_complex() {
        return said(DynTensor::from_vec(numbers, shape, ()));
    }
    let real = numbers.into_iter().map(|z| z.re).collect();
    said(DynTensor::from_vec(real, shape, ()))
}

fn inputs(op: Op, dtype: DType, seed: &mut u64) -> Said<Values> {
    let shapes: [&[usize]; 3] = [&[2, 3], &[3], &[2, 1]];
    let mut at = 0;
    let params = op.row().params();
    params
        .map(|param| {
            let value = match (param.kind, param.default, param.name) {
                (_, _, "condition" | "mask") => {
                    let truth = vec![true, false, true, false, false, true];
                    at += 1;
                    Value::Tensor(said(DynTensor::from_vec(truth, &[2, 3], ()))?)
                }
                (ParamKind::Tensor | ParamKind::Operand, ..) => {
                    at += 1;
                    // `masked_fill` takes one number.
                    let shape = if param.name == "value" {
                        &[]
                    } else {
                        shapes[at - 1]
                    };
                    Value::Tensor(filled(op, dtype, shape, at - 1, seed)?)
                }
                (ParamKind::Scalar, None, "n") => Value::Int(1),
                (ParamKind::Scalar, None, "eps" | "p") => Value::Float(0.2),
                (ParamKind::Scalar, None, _) => Value::Float(0.7),
                _ => crate::call::default(&param),
            };
            Ok((param.name, value))
        })
        .collect()
}

/// Returns the real part of the sum of the results times the conjugates of the seeds.
fn loss(op: Op, values: &Values, seeds: &[DynTensor]) -> Said<f64> {
    let mut sum = 0.0;
    for (result, seed) in compute(op, values)?.iter().zip(seeds) {
        let both = result.raw().scalars().zip(seed.raw().scalars());
        sum += both
            .map(|(y, s)| (y.to_complex() * s.to_complex().conj()).re)
            .sum::<f64>();
    }
    Ok(sum)
}

pub fn with(x: &DynTensor, at: usize, by: Complex<f64>) -> Said<DynTensor> {
    let moved = x.raw().scalars().enumerate().map(|(i, value)| {
        let here = if i == at { by } else { Complex::ZERO };
        value.to_complex() + here
    });
    let moved: Vec<Complex<f64>> = moved.collect();
    if x.dtype().is_complex() {
        return said(DynTensor::from_vec(moved, x.shape(), ()));
    }
    let real = moved.into_iter().map(|z| z.re).collect();
    said(DynTensor::from_vec(real, x.shape(), ()))
}

/// Compares derivatives of a row on generated operands, and returns their number.
pub fn made(op: Op, dtype: DType) -> Said<usize> {
    slopes(op, &inputs(op, dtype, &mut (7 + op as u64))?)
}

/// Compares derivatives on the operands of a recorded call, and returns their number.
pub fn called(op: Op, call: &Call, dtype: DType) -> Said<usize> {
    let Some(principal) = principal(call) else {
        return Ok(0);
    };
    let inputs = said(Inputs::of(call).in_dtype(principal, dtype))?;
    let bound = said(Bound::new(op, inputs.args, inputs.kwargs))?;
    slopes(op, &crate::call::values(op, &bound)?)
}

/// Returns whether a call writes to one element twice, as recorded calls of `index_put` do; the derivative, like
/// PyTorch's, counts both values.
fn is_written_twice(op: Op, values: &Values, param: &str) -> bool {
    let adds =
        |(name, value): &(&str, Value)| *name == "accumulate" && matches!(value, Value::Bool(true));
    op == Op::IndexPut && param == "values" && !values.iter().any(adds)
}

fn slopes(op: Op, values: &Values) -> Said<usize> {
    let mut random = 11 + op as u64;
    let results = compute(op, values)?;
    let seed = |y: &DynTensor| match y.dtype() {
        DType::F64 | DType::C128 => filled(Op::Neg, y.dtype(), y.shape(), 0, &mut random),
        _ => said(y.zeros_like()),
    };
    let grads = results.iter().map(seed).collect::<Said<Vec<_>>>()?;
    let scope = Scope {
        op: row_of(op, values),
        values,
        grads: &grads,
        results: &results,
    };
    let mut compared = 0;
    for place in 0..values.len() {
        let param = values[place].0;
        let Value::Tensor(operand) = values[place].1.clone() else {
            continue;
        };
        if !matches!(operand.dtype(), DType::F64 | DType::C128)
            || is_written_twice(op, values, param)
        {
            continue;
        }
        let got = match scope.gradients(param, std::slice::from_ref(&operand)) {
            Err(why) if why == RULE || why == NEVER => continue,
            Ok(got) => got[0].clone(),
            Err(what) => return Err(format!("{param}: {what}")),
        };
        for (at, got) in got.raw().scalars().enumerate().take(ELEMENTS) {
            let got = got.to_complex();
            let moved = |by: Complex<f64>| {
                let mut moved = values.clone();
                moved[place].1 = Value::Tensor(with(&operand, at, by)?);
                loss(op, &moved, &grads)
            };
            // `None` at a kink, where the one-sided slopes differ, and outside the domain.
            let slope = |by: Complex<f64>| -> Said<Option<f64>> {
                let (after, here, before) = (moved(by)?, moved(by * 0.0)?, moved(-by)?);
                let (right, left) = ((after - here) / STEP, (here - before) / STEP);
                let smooth = (right - left).abs() <= 1e-2 * (1.0 + right.abs());
                Ok(smooth.then_some((right + left) / 2.0))
            };
            let mut pairs = vec![(got.re, slope(Complex::new(STEP, 0.0))?)];
            if operand.dtype().is_complex() {
                pairs.push((got.im, slope(Complex::new(0.0, STEP))?));
            }
            for (got, want) in pairs {
                let Some(want) = want else { continue };
                let near = (got - want).abs() <= 1e-6 * (1.0 + want.abs());
                if !near {
                    return Err(format!("{param}, element {at}: {got}, not {want}"));
                }
                compared += 1;
            }
        }
    }
    Ok(compared)
}
