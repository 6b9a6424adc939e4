//! Runs one case on both devices.

use nomina_core::{DType, Result, Scalar};
use nomina_runtime::{Raw, call};

use crate::here::{DEVICE, cases};

pub const REAL: [DType; 10] = [
    DType::Bool,
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

/// Asserts that no operator of these classes fell back to the host.
pub fn on_device(classes: &[&str]) {
    let by_host = nomina_runtime::cuda::by_host();
    for class in classes {
        assert_eq!(by_host.get(class), None, "{class} went by way of the host");
    }
}

/// Moves an operand to the device of a run.
pub type On<'a> = &'a dyn Fn(&Raw) -> Raw;

/// Runs a case on the host and on the device, and compares the results.
pub fn both(what: &str, run: impl Fn(On<'_>) -> Result<Vec<Raw>>) {
    let device = DEVICE;
    let want = run(&|x| x.clone());
    let got = run(&|x| call::to_device(x, device).unwrap());
    let (got, want) = match (got, want) {
        (Ok(got), Ok(want)) => (got, want),
        (got, want) => panic!("{what}: device {got:?}, host {want:?}"),
    };
    assert_eq!(got.len(), want.len(), "{what}");
    for (at, (got, want)) in got.iter().zip(&want).enumerate() {
        assert_eq!(got.device(), device, "{what}, result {at}");
        same(&format!("{what}, result {at}"), got, want);
    }
    cases(1);
}

fn same(what: &str, got: &Raw, want: &Raw) {
    assert_eq!(got.dtype(), want.dtype(), "{what}");
    assert_eq!(got.shape(), want.shape(), "{what}");
    for (at, (got, want)) in got.scalars().zip(want.scalars()).enumerate() {
        assert!(
            equal(got, want),
            "{what}, element {at}: device {got:?}, host {want:?}"
        );
    }
}

fn equal(a: Scalar, b: Scalar) -> bool {
    let float = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => float(a, b),
        (Scalar::Complex(a), Scalar::Complex(b)) => float(a.re, b.re) && float(a.im, b.im),
        _ => a == b,
    }
}

/// Returns pseudo-random numbers from a fixed seed.
pub fn numbers(count: usize, below: u64, seed: u64) -> Vec<i64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..count)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % below.max(1)) as i64
        })
        .collect()
}

/// Returns random indices below `below`.
pub fn index(shape: &[usize], below: usize, seed: u64) -> Raw {
    let count = shape.iter().product();
    Raw::from_vec(numbers(count, below as u64, seed), shape).unwrap()
}

/// Returns whole numbers from -50 on, many of them equal; floats include NaN, infinities and zeros
/// of both signs, complex numbers have an imaginary part.
pub fn data(shape: &[usize], dtype: DType, seed: u64) -> Raw {
    let count = shape.iter().product();
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0];
    let all = numbers(count, 161, seed).into_iter().map(|n| match n {
        n if n < 101 => (n - 50) as f64,
        n if n < 156 => (n - 130) as f64 * 1000.5,
        n => odd[(n - 156) as usize],
    });
    finished(all.collect(), shape, dtype)
}

/// Returns small whole numbers, mostly 1 and 2, whose sums and products are exact.
pub fn small(shape: &[usize], dtype: DType, seed: u64) -> Raw {
    let count = shape.iter().product();
    let all = numbers(count, 4, seed).into_iter().map(|n| n as f64 - 1.0);
    finished(all.collect(), shape, dtype)
}

fn finished(all: Vec<f64>, shape: &[usize], dtype: DType) -> Raw {
    let x = Raw::from_vec(all, shape).unwrap();
    call::to_dtype(&x, dtype).unwrap()
}

/// Returns a view of every other element along the last dim.
pub fn every_other(x: &Raw) -> Raw {
    let dim = x.rank() - 1;
    x.slice(dim, 0, x.shape()[dim].div_ceil(2), 2).unwrap()
}
