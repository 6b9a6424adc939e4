//! The cases that run on the device and on the host, by dtype, size and layout.

use nomina::{Complex, DType, Device, Scalar};
use nomina_core::op::Op;
use nomina_runtime::call::{self, CdistMode, Scores};
use nomina_runtime::{Raw, cuda};

use super::sample::some;

const SIZES: [usize; 6] = [1, 7, 16, 33, 64, 130];

/// Returns numbers between -2 and 2 in steps of a quarter: products and sums of hundreds of them are exact in f32, so
/// every order of addition gives the same bits.
fn numbers(shape: &[usize], seed: usize, dtype: DType) -> Raw {
    let count: usize = shape.iter().product();
    let number = |i: usize| {
        let hash = (i + 1)
            .wrapping_mul(seed + 7)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> 40) as f64 % 17.0 / 4.0 - 2.0
    };
    let data = (0..count).map(|i| Complex::new(number(i), number(i + count)));
    let both = Raw::from_vec(data.collect(), shape).unwrap();
    // Scaled to whole numbers for integer dtypes, which would truncate the fractions.
    let scaled = if dtype.is_integral() {
        let real = call::to_dtype(&both, DType::F64).unwrap();
        let four = [call::Arg::Tensor(&real), call::Arg::Scalar(Scalar::Int(4))];
        call::pointwise(Op::Mul, &four).unwrap()
    } else {
        both
    };
    call::to_dtype(&scaled, dtype).unwrap()
}

fn values(x: &Raw) -> Vec<Complex<f64>> {
    let x = call::to_device(x, Device::Cpu).unwrap();
    call::to_dtype(&x, DType::C128).unwrap().to_vec().unwrap()
}

/// The number of layouts of [`lying`].
const LAYOUTS: usize = 7;

/// Returns a matrix or a batch of matrices of the given sizes on a device, in one of the [`LAYOUTS`].
fn lying(shape: &[usize], layout: usize, seed: usize, dtype: DType, device: Device) -> Raw {
    let rank = shape.len();
    let (rows, cols) = (shape[rank - 2], shape[rank - 1]);
    let with = |last: &[usize]| -> Vec<usize> { [&shape[..rank - 2], last].concat() };
    let made = |shape: &[usize]| call::to_device(&numbers(shape, seed, dtype), device).unwrap();
    match layout {
        0 => made(shape),
        // Column-major.
        1 => made(&with(&[cols, rows]))
            .transpose(rank - 2, rank - 1)
            .unwrap(),
        // Rows with gaps, starting at an odd element.
        2 => made(&with(&[rows, cols + 3]))
            .narrow(rank - 1, 1, cols)
            .unwrap(),
        // Columns with gaps.
        3 => made(&with(&[cols + 2, rows]))
            .narrow(rank - 2, 1, cols)
            .unwrap()
            .transpose(rank - 2, rank - 1)
            .unwrap(),
        // Neither stride is 1.
        4 => made(&with(&[rows, cols, 2])).select(rank, 1).unwrap(),
        // One row, broadcast.
        5 => made(&with(&[1, cols])).expand(shape).unwrap(),
        // One column, broadcast.
        _ => made(&with(&[rows, 1])).expand(shape).unwrap(),
    }
}

/// The relative tolerance of a product: NVIDIA's library does not document how it rounds sums.
fn rounded(dtype: DType) -> f64 {
    let own = std::env::var_os("NOMINA_CUDA_MATMUL").is_some_and(|who| who == "own");
    match dtype {
        DType::F16 if !own && !super::here::host::is_fake() => 1e-3,
        DType::BF16 if !own && !super::here::host::is_fake() => 8e-3,
        _ => 0.0,
    }
}

/// Compares both devices bit for bit, except where the library may round.
#[track_caller]
fn same(what: &str, run: impl Fn(Device) -> Raw) {
    let (got, wanted) = (run(Device::from(0)), run(Device::Cpu));
    assert!(got.device().is_cuda(), "{what}");
    assert_eq!(got.shape(), wanted.shape(), "{what}");
    let most = rounded(wanted.dtype());
    for (at, (got, wanted)) in values(&got).iter().zip(values(&wanted)).enumerate() {
        assert!(
            *got == wanted || (got - wanted).norm() <= most * wanted.norm(),
            "{what}: element {at} is {got}, not {wanted}"
        );
    }
}

/// Compares both devices with a tolerance.
#[track_caller]
fn near(what: &str, most: f64, run: impl Fn(Device) -> Raw) {
    let (got, wanted) = (run(Device::from(0)), run(Device::Cpu));
    assert_eq!(got.shape(), wanted.shape(), "{what}");
    for (at, (got, wanted)) in values(&got).iter().zip(values(&wanted)).enumerate() {
        let near = got.re == wanted.re
            || got.re.is_nan() && wanted.re.is_nan()
            || (got.re - wanted.re).abs() <= most * wanted.re.abs().max(1.0);
        assert!(near, "{what}: element {at} is {got}, not {wanted}");
    }
}

/// Compares products of two matrices of all dtypes and sizes, in changing layouts. Returns the number of cases.
pub fn products() -> usize {
    let mut count = 0;
    for dtype in some(DType::ALL) {
        for m in SIZES {
            for n in SIZES {
                for k in SIZES {
                    count += 1;
                    let (left, right) = (count % LAYOUTS, count / LAYOUTS % LAYOUTS);
                    let what = format!("{dtype} {m} {k} {n}, {left} {right}");
                    same(&what, |device| {
                        let a = lying(&[m, k], left, 1, dtype, device);
                        let b = lying(&[k, n], right, 2, dtype, device);
                        added(&a, &b, count, dtype, device)
                    });
                }
            }
        }
    }
    count
}

/// Computes a product, with an addend that depends on `turn`.
fn added(a: &Raw, b: &Raw, turn: usize, dtype: DType, device: Device) -> Raw {
    let (m, n) = (a.shape()[0], b.shape()[1]);
    let one = Scalar::Int(1);
    let add = |d: &Raw, beta, alpha| call::add_product(Op::Addmm, d, a, b, beta, alpha).unwrap();
    match turn % 5 {
        // Nothing is added to booleans.
        _ if dtype == DType::Bool => call::mm(a, b).unwrap(),
        0 | 1 => call::mm(a, b).unwrap(),
        2 => add(
            &lying(&[m, n], turn / 5 % LAYOUTS, 3, dtype, device),
            Scalar::Int(2),
            Scalar::Int(3),
        ),
        // A bias per column, as in a linear layer.
        3 => {
            let row = call::to_device(&numbers(&[n], 4, dtype), device).unwrap();
            add(&row, one, one)
        }
        // A bias from the second element on, which is not aligned to 16 bytes; or one number, broadcast.
        _ => {
            let row = call::to_device(&numbers(&[n + 1], 5, dtype), device).unwrap();
            let size = if turn.is_multiple_of(2) { n } else { 1 };
            add(&row.narrow(0, 1, size).unwrap(), one, Scalar::Int(2))
        }
    }
}

/// Linear layers with an activation, of sizes that the library supports and of sizes that it does not.
pub fn layers() -> usize {
    use call::Activation::{Gelu, GeluTanh, Relu, Sigmoid, Silu, Tanh};
    let mut count = 0;
    for dtype in some([DType::F16, DType::BF16, DType::F32, DType::F64, DType::C64]) {
        for activation in [Relu, Gelu, GeluTanh, Silu, Sigmoid, Tanh] {
            if dtype == DType::C64 && !matches!(activation, Silu | Sigmoid | Tanh) {
                continue;
            }
            for [m, k, n] in [
                [5, 7, 9],
                [64, 33, 70],
                [130, 64, 1],
                [2, 40, 40],
                [9, 0, 40],
            ] {
                count += 1;
                let most = match dtype {
                    DType::F16 => 4e-3,
                    DType::BF16 => 3e-2,
                    _ => 1e-5,
                };
                let what = format!("{activation:?} of {dtype} {m} {k} {n}");
                near(&what, most, |device| {
                    let x = lying(&[m, k], count % LAYOUTS, 1, dtype, device);
                    let weight = lying(&[n, k], 0, 2, dtype, device);
                    let bias = call::to_device(&numbers(&[n], 3, dtype), device).unwrap();
                    let bias = (count % 3 != 0).then_some(&bias);
                    call::linear(&x, &weight, bias, 1, Some(activation)).unwrap()
                });
            }
        }
    }
    count
}

/// Batches: shared and broadcast, transposed, over several dims that cannot be merged.
pub fn batches() -> usize {
    let mut count = 0;
    let shapes: [([&[usize]; 2], usize); 7] = [
        ([&[3], &[3]], 0),
        ([&[3], &[]], 0),
        ([&[], &[4]], 0),
        ([&[2, 1], &[1, 3]], 0),
        ([&[2, 3], &[2, 3]], 1),
        ([&[11, 2], &[2]], 1),
        ([&[2, 1, 2, 1, 2, 2, 1, 2], &[1, 2, 1, 2, 1, 2, 2, 2]], 0),
    ];
    for dtype in some(DType::ALL) {
        for ([front, other], heads) in shapes {
            for [m, k, n] in [[7, 5, 9], [33, 16, 40], [1, 8, 6], [6, 9, 1], [64, 33, 17]] {
                if front.len() > 4 && m * n > 100 {
                    continue;
                }
                count += 1;
                let what = format!("{dtype} {front:?} {other:?} {m} {k} {n}");
                same(&what, |device| {
                    let made = |front: &[usize], rows, cols, seed| {
                        let shape = [front, &[rows, cols]].concat();
                        if heads == 1 && front.len() == 2 {
                            // The layout of attention heads: the head dim is between the rows and the columns.
                            let shape = [front[0], rows, front[1], cols];
                            let x = lying(&shape, 0, seed, dtype, device);
                            return x.transpose(1, 2).unwrap();
                        }
                        lying(&shape, count % LAYOUTS, seed, dtype, device)
                    };
                    let (a, b) = (made(front, m, k, 1), made(other, k, n, 2));
                    call::matmul(&a, &b).unwrap()
                });
            }
        }
        if dtype == DType::Bool {
            continue;
        }
        for layout in 0..LAYOUTS {
            count += 1;
            same(&format!("{dtype} baddbmm {layout}"), |device| {
                let a = lying(&[5, 9, 12], 0, 1, dtype, device);
                let b = lying(&[5, 12, 10], 1, 2, dtype, device);
                let d = lying(&[5, 9, 10], layout, 3, dtype, device);
                let (beta, alpha) = (Scalar::Int(3), Scalar::Int(-1));
                call::add_product(Op::Baddbmm, &d, &a, &b, beta, alpha).unwrap()
            });
        }
    }
    count
}

/// Vectors, split sums, empty sums.
pub fn edges() -> usize {
    let mut count = 0;
    for dtype in some(DType::ALL) {
        let column = |size: usize, seed, device| {
            call::to_device(&numbers(&[size], seed, dtype), device).unwrap()
        };
        // Sums of f16 stay below 2048, up to which it represents all whole numbers, so that dtypes rounded from one
        // exact sum are compared, too.
        for (m, k) in [(5, 3000), (300, 17), (1, 5000), (40, 40), (2000, 3), (3, 0)] {
            for layout in 0..LAYOUTS {
                count += 1;
                same(&format!("{dtype} mv {m} {k} {layout}"), |device| {
                    let a = lying(&[m, k], layout, 1, dtype, device);
                    call::mv(&a, &column(k, 2, device)).unwrap()
                });
            }
        }
        for k in [0, 1, 31, 4097] {
            count += 1;
            same(&format!("{dtype} dot {k}"), |device| {
                call::dot(&column(k, 1, device), &column(k, 2, device)).unwrap()
            });
        }
        for [m, k, n] in [[5, 0, 7], [0, 5, 7], [7, 5, 0], [9, 2500, 11], [70, 700, 3]] {
            count += 1;
            same(&format!("{dtype} {m} {k} {n}"), |device| {
                let a = lying(&[m, k], 0, 1, dtype, device);
                let b = lying(&[k, n], 0, 2, dtype, device);
                call::mm(&a, &b).unwrap()
            });
            if dtype == DType::Bool {
                continue;
            }
            count += 1;
            same(&format!("{dtype} added {m} {k} {n}"), |device| {
                let a = lying(&[m, k], 0, 1, dtype, device);
                let b = lying(&[k, n], 0, 2, dtype, device);
                let d = lying(&[m, n], 1, 3, dtype, device);
                let (beta, alpha) = (Scalar::Int(2), Scalar::Int(3));
                call::add_product(Op::Addmm, &d, &a, &b, beta, alpha).unwrap()
            });
        }
    }
    // Integers wrap, and are exact beyond the range of exact floats.
    count += 1;
    same("i64 wraps", |device| {
        let of = |seed: i64| {
            let data = (0..400).map(|i: i64| (i + seed).wrapping_mul(0x1234_5678_9abc_def1));
            let x = Raw::from_vec(data.collect::<Vec<_>>(), &[20, 20]).unwrap();
            call::to_device(&x, device).unwrap()
        };
        let product = call::mm(&of(1), &of(2)).unwrap();
        // Both halves; each fits exactly into a float.
        let halves = |x: &Raw| -> Vec<f64> {
            let x = call::to_device(x, Device::Cpu).unwrap();
            let all = x.to_vec::<i64>().unwrap();
            let both = all
                .iter()
                .flat_map(|x| [(x >> 32) as f64, (x & 0xffff_ffff) as f64]);
            both.collect()
        };
        let halves = Raw::from_vec(halves(&product), &[800]).unwrap();
        call::to_device(&halves, device).unwrap()
    });
    count
}

/// NaN and infinity propagate to the right elements only, and with a factor of 0 the addend is ignored.
pub fn special() -> usize {
    let mut count = 0;
    for dtype in some([DType::F16, DType::BF16, DType::F32, DType::F64]) {
        for value in [f64::NAN, f64::INFINITY] {
            count += 1;
            let what = format!("{dtype} {value}");
            let run = |device| {
                let full = |rows, cols, number: f64, first: f64| {
                    let mut data = vec![number; rows * cols];
                    data[cols + 3] = first;
                    let x = Raw::from_vec(data, &[rows, cols]).unwrap();
                    call::to_device(&call::to_dtype(&x, dtype).unwrap(), device).unwrap()
                };
                let (a, b) = (full(40, 33, 1.0, value), full(33, 40, 2.0, 2.0));
                let d = full(40, 40, f64::NAN, f64::NAN);
                call::add_product(Op::Addmm, &d, &a, &b, Scalar::Int(0), Scalar::Int(1)).unwrap()
            };
            near(&what, 0.0, run);
        }
    }
    count
}

/// TF32 is off by default, and has a visible effect if enabled.
pub fn tf32(library: bool) {
    let product = |device| {
        // Needs more than TF32's ten bits of mantissa.
        let x = Raw::from_vec(vec![1.0_f32 + 1.0 / 4096.0; 64 * 64], &[64, 64]).unwrap();
        let x = call::to_device(&x, device).unwrap();
        call::mm(&x, &x).unwrap()
    };
    same("f32 is exact", product);
    cuda::allow_tf32(true);
    assert!(cuda::tf32_is_allowed());
    let got = values(&product(Device::from(0)))[0].re;
    cuda::allow_tf32(false);
    let exact = values(&product(Device::Cpu))[0].re;
    assert_eq!(got != exact, library, "{got} {exact}");
    same("f32 is exact again", product);
}

/// Attention by sizes, masks and layouts.
pub fn attentions() -> usize {
    let mut count = 0;
    let sizes = [
        [1, 1, 1, 1],
        [5, 7, 3, 4],
        [64, 64, 32, 64],
        [70, 130, 20, 33],
        [33, 65, 64, 140],
        [3, 200, 8, 16],
        [20, 70, 100, 128],
    ];
    for dtype in some([DType::F16, DType::BF16, DType::F32, DType::F64]) {
        let most = match dtype {
            DType::F16 => 2e-3,
            DType::BF16 => 1e-2,
            DType::F32 => 2e-5,
            _ => 1e-12,
        };
        for (turn, [length, source, features, width]) in sizes.into_iter().enumerate() {
            for mask in 0..6 {
                count += 1;
                let what = format!("{dtype} {length} {source} {features} {width}, mask {mask}");
                near(&what, most, |device| {
                    let of = |rows, cols, seed| {
                        // The head dim is between rows and columns, as a projection produces it.
                        let x = lying(&[2, rows, 3, cols], 0, seed, dtype, device);
                        x.transpose(1, 2).unwrap()
                    };
                    let layout = turn % 3;
                    let query = of(length, features, 1);
                    let key = lying(&[2, 3, source, features], layout, 2, dtype, device);
                    let value = lying(&[3, source, width], layout, 3, dtype, device);
                    let value = value.expand(&[2, 3, source, width]).unwrap();
                    let given = match mask {
                        2 => Some(lying(&[length, source], 0, 4, DType::Bool, device)),
                        3 => Some(lying(&[2, 1, length, source], 1, 5, dtype, device)),
                        // Some queries attend to nothing.
                        4 => {
                            let data = (0..length).map(|i| i % 3 != 1).collect::<Vec<_>>();
                            let rows = Raw::from_vec(data, &[length, 1]).unwrap();
                            Some(call::to_device(&rows, device).unwrap())
                        }
                        _ => None,
                    };
                    let scores = Scores {
                        causal: mask == 1,
                        scale: (mask == 5).then_some(0.3),
                        grouped: false,
                    };
                    call::attention(&query, &key, &value, given.as_ref(), scores).unwrap()
                });
            }
        }
    }
    count
}

/// Distances by norms and sizes.
pub fn distances() -> usize {
    let mut count = 0;
    for dtype in some([DType::F16, DType::BF16, DType::F32, DType::F64]) {
        let most = match dtype {
            DType::F16 => 2e-3,
            DType::BF16 => 1e-2,
            DType::F32 => 2e-5,
            _ => 1e-12,
        };
        for p in [0.0, 0.5, 1.0, 2.0, 3.5, f64::INFINITY] {
            for [m, n, depth] in [[1, 1, 1], [5, 7, 3], [70, 30, 17], [64, 64, 16], [3, 4, 0]] {
                for mode in [CdistMode::IfNecessary, CdistMode::Always, CdistMode::Never] {
                    // Computed by a product, distances of close rows lose digits that depend on the order of addition.
                    let by_product = p == 2.0 && mode != CdistMode::Never && dtype == DType::F32;
                    let most = if by_product { 2e-3 } else { most };
                    count += 1;
                    near(
                        &format!("{dtype} {p} {m} {n} {depth} {mode:?}"),
                        most,
                        |device| {
                            let a = lying(&[2, m, depth], 0, 1, dtype, device);
                            let b = lying(&[n, depth], count % 2, 2, dtype, device);
                            call::cdist(&a, &b, p, mode).unwrap()
                        },
                    );
                }
            }
        }
    }
    count
}
