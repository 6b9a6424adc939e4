//! Confusion matrices, precision, recall and F1.

use std::marker::PhantomData;

use nomina::dims::{DimOf, Dims, Distinct, OneDim, Prime, SizesFor, Without};
use nomina::{DynTensor, Error, ErrorKind, IndexElement, Real, Result, Tensor, no_grad};
use nomina_macros::twin;

use super::numbers::{IGNORED, check_alike, integers, ratio};

/// The average of a score over classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Average {
    /// The score of all counts together: each element has the same weight.
    Micro,
    /// The mean of the classes' scores; classes without labels and predictions do not count.
    #[default]
    Macro,
    /// The mean of the classes' scores, weighted by the number of labels.
    Weighted,
}

/// Counts of labels and predictions of the classes along `C`, and the scores that follow from them. A score whose
/// denominator is 0 is 0.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::metrics::{Average, Confusion};
/// dims! { N, Class }
/// let mut confusion = Confusion::new(Class.of(2));
/// confusion.update(&tensor!([0, 1, 1, 1]; N), &tensor!([0, 0, 1, 1]; N));     // predictions, labels
/// assert_eq!(confusion.precisions().to_vec(), [1.0, 2.0 / 3.0]);
/// assert_eq!(confusion.recalls().to_vec(), [0.5, 1.0]);
/// assert_eq!(confusion.f1(Average::Micro), 0.75);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Confusion<C> {
    classes: usize,
    ignored: i64,
    /// By label, then by prediction.
    counts: Vec<u64>,
    dim: PhantomData<C>,
}

/// Counts of one class.
#[derive(Clone, Copy, Default)]
struct ClassCounts {
    right: f64,
    labels: f64,
    predictions: f64,
}

impl<C: OneDim> Confusion<C> {
    /// Creates the metric for a number of classes: `Class.of(10)`, or `Class` if its size is constant.
    #[must_use]
    pub fn new(of: impl SizesFor<C>) -> Self {
        let classes = of.sizes()[0];
        Self {
            classes,
            ignored: IGNORED,
            counts: vec![0; classes * classes],
            dim: PhantomData,
        }
    }

    /// Sets the label that is not counted; -100 by default.
    #[must_use]
    pub fn ignoring(mut self, label: i64) -> Self {
        self.ignored = label;
        self
    }

    /// Counts a batch of predicted classes and labels, of the same dims.
    ///
    /// # Errors
    /// If sizes differ, or a class is out of range. Nothing is counted then.
    #[twin]
    pub fn try_update<D: Dims, I: IndexElement, J: IndexElement>(
        &mut self,
        predictions: &Tensor<D, I>,
        labels: &Tensor<D, J>,
    ) -> Result<()> {
        self.count_batch(&predictions.to_dyn(), &labels.to_dyn())
    }

    /// Counts a batch of scores along `C`, of which the greatest is the prediction, and labels.
    ///
    /// # Errors
    /// If sizes differ, or a class is out of range. Nothing is counted then.
    #[twin]
    pub fn try_update_scores<D: Dims, T: Real, I: IndexElement>(
        &mut self,
        scores: &Tensor<D, T>,
        labels: &Tensor<Without<D, C>, I>,
    ) -> Result<()>
    where
        C: DimOf<D>,
    {
        let predictions = no_grad(|| scores.to_dyn().argmax(C::default()))?;
        self.count_batch(&predictions, &labels.to_dyn())
    }

    fn count_batch(&mut self, predictions: &DynTensor, labels: &DynTensor) -> Result<()> {
        check_alike("Confusion", predictions, labels)?;
        let pairs = integers(labels)?.into_iter().zip(integers(predictions)?);
        let pairs = pairs.filter(|&(label, _)| label != self.ignored);
        let places = pairs.map(|(label, predicted)| {
            Ok(self.class(label, "label")? * self.classes + self.class(predicted, "prediction")?)
        });
        for place in places.collect::<Result<Vec<usize>>>()? {
            self.counts[place] += 1;
        }
        Ok(())
    }

    fn class(&self, class: i64, what: &str) -> Result<usize> {
        let found = usize::try_from(class).ok();
        found.filter(|&found| found < self.classes).ok_or_else(|| {
            let what = format!("a {what} of {class} among {} classes", self.classes);
            let error = Error::new(ErrorKind::Index, "Confusion", what);
            error.hint("classes count from 0; `ignoring` sets a label that does not count")
        })
    }

    /// Returns the counts: labels along `C`, predictions along its prime.
    #[must_use]
    #[track_caller]
    pub fn counts(&self) -> Tensor<(C, Prime<C>), i64>
    where
        (C, Prime<C>): Distinct,
    {
        let counts = self.counts.iter().map(|&count| count as i64).collect();
        crate::ok(Tensor::from_vec(counts, [self.classes; 2]))
    }

    /// Returns the number of labels of each class.
    #[must_use]
    #[track_caller]
    pub fn support(&self) -> Tensor<(C,), i64>
    where
        (C,): Distinct,
    {
        let counts = self.each().map(|class| class.labels as i64);
        crate::ok(Tensor::from_vec(counts.collect(), [self.classes]))
    }

    fn each(&self) -> impl Iterator<Item = ClassCounts> {
        (0..self.classes).map(|class| {
            let sum = |counts: &mut dyn Iterator<Item = &u64>| counts.sum::<u64>() as f64;
            let row = class * self.classes;
            let column = self.counts[class..].iter().step_by(self.classes);
            ClassCounts {
                right: self.counts[row + class] as f64,
                labels: sum(&mut self.counts[row..row + self.classes].iter()),
                predictions: sum(&mut { column }),
            }
        })
    }

    /// Averages a score, a fraction of a class's counts.
    fn average(&self, average: Average, score: fn(ClassCounts) -> (f64, f64)) -> f64 {
        let (mut numerator, mut denominator) = (0.0, 0.0);
        for class in self.each() {
            let (above, below) = score(class);
            let (value, weight) = match average {
                Average::Micro => (above, below),
                Average::Macro => {
                    let occurs = class.labels + class.predictions > 0.0;
                    (ratio(above, below), f64::from(u8::from(occurs)))
                }
                Average::Weighted => (class.labels * ratio(above, below), class.labels),
            };
            numerator += value;
            denominator += weight;
        }
        ratio(numerator, denominator)
    }

    #[track_caller]
    fn by_class(&self, score: fn(ClassCounts) -> (f64, f64)) -> Tensor<(C,), f64>
    where
        (C,): Distinct,
    {
        let scores = self.each().map(|class| {
            let (above, below) = score(class);
            ratio(above, below)
        });
        crate::ok(Tensor::from_vec(scores.collect(), [self.classes]))
    }

    /// Returns the share of labels that were predicted.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        self.average(Average::Micro, recall)
    }

    /// Adds the counts of another thread or rank.
    ///
    /// # Panics
    /// If it has another number of classes.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(
            self.classes, other.classes,
            "Confusion: the numbers of classes differ"
        );
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            *count += other;
        }
    }

    /// Forgets all batches.
    pub fn reset(&mut self) {
        self.counts.fill(0);
    }
}

fn precision(class: ClassCounts) -> (f64, f64) {
    (class.right, class.predictions)
}

fn recall(class: ClassCounts) -> (f64, f64) {
    (class.right, class.labels)
}

fn f1(class: ClassCounts) -> (f64, f64) {
    (2.0 * class.right, class.labels + class.predictions)
}

/// Implements the methods of a score.
macro_rules! scores {
    ($($one:ident $each:ident: $what:literal;)*) => {
        impl<C: OneDim> Confusion<C> {$(
            #[doc = concat!("Returns ", $what, ", averaged over classes.")]
            #[must_use]
            pub fn $one(&self, average: Average) -> f64 {
                self.average(average, $one)
            }

            #[doc = concat!("Returns ", $what, ", for each class.")]
            #[must_use]
            #[track_caller]
            pub fn $each(&self) -> Tensor<(C,), f64>
            where
                (C,): Distinct,
            {
                self.by_class($one)
            }
        )*}
    };
}
scores! {
    precision precisions: "the share of right ones among a class's predictions";
    recall recalls: "the share of right ones among a class's labels";
    f1 f1s: "the harmonic mean of precision and recall";
}
