//! Products: contractions of dims.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, DimRef, Shape};
use nomina_core::{Error, ErrorKind, Names, Result};

use super::{AddmmOptions, DynTensor, about, family};
use crate::call;
use crate::raw::Raw;

type NameRule = fn(&'static str, &Names, &Names) -> Result<Names>;
type ShapeRule = fn(&'static str, &[usize], &[usize]) -> Result<Shape>;
type ProductFn = fn(&Raw, &Raw) -> Result<Raw>;

/// Returns the rules of a product, by operator. mm and similar report sizes before names, matmul reports names first.
fn parts(op: Op) -> Option<(NameRule, ShapeRule, ProductFn, bool)> {
    Some(match op {
        Op::Mm => (rule::mm, rule::mm_shape, call::mm, true),
        Op::Mv => (rule::mv, rule::mv_shape, call::mv, true),
        Op::Dot => (rule::dot, rule::dot_shape, call::dot, true),
        Op::Bmm => (rule::bmm, rule::bmm_shape, call::bmm, true),
        Op::Matmul => (rule::matmul, rule::matmul_shape, call::matmul, false),
        Op::Outer => (rule::outer, rule::outer_shape, call::outer, true),
        Op::Inner => (rule::inner, rule::inner_shape, call::inner, true),
        Op::Vdot => (rule::dot, rule::dot_shape, call::vdot, true),
        Op::Kron => (rule::kron, rule::kron_shape, call::kron, false),
        _ => return None,
    })
}

/// Computes a product of two tensors by an operator that [`parts`] knows.
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
    Outer outer outer_out vec2 "The products of every element of one vector and every element of another."
        "When one is no vector, or both dims have one name.";
    Inner inner inner_out other "Multiplies and sums over the last dim of both; a number multiplies."
        "When the last sizes or the dtypes differ, or the result would hold a name twice.";
    Vdot vdot vdot_out other "The inner product of two vectors, of which the first is conjugated."
        "When one is no vector, the sizes differ, or the dtypes differ.";
    Kron kron kron_out other "The Kronecker product: every element of self times the whole other. Names unify."
        "When names do not unify, or sizes overflow.";
}

type BiasRule = fn(&'static str, &Names, &Names, &Names) -> Result<Names>;

/// Computes `beta` times the bias plus `alpha` times a product. Sizes are reported before names.
pub(super) fn add_product(
    op: Op,
    bias: &DynTensor,
    a: &DynTensor,
    b: &DynTensor,
    options: AddmmOptions,
) -> Result<DynTensor> {
    let fail = |e| about(e, &[bias, a, b]);
    let (shape, names): (ShapeRule, BiasRule) = match op {
        Op::Addmv => (rule::mv_shape, rule::addmv),
        Op::Baddbmm => (rule::bmm_shape, rule::baddbmm),
        Op::Addbmm => (rule::bmm_shape, rule::addbmm),
        _ => (rule::mm_shape, rule::addmm),
    };
    shape(op.name(), a.shape(), b.shape()).map_err(|e| about(e, &[a, b]))?;
    let names = names(op.name(), &bias.names, &a.names, &b.names).map_err(fail)?;
    let raw = call::add_product(op, &bias.raw, &a.raw, &b.raw, options.beta, options.alpha);
    Ok(DynTensor::new(raw.map_err(fail)?, names))
}

macro_rules! added_products {
    ($($op:ident $method:ident $with:ident $in_place:ident $out:ident $a:ident $b:ident $doc:literal $doc_with:literal;)*) => {
        impl DynTensor {$(
            #[doc = $doc]
            ///
            /// # Errors
            /// Like the product; also if names do not unify with those of `self`, or `self` does not broadcast.
            pub fn $method(&self, $a: &Self, $b: &Self) -> Result<Self> {
                add_product(Op::$op, self, $a, $b, AddmmOptions::default())
            }

            #[doc = $doc_with]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($method), "`].")]
            pub fn $with(&self, $a: &Self, $b: &Self, options: AddmmOptions) -> Result<Self> {
                add_product(Op::$op, self, $a, $b, options)
            }

            #[doc = concat!("[`DynTensor::", stringify!($with), "`] in place.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($with), "`], and when the result's names or sizes are not self's.")]
            pub fn $in_place(&mut self, $a: &Self, $b: &Self, options: AddmmOptions) -> Result<&mut Self> {
                let result = add_product(Op::$op, self, $a, $b, options)?;
                self.overwrite(Op::$op, result)
            }

            #[doc = concat!("[`DynTensor::", stringify!($with), "`] into `out`.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($with), "`], and when `out` does not hold the result.")]
            pub fn $out(&self, $a: &Self, $b: &Self, options: AddmmOptions, out: &mut Self) -> Result<()> {
                family::store(Op::$op, add_product(Op::$op, self, $a, $b, options)?, out)
            }
        )*}
    };
}

added_products! {
    Addmm addmm addmm_with addmm_ addmm_out mat1 mat2
        "Self plus the product of two matrices."
        "`beta` times self, plus `alpha` times the product of two matrices.";
    Addmv addmv addmv_with addmv_ addmv_out mat vec
        "Self plus the product of a matrix and a vector."
        "`beta` times self, plus `alpha` times the product of a matrix and a vector.";
    Baddbmm baddbmm baddbmm_with baddbmm_ baddbmm_out batch1 batch2
        "Self plus the products of two batches of matrices."
        "`beta` times self, plus `alpha` times the products of two batches of matrices.";
    Addbmm addbmm addbmm_with addbmm_ addbmm_out batch1 batch2
        "Self plus the sum of the products of two batches of matrices."
        "`beta` times self, plus `alpha` times the sum of the products of two batches of matrices.";
}

impl DynTensor {
    /// Like [`matmul`](Self::matmul), but requires both contracted dims to be `dim`: the last dim of `self`, and the
    /// last but one, or only, dim of `other`.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::ones(&[3, 3], ["N", "C"])?;
    /// let w = DynTensor::ones(&[3, 3], ["K", "C"])?;
    /// assert!(x.matmul_on("C", &w).is_err());
    /// assert_eq!(x.matmul_on("C", &w.align_to(["C", "K"])?)?.names().to_string(), "(N, K)");
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Like [`matmul`](Self::matmul); also if the dim is missing or in another position on one side.
    pub fn matmul_on<'a>(&self, dim: impl Into<DimRef<'a>>, other: &Self) -> Result<Self> {
        let fail = |e: Error| about(e.in_op("matmul_on"), &[self, other]);
        let dim = dim.into();
        let inner = [
            self.rank().checked_sub(1),
            Some(other.rank().saturating_sub(2)),
        ];
        for (at, (x, inner)) in [self, other].into_iter().zip(inner).enumerate() {
            let place = dim.position("matmul_on", &x.names).map_err(fail)?;
            if Some(place) != inner {
                let which = ["the last dim", "the last dim but one"][at];
                let what = format!("dim {place} of {} is not {which}", x.names);
                return Err(fail(
                    Error::new(ErrorKind::NameMismatch, "matmul_on", what)
                        .hint("`contract` finds the dim at any position"),
                ));
            }
        }
        product(Op::Matmul, self, other).map_err(|e| e.in_op("matmul_on"))
    }

    /// Multiplies and sums over common dims, by name; other common names are batch dims. The result has the dims of
    /// `self` without the contracted ones, then the remaining ones of `other`.
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
    /// If a dim is missing on either side, sizes or dtypes differ, or a dim has no name.
    pub fn contract<'a>(&self, other: &Self, dim: impl Into<DimArg<'a>>) -> Result<Self> {
        let fail = |e| about(e, &[self, other]);
        let plan =
            rule::contract("contract", &self.names, &other.names, &dim.into()).map_err(fail)?;
        let (own, its) = ((&self.names, self.shape()), (&other.names, other.shape()));
        rule::contract_shape("contract", own, its, &plan).map_err(fail)?;
        let raw = call::contract(Op::Contract, &self.raw, &other.raw, &plan.sum, &plan.batch)
            .map_err(fail)?;
        Ok(Self::new(raw, plan.names))
    }
}
