//! candle-core, with candle-nn for sigmoid and softmax.

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::ops;

use crate::harness::{Case, case};
use crate::{BIG, MILLION, SIDES, SIZES};

pub fn cases() -> Vec<Case> {
    let mut cases = sizes();
    cases.extend(elementwise());
    cases.extend(functions());
    cases.extend(reduce());
    cases.extend(layout());
    cases.extend(product());
    cases
}

/// A case whose operators return `Result`; none of them fails.
fn fallible<I: 'static, R>(
    name: impl Into<String>,
    make: impl Fn() -> Result<I> + 'static,
    run: impl Fn(&I) -> Result<R> + Copy + 'static,
) -> Case {
    let make = move || make().expect("candle makes the operands");
    case(name, make, move |operands| {
        run(operands).expect("candle computes it")
    })
}

fn randn<S: Into<candle_core::Shape>>(shape: S) -> Result<Tensor> {
    Tensor::randn(0_f32, 1_f32, shape, &Device::Cpu)
}

fn two<S: Into<candle_core::Shape> + Copy>(shape: S) -> Result<(Tensor, Tensor)> {
    Ok((randn(shape)?, randn(shape)?))
}

fn two_of(shape: (usize, usize), dtype: DType) -> Result<(Tensor, Tensor)> {
    Ok((
        randn(shape)?.to_dtype(dtype)?,
        randn(shape)?.to_dtype(dtype)?,
    ))
}

fn sizes() -> Vec<Case> {
    let of_size = |(n, size): (&str, (usize, usize))| {
        [
            fallible(format!("add/{n}"), move || two(size), |(a, b)| a + b),
            fallible(format!("exp/{n}"), move || randn(size), Tensor::exp),
            fallible(
                format!("chain/{n}"),
                move || Ok((randn(size)?, randn(size)?, randn(size.1)?)),
                |(a, b, c)| (a * b)?.broadcast_add(c)?.exp()? * a,
            ),
        ]
    };
    SIZES.into_iter().flat_map(of_size).collect()
}

fn elementwise() -> Vec<Case> {
    vec![
        Case::lacking("add_inplace/10M", "no operators in place"),
        fallible(
            "add_bcast_last/10M",
            || Ok((randn(BIG)?, randn(BIG.1)?)),
            |(a, b)| a.broadcast_add(b),
        ),
        fallible(
            "add_bcast_first/10M",
            || Ok((randn(BIG)?, randn((BIG.0, 1))?)),
            |(a, b)| a.broadcast_add(b),
        ),
        fallible(
            "add_transposed/10M",
            || Ok((randn(BIG)?, randn((BIG.1, BIG.0))?.t()?)),
            |(a, b)| a + b,
        ),
        fallible(
            "masked_fill/10M",
            || {
                let mask = randn(BIG)?.gt(0_f32)?;
                let zero = Tensor::new(0_f32, &Device::Cpu)?;
                Ok((randn(BIG)?, mask, zero.broadcast_as(BIG)?))
            },
            |(a, mask, zero)| mask.where_cond(zero, a),
        ),
        fallible("div_scalar/10M", || randn(BIG), |a| a / 3.0),
        fallible(
            "add_promote_i64_f32/1M",
            || {
                let ones = Tensor::ones(MILLION, DType::I64, &Device::Cpu)?;
                Ok((ones, randn(MILLION)?))
            },
            |(a, b)| a.to_dtype(DType::F32)? + b,
        ),
        fallible("add_bf16/10M", || two_of(BIG, DType::BF16), |(a, b)| a + b),
        fallible("add_f64/1M", || two_of(MILLION, DType::F64), |(a, b)| a + b),
        Case::lacking("mul_c64/1M", "no complex numbers"),
        fallible("lt/10M", || two(BIG), |(a, b)| a.lt(b)),
        fallible(
            "cast_f32_bf16/10M",
            || randn(BIG),
            |a| a.to_dtype(DType::BF16),
        ),
        fallible("randn/10M", || Ok(()), |()| randn(BIG)),
    ]
}

fn functions() -> Vec<Case> {
    let positive = || randn(BIG)?.abs()? + 0.1;
    vec![
        fallible("tanh/10M", positive, Tensor::tanh),
        fallible("sigmoid/10M", positive, ops::sigmoid),
        fallible("sin/10M", positive, Tensor::sin),
        fallible("log/10M", positive, Tensor::log),
        fallible("erf/10M", positive, Tensor::erf),
        fallible("sqrt/10M", positive, Tensor::sqrt),
        fallible("relu/10M", positive, Tensor::relu),
        fallible("pow2.5/1M", || randn(MILLION)?.abs(), |a| a.powf(2.5)),
    ]
}

fn reduce() -> Vec<Case> {
    vec![
        fallible("sum_all/10M", || randn(BIG), Tensor::sum_all),
        fallible("sum_first/10M", || randn(BIG), |a| a.sum(0)),
        fallible("sum_last/10M", || randn(BIG), |a| a.sum(1)),
        fallible("sum_middle/8M", || randn((200, 200, 200)), |a| a.sum(1)),
        fallible(
            "sum_bf16_last/10M",
            || randn(BIG)?.to_dtype(DType::BF16),
            |a| a.sum(1),
        ),
        // Values and indices are two separate operators.
        fallible(
            "max_last/10M",
            || randn(BIG),
            |a| Ok((a.max(1)?, a.argmax(1)?)),
        ),
        fallible("argmax_first/10M", || randn(BIG), |a| a.argmax(0)),
        fallible("var_last/10M", || randn(BIG), |a| a.var(1)),
        fallible("logsumexp_last/10M", || randn(BIG), |a| a.log_sum_exp(1)),
        fallible("softmax_last/10M", || randn(BIG), ops::softmax_last_dim),
        fallible("softmax_first/10M", || randn(BIG), |a| ops::softmax(a, 0)),
        fallible("cumsum_last/10M", || randn(BIG), |a| a.cumsum(1)),
        fallible("cumsum_first/10M", || randn(BIG), |a| a.cumsum(0)),
        Case::lacking("median_last/1M", "no median"),
        Case::lacking("topk8_last/1M", "no topk"),
    ]
}

fn layout() -> Vec<Case> {
    vec![
        fallible(
            "nchw_to_nhwc/8M",
            || randn((32, 64, 64, 64)),
            |a| a.permute((0, 2, 3, 1))?.contiguous(),
        ),
        fallible("transpose_copy/10M", || randn(BIG), |a| a.t()?.contiguous()),
        fallible(
            "cat_last/10M",
            || two(BIG),
            |(a, b)| Tensor::cat(&[a, b], 1),
        ),
    ]
}

fn product() -> Vec<Case> {
    let square = |n: usize| {
        fallible(
            format!("matmul_f32/{n}"),
            move || two((n, n)),
            |(a, b)| a.matmul(b),
        )
    };
    let mut cases: Vec<Case> = SIDES.into_iter().map(square).collect();
    cases.extend([
        fallible(
            "matmul_f64/1024",
            || two_of((1024, 1024), DType::F64),
            |(a, b)| a.matmul(b),
        ),
        Case::lacking("matmul_c64/512", "no complex numbers"),
        Case::lacking("matmul_bf16/1024", "no product of bf16 on the CPU"),
        fallible(
            "matmul_nt/1024",
            || two((1024, 1024)),
            |(a, b)| a.matmul(&b.t()?),
        ),
        fallible(
            "matmul_skinny/2048x384x1536",
            || Ok((randn((2048, 384))?, randn((384, 1536))?)),
            |(a, b)| a.matmul(b),
        ),
        fallible(
            "bmm/64x128x64x128",
            || Ok((randn((64, 128, 64))?, randn((64, 64, 128))?)),
            |(a, b)| a.matmul(b),
        ),
        fallible(
            "mv/4000x2500",
            || Ok((randn(BIG)?, randn(BIG.1)?)),
            |(a, b)| a.mv(b),
        ),
    ]);
    cases
}
