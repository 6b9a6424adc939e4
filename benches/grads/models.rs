//! ADBench's objectives, differentiated by all their parameters.

use nomina::dims::Distinct;
use nomina::prelude::*;

use crate::harness::{Case, case};
use crate::inputs::{Mixture, Text};
use crate::{gmm, lstm};

pub fn cases(cases: &mut Vec<Case>) {
    for sizes in Mixture::SIZES {
        let inputs = move || gmm::inputs(&sizes).expect("sizes that fit");
        cases.push(model(sizes.name(), inputs, gmm::log_density));
    }
    let inputs = || lstm::inputs(&Text::SMALL).expect("sizes that fit");
    cases.push(model(Text::SMALL.name(), inputs, lstm::loss));
}

type Three<A, B, C> = (Tensor<A, f64>, Tensor<B, f64>, Tensor<C, f64>);

/// A case that computes a number from three parameters, and their gradients.
fn model<A: Dims + Distinct, B: Dims + Distinct, C: Dims + Distinct, G: 'static>(
    name: String,
    inputs: impl Fn() -> (Three<A, B, C>, G) + Copy + 'static,
    objective: fn(&Tensor<A, f64>, &Tensor<B, f64>, &Tensor<C, f64>, &G) -> Tensor<(), f64>,
) -> Case {
    let leaves = move || {
        let ((a, b, c), given) = inputs();
        (a.with_grad(), b.with_grad(), c.with_grad(), given)
    };
    let both_ways = case(name, leaves, move |(a, b, c, given)| {
        objective(a, b, c, given).backward();
        (a.zero_grad(), b.zero_grad(), c.zero_grad())
    });
    both_ways.values(move || {
        let (a, b, c, given) = leaves();
        let value = objective(&a, &b, &c, &given);
        value.backward();
        let grads = [grad(&a), grad(&b), grad(&c)].concat();
        [vec![value.item()], grads].concat()
    })
}

fn grad<D: Dims>(leaf: &Tensor<D, f64>) -> Vec<f64> {
    leaf.grad().expect("a leaf that counts").to_vec()
}
