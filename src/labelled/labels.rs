//! The labels along one dim.

use std::any::Any;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Bound, Range};
use std::sync::{Arc, OnceLock};

use nomina_core::dims::{Label, LabelType, LabelValue, Metric};

use super::any::{AnyLabels, Difference, Fill, Located};
use super::found::Found;
use super::selection::Selection;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Rising,
    Falling,
    Other,
}

/// The labels along one dim, in order of position.
///
/// Look-ups are binary searches: labels that rise or fall strictly are searched directly, others through an index,
/// which the first look-up creates.
///
/// ```
/// use nomina::Labels;
/// let lat = Labels::new([60.0, 45.0, 30.0]);
/// assert_eq!(lat.position(&45.0), Ok(1));
/// assert_eq!(lat.range(20.0..=50.0), Ok(1..3));
/// assert_eq!(lat.nearest(&47.0, f64::INFINITY), Ok(1));
/// assert!(lat.position(&44.0).unwrap_err().contains("its neighbours are 45.0 and 30.0"));
/// ```
pub struct Labels<X> {
    values: Vec<X>,
    order: Order,
    /// Positions in rising order of labels.
    index: OnceLock<Vec<usize>>,
}

impl<X: Label> Labels<X> {
    /// Creates labels from their values.
    pub fn new(values: impl IntoIterator<Item = X>) -> Self {
        let values: Vec<X> = values.into_iter().collect();
        // Strictly, because a repeated label makes a search ambiguous.
        let all = |want| values.windows(2).all(|w| w[0].compare(&w[1]) == want);
        let order = if all(Ordering::Less) {
            Order::Rising
        } else if all(Ordering::Greater) {
            Order::Falling
        } else {
            Order::Other
        };
        Self {
            values,
            order,
            index: OnceLock::new(),
        }
    }

    /// Returns the labels in order of position.
    #[must_use]
    pub fn values(&self) -> &[X] {
        &self.values
    }

    /// Returns the number of labels.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether there are no labels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns whether the labels rise strictly.
    #[must_use]
    pub fn is_rising(&self) -> bool {
        self.order == Order::Rising
    }

    /// Returns whether the labels fall strictly.
    #[must_use]
    pub fn is_falling(&self) -> bool {
        self.order == Order::Falling && self.len() > 1
    }

    /// Returns the number of labels before a label in the order of position, which rises or falls.
    fn passed(&self, label: &X, falls: bool) -> usize {
        let (values, order) = (&self.values, |v: &X| v.compare(label));
        values.partition_point(|v| {
            if falls {
                order(v).is_gt()
            } else {
                order(v).is_lt()
            }
        })
    }

    /// Returns the positions in rising order of labels; equal labels keep their order.
    pub(super) fn rising(&self) -> Vec<usize> {
        let mut index: Vec<usize> = (0..self.len()).collect();
        match self.order {
            Order::Rising => {}
            Order::Falling => index.reverse(),
            Order::Other => index.sort_by(|a, b| self.values[*a].compare(&self.values[*b])),
        }
        index
    }

    /// Returns the first two positions of a label.
    fn find_two(&self, label: &X) -> (Option<usize>, Option<usize>) {
        let values = &self.values;
        match self.order {
            Order::Rising => (values.binary_search_by(|v| v.compare(label)).ok(), None),
            Order::Falling => (values.binary_search_by(|v| label.compare(v)).ok(), None),
            Order::Other => {
                let index = self.index.get_or_init(|| self.rising());
                let from = index.partition_point(|i| values[*i].compare(label).is_lt());
                let mut equal = index[from..]
                    .iter()
                    .copied()
                    .take_while(|i| values[*i].compare(label).is_eq());
                (equal.next(), equal.next())
            }
        }
    }

    /// Returns the position of a label.
    ///
    /// # Errors
    /// If no element has the label, or several have it.
    pub fn position(&self, label: &X) -> Found<usize> {
        match self.find_two(label) {
            (Some(at), None) => Ok(at),
            (None, _) => Err(format!(
                "has no label {}; {}",
                label.to_text(),
                self.surroundings(label)
            )),
            (Some(a), Some(b)) => Err(format!(
                "has label {} more than once, at {a} and {b}",
                label.to_text()
            )),
        }
    }

    /// Returns the positions of the labels in a range, which goes from low to high also if the labels fall.
    ///
    /// # Errors
    /// If the labels neither rise nor fall.
    pub fn range(&self, range: impl std::ops::RangeBounds<X>) -> Found<Range<usize>> {
        let below = |v: &X| match range.start_bound() {
            Bound::Included(from) => v.compare(from).is_lt(),
            Bound::Excluded(from) => v.compare(from).is_le(),
            Bound::Unbounded => false,
        };
        let within = |v: &X| match range.end_bound() {
            Bound::Included(to) => v.compare(to).is_le(),
            Bound::Excluded(to) => v.compare(to).is_lt(),
            Bound::Unbounded => true,
        };
        let values = &self.values;
        let found = match self.order {
            Order::Rising => values.partition_point(below)..values.partition_point(within),
            Order::Falling => {
                values.partition_point(|v| !within(v))..values.partition_point(|v| !below(v))
            }
            Order::Other => return self.sorted_range(below, within),
        };
        Ok(found.start..found.end.max(found.start))
    }

    /// Returns a range of labels that rise or fall with repetitions.
    fn sorted_range(
        &self,
        below: impl Fn(&X) -> bool,
        within: impl Fn(&X) -> bool,
    ) -> Found<Range<usize>> {
        let all = |wrong| self.values.windows(2).all(|w| w[0].compare(&w[1]) != wrong);
        let chosen = |v: &X| !below(v) && within(v);
        if !all(Ordering::Greater) && !all(Ordering::Less) {
            return Err(
                "has labels that neither rise nor fall, so a range of them is not a range of positions; `sort_by` the \
                 dim first"
                    .into(),
            );
        }
        let start = self.values.iter().position(chosen).unwrap_or(0);
        let count = self.values[start..]
            .iter()
            .take_while(|v| chosen(v))
            .count();
        Ok(start..start + count)
    }

    /// Describes the labels around a missing one.
    fn surroundings(&self, label: &X) -> String {
        let (Some(first), Some(last)) = (self.values.first(), self.values.last()) else {
            return "there are no labels".into();
        };
        let at = match self.order {
            Order::Rising => self.values.partition_point(|v| v.compare(label).is_lt()),
            Order::Falling => self.values.partition_point(|v| v.compare(label).is_gt()),
            Order::Other => {
                let shown: Vec<_> = self.values.iter().take(6).map(Label::to_text).collect();
                let more = if self.len() > 6 { ", …" } else { "" };
                return format!("its {} labels are {}{more}", self.len(), shown.join(", "));
            }
        };
        match (
            at.checked_sub(1).map(|i| &self.values[i]),
            self.values.get(at),
        ) {
            (Some(a), Some(b)) => format!("its neighbours are {} and {}", a.to_text(), b.to_text()),
            _ => format!("labels go from {} to {}", first.to_text(), last.to_text()),
        }
    }

    /// Returns the position of the nearest label; of two equally near ones the greater, as in pandas.
    fn nearest_to(&self, label: &X) -> Option<(usize, f64)> {
        let distance = |i: usize| self.values[i].difference(label).map(f64::abs);
        if self.order == Order::Other {
            let all = (0..self.len()).filter_map(|i| Some((i, distance(i)?)));
            let nearer = |a: &(usize, f64), b: &(usize, f64)| {
                a.1.total_cmp(&b.1)
                    .then_with(|| self.values[b.0].compare(&self.values[a.0]))
            };
            return all.min_by(nearer);
        }
        let falls = self.order == Order::Falling;
        let after = self.passed(label, falls);
        let side = |i: Option<usize>| {
            i.filter(|i| *i < self.len())
                .and_then(|i| Some((i, distance(i)?)))
        };
        match (side(after.checked_sub(1)), side(Some(after))) {
            (Some(a), Some(b)) if a.1 < b.1 || (a.1 == b.1 && falls) => Some(a),
            (_, Some(b)) => Some(b),
            (a, None) => a,
        }
    }

    pub(super) fn nearest_within(&self, label: &X, tolerance: f64) -> Found<usize> {
        match self.nearest_to(label) {
            Some((at, distance)) if distance <= tolerance => Ok(at),
            Some((at, _)) => Err(format!(
                "has no label within {tolerance} of {}; the nearest is {}",
                label.to_text(),
                self.values[at].to_text()
            )),
            None if self.is_empty() => Err("has no labels at all".into()),
            None => Err(format!(
                "has labels of type {}, which have no distance",
                X::TYPE.name()
            )),
        }
    }

    fn read(&self, value: &LabelValue) -> Found<X> {
        X::from_value(value).ok_or_else(|| {
            format!(
                "has labels of type {}, and {} is not one",
                X::TYPE.name(),
                value.to_text()
            )
        })
    }

    /// Returns the first and the last label of a value: a part of a date is a span.
    fn read_span(&self, value: &LabelValue) -> Found<(X, X)> {
        if let LabelValue::Text(text) = value
            && let Some(span) = X::span(text)
        {
            return span;
        }
        self.read(value).map(|label| (label.clone(), label))
    }

    pub(super) fn shared(values: impl IntoIterator<Item = X>) -> Arc<dyn AnyLabels> {
        Arc::new(Self::new(values))
    }

    /// Returns the position for a label of another list, or none.
    fn fill_position(&self, label: &X, fill: Fill) -> Found<Option<usize>> {
        match self.find_two(label) {
            (Some(_), Some(_)) => return self.position(label).map(Some),
            (Some(at), None) => return Ok(Some(at)),
            (None, _) => {}
        }
        let falls = self.order == Order::Falling;
        let neighbour = |lower: bool| {
            let passed = self.passed(label, falls);
            if falls == lower {
                Some(passed).filter(|i| *i < self.len())
            } else {
                passed.checked_sub(1)
            }
        };
        let sorted = || match self.order {
            Order::Other => {
                Err("has labels that neither rise nor fall; `sort_by` the dim first".to_owned())
            }
            _ => Ok(()),
        };
        match fill {
            Fill::Missing => Ok(None),
            Fill::Nearest(tolerance) => Ok(self
                .nearest_to(label)
                .filter(|n| n.1 <= tolerance)
                .map(|n| n.0)),
            Fill::Before => sorted().map(|()| neighbour(true)),
            Fill::After => sorted().map(|()| neighbour(false)),
        }
    }
}

impl<X: Metric> Labels<X> {
    /// Returns the position of the nearest label that is at most `tolerance` away, in units of the label (times in
    /// nanoseconds).
    ///
    /// # Errors
    /// If no label is so near.
    pub fn nearest(&self, label: &X, tolerance: f64) -> Found<usize> {
        self.nearest_within(label, tolerance)
    }
}

impl<X: Label> FromIterator<X> for Labels<X> {
    fn from_iter<I: IntoIterator<Item = X>>(values: I) -> Self {
        Self::new(values)
    }
}

impl<X: Label> PartialEq for Labels<X> {
    fn eq(&self, other: &Self) -> bool {
        self.first_difference(other).is_none()
    }
}

impl<X: Label> fmt::Debug for Labels<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.values).finish()
    }
}

impl<X: Label> AnyLabels for Labels<X> {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn len(&self) -> usize {
        self.values.len()
    }
    fn label_type(&self) -> LabelType {
        X::TYPE
    }
    fn text(&self, at: usize) -> String {
        self.values[at].to_text()
    }
    fn value(&self, at: usize) -> LabelValue {
        self.values[at].to_value()
    }
    fn first_difference(&self, other: &dyn AnyLabels) -> Option<Difference> {
        let Some(other) = other.as_any().downcast_ref::<Self>() else {
            return Some(Difference::Type);
        };
        let mut pairs = self.values.iter().zip(&other.values);
        match pairs.position(|(a, b)| a.compare(b).is_ne()) {
            Some(at) => Some(Difference::At(at)),
            None if self.len() != other.len() => Some(Difference::Length),
            None => None,
        }
    }
    fn slice(&self, range: Range<usize>) -> Arc<dyn AnyLabels> {
        Self::shared(self.values[range].iter().cloned())
    }
    fn take(&self, positions: &[usize]) -> Arc<dyn AnyLabels> {
        Self::shared(positions.iter().map(|i| self.values[*i].clone()))
    }
    fn find(&self, selection: &Selection) -> Found<Located> {
        let included = |bound: &Bound<LabelValue>, last: bool| -> Found<Bound<X>> {
            let pick = |value: &LabelValue, last: bool| {
                self.read_span(value)
                    .map(|span| if last { span.1 } else { span.0 })
            };
            Ok(match bound {
                Bound::Unbounded => Bound::Unbounded,
                Bound::Included(value) => Bound::Included(pick(value, last)?),
                Bound::Excluded(value) => Bound::Excluded(pick(value, !last)?),
            })
        };
        match selection {
            Selection::One(LabelValue::Text(text)) if X::span(text).is_some() => {
                let span = self.read_span(&LabelValue::Text(text.clone()))?;
                let found = self.range(span.0..=span.1)?;
                if found.is_empty() {
                    return Err(format!("has no label within {text:?}"));
                }
                Ok(Located::Range(found))
            }
            Selection::One(value) => self.position(&self.read(value)?).map(Located::One),
            Selection::At(value) => self.position(&self.read_span(value)?.0).map(Located::One),
            Selection::Nearest(value, tolerance) => self
                .nearest_within(&self.read_span(value)?.0, *tolerance)
                .map(Located::One),
            Selection::Range(from, to) => self
                .range((included(from, false)?, included(to, true)?))
                .map(Located::Range),
            Selection::List(values) => {
                let each = values.iter().map(|v| self.position(&self.read_span(v)?.0));
                each.collect::<Found<_>>().map(Located::List)
            }
            Selection::All => Ok(Located::Range(0..self.len())),
        }
    }
    fn offsets(&self, origin: Option<&dyn AnyLabels>) -> Option<Vec<f64>> {
        let from = match origin {
            None => self.values.first(),
            Some(other) => other.as_any().downcast_ref::<Self>()?.values.first(),
        };
        let Some(from) = from else {
            return Some(Vec::new());
        };
        let distance = |v: &X| Some(v.difference(from)? * X::DERIVATIVE_UNIT);
        self.values.iter().map(distance).collect()
    }
    fn rising(&self) -> Vec<usize> {
        self.rising()
    }
    fn indexer(&self, target: &dyn AnyLabels, fill: Fill) -> Found<Vec<Option<usize>>> {
        let Some(target) = target.as_any().downcast_ref::<Self>() else {
            return Err(format!(
                "has labels of type {}, and the wanted ones are {}",
                X::TYPE.name(),
                target.label_type().name()
            ));
        };
        target
            .values
            .iter()
            .map(|label| self.fill_position(label, fill))
            .collect()
    }
    fn append(&self, others: &[&dyn AnyLabels]) -> Found<Arc<dyn AnyLabels>> {
        let mut all = self.values.clone();
        for other in others {
            match other.as_any().downcast_ref::<Self>() {
                Some(other) => all.extend(other.values.iter().cloned()),
                None => {
                    return Err(format!(
                        "has labels of types {} and {}",
                        X::TYPE.name(),
                        other.label_type().name()
                    ));
                }
            }
        }
        Ok(Self::shared(all))
    }
    fn groups(&self) -> (Vec<i64>, Arc<dyn AnyLabels>) {
        let mut ids = vec![0; self.len()];
        let mut keys: Vec<X> = Vec::new();
        for at in self.rising() {
            if keys
                .last()
                .is_none_or(|last| last.compare(&self.values[at]).is_ne())
            {
                keys.push(self.values[at].clone());
            }
            ids[at] = keys.len() as i64 - 1;
        }
        (ids, Self::shared(keys))
    }
}
