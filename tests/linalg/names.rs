//! Typed = dynamic: the same names and values, for all positions of rows, columns and batch dims.

use nomina::prelude::*;
use nomina::{DynTensor, MatrixNorm, Wild};

dims! { N, M, Row, Col, K, Rank }

/// Asserts the same names and the same values.
#[track_caller]
fn same<D: nomina::dims::Dims, T: nomina::Element>(typed: Tensor<D, T>, dynamic: &DynTensor) {
    let typed = typed.into_dyn();
    assert_eq!(typed.names(), dynamic.names());
    assert!(typed.equal(dynamic).unwrap());
}

macro_rules! orders {
    ($($name:ident: $dims:ty, $sizes:expr;)*) => {$(
        #[test]
        fn $name() {
            let x = Tensor::<$dims>::randn($sizes).to::<f64>();
            let x = &x * &x + 0.1;
            let d = x.clone().into_dyn();
            let at = ["Row", "Col"];
            let of = (Row, Col);
            same(x.inv(of), &d.inv(at).unwrap());
            same(x.pinv(of), &d.pinv(at).unwrap());
            same(x.det(of), &d.det(at).unwrap());
            same(x.slogdet(of).1, &d.slogdet(at).unwrap().1);
            same(x.matrix_rank(of), &d.matrix_rank(at).unwrap());
            same(x.matrix_norm(of, MatrixNorm::Inf), &d.matrix_norm(at, MatrixNorm::Inf).unwrap());
            let (q, r) = x.qr(of, Rank);
            let (dq, dr) = d.qr(at, "Rank").unwrap();
            same(q, &dq);
            same(r, &dr);
            let (u, s, vh) = x.svd(of, Rank);
            let (du, ds, dvh) = d.svd(at, "Rank").unwrap();
            same(u, &du);
            same(s, &ds);
            same(vh, &dvh);
            same(x.svdvals(of, Rank), &d.svdvals(at, "Rank").unwrap());
            let (values, vectors) = x.eigh(of, Rank);
            let (dvalues, dvectors) = d.eigh(at, "Rank").unwrap();
            same(values, &dvalues);
            same(vectors, &dvectors);
            same(x.eigvalsh(of, Rank), &d.eigvalsh(at, "Rank").unwrap());
            let (values, vectors) = x.eig(of, Rank);
            let (dvalues, dvectors) = d.eig(at, "Rank").unwrap();
            same(values, &dvalues);
            same(vectors, &dvectors);
            let b = Tensor::<(Row,)>::randn([3]).to::<f64>();
            let db = b.clone().into_dyn();
            same(x.solve(&b, of), &d.solve(&db, at).unwrap());
            let b = Tensor::<(K, Row, N, M)>::randn([2, 3, 4, 5]).to::<f64>();
            let db = b.clone().into_dyn();
            same(x.solve(&b, of), &d.solve(&db, at).unwrap());
            same(x.lstsq(&b, of), &d.lstsq(&db, at).unwrap());
            same(x.solve_triangular(&b, of, true), &d.solve_triangular(&db, at, true).unwrap());
            // Rows and columns are exchanged.
            same(x.inv((Col, Row)), &d.inv(["Col", "Row"]).unwrap());
        }
    )*};
}

orders! {
    a_matrix: (Row, Col), [3, 3];
    columns_first: (Col, Row), [3, 3];
    a_batch: (N, Row, Col), [4, 3, 3];
    batch_dims_around: (Row, N, Col, M), [3, 4, 3, 5];
    batch_dims_behind: (Col, Row, M, N), [3, 3, 5, 4];
}

/// Every dim of `b` that the matrices have too is a batch dim, its other dims are kept; compared
/// slice by slice.
#[test]
fn batches_align_by_name() {
    let a = Tensor::<(N, Row, M, Col)>::randn([4, 3, 2, 3]).to::<f64>();
    let b = Tensor::<(K, M, Row)>::randn([5, 2, 3]).to::<f64>();
    let x: Tensor<(N, K, M, Col), f64> = a.solve(&b, (Row, Col));
    for n in 0..4 {
        for m in 0..2 {
            for k in 0..5 {
                let a = a.select(N, n).select(M, m);
                let b = b.select(K, k).select(M, m);
                let wanted: Tensor<(Col,), f64> = a.solve(&b, (Row, Col));
                assert!(x.select(N, n).select(M, m).select(K, k).allclose(&wanted));
            }
        }
    }
}

/// A name unknown to the types stays with its dim.
#[test]
fn unknown_names() {
    let x = Tensor::<(N, Row, Col)>::randn([2, 3, 3]);
    let wild: Tensor<(Wild, Row, Col)> = x.clone().into_dyn().typed().unwrap();
    assert_eq!(wild.inv((Row, Col)).names().to_string(), "(N, Col, Row)");
    let (q, _) = wild.qr((Row, Col), Rank);
    assert_eq!(q.names().to_string(), "(N, Row, Rank)");
    let taken = x.rename(N, Rank).into_dyn();
    let taken: Tensor<(Wild, Row, Col)> = taken.typed().unwrap();
    assert!(taken.try_svdvals((Row, Col), Rank).is_err());
}

/// A constant size declared by `dims!` is checked where the dim is created.
#[test]
fn constant_sizes() {
    mod sized {
        use nomina::prelude::*;
        dims! { pub Two = 2, pub Three = 3, pub Wide = 4 }
    }
    use sized::{Three, Two, Wide};
    let x = Tensor::<(Three, Wide)>::randn([3, 4]);
    let inverse: Tensor<(Wide, Three)> = x.pinv((Three, Wide));
    assert_eq!(inverse.shape(), [4, 3]);
    assert_eq!(x.svdvals((Three, Wide), Rank).shape(), [3]);
    let error = x.try_svdvals((Three, Wide), Two).unwrap_err();
    assert!(error.to_string().contains("Two"), "{error}");
}
