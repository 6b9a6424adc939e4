//! Order, indices, masks and bins on a device: what its kernels find is what the host finds, to the
//! bit, on a GPU or in several schedules of the host that stands for one.
//!
//! Sums of floats at one index per element may come in any order on a device; their operands are
//! whole numbers here, so that every order gives the same.

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

/// Orders of blocks and of a block's threads, whether copies wait for the next synchronise, and what
/// positions are counted in.
const SCHEDULES: [here::Schedule<'_>; 3] = [
    &[("NOMINA_FAKE_ORDER", "forward")],
    &[
        ("NOMINA_FAKE_ORDER", "backward"),
        ("NOMINA_FAKE_LAZY", "1"),
        ("NOMINA_CUDA_INDEX", "u64"),
    ],
    &[("NOMINA_FAKE_ORDER", "7"), ("NOMINA_FAKE_LAZY", "1")],
];
