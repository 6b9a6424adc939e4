//! By way of the host: what no kernel of the device computes yet.
//!
//! Operands are copied to the host, block by block as they were allocated, the host's kernel runs
//! over the copies, and what it wrote is copied back. It is right wherever the host is, and slow; a
//! class with a kernel of its own comes here for what that declines. Each use is counted by class.

mod elementwise;
mod rows;
mod space;

use std::mem::MaybeUninit;

use nomina_core::Result;

use super::Cuda;
use crate::SmallVec;
use crate::job::Place;

use crate::memory::Scratch;

pub(crate) use elementwise::{copy, fill, fused, pointwise, triangle};
pub(crate) use rows::{entropy, lines, norm, pick, reduce, scan, softmax, update};
pub(crate) use space::spread;

/// A live block of the device, and its copy on the host.
struct Shadow {
    block: *mut u8,
    host: Scratch<MaybeUninit<u8>>,
    written: bool,
}

/// The host's copies of what one job reads and writes.
pub(crate) struct Stage<'a> {
    cuda: &'a Cuda,
    op: &'static str,
    shadows: SmallVec<[Shadow; 4]>,
}

impl<'a> Stage<'a> {
    /// For a job of a class.
    pub(crate) fn new(cuda: &'a Cuda, op: &'static str, class: &'static str) -> Self {
        super::uses::count(class);
        Self {
            cuda,
            op,
            shadows: SmallVec::new(),
        }
    }

    /// Where the host has what lies at an address of the device, for reading. An address that lies
    /// in no block, as that of an empty tensor or of the host, is itself.
    pub(crate) fn read(&mut self, at: *const u8) -> Result<*const u8> {
        self.shadow(at, false).map(<*mut u8>::cast_const)
    }

    /// As [`Self::read`], for writing: [`Self::finish`] copies it back.
    pub(crate) fn write(&mut self, at: *mut u8) -> Result<*mut u8> {
        self.shadow(at, true)
    }

    /// An operand that is read.
    pub(crate) fn source(&mut self, place: Place) -> Result<Place> {
        let ptr = self.shadow(place.ptr, false)?;
        Ok(Place { ptr, ..place })
    }

    /// An operand that is written, or both.
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
                // All of it, since what is written in part is copied back as a whole.
                let to = host.as_ptr().cast_mut().cast();
                // SAFETY: a live block of the device, and as many bytes of the host.
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
        // Blocks are aligned to more than any element, so that the copies are aligned as they are.
        let within = at as usize - block as usize;
        Ok(shadow.host.as_mut_ptr().cast::<u8>().wrapping_add(within))
    }

    /// Copies back what was written.
    pub(crate) fn finish(self) -> Result<()> {
        for shadow in self.shadows.iter().filter(|shadow| shadow.written) {
            let (to, from) = (shadow.block, shadow.host.as_ptr().cast());
            // SAFETY: the block lives, as its tensor does; who writes to a part of it has it for
            // himself.
            unsafe { self.cuda.write(self.op, to, from, shadow.host.len())? };
        }
        Ok(())
    }
}
