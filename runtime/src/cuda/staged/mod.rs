//! The fallback to the host, for jobs that no kernel of the device supports.
//!
//! The blocks of operands are copied to the host, the host's kernel computes on the copies, and the blocks that it
//! wrote are copied back. That is slow, and as right as the host. Uses are counted by class.

mod elementwise;
mod rows;
mod space;

use std::mem::MaybeUninit;

use nomina_core::Result;

use super::{Cuda, host_fallback};
use crate::SmallVec;
use crate::job::Place;

use crate::memory::Scratch;

pub(crate) use elementwise::{copy, fill, fused, pointwise, triangle};
pub(crate) use rows::{entropy, lines, norm, pick, reduce, scan, softmax, update};
pub(crate) use space::spread;

/// A block of the device and its copy on the host.
struct Shadow {
    block: *mut u8,
    host: Scratch<MaybeUninit<u8>>,
    written: bool,
}

/// The copies of the operands of one job.
pub(crate) struct Stage<'a> {
    cuda: &'a Cuda,
    op: &'static str,
    shadows: SmallVec<[Shadow; 4]>,
}

impl<'a> Stage<'a> {
    /// Begins a job of a class, and counts it.
    pub(crate) fn new(cuda: &'a Cuda, op: &'static str, class: &'static str) -> Self {
        host_fallback::count(class);
        Self {
            cuda,
            op,
            shadows: SmallVec::new(),
        }
    }

    /// Returns the host's address of an operand that is read. An address in no block, such as that of an empty tensor
    /// or of the host, is returned unchanged.
    pub(crate) fn read(&mut self, at: *const u8) -> Result<*const u8> {
        self.shadow(at, false).map(<*mut u8>::cast_const)
    }

    /// Like [`Self::read`], but for an operand that is written: [`Self::finish`] copies it back.
    pub(crate) fn write(&mut self, at: *mut u8) -> Result<*mut u8> {
        self.shadow(at, true)
    }

    /// Returns an operand that is read, with its address on the host.
    pub(crate) fn source(&mut self, place: Place) -> Result<Place> {
        let ptr = self.shadow(place.ptr, false)?;
        Ok(Place { ptr, ..place })
    }

    /// Returns an operand that is written, or read and written, with its address on the host.
    pub(crate) fn dest(&mut self, place: Place) -> Result<Place> {
        let ptr = self.shadow(place.ptr, true)?;
        Ok(Place { ptr, ..place })
    }

    fn shadow(&mut self, at: *const u8, written: bool) -> Result<*mut u8> {
        if at.is_null() {
            return Ok(at.cast_mut());
        }
        let Some((block, bytes)) = self.cuda.find(at) else {
            return Ok(at.cast_mut());
        };
        let found = self.shadows.iter().position(|s| s.block == block);
        let which = match found {
            Some(which) => which,
            None => {
                let host = Scratch::uninit([bytes]).map_err(|e| e.in_op(self.op))?;
                // The whole block, because a block that is written in part is copied back as a whole.
                let to = host.as_ptr().cast_mut().cast();
                // SAFETY: a block in use on the device, and a buffer of the same length on the host.
                unsafe { self.cuda.read(self.op, to, block, bytes)? };
                self.shadows.push(Shadow {
                    block,
                    host,
                    written: false,
                });
                self.shadows.len() - 1
            }
        };
        let shadow = &mut self.shadows[which];
        shadow.written |= written;
        // Blocks and copies are aligned to more than any element.
        let within = at as usize - block as usize;
        Ok(shadow.host.as_mut_ptr().cast::<u8>().wrapping_add(within))
    }

    /// Copies the written blocks back.
    pub(crate) fn finish(self) -> Result<()> {
        for shadow in self.shadows.iter().filter(|shadow| shadow.written) {
            let (to, from) = (shadow.block, shadow.host.as_ptr().cast());
            // SAFETY: the tensor keeps its block alive; a job that writes a part of a block owns the block exclusively.
            unsafe { self.cuda.write(self.op, to, from, shadow.host.len())? };
        }
        Ok(())
    }
}
