//! Drawing by the crate `plotters`.

use std::sync::Once;

use nomina::{Error, ErrorKind, Result};
use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use super::scale::{Scale, Ticks};
use super::{Kind, Plot, extent};

/// The color of lines and bars.
const INK: RGBColor = RGBColor(31, 119, 180);
const FONT: &str = "sans-serif";
/// The maximum number of cells of a map along a dim; of more, some are left out.
const MOST_CELLS: usize = 512;

/// Viridis, at equal distances.
const RISING: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];
/// Blue over white to red, at equal distances.
const DIVERGING: [[u8; 3]; 9] = [
    [5, 48, 97],
    [33, 102, 172],
    [67, 147, 195],
    [146, 197, 222],
    [247, 247, 247],
    [244, 165, 130],
    [214, 96, 77],
    [178, 24, 43],
    [103, 0, 31],
];

/// Values as colors.
struct Colors {
    low: f64,
    high: f64,
    table: &'static [[u8; 3]; 9],
}

impl Colors {
    fn new(values: &[f64], range: Option<(f64, f64)>) -> Self {
        let (low, high) = range.unwrap_or_else(|| extent(values));
        let (low, high, table) = if low < 0.0 && high > 0.0 {
            let most = high.max(-low);
            match range {
                Some(_) => (low, high, &DIVERGING),
                None => (-most, most, &DIVERGING),
            }
        } else {
            (low, high, &RISING)
        };
        let high = if low < high { high } else { low + 1.0 };
        Self { low, high, table }
    }

    fn get(&self, value: f64) -> RGBColor {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0) * 8.0;
        let at = (share as usize).min(7);
        let part = |channel: usize| {
            let (a, b) = (self.table[at][channel], self.table[at + 1][channel]);
            (f64::from(a) + (f64::from(b) - f64::from(a)) * (share - at as f64)).round() as u8
        };
        RGBColor(part(0), part(1), part(2))
    }
}

type Drawn = std::result::Result<(), String>;

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Registers the font that texts are measured with, and drawn with in PNG; no font of the system is looked for.
fn require_font() {
    static FONTS: Once = Once::new();
    FONTS.call_once(|| {
        // Only fails for bytes that are no font.
        let _ = register_font(FONT, FontStyle::Normal, dejavu::sans::regular());
    });
}

impl Plot {
    /// Returns the picture as SVG.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if the picture is too small for its texts.
    pub fn to_svg(&self) -> Result<String> {
        require_font();
        let mut svg = String::new();
        let root = SVGBackend::with_string(&mut svg, self.size).into_drawing_area();
        self.draw(&root).map_err(|what| failed("to_svg", what))?;
        root.present()
            .map_err(|error| failed("to_svg", text(error)))?;
        drop(root);
        Ok(svg)
    }

    /// Returns the picture as the bytes of a PNG file.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if the picture is too small for its texts.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        require_font();
        let (width, height) = self.size;
        let mut pixels = vec![255; width as usize * height as usize * 3];
        let root = BitMapBackend::with_buffer(&mut pixels, self.size).into_drawing_area();
        self.draw(&root).map_err(|what| failed("to_png", what))?;
        root.present()
            .map_err(|error| failed("to_png", text(error)))?;
        drop(root);
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(&pixels)?;
            writer.finish()
        });
        written.map_err(|error| failed("to_png", text(error)))?;
        Ok(bytes)
    }

    fn draw<DB: DrawingBackend>(&self, root: &DrawingArea<DB, Shift>) -> Drawn {
        root.fill(&WHITE).map_err(text)?;
        let root = if self.title.is_empty() {
            root.clone()
        } else {
            let font = (FONT, 18).into_font().color(&BLACK);
            root.titled(&self.title, font).map_err(text)?
        };
        match &self.kind {
            Kind::Line { x, values } => {
                let (low, high) = self.range.unwrap_or_else(|| extent(values));
                let margin = (high - low) * if self.range.is_some() { 0.0 } else { 0.05 };
                let up = Scale::new(low - margin, high + margin, Ticks::Numbers);
                let mut chart = self.chart(&root, x.scale(0.0), up)?;
                // In the order of positions, apart at NaN.
                let mut order: Vec<usize> = (0..values.len()).collect();
                order.sort_by(|a, b| x.at[*a].total_cmp(&x.at[*b]));
                for part in order.split(|at| !values[*at].is_finite()) {
                    let points: Vec<(f64, f64)> =
                        part.iter().map(|at| (x.at[*at], values[*at])).collect();
                    match points[..] {
                        [] => continue,
                        [only] => chart
                            .draw_series([Circle::new(only, 2, INK.filled())])
                            .map(drop),
                        _ => chart
                            .draw_series(LineSeries::new(points, INK.stroke_width(2)))
                            .map(drop),
                    }
                    .map_err(text)?;
                }
            }
            Kind::Histogram { edges, counts } => {
                let across = Scale::new(edges[0], edges[counts.len()], Ticks::Numbers);
                let most = counts.iter().copied().max().unwrap_or(0).max(1);
                let up = Scale::new(0.0, most as f64 * 1.05, Ticks::Numbers);
                let mut chart = self.chart(&root, across, up)?;
                let bars = counts.iter().enumerate().map(|(at, count)| {
                    let corners = [(edges[at], 0.0), (edges[at + 1], *count as f64)];
                    Rectangle::new(corners, INK.filled())
                });
                chart.draw_series(bars).map_err(text)?;
            }
            Kind::Map { x, y, values } => {
                let colors = Colors::new(values, self.range);
                let (width, _) = root.dim_in_pixel();
                let bar = 100.min(width / 3);
                let (left, right) = root.split_horizontally(width - bar);
                let (columns, rows) = (x.edges(), y.edges());
                let scale = |edges: &[f64], ticks: &Ticks| {
                    let (a, b) = (edges[0], edges[edges.len() - 1]);
                    Scale::new(a.min(b), a.max(b), ticks.clone())
                };
                let (across, up) = (scale(&columns, &x.ticks), scale(&rows, &y.ticks));
                let mut chart = self.chart(&left, across, up)?;
                let every = |count: usize| count.div_ceil(MOST_CELLS).max(1);
                let (by_row, by_column) = (every(y.at.len()), every(x.at.len()));
                let cells = (0..y.at.len()).step_by(by_row).flat_map(|row| {
                    let (columns, rows, colors) = (&columns, &rows, &colors);
                    (0..x.at.len())
                        .step_by(by_column)
                        .filter_map(move |column| {
                            let value = values[row * x.at.len() + column];
                            let right = (column + by_column).min(x.at.len());
                            let above = (row + by_row).min(y.at.len());
                            let corners =
                                [(columns[column], rows[row]), (columns[right], rows[above])];
                            let filled = || Rectangle::new(corners, colors.get(value).filled());
                            (!value.is_nan()).then(filled)
                        })
                });
                chart.draw_series(cells).map_err(text)?;
                self.draw_bar(&right, &colors)?;
            }
        }
        Ok(())
    }

    /// Draws axes, and returns what is drawn between them.
    fn chart<'a, DB: DrawingBackend>(
        &self,
        root: &'a DrawingArea<DB, Shift>,
        x: Scale,
        y: Scale,
    ) -> std::result::Result<ChartContext<'a, DB, Cartesian2d<Scale, Scale>>, String> {
        let widest = y
            .ticks()
            .iter()
            .map(|at| y.format_ext(at).chars().count())
            .max();
        let mut chart = ChartBuilder::on(root)
            .margin(12)
            .margin_right(24)
            .x_label_area_size(44)
            .y_label_area_size(34 + 7 * widest.unwrap_or(0) as u32)
            .build_cartesian_2d(x.clone(), y.clone())
            .map_err(text)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(225, 225, 225))
            .x_labels(x.ticks().len())
            .y_labels(y.ticks().len())
            .x_desc(&self.x_name)
            .y_desc(&self.y_name)
            .label_style((FONT, 12))
            .axis_desc_style((FONT, 14))
            .draw()
            .map_err(text)?;
        Ok(chart)
    }

    /// Draws the colors with their values.
    fn draw_bar<DB: DrawingBackend>(
        &self,
        root: &DrawingArea<DB, Shift>,
        colors: &Colors,
    ) -> Drawn {
        let (_, height) = root.dim_in_pixel();
        let (top, bottom) = (14, height as i32 - 56);
        if bottom <= top {
            return Err("no room for the color bar".to_owned());
        }
        const STEPS: i32 = 64;
        let row = |at: i32| bottom - (bottom - top) * at / STEPS;
        for at in 0..STEPS {
            let share = (f64::from(at) + 0.5) / f64::from(STEPS);
            let color = colors.get(colors.low + share * (colors.high - colors.low));
            let corners = [(2, row(at + 1)), (18, row(at))];
            root.draw(&Rectangle::new(corners, color.filled()))
                .map_err(text)?;
        }
        root.draw(&Rectangle::new([(2, top), (18, bottom)], BLACK))
            .map_err(text)?;
        let scale = Scale::new(colors.low, colors.high, Ticks::Numbers);
        let style = (FONT, 12).into_font().color(&BLACK);
        for at in scale.ticks() {
            let share = (at - colors.low) / (colors.high - colors.low);
            let y = bottom - (share * f64::from(bottom - top)).round() as i32;
            root.draw(&PathElement::new([(18, y), (22, y)], BLACK))
                .map_err(text)?;
            root.draw_text(&scale.format_ext(at), &style, (26, y - 6))
                .map_err(text)?;
        }
        if !self.value_name.is_empty() {
            let font = (FONT, 13).into_font().transform(FontTransform::Rotate270);
            let (width, _) = root
                .estimate_text_size(&self.value_name, &style)
                .map_err(text)?;
            let middle = (top + bottom) / 2 + width as i32 / 2;
            let (right, _) = root.dim_in_pixel();
            let place = (right as i32 - 20, middle.min(height as i32 - 8));
            root.draw_text(&self.value_name, &font.color(&BLACK), place)
                .map_err(text)?;
        }
        Ok(())
    }
}

fn failed(op: &'static str, what: String) -> Error {
    Error::new(ErrorKind::Argument, op, what)
}
