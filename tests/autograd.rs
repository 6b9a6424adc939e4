//! End-to-end tests of gradients: typed and dynamic, of functions, across threads, and after failures.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nomina::grad::{checkpoint, grad, gradients, hessian, jacobian, jvp, value_and_grad, vjp};
use nomina::prelude::*;
use nomina::{BackwardOptions, dynamic, no_grad};

dims! { N, C, K }

fn inputs() -> (Tensor<(N, C), f64>, Tensor<(C, K), f64>) {
    with_seed(5, || (Tensor::randn([4, 3]), Tensor::randn([3, 2])))
}

fn close<D: Dims>(a: &Tensor<D, f64>, b: &Tensor<D, f64>) {
    assert_eq!(a.shape(), b.shape());
    for (a, b) in a.to_vec().iter().zip(b.to_vec()) {
        assert!((a - b).abs() <= 1e-10 * b.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn typed_and_dynamic_agree() {
    let (x, w) = inputs();
    let (y, (gx, gw)) = value_and_grad(|(x, w)| x.matmul(w).tanh().sum(..), (&x, &w));
    let (dx, dw) = (x.clone().into_dyn(), w.clone().into_dyn());
    let f = |args: &[DynTensor]| args[0].matmul(&args[1])?.tanh()?.sum(..);
    let (dy, found) = dynamic::value_and_grad(f, &[&dx, &dw]).unwrap();
    assert_eq!(y.to_vec(), dy.to_vec::<f64>().unwrap());
    assert_eq!(found[0].names(), dx.names());
    assert_eq!(gx.to_vec(), found[0].to_vec::<f64>().unwrap());
    assert_eq!(gw.to_vec(), found[1].to_vec::<f64>().unwrap());

    let (x, w) = (x.with_grad(), w.with_grad());
    x.matmul(&w).tanh().sum(..).backward();
    assert!(x.grad().unwrap().equal(&gx) && w.grad().unwrap().equal(&gw));

    let h = hessian(|w| inputs().0.matmul(w).tanh().sum(..), &w.detach());
    let held = dx.clone();
    let dh = dynamic::hessian(|w| held.matmul(w)?.tanh()?.sum(..), &dw).unwrap();
    assert_eq!(dh.names().to_string(), "(C, K, C', K')");
    assert_eq!(h.to_vec(), dh.to_vec::<f64>().unwrap());
}

#[test]
fn products_from_both_sides_are_adjoint() {
    let (x, w) = inputs();
    let seed: Tensor<(N, K), f64> = Tensor::randn([4, 2]);
    let tangent: Tensor<(C, K), f64> = Tensor::randn([3, 2]);
    let f = |w: &Tensor<(C, K), f64>| x.matmul(w).exp();
    let (_, back) = vjp(f, &w, &seed);
    let (_, ahead) = jvp(f, &w, &tangent);
    close(&(back * &tangent).sum(..), &(ahead * &seed).sum(..));

    let j: Tensor<(N, K, Prime<C>, Prime<K>), f64> = jacobian(f, &w);
    let whole = j.tensordot(&tangent.prime(C).prime(K), (Prime(C), Prime(K)));
    close(&whole, &jvp(f, &w, &tangent).1);
}

#[test]
fn a_hook_that_panics_leaves_every_slot() {
    let (x, w) = inputs();
    let (x, w) = (x.with_grad(), w.with_grad());
    x.matmul(&w).sum(..).backward();
    let before = (x.grad().unwrap(), w.grad().unwrap());
    let hook = x.register_hook(|_| panic!("a hook"));
    let y = x.matmul(&w).sum(..);
    assert!(catch_unwind(AssertUnwindSafe(|| y.backward())).is_err());
    hook.remove();
    let after = (x.grad().unwrap(), w.grad().unwrap());
    assert!(before.0.equal(&after.0) && before.1.equal(&after.1));

    // Post-accumulate hooks run once all gradients are written.
    let written = Arc::new(AtomicUsize::new(0));
    let (other, count) = (w.clone(), Arc::clone(&written));
    let _hook = x.register_post_accumulate_grad_hook(move |_| {
        count.fetch_add(usize::from(other.grad().is_some()), Ordering::Relaxed);
    });
    x.zero_grad();
    w.zero_grad();
    x.matmul(&w).sum(..).backward();
    assert_eq!(written.load(Ordering::Relaxed), 1);
}

#[test]
fn threads_share_leaves() {
    let w = tensor!([1., 2., 3.]; N).with_grad();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    (&w * &w).sum(..).backward();
                }
            });
        }
    });
    assert_eq!(w.grad().unwrap().to_vec(), [800.0, 1600.0, 2400.0]);

    // A graph recorded on another thread; its nodes may be later than those recorded here.
    let other = std::thread::scope(|scope| {
        let work = || (0..50).fold(w.clone(), |y, _| y + 1.0);
        scope.spawn(work).join().unwrap()
    });
    let g = grad(|x| (x * &other).sum(..), &tensor!([1., 1., 1.]; N));
    assert_eq!(g.to_vec(), [51.0, 52.0, 53.0]);
    // The other thread's graph has not been consumed.
    w.zero_grad();
    other.sum(..).backward();
    assert_eq!(w.grad().unwrap().to_vec(), [1.0, 1.0, 1.0]);
}

#[test]
fn a_million_nodes_on_a_small_stack() {
    let deep = || {
        let x = Tensor::<()>::ones([]).with_grad();
        let y = (0..1_000_000).fold(x.clone(), |y, _| &y + &x);
        y.backward();
        assert_eq!(x.grad().unwrap().item(), 1_000_001.0);
        drop((0..1_000_000).fold(x.clone(), |y, _| &y * &x));
    };
    let small = std::thread::Builder::new().stack_size(64 << 10);
    small.spawn(deep).unwrap().join().unwrap();
}

#[test]
fn a_checkpoint_changes_no_gradient() {
    let (x, w) = inputs();
    let (x, w) = (x.with_grad(), w.with_grad());
    let layer = |x: &Tensor<(N, C), f64>, w: &Tensor<(C, K), f64>| x.matmul(w).tanh().exp();
    layer(&x, &w).sum(..).backward();
    let expected = (x.take_grad().unwrap(), w.take_grad().unwrap());
    let held = w.clone();
    checkpoint(move |x| layer(x, &held), &x).sum(..).backward();
    assert!(x.take_grad().unwrap().equal(&expected.0));
    assert!(w.take_grad().unwrap().equal(&expected.1));
    checkpoint(move |(x, w)| layer(x, w), (&x, &w))
        .sum(..)
        .backward();
    assert!(x.grad().unwrap().equal(&expected.0) && w.grad().unwrap().equal(&expected.1));
}

#[test]
fn what_is_detached_has_no_gradient() {
    let x = tensor!([1., 2.]; N).with_grad();
    assert!(!x.detach().requires_grad() && !(&x * 2.0).detach().requires_grad());
    let g = grad(|x| (x * x.detach()).sum(..), &x);
    assert_eq!(g.to_vec(), [1.0, 2.0]);
}

fn refused(f: impl FnOnce() -> Result<()>, words: &str) {
    let text = f().unwrap_err().to_string();
    // The following lines say where the operands were made.
    assert_eq!(text.lines().next(), Some(words));
}

#[test]
fn errors_say_the_way_out() {
    let plain = tensor!([1., 2.]; N);
    refused(
        || plain.sum(..).try_backward(),
        "backward: nothing was recorded; dims (); call `requires_grad_` on a leaf, outside of `no_grad`",
    );
    let mut x = plain.clone().with_grad();
    let y = (&x * &x).sum(..);
    y.backward();
    refused(
        || y.try_backward(),
        "backward: an earlier `backward` used up the graph; dims (); keep it with `retain_graph`",
    );
    assert_eq!(x.grad().unwrap().to_vec(), [2.0, 4.0]);
    refused(
        || x.try_add_(1.0).map(|_| ()),
        "add: writes to a leaf that requires a gradient; dims (N=2,); do it within `no_grad`",
    );
    no_grad(|| x.add_(1.0));
    assert_eq!(x.to_vec(), [2.0, 3.0]);
    let mut out = plain.clone();
    refused(
        || x.try_exp_out(&mut out),
        "exp: an out tensor takes no gradient; dims (N=2,); use the method, or `no_grad`",
    );
    let other = plain.clone().with_grad();
    let y = x.sum(..);
    refused(
        || nomina::grad::try_gradients(&y, (&other,)).map(drop),
        "gradients: the number does not depend on input 0; dims (2,); \
         use that very tensor: a `clone` of a leaf is the leaf, a view is another tensor",
    );
    let (found,) = gradients(&y.clone(), (&x,));
    assert_eq!(found.to_vec(), [1.0, 1.0]);
    let short: Tensor<(N,)> = Tensor::ones([3]);
    let options = BackwardOptions::default();
    refused(
        || (&x * 2.0).try_backward_with(&short, options),
        "backward: dim `N` has size 2 in the first operand and 3 in the second; dims (N=2,) and (N=3,); \
         a seed has its tensor's sizes",
    );
}

#[test]
fn what_is_empty_has_a_gradient_too() {
    // The only window covers no element, so there is nowhere to send its gradient.
    let x: Tensor<(N, C), f64> = Tensor::ones([2, 1]).with_grad();
    let options = MaxPoolOptions {
        padding: [1],
        dilation: [2],
        ..MaxPoolOptions::default()
    };
    let y = x.max_pool1d_with(C, [2], options);
    assert_eq!(y.to_vec(), [f64::NEG_INFINITY; 2]);
    y.sum(..).backward();
    assert_eq!(x.grad().unwrap().to_vec(), [0.0; 2]);

    let x: Tensor<(N, C), f64> = Tensor::ones([2, 3]).with_grad();
    x.narrow(C, 1..1).sum(..).backward();
    assert_eq!(x.grad().unwrap().to_vec(), [0.0; 6]);
}
