//! Homogeneous operators, with operands scaled to the ends of a dtype's range.
//!
//! If an operand is multiplied by s, a result of degree k is multiplied by sᵏ. The degree of each result and gradient
//! of the recorded calls is found in `f64`, by small powers of 2 for large operands and for small ones, since a
//! constant such as `eps` may matter for one of them. The operand is then scaled towards the end of each dtype's range,
//! as far as the exact result is representable; the call must give that result. No table is needed, so every row with a
//! recorded call takes part: products, norms, decompositions, means, distances.

use nomina::{BackwardOptions, DType, DynTensor};
use nomina_by_name::{Bound, Form, Value, invoke};
use nomina_core::op::{Forms, Grad, Op};

use crate::inputs::{Inputs, principal};
use crate::recorded::Call;

/// The number of recorded calls per row.
const CALLS: usize = 4;

/// The candidate degrees.
const DEGREES: [f64; 9] = [-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0];

/// Rows whose `eps` depends on the dtype: `f64` is no reference for small operands.
const OWN_EPS: [&str; 1] = ["rms_norm"];

/// The binary exponent of large operands in `f64`; negated, of small ones.
const FAR: i32 = 60;

/// The binary exponents of a dtype's least normal and greatest numbers, and the distance from 1 to the next number.
const RANGES: [(DType, i32, i32, f64); 4] = [
    (DType::F64, -1022, 1023, f64::EPSILON),
    (DType::F32, -126, 127, f32::EPSILON as f64),
    (DType::BF16, -126, 127, 7.8125e-3),
    (DType::F16, -14, 15, 9.765625e-4),
];

/// The numbers of each float result, then those of each operand's gradient for a gradient of ones, each list with its
/// dtype.
type Outputs = Vec<(DType, Vec<f64>)>;

fn tensors(value: &Value) -> Vec<DynTensor> {
    match value {
        Value::Tensor(x) => vec![x.clone()],
        Value::List(items) => items.iter().flat_map(tensors).collect(),
        _ => Vec::new(),
    }
}

fn numbers(x: &DynTensor) -> Vec<f64> {
    x.raw()
        .scalars()
        .map(|x| x.to_complex())
        .flat_map(|x| [x.re, x.im])
        .collect()
}

fn outputs(op: Op, form: Form, inputs: &Inputs) -> nomina::Result<Outputs> {
    let mut leaves = Vec::new();
    let mut is_written = form == Form::InPlace || op.row().forms.contains(Forms::IN_PLACE_ONLY);
    let differentiates = !matches!(op.row().grad, Grad::Never(_) | Grad::Constant);
    let inputs = inputs.map(&mut |x| {
        if !x.dtype().is_float() || !differentiates {
            return Ok(x.clone());
        }
        let leaf = x.clone().with_grad()?;
        leaves.push(leaf.clone());
        // A leaf must not be written to.
        if std::mem::take(&mut is_written) {
            leaf.mul(1.0)
        } else {
            Ok(leaf)
        }
    })?;
    let results = tensors(&invoke(
        op,
        form,
        Bound::new(op, inputs.args, inputs.kwargs)?,
    )?);
    let floats = results.iter().filter(|x| x.dtype().is_float());
    let output = |x: &DynTensor| (x.dtype(), numbers(x));
    let mut found: Outputs = floats.clone().map(output).collect();
    let keep = BackwardOptions {
        retain_graph: true,
        ..BackwardOptions::default()
    };
    for result in floats.filter(|x| x.requires_grad()) {
        result.backward_with(&result.ones_like()?, keep)?;
    }
    for leaf in &leaves {
        found.push(
            leaf.grad()
                .as_ref()
                .map_or((leaf.dtype(), Vec::new()), output),
        );
    }
    Ok(found)
}

/// Returns the call's inputs with float operand `place` multiplied by `2^exponent`.
fn scaled(inputs: &Inputs, place: usize, exponent: i32) -> nomina::Result<Inputs> {
    let mut at = 0;
    inputs.map(&mut |x| {
        if !x.dtype().is_float() {
            return Ok(x.clone());
        }
        at += 1;
        if at - 1 != place {
            return Ok(x.clone());
        }
        // In two steps, since the factor may be out of range.
        let half = exponent / 2;
        x.to_dtype(DType::F64)?
            .mul(2f64.powi(half))?
            .mul(2f64.powi(exponent - half))?
            .to_dtype(x.dtype())
    })
}

fn is_multiple(base: &[f64], other: &[f64], factor: f64) -> bool {
    let scale = base.iter().fold(0.0, |max: f64, x| max.max(x.abs())) * factor;
    base.len() == other.len()
        && base
            .iter()
            .zip(other)
            .all(|(a, b)| (a * factor - b).abs() <= 1e-9 * scale)
}

/// Returns the degree of an output, from its values for factors of 8 and 64. An output that is zero except for rounding
/// has none.
fn degree([base, eight, more]: [&[f64]; 3], sign: i32) -> Option<f64> {
    if base.iter().any(|x| !x.is_finite()) || base.iter().all(|x| *x == 0.0) {
        return None;
    }
    let factor = |exponent: i32, k: f64| 2f64.powf(f64::from(exponent * sign) * k);
    let fits =
        |k: &f64| is_multiple(base, eight, factor(3, *k)) && is_multiple(base, more, factor(6, *k));
    DEGREES.into_iter().find(fits)
}

/// Returns the binary exponents of the smallest and greatest nonzero numbers.
fn exponents(x: &[f64]) -> Option<(i32, i32)> {
    let found = x
        .iter()
        .filter(|x| **x != 0.0 && x.is_finite())
        .map(|x| x.abs().log2().floor() as i32);
    Some((found.clone().min()?, found.max()?))
}

/// Returns the greatest magnitude.
fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |max: f64, x| max.max(x.abs()))
}

/// The number of comparisons, and the failures.
#[derive(Default)]
pub struct Tally {
    pub outputs: usize,
    pub failed: Vec<(&'static str, String)>,
}

/// A recorded call in one dtype.
struct Typed<'a> {
    op: Op,
    call: &'a Call,
    range: (DType, i32, i32, f64),
    /// The operands in the dtype, and the same numbers in `f64`.
    own: Inputs,
    wide: Inputs,
}

impl Typed<'_> {
    fn run(&self, inputs: &Inputs) -> nomina::Result<Outputs> {
        outputs(self.op, self.call.form, inputs)
    }

    /// Returns the outputs in `f64`, with an operand multiplied by `2^exponent`.
    fn reference(&self, place: usize, exponent: i32) -> Option<Outputs> {
        self.run(&scaled(&self.wide, place, exponent).ok()?).ok()
    }

    /// Compares all outputs with an operand scaled to one end of the range: up for a `sign` of 1, down for -1.
    fn end(&self, place: usize, sign: i32, tally: &mut Tally) -> Option<()> {
        let (dtype, least, most, step) = self.range;
        let base = self.reference(place, 0)?;
        let narrow = self.run(&self.own).ok()?;
        let regime = [FAR, FAR + 3, FAR + 6].map(|exponent| self.reference(place, sign * exponent));
        let [Some(far), Some(eight), Some(more)] = &regime else {
            return None;
        };
        let operands: Vec<Vec<f64>> = self
            .wide
            .tensors()
            .into_iter()
            .filter(|x| x.dtype().is_float())
            .map(numbers)
            .collect();
        let own = exponents(&operands[place])?;
        for (at, (_, numbers)) in far.iter().enumerate() {
            let (Some(eight), Some(more)) = (eight.get(at), more.get(at)) else {
                continue;
            };
            let Some(k) = degree([numbers, &eight.1, &more.1], sign) else {
                continue;
            };
            let Some(result) = exponents(numbers) else {
                continue;
            };
            let Some((own_dtype, first)) = narrow.get(at) else {
                continue;
            };
            if *own_dtype != dtype || numbers.len() != first.len() {
                continue;
            }
            // The gradient is zero except for rounding.
            if let Some(leaf) = (at + operands.len()).checked_sub(far.len()) {
                let by = if leaf == place { sign * FAR } else { 0 };
                let natural = size(&far[0].1) / (size(&operands[leaf]) * 2f64.powi(by));
                if size(numbers) < 1e-9 * natural {
                    continue;
                }
            }
            // Normal numbers only: exponents of the operand, and of the result, which has the degree from `FAR` on.
            let by = |e: i32| f64::from(e - sign * FAR) * k;
            let fits = |e: &i32| {
                let by = by(*e).round() as i32;
                own.0 + e > least + 2
                    && own.1 + e < most - 2
                    && result.0 + by > least + 2
                    && result.1 + by < most - 2
            };
            // An even exponent, so that its root is exact.
            let Some(exponent) = (0..=1100).rev().map(|e| 2 * e * sign).find(fits) else {
                continue;
            };
            // The unscaled call shows the effect of rounding in this dtype.
            let noise = base[at]
                .1
                .iter()
                .zip(first)
                .fold(0.0, |max: f64, (a, b)| max.max((a - b).abs()))
                / size(&base[at].1).max(f64::MIN_POSITIVE);
            // At the ends of narrower dtypes the reference is `f64`; at its own ends the reference follows from the
            // degree.
            let want = if dtype == DType::F64 {
                let factor = (by(exponent) / 2.0).trunc();
                numbers
                    .iter()
                    .map(|x| x * 2f64.powf(factor) * 2f64.powf(by(exponent) - factor))
                    .collect()
            } else {
                self.reference(place, exponent)?.swap_remove(at).1
            };
            let label = format!(
                "{} {dtype} operand {place} times 2^{exponent}, output {at} of degree {k}",
                self.call.id
            );
            let got = match self.run(&scaled(&self.own, place, exponent).ok()?) {
                Ok(all) => all,
                Err(error) => {
                    tally
                        .failed
                        .push((self.op.name(), format!("{label}: {error}")));
                    continue;
                }
            };
            // A gradient is compared only if the values are in range.
            let is_finite = |(_, own): &(DType, Vec<f64>)| own.iter().all(|x| x.is_finite());
            if !got[..at].iter().all(is_finite) || size(&want) > 2f64.powi(most) {
                continue;
            }
            tally.outputs += 1;
            let bound = (step * 32.0).max(1e-9) + 4.0 * noise;
            // Divide first, so that nothing overflows: the bound is relative.
            let largest = size(&want).max(f64::MIN_POSITIVE);
            let wrong = want.iter().zip(&got[at].1).find(|(a, b)| {
                let apart = (*a / largest - *b / largest).abs();
                apart.is_nan() || apart > bound
            });
            if let Some((want, got)) = wrong {
                tally
                    .failed
                    .push((self.op.name(), format!("{label}: {got:e}, not {want:e}")));
            }
        }
        Some(())
    }
}

/// Compares the outputs of a recorded call at the ends of each dtype's range.
fn compare(op: Op, call: &Call, tally: &mut Tally) {
    let Some(principal) = principal(call).filter(|dtype| dtype.is_float()) else {
        return;
    };
    for range in RANGES
        .into_iter()
        .filter(|range| op.row().dtypes.contains(range.0))
    {
        let Ok(own) = Inputs::of(call).in_dtype(principal, range.0) else {
            continue;
        };
        let floats = own.tensors().into_iter().filter(|x| x.dtype().is_float());
        let count = floats.clone().count();
        // A call of several dtypes has several ranges.
        if floats.clone().any(|x| x.dtype() != range.0) {
            continue;
        }
        let Ok(wide) = own.in_dtype(range.0, DType::F64) else {
            continue;
        };
        let typed = Typed {
            op,
            call,
            range,
            own,
            wide,
        };
        for place in 0..count {
            if !OWN_EPS.contains(&op.name()) {
                typed.end(place, -1, tally);
            }
            typed.end(place, 1, tally);
        }
    }
}

/// Compares recorded calls of every row.
pub fn compared() -> Tally {
    let mut tally = Tally::default();
    for (name, calls) in crate::recorded::by_row() {
        let Some(op) = Op::from_name(name) else {
            continue;
        };
        for call in calls.iter().filter(|call| !call.random).take(CALLS) {
            compare(op, call, &mut tally);
        }
    }
    tally
}
