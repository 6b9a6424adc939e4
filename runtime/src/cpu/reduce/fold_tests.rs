//! Tests that compare sums with exact ones.

use nomina_core::op::Op;
use nomina_core::{DType, Element, Scalar};

use super::compensated::Compensated;
use super::tests::{lines, noise};
use crate::call::{ReduceOptions, reduce, to_dtype};
use crate::raw::Raw;
use half::{bf16, f16};

/// Returns the errors of sums and means in all layouts, in units of rounding of the sum of
/// magnitudes.
fn off<T: Element>(xs: &[T], unit: f64) -> Vec<(&'static str, f64)> {
    let wide: Vec<f64> = {
        let raw = Raw::from_vec(xs.to_vec(), &[xs.len()]).unwrap();
        to_dtype(&raw, DType::F64).unwrap().to_vec().unwrap()
    };
    let mut exact = Compensated::ZERO;
    wide.iter().for_each(|&x| exact.add(x));
    let all: f64 = wide.iter().map(|x| x.abs()).sum();
    let n = xs.len() as f64;
    let mut found = vec![];
    for (layout, x, dims) in lines(xs) {
        let of = |op| {
            let sums = reduce(op, &x, &dims, false, ReduceOptions::default()).unwrap();
            sums.scalars().map(|x| x.to_f64()).collect::<Vec<_>>()
        };
        let scaled = |of: Vec<f64>, by: f64| of.into_iter().map(move |x| x * by);
        let sums = scaled(of(Op::Sum), 1.0).chain(scaled(of(Op::Nansum), 1.0));
        let worst = sums
            .chain(scaled(of(Op::Mean), n))
            .map(|sum| (sum - exact.quotient(1.0)).abs() / (all * unit))
            .fold(0.0, f64::max);
        found.push((layout, worst));
    }
    found
}

#[test]
fn sums_lose_few_digits_in_any_layout() {
    let lengths: &[usize] = if cfg!(miri) {
        &[5, 20]
    } else {
        &[1, 5, 20, 64, 100, 1000, 4096, 50_000]
    };
    for &n in lengths {
        let most = 18.0 + (n as f64).log2();
        // Small enough that the sum is finite in `f16`.
        let xs: Vec<f64> = noise(n, 3).iter().map(|x| x / 8.0).collect();
        // Numbers of one sign, and of both.
        for xs in [xs.iter().map(|x| x.abs()).collect(), xs] {
            let all = [
                off::<f64>(&xs, f64::EPSILON / 2.0),
                off(
                    &xs.iter().map(|&x| x as f32).collect::<Vec<_>>(),
                    2f64.powi(-24),
                ),
                off(
                    &xs.iter().map(|&x| f16::from_f64(x)).collect::<Vec<_>>(),
                    2f64.powi(-11),
                ),
                off(
                    &xs.iter().map(|&x| bf16::from_f64(x)).collect::<Vec<_>>(),
                    2f64.powi(-8),
                ),
            ];
            for (layout, units) in all.into_iter().flatten() {
                assert!(units <= most, "{n} elements, {layout}: {units} units");
            }
        }
    }
}

/// Tests that the rounding errors of equal summands, which are all in one direction, do not add up.
#[test]
fn equal_summands_do_not_drift() {
    let n = if cfg!(miri) { 300 } else { 40_000 };
    for x in [0.1_f32, 0.3, 0.7, 1.1] {
        for (layout, units) in off(&vec![x; n], 2f64.powi(-24)) {
            assert!(units <= 6.0, "{x}, {layout}: {units} units");
        }
    }
    let x = Raw::from_vec(vec![0.1_f32], &[1]).unwrap();
    let x = x
        .expand(&[if cfg!(miri) { 1000 } else { 100_000_000 }])
        .unwrap();
    let sum = reduce(Op::Sum, &x, &[0], false, ReduceOptions::default()).unwrap();
    let expected = x.numel() as f64 * f64::from(0.1_f32);
    assert_eq!(
        sum.item().unwrap(),
        Scalar::Float(f64::from(expected as f32))
    );
}
