//! Matrix products.

use nomina::prelude::*;

use crate::harness::{Case, case};
use crate::{B, BIG, C, K, N, randn, samples};

pub fn cases() -> Vec<Case> {
    let square = |n: usize| {
        case(
            format!("matmul_f32/{n}"),
            move || two::<f32>([n, n], [n, n]),
            |(a, b)| a.matmul(b),
        )
    };
    let mut cases: Vec<Case> = [4, 64, 256, 1024, 2048].into_iter().map(square).collect();
    cases.extend([
        case(
            "matmul_f64/1024",
            || two::<f64>([1024, 1024], [1024, 1024]),
            |(a, b)| a.matmul(b),
        ),
        case(
            "matmul_c64/512",
            || two::<Complex<f32>>([512, 512], [512, 512]),
            |(a, b)| a.matmul(b),
        ),
        case(
            "matmul_bf16/1024",
            || two::<bf16>([1024, 1024], [1024, 1024]),
            |(a, b)| a.matmul(b),
        ),
        case(
            "matmul_nt/1024",
            || {
                let b: Tensor<(K, C)> = samples([1024, 1024]);
                (randn([1024, 1024]), b)
            },
            |(a, b)| a.matmul(&b.t()),
        ),
        case(
            "matmul_skinny/2048x384x1536",
            || two::<f32>([2048, 384], [384, 1536]),
            |(a, b)| a.matmul(b),
        ),
        case(
            "linear_relu/2048x384x1536",
            || layer([2048, 384, 1536]),
            |(x, w, b)| {
                x.linear_with(
                    w,
                    b,
                    LinearOptions {
                        activation: Some(Activation::Relu),
                    },
                )
            },
        ),
        case(
            "linear_gelu/2048x384x1536",
            || layer([2048, 384, 1536]),
            |(x, w, b)| {
                x.linear_with(
                    w,
                    b,
                    LinearOptions {
                        activation: Some(Activation::Gelu),
                    },
                )
            },
        ),
        case(
            "bmm/64x128x64x128",
            || {
                let a: Tensor<(B, N, C)> = samples([64, 128, 64]);
                let b: Tensor<(B, C, K)> = samples([64, 64, 128]);
                (a, b)
            },
            |(a, b)| a.matmul(b),
        ),
        case(
            "mv/4000x2500",
            || (randn(BIG), samples::<(C,), f32>([BIG[1]])),
            |(a, b)| a.matmul(b),
        ),
    ]);
    cases
}

/// Returns the factors of a product.
pub fn two<T: Inexact>(a: [usize; 2], b: [usize; 2]) -> (Tensor<(N, C), T>, Tensor<(C, K), T>) {
    (samples::<(N, C), T>(a), samples::<(C, K), T>(b))
}

/// The operands of a linear layer: rows of features, weights and a bias.
type Layer = (Tensor<(N, C)>, Tensor<(K, C)>, Tensor<(K,)>);

/// Returns a layer for `m` rows with `k` input and `n` output features.
fn layer([m, k, n]: [usize; 3]) -> Layer {
    (samples([m, k]), samples([n, k]), samples([n]))
}
