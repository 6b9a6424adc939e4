//! Operands, and the comparison of results.

use nomina_core::{DType, Result};
use nomina_runtime::call::{contiguous, to_device, to_dtype};
use nomina_runtime::{Device, Raw, cuda};
use num_complex::Complex;

pub const NUMBERS: [DType; 11] = [
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::C64,
    DType::C128,
];
pub const ORDERED: &[DType] = NUMBERS.split_at(9).0;
pub const FLOATS: &[DType] = ORDERED.split_at(5).1;

/// Creates small integers, whose sums are exact in any order.
pub fn numbers(shape: &[usize], dtype: DType, seed: usize) -> Raw {
    let count: usize = shape.iter().product();
    let part = |i: usize, seed: usize| ((i * 7919 + seed * 104_729) % 13) as f64 - 6.0;
    let data = (0..count).map(|i| Complex::new(part(i, seed), part(i, seed + 1)));
    let whole = Raw::from_vec(data.collect(), shape).unwrap();
    match dtype.is_complex() {
        true => to_dtype(&whole, dtype).unwrap(),
        // A cast drops the imaginary part.
        false => to_dtype(&to_dtype(&whole, DType::F64).unwrap(), dtype).unwrap(),
    }
}

/// Returns the same tensor with its channels, dim 1, innermost in memory.
pub fn channels_last(x: &Raw) -> Raw {
    let rank = x.rank();
    let behind: Vec<usize> = [0].into_iter().chain(2..rank).chain([1]).collect();
    let back: Vec<usize> = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
    let moved = contiguous(&x.permute(&behind).unwrap()).unwrap();
    moved.permute(&back).unwrap()
}

/// Returns the same numbers with gaps of one element along the last dim, and backwards along the first.
pub fn apart(x: &Raw) -> Raw {
    let rank = x.rank();
    let double = [x.shape(), &[2]].concat();
    let wide = contiguous(&x.unsqueeze(rank).unwrap().expand(&double).unwrap()).unwrap();
    let backwards = contiguous(&wide.flip(0).unwrap()).unwrap();
    backwards.flip(0).unwrap().select(rank, 1).unwrap()
}

fn there(x: &Raw) -> Raw {
    to_device(x, Device::from(0)).unwrap()
}

fn values(x: &Raw) -> Vec<Complex<f64>> {
    let host = to_device(x, Device::Cpu).unwrap();
    to_dtype(&host, DType::C128).unwrap().to_vec().unwrap()
}

/// Checks that a call's results on the device and on the host agree, up to `near` times the magnitude of a number.
pub fn agree(
    what: &str,
    operands: &[&Raw],
    near: f64,
    call: impl Fn(&[Raw]) -> Result<Vec<Raw>>,
) -> usize {
    let host: Vec<Raw> = operands.iter().map(|&x| x.clone()).collect();
    let device: Vec<Raw> = operands.iter().map(|x| there(x)).collect();
    for (host, device) in host.iter().zip(&device) {
        assert_eq!(host.shape(), device.shape());
    }
    let want = call(&host).unwrap_or_else(|error| panic!("{what}: {error}"));
    let got = call(&device).unwrap_or_else(|error| panic!("{what}: {error}"));
    cuda::synchronize(0).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(want.len(), got.len(), "{what}");
    for (want, got) in want.iter().zip(&got) {
        assert_eq!(got.device(), Device::from(0), "{what}");
        assert_eq!(
            (got.shape(), got.dtype()),
            (want.shape(), want.dtype()),
            "{what}"
        );
        for (at, (a, b)) in values(got).into_iter().zip(values(want)).enumerate() {
            let close = |a: f64, b: f64| {
                (a.is_nan() && b.is_nan())
                    || a == b && a.is_sign_negative() == b.is_sign_negative()
                    || (a - b).abs() <= near * (1.0 + b.abs())
            };
            let shape = want.shape();
            assert!(
                close(a.re, b.re) && close(a.im, b.im),
                "{what}: element {at} of {shape:?} is {a}, not {b}"
            );
        }
    }
    1
}

/// Returns the tolerance for convolutions of small integers: zero, except for a real cuDNN, which may transform them.
pub fn convolved(dtype: DType) -> f64 {
    let own = std::env::var_os("NOMINA_CUDA_CONV").is_some_and(|who| who == "own");
    let exact = own || crate::here::host::is_fake() || !FLOATS.contains(&dtype);
    if exact { 0.0 } else { 64.0 * unit(dtype) }
}

/// Returns the rounding error of the dtype.
pub fn unit(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 1e-3,
        DType::BF16 => 8e-3,
        DType::F32 | DType::C64 => 2e-6,
        _ => 1e-14,
    }
}
