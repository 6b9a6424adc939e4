//! Typical work for a GPU, of sizes that would take too long on the host; measured only with
//! `--device`.

use nomina::prelude::*;

use crate::harness::{Case, case};
use crate::product::two;
use crate::window::{attention, convolution};
use crate::{C, K, N, device, samples};

pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("add/256M", || (flat(28), flat(28)), |(a, b)| &*a + &*b),
        case("exp/256M", || flat(28), |a| a.exp()),
        case("sum_all/256M", || flat(28), |a| a.sum(..)),
        case(
            "transpose_copy/256M",
            || samples::<(N, C), f32>([16384, 16384]),
            |a| a.t().contiguous(),
        ),
        case(
            "softmax_bf16/8192x4096",
            || samples::<(N, C), bf16>([8192, 4096]),
            |a| a.softmax(C),
        ),
        case(
            "layer_norm/8192x4096",
            || samples::<(N, C), f32>([8192, 4096]),
            |a| a.layer_norm(C),
        ),
        case(
            "layer_norm_bf16/8192x4096",
            || samples::<(N, C), bf16>([8192, 4096]),
            |a| a.layer_norm(C),
        ),
        case(
            "cross_entropy/4096x32000",
            || (samples::<(N, C), f32>([4096, 32000]), below(4096, 32000)),
            |(scores, class)| scores.cross_entropy(class, C),
        ),
        case(
            "embedding/64k_of_50000x768",
            || (samples::<(K, C), f32>([50_000, 768]), below(65_536, 50_000)),
            |(rows, at)| rows.embedding(K, at),
        ),
        case("sort_all/16M", || flat(24), |a| a.sort(N)),
        case(
            "sort_last/10M",
            || samples::<(N, C), f32>([4000, 2500]),
            |a| a.sort(C),
        ),
    ];
    cases.extend([1024, 4096, 8192].map(product::<f16>));
    cases.extend([4096, 8192].map(product::<bf16>));
    cases.extend([4096].map(product::<f32>));
    // Layers of ResNet-50 for 32 pictures.
    cases.extend(
        [
            [32, 64, 56, 64, 3, 1],
            [32, 128, 28, 128, 3, 1],
            [32, 256, 14, 256, 3, 1],
            [32, 256, 56, 64, 1, 1],
        ]
        .map(convolution::<f16>),
    );
    cases.extend([
        attention::<bf16>([8, 16, 2048, 64], false),
        attention::<bf16>([8, 16, 2048, 64], true),
        attention::<bf16>([4, 16, 4096, 128], false),
        attention::<bf16>([4, 16, 4096, 128], true),
    ]);
    cases
}

/// Returns a vector of `2^power` elements.
fn flat(power: u32) -> Tensor<(N,)> {
    samples([1 << power])
}

/// Returns `count` random indices below `end`.
fn below(count: usize, end: i64) -> Tensor<(N,), i64> {
    let options = Tensor::<(N,)>::options().dtype::<i64>().device(device());
    options.randint(0..end, [count])
}

fn product<T: Inexact>(n: usize) -> Case {
    case(
        format!("matmul_{}/{n}", T::DTYPE),
        move || two::<T>([n, n], [n, n]),
        |(a, b)| a.matmul(b),
    )
}
