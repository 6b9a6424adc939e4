//! Products: dims that meet and go.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, Shape};
use nomina_core::{Names, Result};

use super::{AddmmOptions, DynTensor, about, family};
use crate::call;
use crate::raw::Raw;

type NameRule = fn(&'static str, &Names, &Names) -> Result<Names>;
type ShapeRule = fn(&'static str, &[usize], &[usize]) -> Result<Shape>;
type Kernel = fn(&Raw, &Raw) -> Result<Raw>;

/// A product's rules, by operator. mm and its kin report sizes before names, matmul names first.
fn parts(op: Op) -> Option<(NameRule, ShapeRule, Kernel, bool)> {
    Some(match op {
        Op::Mm => (rule::mm, rule::mm_shape, call::mm, true),
        Op::Mv => (rule::mv, rule::mv_shape, call::mv, true),
        Op::Dot => (rule::dot, rule::dot_shape, call::dot, true),
        Op::Bmm => (rule::bmm, rule::bmm_shape, call::bmm, true),
        Op::Matmul => (rule::matmul, rule::matmul_shape, call::matmul, false),
        _ => return None,
    })
}

/// A product of two tensors; `op` is one of mm, mv, dot, bmm and matmul.
pub(super) fn product(op: Op, a: &DynTensor, b: &DynTensor) -> Result<DynTensor> {
    let fail = |e| about(e, &[a, b]);
    let Some((names, shape, kernel, sizes_first)) = parts(op) else {
        unreachable!("{} is no product of two tensors", op.name())
    };
    if sizes_first {
        shape(op.name(), a.shape(), b.shape()).map_err(fail)?;
    }
    let names = names(op.name(), &a.names, &b.names).map_err(fail)?;
    Ok(DynTensor::new(kernel(&a.raw, &b.raw).map_err(fail)?, names))
}

macro_rules! products {
    ($($op:ident $method:ident $out:ident $other:ident $doc:literal $errors:literal;)*) => {
        impl DynTensor {$(
            #[doc = $doc]
            ///
            /// # Errors
            #[doc = $errors]
            pub fn $method(&self, $other: &Self) -> Result<Self> {
                product(Op::$op, self, $other)
            }

            #[doc = concat!("[`DynTensor::", stringify!($method), "`] into `out`.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($method), "`], and when `out` does not hold the result.")]
            pub fn $out(&self, $other: &Self, out: &mut Self) -> Result<()> {
                family::store(Op::$op, product(Op::$op, self, $other)?, out)
            }
        )*}
    };
}

products! {
    Mm mm mm_out mat2 "The product of two matrices."
        "When one is no matrix, the inner sizes differ, the result would hold a name twice, or the dtypes differ.";
    Mv mv mv_out vec "The product of a matrix and a vector."
        "When self is no matrix or `vec` no vector, the inner sizes differ, or the dtypes differ.";
    Dot dot dot_out tensor "The inner product of two vectors."
        "When one is no vector, the sizes differ, or the dtypes differ.";
    Bmm bmm bmm_out mat2 "Products of two batches of matrices."
        "When one has not three dims, batch or inner sizes differ, batch names do not unify, the result would hold a name twice, or the dtypes differ.";
    Matmul matmul matmul_out other "The matrix product over the last two dims; batch dims broadcast and unify."
        "When one has no dim, batch dims do not unify or broadcast, the inner sizes differ, the result would hold a name twice, or the dtypes differ.";
}

impl DynTensor {
    /// Self plus the product of two matrices.
    ///
    /// # Errors
    /// As [`DynTensor::mm`] and `add`.
    pub fn addmm(&self, mat1: &Self, mat2: &Self) -> Result<Self> {
        self.addmm_with(mat1, mat2, AddmmOptions::default())
    }

    /// `beta` times self, plus `alpha` times the product of two matrices.
    ///
    /// # Errors
    /// As [`DynTensor::mm`] and `add`.
    pub fn addmm_with(&self, mat1: &Self, mat2: &Self, options: AddmmOptions) -> Result<Self> {
        let fail = |e| about(e, &[self, mat1, mat2]);
        let inner = |e| about(e, &[mat1, mat2]);
        rule::mm_shape("addmm", mat1.shape(), mat2.shape()).map_err(inner)?;
        let names = rule::addmm("addmm", &self.names, &mat1.names, &mat2.names).map_err(fail)?;
        let raw = call::addmm(&self.raw, &mat1.raw, &mat2.raw, options.beta, options.alpha);
        Ok(Self::new(raw.map_err(fail)?, names))
    }

    /// [`DynTensor::addmm_with`] in place.
    ///
    /// # Errors
    /// As [`DynTensor::addmm_with`], and when the result's names or sizes are not self's.
    pub fn addmm_(&mut self, mat1: &Self, mat2: &Self, options: AddmmOptions) -> Result<&mut Self> {
        let result = self.addmm_with(mat1, mat2, options)?;
        self.overwrite(Op::Addmm, result)
    }

    /// [`DynTensor::addmm_with`] into `out`.
    ///
    /// # Errors
    /// As [`DynTensor::addmm_with`], and when `out` does not hold the result.
    pub fn addmm_out(
        &self,
        mat1: &Self,
        mat2: &Self,
        options: AddmmOptions,
        out: &mut Self,
    ) -> Result<()> {
        family::store(Op::Addmm, self.addmm_with(mat1, mat2, options)?, out)
    }

    /// Multiplies and sums over dims that both have, by name; other shared names are batch dims.
    /// The result has self's dims without those, then the others of `other`.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::ones(&[2, 3], ["N", "C"])?;
    /// let w = DynTensor::ones(&[3, 4], ["C", "K"])?;
    /// assert_eq!(x.contract(&w, "C")?.names().to_string(), "(N, K)");
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a dim is missing on either side, sizes or dtypes differ, or a dim has no name.
    pub fn contract<'a>(&self, other: &Self, dim: impl Into<DimArg<'a>>) -> Result<Self> {
        let fail = |e| about(e, &[self, other]);
        let plan =
            rule::contract("contract", &self.names, &other.names, &dim.into()).map_err(fail)?;
        let (own, its) = ((&self.names, self.shape()), (&other.names, other.shape()));
        rule::contract_shape("contract", own, its, &plan).map_err(fail)?;
        let raw = call::contract(&self.raw, &other.raw, &plan.sum, &plan.batch).map_err(fail)?;
        Ok(Self::new(raw, plan.names))
    }
}
