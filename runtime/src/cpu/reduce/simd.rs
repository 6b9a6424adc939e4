//! One body, compiled for several instruction sets, chosen at run time.
//!
//! Bodies use a fixed number of lanes and no fused multiply-add, so a result is the same on all of
//! them.

#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::{Level, level};

/// A computation whose body may be compiled for wider registers. `run` is `#[inline(always)]`.
pub(crate) trait Kernel {
    /// What it gives.
    type Out;
    /// Whether the widest registers are the fastest. They are not where the compiler gathers single elements into them.
    const WIDEST: bool = true;
    /// The body.
    fn run(self) -> Self::Out;
}

/// Runs a kernel with the widest registers this machine has.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Out {
    match level() {
        // SAFETY: the level says that the features are there.
        Level::Avx512 if K::WIDEST => unsafe { avx512(kernel) },
        // SAFETY: as above.
        Level::Avx512 | Level::Avx2 => unsafe { avx2(kernel) },
        Level::Baseline => kernel.run(),
    }
}

/// Runs a kernel; other architectures have one instruction set that is always there.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Out {
    kernel.run()
}

// Never inlined: a kernel that runs another one is not compiled together with it.
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
