//! Memory held by a graph, and the cost of the backward pass through nodes with many operands or
//! none.

use std::sync::Arc;

use nomina::prelude::*;
use nomina::{BackwardOptions, no_grad};
use nomina_nn::layers::RecurrentState;
use nomina_nn::prelude::{Gru, Lstm, Mode};

dims! { N, Time, In, Hidden }

fn gradient(x: &DynTensor) -> Vec<f32> {
    x.grad().expect("a gradient").to_vec().unwrap()
}

fn leaf(count: usize) -> DynTensor {
    let x = DynTensor::full(&[count], 2.0, ["N"]).unwrap();
    x.with_grad().unwrap()
}

/// A removed hook is dropped together with its captures.
#[test]
fn a_removed_hook_leaves_nothing() {
    let (x, held) = (leaf(2), Arc::new(()));
    let mut handles = Vec::new();
    for _ in 0..100 {
        let held = Arc::clone(&held);
        let hook = x.register_hook(move |_| {
            let _ = &held;
            Ok(None)
        });
        handles.push(hook.unwrap());
    }
    assert_eq!(Arc::strong_count(&held), 101);
    for handle in handles {
        handle.remove();
    }
    assert_eq!(Arc::strong_count(&held), 1);
}

/// A gradient with a graph holds its leaf until it is removed from the leaf.
#[test]
fn the_cycle_of_a_gradient_and_its_leaf_ends_with_the_gradient() {
    let options = BackwardOptions {
        create_graph: true,
        ..BackwardOptions::default()
    };
    let ends: [fn(&DynTensor); 4] = [
        |x| x.zero_grad(),
        |x| drop(x.take_grad()),
        |x| x.set_grad(&x.detach()).unwrap(),
        |x| x.mul(2.0).unwrap().sum(..).unwrap().backward().unwrap(),
    ];
    for (at, end) in ends.into_iter().enumerate() {
        let (x, held) = (leaf(2), Arc::new(()));
        let y = x.mul(&x).unwrap().mul(&x).unwrap();
        let own = Arc::clone(&held);
        let hook = move |_: &DynTensor| {
            let _ = &own;
            Ok(None)
        };
        drop(y.register_hook(hook).unwrap());
        let seed = DynTensor::full(&[], 1.0, ()).unwrap();
        y.sum(..).unwrap().backward_with(&seed, options).unwrap();
        drop(y);
        assert!(x.grad().unwrap().requires_grad());
        assert_eq!(gradient(&x.clone()), [12.0; 2]);
        end(&x);
        drop(x);
        assert_eq!(Arc::strong_count(&held), 1, "way {at}");
    }
}

/// `backward` is linear in the number of operands: quadratic time would take minutes here.
#[test]
fn many_operands_go_back_one_by_one() {
    let parts: Vec<DynTensor> = (0..100_000).map(|_| leaf(1)).collect();
    let lent: Vec<&DynTensor> = parts.iter().collect();
    for joined in [
        DynTensor::cat(&lent, "N").unwrap(),
        DynTensor::stack(&lent, 0, "S").unwrap(),
    ] {
        joined
            .mul(3.0)
            .unwrap()
            .sum(..)
            .unwrap()
            .backward()
            .unwrap();
        assert_eq!(gradient(&parts[77_777]), [3.0]);
        parts.iter().for_each(DynTensor::zero_grad);
    }
    let x = leaf(100_000);
    let parts = x.unbind("N").unwrap();
    let lent: Vec<&DynTensor> = parts.iter().collect();
    DynTensor::stack(&lent, 0, "S")
        .unwrap()
        .sum(..)
        .unwrap()
        .backward()
        .unwrap();
    assert!(gradient(&x).iter().all(|grad| *grad == 1.0));
}

/// Zero steps: empty outputs and an unchanged state, both recorded.
#[test]
fn recurrent_layers_over_no_steps_are_recorded() {
    let x = Tensor::<(N, Time, In)>::zeros([2, 0, 3]).with_grad();
    let layer = Lstm::<Time, In, Hidden>::new(In.of(3), Hidden.of(5));
    let (y, state) = layer.forward_from(&x, None, Mode::Eval);
    assert_eq!(y.shape(), [2, 0, 5]);
    y.sum(..).backward();
    assert_eq!(x.grad().unwrap().shape(), [2, 0, 3]);
    assert!(
        layer.first[0]
            .weight_hh
            .grad()
            .unwrap()
            .to_vec()
            .iter()
            .all(|grad| *grad == 0.0)
    );
    (state.hidden[0].sum(..) + state.cell[0].sum(..)).backward();
    let first = Tensor::<(N, Hidden)>::full([2, 5], -0.0).with_grad();
    let second = Tensor::<(N, Hidden)>::full([2, 5], 3.0).with_grad();
    let given = RecurrentState {
        hidden: vec![first.clone()],
        cell: vec![second.clone()],
    };
    let (_, state) = layer.forward_from(&x, Some(&given), Mode::Eval);
    let (hidden, cell) = (&state.hidden[0], &state.cell[0]);
    assert!(cell.equal(&second) && hidden.to_vec().iter().all(|x| x.is_sign_negative()));
    (hidden * 2.0 + cell * 3.0).sum(..).backward();
    assert!(
        first
            .grad()
            .unwrap()
            .to_vec()
            .iter()
            .all(|grad| *grad == 2.0)
    );
    assert!(
        second
            .grad()
            .unwrap()
            .to_vec()
            .iter()
            .all(|grad| *grad == 3.0)
    );
    let layer = Gru::<Time, In, Hidden>::new(In.of(3), Hidden.of(5));
    layer.forward(&x.detach(), Mode::Eval).sum(..).backward();
    assert!(layer.first[0].weight_ih.grad().is_some());
    assert!(!no_grad(|| layer.forward(&x, Mode::Eval)).requires_grad());
}
