//! The list of all modules that calls use, for compiling them without a device.
//!
//! Each class lists its own, by the same functions that its calls use. A module that is missing here would be compiled
//! for the first time by a user.

use std::collections::HashSet;
use std::path::Path;

use nomina_core::Result;

use super::compile::version;
use super::context::Cuda;
use super::disk;
pub use super::module::{Code, Module};
use super::per_device::lock;
use super::source::Source;

/// Returns the compiler's version, major and minor.
///
/// # Errors
/// Returns an error if the compiler is missing.
pub fn compiler() -> Result<(i32, i32)> {
    version("catalog")
}

/// Returns the modules that this process has used on a device, without the names of their kernels.
///
/// # Errors
/// Returns an error if there is no such device.
pub fn used(ordinal: usize) -> Result<Vec<Module>> {
    let asked = lock(&Cuda::get("catalog", ordinal)?.modules);
    let mut all: Vec<_> = asked
        .keys()
        .map(|source| Module::new(source.clone(), &[]))
        .collect();
    all.sort_by_cached_key(Module::name);
    Ok(all)
}

/// Returns the names of used modules that [`modules`] does not list: a cache filled from the list lacks them, so each
/// is compiled at its first use. Modules of `fuse!` are specific to the program and not counted.
///
/// # Errors
/// Returns an error if there is no such device.
pub fn unlisted(ordinal: usize) -> Result<Vec<String>> {
    let listed: HashSet<Source> = modules().into_iter().map(|module| module.source).collect();
    let mut missing = used(ordinal)?;
    missing.retain(|Module { source, .. }| !source.is_own() && !listed.contains(source));
    Ok(missing.iter().map(Module::name).collect())
}

/// Returns the modules that programs have used with this folder as their cache and `NOMINA_CUDA_SOURCES` set, also
/// those of `fuse!`, without the names of their kernels.
///
/// # Errors
/// Returns an error if the folder or one of its files cannot be read.
pub fn asked(folder: &Path) -> std::io::Result<Vec<Module>> {
    let sources = disk::sources(folder)?.into_iter();
    Ok(sources.map(|source| Module::new(source, &[])).collect())
}

/// Lists every module.
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
