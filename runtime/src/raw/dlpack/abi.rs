//! The structs of DLPack's `dlpack.h`, version 1.0, and of the versions before it.

use std::ffi::c_void;

use nomina_core::DType;

/// `DLDevice`: a kind of device and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct DLDevice {
    /// 1 for host memory, 3 for host memory that CUDA pinned; others are not on the host.
    pub device_type: i32,
    /// The number of the device.
    pub device_id: i32,
}

/// `DLDataType`: the type of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct DLDataType {
    /// The kind of number.
    pub code: u8,
    /// The bits of one lane.
    pub bits: u8,
    /// The number of lanes, 1 except for vectors.
    pub lanes: u16,
}

/// `DLTensor`: elements in memory, without an owner.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DLTensor {
    /// The start of the buffer.
    pub data: *mut c_void,
    /// The device of the buffer.
    pub device: DLDevice,
    /// The number of dims.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: DLDataType,
    /// The size of each dim.
    pub shape: *mut i64,
    /// The stride of each dim in elements; null for row-major order.
    pub strides: *mut i64,
    /// The bytes between the start of the buffer and the first element.
    pub byte_offset: u64,
}

/// `DLPackVersion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct DLPackVersion {
    /// Structs of another major version have another layout.
    pub major: u32,
    /// Minor versions add values.
    pub minor: u32,
}

/// `DLManagedTensor`: a tensor with its owner, as before version 1.0. It cannot say that it is read-only.
#[derive(Debug)]
#[repr(C)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// The owner's state.
    pub manager_ctx: *mut c_void,
    /// Frees the tensor.
    pub deleter: Option<unsafe extern "C" fn(*mut Self)>,
}

/// `DLManagedTensorVersioned`: a tensor with its owner.
#[derive(Debug)]
#[repr(C)]
pub struct DLManagedTensorVersioned {
    /// The version of the struct.
    pub version: DLPackVersion,
    /// The owner's state.
    pub manager_ctx: *mut c_void,
    /// Frees the tensor.
    pub deleter: Option<unsafe extern "C" fn(*mut Self)>,
    /// Bit 0 is set if the elements must not be written to.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}

/// The version that is written, and whose major version is understood.
pub(super) const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 0 };

/// `DLPACK_FLAG_BITMASK_READ_ONLY`.
pub(super) const READ_ONLY: u64 = 1;

/// `kDLCPU`.
pub(super) const CPU: i32 = 1;

/// `kDLCUDAHost`.
pub(super) const PINNED: i32 = 3;

impl DLDataType {
    /// Returns the type of a dtype's elements.
    #[must_use]
    pub const fn from_dtype(dtype: DType) -> Self {
        let code = match dtype {
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => 0,
            DType::U8 => 1,
            DType::F16 | DType::F32 | DType::F64 => 2,
            DType::BF16 => 4,
            DType::C64 | DType::C128 => 5,
            DType::Bool => 6,
        };
        Self {
            code,
            bits: 8 * dtype.size() as u8,
            lanes: 1,
        }
    }

    /// Returns the dtype, if there is one.
    #[must_use]
    pub fn to_dtype(self) -> Option<DType> {
        let mut all = DType::ALL.into_iter();
        all.find(|&dtype| Self::from_dtype(dtype) == self)
    }
}
