use nomina_core::DType;

use super::*;
use crate::Device;
use crate::call::{Arg, matmul, pointwise, reduce, to_dtype};

fn sample(shape: &[usize], seed: usize) -> Raw {
    let count: usize = shape.iter().product();
    let data = (0..count).map(|i| ((i * 37 + seed * 101) % 29) as f64 / 10.0 - 1.4);
    Raw::from_vec(data.collect(), shape).unwrap()
}

fn each(op: Op, a: &Raw, b: &Raw) -> Raw {
    pointwise(op, &[Arg::Tensor(a), Arg::Tensor(b)]).unwrap()
}

/// With all scores in memory; `mask` is added to them.
fn whole(q: &Raw, k: &Raw, v: &Raw, mask: Option<&Raw>, scale: f64) -> Raw {
    let turned = k.transpose(k.rank() - 2, k.rank() - 1).unwrap();
    let mut scores = matmul(q, &turned).unwrap();
    let scale = Raw::from_vec(vec![scale], &[]).unwrap();
    scores = each(Op::Mul, &scores, &scale);
    if let Some(mask) = mask {
        scores = each(Op::Add, &scores, mask);
    }
    let last = scores.rank() - 1;
    let powers = pointwise(Op::Exp, &[Arg::Tensor(&scores)]).unwrap();
    let sums = reduce(Op::Sum, &powers, &[last], true, Default::default()).unwrap();
    matmul(&each(Op::Div, &powers, &sums), v).unwrap()
}

fn close(got: &Raw, want: &Raw, within: f64) {
    assert_eq!(got.shape(), want.shape());
    let got = to_dtype(got, DType::F64).unwrap();
    let pairs = got.to_vec::<f64>().unwrap();
    for (got, want) in pairs.iter().zip(want.to_vec::<f64>().unwrap()) {
        assert!((got - want).abs() < within, "{got} for {want}");
    }
}

#[test]
fn blocks_give_what_the_whole_gives() {
    let (length, source) = (150, 70);
    let q = sample(&[2, 3, length, 8], 1);
    let k = sample(&[3, source, 8], 2);
    let v = sample(&[2, 1, source, 5], 3);
    let want = whole(&q, &k, &v, None, 8_f64.sqrt().recip());
    for (dtype, within) in [
        (DType::F64, 1e-12),
        (DType::F32, 1e-5),
        (DType::F16, 2e-2),
        (DType::BF16, 1e-1),
    ] {
        let cast = |x: &Raw| to_dtype(x, dtype).unwrap();
        let got = attention(&cast(&q), &cast(&k), &cast(&v), None, Scores::default()).unwrap();
        assert_eq!(got.dtype(), dtype);
        close(&got, &want, within);
    }
}

#[test]
fn causal_is_a_mask_of_the_lower_triangle() {
    for (length, source) in [(150, 70), (40, 200), (1, 3)] {
        let q = sample(&[length, 4], 1);
        let (k, v) = (sample(&[source, 4], 2), sample(&[source, 3], 3));
        let cell = |at: usize| at % source <= at / source;
        let truth: Vec<bool> = (0..length * source).map(cell).collect();
        let added = truth
            .iter()
            .map(|&seen| if seen { 0.0 } else { f64::NEG_INFINITY });
        let added = Raw::from_vec(added.collect(), &[length, source]).unwrap();
        let truth = Raw::from_vec(truth, &[length, source]).unwrap();
        let want = whole(&q, &k, &v, Some(&added), 0.5);
        let scores = Scores {
            scale: Some(0.5),
            ..Scores::default()
        };
        let causal = Scores {
            causal: true,
            ..scores
        };
        close(&attention(&q, &k, &v, None, causal).unwrap(), &want, 1e-12);
        close(
            &attention(&q, &k, &v, Some(&truth), scores).unwrap(),
            &want,
            1e-12,
        );
        close(
            &attention(&q, &k, &v, Some(&added), scores).unwrap(),
            &want,
            1e-12,
        );
    }
}

#[test]
fn who_sees_nothing_gets_zero_and_nan_stays() {
    let (q, k, v) = (sample(&[2, 4], 1), sample(&[3, 4], 2), sample(&[3, 2], 3));
    let mask = vec![false, false, false, true, false, false];
    let mask = Raw::from_vec(mask, &[2, 3]).unwrap();
    let got = attention(&q, &k, &v, Some(&mask), Scores::default()).unwrap();
    let first = v.to_vec::<f64>().unwrap();
    let want = Raw::from_vec(vec![0.0, 0.0, first[0], first[1]], &[2, 2]).unwrap();
    close(&got, &want, 1e-12);
    let mut data = q.to_vec::<f64>().unwrap();
    data[0] = f64::NAN;
    let q = Raw::from_vec(data, &[2, 4]).unwrap();
    let got = attention(&q, &k, &v, None, Scores::default()).unwrap();
    let got = got.to_vec::<f64>().unwrap();
    assert!(got[0].is_nan() && got[1].is_nan() && got[2].is_finite());
}

#[test]
fn heads_in_groups() {
    let q = sample(&[2, 6, 9, 4], 1);
    let (k, v) = (sample(&[2, 2, 7, 4], 2), sample(&[2, 2, 7, 3], 3));
    let repeat = |x: &Raw| {
        let mut shape = x.shape().to_vec();
        shape.insert(2, 3);
        let spread = x.unsqueeze(2).unwrap().expand(&shape).unwrap();
        spread.reshape(&[2, 6, 7, shape[4]]).unwrap()
    };
    let want = whole(&q, &repeat(&k), &repeat(&v), None, 0.5);
    let grouped = Scores {
        grouped: true,
        ..Scores::default()
    };
    close(&attention(&q, &k, &v, None, grouped).unwrap(), &want, 1e-12);
    let error = attention(&q, &sample(&[2, 4, 7, 4], 2), &v, None, grouped).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
}

#[test]
fn what_does_not_fit() {
    let (q, k, v) = (sample(&[2, 4], 1), sample(&[3, 4], 2), sample(&[3, 2], 3));
    let kind = |q: &Raw, k: &Raw, v: &Raw, mask: Option<&Raw>, causal: bool| {
        let scores = Scores {
            causal,
            ..Scores::default()
        };
        attention(q, k, v, mask, scores).unwrap_err().kind()
    };
    let vector = sample(&[4], 1);
    assert_eq!(kind(&vector, &k, &v, None, false), ErrorKind::Rank);
    assert_eq!(kind(&q, &v, &v, None, false), ErrorKind::Shape);
    assert_eq!(kind(&q, &k, &q, None, false), ErrorKind::Shape);
    let half = to_dtype(&k, DType::F32).unwrap();
    assert_eq!(kind(&q, &half, &v, None, false), ErrorKind::DType);
    let mask = sample(&[2, 3], 1);
    assert_eq!(kind(&q, &k, &v, Some(&mask), true), ErrorKind::Argument);
    assert_eq!(kind(&q, &k, &v, Some(&k), false), ErrorKind::Shape);
    let numbers = to_dtype(&mask, DType::I32).unwrap();
    assert_eq!(kind(&q, &k, &v, Some(&numbers), false), ErrorKind::DType);
}

#[test]
fn gradients_by_blocks_are_those_of_all_scores() {
    let leaf = |shape: &[usize], seed: usize| {
        let mut raw = sample(shape, seed);
        raw.requires_grad_().unwrap();
        raw
    };
    let mask = sample(&[1, 40, 40], 4);
    for (mask, causal) in [(None, false), (None, true), (Some(&mask), false)] {
        let (query, key) = (leaf(&[2, 40, 3], 1), leaf(&[2, 40, 3], 2));
        // Shared by all of the batch.
        let value = leaf(&[40, 5], 3);
        let scores = Scores {
            causal,
            ..Scores::default()
        };
        let back = |create_graph: bool| {
            let out = attention(&query, &key, &value, mask, scores).unwrap();
            let options = crate::autograd::BackwardOptions {
                create_graph,
                ..Default::default()
            };
            let seed = sample(out.shape(), 5);
            crate::autograd::gradients(&out, seed, &[&query, &key, &value], options).unwrap()
        };
        for (blocks, whole) in back(false).into_iter().zip(back(true)) {
            close(&blocks.unwrap(), &whole.unwrap().detach(), 1e-12);
        }
    }
}

#[test]
fn a_result_without_elements_gives_zeros_however_many_queries_there_are() {
    let leaf = |shape: &[usize]| {
        let mut raw = Raw::zeros("zeros", shape, DType::F32, Device::Cpu).unwrap();
        raw.requires_grad_().unwrap();
        raw
    };
    for shapes in [
        [&[1 << 50, 0][..], &[3, 0], &[3, 0]],
        [&[2, 4], &[3, 4], &[3, 0]],
        [&[0, 4], &[3, 4], &[3, 5]],
        [&[2, 4], &[0, 4], &[0, 5]],
    ] {
        let [query, key, value] = shapes.map(leaf);
        let out = attention(&query, &key, &value, None, Scores::default()).unwrap();
        let seed = out.clone().detach();
        let operands = [&query, &key, &value];
        let found = crate::autograd::gradients(&out, seed, &operands, Default::default()).unwrap();
        for (grad, shape) in found.into_iter().zip(shapes) {
            let grad = grad.unwrap();
            assert_eq!(grad.shape(), shape);
            assert!(grad.iter::<f32>().unwrap().all(|grad| grad == 0.0));
        }
    }
}
