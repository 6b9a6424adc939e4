//! Progress bars with values by name.

use std::borrow::Cow;
use std::fmt;

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar of [`indicatif`] with a title and values by name. It is drawn on a terminal only.
///
/// ```
/// use nomina_nn::metrics::Mean;
/// use nomina_nn::progress::Progress;
/// let mut loss = Mean::default();
/// let mut progress = Progress::new("training", 10);
/// for step in 0..10 {
///     loss.update(1.0 / f64::from(step + 1), 1);
///     progress.show("loss", loss.value());
///     progress.advance(1);
/// }
/// assert_eq!(progress.message(), "loss 0.2929");
/// progress.finish();
/// ```
pub struct Progress {
    bar: ProgressBar,
    values: Vec<(Cow<'static, str>, f64)>,
}

impl Progress {
    /// Creates a bar of `len` steps.
    #[must_use]
    pub fn new(title: impl Into<Cow<'static, str>>, len: usize) -> Self {
        const STYLE: &str = "{prefix} {bar:40} {pos} of {len}, {elapsed} of {duration}  {msg}";
        let bar = ProgressBar::new(len as u64).with_prefix(title.into());
        // The template is a constant; without it, the default style remains.
        if let Ok(style) = ProgressStyle::with_template(STYLE) {
            bar.set_style(style);
        }
        Self {
            bar,
            values: Vec::new(),
        }
    }

    /// Returns an iterator that advances the bar by each item.
    ///
    /// ```
    /// use nomina_nn::progress::Progress;
    /// let progress = Progress::new("epoch 0", 3);
    /// assert_eq!(progress.track(0..3).sum::<i32>(), 3);
    /// assert_eq!(progress.bar().position(), 3);
    /// ```
    pub fn track<I: IntoIterator>(&self, items: I) -> impl Iterator<Item = I::Item> + use<I> {
        let bar = self.bar.clone();
        items.into_iter().inspect(move |_| bar.inc(1))
    }

    /// Advances the bar.
    pub fn advance(&self, steps: usize) {
        self.bar.inc(steps as u64);
    }

    /// Sets the number of finished steps.
    pub fn set_position(&self, steps: usize) {
        self.bar.set_position(steps as u64);
    }

    /// Shows a value behind the bar, in place of an earlier one of the same name.
    pub fn show(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<f64>) {
        let (name, value) = (name.into(), value.into());
        match self.values.iter_mut().find(|(known, _)| *known == name) {
            Some((_, shown)) => *shown = value,
            None => self.values.push((name, value)),
        }
        self.bar.set_message(self.message());
    }

    /// Returns the text of the values: `loss 0.2929, accuracy 0.9800`.
    #[must_use]
    pub fn message(&self) -> String {
        let each = self.values.iter();
        let each: Vec<String> = each
            .map(|(name, value)| format!("{name} {value:.4}"))
            .collect();
        each.join(", ")
    }

    /// Prints a line above the bar.
    pub fn print_line(&self, line: impl AsRef<str>) {
        self.bar.println(line);
    }

    /// Returns the bar, for its other methods.
    #[must_use]
    pub fn bar(&self) -> &ProgressBar {
        &self.bar
    }

    /// Removes the bar from the terminal. Dropping it does so as well.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress")
            .field("position", &self.bar.position())
            .field("message", &self.message())
            .finish_non_exhaustive()
    }
}
