//! Programs of the first month: analysis, generic code, dynamic tensors, and everyday calls.

use nomina::loops::{associative_scan, map_over, scan};
use nomina::prelude::*;
use nomina::{InterpOptions, reduction};

dims! { N, C, H, K, Time = "time", Lat = "lat", Month = 2, Quantile, Place }

const NAN: f32 = f32::NAN;

#[test]
fn groups_windows_and_weights_skip_nan_like_xarray() {
    let x = tensor!([1., NAN, 5., 7.]; Time);
    let month = tensor!([0, 0, 1, 1]; Time);
    assert_eq!(
        x.group_by(Time, &month, Month).nanmean().to_vec(),
        [1.0, 6.0]
    );
    assert!(x.group_by(Time, &month, Month).mean().to_vec()[0].is_nan());
    assert_eq!(x.rolling(Time, 2).nanmean().to_vec(), [1.0, 5.0, 6.0]);
    let weights = tensor!([1., 9., 1., 2.]; Time);
    assert_eq!(x.weighted_nanmean(&weights, Time).item(), 5.0);
}

#[test]
fn a_product_contracts_the_dim_that_is_named() {
    let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    let w = tensor!([[1., 0.], [1., 1.]]; H, C);
    let y: Tensor<(N, H)> = x.contract(&w, C);
    assert_eq!(y.to_vec(), [1.0, 3.0, 3.0, 7.0]);
}

/// The first generic function that everybody writes.
fn total<B: Dim>(x: &Tensor<(N, B)>) -> Tensor<(N,)>
where
    (N, B): Distinct,
{
    x.sum(B::default())
}

fn total_by_name<D: Dims + Has<X>, X: Dim>(x: &Tensor<D>) -> Tensor<Without<D, X>> {
    x.sum(X::default())
}

/// Any set of dims: `S` stays a list.
#[relations]
fn variance<D, S: AxesOf<D> + Copy>(x: &Tensor<D>, dims: S) -> Tensor<Without<D, S>> {
    x.square().mean(dims) - x.mean(dims).square()
}

#[test]
fn generic_dims() {
    let x = tensor!([[1., 3.], [5., 5.]]; N, C);
    assert_eq!(total(&x).to_vec(), [4.0, 10.0]);
    assert_eq!(total_by_name::<_, C>(&x).to_vec(), [4.0, 10.0]);
    assert_eq!(variance(&x, C).to_vec(), [1.0, 0.0]);
    assert_eq!(variance(&x, (N, C)).item(), 2.75);
}

#[test]
fn unsigned_integers_of_tokenizers() {
    let ids: Vec<u32> = vec![2, 0];
    let ids: Tensor<(N,), i64> = Tensor::from_integers(&ids, [2]).unwrap();
    let rows = tensor!([[1., 1.], [2., 2.], [3., 3.]]; K, C).index_select(K, &ids);
    assert_eq!(rows.to_vec(), [3.0, 3.0, 1.0, 1.0]);
}

#[test]
fn dynamic_tensors_have_the_same_methods() {
    let x = DynTensor::from_vec(vec![1.0_f32, 2.0, 3.0, 4.0], &[2, 2], ["N", "C"]).unwrap();
    let names: Vec<String> = vec!["N".into(), "C".into()];
    assert_eq!(DynTensor::zeros(&[2, 2], names).unwrap().names(), x.names());
    assert_eq!(x.slice("N", 1..).unwrap().shape(), [1, 2]);
    let y = x.rename_dim("N", "B").unwrap();
    assert_eq!(y.sum("B").unwrap().to_vec::<f32>().unwrap(), [4.0, 6.0]);
    let sum = (&x + &x).unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), [2.0, 4.0, 6.0, 8.0]);
    assert!((&x + &y).is_err());
}

#[test]
fn masks_combine_and_options_have_defaults() {
    let x = tensor!([1., 5., NAN]; N);
    let mild = x.gt(2.0) & !x.isnan() | x.eq(1.0);
    assert_eq!(mild.to_vec(), [true, true, false]);
    let scores = tensor!([[2., 0.], [0., 2.]]; N, C);
    let labels = tensor!([0, 0]; N);
    let losses = scores.cross_entropy_with(&labels, C, reduction::None, default());
    let sum = scores.cross_entropy_with(&labels, C, reduction::Sum, default());
    assert!((losses.sum(..).item() - sum.item()).abs() < 1e-6);
}

#[test]
fn coordinates_and_frequencies() {
    let x = tensor!([0., 10., 30.]; Lat);
    let lat = tensor!([0., 1., 2.]; Lat);
    let at = tensor!([0.5, 3.]; Place);
    let y: Tensor<(Place,)> = x.interp(Lat, &lat, &at);
    assert!(y.to_vec()[0] == 5.0 && y.to_vec()[1].is_nan());
    let extrapolate = InterpOptions {
        extrapolate: true,
        ..default()
    };
    assert_eq!(
        x.interp_with(Lat, &lat, &at, extrapolate).to_vec(),
        [5.0, 50.0]
    );
    assert!((x.corr(&lat, Lat).item() - 0.981_980_5).abs() < 1e-6);
    let f: Tensor<(K,)> = Tensor::fftfreq(4, 1.0);
    assert_eq!(f.to_vec(), [0.0, 0.25, -0.5, -0.25]);
    let plane = Tensor::<(N, C)>::ones([4, 6]).rfftn((N, C));
    assert_eq!(plane.shape(), [4, 4]);
    let q: Tensor<(Quantile,)> = x.quantiles(&tensor!([0., 0.5, 1.]; Quantile), Lat);
    assert_eq!(q.to_vec(), [0.0, 10.0, 30.0]);
}

#[test]
fn keys_of_json_in_any_order() {
    let x = tensor!([1., 2.]; N);
    let text = serde_json::to_value(&x).unwrap();
    let keys = text.as_object().unwrap();
    let turned: Vec<String> = keys
        .iter()
        .rev()
        .map(|(key, value)| format!("\"{key}\": {value}"))
        .collect();
    let back: Tensor<(N,)> = serde_json::from_str(&format!("{{{}}}", turned.join(", "))).unwrap();
    assert!(back.equal(&x));
}

#[test]
fn a_printed_tensor_shows_its_names() {
    let x = Tensor::<(Time, Lat)>::zeros([2, 3]);
    let text = x.to_string();
    assert!(text.ends_with("dims (time=2, lat=3), f32"), "{text}");
    assert!(text.contains("0."), "{text}");
    assert!(
        format!("{x:?}").starts_with("dims (time=2, lat=3), f32"),
        "{x:?}"
    );
    assert_eq!(tensor!(2.5).to_string(), "2.5");
}

#[test]
fn a_prime_is_a_value() {
    let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    let gram: Tensor<(N, Prime<N>)> = x.contract(&x.prime(N), C);
    assert_eq!(gram.sum(Prime(N)).to_vec(), [16.0, 36.0]);
}

#[test]
fn loops_along_a_dim_have_gradients() {
    let x = tensor!([[1., 2., 3.], [4., 5., 6.]]; N, Time).with_grad();
    let start: Tensor<(N,)> = Tensor::zeros([2]);
    let step = |sum: Tensor<(N,)>, x: Tensor<(N,)>| {
        let sum = sum * 0.5 + x;
        (sum.clone(), sum)
    };
    let (last, sums) = scan(Time, step, start, &x);
    let sums: Tensor<(Time, N)> = sums;
    assert_eq!(sums.select(Time, -1).to_vec(), last.to_vec());
    last.sum(..).backward();
    assert_eq!(x.grad().unwrap().to_vec(), [0.25, 0.5, 1.0, 0.25, 0.5, 1.0]);
    let x = x.detach();
    let running = associative_scan(Time, |a: Tensor<(N, Time)>, b: Tensor<(N, Time)>| a + b, &x);
    assert_eq!(running.to_vec(), [1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
    let lengths: Tensor<(N,)> = map_over(N, |row: Tensor<(Time,)>| row.sum(..), &x);
    assert_eq!(lengths.to_vec(), [6.0, 15.0]);
}
