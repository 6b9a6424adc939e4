//! How tensors are shown: values as NumPy and PyTorch write them, then what they are.

mod number;

use std::fmt::{self, Formatter, Write};

use nomina_core::{DType, Device, Names, Scalar};

use crate::call;
use crate::raw::Raw;
use number::Style;

/// How many elements of a dim stand at each end when the middle is cut.
const EDGE: usize = 3;
/// From how many elements on the middle is cut.
const THRESHOLD: usize = 1000;
/// How wide a line of values may be.
const WIDTH: usize = 80;
/// How many elements the one-line form shows.
const LINE: usize = 8;

/// `Tensor[N=2, C=3] f32 cpu`
struct Heading<'a>(&'a Raw, &'a Names);

impl fmt::Display for Heading<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(raw, names) = self;
        f.write_str("Tensor[")?;
        for (i, size) in raw.shape().iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            match names.get(i) {
                Some(Some(name)) => write!(f, "{comma}{name}={size}")?,
                _ => write!(f, "{comma}_={size}")?,
            }
        }
        write!(f, "] {} {}", raw.dtype(), raw.device())
    }
}

/// The values, cut in the middle when there are many, closed by a line that says names, sizes,
/// dtype and device. A precision (`{:.2}`) sets the digits after the point.
///
/// # Errors
/// When the formatter fails.
pub fn values(f: &mut Formatter<'_>, raw: &Raw, names: &Names) -> fmt::Result {
    let Some(host) = on_host(raw) else {
        return write!(f, "{}", Heading(raw, names));
    };
    let cut = host.numel() > THRESHOLD;
    let mut shown = Vec::new();
    collect(&host, cut, &mut shown);
    let style = Style::of(&shown, raw.dtype(), f.precision().unwrap_or(4));
    let mut page = Page {
        f,
        style,
        cut,
        shown: shown.into_iter(),
    };
    page.block(host.shape(), 0)?;
    write!(f, "\n{}", Heading(raw, names))
}

/// One line: `Tensor[N=2, C=3] f32 cpu [1.0, 2.0, …]`.
///
/// # Errors
/// When the formatter fails.
pub fn line(f: &mut Formatter<'_>, raw: &Raw, names: &Names) -> fmt::Result {
    write!(f, "{} [", Heading(raw, names))?;
    if let Some(host) = on_host(raw) {
        for (i, value) in host.scalars().take(LINE).enumerate() {
            write!(
                f,
                "{}{}",
                if i == 0 { "" } else { ", " },
                number::plain(value, raw.dtype())
            )?;
        }
        if raw.numel() > LINE {
            f.write_str(", …")?;
        }
    }
    f.write_str("]")
}

fn on_host(raw: &Raw) -> Option<Raw> {
    call::to_device(raw, Device::Cpu).ok()
}

/// The indices of a dim that are shown.
fn indices(size: usize, cut: bool) -> impl Iterator<Item = usize> {
    let (head, tail) = if cut && size > 2 * EDGE {
        (EDGE, size - EDGE)
    } else {
        (size, size)
    };
    (0..head).chain(tail..size)
}

/// The elements that are shown, in the order they are.
fn collect(raw: &Raw, cut: bool, shown: &mut Vec<Scalar>) {
    if !cut || raw.rank() == 0 {
        shown.extend(raw.scalars());
        return;
    }
    for index in indices(raw.shape()[0], cut) {
        // The index is within the dim.
        if let Ok(part) = raw.select(0, index) {
            collect(&part, cut, shown);
        }
    }
}

struct Page<'a, 'f> {
    f: &'a mut Formatter<'f>,
    style: Style,
    cut: bool,
    shown: std::vec::IntoIter<Scalar>,
}

impl Page<'_, '_> {
    fn number(&mut self) -> fmt::Result {
        let Some(value) = self.shown.next() else {
            return Ok(());
        };
        let text = self.style.show(value);
        write!(self.f, "{text:>width$}", width = self.style.width)
    }

    /// The dims from the first of `shape` on, at a nesting of `depth` brackets.
    fn block(&mut self, shape: &[usize], depth: usize) -> fmt::Result {
        match shape {
            [] => self.number(),
            &[size] => self.row(size, depth),
            [size, inner @ ..] => {
                self.f.write_str("[")?;
                // A blank line less per dim further in, as NumPy separates them.
                let gap = format!(",{}{}", "\n".repeat(inner.len()), " ".repeat(depth + 1));
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

    fn row(&mut self, size: usize, depth: usize) -> fmt::Result {
        self.f.write_str("[")?;
        let per_line = (WIDTH.saturating_sub(depth + 2) / (self.style.width + 2)).max(1);
        let mut last = None;
        for (count, index) in indices(size, self.cut).enumerate() {
            if count > 0 {
                self.f.write_char(',')?;
                if count % per_line == 0 {
                    write!(self.f, "\n{}", " ".repeat(depth + 1))?;
                } else {
                    self.f.write_char(' ')?;
                }
            }
            if last.is_some_and(|last: usize| last + 1 < index) {
                self.f.write_str("..., ")?;
            }
            self.number()?;
            last = Some(index);
        }
        self.f.write_str("]")
    }
}

/// Whether a dtype's numbers are written with a point.
fn pointed(dtype: DType) -> bool {
    !dtype.is_integral()
}

#[cfg(test)]
mod tests;
