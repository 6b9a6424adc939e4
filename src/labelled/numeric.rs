//! Numbers of interpolation and fits, without tensors.

use super::found::Found;
use crate::{InterpMethod, InterpOptions};

/// Where a value between labels comes from: positions below and above, and the share of the one above.
pub(super) struct Between {
    pub(super) below: usize,
    pub(super) above: usize,
    pub(super) share: f64,
}

/// Returns the neighbours of a coordinate among rising ones; `None` beyond the ends.
pub(super) fn between(xs: &[f64], x: f64, options: InterpOptions) -> Option<Between> {
    let last = xs.len().checked_sub(1)?;
    let at = xs.partition_point(|v| *v < x);
    if xs.get(at) == Some(&x) {
        return Some(Between {
            below: at,
            above: at,
            share: 0.0,
        });
    }
    let outside = at == 0 || at > last || x.is_nan();
    if x.is_nan() || (outside && !options.extrapolate) || last == 0 {
        return None;
    }
    let above = at.clamp(1, last);
    let below = above - 1;
    let share = (x - xs[below]) / (xs[above] - xs[below]);
    Some(match options.method {
        InterpMethod::Nearest => {
            let nearest = if share > 0.5 { above } else { below };
            Between {
                below: nearest,
                above: nearest,
                share: 0.0,
            }
        }
        _ => Between {
            below,
            above,
            share,
        },
    })
}

/// Returns the pseudo-inverse of the matrix of powers of `xs`, by rows: the greatest power first.
pub(super) fn fit_rows(xs: &[f64], degree: usize) -> Found<Vec<Vec<f64>>> {
    let (n, k) = (xs.len(), degree + 1);
    if n < k {
        return Err(format!(
            "has {n} elements, and a polynomial of degree {degree} needs {k}"
        ));
    }
    // Columns scaled to length 1, as NumPy's polyfit does, then modified Gram-Schmidt, twice for orthogonality.
    let mut columns: Vec<Vec<f64>> = (0..k)
        .rev()
        .map(|p| xs.iter().map(|x| x.powi(p as i32)).collect())
        .collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let scales: Vec<f64> = columns.iter().map(|c| dot(c, c).sqrt()).collect();
    if scales.contains(&0.0) {
        return Err("has labels that determine no polynomial".into());
    }
    for (column, scale) in columns.iter_mut().zip(&scales) {
        column.iter_mut().for_each(|v| *v /= scale);
    }
    let mut r = vec![vec![0.0; k]; k];
    for j in 0..k {
        for _ in 0..2 {
            for i in 0..j {
                let (done, rest) = columns.split_at_mut(j);
                let share = dot(&done[i], &rest[0]);
                r[i][j] += share;
                rest[0]
                    .iter_mut()
                    .zip(&done[i])
                    .for_each(|(v, q)| *v -= share * q);
            }
        }
        r[j][j] = dot(&columns[j], &columns[j]).sqrt();
        if r[j][j] < 1e-13 {
            return Err(format!(
                "has too few different labels for a polynomial of degree {degree}"
            ));
        }
        let length = r[j][j];
        columns[j].iter_mut().for_each(|v| *v /= length);
    }
    // Back substitution: R·P = Qᵀ.
    let mut rows = columns;
    for i in (0..k).rev() {
        let (upper, lower) = rows.split_at_mut(i + 1);
        for (row, factor) in lower.iter().zip(&r[i][i + 1..]) {
            let pairs = upper[i].iter_mut().zip(row);
            pairs.for_each(|(v, p)| *v -= factor * p);
        }
        rows[i].iter_mut().for_each(|v| *v /= r[i][i]);
    }
    for (row, scale) in rows.iter_mut().zip(&scales) {
        row.iter_mut().for_each(|v| *v /= scale);
    }
    Ok(rows)
}
