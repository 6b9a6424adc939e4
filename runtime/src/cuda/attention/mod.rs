//! Attention. Keys pass by the queries of a block tile by tile, and no scores are stored.

mod features;
mod trial;
mod warpgroup;
mod warps;

use std::env;
use std::sync::OnceLock;

use nomina_core::Result;

use super::context::Cuda;
use super::module::Module;
use super::per_device::CallCounts;
use crate::job::AttentionJob;
use warpgroup::Tiles;

/// The number of attentions computed by warpgroup products.
pub(super) static WARPGROUP_CALLS: CallCounts = CallCounts::new();

/// The number of attentions computed by other kernels.
pub(super) static WARP_CALLS: CallCounts = CallCounts::new();

/// The kernels that `NOMINA_CUDA_ATTENTION` selects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KernelChoice {
    Auto,
    Warp,
    Warpgroup,
}

fn selection() -> KernelChoice {
    static SELECTION: OnceLock<KernelChoice> = OnceLock::new();
    *SELECTION.get_or_init(|| match env::var("NOMINA_CUDA_ATTENTION").as_deref() {
        Ok("warp") => KernelChoice::Warp,
        Ok("warpgroup") => KernelChoice::Warpgroup,
        _ => KernelChoice::Auto,
    })
}

/// Computes an attention.
///
/// # Safety
/// The operands are on this device, as the job describes them, and none of their sizes is zero. Nothing else uses the
/// result.
pub(super) unsafe fn execute(cuda: &'static Cuda, job: &AttentionJob) -> Result<()> {
    let tiles = warpgroup_tiles(cuda, job)?;
    let calls = match tiles {
        Some(_) => &WARPGROUP_CALLS,
        None => &WARP_CALLS,
    };
    calls.increment(cuda.ordinal);
    // SAFETY: the caller's promise; `warpgroup_tiles` has checked the device.
    unsafe {
        match tiles {
            Some(tiles) => tiles.launch(cuda, 0),
            None => warps::execute(cuda, job),
        }
    }
}

/// Returns the job of the warpgroup kernel, if the kernel supports it and the device and the environment allow it.
fn warpgroup_tiles(cuda: &'static Cuda, job: &AttentionJob) -> Result<Option<Tiles>> {
    if selection() == KernelChoice::Warp || warpgroup::check_device(cuda).is_err() {
        return Ok(None);
    }
    let Some(tiles) = Tiles::new(job) else {
        return Ok(None);
    };
    let used = match selection() {
        KernelChoice::Warpgroup => true,
        _ => tiles.is_worth_it() && trial::passed(cuda, tiles.kind)?,
    };
    Ok(used.then_some(tiles))
}

/// Checks that attention may use warpgroup products, or returns why not.
pub(super) fn check_warpgroups(cuda: &Cuda) -> Result<(), String> {
    if selection() == KernelChoice::Warp {
        return Err("NOMINA_CUDA_ATTENTION=warp".to_owned());
    }
    warpgroup::check_device(cuda)?;
    trial::check(cuda)
}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    warps::modules().chain(warpgroup::modules()).collect()
}
