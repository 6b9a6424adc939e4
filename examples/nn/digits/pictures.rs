//! PNGs of a network's right and wrong predictions.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use font8x8::UnicodeFonts;
use nomina::prelude::*;
use plotters::coord::Shift;
use plotters::prelude::*;

use super::data::Digits;
use super::{Class, N};

type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// Draws a confusion matrix: digits by rows, predictions by columns.
pub fn confusion(path: &Path, counts: &Tensor<(Class, Prime<Class>), i64>) -> Drawn {
    let shares = counts.float() / counts.sum(keep(Prime(Class))).clamp_min(1).float();
    let fields: Vec<(i64, f32)> = counts.iter().zip(shares.iter()).collect();
    save(path, (550, 550), |root| {
        root.fill(&WHITE)?;
        let cells = root.split_evenly((11, 11));
        let (titles, rows) = cells.split_at(11);
        for (class, cell) in titles[1..].iter().enumerate() {
            write(cell, &class.to_string(), (17, 30), &BLACK)?;
        }
        for ((class, row), fields) in rows.chunks(11).enumerate().zip(fields.chunks(10)) {
            write(&row[0], &class.to_string(), (30, 17), &BLACK)?;
            for ((told, cell), &(count, share)) in row[1..].iter().enumerate().zip(fields) {
                let hue = if class == told { 0.6 } else { 0.0 };
                let lightness = 1.0 - 0.6 * f64::from(share).sqrt();
                cell.fill(&HSLColor(hue, 0.7, lightness))?;
                let text = if count > 0 {
                    count.to_string()
                } else {
                    String::new()
                };
                let ink = if lightness < 0.6 { &WHITE } else { &BLACK };
                write(cell, &text, (25 - 8 * text.len() as i32, 17), ink)?;
            }
        }
        Ok(())
    })
}

/// Draws pictures with large losses, each with its digit, its prediction and its loss.
pub fn worst(
    path: &Path,
    digits: &Digits,
    told: &Tensor<(N,), i64>,
    losses: &Tensor<(N,)>,
) -> Drawn {
    const PIXEL: i32 = 18;
    let rows = digits.len().div_ceil(4);
    save(path, (4 * 180, rows as u32 * 200), |root| {
        root.fill(&WHITE)?;
        let cells = root.split_evenly((rows, 4));
        let captions = digits.labels.iter().zip(told.iter()).zip(losses.iter());
        for ((at, cell), ((label, told), loss)) in cells.iter().enumerate().zip(captions) {
            let pixels = digits.images.select(N, at).to_vec();
            for (pixel, place) in pixels.into_iter().zip(0..) {
                let corner = (18 + PIXEL * (place % 8), 6 + PIXEL * (place / 8));
                let grey = HSLColor(0.0, 0.0, 1.0 - f64::from(pixel));
                square(cell, corner, PIXEL, &grey)?;
            }
            let ink = if label == told { BLACK } else { RED };
            write(cell, &format!("{label} told {told}"), (26, 156), &ink)?;
            write(cell, &format!("loss {loss:.2}"), (18, 176), &ink)?;
        }
        Ok(())
    })
}

/// Draws a text in letters of 16 by 16 pixels, with its upper left corner at `at`.
fn write(area: &Area<'_>, text: &str, at: (i32, i32), ink: &RGBColor) -> Drawn {
    for (letter, left) in text.chars().zip((at.0..).step_by(16)) {
        let glyph = font8x8::BASIC_FONTS.get(letter).unwrap_or_default();
        for (bits, top) in glyph.into_iter().zip((at.1..).step_by(2)) {
            for column in (0..8).filter(|column| bits >> column & 1 == 1) {
                square(area, (left + 2 * column, top), 2, ink)?;
            }
        }
    }
    Ok(())
}

fn square(area: &Area<'_>, (left, top): (i32, i32), size: i32, color: &impl Color) -> Drawn {
    let corners = [(left, top), (left + size, top + size)];
    area.draw(&Rectangle::new(corners, color.filled()))?;
    Ok(())
}

/// Saves a drawing as a PNG.
fn save(path: &Path, size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Drawn) -> Drawn {
    let mut bytes = vec![0; size.0 as usize * size.1 as usize * 3];
    let root = BitMapBackend::with_buffer(&mut bytes, size).into_drawing_area();
    draw(&root)?;
    root.present()?;
    drop(root);
    let file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), size.0, size.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header()?.write_image_data(&bytes)?;
    Ok(())
}
