//! Tensors as HTML: a grid of coloured cells with named axes, and sliders for the dims beyond two.
//!
//! The page contains a part of bounded size as JSON, with a script that shows it: nothing is fetched.

use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::path::Path;

use nomina_core::{DType, Name, Names, Result, Scalar};

use super::{Heading, body, number};
use crate::file;
use crate::raw::Raw;

/// The maximal number of elements of a page, and of one dim on it.
#[derive(Clone, Copy)]
struct Limits {
    elements: usize,
    side: usize,
}

/// A page of numbers shows the text of each.
const NUMBERS: Limits = Limits {
    elements: 1 << 16,
    side: 256,
};
/// A picture has three or four numbers per cell, which are short.
const PICTURE: Limits = Limits {
    elements: 1 << 18,
    side: 512,
};

/// The part of a dim on a page: every `step`-th element.
struct Subsample {
    size: usize,
    step: usize,
    shown: usize,
}

impl Subsample {
    fn new(size: usize, step: usize) -> Self {
        let shown = size.div_ceil(step);
        Self { size, step, shown }
    }
}

/// Returns the dim of an image's channels: three named `Rgb` or four named `Rgba`, in any case, beside two other dims.
fn channels(shape: &[usize], names: &Names) -> Option<usize> {
    let is_channels = |dim: &usize| {
        let name = names.get(*dim).and_then(Option::as_ref);
        name.is_some_and(|name| {
            let name = name.to_string().to_ascii_lowercase();
            matches!((&*name, shape[*dim]), ("rgb", 3) | ("rgba", 4))
        })
    };
    (0..shape.len())
        .rev()
        .find(is_channels)
        .filter(|_| shape.len() > 2)
}

/// Returns the largest part of each dim that a page may have: the longest dims are reduced first, and the two sides of
/// a picture in the same proportion.
fn parts(shape: &[usize], channels: Option<usize>) -> Vec<Subsample> {
    let limits = channels.map_or(NUMBERS, |_| PICTURE);
    let longest = |&size: &usize| size.clamp(1, limits.side);
    let mut most: Vec<usize> = shape.iter().map(longest).collect();
    let total = |most: &[usize]| most.iter().fold(1_usize, |all, &n| all.saturating_mul(n));
    while total(&most) > limits.elements {
        // Among dims of the same length, the outermost is reduced, so rows and columns stay longest.
        let Some(longest) = (0..most.len()).rev().max_by_key(|&dim| most[dim]) else {
            break;
        };
        most[longest] = most[longest].div_ceil(2);
    }
    let each = shape.iter().zip(most);
    let mut steps: Vec<usize> = each
        .map(|(size, most)| size.div_ceil(most).max(1))
        .collect();
    let mut sides = (0..shape.len()).rev().filter(|&dim| Some(dim) != channels);
    if let (Some(_), Some(columns), Some(rows)) = (channels, sides.next(), sides.next()) {
        let step = steps[rows].max(steps[columns]);
        (steps[rows], steps[columns]) = (step, step);
    }
    let each = shape.iter().zip(steps);
    each.map(|(&size, step)| Subsample::new(size, step))
        .collect()
}

/// Returns an HTML fragment that shows `raw`: all of it if it is small, otherwise every n-th element of its dims, as
/// noted on the page. It loads nothing from elsewhere, and takes about the same time for tensors of any size.
///
/// # Errors
/// [`ErrorKind::Memory`](nomina_core::ErrorKind::Memory), and errors of the device.
pub fn html(raw: &Raw, names: &Names) -> Result<String> {
    let raw = raw.clone().detach();
    let channels = channels(raw.shape(), names);
    let parts = parts(raw.shape(), channels);
    let mut part = raw.clone();
    for (dim, of) in parts.iter().enumerate() {
        if of.step > 1 {
            part = part.slice(dim, 0, of.shown, of.step as isize)?;
        }
    }
    let part = crate::call::to_device(&part, crate::Device::Cpu)?;
    let shown: Vec<Scalar> = part.try_scalars()?.collect();
    let all = parts.iter().all(|part| part.step == 1);
    let statistics = Statistics::new(&shown);
    let white = channels.and_then(|_| statistics.white(raw.dtype()));
    let picture = channels.zip(white);
    let json = json(&parts, names, raw.dtype(), &shown, &statistics, picture);
    let mut page = String::with_capacity(json.len() + 16_384);
    page += "<div class=\"nomina-view\">\n<style>";
    page += include_str!("view.css");
    page += "</style>\n";
    let _ = writeln!(
        page,
        "<p><b>{}</b></p>",
        escaped(&Heading(&raw, names).to_string())
    );
    let _ = writeln!(page, "<p>{}</p>", statistics.text(shown.len(), all, &parts));
    let text = fmt::from_fn(|f| body(f, &part, false).map(drop)).to_string();
    // The fallback if scripts are disabled.
    let _ = writeln!(page, "<pre>{}</pre>", escaped(&text));
    let _ = writeln!(page, "<script type=\"application/json\">{json}</script>");
    page += "<script>";
    page += include_str!("view.js");
    page += "</script>\n</div>\n";
    Ok(page)
}

/// Writes a page that shows `raw`, like [`file::write`]: completely or not at all.
///
/// # Errors
/// Returns an error if the page cannot be made ([`html`]) or written ([`file::write`]).
pub fn save_html(raw: &Raw, names: &Names, path: &Path) -> Result<()> {
    let title = escaped(&Heading(raw, names).to_string());
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title></head>\n<body>\n{}</body>\n</html>\n",
        html(raw, names)?
    );
    let op = "save_html";
    file::write(op, path, |out| {
        let written = out.write_all(page.as_bytes());
        written.map_err(|error| file::failed(op, &error))
    })
}

/// Prints [`html`] in the form that an evcxr notebook displays, or the error.
pub fn evcxr(raw: &Raw, names: &Names) {
    match html(raw, names) {
        Ok(page) => println!("EVCXR_BEGIN_CONTENT text/html\n{page}\nEVCXR_END_CONTENT"),
        Err(error) => println!("{error}"),
    }
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => all += "&amp;",
            '<' => all += "&lt;",
            '>' => all += "&gt;",
            '"' => all += "&quot;",
            '\'' => all += "&#39;",
            c => all.push(c),
        }
    }
    all
}

/// Returns the label of a dim on the page.
fn label(name: Option<&Name>, dim: usize) -> String {
    name.map_or_else(|| format!("dim {dim}"), ToString::to_string)
}

/// Returns the number that determines the colour: for a complex number, its magnitude.
fn size(value: Scalar) -> f64 {
    match value {
        Scalar::Complex(v) => v.re.hypot(v.im),
        other => other.to_f64(),
    }
}

/// The largest integer up to which JavaScript represents all.
const WHOLE: i64 = 1 << 53;

/// Formats an element as JSON: a number, or its text if JavaScript cannot represent it, with the magnitude if that
/// differs.
fn element(value: Scalar, dtype: DType) -> String {
    let text = number::plain(value, dtype);
    match value {
        Scalar::Bool(v) => v.to_string(),
        Scalar::Int(v) if (-WHOLE..=WHOLE).contains(&v) => text,
        Scalar::Float(v) if v.is_finite() => text,
        other if size(other).is_finite() => format!("[{text:?},{:?}]", size(other)),
        _ => format!("{text:?}"),
    }
}

fn json(
    parts: &[Subsample],
    names: &Names,
    dtype: DType,
    shown: &[Scalar],
    statistics: &Statistics,
    picture: Option<(usize, u8)>,
) -> String {
    let dims = parts.iter().enumerate().map(|(dim, part)| {
        // Consists of letters, digits, `_` and `'`, like every name.
        let name = label(names.get(dim).and_then(Option::as_ref), dim);
        let Subsample { size, step, shown } = part;
        format!("{{\"name\":{name:?},\"size\":{size},\"step\":{step},\"shown\":{shown}}}")
    });
    let dims = dims.collect::<Vec<_>>().join(",");
    let (low, high) = statistics.ends.unwrap_or((0.0, 0.0));
    let mut text = format!("{{\"dims\":[{dims}],\"low\":{low:?},\"high\":{high:?},");
    if let Some((channels, white)) = picture {
        let _ = write!(text, "\"colours\":{channels},\"white\":{white},");
    }
    text += "\"values\":[";
    for (i, &value) in shown.iter().enumerate() {
        if i > 0 {
            text.push(',');
        }
        text += &element(value, dtype);
    }
    text + "]}"
}

/// Statistics of the shown elements.
struct Statistics {
    /// The smallest and the largest finite element.
    ends: Option<(f64, f64)>,
    mean: f64,
    nan: usize,
    infinite: usize,
}

impl Statistics {
    fn new(shown: &[Scalar]) -> Self {
        let sizes = || shown.iter().map(|&value| size(value));
        let finite = || sizes().filter(|v| v.is_finite());
        let count = finite().count();
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        let nan = sizes().filter(|v| v.is_nan()).count();
        Self {
            ends: (count > 0).then_some((low, high)),
            mean: finite().map(|v| v / count as f64).sum(),
            nan,
            infinite: shown.len() - count - nan,
        }
    }

    /// Returns the value of full brightness, if the elements can be the channels of an image: 255 for integers, 1 or 255
    /// for floats.
    fn white(&self, dtype: DType) -> Option<u8> {
        let (low, high) = self.ends?;
        match dtype {
            DType::Bool => None,
            _ if dtype.is_complex() || low < 0.0 || high > 255.0 => None,
            _ if dtype.is_float() && high <= 1.0 => Some(1),
            _ => Some(255),
        }
    }

    fn text(&self, count: usize, all: bool, parts: &[Subsample]) -> String {
        let numel = parts
            .iter()
            .fold(1_u128, |n, part| n.saturating_mul(part.size as u128));
        let mut text = match (all, count) {
            (true, 0) => return "no elements".into(),
            (true, 1) => "1 element".into(),
            (true, count) => format!("all {count} elements"),
            (false, count) => format!("a sample: {count} of {numel} elements, evenly spaced"),
        };
        if let Some((low, high)) = self.ends {
            let _ = write!(
                text,
                "; min {low:.6} · max {high:.6} · mean {:.6}",
                self.mean
            );
        }
        for (count, what) in [(self.nan, "NaN"), (self.infinite, "infinite")] {
            if count > 0 {
                let _ = write!(text, " · {count} {what}");
            }
        }
        text
    }
}
