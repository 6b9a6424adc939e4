//! Recorded gradients that differ from PyTorch's on purpose: a list of cases, and a rule for all cases of `ldexp`.

use nomina::{DType, Device, DynTensor, Names, Scalar};
use nomina_by_name::Value;
use nomina_core::op::Op;

use crate::case::{Case, Wanted};
pub use crate::compare::limit;
use crate::tape::near;

/// The reason, and the ends of the ids of the cases.
const DIFFERS: &[(&str, &[&str])] = &[
    (
        "an infinity over an infinity is NaN in PyTorch's formula, where the slope has a limit",
        &[
            "activation/nn.functional.softsign-7",
            "edges/nn.functional.softsign-2",
            "edges/special.i0-1",
            "edges/special.log_ndtr-1",
            "parametric/special.log_ndtr-7",
        ],
    ),
    (
        "NaN stays NaN, where PyTorch takes it for 0",
        &[
            "edges/special.i1-1",
            "edges/special.i1e-1",
            "parametric/special.i1e-7",
        ],
    ),
    ("outside of its domain a slope is NaN", &["edges/acosh-1"]),
    (
        "at a pole a slope is infinite, and not as large as rounding leaves it",
        &["edges/digamma-1"],
    ),
    (
        "0 times infinity is NaN, which PyTorch leaves out beside a zero",
        &["edges/cumprod-4"],
    ),
    (
        "the slope of t ln t at 0 is minus infinity, PyTorch's NaN",
        &[
            "edges/nn.functional.kl_div-1",
            "edges/nn.functional.kl_div-2",
            "edges/nn.functional.kl_div-3",
        ],
    ),
    (
        "PyTorch counts what is in self among the equal ones where self is not included",
        &[
            "edges/index_reduce-6",
            "edges/index_reduce-8",
            "edges/scatter_reduce-8",
            "edges/scatter_reduce-10",
        ],
    ),
    (
        "of equal elements the one that a stable sort puts there",
        &["edges/kthvalue-1", "edges/topk-1"],
    ),
    (
        "a NaN does not count and gets nothing, where there is nothing else, too",
        &["edges/nanmean-2"],
    ),
    (
        "zero vectors have the least length of `cosine_similarity`",
        &["edges/nn.functional.cosine_embedding_loss-1"],
    ),
    (
        "a deviation is multiplied by what was drawn, which is constant",
        &[
            "samples/normal-2",
            "samples/normal-4",
            "samples/normal-6",
            "samples/normal-8",
        ],
    ),
    (
        "in a half PyTorch's rounding is larger than the gradient",
        &["norm/nn.functional.group_norm-8"],
    ),
];

/// Returns whether a case is listed.
pub fn is_listed(id: &str) -> bool {
    let mut all = DIFFERS.iter().flat_map(|(_, cases)| cases.iter());
    all.any(|case| id.strip_prefix("grad/") == Some(case))
}

/// Judges the outcome of a call by [`limit`].
pub fn judged_by_limit(
    op: &str,
    outcome: Result<(), String>,
) -> Result<Option<&'static str>, String> {
    match limit(op, &outcome) {
        Some(why) => Ok(Some(why)),
        None => outcome.map(|()| None),
    }
}

/// Judges the outcome of a case by the list: a listed difference must exist. Returns the reason.
pub fn known(id: &str, outcome: Result<(), String>) -> Result<Option<&'static str>, String> {
    let own = |&(_, cases): &&(&str, &[&str])| {
        let mut ends = cases.iter();
        ends.any(|case| id.strip_prefix("grad/") == Some(case))
    };
    match (DIFFERS.iter().find(own), outcome) {
        (None, outcome) => outcome.map(|()| None),
        (Some((why, _)), Err(_)) => Ok(Some(why)),
        (Some((why, _)), Ok(())) => Err(format!("agrees, and is listed as other: {why}")),
    }
}

/// Corrects the expected gradients if PyTorch is known to be wrong, for every case. Returns the reason.
///
/// PyTorch multiplies the gradient of `ldexp` by 2 to the exponent, in the exponent's own dtype. For integers this is 0
/// for a negative exponent and wraps for a large one, while the result is computed in floats. A case is corrected only
/// if its recorded gradient equals the result of this mistake.
pub fn corrected(case: &mut Case) -> Option<&'static str> {
    let (Op::Ldexp, _) = nomina_by_name::parse(&case.op)? else {
        return None;
    };
    let operand = |at: usize, name: &str| {
        let keyword = || case.kwargs.iter().find(|(key, _)| key == name);
        match case
            .args
            .get(at)
            .or_else(|| keyword().map(|(_, value)| value))
        {
            Some(Value::Tensor(x)) => Some(x),
            _ => None,
        }
    };
    let (x, exponent) = (
        operand(0, "input").or(operand(0, "self"))?,
        operand(1, "other")?,
    );
    let Wanted::Gradients { seeds, grads } = &mut case.wanted else {
        return None;
    };
    let place = grads
        .iter()
        .position(|grad| matches!(grad, Value::Tensor(_)))?;
    let (Value::Tensor(seed), Value::Tensor(recorded)) = (seeds.first()?, &grads[place]) else {
        return None;
    };
    let on_host = |x: &DynTensor| x.to_device(Device::Cpu).ok();
    let (seed, exponent) = (&on_host(seed)?, &on_host(exponent)?);
    let exponents: Vec<i64> = exponent
        .raw()
        .scalars()
        .map(integer)
        .collect::<Option<_>>()?;
    let bits = exponent.dtype().size() as u32 * 8;
    let powers =
        |power: &dyn Fn(i64) -> f64| exponents.iter().map(|&e| power(e)).collect::<Vec<_>>();
    let right = powers(&|e| 2_f64.powi(e as i32));
    let wrong = powers(&|e| wrapped(e, bits, exponent.dtype() != DType::U8));
    if right == wrong {
        return None;
    }
    let gradient = |powers: &[f64]| {
        let all = summed(seed, (powers, exponent.shape()), x.shape());
        let all = DynTensor::from_vec(all, x.shape(), Names::unnamed(x.shape().len()));
        all.and_then(|all| all.to_dtype(x.dtype())?.to_device(x.device()))
            .ok()
    };
    near(Op::Ldexp, &gradient(&wrong)?, recorded).ok()?;
    grads[place] = Value::Tensor(gradient(&right)?);
    Some("2 to the power of a negative or large integer is no integer of its dtype, and not 0")
}

fn integer(value: Scalar) -> Option<i64> {
    match value {
        Scalar::Int(value) => Some(value),
        _ => None,
    }
}

/// Returns 2 to the power of `e` in integers of some bits.
fn wrapped(e: i64, bits: u32, is_signed: bool) -> f64 {
    match u32::try_from(e) {
        Ok(e) if e + 1 == bits && is_signed => -2_f64.powi(e as i32),
        Ok(e) if e < bits => 2_f64.powi(e as i32),
        _ => 0.0,
    }
}

/// Multiplies a seed by factors that broadcast to its shape, and sums the products to the shape of the operand.
fn summed(seed: &DynTensor, factors: (&[f64], &[usize]), shape: &[usize]) -> Vec<f64> {
    let mut sums = vec![0.0; shape.iter().product()];
    for (at, value) in seed.raw().scalars().enumerate() {
        let factor = factors.0[broadcast(at, seed.shape(), factors.1)];
        sums[broadcast(at, seed.shape(), shape)] += value.to_complex().re * factor;
    }
    sums
}

/// Returns the index of the operand's element that broadcasts to element `at` of a result.
fn broadcast(mut at: usize, result: &[usize], operand: &[usize]) -> usize {
    let (mut place, mut step) = (0, 1);
    for (dim, size) in result.iter().rev().enumerate() {
        let index = at % size;
        at /= size;
        if let Some(&own) = operand.iter().rev().nth(dim) {
            place += if own == 1 { 0 } else { index * step };
            step *= own;
        }
    }
    place
}
