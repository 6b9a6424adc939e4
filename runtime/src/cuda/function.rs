//! Kernels that can be started, kept from the first time they are asked for.

use std::ffi::CStr;
use std::sync::PoisonError;

use cudarc::driver::result;
use cudarc::driver::sys::CUfunction;
use nomina_core::Result;

use super::compile::{Target, compile, version};
use super::context::Cuda;
use super::disk;
use super::failure::failed;
use super::source::Source;

/// A kernel on one device. Modules are never unloaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function(pub(super) CUfunction);

// SAFETY: a handle of the driver's, which may be used by any thread.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// What tells kernels apart.
pub(super) type Key = (Source, &'static CStr);

impl Cuda {
    /// The kernel `entry` of a module: kept, or loaded from disk, or compiled.
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
        // Two threads may make it at once; both get one that works.
        let function = self.load(op, &key.0, entry)?;
        let mut kept = self
            .functions
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        kept.insert(key, function);
        Ok(function)
    }

    fn load(&self, op: &'static str, source: &Source, entry: &CStr) -> Result<Function> {
        let target = Target::of(op, self.properties.capability)?;
        let compiler = version(op)?;
        self.bind(op)?;
        let open = |code: &[u8]| {
            // PTX is text that ends with zero, which the compiler's result has; other code says
            // itself how long it is.
            // SAFETY: code as the compiler made it, whole.
            let module = unsafe { result::module::load_data(code.as_ptr().cast()) }?;
            // SAFETY: the module is never unloaded.
            unsafe { result::module::get_function(module, entry.to_owned()) }
        };
        let kept = disk::load(source, target, compiler);
        if let Some(function) = kept.and_then(|code| open(&code).ok()) {
            return Ok(Function(function));
        }
        let code = compile(op, source, target)?;
        let function = open(&code)
            .map_err(|error| failed(op, &format!("loading the kernels of `{source}`"), error))?;
        disk::store(source, target, compiler, &code);
        Ok(Function(function))
    }
}
