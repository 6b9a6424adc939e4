//! How methods by name treat labels, and their operands.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use nomina_core::Result;
use nomina_core::rule::DimArg;
use nomina_runtime::DynTensor;
use nomina_runtime::tensor::Operand;

use super::DynLabelled;
use crate::labelled::coords::{Coords, texts, unified};

/// An operand beside a [`DynLabelled`]: another one, a plain tensor, or a number.
#[derive(Clone, Copy)]
pub struct DynLabelledOperand<'a> {
    side: Operand<'a>,
    coords: Option<&'a Coords>,
}

impl<'a> From<&'a DynLabelled> for DynLabelledOperand<'a> {
    fn from(x: &'a DynLabelled) -> Self {
        Self {
            side: Operand::Tensor(&x.tensor),
            coords: Some(&x.coords),
        }
    }
}

macro_rules! plain {
    ($($t:ty)*) => {$(
        impl<'a> From<$t> for DynLabelledOperand<'a> {
            fn from(side: $t) -> Self {
                Self {
                    side: side.into(),
                    coords: None,
                }
            }
        }
    )*};
}
plain!(&'a DynTensor f32 f64 i32 i64 bool);

impl DynLabelled {
    /// Gives a result of the same dims the labels of this tensor.
    pub(in crate::labelled) fn keeping(&self, tensor: Result<DynTensor>) -> Result<Self> {
        Ok(Self::from_parts(tensor?, self.coords.clone()))
    }

    /// Computes an elementwise operator of two operands.
    pub(super) fn combined(
        &self,
        op: &'static str,
        other: DynLabelledOperand<'_>,
        compute: impl Fn(&DynTensor, Operand<'_>) -> Result<DynTensor>,
    ) -> Result<Self> {
        let found = compute(&self.tensor, other.side)?;
        let Some(y) = other.side.tensor() else {
            return self.keeping(Ok(found));
        };
        let none = Coords::default();
        let coords = unified(
            op,
            (&self.coords, &texts(self.tensor.names())),
            (other.coords.unwrap_or(&none), &texts(y.names())),
            &texts(found.names()),
        );
        Ok(Self::from_parts(found, coords.map_err(|e| self.blame(e))?))
    }

    /// Computes a reduction over dims.
    pub(super) fn reduced(
        &self,
        op: &'static str,
        dims: DimArg<'_>,
        compute: impl FnOnce(&DynTensor, DimArg<'_>) -> Result<DynTensor>,
    ) -> Result<Self> {
        let names = self.tensor.names();
        let at = dims.positions(op, names).map_err(|e| self.blame(e))?;
        let coords = self.coords.reduced(self.rank(), &at, false, dims.keepdim());
        Ok(Self::from_parts(compute(&self.tensor, dims)?, coords))
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $own:ident;)*) => {$(
        impl<'a, R: Into<DynLabelledOperand<'a>>> $trait<R> for &DynLabelled {
            type Output = Result<DynLabelled>;
            fn $method(self, other: R) -> Result<DynLabelled> {
                DynLabelled::$own(self, other)
            }
        }
        impl<'a, R: Into<DynLabelledOperand<'a>>> $trait<R> for DynLabelled {
            type Output = Result<DynLabelled>;
            fn $method(self, other: R) -> Result<DynLabelled> {
                DynLabelled::$own(&self, other)
            }
        }
    )*};
}
operators! {
    Add add add;
    Sub sub sub;
    Mul mul mul;
    Div div div;
    Rem rem remainder;
}

impl Neg for &DynLabelled {
    type Output = Result<DynLabelled>;
    fn neg(self) -> Result<DynLabelled> {
        DynLabelled::neg(self)
    }
}
