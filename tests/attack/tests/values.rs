//! Values: of many elements, near the ends of a dtype's range, of one row.

use nomina::{Complex, DType, DynTensor, InterpolateMode, InterpolateOptions, QuantileOptions};

fn number(x: &DynTensor) -> f64 {
    x.item().unwrap().to_f64()
}

/// More elements than `f32` can count.
#[test]
fn quantiles_of_more_elements_than_f32_counts() {
    let mut values = vec![0.0_f32; 16_777_220];
    values[..5].copy_from_slice(&[3.0, 5.0, 1.0, 4.0, 2.0]);
    let count = values.len();
    let x = DynTensor::from_vec(values, &[count], ()).unwrap();
    for (q, expected) in [(1.0, 5.0), (0.5, 0.0), (0.0, 0.0)] {
        assert_eq!(number(&x.quantile(q, 0).unwrap()), expected);
    }
    let lower = QuantileOptions {
        interpolation: nomina::Interpolation::Lower,
        ..QuantileOptions::default()
    };
    assert_eq!(number(&x.nanquantile_with(1.0, .., lower).unwrap()), 5.0);
}

/// One row is one variable: its covariance is a number, but the types promise a matrix.
#[test]
fn covariance_of_one_row() {
    let row = [1.0_f32, 2.0, 4.0, 9.0];
    let matrix = DynTensor::from_vec(row.to_vec(), &[1, 4], ["V", "T"]).unwrap();
    let vector = DynTensor::from_vec(row.to_vec(), &[4], ["T"]).unwrap();
    for x in [&matrix, &vector] {
        let (cov, corrcoef) = (x.cov().unwrap(), x.corrcoef().unwrap());
        for one in [&cov, &corrcoef] {
            assert_eq!((one.rank(), one.names().len()), (0, 0));
        }
        assert!((number(&cov) - 38.0 / 3.0).abs() < 1e-5);
        assert_eq!(number(&corrcoef), 1.0);
    }
    nomina::dims! { V, T }
    let typed = nomina::tensor!([[1., 2., 4., 9.]]; V, T);
    assert_eq!(typed.cov().shape(), [1, 1]);
    assert_eq!(typed.corrcoef().to_vec(), [1.0]);
}

/// Squares that overflow the dtype, in every layout.
#[test]
fn deviations_of_any_layout() {
    let checked = |x: &DynTensor, dim: i64, expected: [f64; 2]| {
        for (found, expected) in [x.std(dim), x.var(dim)].into_iter().zip(expected) {
            for got in found
                .unwrap()
                .to_dtype(DType::F64)
                .unwrap()
                .to_vec::<f64>()
                .unwrap()
            {
                let near = (got - expected).abs() <= 1e-5 * expected;
                assert!(got == expected || near, "{got}, not {expected}, of {x:?}");
            }
        }
    };
    for n in [2_usize, 40, 3000] {
        let values: Vec<f64> = (0..n)
            .map(|i| if i % 2 == 0 { 1.0 } else { -1.0 })
            .collect();
        let unit = (n as f64 / (n as f64 - 1.0)).sqrt();
        for (scale, dtype, variance) in [
            (1e30, DType::F32, f64::INFINITY),
            (1e-30, DType::F32, 0.0),
            (1e200, DType::F64, f64::INFINITY),
        ] {
            let values: Vec<f64> = values.iter().map(|x| x * scale).collect();
            let x = DynTensor::from_vec(values, &[n], ())
                .unwrap()
                .to_dtype(dtype)
                .unwrap();
            let deviation = if dtype == DType::F64 {
                variance
            } else {
                unit * scale
            };
            let expected = [deviation, variance];
            checked(&x, 0, expected);
            checked(&x.expand(&[3, -1]).unwrap(), 1, expected);
            let rows = x.repeat(&[30, 1]).unwrap();
            checked(&rows, 1, expected);
            checked(&rows.t().unwrap(), 0, expected);
            checked(&rows.t().unwrap().contiguous().unwrap(), 0, expected);
        }
    }
}

#[test]
fn many_equal_summands() {
    let x = DynTensor::full(&[1], 0.1, ())
        .unwrap()
        .expand(&[100_000_000])
        .unwrap();
    // The `f32` nearest to the exact multiple of 0.1.
    assert_eq!(number(&x.sum(..).unwrap()), 1e7);
    assert_eq!(number(&x.mean(..).unwrap()), f64::from(0.1_f32));
    let columns = x
        .narrow(0, 0, 1 << 24)
        .unwrap()
        .reshape(&[1 << 20, 16])
        .unwrap();
    for sum in columns.sum(0).unwrap().to_vec::<f32>().unwrap() {
        assert!((sum - 104_857.6).abs() <= 0.05, "{sum}");
    }
}

fn complex(z: (f64, f64)) -> DynTensor {
    DynTensor::from_vec(vec![Complex::new(z.0, z.1); 9], &[9], ()).unwrap()
}

/// Like `std::pow` of C++, which PyTorch calls.
#[test]
fn complex_powers_at_their_limits() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (x, y, expected) in [
        ((2.0, 0.0), (inf, 0.0), (inf, nan)),
        ((0.5, 0.0), (inf, 0.0), (0.0, 0.0)),
        ((-inf, 0.0), (0.5, 1.0), (inf, nan)),
        ((0.0, 0.0), (-2.0, 0.0), (inf, nan)),
        ((nan, 0.0), (2.0, 0.0), (nan, nan)),
        ((nan, 0.0), (0.0, 0.0), (1.0, 0.0)),
    ] {
        let found = complex(x).pow(&complex(y)).unwrap();
        for got in found.to_vec::<Complex<f64>>().unwrap() {
            for (got, expected) in [(got.re, expected.0), (got.im, expected.1)] {
                assert!(
                    got == expected || (got.is_nan() && expected.is_nan()),
                    "{x:?} to {y:?}"
                );
            }
        }
    }
}

/// Each power is the previous one times the element, also for complex numbers and infinities.
#[test]
fn vander_multiplies() {
    let z = Complex::new(0.0, 1.0);
    let found = complex((0.0, 1.0))
        .narrow(0, 0, 5)
        .unwrap()
        .vander(None)
        .unwrap();
    let row = &found.to_vec::<Complex<f64>>().unwrap()[..5];
    assert_eq!(
        row,
        [z * z * z * z, z * z * z, z * z, z, Complex::new(1.0, 0.0)]
    );
    let x = DynTensor::from_vec(vec![f64::NEG_INFINITY, 0.0, -3.0], &[3], ()).unwrap();
    let expected = [
        f64::INFINITY,
        f64::NEG_INFINITY,
        1.0,
        0.0,
        0.0,
        1.0,
        9.0,
        -3.0,
        1.0,
    ];
    assert_eq!(x.vander(None).unwrap().to_vec::<f64>().unwrap(), expected);
    for (n, count) in [(0, 0), (1, 3)] {
        let options = nomina::VanderOptions {
            n: Some(n),
            increasing: true,
        };
        let found = x.vander_with(None, options).unwrap();
        assert_eq!((found.shape()[1], found.numel()), (n, count));
    }
}

/// A product with a power of two, which underflows to zero below the range.
#[test]
fn ldexp_is_a_product() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for count in [1, 9, 100] {
            let x = DynTensor::full(&[count], f64::INFINITY, ()).unwrap();
            let x = x.to_dtype(dtype).unwrap();
            for exponent in [DType::I64, DType::F32, DType::F64] {
                let least = DynTensor::full(&[count], -(2.0_f64.powi(31)), ()).unwrap();
                let found = x.ldexp(&least.to_dtype(exponent).unwrap()).unwrap();
                let found = found.to_dtype(DType::F64).unwrap().to_vec::<f64>().unwrap();
                assert!(
                    found.iter().all(|x| x.is_nan()),
                    "{dtype} {exponent}: {found:?}"
                );
            }
        }
    }
}

/// Dims of unchanged size do not read neighbours, and a neighbour with weight zero has no effect.
#[test]
fn interpolation_beside_infinities() {
    let mut values = vec![1.0_f32; 8];
    values[0] = f32::NEG_INFINITY;
    let x = DynTensor::from_vec(values, &[1, 1, 2, 2, 2], ["N", "C", "D", "H", "W"]).unwrap();
    let options = InterpolateOptions {
        mode: InterpolateMode::Linear,
        ..InterpolateOptions::default()
    };
    let found = x.interpolate_with(&[4, 2, 2], options).unwrap();
    let found = found.to_vec::<f32>().unwrap();
    for depth in found.chunks(4) {
        assert_eq!(depth[1..], [1.0; 3]);
    }
    // The last plane depends on the second one only.
    let infinite = |x: &f32| *x == f32::NEG_INFINITY;
    assert!(found[..12].iter().step_by(4).all(infinite) && found[12] == 1.0);
}

/// More sparse dims than a tensor can have, with no entries.
#[test]
fn sparse_dims_have_a_limit() {
    let indices = DynTensor::options().dtype(DType::I64);
    let indices = indices.zeros(&[1 << 40, 0], ()).unwrap();
    let values = DynTensor::zeros(&[0], ()).unwrap();
    let refused = nomina::DynSparse::from_coo_inferred(&indices, &values, ()).unwrap_err();
    assert_eq!(refused.kind(), nomina::ErrorKind::Rank);
}

/// Functions that sum a series terminate for all arguments.
#[test]
fn series_end() {
    let mut numbers = vec![
        0.0, 1e-300, 0.5, 1.0, 1.5, 2.0, 20.0, 170.5, 999.5, 1000.5, 1e15, 1e300,
    ];
    numbers.extend([
        2.0_f64.powi(31),
        2.0_f64.powi(48) - 0.5,
        2.0_f64.powi(48) + 1.0,
    ]);
    numbers.extend([f64::MAX, f64::INFINITY]);
    numbers.extend(numbers.clone().iter().map(|x| -x));
    numbers.push(f64::NAN);
    let column = DynTensor::from_vec(numbers.clone(), &[numbers.len(), 1], ()).unwrap();
    let row = DynTensor::from_vec(numbers.clone(), &[1, numbers.len()], ()).unwrap();
    let [x, y] = [&column, &row];
    let both = [
        x.zeta(y),
        x.xlogy(y),
        x.pow(y),
        x.lgamma(),
        x.digamma(),
        x.i0(),
        x.i1e(),
        x.erfinv(),
        x.ndtri(),
        x.log_ndtr(),
    ];
    assert!(both.into_iter().all(|made| made.is_ok()));
    for n in [0, 1, 2, 3, 169, 170] {
        assert_eq!(x.polygamma(n).unwrap().numel(), numbers.len());
    }
}
