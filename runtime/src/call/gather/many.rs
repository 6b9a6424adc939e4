//! Several indices at once: `x[a, :, b]`.

use nomina_core::op::Op;
use nomina_core::{DType, ErrorKind, Result, Scalar, rule};

use super::indices::{JobOperand, checked, flat, refuse, same_device, same_dtype, without};
use super::mask::nonzero;
use super::pick::index_select;
use super::update::write;
use crate::Device;
use crate::call::assign::assign;
use crate::call::backend::backend;
use crate::call::{Arg, contiguous, pointwise, to_dtype};
use crate::job::{IndexJob, Place, Update};

use crate::plan::Plan;
use crate::raw::graph::is_wanted;
use crate::raw::{Raw, RawMut};
use crate::shape::{Shape, Strides, broadcast, row_major, scaled_stride};
use crate::tape::{Addressing, DimIndex};

/// Several indices as one: the offset of each in a tensor, and the position of its dims.
struct Joint {
    op: Op,
    /// The offsets in elements, contiguous, with the indices' common shape.
    offsets: Raw,
    /// The least possible offset, and the number of possible ones.
    low: i64,
    extent: usize,
    /// The dims that are not indexed, and the position of the index's dims among them.
    rest: rule::Positions,
    place: usize,
}

impl Joint {
    /// Combines the indices of the dims `dims` of a tensor with this shape and these strides.
    fn new(
        op: Op,
        shape: &[usize],
        strides: &[isize],
        dims: &[usize],
        indices: &[&Raw],
        device: Device,
    ) -> Result<Self> {
        if dims.len() != indices.len() || !dims.is_sorted_by(|a, b| a < b) {
            let what = format!("{} indices for the dims {dims:?}", indices.len());
            return Err(refuse(ErrorKind::Argument, op, &[shape], what)
                .hint("give one for each dim, outermost first, each dim once"));
        }
        let shapes: Vec<&[usize]> = indices.iter().map(|index| index.shape()).collect();
        let common = broadcast(op.name(), &shapes)?;
        let mut offsets: Option<Raw> = None;
        let (mut low, mut high) = (0_i64, 0_i64);
        for (&dim, index) in dims.iter().zip(indices) {
            let (index, _) = checked(op, shape, dim, index, true)?;
            let step = Scalar::Int(strides[dim] as i64);
            let moved = pointwise(Op::Mul, &[Arg::Tensor(&index), Arg::Scalar(step)])?;
            offsets = Some(match offsets {
                None => moved,
                Some(sum) => pointwise(Op::Add, &[Arg::Tensor(&sum), Arg::Tensor(&moved)])?,
            });
            let far = (shape[dim].max(1) as i64 - 1).saturating_mul(strides[dim] as i64);
            let (down, up) = (far.min(0), far.max(0));
            (low, high) = (low.saturating_add(down), high.saturating_add(up));
        }
        let offsets = match offsets {
            Some(offsets) => contiguous(&offsets.expand(&common)?)?,
            None => Raw::zeros(op.name(), &common, DType::I64, device)?,
        };
        Ok(Self {
            op,
            offsets,
            low,
            extent: high.abs_diff(low).saturating_add(1) as usize,
            rest: (0..shape.len()).filter(|dim| !dims.contains(dim)).collect(),
            // Counted among the dims that are not indexed, all of which before the first index precede it.
            place: rule::index_place(dims),
        })
    }

    /// Returns the shape of the elements that are read or written, with the index's dims as they are or as one.
    fn shape(&self, own: &[usize], index: &[usize]) -> Shape {
        let rest: Shape = self.rest.iter().map(|&dim| own[dim]).collect();
        let mut with: Shape = rest[..self.place].into();
        with.extend(index.iter().copied());
        with.extend(rest[self.place..].iter().copied());
        with
    }

    /// Returns the job; `other` has the index's dims as one, at `self.place`.
    fn job(&self, own: &[usize], target: &JobOperand<'_>, other: &JobOperand<'_>) -> IndexJob {
        let sizes: Shape = self.rest.iter().map(|&dim| own[dim]).collect();
        let from: Strides = self.rest.iter().map(|&dim| target.strides[dim]).collect();
        let to: Strides = without(other.strides, self.place);
        let none = Strides::from_elem(0, sizes.len());
        let size = target.place.dtype.size();
        IndexJob {
            op: self.op.name(),
            rest: Plan::new(&sizes, &[(&from, size), (&to, size), (&none, 8)]),
            count: self.offsets.numel(),
            other_step: scaled_stride(other.strides[self.place], size),
            index_step: size_of::<i64>() as isize,
            target_step: size as isize,
            target: target.place,
            other: other.place,
            index: self.offsets.as_ptr().cast(),
            unchecked: None,
            low: self.low,
            extent: self.extent,
            is_complete: self.rest.is_empty() && self.extent == crate::shape::count(own),
        }
    }
}

/// Returns the elements of `x` at the indices of the ascending dims `dims`. The indices broadcast, and the position of
/// their dims is [`rule::index_place`].
///
/// # Errors
/// If dims are out of range or not ascending, the numbers of indices and dims differ, indices are out of range, no i32
/// or i64, or do not broadcast, or memory is missing.
pub fn index(x: &Raw, dims: &[usize], indices: &[&Raw]) -> Result<Raw> {
    let op = Op::Index;
    for index in indices {
        same_device(op, x.device(), index)?;
    }
    if let ([dim], [index]) = (dims, indices) {
        return index_select(op, x, *dim, index);
    }
    let joint = Joint::new(op, x.shape(), x.strides(), dims, indices, x.device())?;
    let shape = joint.shape(x.shape(), joint.offsets.shape());
    if is_wanted([x]) {
        let flat = Flat::new(x.shape(), dims, indices, joint.place, joint.offsets.shape())?;
        return flat.back(&index_select(op, &flat.first(x)?, 0, &flat.index)?);
    }
    let mut out = Raw::empty(op.name(), &shape, x.dtype(), x.device())?;
    if out.numel() == 0 {
        return Ok(out);
    }
    let merged = joint.shape(x.shape(), &[joint.offsets.numel()]);
    let strides = row_major(&merged);
    let to = JobOperand {
        place: Place {
            ptr: out.fresh_ptr(),
            dtype: out.dtype(),
        },
        strides: &strides,
    };
    let job = joint.job(x.shape(), &JobOperand::read(x), &to);
    // SAFETY: a whole operand, a fresh result, and offsets of checked indices.
    unsafe { backend(op.name(), x.device())?.pick(&job)? };
    Ok(out)
}

/// Writes values, which broadcast, to the elements that [`index`] would read.
///
/// # Errors
/// Like [`index`]; also if values have another dtype. Nothing is written then.
pub fn index_put(
    mut dest: RawMut<'_>,
    dims: &[usize],
    indices: &[&Raw],
    values: &Raw,
    how: Update,
) -> Result<()> {
    let op = Op::IndexPut;
    for index in indices {
        same_device(op, dest.device(), index)?;
    }
    same_device(op, dest.device(), values)?;
    same_dtype(op, (dest.shape(), dest.dtype()), values)?;
    let joint = Joint::new(
        op,
        dest.shape(),
        dest.strides(),
        dims,
        indices,
        dest.device(),
    )?;
    let shape = joint.shape(dest.shape(), joint.offsets.shape());
    let values = values.expand(&shape).map_err(|_| {
        let what = format!(
            "values of sizes {:?} do not broadcast to {shape:?}",
            values.shape()
        );
        refuse(ErrorKind::Shape, op, &[dest.shape(), values.shape()], what)
            .hint("only dims of size 1 repeat; new dims go on the left")
    })?;
    if dest.records([&values]) {
        let flat = Flat::new(
            dest.shape(),
            dims,
            indices,
            joint.place,
            joint.offsets.shape(),
        )?;
        return assign(op.name(), dest, |x| {
            let index = DimIndex {
                op,
                addressing: Addressing::Slices,
                dim: 0,
                index: flat.index.clone(),
            };
            flat.whole(&index.update(flat.first(x)?, &flat.ahead(&values)?, how)?)
        });
    }
    if values.numel() == 0 {
        return Ok(());
    }
    let merged = joint.shape(dest.shape(), &[joint.offsets.numel()]);
    let values = values.reshape(&merged)?;
    let own: Shape = dest.shape().into();
    let strides: Strides = dest.strides().into();
    let target = JobOperand {
        place: Place {
            ptr: dest.as_mut_ptr(),
            dtype: dest.dtype(),
        },
        strides: &strides,
    };
    let job = joint.job(&own, &target, &JobOperand::read(&values));
    write(op, &dest, &job, how)
}

/// Several indices as one index of the indexed dims, which are flattened into a leading dim. Recorded writes are
/// computed this way.
struct Flat {
    index: Raw,
    /// The dims in the order of `first`, and the position of each there.
    order: Shape,
    back: Shape,
    sizes: Shape,
    indexed: usize,
    /// The position of the index's dims in a result.
    place: usize,
}

impl Flat {
    fn new(
        shape: &[usize],
        dims: &[usize],
        indices: &[&Raw],
        place: usize,
        common: &[usize],
    ) -> Result<Self> {
        let rest = (0..shape.len()).filter(|dim| !dims.contains(dim));
        let order: Shape = dims.iter().copied().chain(rest).collect();
        let mut back = Shape::from_elem(0, order.len());
        (0..order.len()).for_each(|at| back[order[at]] = at);
        let mut flat: Option<Raw> = None;
        for (&dim, index) in dims.iter().zip(indices) {
            let index = to_dtype(index, DType::I64)?;
            let size = Arg::Scalar(Scalar::Int(i64::try_from(shape[dim]).unwrap_or(i64::MAX)));
            let index = pointwise(Op::Remainder, &[Arg::Tensor(&index), size])?;
            flat = Some(match flat {
                None => index,
                Some(before) => {
                    let before = pointwise(Op::Mul, &[Arg::Tensor(&before), size])?;
                    pointwise(Op::Add, &[Arg::Tensor(&before), Arg::Tensor(&index)])?
                }
            });
        }
        let index = match flat {
            Some(flat) => contiguous(&flat.expand(common)?)?,
            None => Raw::zeros("index", common, DType::I64, crate::Device::Cpu)?,
        };
        Ok(Self {
            index,
            sizes: order.iter().map(|&dim| shape[dim]).collect(),
            order,
            back,
            indexed: dims.len(),
            place,
        })
    }

    /// Flattens the indexed dims and moves them to the front.
    fn first(&self, x: &Raw) -> Result<Raw> {
        let mut shape = Shape::new();
        shape.push(crate::shape::count(&self.sizes[..self.indexed]));
        shape.extend_from_slice(&self.sizes[self.indexed..]);
        x.permute(&self.order)?.reshape(&shape)
    }

    /// Undoes [`Flat::first`].
    fn whole(&self, x: &Raw) -> Result<Raw> {
        x.reshape(&self.sizes)?.permute(&self.back)
    }

    /// Moves the index's dims from the front to their position.
    fn back(&self, picked: &Raw) -> Result<Raw> {
        let index = self.index.rank();
        let rest = index + self.place..picked.rank();
        let order: Shape = (index..index + self.place)
            .chain(0..index)
            .chain(rest)
            .collect();
        picked.permute(&order)
    }

    /// Moves the index's dims from their position to the front.
    fn ahead(&self, values: &Raw) -> Result<Raw> {
        let index = self.place..self.place + self.index.rank();
        let rest = index.end..values.rank();
        let order: Shape = index.chain(0..self.place).chain(rest).collect();
        values.permute(&order)
    }
}

/// Converts a mask to one index for each dim that it covers.
///
/// # Errors
/// If memory is missing.
pub fn from_mask(mask: &Raw) -> Result<Vec<Raw>> {
    let rows = nonzero(Op::Index, mask)?;
    (0..mask.rank())
        .map(|dim| flat(&rows.select(1, dim)?))
        .collect()
}
