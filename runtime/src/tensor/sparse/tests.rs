//! Sparse tensors against dense ones.

use nomina_core::{DType, ErrorKind, Result};

use crate::tensor::{AddOptions, AnyLayout, DynSparse, DynTensor, ReduceOptions};

fn ints(data: &[i64], size: &[usize]) -> DynTensor {
    DynTensor::from_vec(data.to_vec(), size, ()).unwrap()
}

fn floats(data: &[f32], size: &[usize]) -> DynTensor {
    DynTensor::from_vec(data.to_vec(), size, ()).unwrap()
}

/// [[0, 2, 7], [4, 0, 0]], with 7 as 3 + 4, out of order.
fn x() -> DynSparse {
    let indices = ints(&[1, 0, 0, 0, 0, 2, 1, 2], &[2, 4]);
    let values = floats(&[4.0, 3.0, 2.0, 4.0], &[4]);
    DynSparse::from_coo(&indices, &values, &[2, 3], ["N", "C"]).unwrap()
}

fn vec(x: &DynTensor) -> Vec<f32> {
    x.to_vec().unwrap()
}

#[test]
fn builds_and_coalesces() -> Result<()> {
    let x = x();
    assert!(!x.is_coalesced() && x.is_sparse());
    assert_eq!((x.nnz(), x.sparse_dim(), x.dense_dim()), (4, 2, 0));
    assert_eq!(x.indices().unwrap_err().kind(), ErrorKind::Layout);
    let y = x.coalesce()?;
    assert_eq!(y.indices()?.to_vec::<i64>()?, [0, 0, 1, 1, 2, 0]);
    assert_eq!(vec(&y.values()?), [2.0, 7.0, 4.0]);
    for x in [&x, &y] {
        assert_eq!(vec(&x.to_dense()?), [0.0, 2.0, 7.0, 4.0, 0.0, 0.0]);
        assert_eq!(x.to_dense()?.names(), x.names());
    }
    assert_eq!(x.to_dense()?.to_sparse()?.nnz(), 3);
    Ok(())
}

#[test]
fn blocks_of_dense_dims() -> Result<()> {
    let dense = DynTensor::from_vec(
        vec![0i32, 0, 1, 2, 0, 0, 0, 3, 0, 0, 0, 0],
        &[3, 2, 2],
        ["N", "C", "K"],
    )?;
    for sparse_dim in 0..=3 {
        let x = dense.to_sparse_with(sparse_dim)?;
        assert_eq!(
            (x.sparse_dim(), x.dense_dim()),
            (sparse_dim, 3 - sparse_dim)
        );
        assert!(x.to_dense()?.equal(&dense)?, "{sparse_dim}");
        for dims in [
            vec!["N"],
            vec!["C"],
            vec!["K"],
            vec!["N", "K"],
            vec!["N", "C", "K"],
        ] {
            let (got, want) = (x.sum(&dims[..])?, dense.sum(&dims[..])?);
            assert!(got.to_dense()?.equal(&want)?, "{sparse_dim} {dims:?}");
            let options = ReduceOptions {
                keepdim: true,
                ..Default::default()
            };
            let (got, want) = (
                x.sum_with(&dims[..], options)?,
                dense.sum_with(&dims[..], options)?,
            );
            assert!(got.to_dense()?.equal(&want)?, "{sparse_dim} {dims:?} kept");
        }
    }
    let x = dense.to_sparse_with(2)?;
    assert_eq!(x.nnz(), 2);
    assert_eq!(x.values()?.names().to_string(), "(_, K)");
    assert_eq!(
        x.transpose("N", "C")?.to_dense()?.names().to_string(),
        "(C, N, K)"
    );
    assert!(
        x.transpose("N", "C")?
            .to_dense()?
            .equal(&dense.transpose("N", "C")?)?
    );
    assert_eq!(x.transpose("N", "K").unwrap_err().kind(), ErrorKind::Layout);
    assert_eq!(dense.to_sparse_with(4).unwrap_err().kind(), ErrorKind::Rank);
    Ok(())
}

#[test]
fn sums_and_products() -> Result<()> {
    let (x, dense) = (x(), x().to_dense()?);
    let y = floats(&[1.0, 0.0, -7.0, 0.0, 5.0, 0.0], &[2, 3]).to_sparse()?;
    let z = y.to_dense()?;
    assert!(x.add(&y)?.to_dense()?.equal(&dense.add(&z)?)?);
    assert!(x.coalesce()?.add(&y)?.is_coalesced());
    assert!(x.sub(&y)?.to_dense()?.equal(&dense.sub(&z)?)?);
    let options = AddOptions { alpha: 2.into() };
    assert!(
        x.add_with(&y, options)?
            .to_dense()?
            .equal(&dense.add_with(&z, options)?)?
    );
    assert!(
        x.sub_with(&y, options)?
            .to_dense()?
            .equal(&dense.sub_with(&z, options)?)?
    );
    assert!(z.add_sparse(&x)?.equal(&dense.add(&z)?)?);
    assert!(x.add_dense(&z)?.equal(&dense.add(&z)?)?);
    assert!(x.mul(&y)?.to_dense()?.equal(&dense.mul(&z)?)?);
    assert!(x.mul(&z)?.to_dense()?.equal(&dense.mul(&z)?)?);
    assert!(x.mul(2.5)?.to_dense()?.equal(&dense.mul(2.5)?)?);
    assert_eq!(x.mul(2.5)?.names().to_string(), "(N, C)");
    assert!(x.div(2)?.to_dense()?.equal(&dense.div(2)?)?);
    assert!(x.square()?.to_dense()?.equal(&dense.square()?)?);
    assert!(matches!(x.sum("N")?, AnyLayout::Sparse(_)));
    assert!(matches!(x.sum(..)?, AnyLayout::Dense(_)));
    assert_eq!(
        x.to_dtype(DType::I64)?.to_dense()?.to_vec::<i64>()?,
        [0, 2, 7, 4, 0, 0]
    );
    Ok(())
}

#[test]
fn matrices() -> Result<()> {
    let x = x();
    let b = DynTensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2], ["C", "K"])?;
    let want = x.to_dense()?.mm(&b)?;
    assert!(x.mm(&b)?.equal(&want)? && x.matmul(&b)?.equal(&want)?);
    assert_eq!(x.mm(&b)?.names().to_string(), "(N, K)");
    let turned = b.t()?.mm_sparse(&x.t()?)?;
    assert!(turned.equal(&want.t()?)?);
    let v = b.select("K", 1)?;
    assert!(x.mv(&v)?.equal(&x.to_dense()?.mv(&v)?)?);
    assert_eq!(
        x.mm(&b.rename(["A", "N"])?).unwrap_err().kind(),
        ErrorKind::DuplicateNames
    );
    assert_eq!(x.mm(&b.t()?).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(x.mm(&v).unwrap_err().kind(), ErrorKind::Rank);
    assert_eq!(x.mm(&b.to::<f64>()?).unwrap_err().kind(), ErrorKind::DType);
    Ok(())
}

#[test]
fn refuses_what_does_not_fit() -> Result<()> {
    let (one, two) = (floats(&[1.0], &[1]), floats(&[1.0, 2.0], &[2]));
    let build = |indices: &DynTensor, values: &DynTensor, size: &[usize]| {
        let error = DynSparse::from_coo(indices, values, size, ()).unwrap_err();
        (error.kind(), error.to_string())
    };
    let at = ints(&[1, 2], &[2, 1]);
    assert_eq!(build(&at, &two, &[2, 3]).0, ErrorKind::Shape);
    assert_eq!(build(&at, &one, &[2]).0, ErrorKind::Rank);
    assert_eq!(build(&one, &one, &[2]).0, ErrorKind::DType);
    assert_eq!(build(&ints(&[1], &[1]), &one, &[2]).0, ErrorKind::Rank);
    assert_eq!(build(&ints(&[-1], &[1, 1]), &one, &[2]).0, ErrorKind::Index);
    assert_eq!(
        build(&at, &one, &[usize::MAX, usize::MAX]).0,
        ErrorKind::Shape
    );
    let (kind, text) = build(&at, &one, &[2, 2]);
    assert_eq!(kind, ErrorKind::Index);
    assert!(text.contains("index 2 is outside of 2 at dim 1"), "{text}");
    let (x, y) = (x(), x().rename(["A", "C"])?);
    assert_eq!(x.add(&y).unwrap_err().kind(), ErrorKind::NameMismatch);
    assert_eq!(x.sum("H").unwrap_err().kind(), ErrorKind::NameNotFound);
    let other = DynSparse::zeros(&[1, 3], DType::F32, ())?;
    assert_eq!(x.add(&other).unwrap_err().kind(), ErrorKind::Shape);
    let bools = x.to_dtype(DType::Bool)?;
    assert_eq!(bools.sub(&bools).unwrap_err().kind(), ErrorKind::DType);
    assert_eq!(
        bools.add(&bools)?.to_dense()?.to_vec::<bool>()?,
        [false, true, true, true, false, false]
    );
    Ok(())
}

#[test]
fn nothing_and_numbers() -> Result<()> {
    let none = DynSparse::zeros(&[2, 0], DType::F64, ["N", "C"])?;
    assert_eq!(none.coalesce()?.to_dense()?.shape(), [2, 0]);
    assert_eq!(none.sum(..)?.to_dense()?.item()?.to_f64(), 0.0);
    assert_eq!(none.sum("C")?.to_dense()?.to_vec::<f64>()?, [0.0, 0.0]);
    let number = DynTensor::scalar(3.0)?.to_sparse()?;
    assert_eq!((number.nnz(), number.sparse_dim()), (1, 0));
    assert_eq!(number.add(&number)?.to_dense()?.item()?.to_f64(), 6.0);
    let nan = floats(&[f32::NAN, 0.0], &[2]).to_sparse()?;
    assert_eq!(nan.nnz(), 1);
    Ok(())
}

#[test]
fn shows_entries() {
    let x = x().coalesce().unwrap();
    let shown = "indices:\n[[0 0 1]\n [1 2 0]]\nvalues:\n[2. 7. 4.]\ndims (N=2, C=3), f32, sparse, 3 entries";
    assert_eq!(x.to_string(), shown);
    let line = format!("{x:?}");
    assert!(
        line.starts_with("dims (N=2, C=3), f32, sparse, 3 entries: [(0, 1): 2"),
        "{line}"
    );
}
