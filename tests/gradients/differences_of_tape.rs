//! Central differences against the gradients of the tape, of first and second order.

use nomina::{BackwardOptions, DType, DynTensor, Scalar};
use nomina_by_name::{Bound, Form, invoke};
use nomina_core::op::{Forms, Op};
use nomina_runtime::grad::gradients;
use num_complex::Complex;

use crate::differences::{ELEMENTS, STEP, filled, with};
use crate::inputs::{Inputs, principal, strided};
use crate::recorded::Call;
use crate::tape::{Said, said, tensors};

/// The number of recorded calls compared per row.
pub const CALLS: usize = 8;

/// Rows that fail or are not compared, with the reason. Rows that pass must not be listed.
pub const KNOWN: &[(&str, &str)] = &[
    ("as_strided", "of what is not contiguous it is refused"),
    (
        "index_put",
        "of two that are put to one place PyTorch counts both",
    ),
];

/// Rows without a first or second derivative where an element is 0.
const KINKS: [&str; 4] = ["angle", "cosine_similarity", "i1e", "softsign"];

/// Operands whose derivative is refused, by their index among the tensors.
const REFUSED: [(&str, usize); 3] = [("cross_entropy", 2), ("nll_loss", 2), ("zeta", 0)];

/// A function of tensors.
pub type Function<'a> = &'a dyn Fn(&[DynTensor]) -> Said<Vec<DynTensor>>;

/// The numbers at which a first and a second derivative were compared, and the kinks left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    pub first: usize,
    pub second: usize,
    pub kinks: usize,
}

/// The checks of a function.
#[derive(Clone, Copy, Default)]
pub struct Checks {
    /// Whether to compare second derivatives.
    pub smooth: bool,
    /// Whether a derivative may be missing where an element is 0.
    pub kinks: bool,
    /// An operand whose derivative is refused.
    pub refused: Option<usize>,
}

/// Returns the operand whose derivative a row refuses.
pub fn refused(op: Op) -> Option<usize> {
    let known = REFUSED.iter().find(|(name, _)| *name == op.name());
    known.map(|(_, place)| *place)
}

impl Checks {
    fn takes(self, place: usize, x: &DynTensor) -> bool {
        has_gradient(x) && self.refused != Some(place)
    }
}

fn has_gradient(x: &DynTensor) -> bool {
    matches!(x.dtype(), DType::F64 | DType::C128)
}

/// Returns the real part of the sum of products with conjugates.
fn inner(a: &[Complex<f64>], b: &[Complex<f64>]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a * b.conj()).re).sum()
}

fn numbers(x: &DynTensor) -> Vec<Complex<f64>> {
    x.raw().scalars().map(|x| x.to_complex()).collect()
}

/// The elements of all gradients, one list per operand, and optionally their own gradients, weighted by `weights`.
type Gradients = (Vec<Vec<Complex<f64>>>, Option<Vec<Vec<Complex<f64>>>>);

fn by_tape(
    f: Function<'_>,
    operands: &[DynTensor],
    seeds: &[Option<DynTensor>],
    weights: Option<&[DynTensor]>,
    checks: Checks,
) -> Said<Gradients> {
    let leaf = |(place, x): (usize, &DynTensor)| {
        if checks.takes(place, x) {
            said(x.clone().with_grad())
        } else {
            Ok(x.clone())
        }
    };
    let leaves = operands.iter().enumerate().map(leaf);
    let leaves = leaves.collect::<Said<Vec<_>>>()?;
    let inputs: Vec<_> = leaves.iter().map(DynTensor::raw).collect();
    let zeros = || -> Vec<Vec<Complex<f64>>> {
        operands
            .iter()
            .map(|x| vec![Complex::ZERO; x.numel()])
            .collect()
    };
    let (mut first, mut second) = (zeros(), zeros());
    let options = BackwardOptions {
        retain_graph: true,
        create_graph: weights.is_some(),
    };
    for (result, seed) in f(&leaves)?.iter().zip(seeds) {
        // A result that is not recorded has no gradient; if it should have one, the differences show it.
        let Some(seed) = seed.as_ref().filter(|_| result.requires_grad()) else {
            continue;
        };
        let found = said(gradients(
            result.raw(),
            seed.raw().clone(),
            &inputs,
            options,
        ))?;
        for (at, grad) in found.into_iter().enumerate() {
            let Some(grad) = grad else { continue };
            let own = grad.scalars().map(|x| x.to_complex());
            first[at].iter_mut().zip(own).for_each(|(sum, x)| *sum += x);
            let Some(weights) = weights.filter(|_| grad.requires_grad()) else {
                continue;
            };
            let seed = weights[at].raw().clone();
            let last = BackwardOptions {
                retain_graph: true,
                create_graph: false,
            };
            for (at, grad) in said(gradients(&grad, seed, &inputs, last))?
                .iter()
                .enumerate()
            {
                let Some(grad) = grad else { continue };
                let own = grad.scalars().map(|x| x.to_complex());
                second[at]
                    .iter_mut()
                    .zip(own)
                    .for_each(|(sum, x)| *sum += x);
            }
        }
    }
    Ok((first, weights.map(|_| second)))
}

/// Compares a computed gradient of `loss` with central differences. Returns the numbers of comparisons and of kinks.
fn compare(
    operands: &[DynTensor],
    got: &[Vec<Complex<f64>>],
    within: f64,
    checks: Checks,
    loss: &dyn Fn(&[DynTensor]) -> Said<f64>,
) -> Said<(usize, usize)> {
    let (mut compared, mut kinks) = (0, 0);
    let here = loss(operands)?;
    // Next to such a value, a difference is lost in rounding.
    if here.abs() > 1e100 {
        return Ok((0, 0));
    }
    for (place, operand) in operands.iter().enumerate() {
        if !checks.takes(place, operand) {
            continue;
        }
        let elements = numbers(operand);
        // All elements of a small operand, else some that are spread evenly.
        let step = operand.numel().div_ceil(ELEMENTS).max(1);
        for (at, got) in got[place].iter().enumerate().step_by(step) {
            // `None` at a kink, where the one-sided slopes differ, and outside the domain.
            let slope = |by: Complex<f64>| -> Said<Option<f64>> {
                let moved = |by: Complex<f64>| {
                    let mut moved = operands.to_vec();
                    let raw = with(operand, at, by)?.into_parts().0;
                    moved[place] = said(DynTensor::from_parts(raw, operand.names().clone()))?;
                    Ok::<_, String>(loss(&moved).ok())
                };
                let (Some(after), Some(before)) = (moved(by)?, moved(-by)?) else {
                    return Ok(None);
                };
                let (right, left) = ((after - here) / STEP, (here - before) / STEP);
                let smooth = (right - left).abs() <= 1e-2 * (1.0 + right.abs());
                Ok(smooth.then_some((right + left) / 2.0))
            };
            let mut pairs = vec![(got.re, slope(Complex::new(STEP, 0.0))?)];
            if operand.dtype().is_complex() {
                pairs.push((got.im, slope(Complex::new(0.0, STEP))?));
            }
            for (got, want) in pairs {
                let Some(want) = want else {
                    kinks += 1;
                    continue;
                };
                let wrong = (got - want).abs() > within * (1.0 + want.abs()) || got.is_nan();
                let own = elements[at];
                if wrong && (!own.is_finite() || checks.kinks && own == Complex::ZERO) {
                    kinks += 1;
                    continue;
                }
                if wrong {
                    return Err(format!("operand {place}, element {at}: {got}, not {want}"));
                }
                compared += 1;
            }
        }
    }
    Ok((compared, kinks))
}

/// Compares the gradients of a function.
pub fn of_function(f: Function<'_>, operands: &[DynTensor], checks: Checks) -> Said<Compared> {
    let mut random = 11;
    let mut like = |x: &DynTensor| filled(Op::Neg, x.dtype(), x.shape(), 0, &mut random);
    let results = f(operands)?;
    let mut seeds = Vec::new();
    for y in &results {
        seeds.push(if has_gradient(y) {
            Some(like(y)?)
        } else {
            None
        });
    }
    let weights = operands.iter().map(|x| {
        if has_gradient(x) {
            like(x)
        } else {
            Ok(x.clone())
        }
    });
    let weights = weights.collect::<Said<Vec<_>>>()?;
    let own = checks.smooth.then_some(&weights[..]);
    let (first, second) = by_tape(f, operands, &seeds, own, checks)?;
    let loss = |moved: &[DynTensor]| -> Said<f64> {
        let results = f(moved)?;
        let each = results.iter().zip(&seeds).filter_map(|(y, seed)| {
            let seed = seed.as_ref()?;
            Some(inner(&numbers(y), &numbers(seed)))
        });
        Ok(each.sum())
    };
    let (compared, kinks) = compare(operands, &first, 1e-6, checks, &loss)?;
    let mut all = Compared {
        first: compared,
        second: 0,
        kinks,
    };
    if let Some(second) = second {
        let slope = |moved: &[DynTensor]| -> Said<f64> {
            let (first, _) = by_tape(f, moved, &seeds, None, checks)?;
            let each = first.iter().zip(&weights);
            Ok(each.map(|(own, weight)| inner(own, &numbers(weight))).sum())
        };
        let (compared, kinks) = compare(operands, &second, 1e-5, checks, &slope)
            .map_err(|what| format!("second order: {what}"))?;
        all.second = compared;
        all.kinks += kinks;
    }
    Ok(all)
}

/// Compares the gradients of a recorded call in a dtype; `None` if it has no tensor of numbers or does not support the
/// dtype.
pub fn of_call(
    op: Op,
    call: &Call,
    dtype: DType,
    strides: bool,
    smooth: bool,
) -> Said<Option<Compared>> {
    let Some(principal) = principal(call) else {
        return Ok(None);
    };
    let Ok(mut inputs) = Inputs::of(call).in_dtype(principal, dtype) else {
        return Ok(None);
    };
    if strides {
        inputs = said(inputs.map(&mut |x| {
            if has_gradient(x) {
                strided(x)
            } else {
                Ok(x.clone())
            }
        }))?;
    }
    let f = |operands: &[DynTensor]| {
        let mut given = operands.iter();
        // An operand that is written to is not a leaf.
        let mut writes =
            call.form == Form::InPlace || op.row().forms.contains(Forms::IN_PLACE_ONLY);
        let inputs = said(inputs.map(&mut |x| {
            let next = given.next().unwrap_or(x);
            if std::mem::take(&mut writes) && has_gradient(x) {
                next.mul(Scalar::Int(1))
            } else {
                Ok(next.clone())
            }
        }))?;
        let bound = said(Bound::new(op, inputs.args, inputs.kwargs))?;
        Ok(tensors(&said(invoke(op, call.form, bound))?))
    };
    let operands: Vec<DynTensor> = inputs.tensors().into_iter().cloned().collect();
    match f(&operands) {
        Ok(_) => {
            let checks = Checks {
                smooth,
                kinks: KINKS.contains(&op.name()),
                refused: refused(op),
            };
            of_function(&f, &operands, checks).map(Some)
        }
        // The call does not support this dtype.
        Err(_) => Ok(None),
    }
}
