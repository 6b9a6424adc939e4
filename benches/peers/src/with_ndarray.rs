//! ndarray, with its features `rayon` and `matrixmultiply-threading`.

use half::bf16;
use ndarray::{Array, Array1, Array2, Axis, Dimension, Ix1, LinalgScalar, ShapeBuilder, Zip};
use ndarray_rand::RandomExt;
use ndarray_rand::rand_distr::{Distribution, StandardNormal};
use num_complex::Complex32;

use crate::harness::{Case, case};
use crate::{BIG, MILLION, SIDES, SIZES};

/// Rows and columns.
type Size = (usize, usize);

pub fn cases() -> Vec<Case> {
    let mut cases = sizes();
    cases.extend(elementwise());
    cases.extend(functions());
    cases.extend(reduce());
    cases.extend(layout());
    cases.extend(product());
    cases
}

/// Returns samples in any shape.
fn randn<T, S: ShapeBuilder<Dim: Dimension>>(shape: S) -> Array<T, S::Dim>
where
    StandardNormal: Distribution<T>,
{
    Array::random(shape, StandardNormal)
}

fn matrix(size: (usize, usize)) -> Array2<f32> {
    randn::<f32, Size>(size)
}

fn vector(size: usize) -> Array<f32, Ix1> {
    randn::<f32, usize>(size)
}

fn two(size: (usize, usize)) -> (Array2<f32>, Array2<f32>) {
    (matrix(size), matrix(size))
}

fn sizes() -> Vec<Case> {
    let of_size = |(n, size): (&str, (usize, usize))| -> Vec<Case> {
        let operands = move || (matrix(size), matrix(size), vector(size.1));
        let (add, exp, chain) = (format!("add/{n}"), format!("exp/{n}"), format!("chain/{n}"));
        if size.0 < 1000 {
            return vec![
                case(add, move || two(size), |(a, b)| &*a + &*b),
                case(exp, move || matrix(size), |a| a.mapv(f32::exp)),
                case(chain, operands, |(a, b, c)| {
                    (&*a * &*b + &*c).mapv_into(f32::exp) * &*a
                }),
            ];
        }
        vec![
            case(
                add,
                move || two(size),
                |(a, b)| Zip::from(&*a).and(&*b).par_map_collect(|a, b| a + b),
            ),
            case(
                exp,
                move || matrix(size),
                |a| Zip::from(&*a).par_map_collect(|a| a.exp()),
            ),
            // The user writes the loop, so the chain takes one pass.
            case(chain, operands, |(a, b, c)| {
                let zip = Zip::from(&*a).and(&*b).and_broadcast(&*c);
                zip.par_map_collect(|a, b, c| (a * b + c).exp() * a)
            }),
        ]
    };
    SIZES.into_iter().flat_map(of_size).collect()
}

fn elementwise() -> Vec<Case> {
    let half = |size| matrix(size).mapv(bf16::from_f32);
    vec![
        case(
            "add_inplace/10M",
            || two(BIG),
            |(a, b)| {
                Zip::from(a).and(&*b).par_for_each(|a, b| *a += b);
            },
        ),
        case(
            "add_bcast_last/10M",
            || (matrix(BIG), vector(BIG.1)),
            |(a, b)| {
                Zip::from(&*a)
                    .and_broadcast(&*b)
                    .par_map_collect(|a, b| a + b)
            },
        ),
        case(
            "add_bcast_first/10M",
            || (matrix(BIG), matrix((BIG.0, 1))),
            |(a, b)| {
                Zip::from(&*a)
                    .and_broadcast(&*b)
                    .par_map_collect(|a, b| a + b)
            },
        ),
        case(
            "add_transposed/10M",
            || (matrix(BIG), matrix((BIG.1, BIG.0)).reversed_axes()),
            |(a, b)| Zip::from(&*a).and(&*b).par_map_collect(|a, b| a + b),
        ),
        case(
            "masked_fill/10M",
            || (matrix(BIG), matrix(BIG).mapv(|a| a > 0.0)),
            |(a, m)| {
                Zip::from(&*a)
                    .and(&*m)
                    .par_map_collect(|&a, &m| if m { 0.0 } else { a })
            },
        ),
        case(
            "div_scalar/10M",
            || matrix(BIG),
            |a| Zip::from(&*a).par_map_collect(|a| a / 3.0),
        ),
        case(
            "add_promote_i64_f32/1M",
            || (Array2::<i64>::ones(MILLION), matrix(MILLION)),
            |(a, b)| {
                Zip::from(&*a)
                    .and(&*b)
                    .par_map_collect(|&a, b| a as f32 + b)
            },
        ),
        case(
            "add_bf16/10M",
            move || (half(BIG), half(BIG)),
            |(a, b)| Zip::from(&*a).and(&*b).par_map_collect(|&a, &b| a + b),
        ),
        case(
            "add_f64/1M",
            || (randn::<f64, Size>(MILLION), randn::<f64, Size>(MILLION)),
            |(a, b)| Zip::from(&*a).and(&*b).par_map_collect(|a, b| a + b),
        ),
        case(
            "mul_c64/1M",
            || {
                let one = || matrix(MILLION).mapv(|re| Complex32::new(re, 1.0 - re));
                (one(), one())
            },
            |(a, b)| Zip::from(&*a).and(&*b).par_map_collect(|a, b| a * b),
        ),
        case(
            "lt/10M",
            || two(BIG),
            |(a, b)| Zip::from(&*a).and(&*b).par_map_collect(|a, b| a < b),
        ),
        case(
            "cast_f32_bf16/10M",
            || matrix(BIG),
            |a| Zip::from(&*a).par_map_collect(|&a| bf16::from_f32(a)),
        ),
        case("randn/10M", || (), |()| matrix(BIG)),
    ]
}

fn functions() -> Vec<Case> {
    let positive = || matrix(BIG).mapv(|a| a.abs() + 0.1);
    vec![
        case("tanh/10M", positive, |a| {
            Zip::from(&*a).par_map_collect(|a| a.tanh())
        }),
        case("sigmoid/10M", positive, |a| {
            Zip::from(&*a).par_map_collect(|a| 1.0 / (1.0 + (-a).exp()))
        }),
        case("sin/10M", positive, |a| {
            Zip::from(&*a).par_map_collect(|a| a.sin())
        }),
        case("log/10M", positive, |a| {
            Zip::from(&*a).par_map_collect(|a| a.ln())
        }),
        Case::lacking("erf/10M", "neither ndarray nor std has erf"),
        case("sqrt/10M", positive, |a| {
            Zip::from(&*a).par_map_collect(|a| a.sqrt())
        }),
        case("relu/10M", positive, |a| {
            Zip::from(&*a).par_map_collect(|a| a.max(0.0))
        }),
        case(
            "pow2.5/1M",
            || matrix(MILLION).mapv(f32::abs),
            |a| Zip::from(&*a).par_map_collect(|a| a.powf(2.5)),
        ),
    ]
}

fn reduce() -> Vec<Case> {
    let loops = "no operator; a user writes the loop";
    vec![
        case("sum_all/10M", || matrix(BIG), |a| a.sum()),
        case("sum_first/10M", || matrix(BIG), |a| a.sum_axis(Axis(0))),
        case("sum_last/10M", || matrix(BIG), |a| a.sum_axis(Axis(1))),
        case(
            "sum_middle/8M",
            || randn::<f32, (usize, usize, usize)>((200, 200, 200)),
            |a| a.sum_axis(Axis(1)),
        ),
        Case::lacking("sum_bf16_last/10M", "would sum in bf16"),
        Case::lacking("max_last/10M", loops),
        Case::lacking("argmax_first/10M", loops),
        case("var_last/10M", || matrix(BIG), |a| a.var_axis(Axis(1), 1.0)),
        Case::lacking("logsumexp_last/10M", loops),
        Case::lacking("softmax_last/10M", loops),
        Case::lacking("softmax_first/10M", loops),
        case(
            "cumsum_last/10M",
            || matrix(BIG),
            |a| {
                let mut sums = a.clone();
                sums.accumulate_axis_inplace(Axis(1), |before, sum| *sum += before);
                sums
            },
        ),
        case(
            "cumsum_first/10M",
            || matrix(BIG),
            |a| {
                let mut sums = a.clone();
                sums.accumulate_axis_inplace(Axis(0), |before, sum| *sum += before);
                sums
            },
        ),
        Case::lacking("median_last/1M", loops),
        Case::lacking("topk8_last/1M", loops),
    ]
}

fn layout() -> Vec<Case> {
    vec![
        case(
            "nchw_to_nhwc/8M",
            || {
                let a = randn::<f32, (usize, usize, usize, usize)>((32, 64, 64, 64));
                a.permuted_axes([0, 2, 3, 1])
            },
            |a| a.as_standard_layout().into_owned(),
        ),
        case(
            "transpose_copy/10M",
            || matrix(BIG),
            |a| a.t().as_standard_layout().into_owned(),
        ),
        case(
            "cat_last/10M",
            || two(BIG),
            |(a, b)| {
                ndarray::concatenate(Axis(1), &[a.view(), b.view()]).expect("the rows are as many")
            },
        ),
    ]
}

fn product() -> Vec<Case> {
    fn square<T: LinalgScalar>(n: usize) -> (Array2<T>, Array2<T>)
    where
        StandardNormal: Distribution<T>,
    {
        (randn::<T, Size>((n, n)), randn::<T, Size>((n, n)))
    }
    let f32s = |n: usize| {
        case(
            format!("matmul_f32/{n}"),
            move || square::<f32>(n),
            |(a, b)| a.dot(&*b),
        )
    };
    let mut cases: Vec<Case> = SIDES.into_iter().map(f32s).collect();
    cases.extend([
        case(
            "matmul_f64/1024",
            || square::<f64>(1024),
            |(a, b)| a.dot(&*b),
        ),
        Case::lacking(
            "matmul_c64/512",
            "no product of complex numbers but a plain loop",
        ),
        Case::lacking("matmul_bf16/1024", "no product of bf16 but a plain loop"),
        case(
            "matmul_nt/1024",
            || square::<f32>(1024),
            |(a, b)| a.dot(&b.t()),
        ),
        case(
            "matmul_skinny/2048x384x1536",
            || (matrix((2048, 384)), matrix((384, 1536))),
            |(a, b)| a.dot(&*b),
        ),
        Case::lacking("bmm/64x128x64x128", "no batched product"),
        case(
            "mv/4000x2500",
            || (matrix(BIG), vector(BIG.1)),
            |(a, b): &mut (Array2<f32>, Array1<f32>)| a.dot(&*b),
        ),
    ]);
    cases
}
