//! Joining tensors by position.

use nomina_core::op::Op;
use nomina_core::{Error, Result};

use crate::tensor::{DynTensor, about, family};

impl DynTensor {
    /// Joins tensors along the second dim, vectors along their only dim.
    ///
    /// # Errors
    /// Like [`DynTensor::cat`].
    pub fn hstack(tensors: &[&Self]) -> Result<Self> {
        let dim = i64::from(tensors.first().is_some_and(|x| x.rank() > 1));
        joined(Op::Hstack, tensors, Self::atleast_1d, dim)
    }

    /// Joins tensors along the first dim; vectors are rows.
    ///
    /// # Errors
    /// Like [`DynTensor::cat`].
    pub fn vstack(tensors: &[&Self]) -> Result<Self> {
        joined(Op::Vstack, tensors, Self::atleast_2d, 0)
    }

    /// Joins tensors along the third dim.
    ///
    /// # Errors
    /// Like [`DynTensor::cat`].
    pub fn dstack(tensors: &[&Self]) -> Result<Self> {
        joined(Op::Dstack, tensors, Self::atleast_3d, 2)
    }

    /// Joins matrices along the second dim; vectors are columns.
    ///
    /// # Errors
    /// Like [`DynTensor::cat`].
    pub fn column_stack(tensors: &[&Self]) -> Result<Self> {
        let column = |x: &Self| match x.rank() {
            0 => x.atleast_2d(),
            1 => x.unsqueeze(1, None),
            _ => Ok(x.clone()),
        };
        joined(Op::ColumnStack, tensors, column, 1)
    }
}

fn joined(
    op: Op,
    tensors: &[&DynTensor],
    each: impl Fn(&DynTensor) -> Result<DynTensor>,
    dim: i64,
) -> Result<DynTensor> {
    let fail = |e: Error| about(e.in_op(op.name()), tensors);
    let all = tensors.iter().map(|x| each(x));
    let all = all.collect::<Result<Vec<_>>>().map_err(fail)?;
    DynTensor::cat(&all.iter().collect::<Vec<_>>(), dim).map_err(|e| e.in_op(op.name()))
}

macro_rules! into_out {
    ($($op:ident $name:ident $out:ident;)*) => {
        impl DynTensor {$(
            #[doc = concat!("[`DynTensor::", stringify!($name), "`] into `out`.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($name), "`], and when `out` does not hold the result.")]
            pub fn $out(tensors: &[&Self], out: &mut Self) -> Result<()> {
                family::store(Op::$op, Self::$name(tensors)?, out)
            }
        )*}
    };
}

into_out! {
    Hstack hstack hstack_out;
    Vstack vstack vstack_out;
    Dstack dstack dstack_out;
    ColumnStack column_stack column_stack_out;
}
