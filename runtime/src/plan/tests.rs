use proptest::prelude::*;

use super::*;
use crate::shape::row_major;

fn plan(shape: &[usize], strides: &[&[isize]]) -> Plan {
    let operands: Vec<_> = strides.iter().map(|&strides| (strides, 4)).collect();
    Plan::new(shape, &operands)
}

#[test]
fn contiguous_operands_are_one_dim() {
    let strides = row_major(&[2, 3, 4]);
    let plan = plan(&[2, 3, 4], &[&strides, &strides]);
    assert_eq!(
        plan.dims(),
        [Dim {
            size: 24,
            steps: [4, 4, 0, 0, 0]
        }]
    );
    assert!(plan.is_linear(0, 4) && plan.is_linear(1, 4) && plan.is_constant(2));
}

#[test]
fn equal_transpositions_are_one_dim_too() {
    let plan = plan(&[3, 2], &[&[1, 3], &[1, 3]]);
    assert_eq!(plan.dims().len(), 1);
}

#[test]
fn a_broadcast_bias_stays_inner_contiguous() {
    let plan = plan(&[5, 7], &[&[7, 1], &[7, 1], &[0, 1]]);
    assert_eq!(plan.dims().len(), 2);
    assert_eq!(
        plan.inner(),
        Dim {
            size: 7,
            steps: [4, 4, 4, 0, 0]
        }
    );
    assert!(plan.is_linear(0, 4) && !plan.is_linear(2, 4) && !plan.is_constant(2));
}

#[test]
fn nothing_and_one() {
    assert_eq!(plan(&[3, 0], &[&[1, 1]]).numel(), 0);
    let one = plan(&[1, 1], &[&[9, 3]]);
    assert_eq!(
        (one.numel(), one.inner().size, one.is_linear(0, 4)),
        (1, 1, true)
    );
    assert_eq!(plan(&[], &[&[]]).numel(), 1);
}

#[test]
fn results_keep_the_first_inputs_order() {
    // Channels last in, channels last out.
    assert_eq!(
        result_strides(&[2, 3, 4, 5], &[&[60, 1, 15, 3]]).as_slice(),
        [60, 1, 15, 3]
    );
    // A transposed view with gaps gives a dense transposition.
    assert_eq!(result_strides(&[3, 2], &[&[2, 20]]).as_slice(), [1, 3]);
    // Where the first input leaves the order open, the second decides.
    assert_eq!(
        result_strides(&[3, 2], &[&[0, 1], &[1, 3]]).as_slice(),
        [1, 3]
    );
    assert_eq!(result_strides(&[3, 2], &[&[0, 0]]).as_slice(), [2, 1]);
}

/// Sizes, and strides of two operands: any order, gaps, signs and zeros.
fn operands() -> impl Strategy<Value = (Vec<usize>, Vec<isize>, Vec<isize>)> {
    (0_usize..5).prop_flat_map(|rank| {
        let strides = || prop::collection::vec(-6_isize..7, rank);
        (
            prop::collection::vec(0_usize..4, rank),
            strides(),
            strides(),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 256 }))]

    /// The plan reaches the same pairs of positions as an iteration over all indices.
    #[test]
    fn walks_reach_every_index_once(
        (shape, a, b) in operands(),
        start in 0_usize..40,
        limit in 1_usize..6,
    ) {
        let plan = plan(&shape, &[&a, &b]);
        let numel: usize = shape.iter().product();
        prop_assert_eq!(plan.numel(), numel);
        let mut expected = Vec::new();
        for i in 0..numel {
            let (mut left, mut at) = (i, [0_isize; 2]);
            for dim in (0..shape.len()).rev() {
                let index = (left % shape[dim]) as isize;
                left /= shape[dim];
                at[0] += 4 * index * a[dim];
                at[1] += 4 * index * b[dim];
            }
            expected.push(at);
        }
        let mut seen = Vec::new();
        let inner = plan.inner().steps;
        // Two walks that meet at `start` cover everything, as with two threads.
        let start = start.min(numel);
        for (from, to) in [(0, start), (start, numel)] {
            let (mut walk, mut at) = (plan.walk(from), from);
            while at < to {
                let (count, offsets) = walk.take(limit.min(to - at));
                prop_assert!(count > 0);
                for i in 0..count as isize {
                    seen.push([offsets[0] + i * inner[0], offsets[1] + i * inner[1]]);
                }
                at += count;
            }
        }
        expected.sort_unstable();
        seen.sort_unstable();
        prop_assert_eq!(seen, expected);
    }
}
