//! Powers of two by which matrices near the ends of their dtype's range are divided before a gradient is computed.

use nomina_core::op::class::Linalg;
use nomina_core::{DType, Result};

use crate::call::arithmetic::mul;
use crate::call::{exponents, to_device, to_dtype};
use crate::raw::Raw;
use crate::shape::Shape;

/// An exponent of two for each matrix of a batch.
pub(super) struct MatrixScale {
    exponents: Vec<i64>,
    batch: Shape,
}

impl MatrixScale {
    pub(super) fn new(exponents: Vec<i64>, batch: &[usize]) -> Self {
        Self {
            exponents,
            batch: batch.into(),
        }
    }

    /// Returns the scale of matrices for the operator's gradient; `None` if no matrix needs one.
    pub(super) fn for_matrices(op: Linalg, a: &Raw) -> Result<Option<Self>> {
        let found = exponents(op, a)?;
        Ok(found.map(|exponents| Self::new(exponents, &a.shape()[..a.rank() - 2])))
    }

    /// Multiplies two scales of one batch, each to a power.
    pub(super) fn product(both: [(&Self, i64); 2]) -> Self {
        let [(a, of_a), (b, of_b)] = both;
        let exponents = a.exponents.iter().zip(&b.exponents);
        let each = exponents.map(|(a, b)| a.saturating_mul(of_a) + b.saturating_mul(of_b));
        Self::new(each.collect(), &a.batch)
    }

    /// Multiplies a tensor by a power of the scale. It has `trailing` dims after those of the batch.
    pub(super) fn times(&self, x: &Raw, degree: i64, trailing: usize) -> Result<Raw> {
        let mut rest: Vec<i64> = self
            .exponents
            .iter()
            .map(|by| by.saturating_mul(degree))
            .collect();
        let real = x.dtype().to_real();
        // A factor is a normal number, and so is its reciprocal.
        let most = if real == DType::F64 { 900 } else { 100 };
        let mut shape = self.batch.clone();
        shape.extend(std::iter::repeat_n(1, trailing));
        let mut x = x.clone();
        while rest.iter().any(|&by| by != 0) {
            let factors = rest.iter_mut().map(|rest| {
                let by = (*rest).clamp(-most, most);
                *rest -= by;
                2.0_f64.powi(by as i32)
            });
            let factors = to_dtype(&Raw::from_vec(factors.collect(), &shape)?, real)?;
            x = mul(&x, &to_device(&factors, x.device())?)?;
        }
        Ok(x)
    }
}
