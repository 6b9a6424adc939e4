//! Modules that came with the program: the package `nomina-cuda-kernels`, looked into where the cache lacks one.

use super::source::Source;

pub(super) use pack::{count, load};

#[cfg(feature = "cuda-kernels")]
mod pack {
    use std::sync::OnceLock;
    use std::{env, fs};

    use nomina_cuda_kernels::{EMBEDDED, Pack};

    use super::Source;
    use crate::cuda::compile::Target;
    use crate::cuda::disk;

    /// The package's, or that of the file that `NOMINA_CUDA_KERNELS` names; else why there is none.
    fn pack() -> Result<&'static Pack<'static>, String> {
        static PACK: OnceLock<Result<Pack<'static>, String>> = OnceLock::new();
        let look = || {
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
        PACK.get_or_init(look).as_ref().map_err(Clone::clone)
    }

    /// Code goes with later devices of its major version where it is not bound to one, PTX with all later ones.
    pub(super) fn goes_with(target: Target, (major, minor): (u32, u32)) -> bool {
        match target {
            Target::Cubin(arch) => arch / 10 == major && arch % 10 <= minor,
            Target::Bound(arch) => arch == major * 10 + minor,
            Target::Ptx(arch) => arch <= major * 10 + minor,
        }
    }

    /// The module for a device, if it came with the program and is whole.
    pub(crate) fn load(source: &Source, capability: (u32, u32)) -> Option<Vec<u8>> {
        let pack = pack().ok()?;
        let mut targets = Target::shipped(source).iter();
        targets.find_map(|&target| {
            let fits = goes_with(target, capability);
            fits.then(|| pack.get(disk::number(source, target)))?
        })
    }

    /// How many modules came with the program, or why there are none.
    pub(crate) fn count() -> Result<usize, String> {
        let pack = pack()?;
        match pack.torn() {
            0 => Ok(pack.len()),
            torn => Err(format!("{torn} blocks of the pack are torn, and not used")),
        }
    }
}

#[cfg(not(feature = "cuda-kernels"))]
mod pack {
    use super::Source;

    pub(crate) fn load(_: &Source, _: (u32, u32)) -> Option<Vec<u8>> {
        None
    }

    pub(crate) fn count() -> Result<usize, String> {
        Err("built without the feature `cuda-kernels`".to_owned())
    }
}

#[cfg(all(test, feature = "cuda-kernels"))]
mod tests {
    use super::pack::goes_with;
    use crate::cuda::compile::Target::{self, Bound, Cubin, Ptx};
    use crate::cuda::source::{File, Source};

    #[test]
    fn what_a_device_takes_of_a_pack() {
        let fitting = |file, capability| {
            let mut targets = Target::shipped(&Source::new(file)).iter().copied();
            targets.find(|target| goes_with(*target, capability))
        };
        for (capability, target, bound) in [
            ((7, 5), None, None),
            ((8, 0), Some(Cubin(80)), None),
            ((8, 9), Some(Cubin(80)), None),
            ((9, 0), Some(Cubin(90)), Some(Bound(90))),
            ((10, 0), Some(Ptx(90)), None),
            ((12, 1), Some(Ptx(90)), None),
        ] {
            assert_eq!(fitting(File::Map, capability), target, "{capability:?}");
            let found = fitting(File::AttentionWarpgroup, capability);
            assert_eq!(found, bound, "{capability:?}");
        }
    }
}
