//! Loading of kernels. Each is kept from its first use on.

use std::ffi::CStr;
use std::sync::{Arc, PoisonError};

use cudarc::driver::result;
use nomina_core::Result;

use super::compile::{CompileTarget, compile};
use super::context::Cuda;
use super::disk;
use super::failure::failed;
use super::kernel_cache::{KernelFunction, LoadedModule};
use super::per_device::lock;
use super::shipped;
use super::source::Source;

impl Cuda {
    /// Returns the kernel `entry` of a module: kept, loaded from disk or a package, or compiled.
    ///
    /// # Errors
    /// Returns an error if the compiler is missing or rejects the source, or if the driver rejects the module.
    pub(crate) fn function(
        &self,
        op: &'static str,
        source: Source,
        entry: &'static CStr,
    ) -> Result<KernelFunction> {
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

    fn load(&self, op: &'static str, source: &Source, entry: &CStr) -> Result<KernelFunction> {
        let place = Arc::clone(lock(&self.modules).entry(source.clone()).or_default());
        // Threads that need the same module wait for it; other modules are loaded concurrently.
        let mut place = lock(&place);
        let module = match &*place {
            Some(module) => module,
            None => place.insert(self.module(op, source)?),
        };
        let _bound = self.bind(op)?;
        // SAFETY: the module is never unloaded.
        unsafe { result::module::get_function(module.0, entry.to_owned()) }
            .map(KernelFunction)
            .map_err(|error| failed(op, &format!("looking for a kernel of `{source}`"), error))
    }

    /// Loads a module from disk or a package, which needs only the driver, or compiles it.
    fn module(&self, op: &'static str, source: &Source) -> Result<LoadedModule> {
        self.outside(op, "needs a kernel that is not loaded yet")?;
        let capability = self.properties.capability;
        let _bound = self.bind(op)?;
        // PTX is text that ends with zero, as the compiler writes it; other code contains its own length.
        // SAFETY: complete code as the compiler wrote it.
        let open = |code: &[u8]| unsafe { result::module::load_data(code.as_ptr().cast()) };
        let own = CompileTarget::own(source, capability);
        let opened = |code: Option<Vec<u8>>| code.and_then(|code| open(&code).ok());
        let kept = opened(disk::load(source, own));
        // The driver rejects code of a newer CUDA; it is then compiled here.
        if let Some(module) = kept.or_else(|| opened(shipped::load(source, capability))) {
            return Ok(LoadedModule(module));
        }
        let code = compile(op, source, CompileTarget::best(op, source, capability)?)?;
        let module = open(&code)
            .map_err(|error| failed(op, &format!("loading the kernels of `{source}`"), error))?;
        disk::store(source, own, &code);
        Ok(LoadedModule(module))
    }
}
