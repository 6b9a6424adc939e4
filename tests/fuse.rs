//! `fuse!` gives what the separate operators give.

use nomina::prelude::*;

dims! { N, C, K }

fn x() -> Tensor<(N, C)> {
    Tensor::<(N, C)>::from_fn([3, 5], |at| at[0] as f32 - at[1] as f32 / 3.0)
}

fn same<D: Dims, T: Element + PartialEq>(got: &Tensor<D, T>, expected: &Tensor<D, T>) {
    assert_eq!(got.names(), expected.names());
    assert_eq!(got.shape(), expected.shape());
    assert_eq!(got.strides(), expected.strides());
    assert_eq!(got.to_vec(), expected.to_vec());
}

#[test]
fn chains() {
    let (x, b) = (x(), tensor!([1., -2., 3., 0.5, 0.]; C));
    let borrowed = &x;
    let rate = 0.25_f32;
    same(&fuse!(|x, b| (x + b).tanh()), &(&x + &b).tanh());
    same(&fuse!(|borrowed, b| borrowed * b - 2.0), &(&x * &b - 2.0));
    same(&fuse!(|x| 2.0 - x * { rate }), &(2.0 - &x * rate));
    same(&fuse!(|x, y = &b + 1.0| -(x / y)), &-(&x / (&b + 1.0)));
    same(
        &fuse!(|x| x.pow(2.0).sqrt().atan2(x + 3.0)),
        &x.pow(2.0).sqrt().atan2(&x + 3.0),
    );
    same(&fuse!(|x, b| x.lt(b)), &x.lt(&b));
    same(
        &fuse!(|x, b| !(x.lt(b).logical_or(x.gt(2.0)))),
        &!x.lt(&b).logical_or(&x.gt(2.0)),
    );
    same(
        &fuse!(|x, b| x.gt(b).where_cond(x, 0.5)),
        &x.gt(&b).where_cond(&x, 0.5),
    );
    same(
        &fuse!(|x| x.clamp(-1.0, 1.0).lerp(x, 0.5)),
        &x.clamp(-1.0, 1.0).lerp(&x, 0.5),
    );
    same(&fuse!(|x| x), &x);
    same(
        &fuse!(|x, b| (x + b).leaky_relu() + x.softplus() * b.elu()),
        &((&x + &b).leaky_relu() + x.softplus() * b.elu()),
    );
    same(
        &fuse!(|x| x.hardtanh() + x.celu() * x.softshrink() - x.hardshrink()),
        &(x.hardtanh() + x.celu() * x.softshrink() - x.hardshrink()),
    );
    same(
        &fuse!(|x, b| x.addcdiv(b, x.exp())),
        &x.addcdiv(&b, &x.exp()),
    );
    same(&fuse!(|x, b| x.isclose(b)), &x.isclose(&b));
}

#[test]
fn sharing() {
    let x = x();
    let h = &x * 2.0;
    let expected = &h.exp() * &h + &h;
    let got = fuse!(|x| {
        let h = x * 2.0;
        let e = h.exp();
        e * h + h
    });
    same(&got, &expected);
    let twice = fuse!(|x| {
        let h = x * 2.0;
        h
    });
    same(&twice, &h);
}

#[test]
fn dtypes_promote_step_by_step() {
    let x = x();
    let ids = Tensor::<(C,), i64>::from_fn([5], |at| at[0] as i64 - 2);
    let half = x.to::<f16>();
    let y: Tensor<(N, C), f64> = fuse!(|x, ids| (ids * 3 + x).to::<f64>() / ids.exp());
    same(&y, &((&ids * 3 + &x).to::<f64>() / ids.exp()));
    let y: Tensor<(N, C), f16> = fuse!(|half| half * half + 0.1);
    same(&y, &(&half * &half + 0.1));
    let y: Tensor<(C,), i64> = fuse!(|ids| (ids + 2).remainder(ids * 2 + 1));
    same(&y, &(&ids + 2).remainder(&(&ids * 2 + 1)));
    let y: Tensor<(C,), i64> = fuse!(|ids| (ids - 2) % 3 + 7_i64 % (ids + 3));
    same(&y, &(&(&ids - 2) % 3 + 7_i64 % (&ids + 3)));
}

#[test]
fn a_reduction_may_come_last() {
    let (x, b) = (x(), tensor!([1., -2., 3., 0.5, 0.]; C));
    same(&fuse!(|x, b| (x * b).sum(C)), &(&x * &b).sum(C));
    same(
        &fuse!(|x, b| (x * b).mean(keep(C))),
        &(&x * &b).mean(keep(C)),
    );
    same(&fuse!(|x, b| (x * b).amax((N, C))), &(&x * &b).amax((N, C)));
    same(
        &fuse!(|x, b| {
            let h = x - b;
            (h * h).sum(..)
        }),
        &{
            let h = &x - &b;
            (&h * &h).sum(..)
        },
    );
    let (values, places) = fuse!(|x| x.abs().max(C));
    same(&values, &x.abs().max(C).0);
    same(&places, &x.abs().max(C).1);
}

#[test]
fn a_reduction_sees_what_rustc_does_not() {
    let x = x();
    let wild: Tensor<(Wild, Wild)> = x.drop_names();
    let both: Tensor<(Wild, C)> = x.clone().into_dyn().typed().unwrap();
    same(&fuse!(|both| both.exp().sum(C)), &both.exp().sum(C));
    assert_eq!(
        fuse!(|both| both.exp().mean(keep(C))).names(),
        both.exp().mean(keep(C)).names()
    );
    same(&fuse!(|wild| (wild + 1.0).sum(..)), &(&wild + 1.0).sum(..));
    let ids = Tensor::<(N, C), i64>::from_fn([3, 5], |at| (at[0] * at[1]) as i64 - 2);
    same(&fuse!(|ids| (ids * 3).sum((C, N))), &(&ids * 3).sum((C, N)));
    let half = x.to::<bf16>();
    same(
        &fuse!(|half, x| (half * 2.0 + x).to::<bf16>().var(C)),
        &(&half * 2.0 + &x).to::<bf16>().var(C),
    );
    let (any, all): (Tensor<(N,), bool>, Tensor<(C,), bool>) = (
        fuse!(|x| x.gt(0.5).any(C)),
        fuse!(|x, ids| x.gt(ids).all(N)),
    );
    same(&any, &x.gt(0.5).any(C));
    same(&all, &x.gt(&ids).all(N));
    // A number and a tensor promote as in the separate operators.
    let picked = fuse!(|x, ids| ids.gt(0).where_cond(x.to::<f16>(), 2.5).sum(C));
    same(&picked, &ids.gt(0).where_cond(&x.to::<f16>(), 2.5).sum(C));
}

fn pool<D: Dims + Has<C> + Broadcast<(C,)>>(
    x: &Tensor<D>,
    b: &Tensor<(C,)>,
) -> Tensor<Without<Sum<D, (C,)>, C>>
where
    Sum<D, (C,)>: Has<C>,
{
    fuse!(|x, b| (x * b).relu().sum(C))
}

#[test]
fn in_generic_functions() {
    let (x, b) = (x(), tensor!([1., -2., 3., 0.5, 0.]; C));
    same(&pool(&x, &b), &(&x * &b).relu().sum(C));
}

#[test]
fn owned_borrowed_and_counted() {
    let x = x();
    let (counted, boxed) = (std::sync::Arc::new(x.clone()), Box::new(x.clone()));
    let mut own = x.clone();
    let writable = &mut own;
    same(
        &fuse!(|counted, boxed, writable| counted * boxed + writable),
        &(&x * &x + &x),
    );
}

#[test]
fn results_instead_of_panics() {
    let (x, long) = (x(), Tensor::<(C,)>::zeros([6]));
    let b = tensor!([1., -2., 3., 0.5, 0.]; C);
    same(&try_fuse!(|x, b| x.exp() * b).unwrap(), &(x.exp() * &b));
    same(
        &try_fuse!(|x, b| (x * b).sum(N)).unwrap(),
        &(&x * &b).sum(N),
    );
    same(
        &try_fuse!(|x, b| (x * b).argmax(C)).unwrap(),
        &(&x * &b).argmax(C),
    );
    let text = |error: Error| without_places(&error.to_string());
    let separate = text(x.exp().try_add(&long).unwrap_err());
    assert_eq!(
        text(try_fuse!(|x, long| x.exp() + long).unwrap_err()),
        separate
    );
    let fused = try_fuse!(|x, long| (x.exp() + long).sum(C)).unwrap_err();
    assert_eq!(text(fused), separate);
    let empty = Tensor::<(N, C)>::zeros([3, 0]);
    let fused = try_fuse!(|empty| (empty * 2.0).amax(C)).unwrap_err();
    assert_eq!(text(fused), text((&empty * 2.0).try_amax(C).unwrap_err()));
}

#[test]
fn tensors_without_types() -> Result<()> {
    let (typed, row) = (x(), tensor!([1., -2., 3., 0.5, 0.]; C));
    let (x, b) = (typed.clone().into_dyn(), row.clone().into_dyn());
    let told = |x: &DynTensor| format!("{:?} {x}", x.names());
    let rate = 0.5;
    let got = fuse!(|x, b| {
        let h = (x + b).tanh();
        2.0 - h * x / { rate }
    })?;
    let expected = 2.0 - (&typed + &row).tanh() * &typed / rate;
    assert_eq!(told(&got), told(&expected.into_dyn()));
    let got = fuse!(|x, b| (x * b).to::<f64>().sum("C"))?;
    assert_eq!(
        told(&got),
        told(&(&typed * &row).to::<f64>().sum(C).into_dyn())
    );
    let got = fuse!(|x, b| x.gt(b).where_cond(x, 0.0).mean(["C", "N"]))?;
    let expected = typed.gt(&row).where_cond(&typed, 0.0).mean((C, N));
    assert_eq!(told(&got), told(&expected.into_dyn()));
    let (values, _) = fuse!(|x| x.abs().max("C"))?;
    assert_eq!(told(&values), told(&typed.abs().max(C).0.into_dyn()));
    // `try_fuse!` gives the same.
    let got = try_fuse!(|x, b| x * b)?;
    assert_eq!(told(&got), told(&fuse!(|x, b| x * b)?));
    let got = try_fuse!(|x, b| (x * b).sum("C"))?;
    assert_eq!(told(&got), told(&fuse!(|x, b| (x * b).sum("C"))?));
    let dims = ["C", "N"];
    let got = try_fuse!(|x| x.exp().mean(dims))?;
    assert_eq!(told(&got), told(&typed.exp().mean((C, N)).into_dyn()));
    let (values, _) = try_fuse!(|x| x.abs().max("C"))?;
    assert_eq!(told(&values), told(&typed.abs().max(C).0.into_dyn()));
    let got = try_fuse!(|x| x.abs().argmax(..))?;
    assert_eq!(told(&got), told(&typed.abs().argmax(..).into_dyn()));
    assert!(try_fuse!(|x| x.exp().sum("K")).is_err());
    // Errors equal those of the methods.
    let other = b.rename(["K"])?;
    let text = |error: Error| error.to_string();
    assert_eq!(
        text(fuse!(|x, other| x.exp() * other).unwrap_err()),
        text(x.exp()?.mul(&other).unwrap_err())
    );
    assert_eq!(
        text(fuse!(|x, b| (x * b).sum("K")).unwrap_err()),
        text(x.mul(&b)?.sum("K").unwrap_err())
    );
    assert_eq!(
        text(fuse!(|x, b = b.narrow("C", 0, 4)?| x * b).unwrap_err()),
        text(x.mul(&b.narrow("C", 0, 4)?).unwrap_err())
    );
    Ok(())
}

#[test]
fn other_layouts() {
    let x = Tensor::<(N, C, K)>::from_fn([7, 30, 9], |at| (at[0] * 270 + at[1] * 9 + at[2]) as f32);
    let turned: Tensor<(K, C, N)> = x.align_to((K, C, N));
    let scale = tensor!([2., 3., 4., 5., 6., 7., 8.]; N);
    same(
        &fuse!(|turned, scale| turned * scale + 1.0),
        &(&turned * &scale + 1.0),
    );
    let part = x.narrow(C, 3..20);
    let row = part.select(N, 2);
    same(&fuse!(|part, row| part.sqrt() - row), &(part.sqrt() - &row));
    let column = part.narrow(K, 0..1);
    same(&fuse!(|part, column| part - column), &(&part - &column));
}

#[test]
fn names_that_only_the_run_time_knows() {
    let named: Tensor<(N, C)> = x();
    let wild: Tensor<(Wild, Wild)> = named.drop_names();
    let got = fuse!(|wild, named| wild * 2.0 + named);
    let expected = &wild * 2.0 + &named;
    assert_eq!(got.names(), expected.names());
    let once: Tensor<(Wild,)> = tensor!([1., 2., 3., 4., 5.]; C).into_dyn().typed().unwrap();
    let got = fuse!(|wild, once| wild.exp() * once);
    assert_eq!(got.names(), (wild.exp() * &once).names());
}

fn message(call: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let caught = std::panic::catch_unwind(call).unwrap_err();
    without_places(&caught.downcast::<String>().unwrap())
}

/// Strips the lines that say where operands were made: a fused step has no such place.
fn without_places(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn errors_are_those_of_the_operator() {
    let x = x();
    let long = Tensor::<(C,)>::zeros([6]);
    let fused = message(|| drop(fuse!(|x, long| x.exp() * 2.0 + long)));
    let separate = message(|| drop(x.exp() * 2.0 + &long));
    assert_eq!(fused, separate);
    let one: Tensor<(Wild,)> = Tensor::<(N,)>::zeros([5]).into_dyn().typed().unwrap();
    let fused = message(|| drop(fuse!(|x, one| x.exp() * one)));
    let separate = message(|| drop(x.exp() * &one));
    assert_eq!(fused, separate);
}
