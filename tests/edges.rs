//! Elementwise operators at the ends of each dtype's range: values, first and second derivatives.
//!
//! `tests/data/edges.csv` holds the exact results (`scripts/edge_tables.py` writes it). Every row of the operator table
//! that takes floats and has a scalar expression must be in that file or in [`ELSEWHERE`], and must give the file's
//! numbers in `f16`, `bf16`, `f32` and `f64`: for tensors of a few elements, whose gradients are computed step by step,
//! and for larger tensors, whose gradients are computed in one pass.
//!
//! `cargo test --test edges -- --nocapture` prints the rows, dtypes and points that were compared, and the exceptions.

#[allow(
    dead_code,
    reason = "what is expected of a case is not read from it here"
)]
#[path = "conformance/case.rs"]
mod case;
#[allow(dead_code, reason = "layouts and odd values are of another test")]
#[path = "rows/inputs.rs"]
mod inputs;
#[path = "rows/recorded.rs"]
mod recorded;
#[path = "edges/scaled.rs"]
mod scaled;

use std::collections::BTreeMap;

use nomina::{BackwardOptions, DType, Result, Scalar};
use nomina_core::op::{Edges, Grad, Op, Param};
use nomina_runtime::Raw;
use nomina_runtime::call::{self, Arg};
use nomina_runtime::grad::gradients;

/// The minimum number of elements of a large tensor.
const LARGE: usize = 6000;

/// One line of the file.
struct Point {
    /// The text of the line up to the results, for messages.
    label: String,
    inputs: Vec<f64>,
    /// The value, the derivative with respect to each operand, and the upper triangle of the second derivatives. `None`
    /// if there is no limit.
    results: Vec<Option<f64>>,
}

/// The points of each operator in each dtype.
type Points = BTreeMap<(Op, &'static str), Vec<Point>>;

/// The tolerances of values, first and second derivatives, in units in the last place.
const UNITS: [f64; 3] = [8.0, 16.0, 64.0];

/// The rows that the file lacks, and the reason for each.
const ELSEWHERE: &[(&str, &[&str])] = &[
    (
        "pieces that are constant or linear, compared by `gradcheck`",
        &[
            "absolute_error",
            "clamp",
            "clamp_max",
            "clamp_min",
            "copysign",
            "dropped",
            "fmax",
            "fmin",
            "frac",
            "hardshrink",
            "heaviside",
            "masked_fill",
            "maximum",
            "minimum",
            "nan_to_num",
            "prelu",
            "threshold",
            "where",
        ],
    ),
    (
        "sums, products and quotients of rows of the file",
        &[
            "addcdiv",
            "addcmul",
            "addcmul_value",
            "angle",
            "binary_entropy",
            "float_power",
            "fmod",
            "huber_error",
            "lerp",
            "logit_entropy",
            "logit_eps",
            "poisson_error",
            "poisson_log_error",
            "remainder",
            "smooth_error",
            "stirling",
        ],
    ),
    (
        "values in the tables of `nomina-runtime`'s test `accuracy`",
        &["erfinv", "ndtri", "polygamma", "zeta"],
    ),
    (
        "slopes of rows of the file, whose derivatives they compute",
        &[
            "asin_slope",
            "asinh_slope",
            "atan_slope",
            "atanh_slope",
            "bell",
            "erfcx_nth",
            "i0_nth",
            "i0e_nth",
            "i1e_nth",
            "sinc_nth",
            "vanishing",
        ],
    ),
];

/// A float format: its name in the file, the distance from 1 to the next number, the greatest number, and the least
/// subnormal.
type Format = (&'static str, DType, f64, f64, f64);

/// The formats of the file.
const FORMATS: [Format; 4] = [
    (
        "f16",
        DType::F16,
        9.765625e-4,
        65504.0,
        5.960464477539063e-8,
    ),
    (
        "bf16",
        DType::BF16,
        7.8125e-3,
        3.3895313892515355e38,
        9.183549615799121e-41,
    ),
    (
        "f32",
        DType::F32,
        1.1920928955078125e-7,
        3.4028234663852886e38,
        1.401298464324817e-45,
    ),
    ("f64", DType::F64, f64::EPSILON, f64::MAX, 5e-324),
];

fn operator(name: &str) -> Op {
    let found = Op::ALL.iter().copied().find(|op| op.name() == name);
    found.unwrap_or_else(|| panic!("the file names `{name}`, which is not an operator"))
}

fn table() -> Points {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/edges.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let mut points = Points::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        let [name, dtype, inputs, results] = cells[..] else {
            panic!("a line has four cells: {line}");
        };
        let numbers = |cell: &str| -> Vec<Option<f64>> {
            let number = |word: &str| (word != "?").then(|| word.parse().unwrap());
            cell.split(' ').map(number).collect()
        };
        let format = FORMATS.iter().find(|format| format.0 == dtype).unwrap();
        let point = Point {
            label: format!("{name} {dtype} at {inputs}"),
            inputs: numbers(inputs).into_iter().map(Option::unwrap).collect(),
            results: numbers(results),
        };
        points
            .entry((operator(name), format.0))
            .or_default()
            .push(point);
    }
    points
}

/// Evaluates the operator's expression on some operands; its other numeric parameters have their defaults.
fn apply(op: Op, operands: &[Raw]) -> Result<Raw> {
    let number = |param: Param| {
        let text = param.default.expect("a default");
        Arg::Scalar(Scalar::Float(text.parse().unwrap()))
    };
    let args: Vec<Arg<'_>> = operands
        .iter()
        .map(Arg::from)
        .chain(op.row().numbers().map(number))
        .collect();
    call::pointwise(op, &args)
}

/// Computes an operator and its derivatives for columns of operands, with results in the order of [`Point::results`].
fn computed(op: Op, dtype: DType, columns: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
    let leaf = |column: &Vec<f64>| -> Result<Raw> {
        let wide = Raw::from_vec(column.clone(), &[column.len()])?;
        let mut raw = call::to_dtype(&wide, dtype)?;
        raw.requires_grad_()?;
        Ok(raw)
    };
    let leaves = columns.iter().map(leaf).collect::<Result<Vec<Raw>>>()?;
    let inputs: Vec<&Raw> = leaves.iter().collect();
    let count = columns[0].len();
    let ones =
        || -> Result<Raw> { call::to_dtype(&Raw::from_vec(vec![1.0; count], &[count])?, dtype) };
    let numbers = |x: &Raw| -> Vec<f64> { x.scalars().map(|x| x.to_complex().re).collect() };
    let zeros = vec![0.0; count];
    let value = apply(op, &leaves)?;
    let mut results = vec![numbers(&value)];
    if !value.requires_grad() {
        return Ok(results);
    }
    let create = BackwardOptions {
        retain_graph: true,
        create_graph: true,
    };
    let first = gradients(&value, ones()?, &inputs, create)?;
    // Without a graph, derivatives take a different code path.
    let keep = BackwardOptions {
        retain_graph: true,
        create_graph: false,
    };
    let plain = gradients(&value, ones()?, &inputs, keep)?;
    for (graph, plain) in first.iter().zip(&plain) {
        let own = plain.as_ref().map_or_else(|| zeros.clone(), numbers);
        let recorded = graph.as_ref().map_or_else(|| zeros.clone(), numbers);
        for (at, (a, b)) in own.iter().zip(&recorded).enumerate() {
            let near = a == b
                || a.is_nan() && b.is_nan()
                || (a - b).abs() <= 2e-2 * a.abs().max(b.abs()) + 1e-7;
            let inputs: Vec<f64> = columns.iter().map(|column| column[at]).collect();
            assert!(
                near,
                "{op:?} of {dtype} at {inputs:?}: the slope is {a:e} without a graph and {b:e} with one"
            );
        }
        results.push(own);
    }
    for (at, gradient) in first.iter().enumerate() {
        let seconds = match gradient {
            Some(gradient) if gradient.requires_grad() => {
                gradients(gradient, ones()?, &inputs, keep)?
            }
            _ => vec![None; inputs.len()],
        };
        results.extend(
            seconds
                .iter()
                .skip(at)
                .map(|x| x.as_ref().map_or_else(|| zeros.clone(), numbers)),
        );
    }
    Ok(results)
}

/// Returns whether `got` is `want` rounded to a format, with a tolerance of some units in the last place of a number of
/// `size` plus some least subnormals.
fn is_near(got: f64, want: f64, size: f64, units: [f64; 2], format: Format) -> bool {
    let (_, _, step, top, least) = format;
    let bound = units[0] * step * size + units[1] * least;
    if want.abs() + bound > top {
        // May round to the greatest number or to infinity.
        let end = got.abs() >= top * (1.0 - 8.0 * step) && got.signum() == want.signum();
        return end || (got - want).abs() <= bound;
    }
    (got - want).abs() <= bound
}

/// Returns the order of the derivative at index `result` of a point.
fn order(result: usize, operands: usize) -> usize {
    match result {
        0 => 0,
        result if result <= operands => 1,
        _ => 2,
    }
}

impl Point {
    /// Returns whether a lower-order result is out of range: anything computed from infinity is not compared.
    fn is_beyond(&self, result: usize, top: f64) -> bool {
        let operands = self.inputs.len();
        let own = order(result, operands);
        let all = self.results.iter().enumerate();
        let mut below = all.filter(|(at, _)| order(*at, operands) < own);
        below.any(|(_, x)| x.is_none_or(|x| x.abs() > top))
    }

    /// Returns the magnitude of the terms of a derivative: the greatest of its order, and the change of the order below
    /// across the operands.
    fn terms(&self, result: usize) -> f64 {
        let operands = self.inputs.len();
        let own = order(result, operands);
        let greatest = |own: usize| {
            let all = self.results.iter().enumerate();
            let of_order = all.filter(|(at, _)| order(*at, operands) == own);
            of_order
                .filter_map(|(_, x)| *x)
                .fold(0.0, |max: f64, x| max.max(x.abs()))
        };
        let least = self
            .inputs
            .iter()
            .fold(f64::INFINITY, |min, x| min.min(x.abs()));
        greatest(own).max(greatest(own - 1) / least.max(f64::MIN_POSITIVE))
    }
}

#[test]
fn elementwise_operators_hold_at_the_ends_of_every_range() {
    let points = table();
    let (mut compared, mut failed) = (0, BTreeMap::<String, Vec<String>>::new());
    // The count of compared numbers of each row, and of exceptions among them.
    let mut rows = BTreeMap::<Op, [usize; 2]>::new();
    for (&(op, name), points) in &points {
        let format = *FORMATS.iter().find(|format| format.0 == name).unwrap();
        let (_, dtype, _, top, _) = format;
        if !op.row().dtypes.contains(dtype) {
            continue;
        }
        for copies in [1, LARGE.div_ceil(points.len())] {
            let column = |place: usize| -> Vec<f64> {
                let all = points.iter().map(|point| point.inputs[place]);
                std::iter::repeat_n(all.collect::<Vec<f64>>(), copies)
                    .flatten()
                    .collect()
            };
            let columns: Vec<Vec<f64>> = (0..points[0].inputs.len()).map(column).collect();
            let results = computed(op, dtype, &columns).unwrap();
            for (at, point) in points.iter().enumerate() {
                for (result, (got, want)) in results.iter().zip(&point.results).enumerate() {
                    let Some(want) = want.filter(|_| !point.is_beyond(result, top)) else {
                        continue;
                    };
                    compared += 1;
                    let counts = rows.entry(op).or_default();
                    counts[0] += 1;
                    let order = order(result, point.inputs.len());
                    let units = UNITS[order];
                    let got = got[at];
                    if is_near(got, want, want.abs(), [units; 2], format) {
                        continue;
                    }
                    // A subnormal factor is multiplied by an operand.
                    let greatest = point
                        .inputs
                        .iter()
                        .fold(1.0, |max: f64, x| max.max(x.abs()));
                    let both = [units, units * greatest.min(1000.0)];
                    let by_terms =
                        || order > 0 && is_near(got, want, point.terms(result), both, format);
                    let is_excepted = match op.row().edges {
                        Edges::Terms(_) => by_terms(),
                        Edges::Except(from, _) => order >= usize::from(from) || by_terms(),
                        _ => false,
                    };
                    if is_excepted {
                        counts[1] += 1;
                        continue;
                    }
                    let what = format!(
                        "{}, result {result}, {copies} copies: {got:e}, not {want:e}",
                        point.label
                    );
                    let place = format!("{} {name} {result}", op.name());
                    failed.entry(place).or_default().push(what);
                }
            }
        }
    }
    println!(
        "{compared} numbers of {} rows and dtypes in f16, bf16, f32 and f64:",
        points.len()
    );
    let mut wrong = Vec::new();
    for (op, [all, excepted]) in &rows {
        let reason = match op.row().edges {
            Edges::Terms(why) | Edges::Except(_, why) => why,
            _ => "",
        };
        println!(
            "{:<16} {all:>6} numbers, {excepted:>4} exceptions {reason}",
            op.name()
        );
        // A reason without an exception is out of date; a reason for more than a tenth of the numbers is not an
        // exception.
        if (*excepted == 0) != reason.is_empty() || excepted * 10 > *all {
            wrong.push(op.name());
        }
    }
    let text: String = failed
        .iter()
        .map(|(what, own)| {
            let some: String = own
                .iter()
                .take(4)
                .map(|line| format!("    {line}\n"))
                .collect();
            format!("{what}: {}\n{some}", own.len())
        })
        .collect();
    assert!(failed.is_empty(), "\n{text}");
    assert!(
        wrong.is_empty(),
        "other exceptions than the rows say: {wrong:?}"
    );
}

/// Every elementwise row of floats that has a derivative is in the table or is listed as tested elsewhere.
#[test]
fn no_row_is_left_out() {
    let points = table();
    let is_listed = |op: Op| points.keys().any(|(own, _)| *own == op);
    let is_smooth = |op: &Op| op.row().grad == Grad::Lines && op.row().dtypes.contains(DType::F32);
    let elementwise = Op::ALL
        .iter()
        .copied()
        .filter(|op| op.row().expression().is_some());
    let lost: Vec<&str> = elementwise
        .filter(|op| is_smooth(op) && !is_listed(*op))
        .map(Op::name)
        .filter(|name| !ELSEWHERE.iter().any(|(_, rows)| rows.contains(name)))
        .collect();
    assert!(
        lost.is_empty(),
        "add to `scripts/edge_tables.py`, or say where they are tested: {lost:?}"
    );
}

#[test]
fn homogeneous_operators_scale_to_the_ends_of_every_range() {
    let tally = scaled::compared();
    println!("{} outputs compared", tally.outputs);
    let mut text = String::new();
    let mut rows = BTreeMap::<&str, Vec<&String>>::new();
    let reason = |name: &str| match operator(name).row().edges {
        Edges::Scaled(why) => Some(why),
        _ => None,
    };
    for (name, what) in &tally.failed {
        rows.entry(name).or_default().push(what);
    }
    for (name, own) in rows {
        if let Some(why) = reason(name) {
            println!("{name:<24} {:>4} outputs: {why}", own.len());
            continue;
        }
        text += &format!("{name}: {}\n", own.len());
        for line in own.iter().take(5) {
            text += &format!("    {line}\n");
        }
    }
    assert!(text.is_empty(), "\n{text}");
    let is_stale = |op: &&Op| {
        let is_scaled = matches!(op.row().edges, Edges::Scaled(_));
        is_scaled && tally.failed.iter().all(|(name, _)| *name != op.name())
    };
    let stale: Vec<&Op> = Op::ALL.iter().filter(is_stale).collect();
    assert!(stale.is_empty(), "reasons that are out of date: {stale:?}");
}
