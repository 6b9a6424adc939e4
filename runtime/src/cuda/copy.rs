//! Copies, which may convert.

use nomina_core::{DType, Result};

use super::catalog::Module;
use super::expression::Expression;
use super::index::{Divider, Strided, WIDE};
use super::launch::{Argument, Grid};
use super::map::Map;
use super::source::{File, Source};
use super::{Cuda, staged};
use crate::job::{Input, Place};

use crate::plan::Plan;

const OP: &str = "copy";

/// What a copy computes, in the dtype of its source.
static AS_IT_IS: Expression = Expression {
    text: "x",
    operands: 1,
    condition: None,
    heavy: false,
    dtypes: &[],
};

/// Dims shorter than this are not worth a tile.
const SHORT: usize = 8;

/// The struct of `copy.cu`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Args {
    dest: *mut u8,
    source: *const u8,
    columns: u64,
    rows: u64,
    dest_row: i64,
    source_column: i64,
    across: Divider,
    down: Divider,
    tiles: u32,
    pad: u32,
    outer: Strided<2>,
}

// SAFETY: as `copy.cu` declares it.
unsafe impl Argument for Args {}

/// Copies operand 1 of a plan to operand 0.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn execute(cuda: &Cuda, plan: &Plan, dest: Place, source: Place) -> Result<()> {
    if plan.numel() == 0 {
        return Ok(());
    }
    let (to, from) = if dest.dtype == source.dtype {
        // Elements keep their bits.
        let dtype = bits(dest.dtype);
        (Place { dtype, ..dest }, Place { dtype, ..source })
    } else {
        (dest, source)
    };
    let size = to.dtype.size();
    if to.dtype == from.dtype && plan.is_linear(0, size) && plan.is_linear(1, size) {
        // SAFETY: the caller's promise.
        return unsafe { cuda.copy(OP, to.ptr, from.ptr, plan.numel() * size) };
    }
    // SAFETY: the caller's promise.
    if unsafe { transpose(cuda, plan, to, from)? } {
        return Ok(());
    }
    let inputs = [Input::Tensor(from)];
    let map = of(plan, to, &inputs, from.dtype);
    // SAFETY: the caller's promise.
    if unsafe { map.run(cuda)? } {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe { staged::copy(cuda, plan, dest, source) }
}

/// A copy as an expression.
fn of<'a>(plan: &'a Plan, dest: Place, inputs: &'a [Input], compute: DType) -> Map<'a> {
    Map {
        op: OP,
        expression: &AS_IT_IS,
        compute,
        plan,
        dest,
        inputs,
    }
}

/// A dtype of the same size, of which no bits are changed.
fn bits(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::U8,
        2 => DType::I16,
        4 => DType::I32,
        8 => DType::I64,
        _ => DType::C128,
    }
}

/// The module that turns tiles, by so many elements at once.
fn turning(dest: DType, source: DType, pack: usize) -> Source {
    let source = Source::new(File::Copy)
        .dtype("T0", source)
        .dtype("OUT", dest);
    match pack {
        1 => source,
        _ => source.number("PACK", pack as i64),
    }
}

/// How many elements of small dtypes are one access of four bytes.
fn word(dest: DType, source: DType) -> usize {
    match dest == source {
        true => (4 / dest.size()).max(1),
        false => 1,
    }
}

/// By tiles, where both are adjacent, each along a dim of its own. False, and nothing was done, where they
/// are not.
///
/// # Safety
/// As [`execute`].
unsafe fn transpose(cuda: &Cuda, plan: &Plan, dest: Place, source: Place) -> Result<bool> {
    let (dims, inner) = (plan.dims(), plan.inner());
    let sizes = [dest.dtype.size() as isize, source.dtype.size() as isize];
    let found = dims.iter().position(|dim| dim.steps[1] == sizes[1]);
    let turned = found.filter(|&at| {
        at > 0 && inner.steps[0] == sizes[0] && dims[at].size.min(inner.size) >= SHORT
    });
    let Some(at) = turned else {
        return Ok(false);
    };
    let rest = dims.iter().enumerate().skip(1);
    let rest = rest.filter(|&(which, _)| which != at);
    let outer = rest.map(|(_, dim)| (dim.size, [dim.steps[0], dim.steps[1]]));
    let Some(outer) = Strided::<2>::of(outer) else {
        return Ok(false);
    };
    let (columns, rows) = (inner.size, dims[at].size);
    let word = word(dest.dtype, source.dtype);
    // Either side is of whole words, and every step but that of neighbours.
    let whole = |operand: usize, place: Place, inner: usize| {
        let others = dims.iter().enumerate().filter(|&(which, _)| which != inner);
        let steps = others.map(|(_, dim)| dim.steps[operand]);
        place.ptr.addr().is_multiple_of(4) && steps.into_iter().all(|step| step % 4 == 0)
    };
    let words = word > 1
        && columns.is_multiple_of(word)
        && rows.is_multiple_of(word)
        && whole(0, dest, 0)
        && whole(1, source, at);
    let pack = if words { word } else { 1 };
    let side = match sizes[0].max(sizes[1]) {
        _ if pack > 1 => 32 * pack,
        1 | 2 => 64,
        _ => 32,
    };
    let planes = plan.numel() / (columns * rows);
    let (across, down) = (columns.div_ceil(side), rows.div_ceil(side));
    let tiles = across * down * planes;
    if tiles >= WIDE {
        return Ok(false);
    }
    let args = Args {
        dest: dest.ptr,
        source: source.ptr,
        columns: columns as u64,
        rows: rows as u64,
        dest_row: dims[at].steps[0] as i64,
        source_column: inner.steps[1] as i64,
        across: Divider::new(across as u32),
        down: Divider::new(down as u32),
        tiles: tiles as u32,
        pad: 0,
        outer,
    };
    let module = turning(dest.dtype, source.dtype, pack);
    let function = cuda.function(OP, module, c"transpose")?;
    // SAFETY: the kernel's struct; positions are the caller's promise.
    unsafe { cuda.launch(OP, function, Grid::blocks(tiles, 256), &args)? };
    Ok(true)
}

/// The modules of all pairs of dtypes.
pub(super) fn modules() -> Vec<Module> {
    let plan = Plan::new(&[], &[]);
    let place = |dtype| Place {
        ptr: std::ptr::null_mut(),
        dtype,
    };
    let pairs = DType::ALL.into_iter().flat_map(|from| {
        let to = DType::ALL.into_iter();
        let to = to.filter(move |&to| to != from || bits(from) == from);
        to.map(move |to| (from, to))
    });
    pairs
        .flat_map(|(from, to)| {
            let inputs = [Input::Tensor(place(from))];
            let mut modules = of(&plan, place(to), &inputs, from).modules(false);
            let word = word(to, from);
            for pack in [1, word].into_iter().take(1 + usize::from(word > 1)) {
                modules.push(Module::new(turning(to, from, pack), &[c"transpose"]));
            }
            modules
        })
        .collect()
}
