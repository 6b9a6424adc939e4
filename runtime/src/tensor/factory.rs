//! New tensors.

use crate::Device;
use nomina_core::op::Op;
use nomina_core::{DType, Element, MemoryFormat, Result, Scalar};

use super::{DynTensor, IntoNames};
use crate::call;
use crate::config::default_dtype;
use crate::random::with_default_generator;
use crate::raw::Raw;

/// The options of a factory: dtype, device and memory order. Created by [`DynTensor::options`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Options {
    pub(super) dtype: Option<DType>,
    pub(super) device: Option<Device>,
    pub(super) format: Option<MemoryFormat>,
}

impl Options {
    /// Sets the dtype; by default the default float dtype, or that of the given number or tensor.
    pub fn dtype(self, dtype: DType) -> Self {
        Self {
            dtype: Some(dtype),
            ..self
        }
    }

    /// Sets the device; by default the host, or that of the given tensor.
    pub fn device(self, device: Device) -> Self {
        Self {
            device: Some(device),
            ..self
        }
    }

    /// Sets the memory order of the dims; by default row-major, or that of the given tensor.
    pub fn memory_format(self, format: MemoryFormat) -> Self {
        Self {
            format: Some(format),
            ..self
        }
    }

    /// Converts a new tensor to the requested format.
    pub(super) fn laid_out(self, op: &'static str, raw: Raw) -> Result<Raw> {
        match self.format {
            None => Ok(raw),
            Some(format) => raw.in_format(op, format),
        }
    }

    pub(super) fn place(self) -> Device {
        self.device.unwrap_or_default()
    }

    pub(super) fn float(self) -> DType {
        self.dtype.unwrap_or_else(default_dtype)
    }

    /// Creates a tensor of one number.
    ///
    /// # Errors
    /// If names do not fit the sizes, or memory runs out.
    pub fn full(
        self,
        size: &[usize],
        value: impl Into<Scalar>,
        names: impl IntoNames,
    ) -> Result<DynTensor> {
        let value = value.into();
        let dtype = self.dtype.unwrap_or_else(|| value.dtype(default_dtype()));
        self.filled("full", size, value, dtype, names)
    }

    /// Creates a tensor of zeros.
    ///
    /// # Errors
    /// Like [`Options::full`].
    pub fn zeros(self, size: &[usize], names: impl IntoNames) -> Result<DynTensor> {
        self.filled("zeros", size, Scalar::Int(0), self.float(), names)
    }

    /// Creates a tensor of ones.
    ///
    /// # Errors
    /// Like [`Options::full`].
    pub fn ones(self, size: &[usize], names: impl IntoNames) -> Result<DynTensor> {
        self.filled("ones", size, Scalar::Int(1), self.float(), names)
    }

    /// Creates a tensor with unspecified elements; they are zero, so that uninitialised memory is never read.
    ///
    /// # Errors
    /// Like [`Options::full`].
    pub fn empty(self, size: &[usize], names: impl IntoNames) -> Result<DynTensor> {
        self.filled("empty", size, Scalar::Int(0), self.float(), names)
    }

    fn filled(
        self,
        op: &'static str,
        size: &[usize],
        value: Scalar,
        dtype: DType,
        names: impl IntoNames,
    ) -> Result<DynTensor> {
        let names = names.into_names(op, size.len())?;
        let raw = call::full(size, value, dtype, self.place())
            .and_then(|raw| self.laid_out(op, raw))
            .map_err(|e| e.in_op(op).with_names([&names]))?;
        Ok(DynTensor::new(raw, names))
    }

    /// Creates the numbers from `start` to `end`, excluding `end`, in steps of `step`: integers if all three are.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](nomina_core::ErrorKind::Argument) if `step` is zero or leads away from `end`.
    pub fn arange(
        self,
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        step: impl Into<Scalar>,
        names: impl IntoNames,
    ) -> Result<DynTensor> {
        let (start, end, step) = (start.into(), end.into(), step.into());
        let names = names.into_names("arange", 1)?;
        let integers = [start, end, step]
            .iter()
            .all(|v| matches!(v, Scalar::Int(_) | Scalar::Bool(_)));
        let natural = if integers {
            DType::I64
        } else {
            default_dtype()
        };
        let dtype = self.dtype.unwrap_or(natural);
        let raw = call::arange(start, end, step, dtype, self.place())?;
        Ok(DynTensor::new(self.laid_out("arange", raw)?, names))
    }

    /// Creates a matrix of `n` rows and `m` columns with ones on the diagonal and zeros elsewhere.
    ///
    /// # Errors
    /// Like [`Options::full`].
    pub fn eye(self, n: usize, m: usize, names: impl IntoNames) -> Result<DynTensor> {
        let names = names.into_names("eye", 2)?;
        let raw = call::eye(n, m, self.float(), self.place())?;
        Ok(DynTensor::new(self.laid_out("eye", raw)?, names))
    }

    /// Creates the result of `op`, one of the `*_like`, in the shape and names of `x`; `value` is for `full_like`.
    pub(super) fn like(self, op: Op, x: &DynTensor, value: Scalar) -> Result<DynTensor> {
        self.like_by(op, x, |dtype, device| match op {
            Op::RandLike => with_default_generator(|g| call::rand(x.shape(), dtype, device, g)),
            Op::RandnLike => with_default_generator(|g| call::randn(x.shape(), dtype, device, g)),
            _ => call::full(x.shape(), value, dtype, device),
        })
    }

    /// Creates a tensor with `make`, in the names and the memory order of `x`.
    pub(super) fn like_by(
        self,
        op: Op,
        x: &DynTensor,
        make: impl FnOnce(DType, Device) -> Result<Raw>,
    ) -> Result<DynTensor> {
        let dtype = self.dtype.unwrap_or_else(|| x.dtype());
        let device = self.device.unwrap_or_else(|| x.device());
        let format = self.format.unwrap_or(MemoryFormat::Preserve);
        let raw = make(dtype, device)
            .and_then(|raw| raw.in_format_like(op.name(), &x.raw, format))
            .map_err(|e| e.in_op(op.name()).with_names([&x.names]))?;
        Ok(DynTensor::new(raw, x.names.clone()))
    }
}

impl DynTensor {
    /// Returns options for a factory with a given dtype or device:
    /// `DynTensor::options().dtype(DType::F64).zeros(&[2, 3], ["N", "C"])`.
    pub fn options() -> Options {
        Options::default()
    }

    /// Creates a tensor from the elements of `data` in row-major order; the vector becomes the buffer, without a copy.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](nomina_core::ErrorKind::Shape) if the sizes do not multiply to the vector's length, or
    /// if names do not fit the sizes.
    pub fn from_vec<T: Element>(
        data: Vec<T>,
        size: &[usize],
        names: impl IntoNames,
    ) -> Result<Self> {
        let names = names.into_names("from_vec", size.len())?;
        let raw = Raw::from_vec(data, size).map_err(|e| e.with_names([&names]))?;
        Ok(Self::new(raw, names))
    }

    /// Creates a tensor of `i64` from integers of any type, such as the `u32` of tokenizers, in row-major order.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let ids: Vec<u32> = vec![101, 2023, 102];
    /// let ids = DynTensor::from_integers(&ids, &[3], ["Token"])?;
    /// assert_eq!(ids.to_vec::<i64>()?, [101, 2023, 102]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](nomina_core::ErrorKind::Argument) if a value exceeds `i64`; also like
    /// [`DynTensor::from_vec`].
    pub fn from_integers<U: Copy + TryInto<i64>>(
        data: &[U],
        size: &[usize],
        names: impl IntoNames,
    ) -> Result<Self> {
        Self::from_vec(call::integers(data)?, size, names)
    }

    /// Creates a number, a tensor without dims.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn scalar(value: impl Into<Scalar>) -> Result<Self> {
        Self::options().full(&[], value, ())
    }

    /// Creates zeros of the default float dtype.
    ///
    /// # Errors
    /// If names do not fit the sizes, or memory runs out.
    pub fn zeros(size: &[usize], names: impl IntoNames) -> Result<Self> {
        Self::options().zeros(size, names)
    }

    /// Creates ones of the default float dtype.
    ///
    /// # Errors
    /// Like [`DynTensor::zeros`].
    pub fn ones(size: &[usize], names: impl IntoNames) -> Result<Self> {
        Self::options().ones(size, names)
    }

    /// Creates unspecified elements of the default float dtype; they are zero.
    ///
    /// # Errors
    /// Like [`DynTensor::zeros`].
    pub fn empty(size: &[usize], names: impl IntoNames) -> Result<Self> {
        Self::options().empty(size, names)
    }

    /// Creates a tensor of one number, whose kind determines the dtype, as in PyTorch.
    ///
    /// # Errors
    /// Like [`DynTensor::zeros`].
    pub fn full(size: &[usize], value: impl Into<Scalar>, names: impl IntoNames) -> Result<Self> {
        Self::options().full(size, value, names)
    }

    /// Creates the numbers from `start` to `end`, excluding `end`, in steps of `step`: i64 if all three are integers.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](nomina_core::ErrorKind::Argument) if `step` is zero or leads away from `end`.
    pub fn arange(
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        step: impl Into<Scalar>,
        names: impl IntoNames,
    ) -> Result<Self> {
        Self::options().arange(start, end, step, names)
    }

    /// Creates a matrix of `n` rows and columns with ones on the diagonal and zeros elsewhere.
    ///
    /// # Errors
    /// Like [`DynTensor::zeros`].
    pub fn eye(n: usize, names: impl IntoNames) -> Result<Self> {
        Self::options().eye(n, n, names)
    }
}

macro_rules! like {
    ($($op:ident $method:ident $with:ident $value:literal $doc:literal;)*) => {
        impl DynTensor {$(
            #[doc = $doc]
            ///
            /// # Errors
            /// If memory runs out, or the dtype of random numbers is not a float.
            pub fn $method(&self) -> Result<Self> {
                Options::default().like(Op::$op, self, Scalar::Int($value))
            }

            #[doc = concat!("[`DynTensor::", stringify!($method), "`] in another dtype, order in memory, or on another device.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($method), "`].")]
            pub fn $with(&self, options: Options) -> Result<Self> {
                options.like(Op::$op, self, Scalar::Int($value))
            }
        )*}
    };
}

like! {
    ZerosLike zeros_like zeros_like_with 0 "Zeros in self's shape, names and dtype.";
    OnesLike ones_like ones_like_with 1 "Ones in self's shape, names and dtype.";
    EmptyLike empty_like empty_like_with 0 "Unspecified elements (zeros) in self's shape, names and dtype.";
    RandLike rand_like rand_like_with 0 "Uniform random numbers in self's shape, names and dtype.";
    RandnLike randn_like randn_like_with 0 "Normal random numbers in self's shape, names and dtype.";
}

impl DynTensor {
    /// Creates a tensor of one number in the shape, names and dtype of `self`.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn full_like(&self, value: impl Into<Scalar>) -> Result<Self> {
        Options::default().like(Op::FullLike, self, value.into())
    }

    /// Like [`DynTensor::full_like`], but in another dtype or memory order, or on another device.
    ///
    /// # Errors
    /// Like [`DynTensor::full_like`].
    pub fn full_like_with(&self, value: impl Into<Scalar>, options: Options) -> Result<Self> {
        options.like(Op::FullLike, self, value.into())
    }
}
