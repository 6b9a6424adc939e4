//! Programs that newcomers to typed names wrote first.

use nomina::prelude::*;

dims! { N, C, H, Lat, Lon }

type Grid = Tensor<(Lat, Lon), f64>;

#[test]
fn the_type_says_the_dtype() {
    let x: Tensor<(N,), f64> = Tensor::ones([2]);
    assert_eq!(x.dtype(), DType::F64);
    assert_eq!(Grid::zeros([2, 3]).dtype(), DType::F64);
    assert_eq!(Grid::randn([2, 3]).dtype(), DType::F64);
    let eye: Tensor<(N, C), i32> = Tensor::eye([2, 2]);
    assert_eq!(eye.to_vec(), [1, 0, 0, 1]);
    let line = Tensor::<(N,), f64>::linspace(0.0, 1.0, 3);
    assert_eq!(line.to_vec(), [0.0, 0.5, 1.0]);
    // The dtype defaults to f32.
    assert_eq!(Tensor::<(N,)>::ones([2]).dtype(), DType::F32);
    let x = Tensor::zeros((N.of(2), C.of(3)));
    assert_eq!(x.dtype(), DType::F32);
    let x = Tensor::<(N, C)>::zeros_with::<f64>((N.of(2), C.of(3)));
    assert_eq!(x.dtype(), DType::F64);
}

/// If both dims have the same size, sizes cannot catch the mistake: `matmul` contracts by position,
/// whatever the names.
#[test]
fn square_weights_the_wrong_way_round() {
    let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    let w = tensor!([[0., 1.], [1., 1.]]; H, C);
    let by_name: Tensor<(N, H)> = x.contract(&w, C);
    assert_eq!(by_name.to_vec(), [2.0, 3.0, 4.0, 7.0]);
    let turned: Tensor<(C, H)> = w.align_to((C, H));
    assert!(x.matmul_on(C, &turned).equal(&by_name));
    let (x, w) = (x.into_dyn(), w.into_dyn());
    assert!(x.matmul_on("C", &w).is_err());
}

#[test]
fn a_tensor_contracted_with_itself() {
    let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    let squares: Tensor<(N,)> = x.contract(&x, C);
    assert_eq!(squares.to_vec(), [5.0, 25.0]);
    let pairs: Tensor<(N, Prime<N>)> = x.contract(&x.prime(N), C);
    assert_eq!(pairs.to_vec(), [5.0, 11.0, 11.0, 25.0]);
}

#[test]
fn a_range_that_ends_before_it_starts() {
    let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    assert!(x.try_narrow(C, 2..1).is_err());
}

mod library {
    use nomina::prelude::*;

    dims! { pub N, pub C }

    pub fn rows(x: &Tensor<(N, C)>) -> usize {
        x.size(N)
    }
}

#[test]
fn equal_names_of_two_crates() {
    let x = Tensor::<(N, C)>::ones([2, 3]);
    assert_eq!(library::rows(&x.to_dims()), 2);
    let other = Tensor::<(library::N, library::C)>::ones([2, 3]);
    let sum: Tensor<(N, C)> = (&x + &other).into_dims();
    assert_eq!(sum.sum(..).item(), 12.0);
}

#[test]
fn analysis_by_name() {
    let x = tensor!([1., 2., 3., 10.]; N);
    let months = tensor!([0, 0, 1, 1]; N);
    let mean: Tensor<(C,)> = x.group_by(N, &months, C.of(2)).mean();
    assert_eq!(mean.to_vec(), [1.5, 6.5]);
    assert_eq!(x.rolling(N, 2).sum().to_vec(), [3.0, 5.0, 13.0]);
    assert_eq!(x.resample(N, 2).max().to_vec(), [2.0, 10.0]);
}

/// `#[relations]` writes the bounds that lists of generic dims need.
mod generic {
    use nomina::dims::{Append, Appended, Of};
    use nomina::prelude::*;

    #[relations]
    pub fn total<D, A, B>(x: &Tensor<D>, a: A, b: B) -> Tensor<Without<D, (A, B)>> {
        x.sum((a, b))
    }

    #[relations]
    pub fn one_hot<D, K>(labels: &Tensor<D, i64>, classes: Of<K>) -> Tensor<Appended<D, K>, i64> {
        labels.one_hot(classes)
    }

    #[relations]
    pub fn centred<D: Has<A>, A>(x: &Tensor<D>, dim: A) -> Tensor<D> {
        x - x.mean(keep(dim))
    }

    pub fn load<D: Dims>(array: ndarray::ArrayD<f32>) -> nomina::Result<Tensor<D>> {
        array.try_into()
    }
}

#[test]
fn functions_of_any_dims() {
    let array = ndarray::arr2(&[[1.0_f32, 2.0], [3.0, 6.0]]).into_dyn();
    let x: Tensor<(N, C)> = generic::load(array.clone()).unwrap();
    assert_eq!(generic::total(&x, N, C).item(), 12.0);
    assert_eq!(generic::centred(&x, C).to_vec(), [-0.5, 0.5, -1.5, 1.5]);
    let hot: Tensor<(N, H), i64> = generic::one_hot(&tensor!([1, 0]; N), H.of(2));
    assert_eq!(hot.to_vec(), [0, 1, 1, 0]);
    let error = generic::load::<(N, N)>(array).unwrap_err().to_string();
    assert!(
        error.starts_with("try_from: dim `N` appears more than once"),
        "{error}"
    );
}

/// Large numbers are kept by a wide dtype, and casts from all integer types agree.
#[test]
fn numbers_that_do_not_fit() {
    let x = tensor!([16_777_217]; N; i32);
    assert_eq!((&x.to::<f64>() * 0.5).to_vec(), [8_388_608.5]);
    let wide = tensor!([300.0, -1.0, f32::NAN]; N);
    assert_eq!(wide.to::<u8>().to_vec(), [255, 0, 0]);
    assert_eq!(wide.to::<i8>().to_vec(), [127, -1, 0]);
}

#[test]
fn ranges_and_defaults() {
    let x: Tensor<(N,)> = Tensor::arange(-1, 2, 1);
    assert_eq!(x.to_vec(), [-1.0, 0.0, 1.0]);
    let mut x = Tensor::<(N,)>::default();
    x.extend([1.0, 2.0]);
    assert_eq!(x.to_vec(), [1.0, 2.0]);
}

#[test]
fn linear_algebra_and_fourier_by_name() {
    let a = tensor!([[2., 0.], [0., 4.]]; N, C);
    let x: Tensor<(C,)> = a.solve(&tensor!([2., 8.]; N), (N, C));
    assert_eq!(x.to_vec(), [1.0, 2.0]);
    let s: Tensor<(H,)> = a.svdvals((N, C), H);
    assert_eq!(s.to_vec(), [4.0, 2.0]);
    assert_eq!(tensor!([1., 1.]; N).fft(N).real().to_vec(), [2.0, 0.0]);
}

#[test]
fn tensors_in_json() {
    let x = tensor!([[0.5, 1.0]]; N, C);
    let text = serde_json::to_string(&x).unwrap();
    let back: Tensor<(N, C)> = serde_json::from_str(&text).unwrap();
    assert!(back.equal(&x));
    assert!(serde_json::from_str::<Tensor<(C, N)>>(&text).is_err());
}

#[test]
fn tensors_of_an_iterator() {
    let rows = [tensor!([1., 2.]; C), tensor!([3., 4.]; C)];
    let sum: Tensor<(C,)> = rows.iter().sum();
    assert_eq!(sum.to_vec(), [4.0, 6.0]);
    let product: Tensor<(C,)> = rows.into_iter().product();
    assert_eq!(product.to_vec(), [3.0, 8.0]);
    let collected: Tensor<(N,), i64> = (0..3).collect();
    assert_eq!(collected.to_vec(), [0, 1, 2]);
}

#[test]
fn values_in_formats() {
    let x = tensor!([1.0, 2.5]; N);
    assert!(format!("{x:.2}").contains("1.00"), "{x:.2}");
    assert!(format!("{x:e}").contains("2.5e+00"), "{x:e}");
    let whole = tensor!([1.0, 2.0]; N);
    assert!(format!("{whole:.2}").contains("1.00"), "{whole:.2}");
    assert!(!format!("{x:#?}").is_empty());
}
