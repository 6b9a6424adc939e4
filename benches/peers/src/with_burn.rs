//! burn, on its backend `flex`. Operators consume their operands; a clone shares the buffer.

use burn_tensor::activation::{relu, sigmoid, softmax};
use burn_tensor::{Bool, Device, Distribution, FloatDType, Int, Tensor};

use crate::harness::{Case, case};
use crate::{BIG, MILLION, SIDES, SIZES};

pub fn cases() -> Vec<Case> {
    let mut cases = sizes();
    cases.extend(elementwise());
    cases.extend(functions());
    cases.extend(reduce());
    cases.extend(layout());
    cases.extend(product());
    cases.extend(crate::burn_grads::cases());
    cases
}

fn randn<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    Tensor::random(shape, Distribution::Normal(0.0, 1.0), &Device::flex())
}

fn matrix((rows, columns): (usize, usize)) -> Tensor<2> {
    randn([rows, columns])
}

fn two(size: (usize, usize)) -> (Tensor<2>, Tensor<2>) {
    (matrix(size), matrix(size))
}

fn two_of(size: (usize, usize), dtype: FloatDType) -> (Tensor<2>, Tensor<2>) {
    (matrix(size).cast(dtype), matrix(size).cast(dtype))
}

fn sizes() -> Vec<Case> {
    let of_size = |(n, size): (&str, (usize, usize))| {
        [
            case(
                format!("add/{n}"),
                move || two(size),
                |(a, b)| a.clone() + b.clone(),
            ),
            case(
                format!("exp/{n}"),
                move || matrix(size),
                |a| a.clone().exp(),
            ),
            case(
                format!("chain/{n}"),
                move || (matrix(size), matrix(size), matrix((1, size.1))),
                |(a, b, c)| (a.clone() * b.clone() + c.clone()).exp() * a.clone(),
            ),
        ]
    };
    SIZES.into_iter().flat_map(of_size).collect()
}

fn elementwise() -> Vec<Case> {
    vec![
        case(
            "add_inplace/10M",
            || two(BIG),
            |(a, b)| a.inplace(|a| a + b.clone()),
        ),
        case(
            "add_bcast_last/10M",
            || (matrix(BIG), matrix((1, BIG.1))),
            |(a, b)| a.clone() + b.clone(),
        ),
        case(
            "add_bcast_first/10M",
            || (matrix(BIG), matrix((BIG.0, 1))),
            |(a, b)| a.clone() + b.clone(),
        ),
        case(
            "add_transposed/10M",
            || (matrix(BIG), matrix((BIG.1, BIG.0)).t()),
            |(a, b)| a.clone() + b.clone(),
        ),
        case(
            "masked_fill/10M",
            || (matrix(BIG), matrix(BIG).greater_elem(0.0)),
            masked,
        ),
        case("div_scalar/10M", || matrix(BIG), |a| a.clone() / 3.0),
        case(
            "add_promote_i64_f32/1M",
            || {
                let (rows, columns) = MILLION;
                let ones = Tensor::<2, Int>::ones([rows, columns], &Device::flex());
                (ones.cast(burn_tensor::IntDType::I64), matrix(MILLION))
            },
            |(a, b)| a.clone().float() + b.clone(),
        ),
        case(
            "add_bf16/10M",
            || two_of(BIG, FloatDType::BF16),
            |(a, b)| a.clone() + b.clone(),
        ),
        case(
            "add_f64/1M",
            || two_of(MILLION, FloatDType::F64),
            |(a, b)| a.clone() + b.clone(),
        ),
        Case::lacking("mul_c64/1M", "no complex numbers"),
        case("lt/10M", || two(BIG), |(a, b)| a.clone().lower(b.clone())),
        case(
            "cast_f32_bf16/10M",
            || matrix(BIG),
            |a| a.clone().cast(FloatDType::BF16),
        ),
        case("randn/10M", || (), |()| matrix(BIG)),
    ]
}

fn masked((a, mask): &mut (Tensor<2>, Tensor<2, Bool>)) -> Tensor<2> {
    a.clone().mask_fill(mask.clone(), 0.0)
}

fn functions() -> Vec<Case> {
    let positive = || matrix(BIG).abs() + 0.1;
    vec![
        case("tanh/10M", positive, |a| a.clone().tanh()),
        case("sigmoid/10M", positive, |a| sigmoid(a.clone())),
        case("sin/10M", positive, |a| a.clone().sin()),
        case("log/10M", positive, |a| a.clone().log()),
        case("erf/10M", positive, |a| a.clone().erf()),
        case("sqrt/10M", positive, |a| a.clone().sqrt()),
        case("relu/10M", positive, |a| relu(a.clone())),
        case(
            "pow2.5/1M",
            || matrix(MILLION).abs(),
            |a| a.clone().powf_scalar(2.5),
        ),
    ]
}

fn reduce() -> Vec<Case> {
    vec![
        case("sum_all/10M", || matrix(BIG), |a| a.clone().sum()),
        case("sum_first/10M", || matrix(BIG), |a| a.clone().sum_dim(0)),
        case("sum_last/10M", || matrix(BIG), |a| a.clone().sum_dim(1)),
        case(
            "sum_middle/8M",
            || randn([200, 200, 200]),
            |a| a.clone().sum_dim(1),
        ),
        case(
            "sum_bf16_last/10M",
            || matrix(BIG).cast(FloatDType::BF16),
            |a| a.clone().sum_dim(1),
        ),
        case(
            "max_last/10M",
            || matrix(BIG),
            |a| a.clone().max_dim_with_indices(1),
        ),
        case("argmax_first/10M", || matrix(BIG), |a| a.clone().argmax(0)),
        case("var_last/10M", || matrix(BIG), |a| a.clone().var(1)),
        Case::lacking("logsumexp_last/10M", "no logsumexp"),
        case(
            "softmax_last/10M",
            || matrix(BIG),
            |a| softmax(a.clone(), 1),
        ),
        case(
            "softmax_first/10M",
            || matrix(BIG),
            |a| softmax(a.clone(), 0),
        ),
        case("cumsum_last/10M", || matrix(BIG), |a| a.clone().cumsum(1)),
        case("cumsum_first/10M", || matrix(BIG), |a| a.clone().cumsum(0)),
        case(
            "median_last/1M",
            || matrix(MILLION),
            |a| a.clone().median_with_indices(1),
        ),
        case(
            "topk8_last/1M",
            || matrix(MILLION),
            |a| a.clone().topk_with_indices(8, 1),
        ),
    ]
}

fn layout() -> Vec<Case> {
    let view = "a permuted tensor stays a view; nothing copies it in place of the user";
    vec![
        Case::lacking("nchw_to_nhwc/8M", view),
        Case::lacking("transpose_copy/10M", view),
        case(
            "cat_last/10M",
            || two(BIG),
            |(a, b)| Tensor::cat(vec![a.clone(), b.clone()], 1),
        ),
    ]
}

fn product() -> Vec<Case> {
    let square = |n: usize| {
        case(
            format!("matmul_f32/{n}"),
            move || two((n, n)),
            |(a, b)| a.clone().matmul(b.clone()),
        )
    };
    let mut cases: Vec<Case> = SIDES.into_iter().map(square).collect();
    cases.extend([
        case(
            "matmul_f64/1024",
            || two_of((1024, 1024), FloatDType::F64),
            |(a, b)| a.clone().matmul(b.clone()),
        ),
        Case::lacking("matmul_c64/512", "no complex numbers"),
        case(
            "matmul_bf16/1024",
            || two_of((1024, 1024), FloatDType::BF16),
            |(a, b)| a.clone().matmul(b.clone()),
        ),
        case(
            "matmul_nt/1024",
            || two((1024, 1024)),
            |(a, b)| a.clone().matmul(b.clone().t()),
        ),
        case(
            "matmul_skinny/2048x384x1536",
            || (matrix((2048, 384)), matrix((384, 1536))),
            |(a, b)| a.clone().matmul(b.clone()),
        ),
        case(
            "bmm/64x128x64x128",
            || (randn([64, 128, 64]), randn([64, 64, 128])),
            |(a, b)| a.clone().matmul(b.clone()),
        ),
        case(
            "mv/4000x2500",
            || (matrix(BIG), matrix((BIG.1, 1))),
            |(a, b)| a.clone().matmul(b.clone()),
        ),
    ]);
    cases
}
