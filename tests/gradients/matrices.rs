//! Functions of matrices and transforms for central differences, since these rows have no recorded calls. Code around
//! each operator removes its ambiguities: the phases, and which triangle is read.

use nomina::{DType, DynTensor, Names, Result, Scalar};
use nomina_core::op::Op;
use nomina_core::op::class::Linalg;
use nomina_runtime::call::{
    self, Arg, FftNorm, MatrixNorm, MatrixOptions, matmul, matrices, pointwise,
};
use nomina_runtime::raw::Raw;

use crate::differences::filled;
use crate::differences_of_tape::{Checks, Compared, of_function};
use crate::tape::{Said, said};

/// A function, the sizes of its operands, and its dtypes.
struct Case {
    name: String,
    shapes: Vec<Vec<usize>>,
    complex: bool,
    real: bool,
    /// Whether its second derivatives are compared.
    smooth: bool,
    /// The elements of the operand, if they are not random.
    given: Option<Vec<f64>>,
    f: Box<dyn Fn(&[Raw]) -> Result<Vec<Raw>>>,
}

fn case(name: &str, shapes: &[&[usize]], f: impl Fn(&[Raw]) -> Result<Vec<Raw>> + 'static) -> Case {
    Case {
        name: name.to_owned(),
        shapes: shapes.iter().map(|shape| shape.to_vec()).collect(),
        complex: true,
        real: true,
        smooth: true,
        given: None,
        f: Box::new(f),
    }
}

fn all(op: Linalg, x: &Raw, options: MatrixOptions) -> Result<Vec<Raw>> {
    matrices(op, x, [x.rank() - 2, x.rank() - 1], options)
}

fn two(op: Op, a: &Raw, b: &Raw) -> Result<Raw> {
    pointwise(op, &[Arg::Tensor(a), Arg::Tensor(b)])
}

fn adjoint(x: &Raw) -> Result<Raw> {
    let x = DynTensor::from_parts(x.clone(), Names::unnamed(x.rank()))?.conj()?;
    let x = x.into_parts().0;
    x.transpose(x.rank() - 2, x.rank() - 1)
}

fn hermitian(x: &Raw) -> Result<Raw> {
    two(Op::Add, x, &adjoint(x)?)
}

/// Returns `x xᴴ` plus a diagonal.
fn positive(x: &Raw) -> Result<Raw> {
    let n = x.shape()[x.rank() - 1];
    two(
        Op::Add,
        &matmul(x, &adjoint(x)?)?,
        &call::eye(n, n, x.dtype(), x.device())?,
    )
}

/// Returns the numbers `1, 2, ..`, one per column.
fn counted(x: &Raw) -> Result<Raw> {
    let n = x.shape()[x.rank() - 1];
    Raw::from_vec((0..n).map(|i| 1.0 + i as f64).collect::<Vec<f64>>(), &[n])
}

/// Combines vectors so that their phases cancel.
fn without_phases(u: &Raw, vh: &Raw) -> Result<Raw> {
    matmul(&two(Op::Mul, u, &counted(u)?)?, vh)
}

fn solutions(op: Linalg, upper: bool, unitriangular: bool) -> impl Fn(&[Raw]) -> Result<Vec<Raw>> {
    move |x| {
        let rows = x[0].rank() - 2;
        let batch: Vec<(usize, usize)> = (0..rows).map(|dim| (dim, dim)).collect();
        let options = MatrixOptions {
            upper,
            unitriangular,
            ..MatrixOptions::default()
        };
        let solved = call::solve(op, &x[0], [rows, rows + 1], (&x[1], rows), &batch, options)?;
        Ok(vec![solved])
    }
}

fn cases() -> Vec<Case> {
    let plain = MatrixOptions::default();
    let mut cases = Vec::new();
    for shape in [&[3, 3][..], &[2, 3, 3]] {
        for op in [Linalg::Inv, Linalg::Det] {
            cases.push(case(op.op().name(), &[shape], move |x| {
                all(op, &x[0], plain)
            }));
        }
        cases.push(case("slogdet", &[shape], move |x| {
            all(Linalg::Slogdet, &x[0], plain)
        }));
        cases.push(case("cholesky", &[shape], move |x| {
            all(Linalg::Cholesky, &positive(&x[0])?, plain)
        }));
        cases.push(case("eigh", &[shape], move |x| {
            let made = all(Linalg::Eigh, &hermitian(&x[0])?, plain)?;
            let vectors = without_phases(&made[1], &adjoint(&made[1])?)?;
            Ok(vec![made[0].clone(), vectors])
        }));
        cases.push(case("eigvalsh", &[shape], move |x| {
            all(Linalg::Eigvalsh, &hermitian(&x[0])?, plain)
        }));
        cases.push(case("eig", &[shape], move |x| {
            // Well separated eigenvalues, so that their order is stable.
            let n = x[0].shape()[x[0].rank() - 1];
            let apart: Vec<f64> = (0..n * n)
                .map(|at| {
                    if at / n == at % n {
                        9.0 * (at / n) as f64
                    } else {
                        0.0
                    }
                })
                .collect();
            let x = two(Op::Add, &x[0], &Raw::from_vec(apart, &[n, n])?)?;
            let made = all(Linalg::Eig, &x, plain)?;
            let vectors = without_phases(&made[1], &adjoint(&made[1])?)?;
            Ok(vec![made[0].clone(), vectors])
        }));
        for upper in [false, true] {
            for unit in [false, true] {
                let right: Vec<usize> = [&shape[..shape.len() - 1], &[2]].concat();
                let f = solutions(Linalg::SolveTriangular, upper, unit);
                // The diagonal is well away from zero.
                cases.push(case("solve_triangular", &[shape, &right], move |x| {
                    let n = x[0].shape()[x[0].rank() - 1];
                    let eye = call::eye(n, n, x[0].dtype(), x[0].device())?;
                    let more = pointwise(
                        Op::Mul,
                        &[Arg::Tensor(&eye), Arg::Scalar(Scalar::Float(4.0))],
                    )?;
                    f(&[two(Op::Add, &x[0], &more)?, x[1].clone()])
                }));
            }
        }
        let right: Vec<usize> = [&shape[..shape.len() - 1], &[2]].concat();
        cases.push(case(
            "solve",
            &[shape, &right],
            solutions(Linalg::Solve, false, false),
        ));
    }
    for shape in [&[4, 3][..], &[3, 4], &[3, 3], &[2, 2, 4], &[2, 4, 2]] {
        let right: Vec<usize> = [&shape[..shape.len() - 1], &[2]].concat();
        cases.push(case(
            "lstsq",
            &[shape, &right],
            solutions(Linalg::Lstsq, false, false),
        ));
        cases.push(case("pinv", &[shape], move |x| {
            all(Linalg::Pinv, &x[0], plain)
        }));
        cases.push(case("qr", &[shape], move |x| all(Linalg::Qr, &x[0], plain)));
        cases.push(case("svdvals", &[shape], move |x| {
            all(Linalg::Svdvals, &x[0], plain)
        }));
        cases.push(case("svd", &[shape], move |x| {
            let made = all(Linalg::Svd, &x[0], plain)?;
            let (u, vh) = (&made[0], &made[2]);
            Ok(vec![
                made[1].clone(),
                without_phases(u, vh)?,
                without_phases(u, &adjoint(u)?)?,
                without_phases(&adjoint(vh)?, vh)?,
            ])
        }));
        for norm in [
            MatrixNorm::Fro,
            MatrixNorm::Nuc,
            MatrixNorm::One,
            MatrixNorm::Two,
            MatrixNorm::Inf,
        ] {
            let options = MatrixOptions { norm, ..plain };
            cases.push(case(&format!("matrix_norm {norm:?}"), &[shape], move |x| {
                all(Linalg::MatrixNorm, &x[0], options)
            }));
        }
    }
    // The last row is the sum of the others.
    cases.push(Case {
        smooth: false,
        given: Some(vec![1.0, 2.0, 0.0, 0.5, 1.0, 3.0, 1.5, 3.0, 3.0]),
        ..case("det of a singular matrix", &[&[3, 3]], move |x| {
            all(Linalg::Det, &x[0], plain)
        })
    });
    cases.extend(transforms());
    cases
}

fn transforms() -> Vec<Case> {
    let mut cases = Vec::new();
    for norm in [FftNorm::Backward, FftNorm::Ortho, FftNorm::Forward] {
        for inverse in [false, true] {
            let op = if inverse { Op::Ifft } else { Op::Fft };
            cases.push(case(op.name(), &[&[2, 5]], move |x| {
                Ok(vec![call::transform(op, &x[0], &[1], inverse, norm)?])
            }));
            let op = if inverse { Op::Ifftn } else { Op::Fftn };
            cases.push(case(op.name(), &[&[3, 2, 4]], move |x| {
                Ok(vec![call::transform(op, &x[0], &[2, 0], inverse, norm)?])
            }));
        }
        for n in [1, 4, 5] {
            cases.push(Case {
                complex: false,
                ..case("rfft", &[&[2, n, 2]], move |x| {
                    Ok(vec![call::rfft(Op::Rfft, &x[0], 1, norm)?])
                })
            });
            for given in [1, 2, 3, 4] {
                cases.push(case("irfft", &[&[given, 2]], move |x| {
                    Ok(vec![call::irfft(Op::Irfft, &x[0], 0, n, norm)?])
                }));
            }
        }
    }
    cases.push(case("fft_convolve", &[&[2, 5], &[1, 3]], move |x| {
        Ok(vec![call::convolve(Op::FftConvolve, &x[0], &x[1], 1)?])
    }));
    cases
}

/// Runs all cases. Returns the counts and the failures by name.
pub fn compared() -> (Compared, Vec<String>) {
    let (mut sum, mut failed, mut seed) = (Compared::default(), Vec::new(), 5);
    for case in cases() {
        for dtype in [DType::F64, DType::C128] {
            if !(if dtype.is_complex() {
                case.complex
            } else {
                case.real
            }) {
                continue;
            }
            match one(&case, dtype, &mut seed) {
                Ok(found) => {
                    sum.first += found.first;
                    sum.second += found.second;
                    sum.kinks += found.kinks;
                    if found.first == 0 {
                        failed.push(format!("{} of {dtype}: nothing compared", case.name));
                    }
                }
                Err(what) => failed.push(format!(
                    "{} {:?} of {dtype}: {what}",
                    case.name, case.shapes
                )),
            }
        }
    }
    (sum, failed)
}

fn one(case: &Case, dtype: DType, seed: &mut u64) -> Said<Compared> {
    let operands = case.shapes.iter().map(|shape| match &case.given {
        Some(given) => {
            said(DynTensor::from_vec(given.clone(), shape, ()).and_then(|x| x.to_dtype(dtype)))
        }
        None => filled(Op::Neg, dtype, shape, 0, seed),
    });
    let operands = operands.collect::<Said<Vec<_>>>()?;
    let f = |operands: &[DynTensor]| {
        let raws: Vec<Raw> = operands.iter().map(|x| x.raw().clone()).collect();
        let made = said((case.f)(&raws))?;
        made.into_iter()
            .map(|raw| {
                let rank = raw.rank();
                said(DynTensor::from_parts(raw, Names::unnamed(rank)))
            })
            .collect()
    };
    let checks = Checks {
        smooth: case.smooth,
        ..Checks::default()
    };
    of_function(&f, &operands, checks)
}
