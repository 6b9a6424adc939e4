//! Indices of repeated elements.

use nomina_core::{DType, Error, ErrorKind, Result};

use crate::call::{to_device, to_dtype};
use crate::raw::Raw;
use crate::shape::product;

/// Returns the index that repeats each element of a dim of `size` as often as its count.
///
/// # Errors
/// [`ErrorKind::DType`] if counts are not integers, [`ErrorKind::Shape`] unless there is one for each element,
/// [`ErrorKind::Argument`] for a negative count.
pub fn repeated_places(op: &'static str, counts: &Raw, size: usize) -> Result<Raw> {
    let refuse =
        |kind, what: String, hint: &str| Err(Error::new(kind, op, what).hint(hint.to_owned()));
    if !matches!(counts.dtype(), DType::I32 | DType::I64) {
        let what = format!("counts are {}", counts.dtype());
        return refuse(ErrorKind::DType, what, "give i64 or i32");
    }
    let each = counts.numel() == 1;
    if counts.rank() > 1 || !each && counts.numel() != size {
        let what = format!("{} counts for {size} elements", counts.numel());
        return refuse(
            ErrorKind::Shape,
            what,
            "give one count per element, or one for all",
        );
    }
    let counts_on = counts.device();
    if !counts_on.is_cpu() {
        crate::cuda::host_fallback::count("repeat_interleave");
    }
    let counts: Vec<i64> = to_dtype(counts, DType::I64)?.to_vec()?;
    let count = |i: usize| if each { counts[0] } else { counts[i] };
    let mut total = 0_usize;
    for (i, &count) in counts.iter().enumerate() {
        let Ok(times) = usize::try_from(count) else {
            let what = format!("element {i} repeats {count} times");
            return refuse(ErrorKind::Argument, what, "a count is at least 0");
        };
        let times = if each { product([size, times]) } else { times };
        total = total.saturating_add(times);
    }
    let mut places: Vec<i64> = Vec::new();
    if places.try_reserve_exact(total).is_err() {
        let what = format!("no memory for {total} places");
        return refuse(ErrorKind::Memory, what, "use smaller counts");
    }
    // The one count of all elements may be absent.
    let size = if total == 0 { 0 } else { size };
    for i in 0..size {
        places.extend(std::iter::repeat_n(i as i64, count(i) as usize));
    }
    to_device(&Raw::from_vec(places, &[total])?, counts_on)
}
