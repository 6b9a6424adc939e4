//! Elementwise operators, with and without broadcasting, and alternatives to filled tensors.

use nomina::prelude::*;

use crate::harness::{Case, case};
use crate::{BIG, C, MILLION, N, device, randn, samples};

pub fn cases() -> Vec<Case> {
    let mut cases = sizes();
    cases.extend(operands());
    cases.extend(dtypes());
    cases.extend(functions());
    cases.extend(in_the_cache());
    cases
}

/// Two operators and a chain, for sizes from a few elements to many millions.
fn sizes() -> Vec<Case> {
    let sizes = [
        ("16", [4, 4]),
        ("10k", [100, 100]),
        ("1M", MILLION),
        ("10M", BIG),
    ];
    let of_size = |(n, size): (&str, [usize; 2])| {
        [
            case(
                format!("add/{n}"),
                move || (randn(size), randn(size)),
                |(a, b)| &*a + &*b,
            ),
            case(format!("exp/{n}"), move || randn(size), |a| a.exp()),
            case(
                format!("chain/{n}"),
                move || {
                    let c: Tensor<(C,)> = samples([size[1]]);
                    (randn(size), randn(size), c)
                },
                |(a, b, c)| (&*a * &*b + &*c).exp() * &*a,
            ),
        ]
    };
    sizes.into_iter().flat_map(of_size).collect()
}

/// Layouts and broadcasts of operands.
fn operands() -> Vec<Case> {
    vec![
        case(
            "add_inplace/10M",
            || (randn(BIG), randn(BIG)),
            |(a, b)| {
                a.add_(&*b);
            },
        ),
        case(
            "add_bcast_last/10M",
            || (randn(BIG), samples::<(C,), f32>([BIG[1]])),
            |(a, b)| &*a + &*b,
        ),
        case(
            "add_bcast_first/10M",
            || (randn(BIG), randn([BIG[0], 1])),
            |(a, b)| &*a + &*b,
        ),
        case(
            "add_transposed/10M",
            || {
                let b: Tensor<(C, N)> = samples([BIG[1], BIG[0]]);
                (randn(BIG), b.t())
            },
            |(a, b)| &*a + &*b,
        ),
        case(
            "masked_fill/10M",
            || (randn(BIG), randn(BIG).gt(0)),
            |(a, mask)| a.masked_fill(mask, 0.0),
        ),
        case("div_scalar/10M", || randn(BIG), |a| &*a / 3.0),
    ]
}

/// Dtypes other than f32.
fn dtypes() -> Vec<Case> {
    fn two<T: Inexact>(sizes: [usize; 2]) -> (Tensor<(N, C), T>, Tensor<(N, C), T>) {
        let one = || samples::<(N, C), T>(sizes);
        (one(), one())
    }
    vec![
        case(
            "add_promote_i64_f32/1M",
            || {
                let ones = Tensor::<(N, C)>::options().dtype::<i64>().device(device());
                (ones.ones(MILLION), randn(MILLION))
            },
            |(a, b)| &*a + &*b,
        ),
        case("add_bf16/10M", || two::<bf16>(BIG), |(a, b)| &*a + &*b),
        case("add_f64/1M", || two::<f64>(MILLION), |(a, b)| &*a + &*b),
        case(
            "mul_c64/1M",
            || two::<Complex<f32>>(MILLION),
            |(a, b)| &*a * &*b,
        ),
        case("lt/10M", || two::<f32>(BIG), |(a, b)| a.lt(&*b)),
        case("cast_f32_bf16/10M", || randn(BIG), |a| a.to::<bf16>()),
        case("randn/10M", || (), |()| randn(BIG)),
    ]
}

/// Functions of one operand, which is positive for the logarithm.
fn functions() -> Vec<Case> {
    let positive = || randn(BIG).abs() + 0.1;
    vec![
        case("tanh/10M", positive, |a| a.tanh()),
        case("sigmoid/10M", positive, |a| a.sigmoid()),
        case("sin/10M", positive, |a| a.sin()),
        case("log/10M", positive, |a| a.log()),
        case("erf/10M", positive, |a| a.erf()),
        case("sqrt/10M", positive, |a| a.sqrt()),
        case("relu/10M", positive, |a| a.relu()),
        case("pow2.5/1M", || randn(MILLION).abs(), |a| a.pow(2.5)),
        case(
            "sin_f64/1M",
            || samples::<(N, C), f64>(MILLION),
            |a| a.sin(),
        ),
        case(
            "erf_f64/1M",
            || samples::<(N, C), f64>(MILLION),
            |a| a.erf(),
        ),
        case(
            "pow_f64/1M",
            || {
                let one = || samples::<(N, C), f64>(MILLION);
                (one().abs(), one())
            },
            |(a, b)| a.pow(&*b),
        ),
    ]
}

/// More expensive functions, of operands that stay in the cache.
fn in_the_cache() -> Vec<Case> {
    const SMALL: [usize; 2] = [100, 100];
    let wide = || samples::<(N, C), f64>(SMALL);
    vec![
        case("gelu/10k", || randn(SMALL), |a| a.gelu()),
        case("silu/10k", || randn(SMALL), |a| a.silu()),
        case("erfc/10k", || randn(SMALL), |a| a.erfc()),
        case("lgamma/10k", || randn(SMALL), |a| a.lgamma()),
        case("digamma/10k", || randn(SMALL), |a| a.digamma()),
        case("i1e/10k", || randn(SMALL), |a| a.i1e()),
        case("gelu_f64/10k", wide, |a| a.gelu()),
        case("lgamma_f64/10k", wide, |a| a.lgamma()),
        case("i1e_f64/10k", wide, |a| a.i1e()),
        case("erfinv_f64/10k", move || wide().tanh(), |a| a.erfinv()),
        case(
            "sqrt_c64/10k",
            || samples::<(N, C), Complex<f32>>(SMALL),
            |a| a.sqrt(),
        ),
    ]
}
