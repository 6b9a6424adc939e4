//! Multiples of one matrix by powers of two, from the smallest to the greatest of a dtype: results, first and second
//! derivatives follow from those of the matrix by a scaling law. The predicted values are compared wherever the dtype
//! can represent them.

use nomina::{BackwardOptions, DType, DynTensor, Names, Result};
use nomina_core::op::class::Linalg;
use nomina_runtime::call::{MatrixNorm, MatrixOptions, matrices, solve, to_dtype};
use nomina_runtime::grad::gradients;
use nomina_runtime::raw::Raw;

/// An operator, and the degree in which each result depends on a factor of the matrix.
struct Law {
    op: Linalg,
    norm: MatrixNorm,
    degrees: &'static [f64],
    matrix: &'static [f64],
    shape: [usize; 2],
    /// Whether the derivatives of all results exist and are independent of phases.
    smooth: bool,
}

const GENERAL: &[f64] = &[4.0, 1.0, -2.0, 3.0, 7.0, 1.0, 2.0, -5.0, 6.0];
const POSITIVE: &[f64] = &[9.0, 2.0, 1.0, 2.0, 7.0, -3.0, 1.0, -3.0, 5.0];
const TALL: &[f64] = &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0];

fn laws() -> Vec<Law> {
    let square = |op, degrees, smooth| Law {
        op,
        norm: MatrixNorm::Fro,
        degrees,
        matrix: GENERAL,
        shape: [3, 3],
        smooth,
    };
    let positive = |op, degrees, smooth| Law {
        matrix: POSITIVE,
        ..square(op, degrees, smooth)
    };
    let tall = |op, degrees, smooth| Law {
        matrix: TALL,
        shape: [3, 2],
        ..square(op, degrees, smooth)
    };
    let mut laws = vec![
        square(Linalg::Inv, &[-1.0], true),
        square(Linalg::Det, &[3.0], true),
        square(Linalg::Slogdet, &[0.0, f64::NAN], true),
        square(Linalg::MatrixRank, &[0.0], false),
        square(Linalg::Solve, &[-1.0], true),
        positive(Linalg::SolveTriangular, &[-1.0], true),
        positive(Linalg::Cholesky, &[0.5], true),
        positive(Linalg::Eigh, &[1.0, 0.0], true),
        positive(Linalg::Eigvalsh, &[1.0], true),
        // The phases of its vectors are arbitrary.
        positive(Linalg::Eig, &[1.0], false),
        tall(Linalg::Pinv, &[-1.0], true),
        tall(Linalg::Lstsq, &[-1.0], true),
        tall(Linalg::Qr, &[0.0, 1.0], true),
        tall(Linalg::Svd, &[0.0, 1.0, 0.0], true),
        tall(Linalg::Svdvals, &[1.0], true),
    ];
    for norm in [
        MatrixNorm::Fro,
        MatrixNorm::Nuc,
        MatrixNorm::One,
        MatrixNorm::Two,
        MatrixNorm::Inf,
    ] {
        laws.push(Law {
            norm,
            ..tall(Linalg::MatrixNorm, &[1.0], true)
        });
    }
    laws
}

/// Returns `x * 2^by`, rounded once unless it underflows completely.
fn ldexp(x: f64, by: i32) -> f64 {
    let half = by / 2;
    let third = half / 2;
    x * 2.0_f64.powi(third) * 2.0_f64.powi(half - third) * 2.0_f64.powi(by - half)
}

fn tensor(values: &[f64], by: i32, shape: &[usize], dtype: DType) -> Result<Raw> {
    let values = values.iter().map(|&x| ldexp(x, by)).collect::<Vec<_>>();
    to_dtype(&Raw::from_vec(values, shape)?, dtype)
}

fn leaf(x: Raw) -> Result<Raw> {
    let rank = x.rank();
    let x = DynTensor::from_parts(x, Names::unnamed(rank))?.with_grad()?;
    Ok(x.into_parts().0)
}

fn numbers(x: &Raw) -> Vec<f64> {
    x.scalars()
        .flat_map(|x| {
            let x = x.to_complex();
            [x.re, x.im]
        })
        .collect()
}

/// Results, and for each result its first and second derivatives.
type Made = (Vec<Vec<f64>>, Vec<[Vec<f64>; 2]>);

fn made(law: &Law, by: i32, right_by: i32, dtype: DType) -> Result<Made> {
    let x = leaf(tensor(law.matrix, by, &law.shape, dtype)?)?;
    let options = MatrixOptions {
        norm: law.norm,
        ..MatrixOptions::default()
    };
    let results = match law.op {
        Linalg::Solve | Linalg::SolveTriangular | Linalg::Lstsq => {
            let b = tensor(&[1.0, 2.0, -1.0], right_by, &[3, 1], dtype)?;
            vec![solve(law.op, &x, [0, 1], (&b, 0), &[], options)?]
        }
        _ => matrices(law.op, &x, [0, 1], options)?,
    };
    let values = results.iter().map(numbers).collect();
    let mut derivatives = Vec::new();
    let records = BackwardOptions {
        retain_graph: true,
        create_graph: true,
    };
    let weights = |like: &Raw| {
        let count = like.numel();
        let values: Vec<f64> = (0..count).map(|i| 1.0 + (i % 3) as f64 * 0.5).collect();
        to_dtype(&Raw::from_vec(values, like.shape())?, like.dtype())
    };
    for result in results
        .iter()
        .filter(|result| law.smooth && result.requires_grad())
    {
        let first = gradients(result, weights(result)?, &[&x], records)?;
        let Some(first) = &first[0] else { continue };
        let second = if first.requires_grad() {
            let second = gradients(first, weights(first)?, &[&x], records)?;
            second[0].as_ref().map(numbers).unwrap_or_default()
        } else {
            Vec::new()
        };
        derivatives.push([numbers(first), second]);
    }
    Ok((values, derivatives))
}

struct Range {
    dtype: DType,
    eps: f64,
    least: f64,
    greatest: f64,
    exponents: &'static [i32],
}

const RANGES: [Range; 4] = {
    const SINGLE: &[i32] = &[
        -149, -140, -127, -110, -90, -60, -41, -31, -20, 20, 31, 41, 60, 90, 110, 124,
    ];
    const DOUBLE: &[i32] = &[
        -1074, -1060, -1023, -900, -600, -510, -252, -100, 100, 252, 510, 600, 900, 1020,
    ];
    [
        Range {
            dtype: DType::F32,
            eps: f32::EPSILON as f64,
            least: 1.4e-45,
            greatest: f32::MAX as f64,
            exponents: SINGLE,
        },
        Range {
            dtype: DType::C64,
            eps: f32::EPSILON as f64,
            least: 1.4e-45,
            greatest: f32::MAX as f64,
            exponents: SINGLE,
        },
        Range {
            dtype: DType::F64,
            eps: f64::EPSILON,
            least: 5e-324,
            greatest: f64::MAX,
            exponents: DOUBLE,
        },
        Range {
            dtype: DType::C128,
            eps: f64::EPSILON,
            least: 5e-324,
            greatest: f64::MAX,
            exponents: DOUBLE,
        },
    ]
};

/// Compares, unless the greatest predicted value is too close to the end of the range. Returns the number of comparisons.
fn compare(
    what: &str,
    got: &[f64],
    one: &[f64],
    by: i32,
    range: &Range,
    failures: &mut Vec<String>,
) -> usize {
    let want: Vec<f64> = one.iter().map(|&x| ldexp(x, by)).collect();
    let most = want.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let whole = one.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if whole == 0.0 || most == 0.0 || most >= range.greatest {
        return 0;
    }
    let off = 400.0 * range.eps * most + 2.0 * range.least;
    let is_close = |(got, want): (&f64, &f64)| (got - want).abs() <= off;
    if got.len() != want.len() || !got.iter().zip(&want).all(is_close) {
        failures.push(format!("{what}: {got:?}, not {want:?}"));
    }
    want.len()
}

#[test]
fn multiples_at_all_scales() -> Result<()> {
    let (mut compared, mut failures) = (0, Vec::new());
    for law in laws() {
        for range in &RANGES {
            let one = made(&law, 0, 0, range.dtype)?;
            for &by in range.exponents {
                let by = if matches!(law.op, Linalg::Cholesky) {
                    by + (by & 1)
                } else {
                    by
                };
                for right_by in [0, by] {
                    let what = format!(
                        "{:?} {:?} {} 2^{by} 2^{right_by}",
                        law.op, law.norm, range.dtype
                    );
                    let here = match made(&law, by, right_by, range.dtype) {
                        Ok(here) => here,
                        Err(error) => {
                            failures.push(format!("{what}: {error}"));
                            continue;
                        }
                    };
                    for (at, &degree) in law.degrees.iter().enumerate() {
                        let (got, one) = (&here.0[at], &one.0[at]);
                        if degree.is_nan() {
                            // The logarithm of a determinant.
                            let want = one[0] + 3.0 * f64::from(by) * std::f64::consts::LN_2;
                            if (got[0] - want).abs() > 8.0 * range.eps * want.abs() {
                                failures.push(format!("{what}: {} not {want}", got[0]));
                            }
                            continue;
                        }
                        let shift = (degree * f64::from(by)) as i32;
                        let shift = if degree < 0.0 {
                            shift + right(&law, right_by)
                        } else {
                            shift
                        };
                        compared += compare(&what, got, one, shift, range, &mut failures);
                    }
                    for (at, (got, one)) in here.1.iter().zip(&one.1).enumerate() {
                        let degree = if law.degrees[at].is_nan() {
                            0.0
                        } else {
                            law.degrees[at]
                        };
                        for order in 0..2 {
                            let lower = f64::from(by) * (degree - 1.0 - order as f64);
                            let extra = if degree < 0.0 {
                                right(&law, right_by)
                            } else {
                                0
                            };
                            let what = format!("{what}, derivative {} of result {at}", order + 1);
                            compared += compare(
                                &what,
                                &got[order],
                                &one[order],
                                lower as i32 + extra,
                                range,
                                &mut failures,
                            );
                        }
                    }
                }
            }
        }
    }
    assert!(compared > 20_000, "only {compared} numbers");
    assert!(
        failures.is_empty(),
        "{} of {compared}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    Ok(())
}

/// Returns the exponent that the right-hand side contributes to a solution.
fn right(law: &Law, by: i32) -> i32 {
    match law.op {
        Linalg::Solve | Linalg::SolveTriangular | Linalg::Lstsq => by,
        _ => 0,
    }
}
