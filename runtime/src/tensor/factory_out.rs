//! Factories with an out tensor.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::{DynTensor, IntoNames, LogspaceOptions, family};

impl DynTensor {
    /// Like [`DynTensor::zeros`], but writes to `out`, in its dtype.
    ///
    /// # Errors
    /// Like [`DynTensor::zeros`]; also if `out` has names and other sizes.
    pub fn zeros_out(size: &[usize], names: impl IntoNames, out: &mut Self) -> Result<()> {
        let made = Self::options()
            .dtype(out.dtype())
            .device(out.device())
            .zeros(size, names)?;
        family::store(Op::Zeros, made, out)
    }

    /// Like [`DynTensor::ones`], but writes to `out`, in its dtype.
    ///
    /// # Errors
    /// Like [`DynTensor::ones`]; also if `out` has names and other sizes.
    pub fn ones_out(size: &[usize], names: impl IntoNames, out: &mut Self) -> Result<()> {
        let made = Self::options()
            .dtype(out.dtype())
            .device(out.device())
            .ones(size, names)?;
        family::store(Op::Ones, made, out)
    }

    /// Like [`DynTensor::empty`], but writes to `out`, in its dtype.
    ///
    /// # Errors
    /// Like [`DynTensor::empty`]; also if `out` has names and other sizes.
    pub fn empty_out(size: &[usize], names: impl IntoNames, out: &mut Self) -> Result<()> {
        let made = Self::options()
            .dtype(out.dtype())
            .device(out.device())
            .empty(size, names)?;
        family::store(Op::Empty, made, out)
    }

    /// Like [`DynTensor::rand`], but writes to `out`, in its dtype.
    ///
    /// # Errors
    /// Like [`DynTensor::rand`]; also if `out` has names and other sizes.
    pub fn rand_out(size: &[usize], names: impl IntoNames, out: &mut Self) -> Result<()> {
        let made = Self::options()
            .dtype(out.dtype())
            .device(out.device())
            .rand(size, names)?;
        family::store(Op::Rand, made, out)
    }

    /// Like [`DynTensor::randn`], but writes to `out`, in its dtype.
    ///
    /// # Errors
    /// Like [`DynTensor::randn`]; also if `out` has names and other sizes.
    pub fn randn_out(size: &[usize], names: impl IntoNames, out: &mut Self) -> Result<()> {
        let made = Self::options()
            .dtype(out.dtype())
            .device(out.device())
            .randn(size, names)?;
        family::store(Op::Randn, made, out)
    }

    /// Like [`DynTensor::full`], but writes to `out`, in its dtype.
    ///
    /// # Errors
    /// Like [`DynTensor::full`]; also if `out` has names and other sizes.
    pub fn full_out(
        size: &[usize],
        value: impl Into<Scalar>,
        names: impl IntoNames,
        out: &mut Self,
    ) -> Result<()> {
        let made = Self::options()
            .dtype(out.dtype())
            .device(out.device())
            .full(size, value.into(), names)?;
        family::store(Op::Full, made, out)
    }

    /// Like [`DynTensor::eye`], but writes to `out`, in its dtype.
    ///
    /// # Errors
    /// Like [`DynTensor::eye`]; also if `out` has names and other sizes.
    pub fn eye_out(n: usize, m: usize, names: impl IntoNames, out: &mut Self) -> Result<()> {
        let made = Self::options()
            .dtype(out.dtype())
            .device(out.device())
            .eye(n, m, names)?;
        family::store(Op::Eye, made, out)
    }

    /// Like [`DynTensor::arange`], but writes to `out`, in its dtype.
    ///
    /// # Errors
    /// Like [`DynTensor::arange`]; also if `out` has names and other sizes.
    pub fn arange_out(
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        step: impl Into<Scalar>,
        names: impl IntoNames,
        out: &mut Self,
    ) -> Result<()> {
        let made = Self::options()
            .dtype(out.dtype())
            .device(out.device())
            .arange(start.into(), end.into(), step.into(), names)?;
        family::store(Op::Arange, made, out)
    }

    /// Like [`DynTensor::linspace`], but writes to `out`, in its dtype.
    ///
    /// # Errors
    /// Like [`DynTensor::linspace`]; also if `out` has names and other sizes.
    pub fn linspace_out(
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        steps: usize,
        names: impl IntoNames,
        out: &mut Self,
    ) -> Result<()> {
        let made = Self::options()
            .dtype(out.dtype())
            .device(out.device())
            .linspace(start, end, steps, names)?;
        family::store(Op::Linspace, made, out)
    }

    /// Like [`DynTensor::logspace`], but writes to `out`, in its dtype.
    ///
    /// # Errors
    /// Like [`DynTensor::logspace`]; also if `out` has names and other sizes.
    pub fn logspace_out(
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        steps: usize,
        names: impl IntoNames,
        out: &mut Self,
    ) -> Result<()> {
        let options = Self::options().dtype(out.dtype()).device(out.device());
        let made = options.logspace(start, end, steps, names, LogspaceOptions::default())?;
        family::store(Op::Logspace, made, out)
    }
}
