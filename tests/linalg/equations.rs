//! Equations that hold for every matrix.

use nomina::{DType, DynTensor, Generator, MatrixNorm, Result};

const DTYPES: [DType; 4] = [DType::F32, DType::F64, DType::C64, DType::C128];

/// The names of rows and columns.
const AT: [&str; 2] = ["Row", "Col"];

/// Returns random matrices with a batch of 3 and dims in an order other than rows and columns, as a strided view: for
/// some sizes the columns are contiguous, for others the rows.
fn random(dtype: DType, rows: usize, columns: usize) -> Result<DynTensor> {
    let mut generator = Generator::new((rows * 31 + columns) as u64);
    let options = DynTensor::options().dtype(dtype);
    if (rows + columns).is_multiple_of(4) {
        let names = ["Col", "N", "Row"];
        return options.randn_from(&[columns, 3, rows], names, &mut generator);
    }
    let x = options.randn_from(&[3, rows, columns], ["N", "Row", "Col"], &mut generator)?;
    x.align_to(["Col", "N", "Row"])
}

/// Returns the conjugate transpose: the names keep their positions, rows and columns are exchanged.
fn adjoint(x: &DynTensor) -> Result<DynTensor> {
    let swapped = x.rename([("Row", "Col"), ("Col", "Row")])?;
    swapped.conj()
}

fn hermitian(dtype: DType, n: usize) -> Result<DynTensor> {
    let x = random(dtype, n, n)?;
    x.add(&adjoint(&x)?.align_as(&x)?)
}

/// Returns the greatest magnitude.
fn magnitude(x: &DynTensor) -> Result<f64> {
    if x.numel() == 0 {
        return Ok(0.0);
    }
    Ok(x.abs()?.amax(..)?.item()?.to_f64())
}

fn precision(dtype: DType) -> f64 {
    match dtype.to_real() {
        DType::F32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    }
}

/// Asserts that `found` equals `wanted` by name, up to some multiples of the precision of the greatest element.
#[track_caller]
fn close(what: &str, found: &DynTensor, wanted: &DynTensor, multiples: f64) -> Result<()> {
    let wanted = wanted.align_as(found)?;
    let off = magnitude(&found.sub(&wanted)?)?;
    let allowed = multiples * precision(found.dtype()) * magnitude(&wanted)?.max(1.0);
    assert!(
        off <= allowed,
        "{what} of {}: {off:e} off, {allowed:e} allowed",
        found.dtype()
    );
    Ok(())
}

/// Asserts that `xᴴ x` over a dim is the identity of the other dim.
#[track_caller]
fn orthonormal(what: &str, x: &DynTensor, over: &str, multiples: f64) -> Result<()> {
    let products = x.conj()?.contract(&x.prime("Rank")?, over)?;
    let n = x.size("Rank")?;
    let one = DynTensor::eye(n, ["Rank", "Rank'"])?.to_dtype(x.dtype())?;
    let one = one.align_as(&products)?.expand_as(&products)?;
    close(what, &products, &one, multiples)
}

/// Sizes below and above the block sizes of the kernels and the threshold for threads.
const SIZES: [usize; 6] = [1, 2, 3, 5, 17, 70];
const TALL_AND_WIDE: [(usize, usize); 8] = [
    (1, 1),
    (1, 4),
    (4, 1),
    (3, 3),
    (5, 3),
    (3, 5),
    (70, 20),
    (20, 70),
];

#[test]
fn inverses_and_solutions() -> Result<()> {
    for dtype in DTYPES {
        for n in SIZES {
            // Far from singular.
            let shift = DynTensor::eye(n, AT)?
                .mul(4.0 * (n as f64).sqrt())?
                .to_dtype(dtype)?;
            let a = random(dtype, n, n)?;
            let a = a.add(&shift.align_as(&a)?)?;
            let inverse = a.inv(AT)?;
            // The rows of the inverse have the columns' name; rename its other axis for the product.
            let product = a.contract(&inverse.rename([("Row", "Other")])?, "Col")?;
            let one = DynTensor::eye(n, ["Row", "Other"])?.to_dtype(dtype)?;
            close(
                "A A⁻¹",
                &product,
                &one.align_as(&product)?.expand_as(&product)?,
                40.0,
            )?;
            close("pinv", &a.pinv(AT)?, &inverse, 100.0)?;

            let b = random(dtype, n, 4)?.rename([("Col", "K")])?;
            let x = a.solve(&b, AT)?;
            assert_eq!(x.names().to_string(), "(K, N, Col)");
            close("A x", &a.contract(&x, "Col")?, &b, 60.0)?;
            close("lstsq", &a.lstsq(&b, AT)?, &x, 200.0)?;
        }
    }
    Ok(())
}

#[test]
fn triangular_systems() -> Result<()> {
    for dtype in DTYPES {
        for n in SIZES {
            let shift = DynTensor::eye(n, AT)?
                .mul(4.0 * n as f64)?
                .to_dtype(dtype)?;
            let a = random(dtype, n, n)?;
            let a = a.add(&shift.align_as(&a)?)?.align_to(["N", "Row", "Col"])?;
            let b = random(dtype, n, 4)?.rename([("Col", "K")])?;
            for upper in [false, true] {
                let triangle = if upper { a.triu()? } else { a.tril()? };
                let x = a.solve_triangular(&b, AT, upper)?;
                close("T x", &triangle.contract(&x, "Col")?, &b, 20.0)?;
                close("solve", &triangle.solve(&b, AT)?, &x, 20.0)?;
            }
        }
    }
    Ok(())
}

#[test]
fn determinants() -> Result<()> {
    for dtype in DTYPES {
        for n in SIZES {
            let a = random(dtype, n, n)?.div((n as f64).sqrt())?;
            let det = a.det(AT)?;
            let (sign, log) = a.slogdet(AT)?;
            assert_eq!(log.dtype(), dtype.to_real());
            close("slogdet", &sign.mul(&log.exp()?)?, &det, 100.0 * n as f64)?;
            close(
                "the sign",
                &sign.abs()?,
                &DynTensor::ones_like(&sign.abs()?)?,
                50.0,
            )?;
            let both = a.det(AT)?.mul(&adjoint(&a)?.det(AT)?)?;
            close(
                "det of products",
                &both,
                &both.abs()?.to_dtype(dtype)?,
                400.0,
            )?;
        }
    }
    Ok(())
}

#[test]
fn triangles_of_positive_definite_matrices() -> Result<()> {
    for dtype in DTYPES {
        for n in SIZES {
            let x = random(dtype, n, 2 * n)?;
            let other = x.conj()?.rename([("Row", "Col"), ("Col", "K")])?;
            let a = x.rename([("Col", "K")])?.contract(&other, "K")?;
            let lower = a.cholesky(AT)?;
            assert_eq!(lower.names(), a.names());
            assert!(
                lower
                    .align_to(["N", "Row", "Col"])?
                    .tril()?
                    .equal(&lower.align_to(["N", "Row", "Col"])?)?
            );
            let left = lower.rename([("Col", "K")])?;
            let right = lower.conj()?.rename([("Row", "Col"), ("Col", "K")])?;
            close("L Lᴴ", &left.contract(&right, "K")?, &a, 30.0)?;
        }
    }
    Ok(())
}

#[test]
fn orthonormal_columns_and_triangles() -> Result<()> {
    for dtype in DTYPES {
        for (m, n) in TALL_AND_WIDE {
            let a = random(dtype, m, n)?;
            let (q, r) = a.qr(AT, "Rank")?;
            assert_eq!(q.names().to_string(), "(N, Row, Rank)");
            assert_eq!(r.names().to_string(), "(N, Rank, Col)");
            assert_eq!(r.shape(), [3, m.min(n), n]);
            assert!(r.triu()?.equal(&r)?, "R is a triangle");
            close("Q R", &q.contract(&r, "Rank")?, &a, 40.0)?;
            orthonormal("Qᴴ Q", &q, "Row", 20.0)?;
        }
    }
    Ok(())
}

#[test]
fn singular_values() -> Result<()> {
    for dtype in DTYPES {
        for (m, n) in TALL_AND_WIDE {
            let a = random(dtype, m, n)?;
            let (u, s, vh) = a.svd(AT, "Rank")?;
            assert_eq!(s.dtype(), dtype.to_real());
            assert_eq!(s.names().to_string(), "(N, Rank)");
            let scaled = u.mul(&s.align_as(&u)?)?;
            close("U S Vᴴ", &scaled.contract(&vh, "Rank")?, &a, 40.0)?;
            orthonormal("Uᴴ U", &u, "Row", 40.0)?;
            orthonormal("V Vᴴ", &vh, "Col", 40.0)?;
            let values = a.svdvals(AT, "Rank")?;
            close("svdvals", &values, &s, 40.0)?;
            let (sorted, _) = s.sort_with("Rank", nomina::SortOptions { descending: true })?;
            assert!(sorted.equal(&s)?, "values fall");
            assert!(s.ge(0.0)?.all(..)?.item()?.to_bool());
            // The norms are functions of the singular values.
            let norm = |ord| a.matrix_norm(AT, ord);
            close("nuc", &norm(MatrixNorm::Nuc)?, &s.sum("Rank")?, 40.0)?;
            close("2", &norm(MatrixNorm::Two)?, &s.amax("Rank")?, 40.0)?;
            close("fro", &norm(MatrixNorm::Fro)?, &s.norm("Rank")?, 40.0)?;
            let sums = |dim| a.abs()?.sum(dim);
            close(
                "1",
                &norm(MatrixNorm::One)?,
                &sums("Row")?.amax("Col")?,
                40.0,
            )?;
            close(
                "inf",
                &norm(MatrixNorm::Inf)?,
                &sums("Col")?.amax("Row")?,
                40.0,
            )?;
            let rank = a.matrix_rank(AT)?;
            assert!(rank.eq(m.min(n) as i64)?.all(..)?.item()?.to_bool());
        }
    }
    Ok(())
}

#[test]
fn eigenvalues_of_symmetric_matrices() -> Result<()> {
    for dtype in DTYPES {
        for n in SIZES {
            let a = hermitian(dtype, n)?;
            let (values, vectors) = a.eigh(AT, "Rank")?;
            assert_eq!(values.dtype(), dtype.to_real());
            assert_eq!(vectors.names().to_string(), "(N, Row, Rank)");
            let turned = vectors.rename([("Row", "Col")])?;
            let scaled = vectors.mul(&values.align_as(&vectors)?)?;
            close("A V", &a.contract(&turned, "Col")?, &scaled, 60.0)?;
            orthonormal("Vᴴ V", &vectors, "Row", 100.0)?;
            close("eigvalsh", &a.eigvalsh(AT, "Rank")?, &values, 40.0)?;
            let (sorted, _) = values.sort("Rank")?;
            assert!(sorted.equal(&values)?, "values rise");
        }
    }
    Ok(())
}

#[test]
fn eigenvalues_of_any_matrix() -> Result<()> {
    for dtype in DTYPES {
        for n in SIZES {
            let a = random(dtype, n, n)?.div((n as f64).sqrt())?;
            let (values, vectors) = a.eig(AT, "Rank")?;
            assert!(values.dtype().is_complex() && vectors.dtype().is_complex());
            assert_eq!(values.dtype().to_real(), dtype.to_real());
            let complex = a.to_dtype(vectors.dtype())?;
            let turned = vectors.rename([("Row", "Col")])?;
            let scaled = vectors.mul(&values.align_as(&vectors)?)?;
            close("A V", &complex.contract(&turned, "Col")?, &scaled, 60.0)?;
            let norms = vectors.norm("Row")?;
            close("norms", &norms, &DynTensor::ones_like(&norms)?, 20.0)?;
            close(
                "the product of eigenvalues",
                &values.prod("Rank")?,
                &complex.det(AT)?,
                if n > 20 { 1e4 } else { 400.0 },
            )?;
        }
    }
    Ok(())
}

#[test]
fn pseudoinverses_and_least_squares() -> Result<()> {
    for dtype in DTYPES {
        for (m, n) in TALL_AND_WIDE {
            let a = random(dtype, m, n)?;
            let inverse = a.pinv(AT)?;
            assert_eq!(inverse.names().to_string(), "(Row, N, Col)");
            // A A⁺ A = A.
            let between = a.contract(&inverse.rename([("Row", "Other")])?, "Col")?;
            let again = between.contract(&a.rename([("Row", "Other")])?, "Other")?;
            close("A A⁺ A", &again, &a, 200.0)?;
            let b = random(dtype, m, 2)?.rename([("Col", "K")])?;
            let x = a.lstsq(&b, AT)?;
            close("A⁺ b", &inverse.contract(&b, "Row")?, &x, 200.0)?;
            // The residual is orthogonal to all columns.
            let left = a.contract(&x, "Col")?.sub(
                &b.align_to(["N", "Row", "K"])?
                    .align_as(&a.contract(&x, "Col")?)?,
            )?;
            let along = a.conj()?.contract(&left, "Row")?;
            close(
                "Aᴴ (A x - b)",
                &along,
                &DynTensor::zeros_like(&along)?,
                500.0 * m as f64,
            )?;
        }
    }
    Ok(())
}
