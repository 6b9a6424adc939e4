//! Matrices near the ends of a dtype's range, padding and counts of windows, and windows of absurd sizes.

use nomina::{
    AvgPoolOptions, BackwardOptions, ColumnsOptions, ConvOptions, ConvTransposeOptions, DType,
    DynTensor, ErrorKind, InterpolateMode, MatrixNorm, MaxPoolOptions,
};

const AT: [&str; 2] = ["R", "C"];

fn matrix(values: &[f64], shape: [usize; 2], dtype: DType) -> DynTensor {
    let x = DynTensor::from_vec(values.to_vec(), &shape, AT).unwrap();
    x.to_dtype(dtype).unwrap()
}

fn numbers(x: &DynTensor) -> Vec<f64> {
    x.to_dtype(DType::F64).unwrap().to_vec::<f64>().unwrap()
}

#[track_caller]
fn near(got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len());
    for (g, w) in got.iter().zip(want) {
        let close = g == w || (g - w).abs() <= tolerance * w.abs();
        assert!(close, "{got:?}, not {want:?}");
    }
}

/// The singular values of `[[1, 2], [3, 4]]`.
const VALUES: [f64; 2] = [5.464_985_704_219_043, 0.365_966_190_626_257_9];

#[test]
fn singular_values_at_all_scales() {
    let of = |scale: f64, dtype| {
        let x = matrix(&[1.0, 2.0, 3.0, 4.0].map(|x| x * scale), [2, 2], dtype);
        let expected = VALUES.map(|x| x * scale);
        (x, expected)
    };
    for scale in [1e-37, 1e-24, 1e-12, 1.0, 1e12, 1e20, 1e30, 5e37] {
        let (x, expected) = of(scale, DType::F32);
        near(&numbers(&x.svdvals(AT, "K").unwrap()), &expected, 2e-6);
        let two = x.matrix_norm(AT, MatrixNorm::Two).unwrap();
        near(&numbers(&two), &expected[..1], 2e-6);
        let nuclear = x.matrix_norm(AT, MatrixNorm::Nuc).unwrap();
        near(&numbers(&nuclear), &[expected[0] + expected[1]], 2e-6);
        assert_eq!(x.matrix_rank(AT).unwrap().item().unwrap().to_f64(), 2.0);
        let inverse = [-2.0, 1.0, 1.5, -0.5].map(|x| x / scale);
        if scale > 1e-30 {
            near(
                &numbers(&x.pinv(AT).unwrap()),
                &[inverse[0], inverse[1], inverse[2], inverse[3]],
                1e-4,
            );
        }
    }
    for scale in [1e-305, 1e-200, 1.0, 1e154, 1e200, 1e307] {
        let (x, expected) = of(scale, DType::F64);
        near(&numbers(&x.svdvals(AT, "K").unwrap()), &expected, 1e-14);
        let right = DynTensor::from_vec(vec![5.0 * scale, 11.0 * scale], &[2], ["R"]).unwrap();
        near(&numbers(&x.lstsq(&right, AT).unwrap()), &[1.0, 2.0], 1e-13);
    }
    let zero = matrix(&[0.0; 4], [2, 2], DType::F32);
    assert_eq!(numbers(&zero.svdvals(AT, "K").unwrap()), [0.0; 2]);
    let infinite = matrix(&[1.0, f64::INFINITY, 0.0, 1.0], [2, 2], DType::F64);
    let error = infinite.svdvals(AT, "K").unwrap_err().to_string();
    assert!(
        error.contains("infinite") && !error.contains("f64>"),
        "{error}"
    );
}

#[test]
fn pivots_below_the_normal_numbers() {
    for (tiny, dtype) in [(1e-39, DType::F32), (1e-310, DType::F64)] {
        for order in [[tiny, 1.0, 1.0], [1.0, tiny, 1.0], [1.0, 1.0, tiny]] {
            let [a, b, c] = order;
            let x = matrix(&[a, 0.0, 0.0, 0.0, b, 0.0, 0.0, 0.0, c], [3, 3], dtype);
            let tiny = numbers(&x)
                .into_iter()
                .fold(1.0, |least, x| if x > 0.0 && x < least { x } else { least });
            assert_eq!(numbers(&x.det(AT).unwrap()), [tiny]);
            let (sign, log) = x.slogdet(AT).unwrap();
            assert_eq!(numbers(&sign), [1.0]);
            near(&numbers(&log), &[tiny.ln()], 1e-6);
            let right = DynTensor::from_vec(
                numbers(&x).into_iter().step_by(4).collect::<Vec<_>>(),
                &[3],
                ["R"],
            );
            let right = right.unwrap().to_dtype(dtype).unwrap();
            assert_eq!(numbers(&x.solve(&right, AT).unwrap()), [1.0; 3]);
            let triangle = x.solve_triangular(&right, AT, true).unwrap();
            assert_eq!(numbers(&triangle), [1.0; 3]);
            let inverse = numbers(&x.inv(AT).unwrap());
            assert!(inverse.iter().all(|x| !x.is_nan()), "{inverse:?}");
        }
        // The small pivot appears only when the first column is eliminated.
        let x = matrix(
            &[1.0, 1.0, 0.0, 0.0, tiny, 0.0, 0.0, 0.0, 1.0],
            [3, 3],
            dtype,
        );
        near(&numbers(&x.det(AT).unwrap()), &[numbers(&x)[4]], 1e-12);
    }
    // Factors that leave the range although their product does not.
    let x = matrix(
        &[1e30, 0.0, 0.0, 0.0, 1e30, 0.0, 0.0, 0.0, 1e-35],
        [3, 3],
        DType::F32,
    );
    near(&numbers(&x.det(AT).unwrap()), &[1e25], 1e-5);
    let x = matrix(&[1e200, 0.0, 0.0, 1e200], [2, 2], DType::F64);
    near(
        &numbers(&x.slogdet(AT).unwrap().1),
        &[400.0 * 10.0_f64.ln()],
        1e-14,
    );
}

/// Returns the gradient of a determinant, and the gradient of the weighted sum of that gradient.
fn derivatives(values: &[f64], n: usize) -> [Vec<f64>; 2] {
    let x = matrix(values, [n, n], DType::F64).with_grad().unwrap();
    let y = x.det(AT).unwrap();
    let records = BackwardOptions {
        create_graph: true,
        ..BackwardOptions::default()
    };
    y.backward_with(
        &DynTensor::ones(&[], ())
            .unwrap()
            .to_dtype(DType::F64)
            .unwrap(),
        records,
    )
    .unwrap();
    let first = x.take_grad().unwrap();
    let weights = (0..n * n)
        .map(|i| (i as f64 * 0.7).sin())
        .collect::<Vec<_>>();
    let weights = matrix(&weights, [n, n], DType::F64);
    first
        .mul(&weights)
        .unwrap()
        .sum(..)
        .unwrap()
        .backward()
        .unwrap();
    let second = x.grad().map(|x| numbers(&x)).unwrap_or_default();
    [numbers(&first.detach()), second]
}

/// Computes a determinant by expansion in minors, without divisions.
fn minors(a: &[f64], n: usize) -> f64 {
    if n == 1 {
        return a[0];
    }
    (0..n)
        .map(|column| {
            let sign = if column.is_multiple_of(2) { 1.0 } else { -1.0 };
            sign * a[column] * minors(&minor(a, n, 0, column), n - 1)
        })
        .sum()
}

fn minor(a: &[f64], n: usize, row: usize, column: usize) -> Vec<f64> {
    let kept = (0..n * n).filter(|i| i / n != row && i % n != column);
    kept.map(|i| a[i]).collect()
}

/// Returns the cofactors, and weighted sums of the minors without two rows and columns.
fn expected(a: &[f64], n: usize) -> [Vec<f64>; 2] {
    let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let first =
        (0..n * n).map(|at| sign(at / n + at % n) * minors(&minor(a, n, at / n, at % n), n - 1));
    let mut second = vec![0.0; n * n];
    for at in 0..n * n {
        let (row, column) = (at / n, at % n);
        let rest = minor(a, n, row, column);
        for inner in 0..(n - 1) * (n - 1) {
            let (i, j) = (inner / (n - 1), inner % (n - 1));
            let of_two = match n {
                2 => 1.0,
                _ => minors(&minor(&rest, n - 1, i, j), n - 2),
            };
            let place = (i + usize::from(i >= row)) * n + j + usize::from(j >= column);
            second[place] += sign(row + column) * (at as f64 * 0.7).sin() * sign(i + j) * of_two;
        }
    }
    [first.collect(), second]
}

#[test]
fn determinants_have_slopes_everywhere() {
    let cases: [(&str, usize, Vec<f64>); 13] = [
        ("zero", 3, vec![0.0; 9]),
        ("zero of four rows", 4, vec![0.0; 16]),
        (
            "identity",
            3,
            vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        ),
        (
            "rank 1",
            3,
            vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, -1.0, -2.0, -3.0],
        ),
        ("rank 2", 3, (1..10).map(f64::from).collect()),
        (
            "one zero",
            3,
            vec![2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0],
        ),
        ("rank 2 of four", 4, (0..16).map(f64::from).collect()),
        (
            "nearly singular",
            3,
            vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0 + 1e-12],
        ),
        ("two rows", 2, vec![1.0, 2.0, 2.0, 4.0]),
        (
            "rank 1 of four",
            4,
            (0..16)
                .map(|i| f64::from((i / 4 + 1) * (i % 4 - 2)))
                .collect(),
        ),
        (
            "rank 3 of four",
            4,
            (0..16)
                .map(|i| f64::from((i % 4) * i * i % 5 * i32::from(i < 12)))
                .collect(),
        ),
        ("rank 2 of five", 5, (0..25).map(f64::from).collect()),
        (
            "regular",
            4,
            (0..16).map(|i| f64::from(i * i % 7)).collect(),
        ),
    ];
    for (what, n, values) in cases {
        let (got, want) = (derivatives(&values, n), expected(&values, n));
        for (order, (got, want)) in got.iter().zip(&want).enumerate() {
            let most = want.iter().fold(1e-3, |most: f64, x| most.max(x.abs()));
            assert_eq!(got.len(), want.len());
            for (g, w) in got.iter().zip(want) {
                assert!(
                    (g - w).abs() <= 1e-7 * most,
                    "{what}, derivative {}: {got:?}, not {want:?}",
                    order + 1
                );
            }
        }
    }
}

#[test]
fn the_nearest_neighbour() {
    let sizes = (1..40).flat_map(|from| (1..130).map(move |to| (from, to)));
    for (from, to) in sizes.chain([(2, 82), (3, 10_007), (1000, 777)]) {
        let x =
            DynTensor::from_vec((0..from as i64).collect::<Vec<_>>(), &[1, 1, from], ()).unwrap();
        for (mode, half) in [
            (InterpolateMode::Nearest, 0),
            (InterpolateMode::NearestExact, 1),
        ] {
            let got = x.interpolate(&[to], mode).unwrap().to_vec::<i64>().unwrap();
            let want = (0..to).map(|i| ((2 * i + half) * from / (2 * to)) as i64);
            assert_eq!(got, want.collect::<Vec<_>>(), "{from} to {to}, {mode:?}");
        }
    }
}

#[test]
fn counts_beyond_f16() {
    let zeros = DynTensor::zeros(&[70_000], ["N"]).unwrap();
    for dtype in [DType::BF16, DType::F32, DType::F64] {
        let counts = zeros.to_dtype(dtype).unwrap().histc(10, None).unwrap();
        near(&[numbers(&counts).iter().sum()], &[70_000.0], 4e-3);
    }
    let error = zeros
        .to_dtype(DType::F16)
        .unwrap()
        .histc(10, None)
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("70000") && text.contains("f32"), "{text}");
    let fewer = zeros
        .narrow("N", 0, 60_000)
        .unwrap()
        .to_dtype(DType::F16)
        .unwrap();
    near(
        &[numbers(&fewer.histc(10, None).unwrap()).iter().sum()],
        &[60_000.0],
        1e-3,
    );
}

#[test]
fn windows_of_absurd_sizes() {
    let x = DynTensor::ones(&[1, 1, 4, 4], ()).unwrap();
    let half = 1_usize << 61;
    let padded = |padding: usize| AvgPoolOptions {
        stride: Some([1, 1]),
        padding: [padding; 2],
        ..AvgPoolOptions::default()
    };
    // The product of both counts is 2^124; every window covers all 16 elements.
    let means = x.avg_pool2d_with([1 << 62, 1 << 62], padded(half)).unwrap();
    near(&numbers(&means), &[16.0 / 2.0_f64.powi(124); 25], 1e-6);
    let whole = x
        .to_dtype(DType::I64)
        .unwrap()
        .avg_pool2d_with([1 << 62, 1 << 62], padded(half))
        .unwrap();
    assert_eq!(numbers(&whole), [0.0; 25]);

    let refused = |what: &str, error: nomina::Error, says: &str| {
        let text = error.to_string();
        assert!(text.contains(says), "{what}: {text}");
        assert!(
            matches!(
                error.kind(),
                ErrorKind::Argument | ErrorKind::Shape | ErrorKind::Memory
            ),
            "{what}: {text}"
        );
    };
    let line = DynTensor::ones(&[1, 1, 5], ()).unwrap();
    let kernel = DynTensor::ones(&[1, 1, 3], ()).unwrap();
    for huge in [usize::MAX, usize::MAX / 2, isize::MAX as usize, 1 << 62] {
        let says = huge.to_string();
        let padding = ConvOptions {
            padding: nomina::Padding::Zeros([huge]),
            ..ConvOptions::default()
        };
        refused(
            "conv1d padding",
            line.conv1d_with(&kernel, None, padding).unwrap_err(),
            &says,
        );
        let dilation = ConvOptions {
            dilation: [huge],
            ..ConvOptions::default()
        };
        refused(
            "conv1d dilation",
            line.conv1d_with(&kernel, None, dilation).unwrap_err(),
            &says,
        );
        let transposed = [
            ConvTransposeOptions {
                stride: [huge],
                ..ConvTransposeOptions::default()
            },
            ConvTransposeOptions {
                dilation: [huge],
                ..ConvTransposeOptions::default()
            },
            ConvTransposeOptions {
                padding: [huge],
                ..ConvTransposeOptions::default()
            },
            ConvTransposeOptions {
                stride: [huge],
                output_padding: [huge - 1],
                ..ConvTransposeOptions::default()
            },
        ];
        for options in transposed {
            let error = line
                .conv_transpose1d_with(&kernel, None, options)
                .unwrap_err();
            refused("conv_transpose1d", error, &says);
        }
        let pool = MaxPoolOptions {
            dilation: [huge],
            ..MaxPoolOptions::default()
        };
        refused(
            "max_pool1d dilation",
            line.max_pool1d_with([2], pool).unwrap_err(),
            "",
        );
        refused("avg_pool1d", line.avg_pool1d([huge]).unwrap_err(), &says);
        let columns = ColumnsOptions {
            padding: [huge; 2],
            ..ColumnsOptions::default()
        };
        refused("im2col", x.im2col([2, 2], columns).unwrap_err(), &says);
        let columns = ColumnsOptions {
            dilation: [huge; 2],
            ..ColumnsOptions::default()
        };
        refused("im2col", x.im2col([2, 2], columns).unwrap_err(), &says);
        refused(
            "fold",
            line.fold([huge, 1], [1, 1], ColumnsOptions::default())
                .unwrap_err(),
            "",
        );
    }
    for huge in [i64::MAX, i64::MAX - 3] {
        refused(
            "pad",
            line.pad_with(&[huge, huge], nomina::PadOptions::default())
                .unwrap_err(),
            &huge.to_string(),
        );
    }
}

/// Element counts of means and their gradients that are out of range of f16.
#[test]
fn means_of_more_elements_than_f16_counts() {
    let ones = DynTensor::ones(&[70_000], ["N"])
        .unwrap()
        .to_dtype(DType::F16)
        .unwrap();
    for ignore_nan in [false, true] {
        let x = ones.clone().with_grad().unwrap();
        let mean = if ignore_nan {
            x.nanmean("N")
        } else {
            x.mean("N")
        };
        let mean = mean.unwrap();
        assert_eq!(numbers(&mean), [1.0]);
        mean.backward().unwrap();
        near(
            &numbers(&x.grad().unwrap())[..3],
            &[1.0 / 70_000.0; 3],
            5e-3,
        );
    }
}
