use super::*;
use crate::DynTensor;

fn leaf(data: &[f64], shape: &[usize], names: &[&str]) -> DynTensor {
    let names: Vec<Option<&str>> = names.iter().map(|name| Some(*name)).collect();
    let x = DynTensor::from_vec(data.to_vec(), shape, &names[..]).unwrap();
    x.with_grad().unwrap()
}

fn grad(x: &DynTensor) -> Vec<f64> {
    x.grad().unwrap().to_vec().unwrap()
}

#[test]
fn a_chain_of_elementwise_operators() {
    let x = leaf(&[0.5, -1.0], &[2], &["N"]);
    let b = leaf(&[0.25], &[], &[]);
    let y = x.add(&b).unwrap().tanh().unwrap().exp().unwrap();
    y.sum(..).unwrap().backward().unwrap();
    let slope = |x: f64| {
        let t = (x + 0.25).tanh();
        t.exp() * (1.0 - t * t)
    };
    let expected = [slope(0.5), slope(-1.0)];
    for (found, expected) in grad(&x).iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12);
    }
    assert!((grad(&b)[0] - expected[0] - expected[1]).abs() < 1e-12);
    let again = y.sum(..).unwrap().backward().unwrap_err();
    assert!(again.to_string().contains("used up the graph"), "{again}");
}

#[test]
fn products_views_and_repeated_dims() {
    let x = leaf(&[1., 2., 3., 4., 5., 6.], &[2, 3], &["N", "C"]);
    let w = leaf(&[1., -1., 0.5, 2., 0., 1.], &[3, 2], &["C", "K"]);
    let y = x.matmul(&w).unwrap();
    let seed = DynTensor::from_vec(vec![1., 2., 3., 4.], &[2, 2], ["N", "K"]).unwrap();
    y.backward_with(&seed, BackwardOptions::default()).unwrap();
    assert_eq!(grad(&x), [-1., 4.5, 2., -1., 9.5, 4.]);
    assert_eq!(grad(&w), [13., 18., 17., 24., 21., 30.]);

    let x = leaf(&[1., 2., 3., 4., 5., 6.], &[2, 3], &["N", "C"]);
    let part = x.transpose("N", "C").unwrap().narrow("C", 1, 2).unwrap();
    let twice = part.mul(&part).unwrap().sum("N").unwrap();
    twice.mean(..).unwrap().backward().unwrap();
    assert_eq!(grad(&x), [0., 2., 3., 0., 5., 6.]);
    assert_eq!(x.grad().unwrap().names(), x.names());
}

#[test]
fn parts_are_added_to_what_came_before() {
    let numbers: Vec<f64> = (0..12).map(f64::from).collect();
    let (x, b) = (
        leaf(&numbers, &[3, 4], &["N", "C"]),
        leaf(&numbers, &[3, 4], &["N", "C"]),
    );
    let (row, column) = (x.select("N", 1).unwrap(), x.select("C", -1).unwrap());
    let range = x.narrow("C", 1, 2).unwrap();
    // Views that overlap themselves or repeat an element.
    let windows = x.unfold("C", 3, 1, "W").unwrap();
    let twice = column.unsqueeze(0, "K").unwrap().expand(&[2, 3]).unwrap();
    // Later than the views: both get one gradient, which lies in no order of its own, and only one of them is added to.
    let sum = x
        .add(&b)
        .unwrap()
        .transpose("N", "C")
        .unwrap()
        .mul(3.0)
        .unwrap();
    let parts = [row, column, range, windows, twice];
    let total = parts.iter().fold(sum.sum(..).unwrap(), |total, part| {
        total
            .add(&part.mul(part).unwrap().sum(..).unwrap())
            .unwrap()
    });
    total.backward().unwrap();
    let expected = |at: usize| {
        let (n, c) = (at / 4, at % 4);
        let rows = f64::from(u8::from(n == 1));
        let columns = 3.0 * f64::from(u8::from(c == 3));
        let ranges = f64::from(u8::from((1..3).contains(&c)));
        let windows = [1.0, 2.0, 2.0, 1.0][c];
        3.0 + 2.0 * numbers[at] * (rows + columns + ranges + windows)
    };
    assert_eq!(grad(&x), (0..12).map(expected).collect::<Vec<f64>>());
    assert_eq!(grad(&b), [3.0; 12]);
}

#[test]
fn gradients_have_gradients() {
    let x = leaf(&[2.0], &[], &[]);
    let y = x.mul(&x).unwrap().mul(&x).unwrap();
    let one = || crate::call::full(&[], 1.0.into(), y.dtype(), y.device()).unwrap();
    let options = BackwardOptions {
        create_graph: true,
        ..BackwardOptions::default()
    };
    let first = gradients(y.raw(), one(), &[x.raw()], options).unwrap();
    let first = first[0].clone().unwrap();
    assert_eq!(first.to_vec::<f64>().unwrap(), [12.0]);
    let second = gradients(&first, one(), &[x.raw()], BackwardOptions::default()).unwrap();
    assert_eq!(second[0].as_ref().unwrap().to_vec::<f64>().unwrap(), [12.0]);
    assert!(x.grad().is_none());
}

#[test]
fn a_deep_graph_needs_no_stack() {
    let run = || {
        let x = leaf(&[1.0], &[], &[]);
        let mut y = x.clone();
        for _ in 0..200_000 {
            y = y.add(&x).unwrap();
        }
        y.backward().unwrap();
        assert_eq!(grad(&x), [200_001.0]);
        let mut y = x.clone();
        for _ in 0..200_000 {
            y = y.mul(&x).unwrap();
        }
    };
    let thread = std::thread::Builder::new().stack_size(64 << 10);
    thread.spawn(run).unwrap().join().unwrap();
}

#[test]
fn nothing_is_recorded_where_nobody_asks() {
    let x = leaf(&[1.0], &[1], &["N"]);
    assert!(!no_grad(|| x.exp().unwrap()).requires_grad());
    assert!(no_grad(|| enable_grad(|| x.exp().unwrap())).requires_grad());
    assert!(!x.detach().exp().unwrap().requires_grad());
    assert!(!x.gt(0.0).unwrap().requires_grad());
    assert!(x.is_leaf() && !x.exp().unwrap().is_leaf());
    let mut whole = DynTensor::from_vec(vec![1_i64], &[1], ["N"]).unwrap();
    assert!(whole.requires_grad_().is_err());
}

#[test]
fn what_is_written_in_place_is_recorded() {
    let x = leaf(&[1., 2., 3.], &[3], &["N"]);
    let s = leaf(&[2., 3., 4.], &[3], &["N"]);
    let mut y = x.mul(&x).unwrap();
    let before = y.clone();
    y.mul_(&s).unwrap();
    y.add_(1.0).unwrap();
    y.sum(..).unwrap().backward_with(&one(), keep()).unwrap();
    assert_eq!(grad(&x), [4., 12., 24.]);
    assert_eq!(grad(&s), [1., 4., 9.]);
    // A clone is what it was.
    x.zero_grad();
    before.sum(..).unwrap().backward().unwrap();
    assert_eq!(grad(&x), [2., 4., 6.]);

    // A tensor that was not recorded.
    let mut plain = DynTensor::from_vec(vec![1., 1., 1.], &[3], ["N"]).unwrap();
    plain.mul_(&s).unwrap();
    s.zero_grad();
    plain.sum(..).unwrap().backward().unwrap();
    assert_eq!(grad(&s), [1., 1., 1.]);
}

#[test]
fn a_leaf_is_written_to_without_recording_only() {
    let mut x = leaf(&[1., 2.], &[2], &["N"]);
    let error = x.add_(1.0).unwrap_err().to_string();
    assert!(error.contains("do it within `no_grad`"), "{error}");
    let same = x.clone();
    no_grad(|| x.add_(1.0).map(|_| ())).unwrap();
    assert_eq!(x.to_vec::<f64>().unwrap(), [2., 3.]);
    assert_eq!(same.to_vec::<f64>().unwrap(), [1., 2.]);
    x.sum(..).unwrap().backward().unwrap();
    // One leaf, and one gradient.
    assert_eq!(grad(&same), [1., 1.]);
}

#[test]
fn a_part_that_is_written() {
    let x = leaf(&[1., 2., 3., 4.], &[2, 2], &["N", "C"]);
    let s = leaf(&[5., 6.], &[2], &["N"]);
    let mut y = x.mul(1.0).unwrap();
    y.select_mut("C", 0).unwrap().mul_(&s).unwrap();
    assert_eq!(y.to_vec::<f64>().unwrap(), [5., 2., 18., 4.]);
    let options = BackwardOptions {
        create_graph: true,
        ..keep()
    };
    y.mul(&y)
        .unwrap()
        .sum(..)
        .unwrap()
        .backward_with(&one(), options)
        .unwrap();
    assert_eq!(grad(&x), [50., 4., 216., 8.]);
    assert_eq!(grad(&s), [10., 108.]);
    let again = x.grad().unwrap();
    x.zero_grad();
    s.zero_grad();
    again.sum(..).unwrap().backward().unwrap();
    // The gradient of x[n, 0] is 2 x s², of x[n, 1] 2 x.
    assert_eq!(grad(&x), [50., 2., 72., 2.]);
    assert_eq!(grad(&s), [20., 72.]);

    let mut y = x.mul(2.0).unwrap();
    y.narrow_mut("N", 1, 1).unwrap().fill_(7.0).unwrap();
    x.zero_grad();
    y.sum(..).unwrap().backward().unwrap();
    assert_eq!(grad(&x), [2., 2., 0., 0.]);
}

mod functions;
mod kernels;
mod threads;

fn one() -> DynTensor {
    DynTensor::from_vec(vec![1.0_f64], &[], ()).unwrap()
}

fn keep() -> BackwardOptions {
    BackwardOptions {
        retain_graph: true,
        ..BackwardOptions::default()
    }
}
