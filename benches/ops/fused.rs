//! Chains in one pass, each compared with the same chain of separate operators in PyTorch.

use nomina::prelude::*;

use crate::harness::{Case, case};
use crate::{BIG, C, MILLION, N, randn, samples};

pub fn cases() -> Vec<Case> {
    let sizes = [
        ("16", [4, 4]),
        ("10k", [100, 100]),
        ("1M", MILLION),
        ("10M", BIG),
    ];
    let mut cases: Vec<Case> = sizes
        .into_iter()
        .map(|(n, size)| {
            case(
                format!("fused/chain/{n}"),
                move || (randn(size), randn(size), row(size)),
                |(a, b, c)| {
                    let (a, b, c) = (&*a, &*b, &*c);
                    fuse!(|a, b, c| (a * b + c).exp() * a)
                },
            )
        })
        .collect();
    cases.extend(reduced());
    cases.extend(usual());
    cases
}

fn row(size: [usize; 2]) -> Tensor<(C,)> {
    samples([size[1]])
}

/// Chains that end in a sum, over each of the dims.
fn reduced() -> Vec<Case> {
    let operands = || (randn(BIG), randn(BIG), row(BIG));
    vec![
        case("fused/chain_sum_last/10M", operands, |(a, b, c)| {
            let (a, b, c) = (&*a, &*b, &*c);
            fuse!(|a, b, c| (a * b + c).tanh().sum(C))
        }),
        case("fused/chain_sum_first/10M", operands, |(a, b, c)| {
            let (a, b, c) = (&*a, &*b, &*c);
            fuse!(|a, b, c| (a * b + c).tanh().sum(N))
        }),
        case("fused/chain_sum_all/10M", operands, |(a, b, c)| {
            let (a, b, c) = (&*a, &*b, &*c);
            fuse!(|a, b, c| (a * b + c).tanh().sum(..))
        }),
    ]
}

/// Common chains of models.
fn usual() -> Vec<Case> {
    vec![
        case(
            "fused/softmax_steps/10M",
            || randn(BIG),
            |x| {
                let x = &*x;
                let top = x.amax(keep(C));
                let total = fuse!(|x, top| (x - top).exp().sum(keep(C)));
                fuse!(|x, top, total| (x - top).exp() / total)
            },
        ),
        case(
            "fused/bias_gelu/10M",
            || (randn(BIG), row(BIG)),
            |(x, b)| {
                let (x, b) = (&*x, &*b);
                fuse!(|x, b| (x + b).gelu())
            },
        ),
        case(
            "fused/mean_squared/10M",
            || (randn(BIG), randn(BIG)),
            |(x, y)| {
                let (x, y) = (&*x, &*y);
                fuse!(|x, y| (x - y).square().mean(..))
            },
        ),
    ]
}
