//! Selection by a mask: `select.cu`.

use nomina_core::{Error, ErrorKind, Result};

use super::Cuda;
use super::index::{RANK, StridedIndex};
use super::launch::{Argument, Grid};
use super::module::Module;
use super::module_call::{ModuleCall, bits};
use super::source::{File, Source};
use crate::job::{MaskJob, Room};
use crate::storage::DeviceBuffer;

/// The elements of a tile.
const TILE: usize = 4096;

/// The arguments: `Select` of `select.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct SelectArgs {
    mask: *const bool,
    count: u64,
    tiles: u64,
    starts: *mut u64,
    x: *const u8,
    out: *mut u8,
    rows: *mut i64,
    places: StridedIndex<1>,
}

// SAFETY: the struct of `select.cu`.
unsafe impl Argument for SelectArgs {}

fn source(bytes: usize) -> Source {
    Source::new(File::Select).word("ELEMENT", bits(bytes))
}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    let all = [1, 2, 4, 8, 16]
        .into_iter()
        .flat_map(|bytes| [(bytes, false), (bytes, true)]);
    all.map(|(bytes, wide)| {
        let entries = &[c"mask_counts", c"mask_starts", c"mask_take", c"mask_rows"];
        Module::new(source(bytes).index(wide), entries)
    })
    .collect()
}

/// A mask whose selected elements are counted, with the count on the host.
struct CountedMask {
    call: ModuleCall,
    args: SelectArgs,
    tiles: usize,
    found: usize,
    _starts: DeviceBuffer,
}

impl CountedMask {
    /// Counts the selected elements and waits for the count.
    ///
    /// # Safety
    /// The mask is readable with the dims of the job.
    unsafe fn new(
        cuda: &Cuda,
        job: &MaskJob<'_>,
        size: usize,
        dims: impl Iterator<Item = (usize, [isize; 1])>,
    ) -> Result<Self> {
        let places = StridedIndex::from_dims(dims).ok_or_else(|| {
            let what = format!("{} dims", job.shape.len());
            Error::new(ErrorKind::Rank, job.op, what).hint(format!(
                "devices allow {RANK}: `flatten` some, or use `cpu`"
            ))
        })?;
        let count: usize = job.shape.iter().product();
        let call = ModuleCall::new(cuda, job.op, source(size), count)?;
        let tiles = count.div_ceil(TILE);
        let starts = call.scratch([tiles + 1, 8])?;
        let args = SelectArgs {
            mask: job.mask,
            count: count as u64,
            tiles: tiles as u64,
            starts: starts.as_ptr().cast(),
            x: std::ptr::null(),
            out: std::ptr::null_mut(),
            rows: std::ptr::null_mut(),
            places,
        };
        let mut found = 0_u64;
        // SAFETY: the caller's promise; the workspace has a number for each tile and one more.
        unsafe {
            call.blocks(c"mask_counts", tiles, &args)?;
            call.start(c"mask_starts", Grid::blocks(1, 1024), &args)?;
            let total = starts.as_ptr().add(tiles * 8);
            call.cuda.read(job.op, (&raw mut found).cast(), total, 8)?;
        }
        Ok(Self {
            call,
            args,
            tiles,
            found: found as usize,
            _starts: starts,
        })
    }
}

/// Writes the indices of the selected elements.
///
/// # Safety
/// See [`DataDependent::nonzero`].
pub(super) unsafe fn nonzero(cuda: &Cuda, job: &MaskJob<'_>, room: Room<'_, i64>) -> Result<()> {
    let dims = job.shape.iter().rev().map(|&size| (size, [0]));
    // SAFETY: the caller's promise, here and below.
    let mut counted = unsafe { CountedMask::new(cuda, job, 1, dims)? };
    counted.args.rows = room(counted.found)?;
    if counted.found == 0 || job.shape.is_empty() {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe {
        counted
            .call
            .blocks(c"mask_rows", counted.tiles, &counted.args)
    }
}

/// Writes the selected elements.
///
/// # Safety
/// See [`DataDependent::masked_select`].
pub(super) unsafe fn masked_select(
    cuda: &Cuda,
    job: &MaskJob<'_>,
    x: *const u8,
    size: usize,
    strides: &[isize],
    room: Room<'_, u8>,
) -> Result<()> {
    // In row-major order, whatever the strides.
    let mut dims: crate::SmallVec<[(usize, [isize; 1]); 8]> = crate::SmallVec::new();
    for (&len, &stride) in job.shape.iter().zip(strides).rev() {
        let step = stride * size as isize;
        match dims.last_mut() {
            _ if len == 1 => {}
            Some((inner, [by])) if step == *by * *inner as isize => *inner *= len,
            _ => dims.push((len, [step])),
        }
    }
    // SAFETY: the caller's promise, here and below.
    let mut counted = unsafe { CountedMask::new(cuda, job, size, dims.into_iter())? };
    counted.args.x = x;
    counted.args.out = room(counted.found)?;
    if counted.found == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe {
        counted
            .call
            .blocks(c"mask_take", counted.tiles, &counted.args)
    }
}
