//! Attributes, conversions by name, and resizing.

use crate::Device;
use half::{bf16, f16};
use nomina_core::op::Op;
use nomina_core::{DType, Layout, MemoryFormat, Result, Scalar, rule};
use num_complex::Complex;

use super::family::in_place_as;
use super::{DynTensor, about};
use crate::call;
use crate::raw::strides_in;
use crate::tape::record_no_derivative;

impl DynTensor {
    /// Returns the size of an element in bytes.
    #[must_use]
    pub fn element_size(&self) -> usize {
        self.dtype().size()
    }

    /// Returns the size of an element in bytes; the name in NumPy.
    #[must_use]
    pub fn itemsize(&self) -> usize {
        self.element_size()
    }

    /// Returns the size of all elements in bytes; for a view, without the gaps.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.numel().saturating_mul(self.element_size())
    }

    /// Returns the number of dims; the name in PyTorch.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.rank()
    }

    /// Returns the number of dims; the name in NumPy.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.rank()
    }

    /// Returns whether the elements are complex.
    #[must_use]
    pub fn is_complex(&self) -> bool {
        self.dtype().is_complex()
    }

    /// Returns whether the elements are floats: `f16`, `bf16`, `f32` or `f64`.
    #[must_use]
    pub fn is_floating_point(&self) -> bool {
        self.dtype().is_float()
    }

    /// Returns whether the dtype has numbers below zero; complex dtypes do.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.dtype().is_signed()
    }

    /// Returns whether the elements are on a CUDA device.
    #[must_use]
    pub fn is_cuda(&self) -> bool {
        self.device().is_cuda()
    }

    /// Returns whether the elements are on the host.
    #[must_use]
    pub fn is_cpu(&self) -> bool {
        self.device().is_cpu()
    }

    /// Returns the ordinal of the CUDA device, or -1 on the host.
    #[must_use]
    pub fn get_device(&self) -> i64 {
        ordinal(self.device())
    }

    /// Returns whether the layout is sparse COO; false, since a `DynTensor` is strided.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        false
    }

    /// Returns whether the layout is sparse CSR; false, since this layout does not exist.
    #[must_use]
    pub fn is_sparse_csr(&self) -> bool {
        false
    }

    /// Returns whether the sizes are equal.
    #[must_use]
    pub fn is_same_size(&self, other: &Self) -> bool {
        self.shape() == other.shape()
    }

    /// Returns whether the only element differs from zero.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](nomina_core::ErrorKind::Shape) if there is not exactly one.
    pub fn is_nonzero(&self) -> Result<bool> {
        match self.item().map_err(|e| e.in_op("is_nonzero"))? {
            // A complex number is not zero if either part is not.
            Scalar::Complex(value) => Ok(value.re != 0.0 || value.im != 0.0),
            value => Ok(value.to_bool()),
        }
    }

    /// Returns the name of the tensor type as PyTorch spells it: `torch.FloatTensor`.
    #[must_use]
    pub fn type_name(&self) -> String {
        type_name(self.dtype(), self.device())
    }

    /// Returns the address of the first element, on the tensor's device; the strides give the
    /// others.
    #[must_use]
    pub fn as_ptr(&self) -> *const u8 {
        self.raw.as_ptr()
    }

    /// Converts to the dtype of another tensor and moves to its device.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn type_as(&self, other: &Self) -> Result<Self> {
        self.to_device(other.device())?.to_dtype(other.dtype())
    }

    /// Returns the tensor on a CUDA device, by default the current one.
    ///
    /// # Errors
    /// [`ErrorKind::Device`](nomina_core::ErrorKind::Device) if the device cannot be used.
    pub fn cuda(&self, ordinal: impl Into<Option<usize>>) -> Result<Self> {
        self.to_device(Device::Cuda(ordinal.into()))
            .map_err(|e| e.in_op("cuda"))
    }

    /// Returns the same elements, detached from the gradient graph.
    pub fn detach(&self) -> Self {
        Self::new(self.raw.clone().detach(), self.names.clone())
    }

    /// Detaches `self` from the gradient graph.
    pub fn detach_(&mut self) -> &mut Self {
        self.raw.forget();
        self
    }

    /// Fills the tensor with zeros.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn zero_(&mut self) -> Result<&mut Self> {
        let names = self.names.clone();
        in_place_as(self, names, &[], |dest| call::fill(dest, Scalar::Int(0)))?;
        Ok(self)
    }

    /// Resizes the tensor; elements keep their row-major order in the buffer. The buffer grows if
    /// necessary; new elements are zero. A tensor that already has the sizes stays unchanged.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let mut x = DynTensor::from_vec(vec![1_i64, 2, 3, 4], &[2, 2], ())?;
    /// x.resize_(&[3])?;
    /// assert_eq!(x.to_vec::<i64>()?, [1, 2, 3]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Resize`](nomina_core::ErrorKind::Resize) if `self` has names and other sizes.
    pub fn resize_(&mut self, size: &[usize]) -> Result<&mut Self> {
        rule::resize("resize", &self.names, self.shape(), size)?;
        let raw = call::resize(&self.raw, size).map_err(|e| about(e, &[self]))?;
        self.names = if size.len() == self.rank() {
            self.names.clone()
        } else {
            nomina_core::Names::unnamed(size.len())
        };
        self.raw = raw;
        Ok(self)
    }

    /// Like [`DynTensor::resize_`], but the elements are then in a memory format.
    ///
    /// # Errors
    /// Like [`DynTensor::resize_`]; also [`ErrorKind::Rank`](nomina_core::ErrorKind::Rank) if the
    /// format is for another number of dims.
    pub fn resize_with_(&mut self, size: &[usize], format: MemoryFormat) -> Result<&mut Self> {
        let strides = strides_in("resize", size, format)?;
        self.resize_(size)?;
        // Dense strides stay within the elements of a dense tensor.
        let raw = call::contiguous(&self.raw)?;
        let resized = raw.as_strided("resize", raw.dtype(), size.into(), strides, raw.offset())?;
        self.raw = record_no_derivative(Op::Resize, resized, [&raw])?;
        Ok(self)
    }

    /// Returns the layout of the elements: strided.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout::Strided
    }

    /// Like [`DynTensor::resize_`], but to the sizes of another tensor; `self` also takes its names
    /// if it has none.
    ///
    /// # Errors
    /// [`ErrorKind::Resize`](nomina_core::ErrorKind::Resize) if `self` has names and other sizes,
    /// [`ErrorKind::NameMismatchOut`](nomina_core::ErrorKind::NameMismatchOut) if it has other
    /// names.
    pub fn resize_as_(&mut self, the_template: &Self) -> Result<&mut Self> {
        let own = (&self.names, self.shape());
        let (names, shape) = rule::resize_as(
            "resize_as",
            own,
            (&the_template.names, the_template.shape()),
        )
        .map_err(|e| about(e, &[self, the_template]))?;
        self.raw = call::resize(&self.raw, &shape)
            .map_err(|e| about(e.in_op("resize_as"), &[self, the_template]))?;
        self.names = names;
        Ok(self)
    }
}

macro_rules! conversions {
    ($($method:ident $t:ty, $doc:literal;)*) => {
        impl DynTensor {$(
            #[doc = concat!("The same elements as ", $doc, "; itself when they are.")]
            ///
            /// # Errors
            /// If memory runs out.
            pub fn $method(&self) -> Result<Self> {
                self.to::<$t>()
            }
        )*}
    };
}
conversions! {
    bool bool, "`bool`";
    byte u8, "`u8`";
    char i8, "`i8`";
    short i16, "`i16`";
    int i32, "`i32`";
    long i64, "`i64`";
    half f16, "`f16`";
    bfloat16 bf16, "`bf16`";
    float f32, "`f32`";
    double f64, "`f64`";
    cfloat Complex<f32>, "`Complex<f32>`";
    cdouble Complex<f64>, "`Complex<f64>`";
}

/// Returns the ordinal of a CUDA device; -1 for the host.
#[must_use]
pub fn ordinal(device: Device) -> i64 {
    match device {
        Device::Cpu => -1,
        Device::Cuda(ordinal) => ordinal.unwrap_or(0) as i64,
    }
}

/// Returns the name of a tensor type as PyTorch spells it.
#[must_use]
pub fn type_name(dtype: DType, device: Device) -> String {
    let word = match dtype {
        DType::Bool => "Bool",
        DType::U8 => "Byte",
        DType::I8 => "Char",
        DType::I16 => "Short",
        DType::I32 => "Int",
        DType::I64 => "Long",
        DType::F16 => "Half",
        DType::BF16 => "BFloat16",
        DType::F32 => "Float",
        DType::F64 => "Double",
        DType::C64 => "ComplexFloat",
        DType::C128 => "ComplexDouble",
    };
    let place = if device.is_cuda() { "cuda." } else { "" };
    format!("torch.{place}{word}Tensor")
}
