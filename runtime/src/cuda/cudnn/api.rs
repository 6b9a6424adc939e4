//! The functions of cuDNN that we call. Statuses and options are numbers, because later versions add values.

use std::ffi::{CStr, c_char, c_int, c_void};

use cudarc::cudnn::sys;

/// A handle or a descriptor.
pub(super) type Object = *mut c_void;

/// The status of a call: 0, or an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Status(u32);

impl Status {
    /// Returns whether the library does not support the request, so that our own kernels compute it. Errors of the
    /// computation itself are not refusals.
    pub(super) fn is_refusal(self) -> bool {
        (1000..4000).contains(&self.0)
    }

    pub(super) fn result(self) -> Result<(), Self> {
        if self.0 == 0 { Ok(()) } else { Err(self) }
    }
}

/// A proposed algorithm: `cudnnConvolutionFwdAlgoPerf_t`, and those of the gradients.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal {
    pub(super) algorithm: c_int,
    pub(super) status: Status,
    time: f32,
    pub(super) workspace: usize,
    /// 1 if it is deterministic.
    pub(super) repeatable: c_int,
    pub(super) math: c_int,
    reserved: [c_int; 3],
}

impl Proposal {
    pub(super) const NONE: Self = Self {
        algorithm: 0,
        status: Status(u32::MAX),
        time: 0.0,
        workspace: 0,
        repeatable: 0,
        math: 0,
        reserved: [0; 3],
    };
}

pub(super) const FLOAT: c_int = 0;
pub(super) const DOUBLE: c_int = 1;
pub(super) const HALF: c_int = 2;
pub(super) const BFLOAT16: c_int = 9;
/// Orders of a weight's dims in memory.
pub(super) const NCHW: c_int = 0;
pub(super) const NHWC: c_int = 1;
pub(super) const CROSS_CORRELATION: c_int = 1;
/// Tensor cores for `f32` by TF32, in algorithms that support them.
pub(super) const DEFAULT_MATH: c_int = 0;
/// Tensor cores for 16-bit floats, which some algorithms do not use by default.
pub(super) const TENSOR_MATH: c_int = 1;
/// Products without tensor cores.
pub(super) const FMA_MATH: c_int = 3;

/// Proposes algorithms. The arguments are the handle, two operands, the convolution, the result, the number of
/// proposals wanted, and the number and list of those found.
pub(super) type Propose = unsafe extern "C" fn(
    Object,
    Object,
    Object,
    Object,
    Object,
    c_int,
    *mut c_int,
    *mut Proposal,
) -> Status;

/// Computes a convolution, with a descriptor and an address for each operand and the result.
pub(super) type Compute = unsafe extern "C" fn(
    Object,
    *const c_void,
    Object,
    *const c_void,
    Object,
    *const c_void,
    Object,
    c_int,
    *mut c_void,
    usize,
    *const c_void,
    Object,
    *mut c_void,
) -> Status;

type Create = unsafe extern "C" fn(*mut Object) -> Status;
type Destroy = unsafe extern "C" fn(Object) -> Status;

macro_rules! functions {
    ($($field:ident: $kind:ty = $name:literal,)*) => {
        /// The functions of the library.
        #[derive(Debug)]
        pub(super) struct CudnnFunctions {
            $(pub(super) $field: $kind,)*
        }

        impl CudnnFunctions {
            /// Looks up the functions of the library, or returns the name of a missing one.
            ///
            /// # Safety
            /// The library is installed.
            unsafe fn find() -> Result<Self, &'static str> {
                // SAFETY: the caller's promise; the types are those of `cudnn_ops.h` and `cudnn_cnn.h`, and the
                // library is never unloaded.
                unsafe {
                    let library = sys::culib();
                    Ok(Self {
                        $($field: *library.get::<$kind>($name.as_bytes()).map_err(|_| $name)?,)*
                    })
                }
            }
        }
    };
}

functions! {
    version: unsafe extern "C" fn() -> usize = "cudnnGetVersion",
    cuda: unsafe extern "C" fn() -> usize = "cudnnGetCudartVersion",
    text: unsafe extern "C" fn(Status) -> *const c_char = "cudnnGetErrorString",
    create: Create = "cudnnCreate",
    set_stream: unsafe extern "C" fn(Object, *mut c_void) -> Status = "cudnnSetStream",
    create_tensor: Create = "cudnnCreateTensorDescriptor",
    destroy_tensor: Destroy = "cudnnDestroyTensorDescriptor",
    set_tensor: unsafe extern "C" fn(Object, c_int, c_int, *const c_int, *const c_int) -> Status
        = "cudnnSetTensorNdDescriptor",
    create_weight: Create = "cudnnCreateFilterDescriptor",
    destroy_weight: Destroy = "cudnnDestroyFilterDescriptor",
    set_weight: unsafe extern "C" fn(Object, c_int, c_int, c_int, *const c_int) -> Status
        = "cudnnSetFilterNdDescriptor",
    create_slides: Create = "cudnnCreateConvolutionDescriptor",
    destroy_slides: Destroy = "cudnnDestroyConvolutionDescriptor",
    set_slides: unsafe extern "C" fn(
        Object, c_int, *const c_int, *const c_int, *const c_int, c_int, c_int,
    ) -> Status = "cudnnSetConvolutionNdDescriptor",
    set_groups: unsafe extern "C" fn(Object, c_int) -> Status = "cudnnSetConvolutionGroupCount",
    set_math: unsafe extern "C" fn(Object, c_int) -> Status = "cudnnSetConvolutionMathType",
    propose_forward: Propose = "cudnnGetConvolutionForwardAlgorithm_v7",
    propose_data: Propose = "cudnnGetConvolutionBackwardDataAlgorithm_v7",
    propose_weight: Propose = "cudnnGetConvolutionBackwardFilterAlgorithm_v7",
    forward: Compute = "cudnnConvolutionForward",
    data: Compute = "cudnnConvolutionBackwardData",
    weight: Compute = "cudnnConvolutionBackwardFilter",
}

impl CudnnFunctions {
    /// Loads the library, or returns why it is not available.
    pub(super) fn load() -> Result<Self, String> {
        // SAFETY: loads a library by name, which is allowed at any time.
        if !unsafe { sys::is_culib_present() } {
            return Err("cuDNN (libcudnn.so.9) was not found".to_owned());
        }
        // SAFETY: the library is installed.
        unsafe { Self::find() }.map_err(|name| format!("cuDNN (libcudnn.so.9) has no `{name}`"))
    }

    /// Returns the text of a status.
    pub(super) fn words(&self, status: Status) -> String {
        // SAFETY: the text lives as long as the library.
        let text = unsafe { CStr::from_ptr((self.text)(status)) };
        text.to_string_lossy().into_owned()
    }
}
