//! Tensors as text: values as NumPy prints them, then dims and dtype, as `dims (N=2, C=3), f32`.

mod html;
mod number;

use std::fmt::{self, Formatter};

use crate::Device;
use nomina_core::{DType, Names, Result, Scalar};

use crate::call;
use crate::raw::{Raw, RawCoo};
pub use html::{evcxr, html, save_html};
use number::{Requested, Style};

/// The number of elements of a dim shown at each end if the middle is cut.
const EDGE: usize = 3;
/// The number of elements above which the middle is cut.
const THRESHOLD: usize = 1000;
/// The maximal width of a line of values.
const WIDTH: usize = 75;
/// The number of elements in the one-line form.
const LINE: usize = 8;

/// `dims (N=2, C=3), f32`, with the device if that is not the CPU.
struct Heading<'a>(&'a Raw, &'a Names);

impl fmt::Display for Heading<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(raw, names) = self;
        heading(f, raw.shape(), names, raw.dtype(), raw.device())
    }
}

/// Writes `dims (N=2, C=3), f32`; an unnamed dim is its size alone: `dims (N=2, 3), f32`.
fn heading(
    f: &mut Formatter<'_>,
    shape: &[usize],
    names: &Names,
    dtype: DType,
    device: Device,
) -> fmt::Result {
    f.write_str("dims (")?;
    for (i, size) in shape.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        match names.get(i) {
            Some(Some(name)) => write!(f, "{comma}{name}={size}")?,
            _ => write!(f, "{comma}{size}")?,
        }
    }
    let end = if shape.len() == 1 { ",)" } else { ")" };
    write!(f, "{end}, {dtype}")?;
    if device.is_cpu() {
        return Ok(());
    }
    write!(f, ", {device}")
}

/// Formats the values, cut in the middle if there are many, followed by a line with names, sizes and
/// dtype; a scalar is its number alone. A precision (`{:.2}`) sets the digits after the point.
///
/// # Errors
/// If the formatter fails.
pub fn values(f: &mut Formatter<'_>, raw: &Raw, names: &Names) -> fmt::Result {
    closed(f, raw, names, false)
}

/// Like [`values`], but floats have exponents (`{:e}`).
///
/// # Errors
/// If the formatter fails.
pub fn scientific(f: &mut Formatter<'_>, raw: &Raw, names: &Names) -> fmt::Result {
    closed(f, raw, names, true)
}

fn closed(f: &mut Formatter<'_>, raw: &Raw, names: &Names, scientific: bool) -> fmt::Result {
    let written = body(f, raw, scientific)?;
    match (written, raw.rank()) {
        (true, 0) => Ok(()),
        (true, _) => write!(f, "\n{}", Heading(raw, names)),
        (false, _) => write!(f, "{}", Heading(raw, names)),
    }
}

/// Formats the values alone. Returns false if the device cannot be read; then nothing is written.
fn body(
    f: &mut Formatter<'_>,
    raw: &Raw,
    scientific: bool,
) -> std::result::Result<bool, fmt::Error> {
    if raw.numel() == 0 {
        return f.write_str("[]").map(|()| true);
    }
    let cut = raw.numel() > THRESHOLD;
    let mut shown = Vec::new();
    // Only the shown elements are copied from a device.
    let apart = cut && !raw.device().is_cpu();
    let part = if apart {
        edges(raw).ok()
    } else {
        Some(raw.clone())
    };
    let Some(host) = part.and_then(|part| on_host(&part)) else {
        return Ok(false);
    };
    collect(&host, cut && !apart, &mut shown);
    let asked = Requested {
        digits: f.precision(),
        scientific,
    };
    if let ([], [value]) = (raw.shape(), &shown[..])
        && asked.digits.is_none()
        && !scientific
    {
        return f
            .write_str(&number::plain(*value, raw.dtype()))
            .map(|()| true);
    }
    let mut page = Page {
        f,
        style: Style::new(&shown, raw.dtype(), asked),
        dtype: raw.dtype(),
        cut,
        shown: shown.into_iter(),
    };
    page.block(raw.shape(), 0).map(|()| true)
}

/// Formats one line: `dims (N=2, C=3), f32: [1.0, 2.0, …]`.
///
/// # Errors
/// If the formatter fails.
pub fn line(f: &mut Formatter<'_>, raw: &Raw, names: &Names) -> fmt::Result {
    let (open, close) = if raw.rank() == 0 {
        ("", "")
    } else {
        ("[", "]")
    };
    write!(f, "{}: {open}", Heading(raw, names))?;
    if let Some(host) = first(raw).ok().and_then(|first| on_host(&first)) {
        for (i, value) in host.scalars().take(LINE).enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{}", number::plain(value, raw.dtype()))?;
        }
        if raw.numel() > LINE {
            f.write_str(", …")?;
        }
    }
    f.write_str(close)
}

/// Writes `dims (N=2, C=3), f32, sparse, 2 entries`.
fn sparse_heading(f: &mut Formatter<'_>, raw: &RawCoo, names: &Names) -> fmt::Result {
    let entries = if raw.nnz() == 1 { "entry" } else { "entries" };
    heading(f, raw.shape(), names, raw.dtype(), raw.device())?;
    write!(f, ", sparse, {} {entries}", raw.nnz())
}

/// Formats coordinates, values, and a line with names, sizes, dtype and the number of entries.
///
/// # Errors
/// If the formatter fails.
pub fn sparse(f: &mut Formatter<'_>, raw: &RawCoo, names: &Names) -> fmt::Result {
    f.write_str("indices:\n")?;
    let _ = body(f, raw.indices(), false)?;
    f.write_str("\nvalues:\n")?;
    let _ = body(f, raw.values(), false)?;
    f.write_str("\n")?;
    sparse_heading(f, raw, names)
}

/// Formats one line: `dims (N=2, C=3), f32, sparse, 2 entries: [(0, 2): 3.0, (1, 0): 4.0]`.
///
/// # Errors
/// If the formatter fails.
pub fn sparse_line(f: &mut Formatter<'_>, raw: &RawCoo, names: &Names) -> fmt::Result {
    sparse_heading(f, raw, names)?;
    f.write_str(": [")?;
    for entry in 0..raw.nnz().min(LINE) {
        f.write_str(if entry == 0 { "(" } else { ", (" })?;
        for dim in 0..raw.sparse_dim() {
            let index = raw
                .indices()
                .get::<i64>(&[dim, entry])
                .map_err(|_| fmt::Error)?;
            write!(f, "{}{index}", if dim == 0 { "" } else { ", " })?;
        }
        f.write_str("):")?;
        let value = raw.values().select(0, entry).map_err(|_| fmt::Error)?;
        for value in value.scalars().take(LINE) {
            write!(f, " {}", number::plain(value, raw.dtype()))?;
        }
        if value.numel() > LINE {
            f.write_str(" …")?;
        }
    }
    f.write_str(if raw.nnz() > LINE { ", …]" } else { "]" })
}

fn on_host(raw: &Raw) -> Option<Raw> {
    call::to_device(raw, Device::Cpu).ok()
}

/// Returns the elements that are shown if the middle is cut.
fn edges(raw: &Raw) -> Result<Raw> {
    let mut shown = raw.clone();
    for dim in 0..raw.rank() {
        let size = raw.shape()[dim];
        if size > 2 * EDGE {
            let (head, tail) = (
                shown.narrow(dim, 0, EDGE)?,
                shown.narrow(dim, size - EDGE, EDGE)?,
            );
            shown = call::cat(&[&head, &tail], dim)?;
        }
    }
    Ok(shown)
}

/// Returns a part that begins with the elements of the one-line form.
fn first(raw: &Raw) -> Result<Raw> {
    let mut part = raw.clone();
    for dim in 0..raw.rank() {
        let inner: usize = part.shape()[dim + 1..].iter().product();
        let rows = LINE.div_ceil(inner.max(1)).min(part.shape()[dim]);
        part = part.narrow(dim, 0, rows)?;
        if rows > 1 {
            break;
        }
    }
    Ok(part)
}

/// Returns the indices of a dim that are shown.
fn indices(size: usize, cut: bool) -> impl Iterator<Item = usize> {
    let (head, tail) = if cut && size > 2 * EDGE {
        (EDGE, size - EDGE)
    } else {
        (size, size)
    };
    (0..head).chain(tail..size)
}

/// Collects the elements that are shown, in order.
fn collect(raw: &Raw, cut: bool, shown: &mut Vec<Scalar>) {
    if !cut || raw.rank() == 0 {
        shown.extend(raw.scalars());
        return;
    }
    for index in indices(raw.shape()[0], cut) {
        // Cannot fail: the index is within the dim.
        if let Ok(part) = raw.select(0, index) {
            collect(&part, cut, shown);
        }
    }
}

struct Page<'a, 'f> {
    f: &'a mut Formatter<'f>,
    style: Style,
    dtype: DType,
    cut: bool,
    shown: std::vec::IntoIter<Scalar>,
}

impl Page<'_, '_> {
    fn number(&mut self) -> String {
        let value = self.shown.next();
        value.map_or_else(String::new, |value| self.style.show(value, self.dtype))
    }

    /// Writes the dims from the first of `shape` on, within `depth` brackets.
    fn block(&mut self, shape: &[usize], depth: usize) -> fmt::Result {
        match shape {
            [] => {
                let number = self.number();
                self.f.write_str(&number)
            }
            &[size] => self.row(size, depth),
            [size, inner @ ..] => {
                self.f.write_str("[")?;
                // One blank line less for each inner dim.
                let gap = format!("{}{}", "\n".repeat(inner.len()), " ".repeat(depth + 1));
                let mut last = None;
                for index in indices(*size, self.cut) {
                    if last.is_some() {
                        self.f.write_str(&gap)?;
                    }
                    if last.is_some_and(|last: usize| last + 1 < index) {
                        write!(self.f, "...{gap}")?;
                    }
                    self.block(inner, depth + 1)?;
                    last = Some(index);
                }
                self.f.write_str("]")
            }
        }
    }

    /// Writes the last dim, wrapped to the maximal width.
    fn row(&mut self, size: usize, depth: usize) -> fmt::Result {
        let indent = " ".repeat(depth + 1);
        // Leave room for the closing brackets of all dims at the end of any line.
        let most = WIDTH.saturating_sub(depth + 1);
        let mut line = indent.clone();
        let mut start = depth + 1;
        self.f.write_str("[")?;
        let mut last = None;
        for index in indices(size, self.cut) {
            let skipped = last.is_some_and(|last: usize| last + 1 < index);
            let number = self.number();
            for word in skipped.then(|| "...".into()).into_iter().chain([number]) {
                if line.len() + word.len() > most && line.len() > indent.len() {
                    writeln!(self.f, "{}", line[start..].trim_end())?;
                    line.truncate(indent.len());
                    start = 0;
                }
                line += &word;
                line.push(' ');
            }
            last = Some(index);
        }
        line.pop();
        write!(self.f, "{}]", &line[start..])
    }
}

#[cfg(test)]
mod tests;
