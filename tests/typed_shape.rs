//! Views, moves, repeats, joins, ranges and complex parts: types and values.

use nomina::prelude::*;
use nomina::{cartesian_prod, try_meshgrid};

dims! { N, C, H, W, K, R, T }
dims! { Rgb = 3 }

fn counted<D: Dims + Distinct>(shape: impl ShapeFor<D>) -> Tensor<D> {
    let sizes = shape.sizes();
    let count: usize = sizes.iter().product();
    Tensor::from_vec((0..count).map(|i| i as f32).collect(), shape).unwrap()
}

#[test]
fn diagonals() {
    let x: Tensor<(N, H, W)> = counted([2, 3, 3]);
    let on: Tensor<(N, K)> = x.diagonal(H, W, K);
    assert_eq!(on.to_vec(), [0., 4., 8., 9., 13., 17.]);
    let up: Tensor<(H, K)> = x.diagonal_with(N, W, K, DiagonalOptions { offset: 1 });
    assert_eq!(
        (up.shape(), up.to_vec()),
        (&[3, 2][..], vec![1., 11., 4., 14., 7., 17.])
    );
    // The new dim may reuse the name of a removed one.
    let same: Tensor<(N, W)> = x.diagonal(W, H, W);
    assert_eq!(same.to_vec(), on.to_vec());
    let planes: Tensor<(N, H, W)> = on.diag_embed(K, H, W);
    assert_eq!(planes.to_vec()[..9], [0., 0., 0., 0., 4., 0., 0., 0., 8.]);
    let first: Tensor<(K, N, W)> = on.diag_embed(N, N, W);
    assert_eq!(first.shape(), [3, 2, 2]);
    let m: Tensor<(N, C)> = counted([2, 3]);
    let d: Tensor<(K,)> = m.diag(K);
    assert_eq!(d.to_vec(), [0., 4.]);
    let flat: Tensor<(R, C)> = d.diagflat_with(R, C, DiagonalOptions { offset: -1 });
    assert_eq!(flat.to_vec(), [0., 0., 0., 0., 0., 0., 0., 4., 0.]);
    let fixed: Result<Tensor<(Rgb,)>> = m.try_diag(Rgb);
    assert_eq!(fixed.unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn triangles() {
    let m: Tensor<(N, C)> = counted([2, 3]);
    assert_eq!(m.tril().to_vec(), [0., 0., 0., 3., 4., 0.]);
    assert_eq!(
        m.triu_with(DiagonalOptions { offset: 1 }).to_vec(),
        [0., 1., 2., 0., 0., 5.]
    );
    let mut own = m.clone();
    own.triu_().tril_with_(DiagonalOptions { offset: 1 });
    assert_eq!(own.to_vec(), [0., 1., 0., 0., 4., 5.]);
    assert_eq!(m.to_vec()[5], 5.0);
    let mut out = Tensor::<(N, C)>::zeros_with::<f64>([2, 3]);
    m.tril_with_out(DiagonalOptions { offset: -1 }, &mut out);
    assert_eq!(out.to_vec(), [0., 0., 0., 3., 0., 0.]);
    assert_eq!(m.sum(C).try_tril().unwrap_err().kind(), ErrorKind::Rank);
    let at: Tensor<(R, K), i64> = Tensor::tril_indices(2, 3, 0);
    assert_eq!(at.to_vec(), [0, 1, 1, 0, 0, 1]);
}

#[test]
fn moves() {
    let m: Tensor<(N, C)> = counted([2, 3]);
    assert_eq!(m.flip(..).to_vec(), [5., 4., 3., 2., 1., 0.]);
    assert_eq!(m.flip((C, N)).to_vec(), m.flip(..).to_vec());
    let turned: Tensor<(C, N)> = m.rot90(N, C);
    assert_eq!(turned.to_vec(), [2., 5., 1., 4., 0., 3.]);
    assert_eq!(m.rot90(C, N).to_vec(), [3., 0., 4., 1., 5., 2.]);
    assert_eq!(m.roll(-1, C).to_vec(), [1., 2., 0., 4., 5., 3.]);
    assert_eq!(m.roll([1, 1], (N, C)).to_vec(), [5., 3., 4., 2., 0., 1.]);
    assert_eq!(m.roll(2, ..).to_vec(), [4., 5., 0., 1., 2., 3.]);
    assert!(m.try_roll([1, 1], C).is_err());
    let line: Tensor<(K,)> = m.t().ravel(K);
    assert_eq!(line.to_vec(), [0., 3., 1., 4., 2., 5.]);
    let seen: Tensor<(N, C, K)> = m.unfold(C, 2, 1, K);
    assert_eq!(seen.to_vec(), [0., 1., 1., 2., 3., 4., 4., 5.]);
    assert!(m.try_unfold(C, 4, 1, K).is_err());
}

#[test]
fn repeats() {
    let m: Tensor<(N, C)> = counted([1, 2]);
    assert_eq!(m.repeat(N.of(2)).to_vec(), [0., 1., 0., 1.]);
    assert_eq!(m.repeat((C.of(2), N.of(3))).shape(), [3, 4]);
    assert_eq!(m.repeat([2, 1]).shape(), [2, 2]);
    assert_eq!(m.tile([0, 1]).shape(), [0, 2]);
    assert_eq!(m.repeat_interleave(2, C).to_vec(), [0., 0., 1., 1.]);
    let counts: Tensor<(K,), i64> = Tensor::from_array([2, 1]);
    assert_eq!(m.repeat_interleave(&counts, C).to_vec(), [0., 0., 1.]);
    assert!(m.try_repeat_interleave(-1, C).is_err());
    let pixels = Tensor::<(N, Rgb)>::ones([2, 3]);
    assert_eq!(pixels.repeat(N.of(2)).shape(), [4, 3]);
    assert_eq!(
        pixels.try_repeat([1, 2]).unwrap_err().kind(),
        ErrorKind::Shape
    );
    assert_eq!(m.expand([4, 2]).shape(), [4, 2]);
    let wide: Tensor<(H, N, C)> = m.expand((H.of(3), N.of(4), C.of(2)));
    assert_eq!(m.expand_as(&wide).shape(), [3, 4, 2]);
    assert!(m.try_expand([4, 3]).is_err());
}

#[test]
fn pieces() {
    let x: Tensor<(N,)> = counted([5]);
    let sizes = |all: Vec<Tensor<(N,)>>| all.iter().map(|x| x.size(N)).collect::<Vec<_>>();
    assert_eq!(sizes(x.chunk(N, 3)), [2, 2, 1]);
    assert_eq!(sizes(x.chunk(N, usize::MAX)), [1; 5]);
    assert_eq!(sizes(x.tensor_split(N, 3)), [2, 2, 1]);
    assert_eq!(sizes(x.tensor_split(N, [1, -2])), [1, 2, 2]);
    assert_eq!(x.try_chunk(N, 0).unwrap_err().kind(), ErrorKind::Argument);
}

#[test]
fn grids_and_joins() {
    let (x, y): (Tensor<(W,)>, Tensor<(H,)>) = (counted([2]), counted([3]));
    let [gy, gx]: [Tensor<(H, W)>; 2] = meshgrid((&y, &x));
    assert_eq!(gx.to_vec(), [0., 1., 0., 1., 0., 1.]);
    assert_eq!(gy.to_vec(), [0., 0., 1., 1., 2., 2.]);
    let [_, _, gz] = try_meshgrid((&x, &y, &counted::<(K,)>([2]))).unwrap();
    assert_eq!(gz.sum((W, H)).to_vec(), [0., 6.]);
    let m: Tensor<(N, C)> = counted([1, 2]);
    assert_eq!(
        block_diag([&m, &m]).to_vec(),
        [0., 1., 0., 0., 0., 0., 0., 1.]
    );
    let pairs: Tensor<(R, K)> = cartesian_prod([&x, &x], R, K);
    assert_eq!(pairs.to_vec(), [0., 0., 0., 1., 1., 0., 1., 1.]);
    let chosen: Tensor<(R, K)> = y.combinations(2, false, R, K);
    assert_eq!(chosen.to_vec(), [0., 1., 0., 2., 1., 2.]);
    let powers: Tensor<(H, K)> = y.vander_with(
        K,
        VanderOptions {
            n: Some(2),
            increasing: true,
        },
    );
    assert_eq!(powers.to_vec(), [1., 0., 1., 1., 1., 2.]);
    let whole: Tensor<(H, K), i64> = Tensor::<(H,), u8>::from_array([2, 3]).vander(K);
    assert_eq!(whole.to_vec(), [2, 1, 3, 1]);
}

#[test]
fn ranges_and_windows() {
    let x: Tensor<(T,), f64> = Tensor::linspace(1.0, 2.0, 5);
    assert_eq!(x.to_vec(), [1.0, 1.25, 1.5, 1.75, 2.0]);
    let powers: Tensor<(T,), i64> = Tensor::logspace_with(0, 3, 4, LogspaceOptions { base: 2.0 });
    assert_eq!(powers.to_vec(), [1, 2, 4, 8]);
    let window: Tensor<(T,)> = Tensor::bartlett_window(4);
    assert_eq!(window.to_vec(), [0.0, 0.5, 1.0, 0.5]);
    assert!(Tensor::<(Rgb,), f32>::try_linspace(0.0, 1.0, 2).is_err());
}

#[test]
fn complex_parts() {
    let re: Tensor<(N, C)> = counted([2, 2]);
    let im: Tensor<(C,)> = counted([2]);
    let z: Tensor<(N, C), Complex<f32>> = re.complex(&im);
    assert_eq!(z.imag().to_vec(), [0., 1., 0., 1.]);
    let pairs: Tensor<(N, C, K)> = z.view_as_real(K);
    assert_eq!(pairs.to_vec()[..4], [0., 0., 1., 1.]);
    let back: Tensor<(N, C), Complex<f32>> = pairs.view_as_complex(K);
    assert!(back.equal(&z));
    let turned: Tensor<(N, C), Complex<f32>> = pairs.align_to((K, N, C)).view_as_complex(K);
    assert!(turned.equal(&z));
    let mut own = z.clone();
    own.conj_();
    assert_eq!(own.imag().to_vec(), [0., -1., 0., -1.]);
    assert_eq!(re.real().to_vec(), re.to_vec());
    let turn: Tensor<(C,), Complex<f32>> = im.polar(&im);
    assert_eq!(turn.real().to_vec()[0], 0.0);
}

#[test]
fn writing_to_a_diagonal() {
    let mut m: Tensor<(N, C)> = counted([2, 3]);
    let before = m.clone();
    m.diagonal_mut(N, C, K).fill_(9.0);
    assert_eq!(m.to_vec(), [9., 1., 2., 3., 9., 5.]);
    m.narrow_mut(C, 1..)
        .diagonal_mut(N, C, K)
        .copy_(&tensor!([7., 8.]; K));
    assert_eq!(m.to_vec(), [9., 7., 2., 3., 9., 8.]);
    assert_eq!(before.to_vec(), [0., 1., 2., 3., 4., 5.]);
}

#[test]
fn dims_whose_names_types_do_not_know() {
    let x: Tensor<(Wild, H, W)> = counted::<(N, H, W)>([2, 3, 3]).into_dyn().typed().unwrap();
    assert_eq!(x.diagonal(H, W, K).names().to_string(), "(N, K)");
    assert_eq!(x.flip(H).names().to_string(), "(N, H, W)");
    let taken = x.try_diagonal(H, W, N).map(drop);
    assert_eq!(taken.unwrap_err().kind(), ErrorKind::DuplicateNames);
    let mut own = x.clone();
    assert_eq!(own.diagonal_mut(H, W, K).names().to_string(), "(N, K)");
    assert_eq!(x.unfold(H, 2, 1, K).names().to_string(), "(N, H, W, K)");
    assert_eq!(x.repeat((H.of(2),)).names().to_string(), "(N, H, W)");
}

#[test]
fn constant_sizes_multiply() {
    dims! { Rows = 16, Columns = 14, Pixels = 224, Image = 672, Rest }
    let x: Tensor<(N, Rgb, Rows, Columns)> = counted([2, 3, 16, 14]);
    let flat: Tensor<(N, Rgb, Pixels)> = x.flatten((Rows, Columns), Pixels);
    let image: Tensor<(N, Image)> = x.flatten((Rgb, Rows, Columns), Image);
    let back: Tensor<(N, Rgb, Rows, Columns)> = image.unflatten(Image, (Rgb, Rows, Columns));
    assert!(back.equal(&x) && flat.unflatten(Pixels, (Rows, Columns)).equal(&x));
    // If a size is not constant, the sizes are multiplied at run time.
    let open: Tensor<(N, Rgb, Rest)> = x.flatten((Rows, Columns), Rest);
    assert_eq!(open.shape(), [2, 3, 224]);
    assert!(open.try_unflatten(Rest, (Rows, H.of(5))).is_err());
    assert!(image.try_unflatten(Image, (Pixels, H.of(4))).is_err());
}
