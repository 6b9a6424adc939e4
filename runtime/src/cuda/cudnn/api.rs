//! The functions of cuDNN that we call: those of its graphs, which describe everything by descriptors with attributes.
//! Statuses are numbers, because later versions add values.

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

use cudarc::cudnn::sys::{
    self, cudnnBackendAttributeName_t as Attribute, cudnnBackendAttributeType_t as AttributeType,
    cudnnBackendDescriptorType_t as DescriptorKind,
};

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

    /// Returns whether an engine cannot be used: a refusal, or an internal error, for example of its compiler.
    pub(super) fn is_of_engine(self) -> bool {
        self.is_refusal() || (4000..5000).contains(&self.0)
    }

    pub(super) fn result(self) -> Result<(), Self> {
        if self.0 == 0 { Ok(()) } else { Err(self) }
    }
}

type SetAttribute =
    unsafe extern "C" fn(Object, Attribute, AttributeType, i64, *const c_void) -> Status;
type GetAttribute =
    unsafe extern "C" fn(Object, Attribute, AttributeType, i64, *mut i64, *mut c_void) -> Status;

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
                // SAFETY: the caller's promise; the types are those of `cudnn_graph.h`, and the library is never
                // unloaded.
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
    create: unsafe extern "C" fn(*mut Object) -> Status = "cudnnCreate",
    set_stream: unsafe extern "C" fn(Object, *mut c_void) -> Status = "cudnnSetStream",
    create_descriptor: unsafe extern "C" fn(DescriptorKind, *mut Object) -> Status
        = "cudnnBackendCreateDescriptor",
    destroy_descriptor: unsafe extern "C" fn(Object) -> Status = "cudnnBackendDestroyDescriptor",
    set_attribute: SetAttribute = "cudnnBackendSetAttribute",
    get_attribute: GetAttribute = "cudnnBackendGetAttribute",
    finalize: unsafe extern "C" fn(Object) -> Status = "cudnnBackendFinalize",
    // The handle, a plan, and the addresses.
    execute: unsafe extern "C" fn(Object, Object, Object) -> Status = "cudnnBackendExecute",
}

impl CudnnFunctions {
    /// Returns the functions of the library, which the first call loads, or why they are not available.
    pub(super) fn get() -> Result<&'static Self, &'static String> {
        static FUNCTIONS: OnceLock<Result<CudnnFunctions, String>> = OnceLock::new();
        FUNCTIONS.get_or_init(Self::load).as_ref()
    }

    fn load() -> Result<Self, String> {
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
