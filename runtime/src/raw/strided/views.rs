//! Views as changes of a layout.

use nomina_core::{ErrorKind, Result};

use super::{Strided, limit};
use crate::shape::{Strides, numel, row_major};

impl Strided {
    /// Reorders the dims, and inserts new ones of size 1 and stride 0 at each `None`.
    ///
    /// # Errors
    /// If `places` does not list every dim once.
    pub fn align(&self, places: &[Option<usize>]) -> Result<Self> {
        let order: crate::SmallVec<[usize; 8]> = places.iter().copied().flatten().collect();
        let mut aligned = self.permute(&order)?;
        for (at, place) in places.iter().enumerate() {
            if place.is_none() {
                aligned.shape.insert(at, 1);
                aligned.strides.insert(at, 0);
            }
        }
        Self::new("align", aligned.shape, aligned.strides, aligned.offset)
    }

    /// Reorders the dims: `dims[i]` becomes dim `i`.
    ///
    /// # Errors
    /// If `dims` does not list every dim once.
    pub fn permute(&self, dims: &[usize]) -> Result<Self> {
        let rank = self.shape.len();
        let mut seen = crate::SmallVec::<[bool; 8]>::from_elem(false, rank);
        for &dim in dims {
            self.check_dim("permute", dim)?;
            seen[dim] = true;
        }
        if dims.len() != rank || seen.contains(&false) {
            let what = format!("{dims:?} does not list every dim once");
            return Err(self
                .error(ErrorKind::Rank, "permute", what)
                .hint("list all dims"));
        }
        Ok(Self {
            shape: dims.iter().map(|&dim| self.shape[dim]).collect(),
            strides: dims.iter().map(|&dim| self.strides[dim]).collect(),
            offset: self.offset,
        })
    }

    /// Swaps two dims.
    ///
    /// # Errors
    /// If a dim is out of range.
    pub fn transpose(mut self, dim0: usize, dim1: usize) -> Result<Self> {
        self.check_dim("transpose", dim0)?;
        self.check_dim("transpose", dim1)?;
        self.shape.swap(dim0, dim1);
        self.strides.swap(dim0, dim1);
        Ok(self)
    }

    /// Selects `len` elements of a dim, from `start` on.
    ///
    /// # Errors
    /// If the range leaves the dim.
    pub fn narrow(self, dim: usize, start: usize, len: usize) -> Result<Self> {
        self.range("narrow", dim, start, len, 1)
    }

    /// Selects `len` elements of a dim from `start` on, `step` apart; backwards if `step` is negative.
    ///
    /// # Errors
    /// If an index leaves the dim, or `step` is zero.
    pub fn slice(self, dim: usize, start: usize, len: usize, step: isize) -> Result<Self> {
        self.range("slice", dim, start, len, step)
    }

    fn range(
        mut self,
        op: &'static str,
        dim: usize,
        start: usize,
        len: usize,
        step: isize,
    ) -> Result<Self> {
        self.check_dim(op, dim)?;
        let size = self.shape[dim];
        let last = len.checked_sub(1).map(|last| {
            let reach = isize::try_from(last)
                .ok()
                .and_then(|last| last.checked_mul(step));
            reach.and_then(|reach| start.checked_add_signed(reach))
        });
        let fits = match last {
            None => start <= size,
            Some(last) => start < size && last.is_some_and(|last| last < size),
        };
        if !fits || step == 0 {
            let what = match step {
                1 => format!("{len} elements from index {start} exceed size {size},"),
                _ => format!(
                    "{len} elements from index {start} in steps of {step} exceed size {size},"
                ),
            };
            return Err(self
                .error(ErrorKind::Index, op, what)
                .at(0, dim)
                .hint("stay within the dim"));
        }
        if len > 0 {
            self.advance(dim, start);
        }
        self.shape[dim] = len;
        // With fewer than two elements the stride is not used.
        if len > 1 {
            let stride = &mut self.strides[dim];
            *stride = stride.saturating_mul(step);
            limit(stride);
        }
        Ok(self)
    }

    /// Moves the first element to index `start` of `dim`. A tensor without elements keeps its position, which is known
    /// to be inside of the buffer.
    fn advance(&mut self, dim: usize, start: usize) {
        if !self.shape.contains(&0) {
            self.offset = self
                .offset
                .wrapping_add_signed(self.strides[dim].wrapping_mul(start as isize));
        }
    }

    /// Selects one index of a dim, and removes the dim.
    ///
    /// # Errors
    /// If the index is out of range.
    pub fn select(mut self, dim: usize, index: usize) -> Result<Self> {
        self.check_dim("select", dim)?;
        if index >= self.shape[dim] {
            let what = format!("index {index} is outside of {}", self.shape[dim]);
            return Err(self
                .error(ErrorKind::Index, "select", what)
                .at(0, dim)
                .hint("stay within the dim"));
        }
        self.advance(dim, index);
        self.shape.remove(dim);
        self.strides.remove(dim);
        Ok(self)
    }

    /// Inserts a new dim of size 1 before dim `at`.
    ///
    /// # Errors
    /// If `at` is greater than the rank.
    pub fn unsqueeze(mut self, at: usize) -> Result<Self> {
        if at > self.shape.len() {
            self.check_dim("unsqueeze", at)?;
        }
        // The stride that a row-major tensor would have there.
        let stride = match (self.shape.get(at), self.strides.get(at)) {
            (Some(&size), Some(&stride)) => stride.saturating_mul(size.max(1) as isize),
            _ => 1,
        };
        self.shape.insert(at, 1);
        self.strides.insert(at, stride);
        Self::new("unsqueeze", self.shape, self.strides, self.offset)
    }

    /// Removes a dim of size 1; a dim of another size is kept.
    ///
    /// # Errors
    /// If the dim is out of range.
    pub fn squeeze(mut self, dim: usize) -> Result<Self> {
        self.check_dim("squeeze", dim)?;
        if self.shape[dim] == 1 {
            self.shape.remove(dim);
            self.strides.remove(dim);
        }
        Ok(self)
    }

    /// Repeats dims of size 1, and adds new dims on the left, to reach `shape`.
    ///
    /// # Errors
    /// If another size would change, or the result has too many elements.
    pub fn expand(&self, shape: &[usize]) -> Result<Self> {
        let fits = shape.len().checked_sub(self.shape.len()).filter(|&left| {
            self.shape
                .iter()
                .zip(&shape[left..])
                .all(|(&from, &to)| from == to || from == 1)
        });
        let Some(left) = fits else {
            let what = format!("the sizes do not expand to {shape:?}");
            return Err(self
                .error(ErrorKind::Shape, "expand", what)
                .hint("only dims of size 1 repeat; new dims go on the left"));
        };
        let mut strides = Strides::from_elem(0, shape.len());
        for (dim, &stride) in self.strides.iter().enumerate() {
            if self.shape[dim] == shape[left + dim] {
                strides[left + dim] = stride;
            }
        }
        Self::new("expand", shape.into(), strides, self.offset)
    }

    /// Reverses a dim.
    ///
    /// # Errors
    /// If the dim is out of range.
    pub fn flip(mut self, dim: usize) -> Result<Self> {
        self.check_dim("flip", dim)?;
        self.advance(dim, self.shape[dim].saturating_sub(1));
        self.strides[dim] = self.strides[dim].wrapping_neg();
        Ok(self)
    }

    /// Returns the diagonal of two dims as a new last dim; `offset` moves it up, or down if negative.
    ///
    /// # Errors
    /// If a dim is out of range, or both are the same.
    pub fn diagonal(mut self, dim0: usize, dim1: usize, offset: isize) -> Result<Self> {
        self.check_dim("diagonal", dim0)?;
        self.check_dim("diagonal", dim1)?;
        if dim0 == dim1 {
            let what = format!("dim {dim0} twice");
            return Err(self
                .error(ErrorKind::Argument, "diagonal", what)
                .hint("use two dims"));
        }
        let (down, right) = if offset < 0 {
            (offset.unsigned_abs(), 0)
        } else {
            (0, offset as usize)
        };
        let rows = self.shape[dim0].saturating_sub(down);
        let columns = self.shape[dim1].saturating_sub(right);
        let size = rows.min(columns);
        if size > 0 {
            self.advance(dim0, down);
            self.advance(dim1, right);
        }
        let stride = self.strides[dim0].wrapping_add(self.strides[dim1]);
        for dim in [dim0.max(dim1), dim0.min(dim1)] {
            self.shape.remove(dim);
            self.strides.remove(dim);
        }
        self.shape.push(size);
        self.strides.push(stride);
        Self::new("diagonal", self.shape, self.strides, self.offset)
    }

    /// Returns windows of `size` elements of a dim that begin `step` apart; the dim within a window is last.
    ///
    /// # Errors
    /// If the dim is out of range, a window is larger than it, or `step` is zero.
    pub fn windows(mut self, dim: usize, size: usize, step: usize) -> Result<Self> {
        self.check_dim("unfold", dim)?;
        let whole = self.shape[dim];
        let Some(room) = whole.checked_sub(size).filter(|_| step > 0) else {
            let what =
                format!("windows of {size} elements in steps of {step} over {whole} elements");
            return Err(self
                .error(ErrorKind::Shape, "unfold", what)
                .at(0, dim)
                .hint("windows fit into the dim, steps are at least 1"));
        };
        let stride = self.strides[dim];
        self.shape[dim] = room / step + 1;
        self.shape.push(size);
        // A step beyond the limit is never used.
        let step = isize::try_from(step).unwrap_or(isize::MAX);
        self.strides[dim] = stride.saturating_mul(step);
        self.strides.push(stride);
        Self::new("unfold", self.shape, self.strides, self.offset)
    }

    /// Returns the same elements in row-major order with other sizes, if the strides allow it.
    #[must_use]
    pub fn view(&self, shape: &[usize]) -> Option<Self> {
        let count = numel("view", shape).ok()?;
        if count != self.numel() {
            return None;
        }
        if count == 0 || self.is_contiguous() {
            return Some(Self {
                shape: shape.into(),
                strides: row_major(shape),
                offset: self.offset,
            });
        }
        let mut strides = Strides::from_elem(0, shape.len());
        // From the right: a run of old dims that merge into one is split into new dims.
        let mut new = shape.len();
        let mut old = self.shape.len();
        while old > 0 {
            old -= 1;
            let base = self.strides[old];
            let mut run = self.shape[old];
            while old > 0
                && (self.shape[old - 1] == 1 || self.strides[old - 1] == base * run as isize)
            {
                old -= 1;
                run *= self.shape[old];
            }
            // A dim of size 1 has no meaningful stride to start a run with.
            if run == 1 {
                continue;
            }
            let mut covered = 1;
            while new > 0 && (covered < run || shape[new - 1] == 1) {
                new -= 1;
                strides[new] = base * covered as isize;
                covered *= shape[new];
            }
            if covered != run {
                return None;
            }
        }
        Some(Self {
            shape: shape.into(),
            strides,
            offset: self.offset,
        })
    }
}
