//! Kernels compiled for several instruction sets and selected at run time.
//!
//! Kernels use a fixed number of lanes and no fused multiply-add, so results are the same for all instruction sets.

use crate::cpu::simd::Level;
#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::level;

/// A computation whose body is compiled for several register widths. `run` is `#[inline(always)]`.
pub(crate) trait Kernel {
    /// The result.
    type Out;
    /// The widest registers for which a copy is compiled. Wider ones are slower if the compiler gathers single elements
    /// into them; for rare element types they are not worth the time to compile.
    const WIDEST: Level = Level::Avx512;
    /// Runs the computation.
    fn run(self) -> Self::Out;
}

/// Runs a kernel with the widest registers of this machine.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Out {
    match level() {
        // SAFETY: the machine has the features of the level.
        Level::Avx512 if const { K::WIDEST as usize >= Level::Avx512 as usize } => unsafe {
            avx512(kernel)
        },
        // SAFETY: as above.
        Level::Avx512 | Level::Avx2 if const { K::WIDEST as usize >= Level::Avx2 as usize } => unsafe {
            avx2(kernel)
        },
        _ => baseline(kernel),
    }
}

/// Runs a kernel; other architectures have a single baseline instruction set.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Out {
    kernel.run()
}

// Never inlined, so that a kernel is compiled once for each instruction set and separately from one that runs it.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn baseline<K: Kernel>(kernel: K) -> K::Out {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2")]
fn avx2<K: Kernel>(kernel: K) -> K::Out {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
fn avx512<K: Kernel>(kernel: K) -> K::Out {
    kernel.run()
}
