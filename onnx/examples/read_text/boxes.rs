//! Boxes around lines of text, from a map of probabilities: the rules of PP-OCR, for boxes that are not rotated.

use std::ops::Range;

use nomina::prelude::*;

dims! { pub H, pub W }

/// A pixel is part of a line from this probability on.
const THRESHOLD: f32 = 0.3;
/// A box is a line of text from this mean probability on.
const BOX_THRESHOLD: f64 = 0.5;
/// A box grows by this factor times its area over its perimeter, because the map has the middle of lines.
const GROWTH: f64 = 1.6;
/// The least height and width, before a box grows.
const LEAST: usize = 3;

/// A box of pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub rows: Range<usize>,
    pub columns: Range<usize>,
}

/// Returns the lines of a map, from the top, and from the left within a row of text; in pixels of a picture of `height` by `width`.
pub fn lines(map: &Tensor<(H, W)>, [height, width]: [usize; 2]) -> Vec<Line> {
    let (rows, columns) = (map.size(H), map.size(W));
    let values = map.to_vec();
    let mut open = dilated(&values, columns);
    let mut all = Vec::new();
    for start in 0..open.len() {
        if open[start] {
            let found = component(&mut open, start, columns);
            all.extend(grown(&found, &values, columns).map(|line| {
                let scaled = |range: Range<f64>, from: usize, to: usize| {
                    let at = |x: f64| (x / from as f64 * to as f64).round().clamp(0.0, to as f64);
                    at(range.start) as usize..at(range.end) as usize
                };
                Line {
                    rows: scaled(line[0].clone(), rows, height),
                    columns: scaled(line[1].clone(), columns, width),
                }
            }));
        }
    }
    all.retain(|line: &Line| line.rows.len() > LEAST && line.columns.len() > LEAST);
    all.sort_by_key(|line| (line.rows.start, line.columns.start));
    in_reading_order(&mut all);
    all
}

/// Marks the pixels of lines, and those to the right of them and below.
fn dilated(values: &[f32], columns: usize) -> Vec<bool> {
    let is_text = |at: usize| values[at] > THRESHOLD;
    (0..values.len())
        .map(|at| {
            let (left, above) = (at % columns > 0, at >= columns);
            is_text(at)
                || left && is_text(at - 1)
                || above && is_text(at - columns)
                || left && above && is_text(at - columns - 1)
        })
        .collect()
}

/// Takes the pixels that are connected with one, by sides or corners; returns the box around them.
fn component(open: &mut [bool], start: usize, columns: usize) -> Line {
    let (row, column) = (start / columns, start % columns);
    let mut all = Line {
        rows: row..row + 1,
        columns: column..column + 1,
    };
    let mut left = vec![start];
    open[start] = false;
    while let Some(at) = left.pop() {
        let (row, column) = (at / columns, at % columns);
        for (range, place) in [(&mut all.rows, row), (&mut all.columns, column)] {
            *range = range.start.min(place)..range.end.max(place + 1);
        }
        for near_row in row.saturating_sub(1)..(row + 2).min(open.len() / columns) {
            for near_column in column.saturating_sub(1)..(column + 2).min(columns) {
                let near = near_row * columns + near_column;
                if std::mem::replace(&mut open[near], false) {
                    left.push(near);
                }
            }
        }
    }
    all
}

/// Returns the rows and columns of a box with its margin, if it is a line of text.
fn grown(line: &Line, values: &[f32], columns: usize) -> Option<[Range<f64>; 2]> {
    let (height, width) = (line.rows.len(), line.columns.len());
    // Corners are pixels: a box of one pixel has no area.
    let (a, b) = ((height - 1) as f64, (width - 1) as f64);
    if a.min(b) < LEAST as f64 {
        return None;
    }
    let pixels = line
        .rows
        .clone()
        .flat_map(|row| &values[row * columns..][line.columns.clone()]);
    let sum: f64 = pixels.map(|&value| f64::from(value)).sum();
    if sum < BOX_THRESHOLD * (height * width) as f64 {
        return None;
    }
    let margin = a * b * GROWTH / (2.0 * (a + b));
    let wider = |range: &Range<usize>| range.start as f64 - margin..(range.end - 1) as f64 + margin;
    Some([wider(&line.rows), wider(&line.columns)])
}

/// Sorts boxes that begin in nearly the same row from the left.
fn in_reading_order(all: &mut [Line]) {
    const SAME_ROW: usize = 10;
    for at in 1..all.len() {
        let mut place = at;
        while place > 0
            && all[place].rows.start.abs_diff(all[place - 1].rows.start) < SAME_ROW
            && all[place].columns.start < all[place - 1].columns.start
        {
            all.swap(place, place - 1);
            place -= 1;
        }
    }
}
