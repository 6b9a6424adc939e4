//! Products over any dims, products of chains, and operators built on products.

mod attention;
mod sums;
mod vectors;

use nomina_core::op::Op;
use nomina_core::rule::{self, DimRef, PairArg};
use nomina_core::{Error, ErrorKind, Result, Scalar};
use nomina_macros::forms;

use super::{AddOptions, AddmmOptions, DynTensor, about, family};
use crate::call::{self, CdistMode};
use crate::raw::Raw;

pub use attention::AttentionOptions;
pub use sums::LinearOptions;

/// Options of `cdist_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CdistOptions {
    /// The exponent of the norm: 2 for the Euclidean distance, 0 for the number of differences.
    pub p: f64,
    /// The method of computing Euclidean distances.
    pub compute_mode: CdistMode,
}

impl Default for CdistOptions {
    fn default() -> Self {
        Self {
            p: 2.0,
            compute_mode: CdistMode::default(),
        }
    }
}

impl DynTensor {
    /// Computes the Euclidean distance between each row of `self` and each row of `other`.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![0.0f32, 0.0, 3.0, 4.0], &[2, 2], ["N", "C"])?;
    /// let y = DynTensor::from_vec(vec![0.0f32, 0.0], &[1, 2], ["M", "C"])?;
    /// let d = x.cdist(&y)?;
    /// assert_eq!(d.names().to_string(), "(N, M)");
    /// assert_eq!(d.to_vec::<f32>()?, [0.0, 5.0]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If one has fewer than two dims, batch dims do not unify or broadcast, the last sizes or the
    /// dtypes differ, or the result would have a name twice. With options, also if `p` is negative.
    #[forms(with = "but by the norm of the options.")]
    pub fn cdist_with(&self, other: &Self, options: CdistOptions) -> Result<Self> {
        let fail = |e| about(e, &[self, other]);
        let names = rule::cdist("cdist", &self.names, &other.names).map_err(fail)?;
        let raw = call::cdist(&self.raw, &other.raw, options.p, options.compute_mode);
        Ok(Self::new(raw.map_err(fail)?, names))
    }

    /// Adds the outer product of two vectors to `self`.
    ///
    /// # Errors
    /// If one is not a vector, or names or sizes do not unify with those of `self`. With options,
    /// also if a factor is of a higher category than the result.
    #[forms(with = "but with `beta` times `self` and `alpha` times the product.")]
    pub fn addr_with(&self, vec1: &Self, vec2: &Self, options: AddmmOptions) -> Result<Self> {
        let fail = |e: Error| about(e.in_op("addr"), &[self, vec1, vec2]);
        let names = rule::addr("addr", &self.names, &vec1.names, &vec2.names).map_err(fail)?;
        let raw = self
            .add_outer(&vec1.raw, &vec2.raw, options)
            .map_err(fail)?;
        Ok(Self::new(raw, names))
    }

    fn add_outer(&self, vec1: &Raw, vec2: &Raw, options: AddmmOptions) -> Result<Raw> {
        let plain = |raw: &Raw| Self::new(raw.clone(), nomina_core::Names::unnamed(raw.rank()));
        let product = plain(&call::outer(vec1, vec2)?);
        let apart = || {
            // The outer product has a dim of each vector.
            let new = 2_usize.checked_sub(self.rank())?;
            let differs = |&i: &usize| ![1, product.shape()[new + i]].contains(&self.shape()[i]);
            let at = (0..self.rank()).find(differs)?;
            let shapes = [self.shape(), vec1.shape(), vec2.shape()];
            let dims = [(0, at), (1 + new + at, 0)];
            Some(Error::sizes("addr", shapes, dims).hint("self has the product's sizes, or 1"))
        };
        rule::broadcast_into("addr", product.shape(), self.shape())
            .map_err(|error| apart().unwrap_or_else(|| about(error, &[&product, self])))?;
        if !options.beta.to_bool() {
            let common = call::result_dtype(Op::Add, &[(&self.raw).into(), product.raw().into()])?;
            let zero = Scalar::Int(0);
            let zeros = call::full(product.shape(), zero, common.result, self.device())?;
            let options = AddOptions {
                alpha: options.alpha,
            };
            return Ok(plain(&zeros).add_with(&product, options)?.raw);
        }
        let mut own = plain(&self.raw);
        if options.beta != Scalar::Int(1) {
            let common = call::result_dtype(Op::Add, &[(&self.raw).into(), product.raw().into()])?;
            if options.beta.category() > common.result.category() {
                let what = format!("the factor {} does not fit {}", options.beta, common.result);
                return Err(Error::new(ErrorKind::DType, "addr", what)
                    .hint("convert the tensors first with `to`"));
            }
            own = own.mul(options.beta)?;
        }
        let options = AddOptions {
            alpha: options.alpha,
        };
        Ok(own.add_with(&product, options)?.raw)
    }

    /// Like [`DynTensor::addr_with`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::addr_with`]; also if the names, sizes or dtype of the result are not those
    /// of `self`.
    pub fn addr_(&mut self, vec1: &Self, vec2: &Self, options: AddmmOptions) -> Result<&mut Self> {
        let result = self.addr_with(vec1, vec2, options)?;
        self.overwrite(Op::Addr, result)
    }

    /// Like [`DynTensor::addr_with`], but writes to `out`.
    ///
    /// # Errors
    /// Like [`DynTensor::addr_with`]; also if `out` cannot hold the result.
    pub fn addr_out(
        &self,
        vec1: &Self,
        vec2: &Self,
        options: AddmmOptions,
        out: &mut Self,
    ) -> Result<()> {
        family::store(Op::Addr, self.addr_with(vec1, vec2, options)?, out)
    }

    /// Computes the sum of the diagonal of a matrix; integers and bool are added in i64.
    ///
    /// # Errors
    /// If `self` has not two dims.
    pub fn trace(&self) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        let names = rule::trace("trace", &self.names).map_err(fail)?;
        Ok(Self::new(call::trace(&self.raw).map_err(fail)?, names))
    }

    /// Raises a square matrix, or a batch of them, to the power `n`.
    ///
    /// # Errors
    /// If the last two sizes differ, or `n` is negative.
    #[forms(out)]
    pub fn matrix_power(&self, n: i64) -> Result<Self> {
        let raw = call::matrix_power(&self.raw, n).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Multiplies a chain of matrices in the order that needs the fewest multiplications. The first
    /// and last operand may be vectors.
    ///
    /// # Errors
    /// If the chain is empty, sizes or dtypes do not fit, or the result would have a name twice.
    #[forms(out)]
    pub fn multi_dot(tensors: &[&Self]) -> Result<Self> {
        let fail = |e| about(e, tensors);
        let chain: Vec<_> = tensors.iter().map(|x| &x.names).collect();
        let names = rule::multi_dot("multi_dot", &chain).map_err(fail)?;
        let chain: Vec<_> = tensors.iter().map(|x| &x.raw).collect();
        Ok(Self::new(call::multi_dot(&chain).map_err(fail)?, names))
    }

    /// Computes the cross product of vectors along a dim of size 3.
    ///
    /// # Errors
    /// If names do not unify, sizes do not broadcast, or the dim has another size.
    #[forms(out)]
    pub fn cross<'a>(&self, other: &Self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        let fail = |e: Error| about(e.in_op("cross"), &[self, other]);
        let names = rule::unify("cross", &self.names, &other.names).map_err(fail)?;
        let dim = dim.into().position("cross", &names).map_err(fail)?;
        let raw = call::cross(&self.raw, &other.raw, dim).map_err(fail)?;
        Ok(Self::new(raw, names))
    }

    /// Multiplies and sums over pairs of dims: the last `n` of `self` and the first `n` of `other`
    /// (`2`), the dims of these names (`["C", "K"]`), or given ones of each (`([0], [1])`). All
    /// other dims stay, first those of `self`.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::ones(&[2, 3, 4], ["N", "C", "K"])?;
    /// let w = DynTensor::ones(&[4, 3, 5], ["K", "C", "M"])?;
    /// let y = x.tensordot(&w, ["C", "K"])?;
    /// assert_eq!(y.names().to_string(), "(N, M)");
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a dim is missing, the lists differ in length, sizes or dtypes differ, or the result would
    /// have a name twice.
    #[forms(out)]
    pub fn tensordot<'a>(&self, other: &Self, dims: impl Into<PairArg<'a>>) -> Result<Self> {
        let fail = |e| about(e, &[self, other]);
        let dims = dims.into();
        let plan = rule::tensordot("tensordot", &self.names, &other.names, &dims).map_err(fail)?;
        let raw = call::tensordot(&self.raw, &other.raw, &plan.sum).map_err(fail)?;
        Ok(Self::new(raw, plan.names))
    }
}
