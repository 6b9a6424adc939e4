//! Strided tensors as MPI datatypes.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use mpi::ffi;
use nomina_runtime::Raw;

use crate::calls::{byte_type, require_success, to_c_int};

/// A datatype that covers the elements of a tensor in row-major order, from the first one on.
#[derive(Debug)]
pub(crate) struct Datatype(pub(crate) ffi::MPI_Datatype);

impl Datatype {
    /// Creates the datatype of a tensor that has at least one element and fits in a message.
    pub(crate) fn new(raw: &Raw) -> Self {
        let (run, dims) = merge_dims(raw);
        let size = raw.dtype().size();
        let mut datatype = create(|out| {
            // SAFETY: a predefined datatype of MPI.
            unsafe { ffi::MPI_Type_contiguous(to_c_int(run * size), byte_type(), out) }
        });
        for &(count, stride) in dims.iter().rev() {
            let apart = stride as ffi::MPI_Aint * size as ffi::MPI_Aint;
            let next = create(|out| {
                // SAFETY: a datatype that was created above.
                unsafe { ffi::MPI_Type_create_hvector(to_c_int(count), 1, apart, datatype, out) }
            });
            free(datatype);
            datatype = next;
        }
        // SAFETY: as above.
        require_success("MPI_Type_commit", unsafe {
            ffi::MPI_Type_commit(&raw mut datatype)
        });
        Self(datatype)
    }
}

impl Drop for Datatype {
    fn drop(&mut self) {
        free(self.0);
    }
}

fn create(call: impl FnOnce(*mut ffi::MPI_Datatype) -> c_int) -> ffi::MPI_Datatype {
    let mut datatype = MaybeUninit::uninit();
    require_success("a datatype", call(datatype.as_mut_ptr()));
    // SAFETY: MPI has written it.
    unsafe { datatype.assume_init() }
}

/// Frees a datatype. MPI keeps it while messages or other datatypes use it.
fn free(mut datatype: ffi::MPI_Datatype) {
    // SAFETY: created above, and not freed yet.
    require_success("MPI_Type_free", unsafe {
        ffi::MPI_Type_free(&raw mut datatype)
    });
}

/// Returns the length of contiguous runs of elements, and the dims over the runs, outermost first: size and stride in
/// elements. Dims without a gap between them are merged.
fn merge_dims(raw: &Raw) -> (usize, Vec<(usize, isize)>) {
    let mut dims: Vec<(usize, isize)> = Vec::new();
    let sizes = raw.shape().iter().zip(raw.strides());
    for (&size, &stride) in sizes.filter(|(size, _)| **size != 1) {
        match dims.last_mut() {
            Some((count, apart)) if *apart == stride * size as isize => {
                (*count, *apart) = (*count * size, stride);
            }
            _ => dims.push((size, stride)),
        }
    }
    match dims.last() {
        Some(&(run, 1)) => {
            dims.pop();
            (run, dims)
        }
        _ => (1, dims),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_as_long_as_they_can_be() {
        let raw = Raw::from_vec((0..24_i32).collect(), &[2, 3, 4]).unwrap();
        assert_eq!(merge_dims(&raw), (24, vec![]));
        let rows = raw.narrow(1, 0, 2).unwrap();
        assert_eq!(merge_dims(&rows), (8, vec![(2, 12)]));
        let turned = raw.permute(&[2, 1, 0]).unwrap();
        assert_eq!(merge_dims(&turned), (1, vec![(4, 1), (3, 4), (2, 12)]));
        let back = raw.flip(0).unwrap();
        assert_eq!(merge_dims(&back), (12, vec![(2, -12)]));
        let same = raw.select(2, 1).unwrap().unsqueeze(2).unwrap();
        assert_eq!(merge_dims(&same), (1, vec![(6, 4)]));
    }
}
