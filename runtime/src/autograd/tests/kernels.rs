//! Gradients that a kernel computes in one pass, beside those of operators.

use super::*;
use crate::tensor::AttentionOptions;

fn sample(shape: &[usize], seed: usize) -> DynTensor {
    let count: usize = shape.iter().product();
    let data = (0..count).map(|i| ((i * 37 + seed * 101) % 29) as f64 / 10.0 - 1.4);
    DynTensor::from_vec(data.collect(), shape, ()).unwrap()
}

fn require_close(found: &[f64], expected: &[f64], within: f64) {
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() < within,
            "{at}: {found} for {expected}"
        );
    }
}

/// Returns the gradients of queries, keys and values.
fn attention_gradients(
    operands: [&DynTensor; 3],
    mask: Option<&DynTensor>,
    is_causal: bool,
    seed: &DynTensor,
) -> [Vec<f64>; 3] {
    let [q, k, v] = operands.map(|x| x.detach().with_grad().unwrap());
    let options = AttentionOptions {
        is_causal,
        ..AttentionOptions::default()
    };
    let found = q.scaled_dot_product_attention_with(&k, &v, mask, options);
    let loss = found.unwrap().mul(seed).unwrap().sum(..).unwrap();
    loss.backward().unwrap();
    [&q, &k, &v].map(grad)
}

#[test]
fn attention_of_a_large_batch_is_that_of_each_index() {
    // Several blocks of queries, and keys that are not a multiple of a vector.
    let (batch, length, source) = (9, 150, 37);
    let q = sample(&[batch, length, 5], 1);
    let (k, v) = (
        sample(&[batch, source, 5], 2),
        sample(&[batch, source, 3], 3),
    );
    let seed = sample(&[batch, length, 3], 4);
    let added = sample(&[length, source], 5);
    // The first query sees no key.
    let seen = added.gt(0.2).unwrap();
    let rows = sample(&[length, 1], 0).ne(-1.4).unwrap();
    let seen = seen.logical_and(&rows).unwrap();
    let cases = [
        (None, false),
        (None, true),
        (Some(&added), false),
        (Some(&seen), false),
    ];
    for (mask, causal) in cases {
        let found = attention_gradients([&q, &k, &v], mask, causal, &seed);
        let mut expected = [vec![], vec![], vec![]];
        for at in 0..batch {
            let part = |x: &DynTensor| x.narrow(0, at as i64, 1).unwrap();
            let operands = [&part(&q), &part(&k), &part(&v)];
            let each = attention_gradients(operands, mask, causal, &part(&seed));
            for (all, each) in expected.iter_mut().zip(each) {
                all.extend(each);
            }
        }
        for (found, expected) in found.iter().zip(&expected) {
            require_close(found, expected, 1e-12);
        }
    }
}

#[test]
fn attention_sums_over_heads_that_share_a_key() {
    let q = sample(&[8, 20, 4], 1);
    let (k, v) = (sample(&[20, 4], 2), sample(&[1, 20, 4], 3));
    let seed = sample(&[8, 20, 4], 4);
    let shared = attention_gradients([&q, &k, &v], None, false, &seed);
    let own = |x: &DynTensor| x.expand(&[8, 20, 4]).unwrap().contiguous().unwrap();
    let each = attention_gradients([&q, &own(&k), &own(&v)], None, false, &seed);
    require_close(&shared[0], &each[0], 1e-12);
    for (shared, each) in shared.iter().zip(&each).skip(1) {
        let sums: Vec<f64> = (0..80)
            .map(|i| each.iter().skip(i).step_by(80).sum())
            .collect();
        require_close(shared, &sums, 1e-12);
    }
}

#[test]
fn a_transposed_weight_gets_a_contiguous_gradient() {
    let (x, w) = (sample(&[6, 4], 1), sample(&[3, 4], 2).with_grad().unwrap());
    let y = x.matmul(&w.transpose(0, 1).unwrap()).unwrap();
    y.sum(..).unwrap().backward().unwrap();
    let found = w.grad().unwrap();
    assert!(found.is_contiguous());
    let sums: Vec<f64> = x.sum(0).unwrap().to_vec().unwrap();
    require_close(&grad(&w), &sums.repeat(3), 1e-12);
}

#[test]
fn merged_and_split_dims_go_back_without_a_pass() {
    let x = sample(&[2, 3, 4], 1).with_grad().unwrap();
    let y = x.transpose(0, 1).unwrap().transpose(0, 1).unwrap();
    let y = y.reshape(&[6, 4]).unwrap().reshape(&[6, 2, 2]).unwrap();
    let seed = sample(&[6, 2, 2], 3);
    y.mul(&seed).unwrap().sum(..).unwrap().backward().unwrap();
    assert_eq!(grad(&x), seed.to_vec::<f64>().unwrap());
    // The gradient's elements are in another order.
    x.zero_grad();
    let y = x.permute([2, 0, 1]).unwrap();
    y.mul(&sample(&[4, 2, 3], 3))
        .unwrap()
        .sum(..)
        .unwrap()
        .backward()
        .unwrap();
    let expected = sample(&[4, 2, 3], 3).permute([1, 2, 0]).unwrap();
    assert_eq!(grad(&x), expected.to_vec::<f64>().unwrap());
}
