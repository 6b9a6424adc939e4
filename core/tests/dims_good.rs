//! Operations that must compile, on tensors without data, with the type of each result written out.

use core::ops::RangeFull;

use nomina_core::dims::*;

#[macro_use]
mod dims_support;
use dims_support::*;

/// Creates a tensor of this type.
macro_rules! t {
    ($($dims:tt)*) => { make::<($($dims)*), f32>() };
}

/// Checks that the expression has this type.
macro_rules! is {
    ($e:expr => $t:ty) => {{
        let value: $t = $e;
        value
    }};
}

#[test]
fn factories() {
    is!(Tensor::zeros([2, 3]) => Tensor<(N, C)>);
    is!(Tensor::zeros((N.of(2), C.of(3))) => Tensor<(N, C)>);
    is!(Tensor::zeros((N.of(2), Rgb, H.of(4))) => Tensor<(N, Rgb, H)>);
    is!(Tensor::zeros(()) => Tensor<()>);
    is!(Tensor::from_array([[1.0f32, 2.0, 3.0]]) => Tensor<(N, Rgb)>);
    is!(Tensor::from_array(1i64) => Tensor<(), i64>);
    assert_eq!(
        ShapeFor::<(N, Rgb)>::sizes(&(N.of(2), Rgb)).as_slice(),
        [2, 3]
    );
    assert_eq!(ShapeFor::<(N, C)>::sizes(&[4, 5]).as_slice(), [4, 5]);
    let (flat, shape) = ArrayFor::<(N, C)>::into_parts([[1, 2, 3], [4, 5, 6]]);
    assert_eq!(
        (flat.as_slice(), shape.as_slice()),
        (&[1, 2, 3, 4, 5, 6][..], &[2, 3][..])
    );
    let (flat, shape) = ArrayFor::<(N, C, H)>::into_parts([[[true], [false]]]);
    assert_eq!(
        (flat.as_slice(), shape.as_slice()),
        (&[true, false][..], &[1, 2, 1][..])
    );
}

#[test]
fn consts() {
    assert_eq!(<(N, Wild) as DimTuple>::NAMES, [Some("N"), None]);
    assert_eq!(<(N, Rgb) as DimTuple>::SIZES, [None, Some(3)]);
    assert_eq!(<(N, Rgb, Wild) as DimTuple>::LABELS, [None; 3]);
    assert_eq!(<(N, C, H) as DimTuple>::RANK, 3);
    assert_eq!(<() as DimTuple>::RANK, 0);
    const { assert!(<(N, Wild) as DimTuple>::HAS_WILD) };
    const { assert!(!<(N, C) as DimTuple>::HAS_WILD) };
}

#[test]
fn reductions() {
    let x = t!(N, C);
    is!(x.sum(C) => Tensor<(N,)>);
    is!(x.sum((N, C)) => Tensor<()>);
    is!(x.sum((C,)) => Tensor<(N,)>);
    is!(x.sum(..) => Tensor<()>);
    is!(x.sum(()) => Tensor<()>);
    is!(x.sum(keep(C)) => Tensor<(N, C)>);
    is!(x.sum(keep((N, C))) => Tensor<(N, C)>);
    is!(x.sum(keep(..)) => Tensor<(N, C)>);
    is!(make::<(N, C), u8>().sum(C) => Tensor<(N,), i64>);
    is!(x.softmax(C) => Tensor<(N, C)>);
    is!(t!(N, C, H, W).select(H, 0) => Tensor<(N, C, W)>);
    is!(t!(N, Wild).sum(N) => Tensor<(Wild,)>);
    is!(x.sum(other::C) => Tensor<(N,)>);
}

#[test]
fn order() {
    let x = t!(N, C);
    let images = t!(N, C, H, W);
    is!(t!(H, W, C, N).align_to((N, C, H, W)) => Tensor<(N, C, H, W)>);
    is!(images.align_to((W, ..)) => Tensor<(W, N, C, H)>);
    is!(images.align_to((.., C, N)) => Tensor<(H, W, C, N)>);
    is!(images.align_to((C, .., N)) => Tensor<(C, H, W, N)>);
    is!(x.align_to((N, T, C)) => Tensor<(N, T, C)>);
    is!(x.align_to((T, ..)) => Tensor<(T, N, C)>);
    is!(x.align_to((N, Wild, C)) => Tensor<(N, Wild, C)>);
    is!(t!(C,).align_as(&images) => Tensor<(N, C, H, W)>);
    is!(x.transpose(N, C) => Tensor<(C, N)>);
    is!(images.transpose(C, W) => Tensor<(N, W, H, C)>);
    is!(x.t() => Tensor<(C, N)>);
    is!(t!(N,).t() => Tensor<(N,)>);
}

#[test]
fn names() {
    let x = t!(N, C);
    let images = t!(N, C, H, W);
    is!(images.rename(H, A) => Tensor<(N, C, A, W)>);
    is!(images.rename((H, W), (A, B)) => Tensor<(N, C, A, B)>);
    is!(images.rename((H, W), (W, H)) => Tensor<(N, C, W, H)>);
    is!(x.rename(.., (A, B)) => Tensor<(A, B)>);
    is!(x.rename(C, other::C) => Tensor<(N, other::C)>);
    is!(t!(N, Wild).rename(.., (A, B)) => Tensor<(A, B)>);
    is!(t!(N, Wild).refine_names((N, C)) => Tensor<(N, C)>);
    is!(t!(Wild, Wild).refine_names((N, Wild)) => Tensor<(N, Wild)>);
    is!(t!(N, Wild, H).refine_names((N, ..)) => Tensor<(N, Wild, H)>);
    is!(t!(Wild, Wild, H).refine_names((N, C, ..)) => Tensor<(N, C, H)>);
    is!(t!(N, C, Wild).refine_names((.., W)) => Tensor<(N, C, W)>);
    let _: Tensor<DropNames<(N, C)>> = t!(Wild, Wild);
}

#[test]
fn shape() {
    let images = t!(N, C, H, W);
    is!(images.flatten((C, H, W), Features) => Tensor<(N, Features)>);
    is!(images.flatten((C, H), H) => Tensor<(N, H, W)>);
    is!(images.flatten((N, C), C) => Tensor<(C, H, W)>);
    is!(images.flatten((N, C, H, W), K) => Tensor<(K,)>);
    is!(t!(N, Wild, H, W).flatten((H, W), K) => Tensor<(N, Wild, K)>);
    let flat = t!(N, Features);
    let sizes = (C.of(3), H.of(4), W.of(4));
    is!(flat.unflatten(Features, sizes) => Tensor<(N, C, H, W)>);
    is!(flat.unflatten(N, (N.of(3), H.of(4))) => Tensor<(N, H, Features)>);
    is!(flat.unflatten(Features, (Rgb, H.of(4))) => Tensor<(N, Rgb, H)>);
    is!(flat.unsqueeze(K) => Tensor<(K, N, Features)>);
    is!(flat.expand((K.of(2), N.of(3), Features.of(4))) => Tensor<(K, N, Features)>);
    let _: Tensor<Replaced<(N, C), C, K>> = t!(N, K);
    let _: Tensor<Appended<(N, C), K>> = t!(N, C, K);
}

#[test]
fn products() {
    is!(t!(K,).matmul(&t!(K,)) => Tensor<()>);
    is!(t!(N, K).matmul(&t!(K,)) => Tensor<(N,)>);
    is!(t!(K,).matmul(&t!(K, M)) => Tensor<(M,)>);
    is!(t!(N, K).matmul(&t!(K, M)) => Tensor<(N, M)>);
    is!(t!(B, N, K).matmul(&t!(K, M)) => Tensor<(B, N, M)>);
    is!(t!(B, N, K).matmul(&t!(K,)) => Tensor<(B, N)>);
    is!(t!(K,).matmul(&t!(B, K, M)) => Tensor<(B, M)>);
    is!(t!(A, B, N, K).matmul(&t!(B, K, M)) => Tensor<(A, B, N, M)>);
    is!(t!(Wild, N, K).matmul(&t!(A, B, K, M)) => Tensor<(A, B, N, M)>);
    is!(t!(N, Rgb).matmul(&t!(C, M)) => Tensor<(N, M)>);
    is!(t!(N, Features).contract(&t!(Features, Classes), Features) => Tensor<(N, Classes)>);
    is!(t!(B, T, K).contract(&t!(B, H, K), K) => Tensor<(B, T, H)>);
}

#[test]
fn elementwise() {
    let x = t!(N, C);
    let bias = t!(C,);
    is!(&x + &bias => Tensor<(N, C)>);
    is!(&bias + &x => Tensor<(N, C)>);
    is!(&x + &t!() => Tensor<(N, C)>);
    is!(&t!(N, Wild) + &t!(Wild, C) => Tensor<(N, C)>);
    is!(&t!(Wild, Wild) + &t!(Wild, C) => Tensor<(Wild, C)>);
    is!(&t!(Wild,) + &t!(A, Wild, C) => Tensor<(A, Wild, C)>);
    is!(&x + &make::<(other::N, other::C), f32>() => Tensor<(N, C)>);
    is!(&x + &make::<(N, C), f64>() => Tensor<(N, C), f64>);
    is!(&x + &make::<(), f64>() => Tensor<(N, C), f32>);
    is!(&make::<(), f64>() + &x => Tensor<(N, C), f32>);
    is!(&make::<(N,), i64>() + &make::<(), f64>() => Tensor<(N,), f64>);
    let mut y = t!(N, C);
    y += &bias;
    y += &t!();
    y += &make::<(N, C), f64>();
    let mut wild = t!(N, Wild);
    wild += &t!(N, Wild);
    wild += &x;
    assert_eq!((&wild + &x).names(), [Some("N"), Some("C")]);
}

#[test]
fn positions_are_known_to_the_compiler() {
    assert_eq!(positions::<(C, N), (N, C, H)>(), [1, 0]);
    assert_eq!(positions::<Keep<H>, (N, C, H)>(), [2]);
    assert_eq!(positions::<RangeFull, (N, C, H)>(), [0, 1, 2]);
    assert_eq!(positions::<(), (N, C)>(), [0, 1]);
    assert_eq!(position::<C, (Wild, C)>(), 1);
    assert_eq!(places::<(N, C), (C, T, N)>(), [Some(1), None, Some(0)]);
    assert_eq!(
        places::<(Wild, C, Wild), (C, Wild, Wild)>(),
        [Some(1), Some(0), Some(2)]
    );
    assert_eq!(places::<(N,), (Wild, N)>(), [None, Some(0)]);
}
