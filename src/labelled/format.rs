//! Labelled tensors as text, after xarray: dims with sizes, elements, labels.

use std::fmt;

use nomina_core::dims::Dims;
use nomina_core::{DType, Element};

use super::any::AnyLabels;
use super::coords::{Coords, texts};
use super::{DynLabelled, Labelled};

/// The greatest number of labels that are written in full.
const SHOWN: usize = 6;

fn labels_text(labels: &dyn AnyLabels) -> String {
    let count = labels.len();
    let text = |at: usize| labels.text(at);
    if count <= SHOWN {
        return (0..count).map(text).collect::<Vec<_>>().join(" ");
    }
    let ends = |range: std::ops::Range<usize>| range.map(text).collect::<Vec<_>>().join(" ");
    format!(
        "{} … {}",
        ends(0..SHOWN / 2),
        ends(count - SHOWN / 2..count)
    )
}

fn write(
    f: &mut fmt::Formatter<'_>,
    names: &[Option<&str>],
    shape: &[usize],
    dtype: DType,
    coords: &Coords,
    elements: &dyn fmt::Display,
) -> fmt::Result {
    let sizes = names.iter().zip(shape);
    let sizes: Vec<_> = sizes
        .map(|(name, size)| format!("{}: {size}", name.unwrap_or("_")))
        .collect();
    writeln!(f, "Labelled ({}) {dtype}", sizes.join(", "))?;
    write!(f, "{elements}")?;
    let width = names
        .iter()
        .map(|name| name.unwrap_or("_").len())
        .max()
        .unwrap_or(0);
    for (at, name) in names.iter().enumerate() {
        if let Some(labels) = coords.get(at) {
            let (name, kind) = (name.unwrap_or("_"), labels.label_type().name());
            write!(f, "\n  {name:width$}  {kind:9}  {}", labels_text(&**labels))?;
        }
    }
    Ok(())
}

/// Writes sizes, elements and labels.
impl<D: Dims, T: Element> fmt::Display for Labelled<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.tensor.names();
        write(
            f,
            &texts(&names),
            self.tensor.shape(),
            T::DTYPE,
            &self.coords,
            &self.tensor,
        )
    }
}

impl<D: Dims, T: Element> fmt::Debug for Labelled<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes sizes, elements and labels.
impl fmt::Display for DynLabelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x = &self.tensor;
        write(f, &texts(x.names()), x.shape(), x.dtype(), &self.coords, x)
    }
}

impl fmt::Debug for DynLabelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
