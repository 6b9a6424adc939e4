//! Compiled modules in the program: the package `nomina-cuda-kernels`, which is searched after the cache on disk.

pub(super) use pack::{count, load};

#[cfg(feature = "cuda-kernels")]
mod pack {
    use std::sync::OnceLock;
    use std::{env, fs};

    use nomina_cuda_kernels::{EMBEDDED, Pack};

    use crate::cuda::compile::CompileTarget;
    use crate::cuda::disk;
    use crate::cuda::source::Source;

    /// Returns the package, or that of the file that `NOMINA_CUDA_KERNELS` names, or why there is none.
    fn pack() -> Result<&'static Pack<'static>, String> {
        static PACK: OnceLock<Result<Pack<'static>, String>> = OnceLock::new();
        let find = || {
            let bytes = match env::var_os("NOMINA_CUDA_KERNELS") {
                Some(off) if off == "0" => return Err("NOMINA_CUDA_KERNELS is 0".to_owned()),
                Some(file) if !file.is_empty() => {
                    let said = |error| format!("{}: {error}", file.display());
                    fs::read(&file).map_err(said)?.leak()
                }
                _ if EMBEDDED.is_empty() => {
                    return Err(
                        "`nomina-cuda-kernels` was built from a checkout without any".to_owned(),
                    );
                }
                _ => EMBEDDED,
            };
            Pack::open(bytes).map_err(|why| format!("the pack is not used: {why}"))
        };
        PACK.get_or_init(find).as_ref().map_err(Clone::clone)
    }

    /// Returns a module for a device, if the package has it undamaged.
    pub(crate) fn load(source: &Source, capability: (u32, u32)) -> Option<Vec<u8>> {
        let pack = pack().ok()?;
        let mut targets = CompileTarget::shipped(source).iter();
        targets.find_map(|&target| {
            let fits = target.runs_on(capability);
            fits.then(|| pack.get(disk::number(source, target)))?
        })
    }

    /// Returns the number of modules in the package, or why they are not used.
    pub(crate) fn count() -> Result<usize, String> {
        let pack = pack()?;
        match pack.torn() {
            0 => Ok(pack.len()),
            torn => Err(format!("{torn} blocks of the pack are corrupt and unused")),
        }
    }
}

#[cfg(not(feature = "cuda-kernels"))]
mod pack {
    use crate::cuda::source::Source;

    pub(crate) fn load(_: &Source, _: (u32, u32)) -> Option<Vec<u8>> {
        None
    }

    pub(crate) fn count() -> Result<usize, String> {
        Err("built without the feature `cuda-kernels`".to_owned())
    }
}
