//! Operators on neighbouring elements of a split dim: differences, windows and rolling.

use nomina::{DiffOptions, DynTensor, Error, ErrorKind, Result, Scalar};

use super::SplitDim;
use super::route::Route;
use super::window::{Window, WindowInput, WindowResult};
use crate::partition::part;

impl SplitDim {
    /// Takes the differences of neighbours, `options.n` times.
    pub(crate) fn diff(&self, x: &DynTensor, options: DiffOptions) -> Result<WindowResult> {
        let times = usize::try_from(options.n).ok();
        let Some(span) = times.and_then(|times| times.checked_add(1)) else {
            let what = format!("{} times", options.n);
            return Err(Error::new(ErrorKind::Argument, self.op, what).hint("give 0 or more"));
        };
        if span > self.size() {
            // No elements are left, on any rank.
            let none = x.narrow(self.dim, 0, 0)?;
            return Ok(WindowResult {
                local: none,
                sizes: vec![(self.dim, 0)],
            });
        }
        let window = Window {
            span,
            stride: 1,
            padding: [0, 0],
            ceil: false,
        };
        let input = self.fetch_windows(x, &window, Scalar::Int(0))?;
        let found = input.x.diff_with(self.dim, options)?;
        self.finish(&input, found)
    }

    fn finish(&self, input: &WindowInput, found: DynTensor) -> Result<WindowResult> {
        Ok(WindowResult {
            local: input.own_results(self.op, found, self.dim, &[])?,
            sizes: vec![(self.dim, input.all_count)],
        })
    }

    /// Returns windows of elements, in a new last dim.
    pub(crate) fn unfold(
        &self,
        x: &DynTensor,
        span: usize,
        stride: usize,
        outdim: Option<&str>,
    ) -> Result<WindowResult> {
        let window = Window {
            span,
            stride,
            padding: [0, 0],
            ceil: false,
        };
        let input = self.fetch_windows(x, &window, Scalar::Int(0))?;
        let found = input.x.unfold(self.dim, span, stride, outdim)?;
        self.finish(&input, found)
    }

    /// Rolls the elements by `shift`, wrapping around.
    pub(crate) fn roll(&self, x: &DynTensor, shift: i64) -> Result<DynTensor> {
        let (size, ranks) = (self.size(), self.ranks());
        let Ok(shift) = usize::try_from(shift.rem_euclid((size.max(1)) as i64)) else {
            return Ok(x.clone());
        };
        let wants = |rank| {
            let (start, len) = part(size, ranks, rank);
            // The source of this rank's first element.
            let first = (start + size - shift) % size.max(1);
            let until_end = len.min(size - first);
            vec![(first, until_end), (0, len - until_end)]
        };
        let wants = (0..ranks).map(wants).collect();
        self.fetch(x, &Route::from_partition(size, ranks, wants))
    }
}
