//! Adjugates of matrices, which are the derivatives of determinants.
//!
//! They are computed by recorded operators whose derivatives of all orders are correct, also at singular matrices. Far from singular
//! matrices that is `det(A) A⁻¹`. Elsewhere a constant rotation moves the regular part to one block. The determinant is then that of
//! the block times that of its Schur complement, whose adjugate has fewer rows.

use nomina_core::Result;
use nomina_core::op::Op;
use nomina_core::op::class::Linalg;

use super::matrices::{all_results, first_result, product, reduced_svd, unsqueeze_matrix};
use super::matrix_scale::MatrixScale;
use crate::call::arithmetic::{add, adjoint, mul, neg, scaled, sub, sum, turned};
use crate::call::{Arg, MatrixOptions, cat, eye, full, index_select, matmul, pointwise};
use crate::raw::Raw;
use crate::raw::graph::no_grad;
use crate::shape::{count, product as product_of};

/// How the adjugate of a matrix is computed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum AdjugateMethod {
    /// An element is NaN or infinite.
    NotFinite,
    /// The number of singular values that are not small compared with the greatest; all of them for a regular matrix.
    Rank(usize),
}

/// Computes the adjugates of square matrices: `A adj(A) = det(A)`.
pub(super) fn adjugate(a: &Raw) -> Result<Raw> {
    let n = a.shape()[a.rank() - 1];
    match n {
        0 => return Ok(a.clone()),
        1 => return full(a.shape(), 1_i64.into(), a.dtype(), a.device()),
        2 => return adjugate_2x2(a),
        3 => return adjugate_3x3(a),
        _ => {}
    }
    let flat = a.reshape(&[count(&a.shape()[..a.rank() - 2]), n, n])?;
    let kinds = kinds(&flat)?;
    let mut distinct = kinds.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if let [kind] = distinct[..] {
        return of_kind(&flat, kind)?.reshape(a.shape());
    }
    let (mut made, mut places) = (Vec::new(), vec![0_i64; kinds.len()]);
    let mut before = 0;
    for kind in distinct {
        let all = kinds.iter().enumerate().filter(|&(_, &own)| own == kind);
        let index: Vec<i64> = all.map(|(i, _)| i as i64).collect();
        for &i in &index {
            places[i as usize] = before;
            before += 1;
        }
        made.push(of_kind(&selected(&flat, index)?, kind)?);
    }
    let together = cat(&made.iter().collect::<Vec<_>>(), 0)?;
    selected(&together, places)?.reshape(a.shape())
}

fn selected(x: &Raw, index: Vec<i64>) -> Result<Raw> {
    let len = index.len();
    index_select(Op::IndexSelect, x, 0, &Raw::from_vec(index, &[len])?)
}

/// Returns the square root of the dtype's precision. For condition numbers above its reciprocal, the gradient of `det(A) A⁻¹` loses
/// half of its digits.
pub(super) fn least_regular(a: &Raw) -> f64 {
    if a.dtype().to_real() == nomina_core::DType::F64 {
        f64::EPSILON.sqrt()
    } else {
        f64::from(f32::EPSILON).sqrt()
    }
}

fn kinds(flat: &Raw) -> Result<Vec<AdjugateMethod>> {
    no_grad(|| {
        let flat = flat.clone().detach();
        let n = flat.shape()[1];
        let finite = pointwise(Op::Isfinite, &[Arg::Tensor(&flat)])?.to_vec::<bool>()?;
        let finite: Vec<bool> = finite
            .chunks(product_of([n, n]))
            .map(|matrix| !matrix.contains(&false))
            .collect();
        let index = (0..finite.len()).filter(|&i| finite[i]);
        let looked_at = selected(&flat, index.map(|i| i as i64).collect())?;
        let values = first_result(Linalg::Svdvals, &looked_at, MatrixOptions::default())?;
        let values: Vec<f64> = values.scalars().map(|value| value.to_f64()).collect();
        let least = least_regular(&flat);
        let mut ranks = values.chunks(n).map(|values| {
            let greatest = values[0];
            // Zeros are not small compared with zeros.
            let kept = values.iter().take_while(|&&s: &&f64| s > least * greatest);
            AdjugateMethod::Rank(kept.count())
        });
        let of = |finite| {
            if finite {
                ranks.next().unwrap_or(AdjugateMethod::NotFinite)
            } else {
                AdjugateMethod::NotFinite
            }
        };
        Ok(finite.into_iter().map(of).collect())
    })
}

fn of_kind(a: &Raw, kind: AdjugateMethod) -> Result<Raw> {
    match kind {
        AdjugateMethod::NotFinite => scaled(a, f64::NAN),
        AdjugateMethod::Rank(0) => of_zero(a),
        AdjugateMethod::Rank(rank) if rank == a.shape()[2] => of_regular(a),
        AdjugateMethod::Rank(rank) => of_singular(a, rank),
    }
}

/// Computes `[[d, -b], [-c, a]]`.
fn adjugate_2x2(a: &Raw) -> Result<Raw> {
    let (rows, columns) = (a.rank() - 2, a.rank() - 1);
    let signs: Vec<f64> = vec![1.0, -1.0, -1.0, 1.0];
    let signs = Raw::from_vec(signs, &[2, 2])?;
    let signs = crate::call::to_dtype(&signs, a.dtype().to_real())?;
    let signs = crate::call::to_device(&signs, a.device())?;
    mul(&turned(&a.flip(rows)?.flip(columns)?)?, &signs)
}

/// Computes the transposed cofactors from products.
fn adjugate_3x3(a: &Raw) -> Result<Raw> {
    let rolled = |x: &Raw, dim: usize, by: usize| {
        cat(&[&x.narrow(dim, by, 3 - by)?, &x.narrow(dim, 0, by)?], dim)
    };
    let (rows, columns) = (a.rank() - 2, a.rank() - 1);
    let [below, above] = [rolled(a, rows, 1)?, rolled(a, rows, 2)?];
    let first = mul(&rolled(&below, columns, 1)?, &rolled(&above, columns, 2)?)?;
    let second = mul(&rolled(&below, columns, 2)?, &rolled(&above, columns, 1)?)?;
    turned(&sub(&first, &second)?)
}

/// Computes `det(A) A⁻¹` from multiples whose determinant is near 1.
fn of_regular(a: &Raw) -> Result<Raw> {
    let n = a.shape()[2];
    let logs = no_grad(|| {
        all_results(
            Linalg::Slogdet,
            &a.clone().detach(),
            MatrixOptions::default(),
        )
    })?;
    let logs = logs[1].scalars().map(|log| log.to_f64());
    let each = logs.map(|log| (log / n as f64 / std::f64::consts::LN_2).round() as i64);
    let scale = MatrixScale::new(each.collect(), &a.shape()[..1]);
    let near = scale.times(a, -1, 2)?;
    let det = first_result(Linalg::Det, &near, MatrixOptions::default())?;
    let inverse = first_result(Linalg::Inv, &near, MatrixOptions::default())?;
    scale.times(&mul(&unsqueeze_matrix(&det)?, &inverse)?, n as i64 - 1, 2)
}

/// Computes the adjugate by the Faddeev–LeVerrier polynomials, which are exact at zero with all derivatives.
fn of_zero(a: &Raw) -> Result<Raw> {
    let n = a.shape()[2];
    let identity = eye(n, n, a.dtype().to_real(), a.device())?;
    let mut made = add(&scaled(a, 0.0)?, &identity)?;
    for k in 1..n {
        let next = matmul(a, &made)?;
        let trace = sum(&mul(&next, &identity)?, &[1, 2], true)?;
        made = sub(&next, &mul(&scaled(&trace, 1.0 / k as f64)?, &identity)?)?;
    }
    if n.is_multiple_of(2) {
        neg(&made)
    } else {
        Ok(made)
    }
}

/// Returns the adjugates of matrices that have `rank` singular values that are not small.
fn of_singular(a: &Raw, rank: usize) -> Result<Raw> {
    let n = a.shape()[2];
    let (u, v, phase, scale) = no_grad(|| {
        let a = a.clone().detach();
        let [u, s, vh] = reduced_svd(&a)?;
        let det = |x: &Raw| first_result(Linalg::Det, x, MatrixOptions::default());
        let phase = unsqueeze_matrix(&mul(&det(&u)?, &det(&vh)?)?)?;
        let greatest = s.narrow(1, 0, 1)?;
        let greatest = greatest.scalars().map(|s| s.to_f64().log2().floor() as i64);
        let scale = MatrixScale::new(greatest.collect(), &a.shape()[..1]);
        Ok((u, adjoint(&vh)?, phase, scale))
    })?;
    let rotated = product([&adjoint(&u)?, &scale.times(a, -1, 2)?, &v])?;
    let part = |rows: (usize, usize), columns: (usize, usize)| {
        rotated
            .narrow(1, rows.0, rows.1)?
            .narrow(2, columns.0, columns.1)
    };
    let (kept, rest) = ((0, rank), (rank, n - rank));
    let [first, right, below, last] = [
        part(kept, kept)?,
        part(kept, rest)?,
        part(rest, kept)?,
        part(rest, rest)?,
    ];
    let det = first_result(Linalg::Det, &first, MatrixOptions::default())?;
    let inverse = first_result(Linalg::Inv, &first, MatrixOptions::default())?;
    let (left, up) = (matmul(&below, &inverse)?, matmul(&inverse, &right)?);
    let complement = sub(&last, &matmul(&below, &up)?)?;
    let others = adjugate(&complement)?;
    let of_rest = first_result(Linalg::Det, &complement, MatrixOptions::default())?;
    let corner = add(
        &mul(&unsqueeze_matrix(&of_rest)?, &inverse)?,
        &product([&up, &others, &left])?,
    )?;
    let top = cat(&[&corner, &neg(&matmul(&up, &others)?)?], 2)?;
    let bottom = cat(&[&neg(&matmul(&others, &left)?)?, &others], 2)?;
    let made = mul(&unsqueeze_matrix(&det)?, &cat(&[&top, &bottom], 1)?)?;
    let back = mul(&phase, &product([&v, &made, &adjoint(&u)?])?)?;
    scale.times(&back, n as i64 - 1, 2)
}

/// Returns `A⁻¹` if `det(A) A⁻¹` is accurate for each matrix and no determinant is near the ends of the range.
pub(super) fn plain_inverse(a: &Raw, det: &Raw) -> Result<Option<Raw>> {
    let far = |x: f64| x.abs() > 1e-18 && x.abs() < 1e18;
    let dets: Vec<_> = det.clone().detach().scalars().collect();
    let modulus = |x: &nomina_core::Scalar| match x {
        nomina_core::Scalar::Complex(x) => x.re.hypot(x.im),
        x => x.to_f64(),
    };
    if !dets.iter().all(|det| far(modulus(det))) {
        return Ok(None);
    }
    let inverse = first_result(Linalg::Inv, a, MatrixOptions::default())?;
    let condition = no_grad(|| {
        let norm = |x: &Raw| {
            first_result(
                Linalg::MatrixNorm,
                &x.clone().detach(),
                MatrixOptions::default(),
            )
        };
        mul(&norm(a)?, &norm(&inverse)?)
    })?;
    let limit = 1.0 / least_regular(a);
    let plain = condition.scalars().all(|value| value.to_f64() < limit);
    Ok(plain.then_some(inverse))
}
