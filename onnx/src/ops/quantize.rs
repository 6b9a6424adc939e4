//! Quantised operators, with exact integer products.

use nomina::{ColumnsOptions, DType, DynTensor, Scalar};
use nomina_core::op::Op;
use nomina_core::{Names, Result};
use nomina_runtime::call::{self, ConvAfter};

use super::conv::{conv, group, spatial};
use super::move_elements::pad_constant;
use super::norm::along_channels;
use super::window::{Window, array};
use crate::call::{Call, reshape};
use crate::fuse::Program;
use crate::names::flow::Flow::{self, First, FirstAndScalars, Fresh};
use crate::proto::tensor;
use crate::table::Row;
use crate::table::Run::{Single, Tensors};

pub const ROWS: &[Row] = &[
    Row::new("QuantizeLinear", 10, First, Single(quantize)),
    Row::new("DequantizeLinear", 10, First, Single(dequantize)),
    Row::new(
        "DynamicQuantizeLinear",
        11,
        FirstAndScalars,
        Tensors(dynamic),
    ),
    Row::new("MatMulInteger", 10, Flow::MatMul, Single(matmul_integer)),
    Row::new("ConvInteger", 10, Flow::Conv, Single(conv_integer)),
    Row::new("QLinearMatMul", 10, Fresh, Single(qlinear_matmul)),
    Row::new("QLinearConv", 10, Fresh, Single(qlinear_conv)),
];

/// The smallest and the largest number of an integer dtype.
fn limits(c: &Call<'_>, dtype: DType) -> Result<(f64, f64)> {
    Ok(match dtype {
        DType::U8 => (0.0, 255.0),
        DType::I8 => (-128.0, 127.0),
        DType::I16 => (-32768.0, 32767.0),
        DType::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        other => return Err(c.fail(format!("quantising to {other} is not supported"))),
    })
}

/// Spreads one scale, one per element of `axis`, or one per block of it, over `x`.
fn spread(c: &Call<'_>, scale: &DynTensor, x: &DynTensor) -> Result<DynTensor> {
    if scale.numel() == 1 {
        return reshape(scale, &[]);
    }
    let axis = c.axis(c.int("axis", 1)?, x.rank())?;
    let block = c.int("block_size", 0)?;
    if block > 0 {
        c.require(
            scale.rank() == x.rank(),
            "the scales have not the dims of the tensor",
        )?;
        let wide = scale.repeat_interleave(block, axis as i64)?;
        c.require(
            wide.shape()[axis] >= x.shape()[axis],
            "there are too few blocks",
        )?;
        return wide.narrow(axis as i64, 0, x.shape()[axis]);
    }
    c.require(
        scale.rank() == 1 && scale.numel() == x.shape()[axis],
        "there is not one scale per element of the axis",
    )?;
    let mut shape = vec![1; x.rank()];
    shape[axis] = scale.numel();
    reshape(scale, &shape)
}

fn stated_dtype(c: &Call<'_>, name: &str) -> Result<Option<DType>> {
    match c.int(name, 0)? {
        0 => Ok(None),
        number => tensor::dtype(number).map(Some).map_err(|_| {
            c.fail(format!(
                "the dtype {} is not supported",
                tensor::type_name(number)
            ))
        }),
    }
}

/// Returns the dtype in which numbers of `dtype` are saturated to an integer dtype without rounding errors.
fn exact(dtype: DType, target: DType) -> DType {
    // Numbers from 2^24 on, which `f32` rounds, saturate.
    if dtype == DType::F32 && target.size() < 4 {
        DType::F32
    } else {
        DType::F64
    }
}

/// Computes a program whose step `scaled`, of the dtype `from`, is rounded to integers; adds the zero point, and saturates.
fn saturate<'a>(
    c: &Call<'_>,
    (mut program, scaled, from): (Program, usize, DType),
    mut operands: Vec<&'a DynTensor>,
    zero: Option<&'a DynTensor>,
    dtype: DType,
) -> Result<DynTensor> {
    let (low, high) = limits(c, dtype)?;
    let compute = exact(from, dtype);
    let wide = program.to(compute, scaled);
    let mut y = program.apply(Op::Round, &[wide]);
    if let Some(zero) = zero {
        let at = program.operand();
        operands.push(zero);
        let wide = program.to(compute, at);
        y = program.apply(Op::Add, &[y, wide]);
    }
    for (limit, op) in [(low, Op::ClampMin), (high, Op::ClampMax)] {
        let limit = program.number(limit);
        y = program.apply(op, &[y, limit]);
    }
    program.to(dtype, y);
    program.run(&operands)
}

/// Adds an operand converted to a dtype to a program.
fn converted(program: &mut Program, dtype: DType) -> usize {
    let operand = program.operand();
    program.to(dtype, operand)
}

fn quantize(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let scale = spread(c, c.x(1)?, x)?;
    let zero = c.maybe(2)?.map(|zero| spread(c, zero, x)).transpose()?;
    let dtype = match &zero {
        Some(zero) => zero.dtype(),
        None => stated_dtype(c, "output_dtype")?.unwrap_or(DType::U8),
    };
    let precision = stated_dtype(c, "precision")?.unwrap_or(if x.dtype().is_float() {
        x.dtype()
    } else {
        DType::F32
    });
    let mut program = Program::default();
    let sides = [(); 2].map(|()| converted(&mut program, precision));
    let scaled = program.apply(Op::Div, &sides);
    saturate(
        c,
        (program, scaled, precision),
        vec![x, &scale],
        zero.as_ref(),
        dtype,
    )
}

fn dequantize(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    c.require(
        x.dtype().is_integral(),
        "the input is not quantised to integers",
    )?;
    let scale = spread(c, c.x(1)?, x)?;
    let zero = c.maybe(2)?.map(|zero| spread(c, zero, x)).transpose()?;
    let dtype = stated_dtype(c, "output_dtype")?.unwrap_or(scale.dtype());
    let mut program = Program::default();
    // Differences of up to 17 bits are exact in `f32`, and their products with the scale are rounded once.
    let compute = if dtype == DType::F32 {
        exact(scale.dtype(), x.dtype())
    } else {
        DType::F64
    };
    let sides = [(); 2].map(|()| converted(&mut program, compute));
    let mut operands = vec![x, &scale];
    let mut y = sides[0];
    if let Some(zero) = &zero {
        let zero_point = converted(&mut program, compute);
        y = program.apply(Op::Sub, &[y, zero_point]);
        operands.push(zero);
    }
    let y = program.apply(Op::Mul, &[y, sides[1]]);
    program.to(dtype, y);
    program.run(&operands)
}

fn dynamic(c: &Call<'_>) -> Result<Vec<DynTensor>> {
    let x = c.x(0)?;
    let flat = reshape(x, &[x.numel()])?;
    let high = flat.amax(0)?.clamp_min(0.0)?;
    let low = flat.amin(0)?.clamp_max(0.0)?;
    let scale = high.sub(&low)?.div(255.0)?;
    let zero = low
        .neg()?
        .div(&scale)?
        .clamp_min(0.0)?
        .clamp_max(255.0)?
        .round()?
        .to_dtype(DType::U8)?;
    let mut program = Program::default();
    let sides = [program.operand(), program.operand()];
    let scaled = program.apply(Op::Div, &sides);
    let y = saturate(
        c,
        (program, scaled, x.dtype()),
        vec![x, &scale],
        Some(&zero),
        DType::U8,
    )?;
    Ok(vec![y, scale, zero])
}

/// A number per row of the left operand, as a column.
fn per_row(zero: &DynTensor) -> Result<DynTensor> {
    match zero.rank() {
        1 if zero.numel() > 1 => reshape(zero, &[zero.numel(), 1]),
        1 => reshape(zero, &[]),
        _ => Ok(zero.clone()),
    }
}

/// An operand and its zero point.
type Quantized<'a> = (&'a DynTensor, Option<&'a DynTensor>);

/// Multiplies matrices minus their zero points. A vector is a row on the left or a column on the right.
fn exact_matmul(a: Quantized<'_>, b: Quantized<'_>) -> Result<DynTensor> {
    let (row, column) = (a.0.rank() == 1, b.0.rank() == 1);
    let left = if row {
        a.0.unsqueeze(0, None)?
    } else {
        a.0.clone()
    };
    let right = if column {
        b.0.unsqueeze(1, None)?
    } else {
        b.0.clone()
    };
    let zero = a.1.map(per_row).transpose()?;
    let zeros = [zero.as_ref(), b.1].map(|zero| zero.map(DynTensor::raw));
    let sums = call::quantized_matmul(left.raw(), right.raw(), zeros)?;
    let rank = sums.rank();
    let mut sums = DynTensor::from_parts(sums, Names::unnamed(rank))?;
    if column {
        sums = sums.squeeze(-1)?;
    }
    if row {
        sums = sums.squeeze(if column { -1 } else { -2 })?;
    }
    Ok(sums)
}

fn matmul_integer(c: &Call<'_>) -> Result<DynTensor> {
    exact_matmul((c.x(0)?, c.maybe(2)?), (c.x(1)?, c.maybe(3)?))
}

/// A number per output channel of the weight.
fn per_channel(zero: &DynTensor, rank: usize) -> Result<DynTensor> {
    if zero.numel() == 1 {
        return reshape(zero, &[]);
    }
    let mut shape = vec![1; rank];
    shape[0] = zero.numel();
    reshape(zero, &shape)
}

/// Subtracts the zero point; integers up to 2^53 are exact in `f64`.
fn centred(x: &DynTensor, zero: Option<&DynTensor>) -> Result<DynTensor> {
    let x = x.to_dtype(DType::F64)?;
    match zero {
        Some(zero) => x.sub(&zero.to_dtype(DType::F64)?),
        None => Ok(x),
    }
}

/// The fewest outputs of a group for which products of bytes pay.
const OUTPUTS: usize = 4;

/// Convolves: over one or two dims as products of bytes, if the processor has instructions for them, otherwise in `f64`.
fn exact_conv(c: &Call<'_>, x: Quantized<'_>, w: Quantized<'_>) -> Result<DynTensor> {
    let zero = x.1.map(|zero| reshape(zero, &[])).transpose()?;
    let zero = zero.as_ref();
    let outs = w.0.shape().first().copied().unwrap_or(0) / group(c)?;
    if outs >= OUTPUTS && call::multiplies_bytes(x.0.raw().device())? {
        match x.0.rank() {
            3 => {
                let line = |x: &DynTensor| x.unsqueeze(2, None);
                let (lines, rows) = (line(x.0)?, line(w.0)?);
                let window = Window::new(c, spatial(c, x.0)?, Some(spatial(c, w.0)?))?;
                return by_columns(c, (&lines, zero), (&rows, w.1), &window.of_line())?.squeeze(2);
            }
            4 => {
                let window = Window::new(c, spatial(c, x.0)?, Some(spatial(c, w.0)?))?;
                return by_columns(c, (x.0, zero), w, &window);
            }
            _ => {}
        }
    }
    let w_zero = w.1.map(|zero| per_channel(zero, w.0.rank())).transpose()?;
    let (x, w) = (centred(x.0, zero)?, centred(w.0, w_zero.as_ref())?);
    conv(c, &x, &w, None, ConvAfter::default())
}

/// Multiplies the weight by the elements under each position of a window over two dims.
fn by_columns(
    c: &Call<'_>,
    x: Quantized<'_>,
    w: Quantized<'_>,
    window: &Window,
) -> Result<DynTensor> {
    let groups = group(c)?;
    let (&[batch, channels, ..], &[outs, depth, ..]) = (x.0.shape(), w.0.shape()) else {
        return Err(c.fail("the operands have not the dims of a convolution"));
    };
    c.require(
        Some(channels) == depth.checked_mul(groups) && outs.is_multiple_of(groups),
        "the channels of input, weight and groups differ",
    )?;
    // Padding is the zero point.
    let padding = x.1.map_or(Ok(Scalar::Int(0)), DynTensor::item)?;
    let mut padded = x.0.clone();
    for dim in 0..2 {
        let counts = (window.before[dim], window.after[dim]);
        padded = pad_constant(&padded, dim + 2, counts, padding)?;
    }
    let sizes = [0, 1].map(|dim| {
        let room = padded.shape()[dim + 2].checked_sub(window.span(dim))?;
        Some(room / window.stride[dim] + 1)
    });
    let [Some(high), Some(wide)] = sizes else {
        return Err(c.fail("the window is larger than the padded input"));
    };
    if window.kernel != [1, 1] || window.stride != [1, 1] {
        let options = ColumnsOptions {
            dilation: array(&window.dilation),
            stride: array(&window.stride),
            ..Default::default()
        };
        padded = padded.im2col(array(&window.kernel), options)?;
    }
    let under = w.0.numel() / outs.max(1);
    let columns = reshape(&padded, &[batch, groups, under, high * wide])?;
    let rows = reshape(w.0, &[groups, outs / groups, under])?;
    let row_zeros = w.1.map(|zero| match zero.numel() {
        1 => reshape(zero, &[]),
        _ => reshape(zero, &[groups, outs / groups, 1]),
    });
    let row_zeros = row_zeros.transpose()?;
    let zeros = [row_zeros.as_ref(), x.1].map(|zero| zero.map(DynTensor::raw));
    let sums = call::quantized_matmul(rows.raw(), columns.raw(), zeros)?;
    let sums = DynTensor::from_parts(sums, Names::unnamed(4))?;
    reshape(&sums, &[batch, outs, high, wide])
}

fn conv_integer(c: &Call<'_>) -> Result<DynTensor> {
    exact_conv(c, (c.x(0)?, c.maybe(2)?), (c.x(1)?, c.maybe(3)?))?.to_dtype(DType::I32)
}

/// Multiplies sums, with a bias if there is one, by a scale, and quantises the results.
fn requantize(
    c: &Call<'_>,
    sums: &DynTensor,
    bias: Option<&DynTensor>,
    scale: &DynTensor,
    zero: &DynTensor,
) -> Result<DynTensor> {
    let mut program = Program::default();
    let sides = [(); 2].map(|()| converted(&mut program, DType::F64));
    let mut operands = vec![sums, scale];
    let mut y = sides[0];
    if let Some(bias) = bias {
        let bias_at = converted(&mut program, DType::F64);
        y = program.apply(Op::Add, &[y, bias_at]);
        operands.push(bias);
    }
    let y = program.apply(Op::Mul, &[y, sides[1]]);
    saturate(
        c,
        (program, y, DType::F64),
        operands,
        Some(zero),
        zero.dtype(),
    )
}

fn qlinear_matmul(c: &Call<'_>) -> Result<DynTensor> {
    let sums = exact_matmul((c.x(0)?, Some(c.x(2)?)), (c.x(3)?, Some(c.x(5)?)))?;
    let wide = |x: &DynTensor| x.to_dtype(DType::F64);
    let scale = wide(&per_row(c.x(1)?)?)?
        .mul(&wide(c.x(4)?)?)?
        .div(&wide(&per_row(c.x(6)?)?)?)?;
    requantize(c, &sums, None, &scale, &per_row(c.x(7)?)?)
}

fn qlinear_conv(c: &Call<'_>) -> Result<DynTensor> {
    let sums = exact_conv(c, (c.x(0)?, Some(c.x(2)?)), (c.x(3)?, Some(c.x(5)?)))?;
    let bias = c.maybe(8)?.map(|bias| along_channels(bias, sums.rank()));
    let wide = |at: usize| c.x(at)?.to_dtype(DType::F64);
    let w_scale = wide(4)?;
    let w_scale = if w_scale.numel() == 1 {
        reshape(&w_scale, &[])?
    } else {
        along_channels(&w_scale, sums.rank())?
    };
    let scale = reshape(&wide(1)?, &[])?
        .mul(&w_scale)?
        .div(&reshape(&wide(6)?, &[])?)?;
    let bias = bias.transpose()?;
    requantize(c, &sums, bias.as_ref(), &scale, &reshape(c.x(7)?, &[])?)
}
