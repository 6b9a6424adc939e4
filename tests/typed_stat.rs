//! Typed norms, moments, running results and integrals.

use nomina::prelude::*;

dims! { N, C, T, V }

fn x() -> Tensor<(N, C)> {
    tensor!([[3., 4.], [6., 8.]]; N, C)
}

#[test]
fn moments() {
    let (std, mean): (Tensor<(N,)>, Tensor<(N,)>) = x().std_mean(C);
    assert_eq!(mean.to_vec(), [3.5, 7.0]);
    assert_eq!(std.to_vec(), x().std(C).to_vec());
    let options = VarOptions {
        correction: 0.0,
        ..default()
    };
    let (var, _): (Tensor<(N, C)>, _) = x().var_mean_with(keep(C), options);
    assert_eq!((var.shape(), var.to_vec()), (&[2, 1][..], vec![0.25, 1.0]));
    let kept = VarOptions {
        keepdim: true,
        ..default()
    };
    assert_eq!(
        x().try_var_mean_with(C, kept).unwrap_err().kind(),
        ErrorKind::Argument
    );
    let (low, high): (Tensor<()>, Tensor<()>) = x().aminmax(..);
    assert_eq!((low.item(), high.item()), (3.0, 8.0));
}

#[test]
fn norms() {
    let norm: Tensor<(N,)> = x().norm(C);
    assert_eq!(norm.to_vec(), [5.0, 10.0]);
    let p = |p| NormOptions { p, ..default() };
    assert_eq!(x().norm_with(N, p(f64::INFINITY)).to_vec(), [6.0, 8.0]);
    assert_eq!(x().norm_with((N, C), p(1.0)).item(), 21.0);
    assert_eq!(x().norm_with(.., p(0.0)).item(), 4.0);
    let complex: Tensor<(N,), Complex<f32>> = Tensor::from_array([Complex::new(3.0, 4.0)]);
    let norm: Tensor<(), f32> = complex.norm(N);
    assert_eq!(norm.item(), 5.0);
    let distance: Tensor<()> = x().dist(&tensor!([3., 4.]; C));
    assert_eq!(distance.item(), 5.0);
    assert_eq!(x().dist_with(&x(), p(1.0)).item(), 0.0);
    let scaled: Tensor<(N, C)> = x().renorm(1.0, N, 7.0);
    assert_eq!(scaled.norm_with(C, p(1.0)).to_vec()[0], 7.0);
    let mut own = x();
    own.renorm_(1.0, N, 7.0);
    assert_eq!(own.to_vec(), scaled.to_vec());
}

#[test]
fn what_is_not_nan() {
    let x = tensor!([[f32::NAN, 1.0], [2.0, 4.0]]; N, C);
    let sum: Tensor<(C,)> = x.nansum(N);
    assert_eq!(sum.to_vec(), [2.0, 5.0]);
    assert_eq!(x.nanmean(N).to_vec(), [2.0, 2.5]);
    let wide: Tensor<(), f64> = x.nanmean_with(.., ReduceOptions::<f64>::default());
    assert_eq!(wide.item(), 7.0 / 3.0);
    let count: Tensor<(N,), i64> = tensor!([[0, 1], [0, 0]]; N, C).count_nonzero(C);
    assert_eq!(count.to_vec(), [1, 0]);
}

#[test]
fn running() {
    let product: Tensor<(N,), i64> = Tensor::<(N,), i32>::from_array([2, 3, 4]).cumprod(N);
    assert_eq!(product.to_vec(), [2, 6, 24]);
    let doubles: Tensor<(N, C), f64> = x().cumprod_with(C, ReduceOptions::<f64>::default());
    assert_eq!(doubles.to_vec(), [3.0, 12.0, 6.0, 48.0]);
    let logs: Tensor<(N, C)> = x().logcumsumexp(C);
    assert_eq!(logs.select(C, 0).to_vec(), [3.0, 6.0]);
    let (log, plain) = (x().log_softmax(C), x().softmax(C));
    assert!((log.exp() - plain).abs().amax(..).item() < 1e-6);
    let small: Tensor<(N, C)> = x().softmin(C);
    assert!((small - (-x()).softmax(C)).abs().amax(..).item() < 1e-6);
    let mut own = x();
    own.cumprod_(C);
    assert_eq!(own.to_vec(), [3.0, 12.0, 6.0, 48.0]);
}

#[test]
fn along() {
    let steps: Tensor<(N, C)> = x().diff(C);
    assert_eq!(
        (steps.shape(), steps.to_vec()),
        (&[2, 1][..], vec![1.0, 2.0])
    );
    assert_eq!(x().diff_with(N, DiffOptions { n: 2 }).shape(), [0, 2]);
    let area: Tensor<(N,)> = x().trapezoid(C);
    assert_eq!(area.to_vec(), [3.5, 7.0]);
    let places = tensor!([0., 2.]; C);
    assert_eq!(x().trapezoid_at(&places, C).to_vec(), [7.0, 14.0]);
    let far = TrapezoidOptions { dx: 2.0 };
    let so_far: Tensor<(N, C)> = x().cumulative_trapezoid_with(C, far);
    assert_eq!(so_far.to_vec(), [7.0, 14.0]);
    let whole: Tensor<(), f32> = tensor!([1, 2]; T).trapezoid(T);
    assert_eq!(whole.item(), 1.5);
}

#[test]
fn covariance() {
    let x: Tensor<(V, T)> = tensor!([[1., 2., 3.], [3., 2., 1.]]; V, T);
    let c: Tensor<(V, Prime<V>)> = x.cov();
    assert_eq!(c.names().to_string(), "(V, V')");
    assert_eq!(c.to_vec(), [1.0, -1.0, -1.0, 1.0]);
    assert_eq!(x.corrcoef().to_vec(), [1.0, -1.0, -1.0, 1.0]);
    let often: Tensor<(T,), i64> = Tensor::from_array([1, 0, 1]);
    let options = CovOptions::<T> {
        fweights: Some(&often),
        ..default()
    };
    assert_eq!(x.cov_with(options).to_vec(), [2.0, -2.0, -2.0, 2.0]);
}
