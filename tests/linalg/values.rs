//! Small matrices with known results.

use nomina::prelude::*;
use nomina::{Complex, MatrixNorm, Tolerance, TriangularOptions};

dims! { N, Row, Col, Rank, K }

fn c(re: f64, im: f64) -> Complex<f64> {
    Complex::new(re, im)
}

#[test]
fn of_complex_numbers() {
    // A Hermitian matrix with determinant 1.
    let a = tensor!([[c(1., 0.), c(0., 1.)], [c(0., -1.), c(2., 0.)]]; Row, Col);
    assert_eq!(a.det((Row, Col)).item(), c(1., 0.));
    let inverse = a.inv((Row, Col));
    let wanted = [c(2., 0.), c(0., -1.), c(0., 1.), c(1., 0.)];
    assert_eq!(inverse.to_vec(), wanted);
    let lower = a.cholesky((Row, Col));
    let wanted = [c(1., 0.), c(0., 0.), c(0., -1.), c(1., 0.)];
    assert_eq!(lower.to_vec(), wanted);
    let root = 5f64.sqrt();
    let wanted = tensor!([(3. - root) / 2., (3. + root) / 2.]; Rank);
    assert!(a.eigvalsh((Row, Col), Rank).allclose(&wanted));
    let x = a.solve(&tensor!([c(1., 0.), c(0., 0.)]; Row), (Row, Col));
    assert_eq!(x.to_vec(), [c(2., 0.), c(0., 1.)]);
    let turn = tensor!([[c(0., 2.), c(0., 0.)], [c(0., 0.), c(3., 0.)]]; Row, Col);
    let (sign, log) = turn.slogdet((Row, Col));
    assert_eq!(sign.item(), c(0., 1.));
    assert!((log.item() - 6f64.ln()).abs() < 1e-15);
}

#[test]
fn of_batches() {
    let a = tensor!([[[1f32, 2.], [3., 4.]], [[0., 1.], [1., 0.]]]; N, Row, Col);
    assert!(a.det((Row, Col)).allclose(&tensor!([-2., -1.]; N)));
    let (sign, log) = a.slogdet((Row, Col));
    assert_eq!(sign.to_vec(), [-1.0, -1.0]);
    assert!(log.allclose(&tensor!([2f32.ln(), 0.]; N)));
    // The inverse of the transpose is the transpose of the inverse: by name they are equal.
    let inverse: Tensor<(N, Col, Row)> = a.inv((Row, Col));
    assert!(a.inv((Col, Row)).allclose(&inverse));
    let b = tensor!([[5f32, 6.], [7., 8.]]; N, Row);
    let x: Tensor<(N, Col)> = a.solve(&b, (Row, Col));
    assert!(x.allclose(&tensor!([[-4., 4.5], [8., 7.]]; N, Col)));
    // Operands that are broadcast without a copy.
    let one = a
        .select(N, 1)
        .unsqueeze(N)
        .expand((N.of(4), Row.of(2), Col.of(2)));
    assert_eq!(one.det((Row, Col)).to_vec(), [-1.0; 4]);
    assert_eq!(
        one.solve(&tensor!([1f32, 2.]; Row), (Row, Col)).to_vec(),
        [2., 1., 2., 1., 2., 1., 2., 1.]
    );
}

#[test]
fn singular_matrices() {
    let a = tensor!([[1., 2.], [2., 4.]]; Row, Col);
    assert_eq!(a.det((Row, Col)).item(), 0.0);
    let (sign, log) = a.slogdet((Row, Col));
    assert_eq!((sign.item(), log.item()), (0.0, f32::NEG_INFINITY));
    assert_eq!(a.matrix_rank((Row, Col)).item(), 1);
    let tolerance = Tolerance {
        atol: 6.0,
        rtol: None,
    };
    assert_eq!(a.matrix_rank_with((Row, Col), tolerance).item(), 0);
    let tolerance = Tolerance {
        rtol: Some(0.0),
        ..Tolerance::default()
    };
    let diagonal = tensor!([[1., 0.], [0., 1e-30]]; Row, Col);
    assert_eq!(diagonal.matrix_rank((Row, Col)).item(), 1);
    assert_eq!(diagonal.matrix_rank_with((Row, Col), tolerance).item(), 2);
    let wanted = tensor!([[1., 2.], [2., 4.]]; Col, Row) / 25.0;
    assert!(a.pinv((Row, Col)).allclose(&wanted));
    // A zero in the first element, so that rows are exchanged.
    let zero = Tensor::<(Row, Col)>::zeros([30, 30]);
    assert_eq!(zero.det((Row, Col)).item(), 0.0);
    assert_eq!(zero.pinv((Row, Col)).sum(..).item(), 0.0);
}

#[test]
fn triangles() {
    let a = tensor!([[2f64, 8.], [1., 4.]]; Row, Col);
    let b = tensor!([2f64, 9.]; Row);
    assert_eq!(
        a.solve_triangular(&b, (Row, Col), false).to_vec(),
        [1.0, 2.0]
    );
    assert_eq!(
        a.solve_triangular(&b, (Row, Col), true).to_vec(),
        [-8.0, 2.25]
    );
    let options = TriangularOptions {
        unitriangular: true,
    };
    let x = a.solve_triangular_with(&b, (Row, Col), false, options);
    assert_eq!(x.to_vec(), [2.0, 7.0]);
    let x = a.solve_triangular_with(&b, (Row, Col), true, options);
    assert_eq!(x.to_vec(), [-70.0, 9.0]);
}

#[test]
fn of_no_elements() {
    let a = Tensor::<(N, Row, Col)>::zeros([2, 0, 0]);
    assert_eq!(a.det((Row, Col)).to_vec(), [1.0, 1.0]);
    let (sign, log) = a.slogdet((Row, Col));
    assert_eq!((sign.to_vec(), log.to_vec()), (vec![1.0; 2], vec![0.0; 2]));
    assert_eq!(a.inv((Row, Col)).shape(), [2, 0, 0]);
    assert_eq!(a.matrix_rank((Row, Col)).to_vec(), [0, 0]);
    assert_eq!(
        a.matrix_norm((Row, Col), MatrixNorm::Nuc).to_vec(),
        [0.0, 0.0]
    );
    assert!(a.try_matrix_norm((Row, Col), MatrixNorm::Two).is_err());
    let (values, vectors) = a.eigh((Row, Col), Rank);
    assert_eq!(
        (values.shape(), vectors.shape()),
        (&[2, 0][..], &[2, 0, 0][..])
    );
    let none = Tensor::<(N, Row, Col)>::zeros([0, 3, 3]);
    assert_eq!(none.inv((Row, Col)).shape(), [0, 3, 3]);
    assert_eq!(none.cholesky((Row, Col)).shape(), [0, 3, 3]);
    assert_eq!(none.eig((Row, Col), Rank).0.shape(), [0, 3]);
    let flat = Tensor::<(Row, Col)>::zeros([3, 0]);
    let (u, s, vh) = flat.svd((Row, Col), Rank);
    assert_eq!(
        (u.shape(), s.shape(), vh.shape()),
        (&[3, 0][..], &[0][..], &[0, 0][..])
    );
    let (q, r) = flat.qr((Row, Col), Rank);
    assert_eq!((q.shape(), r.shape()), (&[3, 0][..], &[0, 0][..]));
    assert_eq!(flat.pinv((Row, Col)).shape(), [0, 3]);
    let x = flat.lstsq(&Tensor::<(Row, K)>::ones([3, 2]), (Row, Col));
    assert_eq!(x.shape(), [0, 2]);
    let x = Tensor::<(Row, Col)>::zeros([0, 2]).lstsq(&Tensor::<(Row,)>::ones([0]), (Row, Col));
    assert_eq!(x.to_vec(), [0.0, 0.0]);
    let square = Tensor::<(Row, Col)>::ones([1, 1]);
    assert_eq!(
        square
            .solve(&Tensor::<(K, Row)>::ones([0, 1]), (Row, Col))
            .shape(),
        [0, 1]
    );
}

#[test]
fn what_is_not_read_may_be_anything() {
    let a = tensor!([[4., f32::NAN], [2., 10.]]; Row, Col);
    assert_eq!(a.cholesky((Row, Col)).to_vec(), [2.0, 0.0, 1.0, 3.0]);
    let (lower, both) = (
        a.eigvalsh((Row, Col), Rank),
        tensor!([[4., 2.], [2., 10.]]; Row, Col),
    );
    assert!(lower.allclose(&both.eigvalsh((Row, Col), Rank)));
    let x = a.solve_triangular(&tensor!([4., 12.]; Row), (Row, Col), false);
    assert_eq!(x.to_vec(), [1.0, 1.0]);
}
