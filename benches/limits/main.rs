//! The limits of the machine: `cargo bench --bench limits -- [--json] [--only …] [--threads N]`.
//!
//! Prints, to stderr, what the kernels detected about the processor and selected accordingly. Then measures the
//! bandwidth of a plain parallel copy, counting both the bytes read and the bytes written, and the peak of fused
//! multiply-adds in f32 and f64, counting two operations each. Compare the figures of `ops` with these.

#[path = "../harness/mod.rs"]
mod harness;

use harness::{Case, Options, case};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// The size of a copy: ten million f32.
const BYTES: usize = 40_000_000;

/// The number of dependent multiply-adds in a chain.
const STEPS: usize = 1 << 20;

/// The number of independent accumulators: more than the latency of a multiply-add times the number of units that
/// execute it, and few enough for 16 registers.
const CHAINS: usize = 12;

fn main() {
    let options = Options::read(&[]);
    rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .build_global()
        .expect("nothing has started threads before");
    eprintln!("{:?}", nomina_runtime::call::processor());
    let mut threads = vec![1, options.threads];
    threads.dedup();
    let cases: Vec<Case> = threads
        .into_iter()
        .flat_map(|threads| {
            [
                copy(threads),
                multiply_add("f32", threads, F32),
                multiply_add("f64", threads, F64),
            ]
        })
        .collect();
    harness::run(&cases, &options);
}

/// Copies between two existing buffers, one part per thread.
fn copy(threads: usize) -> Case {
    case(
        format!("copy_40MB/{threads}"),
        || (vec![1_u8; BYTES], vec![2_u8; BYTES]),
        move |(from, to)| {
            let part = BYTES.div_ceil(threads);
            let parts = to.par_chunks_mut(part).zip(from.par_chunks(part));
            parts.for_each(|(to, from)| to.copy_from_slice(from));
        },
    )
    .rate(2.0 * BYTES as f64 / 1e9, "GB/s")
}

/// Multiply-adds in registers, the same on every thread.
fn multiply_add<K: WithSimd<Output = f64> + Copy + Lanes + Send + Sync + 'static>(
    name: &str,
    threads: usize,
    kernel: K,
) -> Case {
    let arch = Arch::new();
    let lanes = arch.dispatch(LanesOf(kernel));
    let operations = 2 * lanes * CHAINS * STEPS * threads;
    case(
        format!("fma_{name}/{threads}"),
        || (),
        move |()| -> f64 {
            let one = |_| arch.dispatch(kernel);
            (0..threads).into_par_iter().with_max_len(1).map(one).sum()
        },
    )
    .rate(operations as f64 / 1e9, "GFLOP/s")
}

/// The number of elements per register.
trait Lanes {
    fn lanes<S: Simd>() -> usize;
}

struct LanesOf<K>(K);

impl<K: Lanes> WithSimd for LanesOf<K> {
    type Output = usize;
    fn with_simd<S: Simd>(self, _: S) -> usize {
        K::lanes::<S>()
    }
}

macro_rules! kernel {
    ($name:ident, $lanes:ident, $splat:ident, $mul_add:ident, $sum:ident) => {
        #[derive(Clone, Copy)]
        struct $name;

        impl Lanes for $name {
            fn lanes<S: Simd>() -> usize {
                S::$lanes
            }
        }

        impl WithSimd for $name {
            type Output = f64;
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) -> f64 {
                // The product shrinks the sum, so that nothing overflows and no number becomes subnormal.
                let x = simd.$splat(std::hint::black_box(0.5));
                let y = simd.$splat(std::hint::black_box(1.0));
                let mut sums = [y; CHAINS];
                for _ in 0..STEPS {
                    for sum in &mut sums {
                        *sum = simd.$mul_add(*sum, x, y);
                    }
                }
                let sums = sums.map(|sum| f64::from(simd.$sum(sum)));
                sums.iter().sum()
            }
        }
    };
}
kernel!(F32, F32_LANES, splat_f32s, mul_add_f32s, reduce_sum_f32s);
kernel!(F64, F64_LANES, splat_f64s, mul_add_f64s, reduce_sum_f64s);
