//! How operands lie: each layout makes, of elements on a device, operands that broadcast to one shape.

use nomina_core::Result;
use nomina_runtime::{Raw, call};

/// The rows and columns of results that have two dims.
const ROWS: usize = 37;
const COLUMNS: usize = 48;
/// Elements that are enough for every layout, and for all pairs of numbers.
pub const ENOUGH: usize = 2 * (ROWS + 1) * (COLUMNS + 16);

/// A layout, and a view of one operand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One element after the other, and some that are less than an access.
    Contiguous,
    /// Rows of a wider matrix.
    Rows,
    /// No elements.
    Empty,
    /// One element.
    One,
    /// From the second element on, where wide accesses may not begin.
    Offset,
    /// The operands in turn by rows and by columns.
    Transposed,
    /// The first whole, the second a row, the third a column, the fourth one element.
    Broadcast,
    /// Every second element, and backwards.
    Steps,
    /// Six dims, none of which merge.
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

    /// Those that the modules of whole operands serve: all may run for every operator.
    pub const COMMON: [Self; 4] = [Self::Contiguous, Self::Rows, Self::Empty, Self::One];

    /// Operand `place`, of [`ENOUGH`] elements in a row.
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

    /// As row-major tensors of the result's sizes, for what they are compared by.
    pub fn whole(views: &[Raw], like: &Raw) -> Result<Vec<Raw>> {
        let whole = |x: &Raw| call::contiguous(&x.expand(like.shape())?);
        views.iter().map(whole).collect()
    }
}
