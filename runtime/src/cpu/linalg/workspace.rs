//! Memory of matrix operators: workspaces and matrices.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::traits::ComplexField;
use faer::{MatMut, MatRef};
use nomina_core::Element;

use crate::memory::{NoMemory, Scratch};

/// Allocates the workspace of a `faer` function.
pub(super) fn stack(asked: StackReq) -> Result<MemBuffer, NoMemory> {
    MemBuffer::try_new(asked).map_err(|_| NoMemory(asked.size_bytes()))
}

/// Allocates a matrix of zeros.
pub(super) fn zeros<T: ComplexField + Element>(
    rows: usize,
    columns: usize,
) -> Result<Scratch<T>, NoMemory> {
    Scratch::new([rows, columns], T::default())
}

/// Returns the elements of [`zeros`] as a matrix.
pub(super) fn view<T: ComplexField + Element>(
    elements: &mut Scratch<T>,
    rows: usize,
) -> MatMut<'_, T> {
    let columns = elements.len() / rows.max(1);
    MatMut::from_column_major_slice_mut(elements, rows, columns)
}

/// Returns a copy to be factored in place.
pub(super) fn copied<T: ComplexField + Element>(a: MatRef<'_, T>) -> Result<Scratch<T>, NoMemory> {
    let mut copy = zeros(a.nrows(), a.ncols())?;
    view(&mut copy, a.nrows()).copy_from(a);
    Ok(copy)
}

/// Returns the buffer as the stack that `faer` takes.
pub(super) fn memory(buffer: &mut MemBuffer) -> &mut MemStack {
    MemStack::new(buffer)
}
