//! Products of matrices.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::arithmetic::{adjoint, apply};
use super::by::by;
use crate::call::matmul;
use crate::raw::Raw;

/// `alpha` times `[.., m, k]` times `[.., k, n]`, with equal dims before, and a tensor that broadcasts to that and its factor.
pub(in crate::call) fn multiplied(
    op: Op,
    out: Raw,
    [a, b]: [&Raw; 2],
    alpha: Scalar,
    added: Option<(&Raw, Scalar)>,
) -> Result<Raw> {
    let factors = || [a.clone(), b.clone()];
    match added {
        None => by(op, out, [a, b], || {
            let factors = factors();
            move |back, operand| factor(&back.grad()?, &factors, alpha, operand).map(Some)
        }),
        Some((bias, beta)) => by(op, out, [a, b, bias], || {
            let factors = factors();
            move |back, operand| {
                let grad = back.grad()?;
                match operand {
                    2 => scaled(grad, beta),
                    _ => factor(&grad, &factors, alpha, operand),
                }
                .map(Some)
            }
        }),
    }
}

/// `grad · bᴴ` or `aᴴ · grad`.
fn factor(grad: &Raw, [a, b]: &[Raw; 2], alpha: Scalar, of: usize) -> Result<Raw> {
    let product = match of {
        0 => matmul(grad, &adjoint(b)?)?,
        _ => matmul(&adjoint(a)?, grad)?,
    };
    scaled(product, alpha)
}

fn scaled(grad: Raw, by: Scalar) -> Result<Raw> {
    if by == Scalar::Int(1) {
        return Ok(grad);
    }
    let by = match by {
        Scalar::Complex(z) => Scalar::Complex(z.conj()),
        real => real,
    };
    apply(Op::Mul, [(&grad).into(), by.into()])
}
