//! Offsets and lengths of the pieces of a dim.

use nomina_core::{Error, ErrorKind, Result};

/// Starts and lengths.
pub type Ranges = Vec<(usize, usize)>;

fn room(op: &'static str, count: i64) -> Result<(Ranges, usize)> {
    let pieces = usize::try_from(count).ok().filter(|&count| count > 0);
    let Some(pieces) = pieces else {
        return Err(
            Error::new(ErrorKind::Argument, op, format!("{count} pieces")).hint("use at least one"),
        );
    };
    let mut ranges = Ranges::new();
    ranges.try_reserve_exact(pieces).map_err(|_| {
        Error::new(
            ErrorKind::Memory,
            op,
            format!("no memory for {count} pieces"),
        )
        .hint("use fewer")
    })?;
    Ok((ranges, pieces))
}

/// Splits a dim into at most `count` pieces of equal size, of which the last may be smaller; a dim of size 0 into
/// exactly `count`.
///
/// # Errors
/// [`ErrorKind::Argument`] if `count` is less than 1.
pub fn chunks(op: &'static str, size: usize, count: i64) -> Result<Ranges> {
    if size == 0 {
        let (mut ranges, pieces) = room(op, count)?;
        ranges.resize(pieces, (0, 0));
        return Ok(ranges);
    }
    // No more pieces than elements.
    let (mut ranges, pieces) = room(op, count.min(i64::try_from(size).unwrap_or(i64::MAX)))?;
    let each = size.div_ceil(pieces);
    ranges.extend(
        (0..size)
            .step_by(each)
            .map(|start| (start, each.min(size - start))),
    );
    Ok(ranges)
}

/// Splits a dim into exactly `count` pieces whose sizes differ by at most one, the larger ones first.
///
/// # Errors
/// [`ErrorKind::Argument`] if `count` is less than 1.
pub fn sections(op: &'static str, size: usize, count: i64) -> Result<Ranges> {
    let (mut ranges, pieces) = room(op, count)?;
    let (least, more) = (size / pieces, size % pieces);
    let mut start = 0;
    for piece in 0..pieces {
        let len = least + usize::from(piece < more);
        ranges.push((start, len));
        start += len;
    }
    Ok(ranges)
}

/// Splits a dim before each index: one piece more than indices. Negative indices count from the end, and indices
/// outside are moved into the dim; a piece that would end before its start is empty.
#[must_use]
pub fn cuts(size: usize, indices: &[i64]) -> Ranges {
    let inside = |index: i64| {
        let index = if index < 0 {
            index.saturating_add_unsigned(size as u64)
        } else {
            index
        };
        usize::try_from(index).unwrap_or(0).min(size)
    };
    let mut start = 0;
    let mut ranges = Ranges::with_capacity(indices.len() + 1);
    for end in indices.iter().map(|&index| inside(index)).chain([size]) {
        ranges.push((start, end.saturating_sub(start)));
        start = end;
    }
    ranges
}
