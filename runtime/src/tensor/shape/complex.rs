//! Complex numbers and their parts.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Name, Names, Result};
use nomina_macros::forms;

use crate::call::{self, Arg};
use crate::raw::Raw;
use crate::tensor::{DynTensor, about, family};

impl DynTensor {
    /// Returns the real parts without a copy; for a real tensor, the tensor itself.
    ///
    /// # Errors
    /// Never because of the caller.
    pub fn real(&self) -> Result<Self> {
        self.with_elements(call::real(&self.raw))
    }

    /// Returns the imaginary parts without a copy.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] for a real tensor.
    pub fn imag(&self) -> Result<Self> {
        self.with_elements(call::imag(&self.raw))
    }

    fn with_elements(&self, raw: Result<Raw>) -> Result<Self> {
        let raw = raw.map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Views complex numbers as pairs in a new last dim, with or without a name.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] for a real tensor, [`ErrorKind::DuplicateNames`] if `self` has a dim
    /// `outdim`.
    pub fn view_as_real<'b>(&self, outdim: impl Into<Option<&'b str>>) -> Result<Self> {
        let fail = |e: Error| about(e.in_op("view_as_real"), &[self]);
        let raw = call::as_real(&self.raw).map_err(fail)?;
        let outdim = outdim.into().map(Name::new).transpose().map_err(fail)?;
        let names = self.names.iter().cloned().chain([outdim]);
        Self::from_parts(raw, Names::unchecked(names)).map_err(fail)
    }

    /// Views pairs of real numbers in the last dim as complex numbers.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] for other dtypes than f32 and f64, [`ErrorKind::Shape`] if the size of
    /// the last dim is not 2, [`ErrorKind::Layout`] if pairs are not adjacent in memory.
    pub fn view_as_complex(&self) -> Result<Self> {
        let raw = call::as_complex(&self.raw).map_err(|e| about(e, &[self]))?;
        let names = self.names.iter().take(raw.rank()).cloned().collect();
        Ok(Self::new(raw, names))
    }

    /// Combines real and imaginary parts, both f32 or f64, to complex numbers.
    ///
    /// # Errors
    /// If the dtypes differ, names do not unify or sizes do not broadcast.
    #[forms(out)]
    pub fn complex(real: &Self, imag: &Self) -> Result<Self> {
        let names = family::unified(Op::Complex, &[real, imag])?;
        let raw = call::join_parts("complex", &real.raw, &imag.raw);
        Ok(Self::new(raw.map_err(|e| about(e, &[real, imag]))?, names))
    }

    /// Combines magnitudes and angles, both f32 or f64, to complex numbers.
    ///
    /// # Errors
    /// If the dtypes differ, names do not unify or sizes do not broadcast.
    #[forms(out)]
    pub fn polar(abs: &Self, angle: &Self) -> Result<Self> {
        let fail = |e: Error| about(e.in_op("polar"), &[abs, angle]);
        let names = family::unified(Op::Polar, &[abs, angle])?;
        if abs.dtype() != angle.dtype() || !matches!(abs.dtype(), DType::F32 | DType::F64) {
            let what = format!("magnitudes of {}, angles of {}", abs.dtype(), angle.dtype());
            return Err(
                fail(Error::new(ErrorKind::DType, "polar", what)).hint("both are f32, or both f64")
            );
        }
        let along = |op: Op| {
            let turn = call::pointwise(op, &[Arg::Tensor(&angle.raw)])?;
            call::pointwise(Op::Mul, &[Arg::Tensor(&abs.raw), Arg::Tensor(&turn)])
        };
        let raw = along(Op::Cos)
            .and_then(|re| call::join_parts("polar", &re, &along(Op::Sin)?))
            .map_err(fail)?;
        Ok(Self::new(raw, names))
    }

    /// Computes the complex conjugates; for a real tensor, its numbers.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn conj(&self) -> Result<Self> {
        if !self.dtype().is_complex() {
            return Ok(self.clone());
        }
        let turned = || {
            let im = call::pointwise(Op::Neg, &[Arg::Tensor(&call::imag(&self.raw)?)])?;
            call::join_parts("conj_physical", &call::real(&self.raw)?, &im)
        };
        self.with_elements(turned())
    }

    /// Like [`DynTensor::conj`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::conj`].
    pub fn conj_(&mut self) -> Result<&mut Self> {
        let result = self.conj()?;
        self.overwrite(Op::ConjPhysical, result)?;
        Ok(self)
    }

    /// Like [`DynTensor::conj`], but writes to `out`.
    ///
    /// # Errors
    /// Like [`DynTensor::conj`]; also if `out` cannot hold the result.
    pub fn conj_out(&self, out: &mut Self) -> Result<()> {
        family::store(Op::ConjPhysical, self.conj()?, out)
    }
}
