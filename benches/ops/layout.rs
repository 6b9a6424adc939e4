//! Copies into another memory order, and concatenation.

use nomina::prelude::*;

use crate::harness::{Case, case};
use crate::{BIG, C, H, N, W, randn, samples};

pub fn cases() -> Vec<Case> {
    vec![
        case(
            "nchw_to_nhwc/8M",
            || samples::<(N, C, H, W), f32>([32, 64, 64, 64]),
            |a| a.align_to((N, H, W, C)).contiguous(),
        ),
        case("transpose_copy/10M", || randn(BIG), |a| a.t().contiguous()),
        case(
            "cat_last/10M",
            || (randn(BIG), randn(BIG)),
            |(a, b)| cat(&[&*a, &*b], C),
        ),
    ]
}
