//! Operand layouts: each makes operands from elements on a device that broadcast to one shape.

use nomina_core::Result;
use nomina_runtime::{Raw, call};

/// The rows and columns of two-dimensional results.
const ROWS: usize = 37;
const COLUMNS: usize = 48;
/// The number of elements needed by the largest layout, and for all pairs of values.
pub const ENOUGH: usize = 2 * (ROWS + 1) * (COLUMNS + 16);

/// A layout of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Contiguous, with a tail shorter than one access.
    Contiguous,
    /// Rows of a wider matrix.
    Rows,
    /// No elements.
    Empty,
    /// One element.
    One,
    /// From the second element on, too unaligned for wide accesses.
    Offset,
    /// Alternately row-major and column-major operands.
    Transposed,
    /// The first operand whole, the second a row, the third a column, the fourth one element.
    Broadcast,
    /// Every second element, and backwards.
    Steps,
    /// Six dims that cannot be merged.
    Deep,
}

impl Layout {
    pub const ALL: [Self; 9] = [
        Self::Contiguous,
        Self::Rows,
        Self::Empty,
        Self::One,
        Self::Offset,
        Self::Transposed,
        Self::Broadcast,
        Self::Steps,
        Self::Deep,
    ];

    /// The layouts that need no modules of their own, so that every operator can run in all of them.
    pub const COMMON: [Self; 4] = [Self::Contiguous, Self::Rows, Self::Empty, Self::One];

    /// Returns operand `place`, a view of [`ENOUGH`] contiguous elements.
    pub fn view(self, x: &Raw, place: usize) -> Result<Raw> {
        let matrix =
            |rows: usize, columns: usize| x.narrow(0, 0, rows * columns)?.reshape(&[rows, columns]);
        Ok(match self {
            Self::Contiguous => x.narrow(0, 0, ENOUGH - 5)?,
            Self::Rows => matrix(ROWS, COLUMNS + 16)?.narrow(1, 0, COLUMNS)?,
            Self::Empty => x.narrow(0, 0, 0)?.reshape(&[0, 3])?,
            Self::One => x.narrow(0, 3 + place, 1)?,
            Self::Offset => x.narrow(0, 1, ENOUGH - 8)?,
            Self::Transposed if place % 2 == 1 => matrix(COLUMNS, ROWS)?.transpose(0, 1)?,
            Self::Transposed => matrix(ROWS, COLUMNS)?,
            Self::Broadcast => match place {
                0 => matrix(ROWS, COLUMNS)?,
                1 => matrix(1, COLUMNS)?,
                2 => matrix(ROWS, 1)?,
                _ => matrix(1, 1)?,
            },
            Self::Steps => {
                let matrix = matrix(ROWS, 2 * COLUMNS)?.slice(1, 1, COLUMNS, 2)?;
                if place == 1 { matrix.flip(0)? } else { matrix }
            }
            Self::Deep => {
                let sizes = [3, 4, 3, 4, 3, 4];
                let deep = x.narrow(0, 0, sizes.iter().product())?.reshape(&sizes)?;
                let order: [usize; 6] = match place {
                    0 => [0, 1, 2, 3, 4, 5],
                    1 => [4, 1, 2, 5, 0, 3],
                    _ => [2, 5, 0, 1, 4, 3],
                };
                let deep = deep.permute(&order)?;
                (0..6).try_fold(deep, |deep, dim| deep.narrow(dim, 1, 2))?
            }
        })
    }

    /// Returns contiguous tensors of the result's sizes, for the tolerances.
    pub fn whole(views: &[Raw], like: &Raw) -> Result<Vec<Raw>> {
        let whole = |x: &Raw| call::contiguous(&x.expand(like.shape())?);
        views.iter().map(whole).collect()
    }
}
