//! Windows on a CUDA device compared with the host: convolutions, pools, resampling, columns.
#![cfg(feature = "cuda")]

#[path = "cuda_conv/columns.rs"]
mod columns;
#[path = "cuda_conv/common.rs"]
mod common;
#[path = "cuda_conv/convolve.rs"]
mod convolve;
#[path = "../../tests/cuda/here.rs"]
mod here;
#[path = "cuda_conv/library.rs"]
mod library;
#[path = "cuda_conv/pool.rs"]
mod pool;
#[path = "cuda_conv/resample.rs"]
mod resample;
#[path = "../../tests/cuda/sample.rs"]
mod sample;

/// Schedules for our own kernels. A device with one processor uses the largest tiles.
const SCHEDULES: [here::Schedule<'_>; 3] = [
    &[("NOMINA_CUDA_CONV", "own"), ("NOMINA_FAKE_PROCESSORS", "1")],
    &[
        ("NOMINA_CUDA_CONV", "own"),
        ("NOMINA_FAKE_ORDER", "backward"),
        ("NOMINA_FAKE_LAZY", "1"),
        ("NOMINA_FAKE_PROCESSORS", "132"),
    ],
    &[
        ("NOMINA_CUDA_CONV", "own"),
        ("NOMINA_FAKE_ORDER", "7"),
        ("NOMINA_FAKE_LAZY", "1"),
        ("NOMINA_FAKE_PROCESSORS", "12"),
    ],
];
