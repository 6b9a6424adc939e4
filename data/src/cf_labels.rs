//! Selection among times of a calendar.

use nomina::Labels;
use nomina::dims::{Axis, DimList, Dims};
use nomina::labelled::{AsLabel, Found, Located, Selects};

use crate::calendar::CfTime;

#[diagnostic::do_not_recommend]
impl AsLabel<CfTime> for CfTime {
    fn first(&self) -> Found<CfTime> {
        Ok(*self)
    }
}

/// One time: the dim goes.
#[diagnostic::do_not_recommend]
impl<X: Axis> Selects<CfTime, X> for CfTime {
    type Out<D: Dims> = <D as DimList>::Remove<X>;

    fn find(&self, labels: &Labels<CfTime>) -> Found<Located> {
        labels.position(self).map(Located::One)
    }
}

/// A part of a date, in the calendar of the labels, keeps the dim: all labels within it.
#[diagnostic::do_not_recommend]
impl<X: Axis> Selects<CfTime, X> for &str {
    type Out<D: Dims> = D;

    fn find(&self, labels: &Labels<CfTime>) -> Found<Located> {
        let first = labels.values().first().ok_or("has no labels")?;
        let span = CfTime::span(first.calendar(), self);
        let (from, to) = span.map_err(|error| error.to_string())?;
        let found = labels.range(from..=to)?;
        if found.is_empty() {
            return Err(format!("has no label within {self:?}"));
        }
        Ok(Located::Range(found))
    }
}
