//! Matrices without a result give an error that says why and which matrix; NaN causes neither hangs
//! nor panics.

use nomina::prelude::*;
use nomina::{DType, DynTensor, ErrorKind, MatrixNorm};

const AT: [&str; 2] = ["Row", "Col"];

fn matrix(elements: [f32; 4]) -> DynTensor {
    DynTensor::from_vec(elements.to_vec(), &[2, 2], AT).unwrap()
}

#[track_caller]
fn refused(result: nomina::Result<DynTensor>, kind: ErrorKind, text: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(text), "{error}");
}

#[test]
fn matrices_without_a_result() {
    let singular = matrix([1., 2., 2., 4.]);
    let b = DynTensor::ones(&[2], ["Row"]).unwrap();
    refused(
        singular.inv(AT),
        ErrorKind::Matrix,
        "inv: the matrix is singular",
    );
    refused(singular.solve(&b, AT), ErrorKind::Matrix, "pivot 1 is zero");
    let text = "leading minor of order 2 is not positive";
    refused(
        matrix([1., 2., 2., 1.]).cholesky(AT),
        ErrorKind::Matrix,
        text,
    );
    refused(
        matrix([-1., 0., 0., 1.]).cholesky(AT),
        ErrorKind::Matrix,
        "order 1",
    );
    refused(
        matrix([f32::NAN, 0., 0., 1.]).cholesky(AT),
        ErrorKind::Matrix,
        "order 1",
    );

    // Names the first failing matrix of a batch by its index; the batch dims are on both sides of
    // the matrix.
    let mut batch = vec![0f32; 2 * 2 * 3 * 2];
    for i in 0..2 {
        for row in 0..2 {
            for j in 0..3 {
                batch[((i * 2 + row) * 3 + j) * 2 + row] = 1.0;
            }
        }
    }
    batch[((2 + 1) * 3 + 2) * 2 + 1] = 0.0;
    let batch = DynTensor::from_vec(batch, &[2, 2, 3, 2], ["N", "Row", "M", "Col"]).unwrap();
    refused(
        batch.inv(AT),
        ErrorKind::Matrix,
        "the matrix at [1, 2] of the batch is singular",
    );
    refused(batch.inv(AT), ErrorKind::Matrix, "(N=2, Row=2, M=3, Col=2)");
}

#[test]
fn sizes_dims_and_dtypes() {
    let flat = DynTensor::ones(&[2, 3], AT).unwrap();
    refused(
        flat.inv(AT),
        ErrorKind::Shape,
        "2 rows and 3 columns are not square",
    );
    refused(flat.eigvalsh(AT, "K"), ErrorKind::Shape, "svd");
    refused(flat.inv("Row"), ErrorKind::Argument, "name two");
    refused(flat.det(["Row", "Row"]), ErrorKind::DuplicateNames, "Row");
    refused(
        flat.det(["Row", "C"]),
        ErrorKind::NameNotFound,
        "dim `C` not found",
    );
    refused(
        flat.svdvals(AT, "Col"),
        ErrorKind::DuplicateNames,
        "dim `Col` already exists",
    );
    let whole = flat.to_dtype(DType::I32).unwrap();
    refused(
        whole.pinv(AT),
        ErrorKind::DType,
        "f32, f64, Complex<f32>, Complex<f64>",
    );
    refused(
        flat.to_dtype(DType::F16).unwrap().matrix_rank(AT),
        ErrorKind::DType,
        "f16",
    );
    let a = DynTensor::eye(3, AT).unwrap();
    let ones = |sizes: &[usize], names: &[&str]| DynTensor::ones(sizes, names).unwrap();
    refused(
        a.solve(&ones(&[3], &["K"]), AT),
        ErrorKind::NameNotFound,
        "dim `Row` not found",
    );
    refused(a.solve(&ones(&[4], &["Row"]), AT), ErrorKind::Shape, "Row");
    refused(
        a.solve(&ones(&[3, 3], &["Row", "Col"]), AT),
        ErrorKind::DuplicateNames,
        "Col",
    );
    let other = ones(&[3], &["Row"]).to_dtype(DType::F64).unwrap();
    refused(a.solve(&other, AT), ErrorKind::DType, "f64");
    let unnamed = DynTensor::ones(&[3], ()).unwrap();
    refused(
        a.solve(&unnamed, AT),
        ErrorKind::UnnamedDim,
        "second tensor",
    );
    refused(
        DynTensor::ones(&[], ()).unwrap().det(..),
        ErrorKind::Argument,
        "0 dims",
    );
}

/// NaN and infinities at each position, in small matrices and in ones larger than a block.
#[test]
fn nan_and_infinities() {
    dims! { Row, Col, Rank }
    for n in [2, 5, 40, 90] {
        for bad in [f64::NAN, f64::INFINITY] {
            for at in [0, 1, n * n / 2, n * n - 1] {
                let mut a = Tensor::<(Row, Col)>::randn([n, n]).to::<f64>().to_vec();
                a[at] = bad;
                let a = Tensor::<(Row, Col), f64>::from_vec(a, [n, n]).unwrap();
                let b = Tensor::<(Row,)>::ones([n]).to::<f64>();
                let kind = |result: nomina::Result<()>| result.map_err(|e| e.kind());
                let refused = Err(ErrorKind::Matrix);
                assert_eq!(kind(a.try_svdvals((Row, Col), Rank).map(drop)), refused);
                assert_eq!(kind(a.try_svd((Row, Col), Rank).map(drop)), refused);
                assert_eq!(kind(a.try_eig((Row, Col), Rank).map(drop)), refused);
                assert_eq!(kind(a.try_pinv((Row, Col)).map(drop)), refused);
                assert_eq!(kind(a.try_lstsq(&b, (Row, Col)).map(drop)), refused);
                assert_eq!(kind(a.try_matrix_rank((Row, Col)).map(drop)), refused);
                // Only one triangle is read; the transpose has the other.
                let lower = a.try_eigh((Row, Col), Rank).is_err();
                assert!(lower || a.try_eigh((Col, Row), Rank).is_err());
                if bad.is_nan() {
                    assert!(a.det((Row, Col)).item().is_nan());
                    assert!(a.slogdet((Row, Col)).1.item().is_nan());
                    let inverse = a.inv((Row, Col));
                    assert!(inverse.isnan().any(..).item());
                    assert!(a.solve(&b, (Row, Col)).isnan().any(..).item());
                    for norm in [MatrixNorm::Fro, MatrixNorm::One, MatrixNorm::Inf] {
                        assert!(a.matrix_norm((Row, Col), norm).item().is_nan());
                    }
                    let (q, r) = a.qr((Row, Col), Rank);
                    assert!(q.isnan().any(..).item() || r.isnan().any(..).item());
                }
            }
        }
    }
}
