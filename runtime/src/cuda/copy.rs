//! Copies, with conversion of dtypes: `copy.cu` and `map.cu`.

use std::borrow::Cow;

use nomina_core::{DType, Result};

use super::expression::Expression;
use super::index::{Divider, StridedIndex, WIDE};
use super::launch::{Argument, Grid};
use super::map::Map;
use super::module::Module;
use super::source::{File, Source};
use super::{Cuda, staged};
use crate::job::{Input, Place};

use crate::plan::Plan;

const OP: &str = "copy";

/// The expression of a copy, in the dtype of its source.
static AS_IT_IS: Expression = Expression {
    text: Cow::Borrowed("x"),
    operands: 1,
    condition: None,
    heavy: false,
    dtypes: Cow::Borrowed(&[]),
};

/// The least size of dims that are copied by tiles.
const SHORT: usize = 8;

/// The arguments: the struct of `copy.cu`.
#[repr(C)]
#[derive(Clone, Copy)]
struct CopyArgs {
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
    outer: StridedIndex<2>,
}

// SAFETY: the struct of `copy.cu`.
unsafe impl Argument for CopyArgs {}

/// Copies operand 1 of a plan to operand 0.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn execute(cuda: &Cuda, plan: &Plan, dest: Place, source: Place) -> Result<()> {
    if plan.numel() == 0 {
        return Ok(());
    }
    let (to, from) = if dest.dtype == source.dtype {
        // Without a conversion, only bits are copied.
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
    let map = map(plan, to, &inputs, from.dtype);
    // SAFETY: the caller's promise.
    if unsafe { map.run(cuda)? } {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe { staged::copy(cuda, plan, dest, source) }
}

/// Returns a copy as an expression.
fn map<'a>(plan: &'a Plan, dest: Place, inputs: &'a [Input], compute: DType) -> Map<'a> {
    Map {
        op: OP,
        expression: &AS_IT_IS,
        compute,
        plan,
        dest,
        inputs,
    }
}

/// Returns a dtype of the same size whose conversion to itself keeps all bits.
fn bits(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::U8,
        2 => DType::I16,
        4 => DType::I32,
        8 => DType::I64,
        _ => DType::C128,
    }
}

/// Returns the module that transposes tiles, with `pack` elements in each access.
fn turning(dest: DType, source: DType, pack: usize) -> Source {
    let source = Source::new(File::Copy)
        .dtype("T0", source)
        .dtype("OUT", dest);
    match pack {
        1 => source,
        _ => source.number("PACK", pack as i64),
    }
}

/// Returns the number of elements in an access of four bytes; 1 for larger elements and conversions.
fn word(dest: DType, source: DType) -> usize {
    if dest == source {
        (4 / dest.size()).max(1)
    } else {
        1
    }
}

/// Copies by tiles if each operand is contiguous along a different dim. Otherwise returns false without copying.
///
/// # Safety
/// See [`execute`].
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
    let Some(outer) = StridedIndex::<2>::from_dims(outer) else {
        return Ok(false);
    };
    let (columns, rows) = (inner.size, dims[at].size);
    let word = word(dest.dtype, source.dtype);
    // The addresses and all strides but the contiguous one are multiples of a word.
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
    let args = CopyArgs {
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
    // SAFETY: the kernel's struct; the caller promises the positions.
    unsafe { cuda.launch(OP, function, Grid::blocks(tiles, 256), &args)? };
    Ok(true)
}

/// Lists the modules of all pairs of dtypes.
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
            let mut modules = map(&plan, place(to), &inputs, from).modules(false);
            let word = word(to, from);
            for pack in [1, word].into_iter().take(1 + usize::from(word > 1)) {
                modules.push(Module::new(turning(to, from, pack), &[c"transpose"]));
            }
            modules
        })
        .collect()
}
