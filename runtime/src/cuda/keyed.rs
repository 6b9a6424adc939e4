//! Elements as keys: the defines and arguments of `keys.cuh`.

use std::ffi::CStr;

use nomina_core::DType;

use super::index::StridedIndex;
use super::module::Module;
use super::module_call::bits;
use super::source::{File, Source};
use crate::cpu::sort::KeyKind;
use crate::job::LineJob;
use crate::plan::Plan;

/// Lines and their results: `Lines` of `keys.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyedLines {
    x: *const u8,
    values: *mut u8,
    positions: *mut i64,
    pub(super) count: u64,
    pub(super) len: u64,
    steps: [i64; 3],
    turn: u64,
    starts: StridedIndex<3>,
}

impl KeyedLines {
    /// Returns the lines of a job, and whether adjacent lines are closer to each other than adjacent elements of a
    /// line. `None` for more dims than kernels support.
    pub(super) fn new(job: &LineJob<'_>, turn: bool) -> Option<(Self, bool)> {
        let size = job.dtype.size();
        let rest = |list: &[isize]| -> crate::shape::Strides {
            let (before, after) = (&list[..job.dim], &list[job.dim + 1..]);
            before.iter().chain(after).copied().collect()
        };
        let (before, after) = (&job.shape[..job.dim], &job.shape[job.dim + 1..]);
        let shape: crate::shape::Shape = before.iter().chain(after).copied().collect();
        let (x, out) = (rest(job.strides), rest(job.out_strides));
        let plan = Plan::new(&shape, &[(&x, size), (&out, size), (&out, 8)]);
        let (step, to) = (job.strides[job.dim], job.out_strides[job.dim]);
        let across = plan.numel() > 1 && plan.inner().steps[0].abs() < step.abs() * size as isize;
        let lines = Self {
            x: job.x,
            values: job.values,
            positions: job.positions,
            count: plan.numel() as u64,
            len: job.shape[job.dim] as u64,
            steps: [step * size as isize, to * size as isize, to * 8].map(|step| step as i64),
            turn: turn.into(),
            starts: StridedIndex::new(&plan)?,
        };
        Some((lines, across))
    }

    /// Returns the same number of lines with another length.
    pub(super) fn of_length(self, len: usize) -> Self {
        Self {
            len: len as u64,
            ..self
        }
    }

    /// Returns the number of lines and their length.
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.count as usize, self.len as usize)
    }
}

/// Keys and positions, line after line. Null if the elements themselves are read.
#[derive(Clone, Copy)]
pub(super) struct Keyed {
    pub(super) keys: *mut u8,
    pub(super) places: *mut u8,
}

pub(super) const AS_THEY_LIE: Keyed = Keyed {
    keys: std::ptr::null_mut(),
    places: std::ptr::null_mut(),
};

/// Returns a module that reads elements of a dtype as keys.
pub(super) fn keyed(file: File, dtype: DType) -> Source {
    let (bytes, kind) = KeyKind::for_dtype(dtype);
    let (kind, infinite) = match kind {
        KeyKind::Unsigned => (0, 0),
        KeyKind::Signed => (1, 0),
        KeyKind::Float(infinite) => (2, infinite as i64),
    };
    Source::new(file)
        .word("ELEMENT", bits(bytes))
        .number("KIND", kind)
        .number("INFINITE", infinite)
}

/// One dtype for each kind of key.
const KEYS: [DType; 9] = [
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

/// Lists the modules of a file for each kind of key.
pub(super) fn modules_of(file: File, entries: &'static [&'static CStr]) -> Vec<Module> {
    let all = KEYS
        .into_iter()
        .flat_map(|dtype| [(dtype, false), (dtype, true)]);
    all.map(|(dtype, wide)| Module::new(keyed(file, dtype).index(wide), entries))
        .collect()
}
