//! Grids, blocks and combinations.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Names, Promoter, Result, Scalar, rule};
use nomina_macros::forms;

use crate::call;
use crate::config::default_dtype;
use crate::raw::Raw;
use crate::tensor::{DynTensor, about};

/// The assignment of vectors to the dims of a grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Indexing {
    /// The first vector is along the first dim, the second along the second: rows and columns.
    #[default]
    Ij,
    /// The first vector is along the second dim, the second along the first: x and y.
    Xy,
}

/// Options of `meshgrid_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeshgridOptions {
    /// The assignment of vectors to dims.
    pub indexing: Indexing,
}

/// Options of `vander_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VanderOptions {
    /// The number of powers; by default that of the elements.
    pub n: Option<usize>,
    /// Whether powers ascend from 0.
    pub increasing: bool,
}

impl DynTensor {
    /// Expands each vector over the grid of all of them, without a copy: the grid has the dim of
    /// each vector, in their order.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for more than one dim, [`ErrorKind::DuplicateNames`] for two dims of
    /// one name, [`ErrorKind::DType`] if dtypes differ, [`ErrorKind::Argument`] for no tensors.
    pub fn meshgrid(tensors: &[&Self]) -> Result<Vec<Self>> {
        Self::meshgrid_with(tensors, MeshgridOptions::default())
    }

    /// Like [`DynTensor::meshgrid`], but with the first two dims in either order.
    ///
    /// # Errors
    /// Like [`DynTensor::meshgrid`].
    pub fn meshgrid_with(tensors: &[&Self], options: MeshgridOptions) -> Result<Vec<Self>> {
        let fail = |e: Error| about(e, tensors);
        let operands: Vec<(&Names, &[usize])> =
            tensors.iter().map(|x| (&x.names, x.shape())).collect();
        let (names, sizes) = rule::meshgrid("meshgrid", &operands)?;
        one_dtype("meshgrid", tensors)?;
        let raws: Vec<&Raw> = tensors.iter().map(|x| &x.raw).collect();
        call::same_device("meshgrid", &raws).map_err(fail)?;
        let swap = options.indexing == Indexing::Xy && tensors.len() > 1;
        let one = |(at, x): (usize, &&Self)| {
            let mut raw = x.raw.clone();
            for dim in 0..tensors.len() {
                if dim != at || x.rank() == 0 {
                    raw = raw.unsqueeze(dim)?;
                }
            }
            let raw = raw.expand(&sizes)?;
            if !swap {
                return Ok(Self::new(raw, names.clone()));
            }
            let mut names = names.clone();
            names.swap(0, 1);
            Ok(Self::new(raw.transpose(0, 1)?, names))
        };
        tensors
            .iter()
            .enumerate()
            .map(one)
            .collect::<Result<_>>()
            .map_err(fail)
    }

    /// Returns a matrix with the given matrices along its diagonal and zeros elsewhere; vectors are
    /// rows. The names of rows unify, and those of columns.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for more than two dims. Also if names do not unify, or sizes overflow.
    pub fn block_diag(tensors: &[&Self]) -> Result<Self> {
        let op = "block_diag";
        let fail = |e: Error| about(e.in_op(op), tensors);
        let operands: Vec<(&Names, &[usize])> =
            tensors.iter().map(|x| (&x.names, x.shape())).collect();
        let names = rule::block_diag(op, &operands).map_err(fail)?;
        let mut promoter = Promoter::new(default_dtype());
        let mut shape = [0_usize; 2];
        let mut blocks = Vec::with_capacity(tensors.len());
        for x in tensors {
            let block = x.atleast_2d()?;
            promoter.tensor(x.dtype(), 2);
            for (whole, part) in shape.iter_mut().zip(block.shape()) {
                // An overflow is refused on allocation.
                *whole = whole.saturating_add(*part);
            }
            blocks.push(block);
        }
        let dtype = if tensors.is_empty() {
            default_dtype()
        } else {
            promoter.result()
        };
        // Without tensors, the result is a row without elements.
        shape[0] = shape[0].max(usize::from(tensors.is_empty()));
        let device = tensors
            .first()
            .map_or_else(Default::default, |x| x.device());
        let mut raw = Raw::zeros(op, &shape, dtype, device).map_err(fail)?;
        let mut at = [0, 0];
        for block in &blocks {
            let &[rows, columns] = block.shape() else {
                continue;
            };
            let place = raw
                .as_mut()
                .and_then(|raw| raw.narrow(0, at[0], rows)?.narrow(1, at[1], columns));
            place
                .and_then(|place| call::copy_into(place, &block.raw))
                .map_err(fail)?;
            at = [at[0] + rows, at[1] + columns];
        }
        Ok(Self::new(raw, names))
    }

    /// Returns all combinations of one element of each vector, a row each, in two unnamed dims; for
    /// one vector, the vector itself.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] if a tensor is not a vector, [`ErrorKind::DType`] if dtypes differ.
    pub fn cartesian_prod(tensors: &[&Self]) -> Result<Self> {
        let op = "cartesian_prod";
        let fail = |e: Error| about(e.in_op(op), tensors);
        if let Some(x) = tensors.iter().find(|x| x.rank() != 1) {
            let what = format!("a tensor with {} dims, not one", x.rank());
            return Err(fail(Error::new(ErrorKind::Rank, op, what)).hint("give vectors"));
        }
        if let [one] = tensors {
            return Ok((*one).clone());
        }
        one_dtype(op, tensors)?;
        let bare: Vec<Self> = tensors.iter().map(|x| x.drop_names()).collect();
        let grid = Self::meshgrid(&bare.iter().collect::<Vec<_>>()).map_err(fail)?;
        let columns = grid
            .iter()
            .map(|x| Ok(Self::new(x.raw.reshape(&[x.numel()])?, Names::unnamed(1))))
            .collect::<Result<Vec<_>>>()
            .map_err(fail)?;
        Self::stack(&columns.iter().collect::<Vec<_>>(), 1, None).map_err(fail)
    }

    /// Returns all combinations of `r` elements of a vector, a row each, in two unnamed dims; a row
    /// may contain an element repeatedly if `with_replacement` is set.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] if `self` is not a vector, [`ErrorKind::Memory`] for too many
    /// combinations.
    pub fn combinations(&self, r: usize, with_replacement: bool) -> Result<Self> {
        let op = "combinations";
        let fail = |e: Error| about(e.in_op(op), &[self]);
        if self.rank() != 1 {
            let what = format!("takes one dim, not {}", self.rank());
            return Err(fail(Error::new(ErrorKind::Rank, op, what)).hint("`flatten` it first"));
        }
        let size = self.numel();
        if r == 0 {
            let raw = Raw::zeros(op, &[0], self.dtype(), self.device()).map_err(fail)?;
            return Ok(Self::new(raw, Names::unnamed(1)));
        }
        let choices = if with_replacement {
            size.saturating_add(r - 1)
        } else {
            size
        };
        let rows = if size == 0 {
            Some(0)
        } else {
            binomial(choices, r)
        };
        let places = rows
            .and_then(|rows| chosen(size, r, with_replacement, rows))
            .ok_or_else(|| {
                let what = format!("no memory for the choices of {r} among {size}");
                fail(Error::new(ErrorKind::Memory, op, what)).hint("choose fewer")
            })?;
        let shape = [places.len() / r, r];
        let raw = Raw::from_vec(places, &shape)
            .and_then(|places| call::to_device(&places, self.device()))
            .and_then(|places| call::index_select(Op::Combinations, &self.raw, 0, &places));
        Ok(Self::new(raw.map_err(fail)?, Names::unnamed(2)))
    }

    /// Computes the powers of the elements of a vector along a new dim, with or without a name,
    /// from the highest to 0; their number is that of the elements.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] if `self` is not a vector, [`ErrorKind::DuplicateNames`] if `self` has a
    /// dim of the new name.
    #[forms(with = "but with a given number of powers, in ascending order if the options say so.")]
    pub fn vander_with<'b>(
        &self,
        outdim: impl Into<Option<&'b str>>,
        options: VanderOptions,
    ) -> Result<Self> {
        let op = "vander";
        let fail = |e: Error| about(e.in_op(op), &[self]);
        if self.rank() != 1 {
            let what = format!("takes one dim, not {}", self.rank());
            return Err(fail(Error::new(ErrorKind::Rank, op, what)).hint("`flatten` it first"));
        }
        let column = self.unsqueeze(-1, outdim.into()).map_err(fail)?;
        let count = options.n.unwrap_or(self.numel());
        let dtype = if self.dtype().is_integral() {
            nomina_core::DType::I64
        } else {
            self.dtype()
        };
        rule::numel(op, &[self.numel().max(1), count]).map_err(fail)?;
        let powers = || {
            let rows = self.numel();
            let ones = [rows, count.min(1)];
            let ones = call::full(&ones, Scalar::Int(1), dtype, self.device())?;
            let base = call::to_dtype(&column.raw, dtype)?;
            let factors = base.expand(&[rows, count.saturating_sub(1)])?;
            let products = call::scan(Op::Cumprod, &factors, 1, Some(dtype))?;
            let rising = call::cat(&[&ones, &products], 1)?;
            if options.increasing {
                Ok(rising)
            } else {
                call::flip(&rising, &[1])
            }
        };
        Ok(Self::new(powers().map_err(fail)?, column.names))
    }
}

fn one_dtype(op: &'static str, tensors: &[&DynTensor]) -> Result<()> {
    let dtypes = tensors.iter().map(|x| x.dtype());
    match dtypes.clone().find(|&dtype| dtype != tensors[0].dtype()) {
        None => Ok(()),
        Some(other) => {
            let what = format!("dtypes {} and {other} differ", tensors[0].dtype());
            Err(about(Error::new(ErrorKind::DType, op, what), tensors)
                .hint("convert one with `to`"))
        }
    }
}

/// Returns the number of ways to choose `r` of `n` things.
fn binomial(n: usize, r: usize) -> Option<usize> {
    if r > n {
        return Some(0);
    }
    (0..r.min(n - r)).try_fold(1_usize, |ways, i| Some(ways.checked_mul(n - i)? / (i + 1)))
}

/// Returns the indices of every choice in lexicographic order; `None` if there are too many.
fn chosen(size: usize, r: usize, again: bool, rows: usize) -> Option<Vec<i64>> {
    let mut places: Vec<i64> = Vec::new();
    places.try_reserve_exact(rows.checked_mul(r)?).ok()?;
    if rows == 0 {
        return Some(places);
    }
    let mut row: Vec<usize> = Vec::new();
    row.try_reserve_exact(r).ok()?;
    row.extend((0..r).map(|i| if again { 0 } else { i }));
    let last = |i: usize| if again { size - 1 } else { size - r + i };
    loop {
        places.extend(row.iter().map(|&place| place as i64));
        let Some(at) = (0..r).rev().find(|&i| row[i] < last(i)) else {
            return Some(places);
        };
        row[at] += 1;
        for i in at + 1..r {
            row[i] = row[i - 1] + usize::from(!again);
        }
    }
}
