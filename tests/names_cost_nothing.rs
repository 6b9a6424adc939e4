//! If the types know the names, a typed call allocates exactly as much as the same call without names.

#[path = "counting/mod.rs"]
mod counting;

use std::hint::black_box;

use counting::counted;
use nomina::no_grad;
use nomina::prelude::*;
use nomina_core::op::Op;
use nomina_nn::prelude::*;
use nomina_runtime::{Raw, call};

dims! { N, C, K }

fn allocations<R>(f: impl Fn() -> R) -> usize {
    // Exclude allocations made once per process.
    drop(black_box(f()));
    counted(|| black_box(f())).0
}

fn raw<D: Dims>(x: &Tensor<D>) -> Raw {
    x.clone().into_dyn().into_parts().0
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| Box::new(1_u64)), 1);
    assert_eq!(allocations(|| 1_u64), 0);
}

#[test]
fn a_typed_call_allocates_what_the_call_without_names_does() {
    let a: Tensor<(N, C)> = Tensor::ones([3, 4]);
    let row: Tensor<(C,)> = Tensor::ones([4]);
    let b: Tensor<(C, K)> = Tensor::ones([4, 5]);
    let (ra, rrow, rb) = (raw(&a), raw(&row), raw(&b));

    let bare = allocations(|| call::pointwise(Op::Add, &[(&ra).into(), (&rrow).into()]).unwrap());
    assert_eq!(allocations(|| &a + &row), bare, "add");

    let bare = allocations(|| call::pointwise(Op::Exp, &[(&ra).into()]).unwrap());
    assert_eq!(allocations(|| a.exp()), bare, "exp");

    let options = call::ReduceOptions::default();
    let bare = allocations(|| call::reduce(Op::Sum, &ra, &[1], false, options).unwrap());
    assert_eq!(allocations(|| a.sum(C)), bare, "sum");

    let bare = allocations(|| call::mm(&ra, &rb).unwrap());
    assert_eq!(allocations(|| a.mm(&b)), bare, "mm");
}

/// A layer knows by its types where the dims of its input are.
#[test]
fn a_layer_allocates_what_its_product_without_names_does() {
    let layer = Linear::new(C.of(4), K.of(5));
    let x: Tensor<(N, C)> = Tensor::ones([3, 4]);
    let (rx, rw) = (raw(&x), raw(&layer.weight));
    let bias = layer.bias.as_ref().map(|bias| raw(bias));
    let bare = || no_grad(|| call::linear(&rx, &rw, bias.as_ref(), 1, None).unwrap());
    assert_eq!(
        allocations(|| no_grad(|| layer.forward(&x))),
        allocations(bare)
    );
}

/// A result's buffer and its reference count are in one block, and the block of the previous result is reused.
#[test]
fn small_results_lie_where_those_before_did() {
    let a: Tensor<(N, C)> = Tensor::ones([4, 4]);
    let b: Tensor<(N, C)> = Tensor::ones([4, 4]);
    assert_eq!(allocations(|| &a + &b), 0, "add");
    assert_eq!(allocations(|| &a + 1.0), 0, "add a number");
    assert_eq!(allocations(|| 2.0 * &a), 0, "a number times");
    assert_eq!(allocations(|| a.exp()), 0, "exp");
    assert_eq!(allocations(|| a.lt(&b)), 0, "lt");
    assert_eq!(allocations(|| a.clamp(0.0, 1.0)), 0, "clamp");
    let column = a.amax(keep(C));
    assert_eq!(allocations(|| &a - &column), 0, "less a column");
    let (row, mut own): (Tensor<(C,)>, Tensor<(N, C)>) = (Tensor::ones([4]), Tensor::ones([4, 4]));
    assert_eq!(allocations(|| &a + &row), 0, "add a row");
    assert_eq!(allocations(|| &row - &a), 0, "a row less");
    let (added, ..) = counted(|| own += &row);
    assert_eq!(added, 0, "add in place");
    let (computed, ..) = counted(|| own.exp_().rank());
    assert_eq!(computed, 0, "exp in place");
    assert_eq!(allocations(|| (&a * &b + &a).exp() * &b), 0, "a chain");
    assert_eq!(allocations(|| a.sum(..)), 0, "sum");
    assert_eq!(allocations(|| a.sum(C)), 0, "sum of a dim");
    assert_eq!(allocations(|| a.mean(keep(C))), 0, "mean of a dim");
    assert_eq!(allocations(|| &a - a.amax(keep(C))), 0, "less the greatest");
    let before = nomina::memory::stats().held;
    assert!(before > 0, "blocks are kept");
}

#[test]
fn views_by_name_allocate_nothing() {
    let a: Tensor<(N, C)> = Tensor::ones([3, 4]);
    assert_eq!(allocations(|| a.clone()), 0, "clone");
    assert_eq!(allocations(|| a.transpose(N, C)), 0, "transpose");
    assert_eq!(allocations(|| a.align_to((C, N))), 0, "align_to");
    assert_eq!(allocations(|| a.select(N, 1)), 0, "select");
    assert_eq!(allocations(|| a.narrow(C, 1..3)), 0, "narrow");
    assert_eq!(allocations(|| a.rename(N, K)), 0, "rename");
    assert_eq!(allocations(|| a.flatten((N, C), K)), 0, "flatten");
}

/// Recorded nodes are in blocks of `memory`, like tensors, and the blocks of the previous graph are reused.
#[test]
fn a_recorded_chain_and_its_way_back_lie_where_those_before_did() {
    let x = Tensor::<(N, C)>::ones([4, 4]).with_grad();
    let w = Tensor::<(N, C)>::ones([4, 4]).with_grad();
    let b = Tensor::<(C,)>::ones([4]).with_grad();
    let k = Tensor::<(C, K)>::ones([4, 3]).with_grad();
    assert_eq!(allocations(|| &x + &w), 0, "add");
    assert_eq!(allocations(|| x.exp()), 0, "exp");
    assert_eq!(allocations(|| (&x * &w + &b).tanh() * &x), 0, "a chain");
    assert_eq!(allocations(|| x.mm(&k).sum(..)), 0, "a product");
    let zeros = || {
        x.zero_grad();
        w.zero_grad();
        b.zero_grad();
        k.zero_grad();
    };
    let back = |y: Tensor<()>| {
        zeros();
        y.backward();
    };
    assert_eq!(allocations(|| back((&x * &w).sum(..))), 0, "a product back");
    let chain = || back(((&x * &w + &b).tanh() * &x).sum(..));
    assert_eq!(allocations(chain), 0, "a chain back");
    assert_eq!(allocations(|| back(x.mm(&k).relu().sum(..))), 0, "mm back");
    let added = || (&x * &w).sum(..).backward();
    assert_eq!(allocations(added), 0, "added to a gradient");
    assert_eq!(allocations(|| no_grad(|| &x + &w)), 0, "not recorded");
}
