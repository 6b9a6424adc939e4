//! What is called of cuDNN. Statuses and choices are numbers here, since later versions have more of them than any list.

use std::ffi::{CStr, c_char, c_int, c_void};

use cudarc::cudnn::sys;

/// A handle or a descriptor.
pub(super) type Object = *mut c_void;

/// What a call ended with: 0, or what went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Status(u32);

impl Status {
    /// Whether the library has no way for what was asked, so that somebody else computes it. What went wrong while it
    /// computed is none of these.
    pub(super) fn is_refusal(self) -> bool {
        (1000..4000).contains(&self.0)
    }

    pub(super) fn result(self) -> Result<(), Self> {
        if self.0 == 0 { Ok(()) } else { Err(self) }
    }
}

/// An algorithm that the library proposes: `cudnnConvolutionFwdAlgoPerf_t`, and those of the ways back.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal {
    pub(super) algorithm: c_int,
    pub(super) status: Status,
    time: f32,
    pub(super) workspace: usize,
    /// 1 where it gives the same bits each time.
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
/// The order of a weight's dims in memory.
pub(super) const NCHW: c_int = 0;
pub(super) const NHWC: c_int = 1;
pub(super) const CROSS_CORRELATION: c_int = 1;
/// Tensor cores for `f32` by TF32, where an algorithm has a way with them.
pub(super) const DEFAULT_MATH: c_int = 0;
/// Tensor cores for 16-bit floats, which by default some algorithms do without.
pub(super) const TENSOR_MATH: c_int = 1;
/// Products of whole elements alone.
pub(super) const FMA_MATH: c_int = 3;

/// Proposes algorithms: two operands, how they slide, the result; how many are wanted, and how many there are.
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

/// Computes: each operand's descriptor and address, and the result's.
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
        /// The library's functions, found by name.
        #[derive(Debug)]
        pub(super) struct Functions {
            $(pub(super) $field: $kind,)*
        }

        impl Functions {
            /// The functions of a library that is installed, or the name of one that it lacks.
            ///
            /// # Safety
            /// The library was found before.
            unsafe fn find() -> Result<Self, &'static str> {
                // SAFETY: the caller's promise; the kinds are those of `cudnn_ops.h` and `cudnn_cnn.h`, and the
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

impl Functions {
    /// The functions of the library, or why it is not there.
    pub(super) fn load() -> Result<Self, String> {
        // SAFETY: loads a library by name, which may be done at any time.
        if !unsafe { sys::is_culib_present() } {
            return Err("cuDNN (libcudnn.so.9) was not found".to_owned());
        }
        // SAFETY: it is there.
        unsafe { Self::find() }.map_err(|name| format!("cuDNN (libcudnn.so.9) has no `{name}`"))
    }

    /// What a status means.
    pub(super) fn words(&self, status: Status) -> String {
        // SAFETY: gives a text that lives as long as the library.
        let text = unsafe { CStr::from_ptr((self.text)(status)) };
        text.to_string_lossy().into_owned()
    }
}
