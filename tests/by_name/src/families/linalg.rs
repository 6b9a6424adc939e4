//! Linear algebra. Without dims, the operand is a matrix.

use nomina_core::Result;
use nomina_core::op::Op;

use super::{pure, value};
use crate::Form;
use crate::bind::Bound;
use crate::generated::Linalg;
use crate::value::Value;
use nomina_runtime::tensor::{MatrixNorm, Tolerance, TriangularOptions};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Linalg, op: Op, form: Form, args: Bound) -> Result<Value> {
    let dims = || args.dims("dims", true);
    let rank = || args.name("rank");
    match which {
        Linalg::Inv => pure(op, form, &args, |a| a.tensor("self")?.inv(dims()?)),
        Linalg::Pinv => pure(op, form, &args, |a| {
            a.tensor("self")?.pinv_with(dims()?, tolerance(a)?)
        }),
        Linalg::Solve => pure(op, form, &args, |a| {
            a.tensor("self")?.solve(a.tensor("other")?, dims()?)
        }),
        Linalg::Lstsq => pure(op, form, &args, |a| {
            let (x, b) = (a.tensor("self")?, a.tensor("other")?);
            x.lstsq_with(b, dims()?, tolerance(a)?)
        }),
        Linalg::SolveTriangular => pure(op, form, &args, |a| {
            let (x, b) = (a.tensor("self")?, a.tensor("other")?);
            let options = TriangularOptions {
                unitriangular: a.flag("unitriangular")?,
            };
            x.solve_triangular_with(b, dims()?, a.flag("upper")?, options)
        }),
        Linalg::Det => pure(op, form, &args, |a| a.tensor("self")?.det(dims()?)),
        Linalg::Slogdet => value(op, form, &args, |a| {
            Ok(a.tensor("self")?.slogdet(dims()?)?.into())
        }),
        Linalg::MatrixRank => pure(op, form, &args, |a| {
            a.tensor("self")?.matrix_rank_with(dims()?, tolerance(a)?)
        }),
        Linalg::MatrixNorm => pure(op, form, &args, |a| {
            let words = ["fro", "nuc", "1", "2", "inf"];
            let norm = match a.word("ord", &words)?.unwrap_or(0) {
                0 => MatrixNorm::Fro,
                1 => MatrixNorm::Nuc,
                2 => MatrixNorm::One,
                3 => MatrixNorm::Two,
                _ => MatrixNorm::Inf,
            };
            a.tensor("self")?.matrix_norm(dims()?, norm)
        }),
        Linalg::Cholesky => pure(op, form, &args, |a| a.tensor("self")?.cholesky(dims()?)),
        Linalg::Qr => value(op, form, &args, |a| {
            Ok(a.tensor("self")?.qr(dims()?, rank()?)?.into())
        }),
        Linalg::Svd => value(op, form, &args, |a| {
            let (u, s, vh) = a.tensor("self")?.svd(dims()?, rank()?)?;
            Ok(Value::List(vec![u.into(), s.into(), vh.into()]))
        }),
        Linalg::Svdvals => pure(op, form, &args, |a| {
            a.tensor("self")?.svdvals(dims()?, rank()?)
        }),
        Linalg::Eigh => value(op, form, &args, |a| {
            Ok(a.tensor("self")?.eigh(dims()?, rank()?)?.into())
        }),
        Linalg::Eigvalsh => pure(op, form, &args, |a| {
            a.tensor("self")?.eigvalsh(dims()?, rank()?)
        }),
        Linalg::Eig => value(op, form, &args, |a| {
            Ok(a.tensor("self")?.eig(dims()?, rank()?)?.into())
        }),
    }
}

fn tolerance(args: &Bound) -> Result<Tolerance> {
    let rtol = match args.given("rtol") {
        None => None,
        Some(_) => Some(args.float("rtol")?),
    };
    let atol = args.float("atol")?;
    Ok(Tolerance { atol, rtol })
}
