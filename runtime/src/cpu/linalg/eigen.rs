//! Eigenvalues of symmetric and Hermitian matrices.

use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{MatMut, MatRef, Par};

use super::field::{Field, diagonal};
use super::job::Failure;
use super::workspace::{memory, stack, view, zeros};

/// Computes eigenvalues and eigenvectors from the lower triangle.
pub(super) fn eigh<T: Field>(
    a: MatRef<'_, T>,
    mut values: MatMut<'_, T::R>,
    vectors: Option<MatMut<'_, T>>,
    par: Par,
) -> Result<(), Failure> {
    let n = a.nrows();
    if (0..n).any(|j| !a.col(j).subrows(j, n - j).is_all_finite()) {
        return Err(Failure::NotFinite);
    }
    let which = match vectors {
        Some(_) => ComputeEigenvectors::Yes,
        None => ComputeEigenvectors::No,
    };
    let params = Default::default();
    let mut stack = stack(self_adjoint_evd_scratch::<T>(n, which, par, params))?;
    let mut all = zeros::<T>(n, 1)?;
    let into = diagonal(view(&mut all, n));
    self_adjoint_evd(a, into, vectors, par, memory(&mut stack), params)
        .map_err(|_| Failure::NoConvergence)?;
    for (i, value) in all.iter().enumerate() {
        values[(i, 0)] = value.real();
    }
    Ok(())
}
