//! Kernels that can be started, kept from the first time they are asked for.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::result;
use cudarc::driver::sys::{CUfunction, CUmodule};
use nomina_core::Result;

use super::compile::{Target, compile};
use super::context::{Cuda, lock};
use super::disk;
use super::failure::failed;
use super::shipped;
use super::source::Source;

/// A kernel on one device. Modules are never unloaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function(pub(super) CUfunction);

// SAFETY: a handle of the driver's, which may be used by any thread.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// A module on one device.
#[derive(Debug)]
pub(super) struct Module(CUmodule);

// SAFETY: as above.
unsafe impl Send for Module {}

/// Modules by source, each behind a lock of its own that is held while it is made.
pub(super) type Modules = HashMap<Source, Arc<Mutex<Option<Module>>>>;

/// What tells kernels apart.
pub(super) type Key = (Source, &'static CStr);

impl Cuda {
    /// The kernel `entry` of a module: kept, or loaded from disk or a pack, or compiled.
    ///
    /// # Errors
    /// When the compiler is missing or refuses the source, or the driver the module.
    pub(crate) fn function(
        &self,
        op: &'static str,
        source: Source,
        entry: &'static CStr,
    ) -> Result<Function> {
        let key = (source, entry);
        let kept = self
            .functions
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = kept.get(&key) {
            return Ok(*function);
        }
        drop(kept);
        let function = self.load(op, &key.0, entry)?;
        let mut kept = self
            .functions
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        kept.insert(key, function);
        Ok(function)
    }

    fn load(&self, op: &'static str, source: &Source, entry: &CStr) -> Result<Function> {
        let place = Arc::clone(lock(&self.modules).entry(source.clone()).or_default());
        // Who asks for the same module waits for it; others are made beside it.
        let mut place = lock(&place);
        let module = match &*place {
            Some(module) => module,
            None => place.insert(self.module(op, source)?),
        };
        let _bound = self.bind(op)?;
        // SAFETY: the module is never unloaded.
        unsafe { result::module::get_function(module.0, entry.to_owned()) }
            .map(Function)
            .map_err(|error| failed(op, &format!("looking for a kernel of `{source}`"), error))
    }

    /// A module from disk or a pack, for which nothing but the driver is asked, or compiled.
    fn module(&self, op: &'static str, source: &Source) -> Result<Module> {
        self.outside(op, "needs a kernel that is not loaded yet")?;
        let capability = self.properties.capability;
        let _bound = self.bind(op)?;
        // PTX is text that ends with zero, which the compiler's result has; other code says
        // itself how long it is.
        // SAFETY: code as the compiler made it, whole.
        let open = |code: &[u8]| unsafe { result::module::load_data(code.as_ptr().cast()) };
        let own = Target::own(source, capability);
        let opened = |code: Option<Vec<u8>>| code.and_then(|code| open(&code).ok());
        let kept = opened(disk::load(source, own));
        // Code of a newer CUDA than the driver's is refused, and compiled here.
        if let Some(module) = kept.or_else(|| opened(shipped::load(source, capability))) {
            return Ok(Module(module));
        }
        let code = compile(op, source, Target::of(op, source, capability)?)?;
        let module = open(&code)
            .map_err(|error| failed(op, &format!("loading the kernels of `{source}`"), error))?;
        disk::store(source, own, &code);
        Ok(Module(module))
    }
}
