//! The loaded modules and kernels of a device.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Arc, Mutex};

use cudarc::driver::sys::{CUfunction, CUmodule};

use super::source::Source;

/// A kernel on one device. Modules are never unloaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelFunction(pub(super) CUfunction);

// SAFETY: a handle of the driver's, which any thread may use.
unsafe impl Send for KernelFunction {}
// SAFETY: as above.
unsafe impl Sync for KernelFunction {}

/// A module on one device.
#[derive(Debug)]
pub(super) struct LoadedModule(pub(super) CUmodule);

// SAFETY: as above.
unsafe impl Send for LoadedModule {}

/// Modules by source, each behind a lock of its own that is held while the module is loaded.
pub(super) type Modules = HashMap<Source, Arc<Mutex<Option<LoadedModule>>>>;

/// The source and the name that identify a kernel.
pub(super) type FunctionKey = (Source, &'static CStr);

/// Kernels by source and name.
pub(super) type FunctionMap = HashMap<FunctionKey, KernelFunction>;
