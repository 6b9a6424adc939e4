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
    *caught.downcast::<String>().unwrap()
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
