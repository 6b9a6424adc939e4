//! The line search of L-BFGS. Nocedal and Wright, "Numerical Optimization", algorithms 3.5 and 3.6, as PyTorch has them.

use nomina::{DynTensor, Result};

const SUFFICIENT_DECREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;
const MAX_EVALUATIONS: u32 = 25;

pub(super) fn dot(x: &DynTensor, y: &DynTensor) -> Result<f64> {
    Ok(x.mul(y)?.sum(..)?.item()?.to_f64())
}

pub(super) fn max_abs(x: &DynTensor) -> Result<f64> {
    if x.numel() == 0 {
        return Ok(0.0);
    }
    Ok(x.abs()?.amax(..)?.item()?.to_f64())
}

/// A loss and its gradient.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub loss: f64,
    pub grad: DynTensor,
}

/// The result of a line search.
pub(super) struct FoundStep {
    pub length: f64,
    pub point: Point,
    pub evaluations: u32,
}

/// A point on the line.
#[derive(Clone)]
struct Trial {
    length: f64,
    point: Point,
    slope: f64,
}

impl Trial {
    /// Returns the minimum of the cubic through both points and slopes, within bounds.
    fn interpolate(&self, other: &Self, bounds: Option<(f64, f64)>) -> f64 {
        let (x1, x2) = (self.length, other.length);
        let (g1, g2) = (self.slope, other.slope);
        let (least, most) = bounds.unwrap_or((x1.min(x2), x1.max(x2)));
        let d1 = g1 + g2 - 3.0 * (self.point.loss - other.point.loss) / (x1 - x2);
        let square = d1 * d1 - g1 * g2;
        if square < 0.0 || square.is_nan() {
            return (least + most) / 2.0;
        }
        let d2 = square.sqrt();
        let at = if x1 <= x2 {
            x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2.0 * d2))
        } else {
            x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2.0 * d2))
        };
        at.max(least).min(most)
    }
}

/// Searches for a length that satisfies the strong Wolfe conditions.
pub(super) fn strong_wolfe(
    at: &mut dyn FnMut(f64) -> Result<Point>,
    direction: &DynTensor,
    length: f64,
    start: &Point,
    slope: f64,
    tolerance: f64,
) -> Result<FoundStep> {
    let size = max_abs(direction)?;
    let mut evaluations = 0;
    let mut trial = |length: f64| {
        evaluations += 1;
        let point = at(length)?;
        let slope = dot(&point.grad, direction)?;
        Ok(Trial {
            length,
            point,
            slope,
        })
    };
    let is_high =
        |new: &Trial| new.point.loss > start.loss + SUFFICIENT_DECREASE * new.length * slope;
    let is_flat = |new: &Trial| new.slope.abs() <= -CURVATURE * slope;
    let origin = Trial {
        length: 0.0,
        point: start.clone(),
        slope,
    };
    // Brackets a minimum.
    let (mut old, mut new) = (origin.clone(), trial(length)?);
    let (mut iteration, mut is_done) = (0, false);
    let mut bracket = loop {
        if iteration == MAX_EVALUATIONS {
            break [origin, new];
        }
        if is_high(&new) || (iteration > 1 && new.point.loss >= old.point.loss) {
            break [old, new];
        }
        if is_flat(&new) {
            is_done = true;
            break [new.clone(), new];
        }
        if new.slope >= 0.0 {
            break [old, new];
        }
        let least = new.length + 0.01 * (new.length - old.length);
        let next = old.interpolate(&new, Some((least, new.length * 10.0)));
        (old, new) = (new, trial(next)?);
        iteration += 1;
    };
    // Shrinks the bracket.
    let low_of = |[first, last]: &[Trial; 2]| usize::from(first.point.loss > last.point.loss);
    let mut low = low_of(&bracket);
    let mut is_slow = false;
    while !is_done && iteration < MAX_EVALUATIONS {
        let [first, last] = &bracket;
        if (last.length - first.length).abs() * size < tolerance {
            break;
        }
        let mut next = first.interpolate(last, None);
        let (least, most) = (first.length.min(last.length), first.length.max(last.length));
        let margin = 0.1 * (most - least);
        if (most - next).min(next - least) < margin {
            if is_slow || next >= most || next <= least {
                next = if (next - most).abs() < (next - least).abs() {
                    most - margin
                } else {
                    least + margin
                };
                is_slow = false;
            } else {
                is_slow = true;
            }
        } else {
            is_slow = false;
        }
        let new = trial(next)?;
        iteration += 1;
        if is_high(&new) || new.point.loss >= bracket[low].point.loss {
            bracket[1 - low] = new;
            low = low_of(&bracket);
        } else {
            is_done = is_flat(&new);
            let width = bracket[1 - low].length - bracket[low].length;
            if !is_done && new.slope * width >= 0.0 {
                bracket[1 - low] = bracket[low].clone();
            }
            bracket[low] = new;
        }
    }
    let [first, last] = bracket;
    let Trial { length, point, .. } = if low == 0 { first } else { last };
    Ok(FoundStep {
        length,
        point,
        evaluations,
    })
}
