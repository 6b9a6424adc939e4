//! Operators of vision models: sampling by a grid, regions and boxes.

use nomina::DynTensor;
use nomina_core::Result;

use super::shape::sizes_at;
use crate::call::{Call, floats, for_each_index, from_floats, from_ints, reshape, room, strides};
use crate::names::flow::Flow::Fresh;
use crate::table::Row;
use crate::table::Run::Single;

pub const ROWS: &[Row] = &[
    Row::new("GridSample", 16, Fresh, Single(grid_sample)),
    Row::new("AffineGrid", 20, Fresh, Single(affine_grid)),
    Row::new("RoiAlign", 10, Fresh, Single(roi_align)),
    Row::new("NonMaxSuppression", 10, Fresh, Single(suppress)),
];

/// Reflects a position between two borders.
fn reflect(x: f64, low: f64, high: f64) -> f64 {
    let range = high - low;
    if range <= 0.0 {
        return low;
    }
    let (from, flip) = if x < low {
        (low - x, false)
    } else if x > high {
        (x - high, true)
    } else {
        return x;
    };
    let (turns, rest) = ((from / range).floor(), from % range);
    if (turns % 2.0 == 0.0) != flip {
        low + rest
    } else {
        high - rest
    }
}

fn grid_sample(c: &Call<'_>) -> Result<DynTensor> {
    let (x, grid) = (c.x(0)?, c.x(1)?);
    let dims = super::conv::spatial(c, x)?;
    let n = dims.len();
    c.require(
        grid.rank() == n + 2 && grid.shape()[n + 1] == n && grid.shape()[0] == x.shape()[0],
        "the grid does not fit the input",
    )?;
    let corners = c.flag("align_corners", false)?;
    let (mode, padding) = (
        c.text("mode", if c.opset() < 20 { "bilinear" } else { "linear" })?,
        c.text("padding_mode", "zeros")?,
    );
    let mode = mode.trim_start_matches("bi");
    c.require(
        matches!(mode, "nearest" | "linear" | "cubic")
            && matches!(padding, "zeros" | "border" | "reflection"),
        "the mode is unknown",
    )?;
    let (data, points, step) = (floats(x)?, floats(grid)?, strides(dims));
    let border = |dim: usize| {
        if corners {
            (0.0, dims[dim] as f64 - 1.0)
        } else {
            (-0.5, dims[dim] as f64 - 0.5)
        }
    };
    let inside = |dim: usize, at: f64| -> Option<usize> {
        let last = dims[dim] as f64 - 1.0;
        let at = match padding {
            "zeros" if at < 0.0 || at > last => return None,
            "border" => at.clamp(0.0, last),
            "reflection" => {
                let (low, high) = border(dim);
                reflect(at, low, high).clamp(0.0, last)
            }
            _ => at,
        };
        Some(at as usize)
    };
    let cubic = |t: f64| {
        let a = -0.75;
        let near = |d: f64| ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
        let far = |d: f64| ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a;
        [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)]
    };
    let channels = x.shape()[1];
    let plane: usize = dims.iter().product();
    c.require(plane > 0, "the input is empty")?;
    let mut shape = x.shape()[..2].to_vec();
    shape.extend(&grid.shape()[1..=n]);
    let outputs: usize = grid.shape()[1..=n].iter().product();
    let (mut result, count) = room(c.op, &shape)?;
    result.resize(count, 0.0);
    for (batch, out) in (0..x.shape()[0]).flat_map(|b| (0..outputs).map(move |o| (b, o))) {
        // For each dim, the elements that count and their weights.
        let taps: Vec<Vec<(Option<usize>, f64)>> = (0..n)
            .map(|dim| {
                let v = points[(batch * outputs + out) * n + n - 1 - dim];
                let size = dims[dim] as f64;
                let mut at = if corners {
                    (v + 1.0) / 2.0 * (size - 1.0)
                } else {
                    ((v + 1.0) * size - 1.0) / 2.0
                };
                if mode == "nearest" {
                    at = at.round_ties_even();
                }
                let (low, high) = border(dim);
                if at < low || at > high {
                    match padding {
                        "border" => at = at.clamp(0.0, size - 1.0),
                        "reflection" => at = reflect(at, low, high),
                        _ => {}
                    }
                }
                let floor = at.floor();
                match mode {
                    "nearest" => vec![(inside(dim, at), 1.0)],
                    "linear" => vec![
                        (inside(dim, floor), 1.0 - (at - floor)),
                        (inside(dim, floor + 1.0), at - floor),
                    ],
                    _ => (-1..3)
                        .zip(cubic(at - floor))
                        .map(|(i, weight)| (inside(dim, floor + f64::from(i)), weight))
                        .collect(),
                }
            })
            .collect();
        let counts: Vec<usize> = taps.iter().map(Vec::len).collect();
        for_each_index(&counts, |index| {
            let (mut place, mut weight) = (Some(0), 1.0);
            for dim in 0..n {
                let (at, own) = taps[dim][index[dim]];
                place = place.zip(at).map(|(place, at)| place + at * step[dim]);
                weight *= own;
            }
            let Some(place) = place.filter(|_| weight != 0.0) else {
                return;
            };
            for ch in 0..channels {
                result[(batch * channels + ch) * outputs + out] +=
                    weight * data[(batch * channels + ch) * plane + place];
            }
        });
    }
    from_floats(result, &shape, x.dtype())
}

fn affine_grid(c: &Call<'_>) -> Result<DynTensor> {
    let (theta, size) = (c.x(0)?, sizes_at(c, 1)?);
    let n = size.len().saturating_sub(2);
    c.require(
        matches!(n, 2 | 3) && theta.shape() == [size[0], n, n + 1],
        "theta does not fit the size",
    )?;
    let corners = c.flag("align_corners", false)?;
    let (all, dims) = (floats(theta)?, &size[2..]);
    let mut shape = vec![size[0]];
    shape.extend(dims);
    let (mut result, _) = room(c.op, &[&shape[..], &[n]].concat())?;
    for_each_index(&shape, |index| {
        let place = |dim: usize| {
            let (i, size) = (index[dim + 1] as f64, dims[dim] as f64);
            if corners {
                -1.0 + 2.0 * i / (size - 1.0)
            } else {
                -1.0 + (2.0 * i + 1.0) / size
            }
        };
        for row in 0..n {
            let t = &all[(index[0] * n + row) * (n + 1)..][..n + 1];
            result.push((0..n).map(|k| t[k] * place(n - 1 - k)).sum::<f64>() + t[n]);
        }
    });
    shape.push(n);
    from_floats(result, &shape, theta.dtype())
}

fn roi_align(c: &Call<'_>) -> Result<DynTensor> {
    let (x, rois, images) = (c.x(0)?, c.x(1)?, crate::call::ints(c.x(2)?)?);
    let (&[n, channels, h, w], &[count, 4]) = (x.shape(), rois.shape()) else {
        return Err(c.fail("the operands have the wrong dims"));
    };
    c.require(
        images.len() == count && images.iter().all(|&i| (0..n as i64).contains(&i)),
        "an image index is out of range",
    )?;
    let size = |name: &str| {
        usize::try_from(c.int(name, 1)?)
            .ok()
            .filter(|&s| s > 0 && s < 1 << 16)
            .ok_or_else(|| c.fail(format!("`{name}` is not positive")))
    };
    let (ph, pw) = (size("output_height")?, size("output_width")?);
    let (ratio, scale) = (c.int("sampling_ratio", 0)?, c.float("spatial_scale", 1.0)?);
    let half = if c.opset() < 16 {
        false
    } else {
        c.text("coordinate_transformation_mode", "half_pixel")? == "half_pixel"
    };
    let largest = match c.text("mode", "avg")? {
        "avg" => false,
        "max" => true,
        other => return Err(c.fail(format!("mode `{other}` is unknown"))),
    };
    let (data, boxes) = (floats(x)?, floats(rois)?);
    let (mut result, _) = room(c.op, &[count, channels, ph, pw])?;
    for (roi, &image) in boxes.chunks(4).zip(&images) {
        let [x1, y1, x2, y2] =
            [roi[0], roi[1], roi[2], roi[3]].map(|v| v * scale - if half { 0.5 } else { 0.0 });
        let least = if half { f64::NEG_INFINITY } else { 1.0 };
        let (bin_h, bin_w) = (
            (y2 - y1).max(least) / ph as f64,
            (x2 - x1).max(least) / pw as f64,
        );
        let grid = |bin: f64| {
            if ratio > 0 {
                ratio.min(1 << 16) as usize
            } else {
                bin.ceil().clamp(0.0, 65536.0) as usize
            }
        };
        let (gh, gw) = (grid(bin_h), grid(bin_w));
        for (ch, i, j) in
            (0..channels).flat_map(|ch| (0..ph).flat_map(move |i| (0..pw).map(move |j| (ch, i, j))))
        {
            let plane = &data[(image as usize * channels + ch) * h * w..][..h * w];
            let (mut sum, mut best) = (0.0, None::<f64>);
            for (iy, ix) in (0..gh).flat_map(|iy| (0..gw).map(move |ix| (iy, ix))) {
                let y = y1 + i as f64 * bin_h + (iy as f64 + 0.5) * bin_h / gh as f64;
                let x = x1 + j as f64 * bin_w + (ix as f64 + 0.5) * bin_w / gw as f64;
                let parts = corners(plane, (h, w), y, x);
                sum += parts.iter().sum::<f64>();
                let own = parts.into_iter().fold(f64::NEG_INFINITY, f64::max);
                best = Some(best.map_or(own, |best| best.max(own)));
            }
            result.push(if largest {
                best.unwrap_or(0.0)
            } else {
                sum / (gh * gw).max(1) as f64
            });
        }
    }
    from_floats(result, &[count, channels, ph, pw], x.dtype())
}

/// The four weighted neighbours of a position; zero outside.
fn corners(plane: &[f64], (h, w): (usize, usize), y: f64, x: f64) -> [f64; 4] {
    if y < -1.0 || y > h as f64 || x < -1.0 || x > w as f64 || plane.is_empty() {
        return [0.0; 4];
    }
    let line = |v: f64, size: usize| {
        let v = v.max(0.0);
        let low = v as usize;
        if low >= size - 1 {
            (size - 1, size - 1, 0.0)
        } else {
            (low, low + 1, v - low as f64)
        }
    };
    let ((y0, y1, ly), (x0, x1, lx)) = (line(y, h), line(x, w));
    let at = |y: usize, x: usize| plane[y * w + x];
    [
        (1.0 - ly) * (1.0 - lx) * at(y0, x0),
        (1.0 - ly) * lx * at(y0, x1),
        ly * (1.0 - lx) * at(y1, x0),
        ly * lx * at(y1, x1),
    ]
}

fn suppress(c: &Call<'_>) -> Result<DynTensor> {
    let (boxes, scores) = (c.x(0)?, c.x(1)?);
    let (&[n, count, 4], &[m, classes, same]) = (boxes.shape(), scores.shape()) else {
        return Err(c.fail("the operands have the wrong dims"));
    };
    c.require(n == m && count == same, "boxes and scores differ in number")?;
    let number = |at: usize| {
        c.maybe(at)?
            .map(|x| Ok(reshape(x, &[])?.item()?.to_f64()))
            .transpose()
    };
    let most = number(2)?.unwrap_or(0.0).max(0.0) as usize;
    let (overlap, least) = (number(3)?.unwrap_or(0.0), number(4)?);
    let centred = c.flag("center_point_box", false)?;
    let (all, rated) = (floats(boxes)?, floats(scores)?);
    let corners = |image: usize, at: usize| {
        let b = &all[(image * count + at) * 4..][..4];
        if centred {
            [
                b[1] - b[3] / 2.0,
                b[0] - b[2] / 2.0,
                b[1] + b[3] / 2.0,
                b[0] + b[2] / 2.0,
            ]
        } else {
            [
                b[0].min(b[2]),
                b[1].min(b[3]),
                b[0].max(b[2]),
                b[1].max(b[3]),
            ]
        }
    };
    let area = |b: [f64; 4]| (b[2] - b[0]) * (b[3] - b[1]);
    let ratio = |a: [f64; 4], b: [f64; 4]| {
        let (h, w) = (
            a[2].min(b[2]) - a[0].max(b[0]),
            a[3].min(b[3]) - a[1].max(b[1]),
        );
        let common = h.max(0.0) * w.max(0.0);
        let union = area(a) + area(b) - common;
        if common <= 0.0 || union <= 0.0 {
            0.0
        } else {
            common / union
        }
    };
    let mut chosen = Vec::new();
    for (image, class) in (0..n).flat_map(|image| (0..classes).map(move |class| (image, class))) {
        let score = |at: usize| rated[(image * classes + class) * count + at];
        let mut order: Vec<usize> = (0..count)
            .filter(|&at| least.is_none_or(|least| score(at) > least))
            .collect();
        order.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
        let mut kept: Vec<usize> = Vec::new();
        for at in order {
            if kept.len() < most
                && kept
                    .iter()
                    .all(|&other| ratio(corners(image, at), corners(image, other)) <= overlap)
            {
                kept.push(at);
            }
        }
        chosen.extend(
            kept.into_iter()
                .flat_map(|at| [image as i64, class as i64, at as i64]),
        );
    }
    let rows = chosen.len() / 3;
    from_ints(chosen, &[rows, 3])
}
