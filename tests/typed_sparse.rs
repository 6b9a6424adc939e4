//! Sparse tensors with names in their types, and memory orders.

use nomina::prelude::*;
use nomina::{AnyLayout, Layout};

dims! { N, C, K, H, W }
dims! { Rgb = 3 }

/// Returns [[0, 2, 7], [4, 0, 0]], with the 7 stored as 3 + 4.
fn x() -> Sparse<(N, C)> {
    let entries = [([1, 0], 4.0), ([0, 2], 3.0), ([0, 1], 2.0), ([0, 2], 4.0)];
    Sparse::from_entries(&entries, [2, 3])
}

#[test]
fn builds_from_entries_and_parts() {
    let x = x();
    assert_eq!((x.shape(), x.size(C), x.rank()), (&[2, 3][..], 3, 2));
    assert_eq!((x.nnz(), x.sparse_dim(), x.dense_dim()), (4, 2, 0));
    assert!(x.is_sparse() && !x.is_coalesced() && x.layout() == Layout::SparseCoo);
    assert_eq!(x.names(), names!["N", "C"]);
    assert!(
        x.try_indices()
            .is_err_and(|e| e.kind() == ErrorKind::Layout)
    );
    let y = x.coalesce();
    assert_eq!(y.indices().to_vec(), [0, 0, 1, 1, 2, 0]);
    assert_eq!(y.values().to_vec(), [2.0, 7.0, 4.0]);
    let back: Tensor<(N, C)> = x.to_dense();
    assert_eq!(back.to_vec(), [0.0, 2.0, 7.0, 4.0, 0.0, 0.0]);
    let again: Sparse<(N, C)> = back.to_sparse();
    assert_eq!((again.nnz(), again.is_coalesced()), (3, true));
    let indices = tensor!([[0i64, 1], [2, 0]]; K, H);
    let values = tensor!([1.0f64, 2.0]; W);
    let z: Sparse<(N, Rgb), f64> = Sparse::from_coo(&indices, &values, (N.of(2), Rgb));
    assert_eq!(z.to_dense().to_vec(), [0.0, 0.0, 1.0, 2.0, 0.0, 0.0]);
    let outside = Sparse::<(N, C)>::try_from_entries(&[([0, 3], 1.0)], [2, 3]).unwrap_err();
    assert_eq!(outside.kind(), ErrorKind::Index);
    assert!(
        outside.to_string().contains("index 3 is outside of 3"),
        "{outside}"
    );
}

#[test]
fn sums_and_products() {
    let x = x();
    let y: Sparse<(N, C), f64> = Sparse::from_entries(&[([0, 0], 1.0), ([0, 2], -7.0)], [2, 3]);
    let sum: Sparse<(N, C), f64> = &x + &y;
    assert_eq!(sum.to_dense().to_vec(), [1.0, 2.0, 0.0, 4.0, 0.0, 0.0]);
    let difference: Sparse<(N, C), f64> = &x - &y;
    assert_eq!(
        difference.to_dense().to_vec(),
        [-1.0, 2.0, 14.0, 4.0, 0.0, 0.0]
    );
    let scaled: Sparse<(N, C)> = &(&x * 2.0) / 4;
    assert_eq!(
        (-&scaled).to_dense().to_vec(),
        [0.0, -1.0, -3.5, -2.0, 0.0, 0.0]
    );
    let both: Sparse<(N, C), f64> = &x * &y;
    assert_eq!(both.to_dense().to_vec(), [0.0, 0.0, -49.0, 0.0, 0.0, 0.0]);
    let dense = Tensor::<(N, C)>::ones([2, 3]);
    let masked: Sparse<(N, C)> = &x * &dense;
    assert!(masked.to_dense().equal(&x.to_dense()));
    let total: Tensor<(N, C)> = dense.add_sparse(&x);
    assert_eq!(total.to_vec(), [1.0, 3.0, 8.0, 5.0, 1.0, 1.0]);
    assert!(x.add_dense(&dense).equal(&total));
    assert_eq!(
        x.sqrt()
            .square()
            .relu()
            .abs()
            .sign()
            .coalesce()
            .values()
            .to_vec(),
        [1.0; 3]
    );
    assert_eq!(x.to::<i32>().to_dense().to_vec(), [0, 2, 7, 4, 0, 0]);
    assert_eq!(dense.sparse_mask(&x).values().to_vec(), [1.0; 3]);
    let options = AddOptions { alpha: 2.into() };
    let twice: Sparse<(N, C)> = x.add_with(&x, options);
    assert!(twice.to_dense().equal(&(x.to_dense() * 3.0)));
    let small: Sparse<(N, C)> = Sparse::from_entries(&[], [2, 2]);
    assert!(
        x.try_add(&small)
            .is_err_and(|e| e.kind() == ErrorKind::Shape)
    );
}

#[test]
fn sums_by_name() {
    let x = x();
    let columns: Sparse<(C,)> = x.sum(N);
    assert_eq!(columns.to_dense().to_vec(), [4.0, 2.0, 7.0]);
    let rows: Sparse<(N,)> = x.sum(C);
    assert_eq!(rows.to_dense().to_vec(), [9.0, 4.0]);
    let kept: Sparse<(N, C)> = x.sum(keep(C));
    assert_eq!(kept.shape(), [2, 1]);
    let all: Tensor<()> = x.sum(..);
    assert_eq!(all.item(), 13.0);
    let all: Tensor<(), i64> = x.to::<i32>().sum((N, C));
    assert_eq!(all.item(), 13);
}

#[test]
fn matrices() {
    let x = x();
    let b = tensor!([[1., 2.], [3., 4.], [5., 6.]]; C, K);
    let y: Tensor<(N, K)> = x.mm(&b);
    assert!(y.equal(&x.to_dense().mm(&b)) && x.matmul(&b).equal(&y));
    let v: Tensor<(N,)> = x.mv(&tensor!([1., 0., 1.]; C));
    assert_eq!(v.to_vec(), [7.0, 4.0]);
    let left: Tensor<(K, N)> = b.t().mm_sparse(&x.t());
    assert!(left.equal(&y.t()));
}

#[test]
fn names_and_order() {
    let x = x();
    let t: Sparse<(C, N)> = x.t();
    assert!(t.to_dense().equal(&x.to_dense().t()));
    let _: Sparse<(C, N)> = x.transpose(N, C);
    let _: Sparse<(C, N)> = x.align_to((C, ..));
    let _: Sparse<(C, N)> = x.permute((C, N));
    let h: Sparse<(H, C)> = x.rename(N, H);
    assert_eq!(h.names(), names!["H", "C"]);
    let dropped: Sparse<(Wild, Wild)> = h.drop_names();
    assert!(!dropped.names().has_names());
    let named: Sparse<(N, Wild)> = dropped.refine_names((N, Wild));
    // A name known only at run time.
    let wild: Sparse<(N, Wild)> = Sparse::from_dyn(x.as_dyn()).unwrap();
    assert_eq!(wild.names(), names!["N", "C"]);
    let _: Sparse<(N, Wild)> = &named + &wild;
    let other = wild.rename(N, H);
    assert_eq!(other.names(), names!["H", "C"]);
    assert!(
        wild.try_rename(N, C)
            .is_err_and(|e| e.kind() == ErrorKind::DuplicateNames)
    );
    assert!(Sparse::<(C, N)>::from_dyn(x.as_dyn()).is_err());
    assert!(Sparse::<(N, C), f64>::from_dyn(x.as_dyn()).is_err());
    let hybrid = x.to_dense().to_dyn().to_sparse_with(1).unwrap();
    let error = Sparse::<(N, C)>::from_dyn(&hybrid).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Layout);
    assert!(matches!(hybrid.sum("N").unwrap(), AnyLayout::Dense(_)));
}

#[test]
fn shows_entries() {
    let x = x().coalesce();
    assert!(
        x.to_string()
            .ends_with("dims (N=2, C=3), f32, sparse, 3 entries"),
        "{x}"
    );
    assert!(format!("{x:?}").contains("(0, 1): 2"), "{x:?}");
}

#[test]
fn orders_in_memory() {
    let last = MemoryFormat::ChannelsLast;
    let images = Tensor::<(N, C, H, W)>::options()
        .memory_format(last)
        .rand([2, 3, 4, 5]);
    assert_eq!(images.strides(), [60, 1, 15, 3]);
    assert!(images.is_contiguous_with(last) && !images.is_contiguous());
    assert_eq!(images.suggest_memory_format(), last);
    assert_eq!((&images * 2.0).exp().strides(), [60, 1, 15, 3]);
    assert_eq!(images.zeros_like().strides(), [60, 1, 15, 3]);
    assert_eq!(images.to::<f64>().strides(), [60, 1, 15, 3]);
    let rows = images.contiguous();
    assert_eq!(rows.strides(), [60, 20, 5, 1]);
    assert!(rows.equal(&images));
    assert_eq!(rows.contiguous_with(last).strides(), [60, 1, 15, 3]);
    assert_eq!(rows.clone_with(last).strides(), [60, 1, 15, 3]);
    assert_eq!(rows.to_with::<f64>(last).strides(), [60, 1, 15, 3]);
    let options = LikeOptions {
        memory_format: last,
        ..default()
    };
    assert_eq!(
        rows.ones_like_with::<f64>(options).strides(),
        [60, 1, 15, 3]
    );
    assert_eq!(rows.full_like_with::<i32>(2, options).sum(..).item(), 240);
    let matrix = Tensor::<(N, C)>::ones([2, 3]);
    let error = matrix.try_contiguous_with(last).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Rank);
    assert!(error.to_string().contains("(N=2, C=3)"), "{error}");
    assert!(matrix.try_zeros_like_with::<f32>(options).is_err());
    assert_eq!(matrix.t().zeros_like().strides(), [1, 3]);
    assert_eq!(
        matrix.t().clone_with(MemoryFormat::Preserve).strides(),
        [1, 3]
    );
}
