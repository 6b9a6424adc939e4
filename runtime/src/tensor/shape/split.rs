//! Splitting a dim into pieces.

use std::borrow::Cow;

use nomina_core::rule::DimRef;
use nomina_core::{Error, ErrorKind, Result};

use crate::call;
use crate::memory::list;
use crate::tensor::{DynTensor, about};

/// The cuts of a dim: a number of pieces, or indices, which may count from the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sections<'a> {
    /// The number of pieces.
    Count(i64),
    /// The indices to cut before.
    At(Cow<'a, [i64]>),
}

impl From<i64> for Sections<'_> {
    fn from(count: i64) -> Self {
        Self::Count(count)
    }
}

impl<'a> From<&'a [i64]> for Sections<'a> {
    fn from(indices: &'a [i64]) -> Self {
        Self::At(indices.into())
    }
}

impl<const K: usize> From<[i64; K]> for Sections<'_> {
    fn from(indices: [i64; K]) -> Self {
        Self::At(indices.to_vec().into())
    }
}

impl From<Vec<i64>> for Sections<'_> {
    fn from(indices: Vec<i64>) -> Self {
        Self::At(indices.into())
    }
}

impl DynTensor {
    /// Splits a dim into at most `chunks` pieces of equal size; the last may be smaller.
    ///
    /// # Errors
    /// If the dim does not exist, [`ErrorKind::Argument`] if `chunks` is not at least 1.
    pub fn chunk<'a>(&self, chunks: i64, dim: impl Into<DimRef<'a>>) -> Result<Vec<Self>> {
        let at = self.dim_of("chunk", dim.into())?;
        let ranges = call::chunks("chunk", self.shape()[at], chunks)
            .map_err(|e| about(e.at(0, at), &[self]))?;
        self.pieces("chunk", at, &ranges)
    }

    /// Splits a dim into a number of pieces whose sizes differ by at most one, or at indices, which
    /// may count from the end and be out of range.
    ///
    /// # Errors
    /// If the dim does not exist, [`ErrorKind::Argument`] if the number is not at least 1.
    pub fn tensor_split<'a, 'b>(
        &self,
        sections: impl Into<Sections<'a>>,
        dim: impl Into<DimRef<'b>>,
    ) -> Result<Vec<Self>> {
        let at = self.dim_of("tensor_split", dim.into())?;
        let ranges = match sections.into() {
            Sections::Count(count) => call::sections("tensor_split", self.shape()[at], count),
            Sections::At(indices) => Ok(call::cuts(self.shape()[at], &indices)),
        };
        let ranges = ranges.map_err(|e| about(e.at(0, at), &[self]))?;
        self.pieces("tensor_split", at, &ranges)
    }

    /// Splits the second dim, or the only dim of a vector, into equal pieces or at indices.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for a number, [`ErrorKind::Shape`] if the dim does not divide.
    pub fn hsplit<'a>(&self, sections: impl Into<Sections<'a>>) -> Result<Vec<Self>> {
        self.at_least("hsplit", 1)?;
        self.evenly("hsplit", sections.into(), usize::from(self.rank() > 1))
    }

    /// Splits the first dim into equal pieces or at indices.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for fewer than two dims, [`ErrorKind::Shape`] if the dim does not
    /// divide.
    pub fn vsplit<'a>(&self, sections: impl Into<Sections<'a>>) -> Result<Vec<Self>> {
        self.at_least("vsplit", 2)?;
        self.evenly("vsplit", sections.into(), 0)
    }

    /// Splits the third dim into equal pieces or at indices.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for fewer than three dims, [`ErrorKind::Shape`] if the dim does not
    /// divide.
    pub fn dsplit<'a>(&self, sections: impl Into<Sections<'a>>) -> Result<Vec<Self>> {
        self.at_least("dsplit", 3)?;
        self.evenly("dsplit", sections.into(), 2)
    }

    fn evenly(&self, op: &'static str, sections: Sections<'_>, at: usize) -> Result<Vec<Self>> {
        let size = self.shape()[at];
        let ranges = match sections {
            Sections::Count(count) if count > 0 && !(size as u64).is_multiple_of(count as u64) => {
                let what = format!("{count} does not divide size {size}");
                Err(Error::new(ErrorKind::Shape, op, what)
                    .hint("`tensor_split` makes pieces of unequal sizes"))
            }
            Sections::Count(count) => call::sections(op, size, count),
            Sections::At(indices) => Ok(call::cuts(size, &indices)),
        };
        let ranges = ranges.map_err(|e| about(e.at(0, at), &[self]))?;
        self.pieces(op, at, &ranges)
    }

    fn dim_of(&self, op: &'static str, dim: DimRef<'_>) -> Result<usize> {
        dim.position(op, &self.names).map_err(|e| about(e, &[self]))
    }

    fn pieces(&self, op: &'static str, at: usize, ranges: &[(usize, usize)]) -> Result<Vec<Self>> {
        let mut pieces = list(op, [ranges.len()]).map_err(|e| about(e, &[self]))?;
        for &(start, len) in ranges {
            let piece = self.raw.narrow(at, start, len)?;
            pieces.push(Self::new(piece, self.names.clone()));
        }
        Ok(pieces)
    }
}
