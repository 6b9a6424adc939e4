//! Operators along dims: reductions, softmax, scans, sorting.

use nomina::prelude::*;

use crate::harness::{Case, case};
use crate::{BIG, C, H, MILLION, N, SHORT, W, randn, samples};

pub fn cases() -> Vec<Case> {
    vec![
        case("sum_all/10M", || randn(BIG), |a| a.sum(..)),
        case("sum_first/10M", || randn(BIG), |a| a.sum(N)),
        case("sum_last/10M", || randn(BIG), |a| a.sum(C)),
        case(
            "sum_middle/8M",
            || samples::<(N, C, H), f32>([200, 200, 200]),
            |a| a.sum(C),
        ),
        case(
            "sum_bf16_last/10M",
            || samples::<(N, C), bf16>(BIG),
            |a| a.sum(C),
        ),
        case("sum_short/8M", || randn(SHORT), |a| a.sum(C)),
        case(
            "sum_short_middle/8M",
            || samples::<(N, H, W), f32>([1_000_000, 4, 2]),
            |a| a.sum(H),
        ),
        case("max_short/8M", || randn(SHORT), |a| a.max(C)),
        case("var_short/8M", || randn(SHORT), |a| a.var(C)),
        case("softmax_short/8M", || randn(SHORT), |a| a.softmax(C)),
        case("cumsum_short/8M", || randn(SHORT), |a| a.cumsum(C)),
        case("max_last/10M", || randn(BIG), |a| a.max(C)),
        case("argmax_first/10M", || randn(BIG), |a| a.argmax(N)),
        case("var_last/10M", || randn(BIG), |a| a.var(C)),
        case("logsumexp_last/10M", || randn(BIG), |a| a.logsumexp(C)),
        case("softmax_last/10M", || randn(BIG), |a| a.softmax(C)),
        case("softmax_first/10M", || randn(BIG), |a| a.softmax(N)),
        case("cumsum_last/10M", || randn(BIG), |a| a.cumsum(C)),
        case("cumsum_first/10M", || randn(BIG), |a| a.cumsum(N)),
        case("median_last/1M", || randn(MILLION), |a| a.median(C)),
        case("topk8_last/1M", || randn(MILLION), |a| a.topk(8, C)),
    ]
}
