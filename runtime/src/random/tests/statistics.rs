//! Tests of the distributions: moments, Kolmogorov–Smirnov and chi-square tests, with limits that
//! one sample of 10,000 exceeds. The seeds are fixed.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use crate::Device;
use nomina_core::DType;
use nomina_core::op::Op;

use super::fill;
use crate::call::{self, Arg, multinomial, randn, randperm};
use crate::random::function::ln_factorial;
use crate::random::{Distribution, Generator};
use crate::raw::Raw;

const N: usize = if cfg!(miri) { 1000 } else { 100_000 };

fn values(x: &Raw) -> Vec<f64> {
    x.scalars().map(|v| v.to_f64()).collect()
}

/// Returns the distribution function of the standard normal distribution.
fn normal(x: Vec<f64>) -> Vec<f64> {
    let n = x.len();
    let scaled = x.into_iter().map(|x| -x * FRAC_1_SQRT_2).collect();
    let x = Raw::from_vec::<f64>(scaled, &[n]).unwrap();
    let tail = call::pointwise(Op::Erfc, &[Arg::Tensor(&x)]).unwrap();
    values(&tail).into_iter().map(|p| p / 2.0).collect()
}

/// Checks the largest distance between the empirical and the exact distribution function, given the
/// latter's values `p` at the samples.
fn kolmogorov_smirnov(mut p: Vec<f64>) {
    p.sort_unstable_by(f64::total_cmp);
    let n = p.len() as f64;
    let distance = |(i, p): (usize, &f64)| (p - i as f64 / n).abs().max((i as f64 + 1.0) / n - p);
    let worst = p.iter().enumerate().map(distance).fold(0.0, f64::max);
    // The square root of half the logarithm of 2/0.0001.
    assert!(worst * n.sqrt() < 2.2253, "{}", worst * n.sqrt());
}

/// Checks that counts match the expected ones.
fn chi_square(counts: &[f64], expected: &[f64]) {
    let terms = counts.iter().zip(expected);
    let sum: f64 = terms.map(|(c, e)| (c - e) * (c - e) / e).sum();
    // The Wilson-Hilferty approximation.
    let k = (counts.len() - 1) as f64;
    let part = 2.0 / (9.0 * k);
    let limit = k * (1.0 - part + 3.719 * part.sqrt()).powi(3);
    assert!(
        sum < limit,
        "{sum}, not below {limit}: {counts:?} {expected:?}"
    );
}

/// Counts each number from 0 on; those from `bins - 1` on are counted together.
fn counts(values: &[f64], bins: usize) -> Vec<f64> {
    let mut counts = vec![0.0; bins];
    for &value in values {
        counts[(value as usize).min(bins - 1)] += 1.0;
    }
    counts
}

#[test]
fn floats_have_their_distribution_functions() {
    let each = |x: &[f64], p: &dyn Fn(f64) -> f64| x.iter().map(|&x| p(x)).collect::<Vec<_>>();
    for dtype in [DType::F32, DType::F64] {
        let drawn = |what, seed| values(&fill(&[N], (what, dtype), seed));
        let (from, to) = (-2.0, 3.0);
        let x = drawn(Distribution::Uniform { from, to }, 1);
        kolmogorov_smirnov(each(&x, &|x| (x + 2.0) / 5.0));
        let (mean, std) = (1.0, 2.0);
        let x = drawn(Distribution::Normal { mean, std }, 2);
        kolmogorov_smirnov(normal(each(&x, &|x| (x - 1.0) / 2.0)));
        let x = drawn(Distribution::LogNormal { mean, std }, 3);
        kolmogorov_smirnov(normal(each(&x, &|x| (x.ln() - 1.0) / 2.0)));
        let x = drawn(Distribution::Exponential { lambd: 3.0 }, 4);
        kolmogorov_smirnov(each(&x, &|x| -(-3.0 * x).exp_m1()));
        let (median, sigma) = (1.0, 0.5);
        let x = drawn(Distribution::Cauchy { median, sigma }, 5);
        kolmogorov_smirnov(each(&x, &|x| 0.5 + ((x - 1.0) / 0.5).atan() / PI));
        let complex = dtype.to_complex();
        let x = fill(
            &[N / 2],
            (
                Distribution::Normal {
                    mean: 0.0,
                    std: 1.0,
                },
                complex,
            ),
            6,
        );
        let parts = x
            .scalars()
            .flat_map(|z| [z.to_complex().re, z.to_complex().im]);
        kolmogorov_smirnov(normal(parts.map(|x| x / FRAC_1_SQRT_2).collect()));
    }
}

#[test]
fn neighbours_are_independent() {
    // Pairs of a Box-Muller transform, and pairs of adjacent pairs.
    for dtype in [DType::F32, DType::F64] {
        let x = values(&randn(&[N], dtype, Device::Cpu, &mut Generator::new(8)).unwrap());
        for step in 1..5 {
            let products = x.iter().zip(&x[step..]).map(|(a, b)| a * b);
            let mean = products.sum::<f64>() / (N - step) as f64;
            assert!(
                mean.abs() < 4.0 / (N as f64).sqrt(),
                "{dtype} {step}: {mean}"
            );
            let squares = x
                .iter()
                .zip(&x[step..])
                .map(|(a, b)| (a * a - 1.0) * (b * b - 1.0));
            let mean = squares.sum::<f64>() / (N - step) as f64;
            assert!(
                mean.abs() < 8.0 / (N as f64).sqrt(),
                "{dtype} {step}: {mean}"
            );
        }
    }
}

#[test]
fn moments() {
    let margin = 5.0 / (N as f64).sqrt();
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        // Allow for the steps of the dtype, because truncation shifts the moments.
        let step = match dtype {
            DType::F16 => 1e-3,
            DType::BF16 => 4e-3,
            _ => 0.0,
        };
        let moments = |what, seed| {
            let x = values(&fill(&[N], (what, dtype), seed));
            let mean = x.iter().sum::<f64>() / N as f64;
            let square = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / N as f64;
            (mean, square)
        };
        for (what, mean, variance, fourth) in [
            (
                Distribution::Uniform { from: 0.0, to: 1.0 },
                0.5,
                1.0 / 12.0,
                1.8,
            ),
            (
                Distribution::Normal {
                    mean: 0.5,
                    std: 1.5,
                },
                0.5,
                2.25,
                3.0,
            ),
            (Distribution::Exponential { lambd: 0.5 }, 2.0, 4.0, 9.0),
            (
                Distribution::LogNormal {
                    mean: 0.0,
                    std: 0.25,
                },
                (0.03125_f64).exp(),
                (0.0625_f64.exp() - 1.0) * 0.0625_f64.exp(),
                6.0,
            ),
            (Distribution::Geometric { p: 0.25 }, 4.0, 12.0, 10.0),
            (Distribution::Bernoulli { p: 0.25 }, 0.25, 0.1875, 3.0),
        ] {
            let (m, v) = moments(what, 7);
            let off = margin * f64::sqrt(variance) + step * (1.0 + mean);
            assert!((m - mean).abs() < off, "{dtype} {what:?}: mean {m}");
            let off = margin * variance * f64::sqrt(fourth) + 2.0 * step * (1.0 + variance);
            assert!((v - variance).abs() < off, "{dtype} {what:?}: variance {v}");
        }
    }
}

#[test]
fn whole_numbers_have_their_probabilities() {
    for dtype in [DType::I64, DType::I32, DType::U8, DType::F32, DType::F64] {
        let what = Distribution::Integers { low: 3, high: 22 };
        let x: Vec<f64> = values(&fill(&[N], (what, dtype), 1))
            .iter()
            .map(|x| x - 3.0)
            .collect();
        chi_square(&counts(&x, 20), &[N as f64 / 20.0; 20]);
        let p = 0.3;
        let x = values(&fill(&[N], (Distribution::Bernoulli { p }, dtype), 2));
        chi_square(&counts(&x, 2), &[0.7, 0.3].map(|p| p * N as f64));
        let x = values(&fill(&[N], (Distribution::Geometric { p }, dtype), 3));
        let mut expected: Vec<f64> = (0..14)
            .map(|k| 0.7_f64.powi(k - 1) * p * N as f64)
            .collect();
        expected.push(0.7_f64.powi(13) * N as f64);
        chi_square(&counts(&x, 15)[1..], &expected[1..]);
    }
}

#[test]
fn poisson_numbers_have_their_probabilities() {
    for (rate, seed) in [
        (0.5, 1),
        (4.0, 2),
        (9.5, 3),
        (10.0, 4),
        (30.0, 5),
        (400.0, 6),
    ] {
        let rates = Raw::from_vec(vec![rate; N], &[N]).unwrap();
        let x = values(&call::poisson(&rates, &mut Generator::new(seed)).unwrap());
        let reach = 3.0 * f64::sqrt(rate);
        let (low, high) = ((rate - reach).max(0.0).floor(), (rate + reach).ceil());
        // The numbers below, each number in between, and those above.
        let mut expected = vec![0.0];
        let pmf = |k: f64| (k * rate.ln() - rate - ln_factorial(k)).exp();
        let mut k = 0.0;
        while k < low {
            expected[0] += pmf(k);
            k += 1.0;
        }
        while k <= high {
            expected.push(pmf(k));
            k += 1.0;
        }
        expected.push(1.0 - expected.iter().sum::<f64>());
        let mut counted = vec![0.0; expected.len()];
        for x in x {
            let at = if x < low {
                0
            } else {
                (x.min(high + 1.0) - low) as usize + 1
            };
            counted[at] += 1.0;
        }
        if low == 0.0 {
            expected.remove(0);
            counted.remove(0);
        }
        let expected: Vec<f64> = expected.iter().map(|p| p * N as f64).collect();
        chi_square(&counted, &expected);
    }
    // Rates for which the normal distribution is used.
    let rates = Raw::from_vec(vec![1e12; N], &[N]).unwrap();
    let x = values(&call::poisson(&rates, &mut Generator::new(7)).unwrap());
    kolmogorov_smirnov(normal(x.iter().map(|x| (x - 1e12) / 1e6).collect()));
}

#[test]
fn places_have_their_weights() {
    let weights = [1.0_f32, 0.0, 2.0, 5.0, 2.0];
    let expected = [0.1, 0.2, 0.5, 0.2].map(|p| p * N as f64);
    let without_second = |counts: Vec<f64>| {
        assert_eq!(counts[1], 0.0);
        [counts[0], counts[2], counts[3], counts[4]]
    };
    // Many samples of one row, and one sample of many rows.
    let row = Raw::from_vec(weights.to_vec(), &[5]).unwrap();
    let x = values(&multinomial(&row, 0, N, true, &mut Generator::new(1)).unwrap());
    chi_square(&without_second(counts(&x, 5)), &expected);
    let rows = row.unsqueeze(0).unwrap().expand(&[N, 5]).unwrap();
    let x = values(&multinomial(&rows, 1, 1, false, &mut Generator::new(2)).unwrap());
    chi_square(&without_second(counts(&x, 5)), &expected);
    // Without replacement no position occurs twice; the second draw depends on the first.
    let both = multinomial(&rows, 1, 2, false, &mut Generator::new(3)).unwrap();
    let x = values(&both);
    assert!(x.chunks(2).all(|pair| pair[0] != pair[1]));
    let pairs: Vec<f64> = x.chunks(2).map(|pair| pair[0] * 5.0 + pair[1]).collect();
    let (mut seen, mut wanted) = (Vec::new(), Vec::new());
    for (i, a) in weights.iter().enumerate() {
        for (j, b) in weights.iter().enumerate() {
            if i != j && a * b > 0.0 {
                wanted.push(f64::from(a / 10.0 * b / (10.0 - a)) * N as f64);
                seen.push(pairs.iter().filter(|&&p| p == (i * 5 + j) as f64).count() as f64);
            }
        }
    }
    chi_square(&seen, &wanted);
}

#[test]
fn orders_are_equally_probable() {
    let mut generator = Generator::new(1);
    let mut seen = vec![0.0; 24];
    for _ in 0..N / 20 {
        let x = randperm(4, DType::I64, Device::Cpu, &mut generator).unwrap();
        let x = x.to_vec::<i64>().unwrap();
        // The number of a permutation: for each position, how many later elements are smaller.
        let smaller = |i: usize| x[i + 1..].iter().filter(|&&y| y < x[i]).count();
        seen[smaller(0) * 6 + smaller(1) * 2 + smaller(2)] += 1.0;
    }
    chi_square(&seen, &[(N / 20) as f64 / 24.0; 24]);
    let mut all = values(&randperm(1000, DType::I16, Device::Cpu, &mut generator).unwrap());
    assert!(all.windows(2).any(|pair| pair[0] > pair[1]));
    all.sort_unstable_by(f64::total_cmp);
    assert_eq!(all, (0..1000).map(f64::from).collect::<Vec<_>>());
}
