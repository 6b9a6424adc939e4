//! `torch.tensor`: converts nested lists of numbers, or copies a tensor.

use nomina_core::{Category, DType, Element, Error, ErrorKind, MemoryFormat, Result, Scalar, rule};

use super::bind::Bound;
use super::read::names;
use super::value::{Value, wrong};
use nomina_runtime::config::default_dtype;
use nomina_runtime::tensor::DynTensor;

/// Converts nested lists to a tensor whose dtype follows from the widest kind of number; or copies a tensor, keeping
/// its dtype, device and names.
pub(super) fn tensor(args: &Bound) -> Result<DynTensor> {
    let (dtype, device) = (args.dtype()?, args.device("device")?);
    let x = match args.get("data").unwrap_or(&Value::None) {
        Value::Tensor(x) => x
            .to_device(device.unwrap_or(x.device()))?
            .to_dtype(dtype.unwrap_or(x.dtype()))?
            .clone_with(MemoryFormat::Preserve)?,
        data => nested("tensor", "data", data, dtype)?.to_device(device.unwrap_or_default())?,
    };
    match names(args)? {
        None => Ok(x),
        Some(items) => {
            let names = rule::names_of("tensor", &items, x.rank())?;
            if x.has_names() && *x.names() != names {
                let what = format!("the data has dims {}, `names` says {names}", x.names());
                return Err(Error::new(ErrorKind::NameMismatchOut, "tensor", what)
                    .operand(x.names(), x.shape())
                    .hint("leave `names` out, and rename the result"));
            }
            DynTensor::from_parts(x.into_parts().0, names)
        }
    }
}

/// Converts nested lists of numbers to a tensor without names.
pub(super) fn nested(
    op: &'static str,
    param: &'static str,
    data: &Value,
    dtype: Option<DType>,
) -> Result<DynTensor> {
    let (mut shape, mut numbers) = (Vec::new(), Vec::new());
    collect((op, param), data, 0, &mut shape, &mut numbers)?;
    let kind = numbers.iter().map(|number| number.category()).max();
    let x = match kind.unwrap_or(Category::Float) {
        Category::Bool => plain(&numbers, &shape, Scalar::to_bool)?,
        Category::Integer => plain(&numbers, &shape, Scalar::to_i64)?,
        Category::Float => plain(&numbers, &shape, Scalar::to_f64)?
            .to_dtype(dtype.unwrap_or_else(default_dtype))?,
        Category::Complex => plain(&numbers, &shape, Scalar::to_complex)?
            .to_dtype(dtype.unwrap_or_else(|| default_dtype().to_complex()))?,
    };
    x.to_dtype(dtype.unwrap_or(x.dtype()))
}

fn plain<T: Element>(
    numbers: &[Scalar],
    shape: &[usize],
    to: fn(Scalar) -> T,
) -> Result<DynTensor> {
    DynTensor::from_vec(
        numbers.iter().map(|&number| to(number)).collect(),
        shape,
        (),
    )
}

/// Walks nested lists, and checks that lists at the same depth have the same length.
fn collect(
    of: (&'static str, &'static str),
    value: &Value,
    depth: usize,
    shape: &mut Vec<usize>,
    numbers: &mut Vec<Scalar>,
) -> Result<()> {
    let ragged = || {
        Error::new(
            ErrorKind::Shape,
            of.0,
            format!("lists at depth {depth} differ in length"),
        )
        .hint("give as many items in every list of a depth")
    };
    match value {
        Value::List(items) => {
            match shape.get(depth) {
                None if numbers.is_empty() => shape.push(items.len()),
                Some(&size) if size == items.len() => {}
                _ => return Err(ragged()),
            }
            items
                .iter()
                .try_for_each(|item| collect(of, item, depth + 1, shape, numbers))
        }
        other => {
            let number = other
                .as_scalar()
                .ok_or_else(|| wrong(of.0, of.1, "numbers", other))?;
            if depth != shape.len() {
                return Err(ragged());
            }
            numbers.push(number);
            Ok(())
        }
    }
}
