//! Operands of elementwise operators, and their dtypes.

use crate::Device;
use nomina_core::op::{Op, Resolved};
use nomina_core::{DType, Element, Error, ErrorKind, Names, Promoter, Result, Scalar};

use crate::config::default_dtype;
use crate::raw::Strided;
pub use crate::raw::arg::Arg;

/// An operand for the rules of dtypes and sizes, which may also be a tensor that is written to.
#[derive(Clone, Copy)]
pub(super) enum OperandSource<'a> {
    Tensor {
        ptr: *const u8,
        layout: &'a Strided,
        dtype: DType,
        device: Device,
    },
    Scalar(Scalar),
}

impl<'a> From<Arg<'a>> for OperandSource<'a> {
    #[inline]
    fn from(arg: Arg<'a>) -> Self {
        match arg {
            Arg::Tensor(raw) => Self::Tensor {
                ptr: raw.as_ptr(),
                layout: raw.layout(),
                dtype: raw.dtype(),
                device: raw.device(),
            },
            Arg::Scalar(value) => Self::Scalar(value),
        }
    }
}

impl OperandSource<'_> {
    fn dtype(&self) -> Option<DType> {
        match *self {
            Self::Tensor { dtype, .. } => Some(dtype),
            Self::Scalar(Scalar::Bool(_)) => Some(DType::Bool),
            Self::Scalar(_) => None,
        }
    }
}

/// The most operands and numbers of an elementwise operator.
const MOST: usize = 4;

/// Returns the number of operands of an elementwise operator that promote; 0 for other operators. The numbers of its
/// expression follow them.
fn arity(op: Op) -> usize {
    op.row().expression().map_or(0, |(arity, _)| arity)
}

/// Returns the dtypes in which an elementwise operator computes and of its result.
///
/// # Errors
/// [`ErrorKind::DType`] for dtypes that the operator does not take.
pub fn result_dtype(op: Op, args: &[Arg<'_>]) -> Result<Resolved> {
    let sources: crate::SmallVec<[OperandSource<'_>; 3]> =
        args.iter().map(|&arg| arg.into()).collect();
    resolve(op, &sources)
}

pub(super) fn resolve(op: Op, sources: &[OperandSource<'_>]) -> Result<Resolved> {
    let row = op.row();
    let arity = arity(op);
    if sources.len() < arity || arity == 0 || sources.len() > MOST {
        let what = format!("{} operands, expected {arity}", sources.len());
        return Err(Error::new(ErrorKind::Argument, row.name, what)
            .hint("call it with the operands of its signature"));
    }
    let sources = &sources[..arity];
    let default = default_dtype();
    // A condition takes no part in promotion, and elements that are written into a tensor take its dtype.
    let (condition, promoted) = match op {
        Op::Where => (Some(0), &sources[1..]),
        Op::MaskedFill => (Some(1), &sources[..1]),
        _ => (None, sources),
    };
    if let Some(at) = condition {
        check_condition(op, &sources[at])?;
    }
    let mut promoter = Promoter::new(default);
    for source in promoted {
        match *source {
            OperandSource::Tensor { layout, dtype, .. } => {
                promoter.tensor(dtype, layout.shape().len())
            }
            OperandSource::Scalar(value) => promoter.scalar(value),
        }
    }
    let common = promoter.result();
    row.check_dtype(common)?;
    if op == Op::Sub {
        // Every operand's dtype counts: true minus 1.5 is refused, like true minus true.
        sources
            .iter()
            .filter_map(OperandSource::dtype)
            .try_for_each(|dtype| row.check_dtype(dtype))?;
    }
    if op == Op::Pow
        && common.is_integral()
        && matches!(sources[1], OperandSource::Scalar(Scalar::Int(..0)))
    {
        return Err(Error::new(
            ErrorKind::Argument,
            row.name,
            "an integer to a negative power",
        )
        .hint("convert the tensor to a float dtype first"));
    }
    Ok(row.dtype.resolve(common, default))
}

fn check_condition(op: Op, source: &OperandSource<'_>) -> Result<()> {
    match source.dtype() {
        Some(DType::Bool) => Ok(()),
        Some(DType::U8) if op == Op::Where => Ok(()),
        found => {
            let found = found.map_or_else(|| "a number".to_owned(), |dtype| dtype.to_string());
            Err(Error::new(
                ErrorKind::DType,
                op.name(),
                format!("the condition is {found}"),
            )
            .hint("the condition must be bool, as from comparisons"))
        }
    }
}

/// Returns the device of all tensors among the operands, or the host if there are none. A tensor without dims on the
/// host may be combined with any device, like a number.
pub(super) fn device(op: &'static str, sources: &[OperandSource<'_>]) -> Result<Device> {
    let mut found: Option<Device> = None;
    for source in sources {
        if let OperandSource::Tensor { device, layout, .. } = *source
            && !(device.is_cpu() && layout.shape().is_empty())
        {
            match found {
                Some(first) if first != device => {
                    let error = super::check::mixed_devices(op, first, device);
                    return Err(sources.iter().fold(error, |error, source| match source {
                        OperandSource::Tensor { layout, .. } => {
                            error.operand(&Names::default(), layout.shape())
                        }
                        OperandSource::Scalar(_) => error,
                    }));
                }
                _ => found = Some(device),
            }
        }
    }
    Ok(found.unwrap_or_default())
}

/// Reads the one number of a tensor without dims on the host.
///
/// # Safety
/// The number is at `ptr`.
pub(super) unsafe fn number(ptr: *const u8, dtype: DType) -> Scalar {
    // SAFETY: the caller's promise.
    crate::dispatch::with_dtype!(dtype, T => Element::to_scalar(unsafe { ptr.cast::<T>().read() }))
}

/// Returns the shape to which all operands broadcast.
pub(super) fn shape(
    op: &'static str,
    sources: &[OperandSource<'_>],
) -> Result<crate::shape::Shape> {
    let shapes: crate::SmallVec<[&[usize]; 4]> = sources
        .iter()
        .filter_map(|source| match source {
            OperandSource::Tensor { layout, .. } => Some(layout.shape()),
            OperandSource::Scalar(_) => None,
        })
        .collect();
    crate::shape::broadcast(op, &shapes)
}

/// Returns an error with the sizes of all operands.
pub(super) fn error(
    kind: ErrorKind,
    op: &'static str,
    what: String,
    sources: &[OperandSource<'_>],
) -> Error {
    sources
        .iter()
        .fold(Error::new(kind, op, what), |error, source| match source {
            OperandSource::Tensor { layout, .. } => {
                error.operand(&Names::default(), layout.shape())
            }
            OperandSource::Scalar(_) => error,
        })
}
