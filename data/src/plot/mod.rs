//! Pictures of tensors with labels: a line, a map, a histogram, as SVG or PNG.

mod draw;
mod scale;

use std::path::Path;

use nomina::dims::{Dims, LabelType, LabelValue};
use nomina::labelled::AnyLabels;
use nomina::{DType, DynLabelled, Element, Error, ErrorKind, Labelled, Result};

use crate::dataset::DynDataset;
use scale::{Scale, Ticks};

/// A picture of a tensor with labels, which is drawn when it is saved or converted.
///
/// ```
/// use nomina_data::{DynDataset, plot::Plot};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ostia_cut.nc");
/// # let folder = tempfile::tempdir().unwrap();
/// let sea = DynDataset::open_lazy(path)?;
/// let map = sea.isel("time", 0)?.plot("surface_temperature")?;      // two dims: a map with a colour bar
/// map.title("April 2006").save(folder.path().join("map.svg"))?;
/// let series = sea.sel("latitude", nomina_data::nearest(0.0, 1.0))?.sel("longitude", nomina_data::nearest(180.0, 3.0))?;
/// series.plot("surface_temperature")?.size(800, 300).save(folder.path().join("line.png"))?;
/// let all = Plot::histogram(&sea.labelled("surface_temperature")?, 40)?;
/// assert!(all.to_svg()?.starts_with("<svg"));
/// # Ok::<(), nomina::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Plot {
    kind: Kind,
    title: String,
    size: (u32, u32),
    x_name: String,
    y_name: String,
    /// The name of the values: at the colour bar of a map.
    value_name: String,
    range: Option<(f64, f64)>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Values along one dim.
    Line { x: Axis, values: Vec<f64> },
    /// Values along two dims, row by row.
    Map { x: Axis, y: Axis, values: Vec<f64> },
    /// The numbers of values within steps of one length from the least value.
    Histogram { edges: Vec<f64>, counts: Vec<usize> },
}

/// The positions along a dim, and what is written there.
#[derive(Clone, Debug)]
struct Axis {
    at: Vec<f64>,
    ticks: Ticks,
}

impl Axis {
    /// Takes numbers and times as they are, other labels by position.
    fn new(labels: Option<&dyn AnyLabels>, size: usize) -> Self {
        let by_position = |ticks| Self {
            at: (0..size).map(|at| at as f64).collect(),
            ticks,
        };
        let Some(labels) = labels else {
            return by_position(Ticks::Numbers);
        };
        let numbers: Option<Vec<f64>> = (0..size)
            .map(|at| match labels.value(at) {
                LabelValue::Float(value) => Some(value),
                LabelValue::Int(value) | LabelValue::Nanoseconds(value) => Some(value as f64),
                LabelValue::Text(_) => None,
            })
            .collect();
        let is_time = size > 0 && matches!(labels.value(0), LabelValue::Nanoseconds(_));
        match numbers {
            Some(at) if at.iter().all(|value| value.is_finite()) => Self {
                at,
                ticks: if is_time {
                    Ticks::Times
                } else {
                    Ticks::Numbers
                },
            },
            _ => {
                let text = |at: usize| match labels.value(at) {
                    LabelValue::Text(text) if labels.label_type() == LabelType::Text => text,
                    _ => labels.text(at).trim_end_matches(" 00:00:00").to_owned(),
                };
                by_position(Ticks::Texts((0..size).map(text).collect()))
            }
        }
    }

    /// Returns the scale from the least to the greatest position, with a margin on both sides.
    fn scale(&self, margin: f64) -> Scale {
        let low = self.at.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.at.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Scale::new(low - margin, high + margin, self.ticks.clone())
    }

    /// Returns the edges of the cells around the positions, half way to their neighbours.
    fn edges(&self) -> Vec<f64> {
        let at = &self.at;
        match at[..] {
            [] => Vec::new(),
            [only] => vec![only - 0.5, only + 0.5],
            [first, second, ..] => {
                let last = at.len() - 1;
                let mut edges = vec![first - (second - first) / 2.0];
                edges.extend(at.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0));
                edges.push(at[last] + (at[last] - at[last - 1]) / 2.0);
                edges
            }
        }
    }
}

/// Pictures of tensors with labels, like `plot` of xarray.
pub trait ToPlot {
    /// Draws one dim as a line, two as a map, with the last dim across, and more as a histogram.
    ///
    /// ```
    /// use nomina::{Labelled, prelude::*};
    /// use nomina_data::plot::ToPlot;
    /// dims! { Depth("depth"): f64 }
    /// let x = Labelled::new(tensor!([4., 8., 9.]; Depth)).with(Depth, [0.0, 10.0, 50.0]);
    /// let svg = x.plot()?.value_name("temperature [°C]").to_svg()?;
    /// assert!(svg.contains("depth") && svg.contains("temperature [°C]"));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::DType`] for complex elements; [`ErrorKind::Shape`] if there are no elements.
    fn plot(&self) -> Result<Plot>;
}

impl ToPlot for DynLabelled {
    fn plot(&self) -> Result<Plot> {
        match self.shape().len() {
            1 => Plot::line(self),
            2 => Plot::map(self),
            _ => Plot::histogram(self, 30),
        }
    }
}

impl<D: Dims, T: Element> ToPlot for Labelled<D, T> {
    fn plot(&self) -> Result<Plot> {
        self.to_dyn().plot()
    }
}

impl Plot {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            title: String::new(),
            size: (640, 400),
            x_name: String::new(),
            y_name: String::new(),
            value_name: String::new(),
            range: None,
        }
    }

    /// Draws a tensor of one dim as a line; NaN interrupts it.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Rank`] if the tensor has not one dim, and the errors of [`ToPlot::plot`].
    pub fn line(x: &DynLabelled) -> Result<Self> {
        let values = elements("line", x, Some(1))?;
        let axis = Axis::new(x.coords().get(0).map(|labels| &**labels), values.len());
        let mut plot = Self::new(Kind::Line { x: axis, values });
        plot.x_name = dim_name(x, 0);
        Ok(plot)
    }

    /// Draws a tensor of two dims as a map: the first dim upwards, the last across. Elements that are NaN stay white. Values of
    /// both signs are drawn from blue over white at zero to red, others from violet to yellow.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Rank`] if the tensor has not two dims, and the errors of [`ToPlot::plot`].
    pub fn map(x: &DynLabelled) -> Result<Self> {
        let values = elements("map", x, Some(2))?;
        let axis =
            |dim: usize| Axis::new(x.coords().get(dim).map(|labels| &**labels), x.shape()[dim]);
        let mut plot = Self::new(Kind::Map {
            x: axis(1),
            y: axis(0),
            values,
        });
        (plot.x_name, plot.y_name) = (dim_name(x, 1), dim_name(x, 0));
        Ok(plot)
    }

    /// Draws how many elements are within each of some bins of one length; NaN and infinities are left out.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] without bins, and the errors of [`ToPlot::plot`].
    pub fn histogram(x: &DynLabelled, bins: usize) -> Result<Self> {
        let op = "histogram";
        if bins == 0 {
            return Err(Error::new(ErrorKind::Argument, op, "no bins"));
        }
        let values = elements(op, x, None)?;
        let (low, high) = extent(&values);
        let (low, high) = if low < high {
            (low, high)
        } else {
            (low - 0.5, low + 0.5)
        };
        let step = (high - low) / bins as f64;
        let mut counts = vec![0; bins];
        for value in values.into_iter().filter(|value| value.is_finite()) {
            counts[(((value - low) / step) as usize).min(bins - 1)] += 1;
        }
        let edges = (0..=bins).map(|at| low + at as f64 * step).collect();
        let mut plot = Self::new(Kind::Histogram { edges, counts });
        plot.y_name = "count".to_owned();
        Ok(plot)
    }

    /// Sets the title.
    pub fn title(mut self, title: &str) -> Self {
        title.clone_into(&mut self.title);
        self
    }

    /// Sets width and height in pixels; 640 and 400 by default.
    pub fn size(mut self, width: u32, height: u32) -> Self {
        self.size = (width.clamp(160, 16_384), height.clamp(120, 16_384));
        self
    }

    /// Sets the text along the horizontal axis; by default the name of the dim.
    pub fn x_name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.x_name);
        self
    }

    /// Sets the text along the vertical axis of a map; by default the name of the dim.
    pub fn y_name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.y_name);
        self
    }

    /// Sets the name of the values, such as `temperature [K]`.
    pub fn value_name(mut self, name: &str) -> Self {
        match self.kind {
            Kind::Line { .. } => name.clone_into(&mut self.y_name),
            Kind::Map { .. } => name.clone_into(&mut self.value_name),
            Kind::Histogram { .. } => name.clone_into(&mut self.x_name),
        }
        self
    }

    /// Sets the least and the greatest value of the colours of a map, or of the vertical axis of a line.
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high)).filter(|_| low < high);
        self
    }

    /// Saves the picture: as SVG or PNG, by the end of the name.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if the name ends otherwise; [`ErrorKind::File`] if it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let (op, path) = ("save", path.as_ref());
        let end = path.extension().and_then(|end| end.to_str());
        let bytes = match end.map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => self.to_svg()?.into_bytes(),
            Some("png") => self.to_png()?,
            _ => {
                let what = format!("{} ends neither in `.svg` nor in `.png`", path.display());
                return Err(Error::new(ErrorKind::Argument, op, what));
            }
        };
        let failed = |error: std::io::Error| {
            Error::new(ErrorKind::File, op, error.to_string()).within(path.display())
        };
        std::fs::write(path, bytes).map_err(failed)
    }

    /// Shows the picture in an evcxr notebook, which calls this for the last value of a cell.
    pub fn evcxr_display(&self) {
        match self.to_svg() {
            Ok(svg) => println!("EVCXR_BEGIN_CONTENT text/html\n{svg}\nEVCXR_END_CONTENT"),
            Err(error) => println!("{error}"),
        }
    }
}

impl DynDataset {
    /// Draws a variable like [`ToPlot::plot`], with its `long_name` and `units` and those of its coordinates.
    ///
    /// # Errors
    /// Returns the errors of [`labelled`](Self::labelled) and [`ToPlot::plot`].
    pub fn plot(&self, name: &str) -> Result<Plot> {
        let variable = self.variable(name)?;
        let plot = self.labelled(name)?.plot()?.value_name(&self.caption(name));
        let dims = variable.dims();
        Ok(match dims {
            [x] => plot.x_name(&self.caption(x)),
            [y, x] => plot.x_name(&self.caption(x)).y_name(&self.caption(y)),
            _ => plot,
        })
    }

    /// Returns the name of a variable with its units.
    fn caption(&self, name: &str) -> String {
        let attributes = self.variable(name).map(|one| one.attributes());
        let text = |key: &str| attributes.as_ref().ok().and_then(|all| all.text(key));
        let long = text("long_name").or_else(|| text("standard_name"));
        let units = text("units").filter(|units| !matches!(*units, "1" | ""));
        let long = long.unwrap_or(name);
        match units {
            Some(units) => format!("{long} [{units}]"),
            None => long.to_owned(),
        }
    }
}

fn dim_name(x: &DynLabelled, dim: usize) -> String {
    let name = x.names()[dim].as_ref();
    name.map_or_else(String::new, |name| name.as_str().to_owned())
}

/// Returns the elements of a tensor that has this number of dims.
fn elements(op: &'static str, x: &DynLabelled, rank: Option<usize>) -> Result<Vec<f64>> {
    let refused =
        |kind, what: String| Err(Error::new(kind, op, what).operand(x.names(), x.shape()));
    if let Some(rank) = rank.filter(|rank| *rank != x.shape().len()) {
        let what = format!("the tensor has {} dims, not {rank}", x.shape().len());
        return refused(ErrorKind::Rank, what);
    }
    if x.tensor().dtype().is_complex() {
        let what = format!("elements are {}, which have no order", x.tensor().dtype());
        return refused(ErrorKind::DType, what);
    }
    let values = x.tensor().to_dtype(DType::F64)?.to_vec::<f64>()?;
    if values.is_empty() {
        return refused(ErrorKind::Shape, "there are no elements to draw".to_owned());
    }
    Ok(values)
}

/// Returns the least and the greatest finite value; 0 and 1 if there is none.
fn extent(values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let low = finite().fold(f64::INFINITY, f64::min);
    let high = finite().fold(f64::NEG_INFINITY, f64::max);
    if low <= high { (low, high) } else { (0.0, 1.0) }
}
