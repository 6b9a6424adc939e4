//! A module: a source with its defines, and the kernels that calls start from it.

use std::ffi::CStr;

use nomina_core::Result;

use super::compile::{CompileTarget, compile, inspect};
use super::disk;
use super::source::Source;

/// A source with its defines, and the names of the kernels in it.
#[derive(Debug)]
pub struct Module {
    pub(super) source: Source,
    entries: &'static [&'static CStr],
}

/// A compiled module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// PTX, which the driver translates for other devices.
    pub ptx: Vec<u8>,
    /// Machine code of the capability it was compiled for.
    pub cubin: Vec<u8>,
    /// The compiler's report on each kernel: registers, stack frame, spills.
    pub report: String,
}

impl Module {
    pub(super) fn new(source: Source, entries: &'static [&'static CStr]) -> Self {
        Self { source, entries }
    }

    /// Returns the file and its defines, which identify the module.
    #[must_use]
    pub fn name(&self) -> String {
        self.source.to_string()
    }

    /// Returns the names of its kernels.
    pub fn entries(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().filter_map(|entry| entry.to_str().ok())
    }

    /// Returns a hash of its text and of every header it includes.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        disk::fingerprint(&self.source)
    }

    /// Returns the name of its file in the cache for a device of this capability, such as `90`.
    #[must_use]
    pub fn file(&self, capability: u32) -> String {
        let target = CompileTarget::own(&self.source, (capability / 10, capability % 10));
        disk::name(&self.source, target)
    }

    /// Whether devices of this capability, such as `90`, have the instructions its kernels use.
    #[must_use]
    pub fn goes_with(&self, capability: u32) -> bool {
        !self.source.is_bound() || capability == 90
    }

    /// Compiles it for sm_90, or with `ship` for every target of a package, into the cache folder `NOMINA_CUDA_CACHE`.
    /// Returns false if the cache already had it.
    ///
    /// # Errors
    /// Returns an error if the compiler is missing, or with its message if it rejects the source.
    pub fn keep(&self, ship: bool) -> Result<bool> {
        let mut compiled = false;
        let targets = CompileTarget::shipped(&self.source);
        for target in &targets[..if ship { targets.len() } else { 1 }] {
            if disk::load(&self.source, *target).is_none() {
                let code = compile("catalog", &self.source, *target)?;
                disk::store(&self.source, *target, &code);
                compiled = true;
            }
        }
        Ok(compiled)
    }

    /// Returns its entries of a package that the cache has: number and code.
    pub fn shipped(&self) -> impl Iterator<Item = (u128, Vec<u8>)> {
        let kept = |&target| {
            Some((
                disk::number(&self.source, target),
                disk::load(&self.source, target)?,
            ))
        };
        CompileTarget::shipped(&self.source).iter().filter_map(kept)
    }

    /// Compiles it for a compute capability, such as `90`, with the options that calls use.
    ///
    /// # Errors
    /// Returns an error if the compiler is missing, or with its message if it rejects the source.
    pub fn compile(&self, capability: u32) -> Result<Code> {
        let made = inspect("catalog", &self.source, capability)?;
        Ok(Code {
            ptx: made.ptx,
            cubin: made.cubin,
            report: made.report,
        })
    }
}
