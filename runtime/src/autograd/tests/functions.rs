//! Functions of gradients, hooks and checkpoints.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::*;
use crate::manual_seed;
use crate::tensor::gradient::{
    checkpoint, grad as slope, gradients as of, hessian, jacobian, jvp, per_sample, value_and_grad,
    vjp,
};

fn plain(data: &[f64], shape: &[usize], names: &[&str]) -> DynTensor {
    leaf(data, shape, names).detach()
}

fn values(x: &DynTensor) -> Vec<f64> {
    x.to_vec().unwrap()
}

fn cube(x: &DynTensor) -> nomina_core::Result<DynTensor> {
    x.mul(x)?.mul(x)?.sum(..)
}

#[test]
fn closures_nest() {
    let x = plain(&[2.0, -1.0], &[2], &["N"]);
    assert_eq!(values(&slope(cube, &x).unwrap()), [12.0, 3.0]);
    let second = slope(|x| slope(cube, x)?.sum(..), &x).unwrap();
    assert_eq!(values(&second), [12.0, -6.0]);
    let third = slope(|x| slope(|x| slope(cube, x)?.sum(..), x)?.sum(..), &x).unwrap();
    assert_eq!(values(&third), [6.0, 6.0]);
    assert!(!third.requires_grad() && third.names() == x.names());
}

#[test]
fn outer_uses_do_not_count_and_slots_stay() {
    let w = leaf(&[3.0], &[], &[]);
    let outer = w.mul(&w).unwrap();
    // Neither through `w` itself nor through what was computed of it before.
    let (y, g) = value_and_grad(|w| w[0].mul(&outer), &[&w]).unwrap();
    assert_eq!((values(&y), values(&g[0])), (vec![27.0], vec![9.0]));
    assert!(w.grad().is_none());
    // Both are recorded, since `w` is.
    g[0].backward().unwrap();
    assert_eq!(grad(&w), [6.0]);
    let inside = no_grad(|| slope(|w| w.mul(&outer), &w)).unwrap();
    assert!(!inside.requires_grad());
}

#[test]
fn what_an_input_does_not_reach() {
    let x = plain(&[1.0, 2.0], &[2], &["N"]);
    assert_eq!(values(&slope(|_| Ok(one()), &x).unwrap()), [0.0, 0.0]);
    let (a, b) = (leaf(&[1.0], &[], &[]), leaf(&[2.0], &[], &[]));
    let y = a.mul(3.0).unwrap();
    let error = of(&y, &[&a, &b]).unwrap_err().to_string();
    assert!(error.contains("does not depend on input 1"), "{error}");
    let y = a.mul(&b).unwrap().mul(&a).unwrap();
    let found = of(&y, &[&b, &a, &b]).unwrap();
    assert_eq!(
        found.iter().map(values).collect::<Vec<_>>(),
        [[1.0], [4.0], [1.0]]
    );
    assert!(a.grad().is_none());
}

#[test]
fn gradients_of_a_tensor_on_the_way() {
    let a = leaf(&[2.0], &[], &[]);
    let b = a.mul(&a).unwrap();
    let y = b.mul(&a).unwrap();
    let found = of(&y, &[&a, &b]).unwrap();
    assert_eq!(
        (values(&found[0]), values(&found[1])),
        (vec![12.0], vec![2.0])
    );
}

#[test]
fn products_with_jacobians() {
    let w = plain(&[1., 2., 3., 4., 5., 6.], &[2, 3], &["K", "C"]);
    let f = |x: &DynTensor| w.contract(&x.tanh()?, "C");
    let x = plain(&[0.1, -0.4, 0.7], &[3], &["C"]);
    let (seed, tangent) = (
        plain(&[1., -2.], &[2], &["K"]),
        plain(&[3., 1., 2.], &[3], &["C"]),
    );
    let j = jacobian(f, &x).unwrap();
    assert_eq!(j.names().to_string(), "(K, C')");
    let (y, back) = vjp(f, &x, &seed).unwrap();
    let (again, ahead) = jvp(f, &x, &tangent).unwrap();
    assert_eq!(values(&y), values(&f(&x).unwrap()));
    assert_eq!(values(&y), values(&again));
    assert_eq!(ahead.names().to_string(), "(K,)");
    let (j, back, ahead) = (values(&j), values(&back), values(&ahead));
    for c in 0..3 {
        let slope = 1.0 - values(&x)[c].tanh().powi(2);
        for k in 0..2 {
            assert!((j[3 * k + c] - values(&w)[3 * k + c] * slope).abs() < 1e-12);
        }
        assert!((back[c] - j[c] + 2.0 * j[3 + c]).abs() < 1e-12);
    }
    for k in 0..2 {
        let expected = 3.0 * j[3 * k] + j[3 * k + 1] + 2.0 * j[3 * k + 2];
        assert!((ahead[k] - expected).abs() < 1e-12);
    }
    assert!(jacobian(|x| x.prime("C"), &x).is_err());
}

#[test]
fn a_hessian() {
    let x = plain(&[1., 2.], &[2], &["C"]);
    let f = |x: &DynTensor| {
        let (a, b) = (x.select("C", 0)?, x.select("C", 1)?);
        a.mul(&a)?.mul(&b)
    };
    let h = hessian(f, &x).unwrap();
    assert_eq!(h.names().to_string(), "(C, C')");
    assert_eq!(values(&h), [4., 2., 2., 0.]);
}

#[test]
fn a_gradient_for_each_sample() {
    let x = plain(&[1., 2., 3., 4., 5., 6.], &[3, 2], &["N", "C"]);
    let w = plain(&[0.5, -1.], &[2], &["C"]);
    let loss = |w: &DynTensor| x.contract(w, "C")?.square();
    let g = per_sample("N", 3, loss, &w).unwrap();
    assert_eq!(g.names().to_string(), "(N, C)");
    // 2 (x · w) x
    assert_eq!(values(&g), [-3., -6., -15., -20., -35., -42.]);
}

#[test]
fn hooks_see_and_replace_gradients() {
    let x = leaf(&[1., 2.], &[2], &["N"]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let y = x.mul(3.0).unwrap();
    let hook = y.register_hook(move |g| {
        log.lock().unwrap().extend(g.to_vec::<f64>()?);
        g.mul(2.0).map(Some)
    });
    let log = Arc::clone(&seen);
    let after = x.register_post_accumulate_grad_hook(move |g| {
        log.lock().unwrap().extend(g.to_vec::<f64>()?);
        Ok(())
    });
    y.sum(..).unwrap().backward_with(&one(), keep()).unwrap();
    assert_eq!(*seen.lock().unwrap(), [1., 1., 6., 6.]);
    hook.unwrap().remove();
    after.unwrap().remove();
    y.sum(..).unwrap().backward().unwrap();
    assert_eq!(seen.lock().unwrap().len(), 4);
    assert_eq!(grad(&x), [9., 9.]);
    assert!(x.detach().register_hook(|_| Ok(None)).is_err());
    assert!(y.register_post_accumulate_grad_hook(|_| Ok(())).is_err());
}

#[test]
fn a_hook_that_fails_leaves_slots() {
    let (x, w) = (leaf(&[1.], &[], &[]), leaf(&[2.], &[], &[]));
    x.mul(&w).unwrap().backward().unwrap();
    let fails = w.register_hook(|_| panic!("a hook"));
    let y = x.mul(&w).unwrap();
    let back = std::panic::AssertUnwindSafe(|| y.backward());
    assert!(std::panic::catch_unwind(back).is_err());
    fails.unwrap().remove();
    let longer = w.register_hook(|_| DynTensor::zeros(&[3], ["N"]).map(Some));
    assert!(x.mul(&w).unwrap().backward().is_err());
    longer.unwrap().remove();
    assert!(is_grad_enabled());
    assert_eq!((grad(&x), grad(&w)), (vec![2.], vec![1.]));
}

#[test]
fn a_checkpoint_is_computed_again() {
    let (x, w) = (leaf(&[1., 2.], &[2], &["N"]), leaf(&[3., 4.], &[2], &["N"]));
    let calls = Arc::new(AtomicUsize::new(0));
    let (count, captured) = (Arc::clone(&calls), w.mul(2.0).unwrap());
    let f = move |args: &[DynTensor]| {
        count.fetch_add(1, Ordering::Relaxed);
        let noise = args[0].rand_like()?;
        args[0].mul(&captured)?.exp()?.mul(&noise)
    };
    manual_seed(3);
    let y = checkpoint(f.clone(), &[&x]).unwrap();
    let drawn = DynTensor::rand(&[1], ["N"]).unwrap();
    y.sum(..).unwrap().backward_with(&one(), keep()).unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    let (gx, gw) = (grad(&x), grad(&w));
    x.zero_grad();
    w.zero_grad();
    manual_seed(3);
    let same = f(std::slice::from_ref(&x)).unwrap();
    assert_eq!(values(&same), values(&y));
    // Going back drew nothing from the generator itself.
    assert!(DynTensor::rand(&[1], ["N"]).unwrap().equal(&drawn).unwrap());
    same.sum(..).unwrap().backward_with(&one(), keep()).unwrap();
    assert_eq!((gx, gw), (grad(&x), grad(&w)));
}

#[test]
fn checkpoints_within_functions_and_functions_within_checkpoints() {
    let x = plain(&[0.5], &[], &[]);
    let w = leaf(&[2.0], &[], &[]);
    let held = w.clone();
    let step = move |x: &[DynTensor]| x[0].mul(&x[0])?.mul(&held)?.exp();
    let inner = step.clone();
    let nested = move |x: &[DynTensor]| checkpoint(inner.clone(), &[&x[0]])?.mul(&x[0]);
    let again = step.clone();
    let direct = move |x: &DynTensor| again(std::slice::from_ref(x))?.mul(x);
    let second = |f: &dyn Fn(&DynTensor) -> nomina_core::Result<DynTensor>| {
        values(&slope(|x| slope(f, x), &x).unwrap())[0]
    };
    let held = nested.clone();
    let found = second(&move |x| checkpoint(held.clone(), &[x]));
    assert!((found - second(&direct)).abs() < 1e-9);

    // A gradient within a checkpoint.
    let (held, before) = (w.clone(), w.mul(3.0).unwrap());
    let inner =
        move |x: &[DynTensor]| slope(|x| x.mul(x)?.mul(&held)?.mul(&before), &x[0])?.mul(2.0);
    let own = x.clone().with_grad().unwrap();
    checkpoint(inner.clone(), &[&own])
        .unwrap()
        .backward_with(&one(), keep())
        .unwrap();
    let expected = (grad(&own), grad(&w));
    // 12 x w²
    assert_eq!(expected, (vec![48.0], vec![24.0]));
}
