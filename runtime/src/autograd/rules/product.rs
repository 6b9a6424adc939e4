//! Gradients of matrix products.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use crate::call::arithmetic::{adjoint, apply, conj, turned};
use crate::call::matmul;
use crate::raw::Raw;
use crate::tape::{Backward, ProductSaved, Upstream};

impl Backward for ProductSaved {
    /// `alpha · grad · bᴴ`, `alpha · aᴴ · grad` and `beta · grad`, with conjugate factors.
    fn gradient(&self, upstream: &Upstream<'_>, operand: usize) -> Result<Option<Raw>> {
        let grad = upstream.grad()?;
        let [a, b] = &self.factors;
        match (operand, self.beta) {
            (2, Some(beta)) => scale_by_conjugate(grad, beta),
            (0, _) if is_turned(a) => {
                let found = matmul(&conj(b)?, &turned(&grad)?)?;
                scale_by_conjugate(turned(&found)?, self.alpha)
            }
            (0, _) => scale_by_conjugate(matmul(&grad, &adjoint(b)?)?, self.alpha),
            _ if is_turned(b) => {
                let found = matmul(&turned(&grad)?, &conj(a)?)?;
                scale_by_conjugate(turned(&found)?, self.alpha)
            }
            _ => scale_by_conjugate(matmul(&adjoint(a)?, &grad)?, self.alpha),
        }
        .map(Some)
    }
}

/// Returns whether the columns of a factor are contiguous, as in the transpose of a weight. Its gradient then gets the
/// same layout, so that the weight's is contiguous.
fn is_turned(factor: &Raw) -> bool {
    let last = factor.rank() - 1;
    factor.strides()[last] != 1 && factor.strides()[last - 1] == 1
}

fn scale_by_conjugate(grad: Raw, factor: Scalar) -> Result<Raw> {
    if factor == Scalar::Int(1) {
        return Ok(grad);
    }
    let factor = match factor {
        Scalar::Complex(z) => Scalar::Complex(z.conj()),
        real => real,
    };
    apply(Op::Mul, [(&grad).into(), factor.into()])
}
