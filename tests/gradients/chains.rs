//! Chains computed in one pass against the same operators one by one.

use nomina::prelude::*;

dims! { N, C }

fn leaf<D: nomina::dims::Dims>(x: Tensor<D, f64>) -> Tensor<D, f64> {
    x.with_grad()
}

#[test]
fn a_fused_chain_has_the_gradients_of_its_steps() {
    let (x, b) = (
        tensor!([[0.5, -1.0, 2.0], [0.1, 0.2, -0.3]]; N, C).to::<f64>(),
        tensor!([0.25, -0.5, 0.125]; C).to::<f64>(),
    );
    let (x1, b1) = (leaf(x.clone()), leaf(b.clone()));
    let fused = fuse!(|x1, b1| ((x1 + b1).tanh() * 2.0).exp() - (x1 * x1).sqrt());
    let (x2, b2) = (leaf(x), leaf(b));
    let steps = ((&x2 + &b2).tanh() * 2.0).exp() - (&x2 * &x2).sqrt();
    assert_eq!(fused.to_vec(), steps.to_vec());
    fused.sum(..).backward();
    steps.sum(..).backward();
    for (one, other) in x1
        .grad()
        .unwrap()
        .to_vec()
        .iter()
        .zip(x2.grad().unwrap().to_vec())
    {
        assert!(
            (one - other).abs() <= 1e-14 * other.abs(),
            "{one}, not {other}"
        );
    }
    for (one, other) in b1
        .grad()
        .unwrap()
        .to_vec()
        .iter()
        .zip(b2.grad().unwrap().to_vec())
    {
        assert!(
            (one - other).abs() <= 1e-14 * other.abs(),
            "{one}, not {other}"
        );
    }
}

#[test]
fn a_fused_chain_has_second_gradients() {
    let x = leaf(tensor!([0.5, -1.0]; N).to::<f64>());
    let y = fuse!(|x| (x * x * x).sin()).sum(..);
    let options = nomina::BackwardOptions {
        create_graph: true,
        ..nomina::BackwardOptions::default()
    };
    y.backward_with(&Tensor::<(), f64>::ones([]), options);
    let first = x.take_grad().unwrap();
    first.sum(..).backward();
    let second = x.grad().unwrap().to_vec();
    for (x, second) in [0.5_f64, -1.0].into_iter().zip(second) {
        let cube = x.powi(3);
        let wanted = 6.0 * x * cube.cos() - 9.0 * x.powi(4) * cube.sin();
        assert!((second - wanted).abs() < 1e-12, "{second}, not {wanted}");
    }
}

/// Gradients that are computed together equal those computed one by one, to the bit.
#[test]
fn chains_that_nobody_fused_have_the_gradients_of_their_steps() {
    with_seed(7, || {
        let (x, y) = (
            Tensor::<(N, C)>::rand([100, 64]) + 0.5,
            Tensor::<(N, C)>::rand([100, 64]) + 0.5,
        );
        type Chain = fn(&Tensor<(N, C)>, &Tensor<(N, C)>) -> Tensor<(N, C)>;
        let chains: [Chain; 6] = [
            |x, y| ((x * y).tanh() * 2.0).exp() / y,
            |x, y| (x + y).sqrt() * x.log() - y.sigmoid().square(),
            |x, _| (x * x + x).relu().neg().exp(),
            |x, y| x.maximum(y).pow(1.5).sin().cos().abs(),
            |x, y| (x - y).gelu().softplus() * x,
            |x, y| (0..40).fold(x.clone(), |z, _| (z * y).tanh() + 0.1),
        ];
        for (at, chain) in chains.into_iter().enumerate() {
            let gradients = |create_graph: bool| {
                let (x, y) = (x.clone().with_grad(), y.clone().with_grad());
                let z = chain(&x, &y);
                let options = nomina::BackwardOptions {
                    create_graph,
                    ..nomina::BackwardOptions::default()
                };
                z.backward_with(&z.detach(), options);
                [x.grad(), y.grad()].map(|grad| grad.map(|grad| grad.to_vec()))
            };
            assert!(gradients(false) == gradients(true), "chain {at}");
        }
    });
}
