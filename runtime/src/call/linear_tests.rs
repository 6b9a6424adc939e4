use nomina_core::{DType, ErrorKind};

use super::*;
use crate::call::{contiguous, matmul, pointwise};
use crate::cpu::reduce::tests::sample;

/// Converts to bits. The sign of a NaN is the compiler's choice.
fn bits(x: &Raw) -> Vec<[u64; 2]> {
    let bits = |x: f64| if x.is_nan() { f64::NAN } else { x }.to_bits();
    let parts = |x: nomina_core::Scalar| {
        let x = x.to_complex();
        [bits(x.re), bits(x.im)]
    };
    x.scalars().map(parts).collect()
}

/// Numbers with a NaN and infinities where the dtype has some, so that not all results are finite.
fn numbers(shape: &[usize], dtype: DType, seed: u64) -> Raw {
    let x = sample(shape, dtype, seed);
    if !dtype.is_float() || x.numel() < 40 {
        return x;
    }
    let mut values: Vec<f64> = x.scalars().map(|x| x.to_f64()).collect();
    (values[3], values[17], values[31]) = (f64::NAN, f64::INFINITY, f64::NEG_INFINITY);
    let raw = Raw::from_vec(values, shape).unwrap();
    crate::call::to_dtype(&raw, dtype).unwrap()
}

/// Compares activations with their operators, which come after, for the first `kinds` kinds of bias.
fn compare(dtype: DType, [m, k, n]: [usize; 3], kinds: usize, activations: &[Activation]) {
    let (x, weight) = (numbers(&[m, k], dtype, 1), sample(&[n, k], dtype, 2));
    // A vector, a number, and one for each element.
    let biases = [
        None,
        Some(sample(&[n], dtype, 3)),
        Some(sample(&[1], dtype, 4)),
        Some(sample(&[m, n], dtype, 5)),
    ];
    for bias in &biases[..kinds] {
        let plain = linear(&x, &weight, bias.as_ref(), 1, None).unwrap();
        for &activation in activations {
            let fused = linear(&x, &weight, bias.as_ref(), 1, Some(activation));
            let taken = result_dtype(activation.op(), &[Arg::Tensor(&x)]);
            if taken.is_ok_and(|taken| taken.result == dtype) {
                let apart = pointwise(activation.op(), &[Arg::Tensor(&plain)]).unwrap();
                let (fused, apart) = (bits(&fused.unwrap()), bits(&apart));
                let shape = bias.as_ref().map(Raw::shape);
                assert!(
                    fused == apart,
                    "{activation:?} of {dtype} {m} {k} {n} {shape:?}"
                );
            } else {
                assert_eq!(fused.unwrap_err().kind(), ErrorKind::DType);
            }
        }
    }
}

const SMALL: &[[usize; 3]] = &[
    [0, 3, 4],
    [3, 0, 4],
    [3, 4, 0],
    [1, 1, 1],
    [1, 40, 9],
    [5, 40, 1],
    [12, 20, 32],
    [33, 17, 41],
];

#[test]
fn as_the_separate_operator_in_every_dtype() {
    let sizes = if cfg!(miri) { &SMALL[..4] } else { SMALL };
    for dtype in DType::ALL.into_iter().filter(|&x| x != DType::Bool) {
        for &sizes in sizes {
            compare(dtype, sizes, 4, &Activation::ALL);
        }
    }
}

#[cfg(not(miri))]
#[test]
fn as_the_separate_operator_in_blocks_and_by_the_crate() {
    // Long sums are made in parts; the last ones are beyond what tiles take without a bias.
    let two = [Activation::Relu, Activation::Gelu];
    for sizes in [[300, 390, 70], [13, 900, 400]] {
        for dtype in [DType::F32, DType::F64, DType::BF16] {
            compare(dtype, sizes, 2, &two);
        }
    }
    compare(DType::F32, [330, 330, 330], 2, &two);
}

#[cfg(all(feature = "rayon", not(miri)))]
#[test]
fn threads_do_not_change_a_bit() {
    for dtype in [DType::F32, DType::BF16, DType::I32] {
        let (x, weight) = (sample(&[301, 200], dtype, 1), sample(&[170, 200], dtype, 2));
        let bias = sample(&[170], dtype, 3);
        let of = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let relu = Some(Activation::Relu);
            let run = || linear(&x, &weight, Some(&bias), 1, relu).unwrap();
            bits(&pool.build().unwrap().install(run))
        };
        assert!(of(1) == of(2), "{dtype}");
    }
}

#[test]
fn refused_before_anything_is_computed() {
    let x = sample(&[2, 3], DType::I64, 1);
    let of = |activation| linear(&x, &x, None, 1, Some(activation)).unwrap_err();
    let error = of(Activation::Gelu);
    assert_eq!((error.kind(), error.op()), (ErrorKind::DType, "gelu"));
    let error = of(Activation::Sigmoid);
    assert_eq!((error.kind(), error.op()), (ErrorKind::DType, "sigmoid"));
    let text = error.to_string();
    assert!(
        text.contains("f32") && text.contains("another dtype"),
        "{text}"
    );
}

#[test]
fn features_anywhere_and_rows_of_any_layout() {
    let weight = sample(&[6, 5], DType::F64, 1);
    let bias = sample(&[6], DType::F64, 2);
    for shape in [&[5][..], &[3, 5], &[2, 3, 5], &[2, 1, 3, 5], &[2, 0, 5]] {
        let rank = shape.len();
        let plain = sample(shape, DType::F64, 3);
        let wanted = matmul(&plain, &weight.transpose(0, 1).unwrap()).unwrap();
        let wanted = add_bias(Op::Linear, wanted, &bias).unwrap();
        let order: Vec<usize> = (0..rank).rev().collect();
        let turned = plain.permute(&order).unwrap();
        let copied = contiguous(&turned).unwrap().permute(&order).unwrap();
        for (x, input) in [(&plain, rank - 1), (&turned, 0), (&copied, rank - 1)] {
            let found = linear(x, &weight, Some(&bias), input, None).unwrap();
            assert_eq!(found.shape()[rank - 1], 6);
            // The leading dims are in reverse order if `x` was transposed.
            let order: Vec<usize> = (0..rank - 1).rev().chain([rank - 1]).collect();
            let found = if input == 0 {
                found.permute(&order).unwrap()
            } else {
                found
            };
            assert_eq!(found.shape(), wanted.shape());
            for (a, b) in found.scalars().zip(wanted.scalars()) {
                assert!((a.to_f64() - b.to_f64()).abs() < 1e-12, "{shape:?}");
            }
        }
    }
}
