//! Elementwise expressions over operands of any layout: `map.cu`.

use nomina_core::{DType, Result};

use super::Cuda;
use super::expression::Expression;
use super::index::{StridedIndex, WIDE};
use super::launch::{Argument, Grid};
use super::module::Module;
use super::source::{File, Source};
use crate::job::{Constant, Input, Place};

use crate::plan::{Dim, OPERANDS, Plan};

/// The most inputs.
const INPUTS: usize = OPERANDS - 1;

/// The threads of a block.
const THREADS: u32 = 256;

/// The bytes of the widest access.
pub(super) const ACCESS: usize = 16;

/// The arguments for contiguous operands: a struct of `map.cu`.
#[repr(C)]
#[derive(Clone, Copy)]
struct MapArgs {
    count: u64,
    dest: *mut u8,
    sources: [*const u8; INPUTS],
    numbers: [Constant; INPUTS],
}

/// The arguments for strided operands.
#[repr(C)]
#[derive(Clone, Copy)]
struct StridedArgs {
    args: MapArgs,
    at: StridedIndex<OPERANDS>,
    pad: u64,
}

// SAFETY: the struct of `map.cu`.
unsafe impl Argument for MapArgs {}
// SAFETY: as above.
unsafe impl Argument for StridedArgs {}

/// An expression, its operands and their layout.
pub(super) struct Map<'a> {
    pub(super) op: &'static str,
    pub(super) expression: &'static Expression,
    /// The dtype of the computation.
    pub(super) compute: DType,
    pub(super) plan: &'a Plan,
    pub(super) dest: Place,
    pub(super) inputs: &'a [Input],
}

/// The accesses of operands.
struct Accesses {
    /// The number of elements in an access.
    pack: usize,
    /// A bit mask of the inputs that are broadcast along the innermost dim.
    spread: i64,
}

impl Map<'_> {
    /// Starts the kernel. Returns false, without starting it, for more dims than kernels support.
    ///
    /// # Safety
    /// The plan's positions are in blocks of the device. Those of the result are distinct, and an input that overlaps
    /// the result has the same positions.
    pub(super) unsafe fn run(&self, cuda: &Cuda) -> Result<bool> {
        let count = self.plan.numel();
        if count == 0 {
            return Ok(true);
        }
        let mut args = MapArgs {
            count: count as u64,
            dest: self.dest.ptr,
            sources: [std::ptr::null(); INPUTS],
            numbers: [Constant::new(false.into(), DType::Bool); INPUTS],
        };
        for (k, input) in self.inputs.iter().enumerate() {
            match *input {
                Input::Tensor(place) => args.sources[k] = place.ptr,
                Input::Scalar(value) => {
                    args.numbers[k] = Constant::new(value, self.expression.operand(k, self.compute))
                }
            }
        }
        if let Some(way) = self.contiguous() {
            let function =
                cuda.function(self.op, self.source(&way, count >= WIDE), c"contiguous")?;
            let grid = self.grid(count / way.pack, &way);
            // SAFETY: the kernel's struct; the caller promises the positions.
            unsafe { cuda.launch(self.op, function, grid, &args)? };
            return Ok(true);
        }
        let way = self.strided();
        let dims = self.plan.dims().iter().enumerate();
        let dims = dims.map(|(which, dim)| match which {
            0 => packed(dim, &way),
            _ => (dim.size, dim.steps),
        });
        let Some(at) = StridedIndex::<OPERANDS>::from_dims(dims) else {
            return Ok(false);
        };
        let packs = count / way.pack;
        args.count = packs as u64;
        let function = cuda.function(self.op, self.source(&way, at.is_wide()), c"strided")?;
        let args = StridedArgs { args, at, pad: 0 };
        // SAFETY: as above.
        unsafe { cuda.launch(self.op, function, self.grid(packs, &way), &args)? };
        Ok(true)
    }

    /// Returns the result and the inputs that are tensors, with their numbers in the plan.
    fn places(&self) -> impl Iterator<Item = (usize, Place)> {
        let inputs = self.inputs.iter().enumerate();
        let tensors = inputs.filter_map(|(k, input)| match *input {
            Input::Tensor(place) => Some((k + 1, place)),
            Input::Scalar(_) => None,
        });
        std::iter::once((0, self.dest)).chain(tensors)
    }

    /// Returns the number of elements of the largest dtype in an access.
    fn full(&self) -> usize {
        if self.expression.heavy {
            return 1;
        }
        let largest = self.places().map(|(_, place)| place.dtype.size()).max();
        ACCESS / largest.unwrap_or(ACCESS)
    }

    /// Returns the accesses if all operands are contiguous.
    fn contiguous(&self) -> Option<Accesses> {
        let linear = |(k, place): (usize, Place)| self.plan.is_linear(k, place.dtype.size());
        if !self.places().all(linear) {
            return None;
        }
        let full = self.full();
        let fits = |(_, place): (usize, Place)| aligned(place, full);
        let pack = if self.places().all(fits) { full } else { 1 };
        Some(Accesses { pack, spread: 0 })
    }

    /// Returns the accesses of strided operands: packs if each operand is contiguous or broadcast along the innermost
    /// dim, and single elements otherwise.
    fn strided(&self) -> Accesses {
        let (inner, full) = (self.plan.inner(), self.full());
        let mut spread = 0;
        let mut fits = inner.size.is_multiple_of(full);
        for (k, place) in self.places() {
            let size = place.dtype.size();
            if inner.steps[k] == 0 && k > 0 {
                spread |= 1 << (k - 1);
                continue;
            }
            let pack = (size * full) as isize;
            let mut outer = self.plan.dims()[1..].iter();
            fits &= inner.steps[k] == size as isize
                && aligned(place, full)
                && outer.all(|dim| dim.steps[k] % pack == 0);
        }
        if fits {
            return Accesses { pack: full, spread };
        }
        Accesses { pack: 1, spread: 0 }
    }

    /// Returns the module for an access.
    fn source(&self, way: &Accesses, wide: bool) -> Source {
        const TEXTS: [&str; INPUTS] = ["EXPR1", "EXPR2", "EXPR3", "EXPR4"];
        const DTYPES: [&str; INPUTS] = ["T0", "T1", "T2", "T3"];
        let mut source = Source::new(File::Map)
            .word(TEXTS[self.inputs.len() - 1], &self.expression.text)
            .dtype("COMPUTE", self.compute)
            .dtype("OUT", self.dest.dtype);
        for (k, input) in self.inputs.iter().enumerate() {
            if let Input::Tensor(place) = input {
                source = source.dtype(DTYPES[k], place.dtype);
            }
        }
        // A missing define has the most common value.
        if let Some(place) = self.expression.condition {
            source = source.number("CONDITION", place as i64);
        }
        if self.expression.heavy {
            source = source.word("HEAVY", "");
        }
        if way.pack != self.full() || self.expression.heavy {
            source = source.number("PACK", way.pack as i64);
        }
        if way.spread != 0 {
            source = source.number("SPREAD", way.spread);
        }
        if wide { source.index(true) } else { source }
    }

    /// Returns the module of the most common access: packs without broadcasting. With `all`, also those of other
    /// accesses.
    pub(super) fn modules(&self, all: bool) -> Vec<Module> {
        let pack = self.full();
        let module = |pack, spread, wide| {
            let way = Accesses { pack, spread };
            Module::new(self.source(&way, wide), &[c"contiguous", c"strided"])
        };
        let mut modules = vec![module(pack, 0, false)];
        if all {
            modules.extend([module(pack, 0, true), module(pack, 1, false)]);
            modules.extend([module(1, 0, false), module(1, 0, true)]);
        }
        modules
    }

    fn grid(&self, packs: usize, way: &Accesses) -> Grid {
        let ahead = match way.pack {
            _ if self.expression.heavy || self.compute.is_complex() => 1,
            1 => 4,
            _ => 2,
        };
        Grid::linear(packs.div_ceil(ahead), THREADS)
    }
}

/// Returns whether an operand is aligned to packs of `pack` elements.
fn aligned(place: Place, pack: usize) -> bool {
    place.ptr.addr().is_multiple_of(pack * place.dtype.size())
}

/// Converts the innermost dim to packs.
fn packed(dim: &Dim, way: &Accesses) -> (usize, [isize; OPERANDS]) {
    let steps = dim.steps.map(|step| step * way.pack as isize);
    (dim.size / way.pack, steps)
}
