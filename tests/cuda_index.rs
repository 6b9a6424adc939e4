//! Sorting, indices, masks and bins on a device: the kernels must match the host bit for bit, on a
//! GPU or in several schedules of the emulated GPU.
//!
//! On a device, float sums over repeated indices may accumulate in any order; the operands here are
//! whole numbers, so that every order gives the same sum.

#![cfg(all(feature = "cuda", target_os = "linux"))]

#[path = "cuda/here.rs"]
mod here;
#[path = "cuda/sample.rs"]
mod sample;

#[path = "cuda_index/both.rs"]
mod both;
#[path = "cuda_index/count.rs"]
mod count;
#[path = "cuda_index/errors.rs"]
mod errors;
#[path = "cuda_index/gather.rs"]
mod gather;
#[path = "cuda_index/scatter.rs"]
mod scatter;
#[path = "cuda_index/sort.rs"]
mod sort;

/// The order of blocks and of the threads in a block, whether copies wait for the next synchronize,
/// and the integer type of positions.
const SCHEDULES: [here::Schedule<'_>; 3] = [
    &[("NOMINA_FAKE_ORDER", "forward")],
    &[
        ("NOMINA_FAKE_ORDER", "backward"),
        ("NOMINA_FAKE_LAZY", "1"),
        ("NOMINA_CUDA_INDEX", "u64"),
    ],
    &[("NOMINA_FAKE_ORDER", "7"), ("NOMINA_FAKE_LAZY", "1")],
];
