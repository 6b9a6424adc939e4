//! Products of matrices.

use nomina::DynTensor;
use nomina_core::Result;

use super::move_elements::permute;
use crate::call::{Call, floats, from_floats};
use crate::emit::ops as spell;
use crate::emit::spell::Emit;
use crate::names::flow::Flow::{self, Fresh};
use crate::table::Row;
use crate::table::Run::{Binary, Single};

pub const ROWS: &[Row] = &[
    Row::new("MatMul", 1, Flow::MatMul, Binary(|a, b| a.matmul(b)))
        .emit(Emit::Single(spell::product::matmul)),
    Row::new("Gemm", 6, Flow::Gemm, Single(gemm)).emit(Emit::Single(spell::product::gemm)),
    Row::new("Einsum", 12, Fresh, Single(einsum)),
    Row::new("Det", 11, Fresh, Single(det)),
];

fn gemm(c: &Call<'_>) -> Result<DynTensor> {
    let turned = |at: usize, name: &str| {
        let x = c.x(at)?;
        c.require(x.rank() == 2, "an operand is no matrix")?;
        if c.flag(name, false)? {
            permute(x, &[1, 0])
        } else {
            Ok(x.clone())
        }
    };
    let (a, b) = (turned(0, "transA")?, turned(1, "transB")?);
    let (alpha, beta) = (c.float("alpha", 1.0)?, c.float("beta", 1.0)?);
    let mut y = a.matmul(&b)?;
    if alpha != 1.0 {
        y = y.mul(alpha)?.to_dtype(a.dtype())?;
    }
    match c.maybe(2)? {
        None => Ok(y),
        Some(bias) if beta == 1.0 => y.add(bias),
        Some(bias) => y.add(&bias.mul(beta)?.to_dtype(a.dtype())?),
    }
}

fn einsum(c: &Call<'_>) -> Result<DynTensor> {
    let equation: String = c.text("equation", "")?.split_whitespace().collect();
    DynTensor::einsum(&equation, &c.all()?)
}

fn det(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let (&[.., n, m], rank) = (x.shape(), x.rank()) else {
        return Err(c.fail("the input is no matrix"));
    };
    c.require(n == m, "the matrices are not square")?;
    let data = floats(x)?;
    let dets = data
        .chunks(n.max(1) * n.max(1))
        .map(|matrix| determinant(matrix.to_vec(), n))
        .collect();
    from_floats(dets, &x.shape()[..rank - 2], x.dtype())
}

/// Gaussian elimination with the largest pivot.
fn determinant(mut a: Vec<f64>, n: usize) -> f64 {
    let mut det = 1.0;
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs()))
            .unwrap_or(k);
        if a[pivot * n + k] == 0.0 {
            return 0.0;
        }
        if pivot != k {
            (0..n).for_each(|j| a.swap(k * n + j, pivot * n + j));
            det = -det;
        }
        det *= a[k * n + k];
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            for j in k..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    det
}
