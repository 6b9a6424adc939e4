//! All modules that some call can ask for, so that the compiler sees them where there is no device.
//!
//! Every class lists its own, with the loops that its calls choose from; one that is missing here
//! would be compiled for the first time by a user.

use std::collections::HashSet;
use std::ffi::CStr;
use std::path::Path;

use nomina_core::Result;

use super::compile::{Target, compile, inspect, version};
use super::context::{Cuda, lock};
use super::disk;
use super::source::Source;

/// A module, and the kernels that calls start from it.
#[derive(Debug)]
pub struct Module {
    source: Source,
    entries: &'static [&'static CStr],
}

/// A compiled module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// What a driver translates.
    pub ptx: Vec<u8>,
    /// What the device runs.
    pub cubin: Vec<u8>,
    /// What the compiler says of each kernel: registers, stack frame, spills.
    pub report: String,
}

impl Module {
    pub(crate) fn new(source: Source, entries: &'static [&'static CStr]) -> Self {
        Self { source, entries }
    }

    /// Its file and defines, which tell it from others.
    #[must_use]
    pub fn name(&self) -> String {
        self.source.to_string()
    }

    /// The names of its kernels.
    pub fn entries(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().filter_map(|entry| entry.to_str().ok())
    }

    /// A number that changes with its text and with any header that it includes.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        disk::fingerprint(&self.source)
    }

    /// The name of its file in the cache of a device of this capability, as `90`.
    #[must_use]
    pub fn file(&self, capability: u32) -> String {
        let target = Target::own(&self.source, (capability / 10, capability % 10));
        disk::name(&self.source, target)
    }

    /// Whether devices of this capability, as `90`, have what its kernels use.
    #[must_use]
    pub fn goes_with(&self, capability: u32) -> bool {
        !self.source.is_bound() || capability == 90
    }

    /// Compiles it for sm_90, and with `ship` for all that a pack has it for, and keeps it where calls look for it:
    /// `NOMINA_CUDA_CACHE`. False where it was there.
    ///
    /// # Errors
    /// When the compiler is missing, or refuses the source, with what it says.
    pub fn keep(&self, ship: bool) -> Result<bool> {
        let mut compiled = false;
        let targets = Target::shipped(&self.source);
        for target in &targets[..if ship { targets.len() } else { 1 }] {
            if disk::load(&self.source, *target).is_none() {
                let code = compile("catalog", &self.source, *target)?;
                disk::store(&self.source, *target, &code);
                compiled = true;
            }
        }
        Ok(compiled)
    }

    /// What of it is kept there for a pack: under which names, and the code.
    pub fn shipped(&self) -> impl Iterator<Item = (u128, Vec<u8>)> {
        let kept = |&target| {
            Some((
                disk::number(&self.source, target),
                disk::load(&self.source, target)?,
            ))
        };
        Target::shipped(&self.source).iter().filter_map(kept)
    }

    /// Compiles it for a compute capability, as `90`, by the options of real use.
    ///
    /// # Errors
    /// When the compiler is missing, or refuses the source, with what it says.
    pub fn compile(&self, capability: u32) -> Result<Code> {
        let made = inspect("catalog", &self.source, capability)?;
        Ok(Code {
            ptx: made.ptx,
            cubin: made.cubin,
            report: made.report,
        })
    }
}

/// The compiler's version, major and minor.
///
/// # Errors
/// When it is missing.
pub fn compiler() -> Result<(i32, i32)> {
    version("catalog")
}

/// The modules that a device was asked for by this process. They know no names of kernels.
///
/// # Errors
/// When there is no such device.
pub fn used(ordinal: usize) -> Result<Vec<Module>> {
    let asked = lock(&Cuda::get("catalog", ordinal)?.modules);
    let mut all: Vec<_> = asked
        .keys()
        .map(|source| Module::new(source.clone(), &[]))
        .collect();
    all.sort_by_cached_key(Module::name);
    Ok(all)
}

/// Those of them that are not listed, by their names: a cache that was filled from the list lacks them, and each is
/// compiled where it is first needed. What `fuse!` writes is the program's own, and no list has it.
///
/// # Errors
/// When there is no such device.
pub fn unlisted(ordinal: usize) -> Result<Vec<String>> {
    let listed: HashSet<Source> = modules().into_iter().map(|module| module.source).collect();
    let mut missing = used(ordinal)?;
    missing.retain(|Module { source, .. }| !source.is_own() && !listed.contains(source));
    Ok(missing.iter().map(Module::name).collect())
}

/// The modules that programs asked for which had this folder as their cache, and `NOMINA_CUDA_SOURCES` set: chains
/// of `fuse!` too. They know no names of kernels.
///
/// # Errors
/// When the folder or one of its files cannot be read.
pub fn asked(folder: &Path) -> std::io::Result<Vec<Module>> {
    let sources = disk::sources(folder)?.into_iter();
    Ok(sources.map(|source| Module::new(source, &[])).collect())
}

/// Every module.
#[must_use]
pub fn modules() -> Vec<Module> {
    let classes = [
        super::attention::modules(),
        super::columns::modules(),
        super::conv::modules(),
        super::conv_transpose::modules(),
        super::copy::modules(),
        super::count::modules(),
        super::distance::modules(),
        super::fill::modules(),
        super::fused::modules(),
        super::gather::modules(),
        super::gemm::modules(),
        super::pool::modules(),
        super::pointwise::modules(),
        super::random::modules(),
        super::resample::modules(),
        super::scatter::modules(),
        super::search::modules(),
        super::select::modules(),
        super::sort::modules(),
        super::topk::modules(),
        super::entropy::modules(),
        super::norm::modules(),
        super::reduce::modules(),
        super::scan::modules(),
        super::softmax::modules(),
    ];
    classes.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn modules_differ_and_have_kernels() {
        let mut names = HashSet::new();
        for module in modules() {
            assert!(module.entries().count() > 0, "{}", module.name());
            assert!(names.insert(module.name()), "{} twice", module.name());
        }
    }
}
