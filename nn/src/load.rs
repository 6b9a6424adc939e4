//! Checks and conversions of the tensors that a module loads.

use nomina::{DynTensor, Error, ErrorKind, Names, Result};

const OP: &str = "load";

/// Converts the result of reading the tensor at a path to a replacement of `own`, on its device.
pub(crate) fn replacement(
    path: &str,
    own: &DynTensor,
    value: Result<DynTensor>,
) -> Result<DynTensor> {
    let value = value.and_then(|value| fit_to(own, value)?.to_device(own.device()));
    value.map_err(|error| error.in_op(OP).within(format_args!("`{path}`")))
}

/// Converts `value` to a replacement of `own`: with its names and sizes. The dtypes must be equal.
pub(crate) fn fit_to(own: &DynTensor, value: DynTensor) -> Result<DynTensor> {
    let value = match value.names().has_names() {
        false if is_merged(own.shape(), value.shape()) => value.reshape(&to_signed(own.shape()))?,
        _ => value,
    };
    check_sizes(own, &value)?;
    if own.dtype() != value.dtype() {
        let what = format!(
            "the module's dtype is {}, not {}",
            own.dtype(),
            value.dtype()
        );
        return Err(mismatch(ErrorKind::DType, what, own, &value)
            .hint("convert it before loading: `x.to_dtype(..)`"));
    }
    let named = value.names().iter().zip(own.names().iter());
    let names: Names = named
        .map(|(value, own)| value.clone().or_else(|| own.clone()))
        .collect();
    if let Some(at) =
        (0..names.len()).find(|&at| own.names()[at].is_some() && own.names()[at] != names[at])
    {
        let what = "the dims' names are not the module's";
        return Err(
            mismatch(ErrorKind::NameMismatch, what.to_owned(), own, &value)
                .at(0, at)
                .hint("align or rename before loading"),
        );
    }
    let (raw, _) = value.into_parts();
    DynTensor::from_parts(raw, names)
}

/// Returns whether `merged` is `sizes` with some adjacent sizes merged into their product.
fn is_merged(sizes: &[usize], merged: &[usize]) -> bool {
    let mut sizes = sizes.iter().copied();
    let whole = merged.iter().all(|&wanted| {
        let mut product = sizes.next();
        while let Some(found) = product.filter(|&found| found != wanted) {
            product = sizes.next().and_then(|next| found.checked_mul(next));
        }
        product.is_some()
    });
    whole && sizes.all(|size| size == 1)
}

fn to_signed(sizes: &[usize]) -> Vec<i64> {
    sizes
        .iter()
        .map(|&size| i64::try_from(size).unwrap_or(i64::MAX))
        .collect()
}

/// Checks that the sizes are equal.
pub(crate) fn check_sizes(own: &DynTensor, value: &DynTensor) -> Result<()> {
    if own.shape() == value.shape() {
        return Ok(());
    }
    let what = "sizes differ from the module's";
    Err(mismatch(ErrorKind::Shape, what.to_owned(), own, value)
        .hint("load the file of a module of these sizes"))
}

fn mismatch(kind: ErrorKind, what: String, own: &DynTensor, value: &DynTensor) -> Error {
    Error::new(kind, OP, what)
        .operand(value.names(), value.shape())
        .operand(own.names(), own.shape())
}

#[cfg(test)]
mod tests {
    use super::is_merged;

    #[test]
    fn dims_side_by_side_may_be_one() {
        assert!(is_merged(&[12, 32, 384], &[384, 384]));
        assert!(is_merged(&[384, 12, 32], &[384, 384]));
        assert!(is_merged(&[2, 3, 4], &[24]));
        assert!(is_merged(&[2, 3], &[2, 3]));
        assert!(is_merged(&[2, 3, 1], &[2, 3]));
        for merged in [&[4, 6][..], &[24, 1], &[8], &[], &[2, 12, 2], &[3, 8]] {
            assert!(!is_merged(&[2, 3, 4], merged), "{merged:?}");
        }
        assert!(!is_merged(&[usize::MAX, 4], &[3]));
    }
}
