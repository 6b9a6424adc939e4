//! Gradients of decompositions of matrices, which are the last two dims.

use nomina_core::op::Op;
use nomina_core::op::class::Linalg;
use nomina_core::{Error, ErrorKind, Names, Result, Scalar};

use super::matrices::{all_results, product, reduced_svd, replace_zeros, solved, triangle_of};
use super::matrix_scale::MatrixScale;
use crate::call::arithmetic::{add, adjoint, div, mul, scaled, sub};
use crate::call::{
    Arg, MatrixOptions, PadMode, conjugated, eye, imag, matmul, pad, pointwise, real,
};
use crate::raw::Raw;
use crate::raw::graph::no_grad;
use crate::tape::{Backward, Upstream, record_saved};

/// Broadcasts numbers of columns, for a product from the right.
fn across(x: &Raw) -> Result<Raw> {
    x.unsqueeze(x.rank() - 1)
}

/// Broadcasts numbers of rows, for a product from the left.
fn down(x: &Raw) -> Result<Raw> {
    x.unsqueeze(x.rank())
}

/// Returns the identity with the size of a square matrix.
fn identity(like: &Raw) -> Result<Raw> {
    let n = like.shape()[like.rank() - 1];
    eye(n, n, like.dtype().to_real(), like.device())
}

/// Replaces all elements off the diagonal by zeros.
fn diagonal(x: &Raw) -> Result<Raw> {
    mul(x, &identity(x)?)
}

/// `Φ` of a matrix: the lower triangle with half of the diagonal.
fn lower(x: &Raw) -> Result<Raw> {
    sub(&triangle_of(x, 0, false)?, &scaled(&diagonal(x)?, 0.5)?)
}

/// `x_k - x_j`, with ones on the diagonal.
fn differences(x: &Raw) -> Result<Raw> {
    let all = sub(&across(x)?, &down(x)?)?;
    add(&all, &identity(&all)?)
}

fn skew(x: &Raw) -> Result<Raw> {
    sub(x, &adjoint(x)?)
}

/// Checks that the loss does not depend on the phases of vectors, which are arbitrary: the imaginary part of the diagonal is zero
/// then.
fn refuse_phases(op: Linalg, turn: &Raw, a: &Raw) -> Result<()> {
    if !turn.dtype().is_complex() {
        return Ok(());
    }
    let at = turn.rank() - 2;
    let diagonal = no_grad(|| imag(&turn.clone().detach().diagonal(at, at + 1, 0)?))?;
    let most = |x: &Raw| x.scalars().map(|x| x.to_f64().abs()).fold(0.0, f64::max);
    let whole = no_grad(|| pointwise(Op::Abs, &[Arg::Tensor(&turn.clone().detach())]))?;
    if most(&diagonal) <= 1e-2 * (1.0 + most(&whole)) {
        return Ok(());
    }
    let what = "the result depends on the phases of vectors, which are free";
    Err(Error::new(ErrorKind::Gradient, op.op().name(), what)
        .operand(&Names::default(), a.shape())
        .hint("compute a result that does not depend on the vectors' phases"))
}

/// `L⁻ᴴ Φ(Lᴴ g) L⁻¹`, made Hermitian.
pub(super) fn cholesky(upstream: &Upstream<'_>) -> Result<Raw> {
    let (g, l) = (upstream.grad()?, upstream.result_of(0)?);
    let options = MatrixOptions {
        upper: true,
        ..MatrixOptions::default()
    };
    let lh = adjoint(&l)?;
    let left = solved(
        Linalg::SolveTriangular,
        &lh,
        &lower(&matmul(&lh, &g)?)?,
        options,
    )?;
    // `x L⁻¹` is the adjoint of `L⁻ᴴ xᴴ`.
    let both = solved(Linalg::SolveTriangular, &lh, &adjoint(&left)?, options)?;
    scaled(&add(&both, &adjoint(&both)?)?, 0.5)
}

/// `(gQ + Q copyltu(R gRᴴ - gQᴴ Q)) R⁻ᴴ`; columns beyond the rows are `Qᴴ` times those of the operand.
pub(super) fn qr(upstream: &Upstream<'_>, a: &Raw) -> Result<Raw> {
    let (mut gq, gr) = (upstream.grad_of(0)?, upstream.grad_of(1)?);
    let (mut q, mut r) = (upstream.result_of(0)?, upstream.result_of(1)?);
    // Computes with a multiple, since a triangle of subnormal numbers is not precise. The gradient through `Q` is of degree -1 in
    // the matrix.
    if let Some(scale) = MatrixScale::for_matrices(Linalg::Qr, a)? {
        let mut made = all_results(
            Linalg::Qr,
            &scale.times(a, -1, 2)?,
            MatrixOptions::default(),
        )?;
        (q, r) = (made.swap_remove(0), made.swap_remove(0));
        gq = scale.times(&gq, -1, 2)?;
    }
    let (rows, last) = (r.rank() - 2, r.rank() - 1);
    let (k, n) = (r.shape()[rows], r.shape()[last]);
    let rest = n - k;
    let (own, own_g) = (r.narrow(last, 0, k)?, gr.narrow(last, 0, k)?);
    if rest > 0 {
        let beyond = matmul(&q, &r.narrow(last, k, rest)?)?;
        let more = matmul(&beyond, &adjoint(&gr.narrow(last, k, rest)?)?)?;
        gq = add(&gq, &more)?;
    }
    let m = sub(
        &matmul(&own, &adjoint(&own_g)?)?,
        &matmul(&adjoint(&gq)?, &q)?,
    )?;
    let m = lower(&m)?;
    let inner = add(&gq, &matmul(&q, &add(&m, &adjoint(&m)?)?)?)?;
    let options = MatrixOptions {
        upper: true,
        ..MatrixOptions::default()
    };
    let back = solved(Linalg::SolveTriangular, &own, &adjoint(&inner)?, options)?;
    let back = adjoint(&back)?;
    if rest == 0 {
        return Ok(back);
    }
    let beyond = matmul(&q, &gr.narrow(last, k, rest)?)?;
    let padded = |x: &Raw, pair: [usize; 2]| {
        let [before, after] = pair.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        let pairs = [(before, after)];
        pad(
            Op::Pad,
            x,
            &[last],
            &pairs,
            PadMode::Constant,
            Scalar::Int(0),
        )
    };
    add(&padded(&back, [0, rest])?, &padded(&beyond, [k, 0])?)
}

/// `U (F∘skew(Uᴴ gU) S + S F∘skew(Vᴴ gV) + gS) Vᴴ` and the parts outside of `U` and `V`, with `F` of one over the differences
/// of squared singular values; for complex numbers also the difference of the phases of `U` and `V`.
pub(super) fn svd(upstream: &Upstream<'_>, a: &Raw) -> Result<Raw> {
    let (u, s, vh) = (
        upstream.result_of(0)?,
        upstream.result_of(1)?,
        upstream.result_of(2)?,
    );
    let (gu, gs, gvh) = (
        upstream.grad_of(0)?,
        upstream.grad_of(1)?,
        upstream.grad_of(2)?,
    );
    if !upstream.has_grad(0) && !upstream.has_grad(2) {
        return matmul(&mul(&u, &across(&gs)?)?, &vh);
    }
    // The gradient through the vectors is of degree -1 in the matrix; near the ends of the range it is computed from a multiple.
    let scale = MatrixScale::for_matrices(Linalg::Svd, a)?;
    let s = match &scale {
        Some(scale) => scale.times(&s, -1, 1)?,
        None => s,
    };
    let (v, uh) = (adjoint(&vh)?, adjoint(&u)?);
    let (of_u, of_v) = (matmul(&uh, &gu)?, matmul(&vh, &adjoint(&gvh)?)?);
    refuse_phases(Linalg::Svd, &add(&of_u, &of_v)?, a)?;
    let squares = mul(&s, &s)?;
    let turns = add(
        &mul(&skew(&of_u)?, &across(&s)?)?,
        &mul(&skew(&of_v)?, &down(&s)?)?,
    )?;
    let mut inner = div(&turns, &differences(&squares)?)?;
    // The diagonal of a skew matrix is imaginary and belongs to the phases.
    inner = sub(&inner, &diagonal(&inner)?)?;
    if a.dtype().is_complex() {
        let phases = div(&skew(&of_u)?, &scaled(&down(&s)?, 2.0)?)?;
        inner = add(&inner, &diagonal(&phases)?)?;
    }
    if scale.is_none() {
        inner = add(&inner, &mul(&identity(&inner)?, &across(&gs)?)?)?;
    }
    let mut found = product([&u, &inner, &vh])?;
    let rank = a.rank();
    let (m, n, k) = (
        a.shape()[rank - 2],
        a.shape()[rank - 1],
        s.shape()[rank - 2],
    );
    if m > k {
        let outer = div(&gu, &across(&s)?)?;
        let outside = sub(&outer, &product([&u, &uh, &outer])?)?;
        found = add(&found, &matmul(&outside, &vh)?)?;
    }
    if n > k {
        let outer = div(&gvh, &down(&s)?)?;
        let outside = sub(&outer, &product([&outer, &v, &vh])?)?;
        found = add(&found, &matmul(&u, &outside)?)?;
    }
    match scale {
        Some(scale) => {
            let of_values = matmul(&mul(&u, &across(&gs)?)?, &vh)?;
            add(&scale.times(&found, -1, 2)?, &of_values)
        }
        None => Ok(found),
    }
}

/// Computes `U Vᴴ`, the unitary polar factor, which is smooth at matrices of full rank, even if singular values are equal.
pub(super) fn polar(a: &Raw) -> Result<Raw> {
    let [u, _, vh] = no_grad(|| reduced_svd(&a.clone().detach()))?;
    let op = Linalg::MatrixNorm.op();
    record_saved(op, matmul(&u, &vh)?, [a], || PolarSaved { a: a.clone() })
}

/// The saved values of a unitary polar factor.
struct PolarSaved {
    a: Raw,
}

impl Backward for PolarSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        polar_gradient(&upstream.grad()?, &self.a).map(Some)
    }
}

/// `U (skew(Uᴴ g V) / (s_j + s_k)) Vᴴ`, and the parts outside of `U` and `V` over the singular values.
fn polar_gradient(g: &Raw, a: &Raw) -> Result<Raw> {
    let scale = MatrixScale::for_matrices(Linalg::Svd, a)?;
    let [u, s, vh] = reduced_svd(a)?;
    let s = match &scale {
        Some(scale) => scale.times(&s, -1, 1)?,
        None => s,
    };
    let (uh, v) = (adjoint(&u)?, adjoint(&vh)?);
    let turn = skew(&product([&uh, g, &v])?)?;
    let inner = div(&turn, &replace_zeros(&add(&across(&s)?, &down(&s)?)?)?)?;
    let mut found = product([&u, &inner, &vh])?;
    let s = replace_zeros(&s)?;
    let (m, n) = (a.shape()[a.rank() - 2], a.shape()[a.rank() - 1]);
    let k = s.shape()[s.rank() - 1];
    if m > k {
        let outer = div(&matmul(g, &v)?, &across(&s)?)?;
        let outside = sub(&outer, &product([&u, &uh, &outer])?)?;
        found = add(&found, &matmul(&outside, &vh)?)?;
    }
    if n > k {
        let outer = div(&matmul(&uh, g)?, &down(&s)?)?;
        let outside = sub(&outer, &product([&outer, &v, &vh])?)?;
        found = add(&found, &matmul(&u, &outside)?)?;
    }
    match scale {
        Some(scale) => scale.times(&found, -1, 2),
        None => Ok(found),
    }
}

/// `U g Vᴴ`.
pub(super) fn svdvals(g: &Raw, a: &Raw) -> Result<Raw> {
    let [u, _, vh] = reduced_svd(a)?;
    matmul(&mul(&u, &across(g)?)?, &vh)
}

/// `V (gL + F∘(Vᴴ gV)) Vᴴ`, with `F` of one over the differences of eigenvalues.
pub(super) fn eigh(upstream: &Upstream<'_>, a: &Raw) -> Result<Raw> {
    let (l, v) = (upstream.result_of(0)?, upstream.result_of(1)?);
    let gl = upstream.grad_of(0)?;
    let vh = adjoint(&v)?;
    if !upstream.has_grad(1) {
        return matmul(&mul(&v, &across(&gl)?)?, &vh);
    }
    let turn = matmul(&vh, &upstream.grad_of(1)?)?;
    refuse_phases(Linalg::Eigh, &turn, a)?;
    // The gradient through the vectors is of degree -1, see `svd`.
    let scale = MatrixScale::for_matrices(Linalg::Eigh, a)?;
    let l = match &scale {
        Some(scale) => scale.times(&l, -1, 1)?,
        None => l,
    };
    let inner = div(&turn, &differences(&l)?)?;
    let mut inner = sub(&inner, &diagonal(&inner)?)?;
    if let Some(scale) = scale {
        inner = scale.times(&inner, -1, 2)?;
    }
    let inner = add(&inner, &mul(&identity(&inner)?, &across(&gl)?)?)?;
    product([&v, &inner, &vh])
}

/// `V g Vᴴ`.
pub(super) fn eigvalsh(g: &Raw, a: &Raw) -> Result<Raw> {
    let made = all_results(Linalg::Eigh, a, MatrixOptions::default())?;
    let v = &made[1];
    matmul(&mul(v, &across(g)?)?, &adjoint(v)?)
}

/// `V⁻ᴴ (gL + F∘(Vᴴ gV - Vᴴ V re(diagonal of Vᴴ gV))) Vᴴ`, with `F` of one over the conjugate differences of eigenvalues.
pub(super) fn eig(upstream: &Upstream<'_>, a: &Raw) -> Result<Raw> {
    let (l, v) = (upstream.result_of(0)?, upstream.result_of(1)?);
    let gl = upstream.grad_of(0)?;
    let vh = adjoint(&v)?;
    let mut inner = mul(&identity(&v)?, &across(&gl)?)?;
    if upstream.has_grad(1) {
        let turn = matmul(&vh, &upstream.grad_of(1)?)?;
        refuse_phases(Linalg::Eig, &turn, a)?;
        let at = turn.rank() - 2;
        let lengths = across(&real(&turn.diagonal(at, at + 1, 0)?)?)?;
        let free = sub(&turn, &matmul(&vh, &mul(&v, &lengths)?)?)?;
        // The gradient through the vectors is of degree -1, see `svd`.
        let scale = MatrixScale::for_matrices(Linalg::Eig, a)?;
        let l = match &scale {
            Some(scale) => scale.times(&l, -1, 1)?,
            None => l,
        };
        let off = div(&free, &conjugated(&differences(&l)?)?)?;
        let mut off = sub(&off, &diagonal(&off)?)?;
        if let Some(scale) = scale {
            off = scale.times(&off, -1, 2)?;
        }
        inner = add(&inner, &off)?;
    }
    let right = matmul(&inner, &vh)?;
    solved(Linalg::Solve, &vh, &right, MatrixOptions::default())
}
