//! Names and order of dims.

use nomina_core::rule::{self, DimArg, DimRef};
use nomina_core::{Error, ErrorKind, Names, Result};

use super::DynSparse;
use crate::call;
use crate::tensor::{Order, Rename};

impl DynSparse {
    /// Swaps two dims, both sparse or both dense.
    ///
    /// # Errors
    /// If a dim does not exist, or only one of the two is sparse.
    pub fn transpose<'a>(
        &self,
        dim0: impl Into<DimRef<'a>>,
        dim1: impl Into<DimRef<'a>>,
    ) -> Result<Self> {
        let order = rule::transpose("transpose", &self.names, dim0.into(), dim1.into());
        self.permuted("transpose", order)
    }

    /// Swaps the dims of a matrix; leaves vectors and numbers unchanged.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for more than two dims.
    pub fn t(&self) -> Result<Self> {
        self.permuted("t", rule::t("t", &self.names))
    }

    /// Reorders all dims, sparse ones and dense ones separately.
    ///
    /// # Errors
    /// If `dims` does not list each dim once, or mixes sparse and dense ones.
    pub fn permute<'a>(&self, dims: impl Into<DimArg<'a>>) -> Result<Self> {
        let order = rule::permute("permute", &self.names, &dims.into());
        self.permuted("permute", order)
    }

    /// Permutes dims to an order of names; `"..."` covers the dims that are not mentioned.
    ///
    /// # Errors
    /// Like [`DynSparse::permute`]; also if the order has a name that `self` lacks.
    pub fn align_to<'a>(&self, names: impl Into<Order<'a>>) -> Result<Self> {
        let op = "align_to";
        let aligned = rule::align_to(op, &self.names, &names.into().items());
        let aligned = aligned.map_err(|e| self.blame(e))?;
        let order: Option<rule::Positions> = aligned.positions.iter().copied().collect();
        let Some(order) = order else {
            let what = "sparse tensors get no new dims";
            return Err(self
                .blame(Error::new(ErrorKind::Layout, op, what))
                .hint("use existing dims, or call `to_dense()` first"));
        };
        self.permuted(op, Ok(order))
    }

    fn permuted(&self, op: &'static str, order: Result<rule::Positions>) -> Result<Self> {
        let done = order.and_then(|order| {
            let raw = call::sparse_permute(op, &self.raw, &order)?;
            Ok(Self::new(raw, rule::kept(&self.names, &order)))
        });
        done.map_err(|e| self.blame(e))
    }

    /// Renames dims: a list, pairs of old and new, or `()` for no names.
    ///
    /// # Errors
    /// If there is not one name per dim, a name to replace is missing, or a name would occur twice.
    pub fn rename<'a>(&self, names: impl Into<Rename<'a>>) -> Result<Self> {
        let names = names.into().apply(&self.names);
        let names = names.map_err(|e| self.blame(e))?;
        Ok(Self::new(self.raw.clone(), names))
    }

    /// Returns the same entries without names.
    pub fn drop_names(&self) -> Self {
        Self::new(self.raw.clone(), Names::unnamed(self.rank()))
    }

    /// Names dims that have no name; existing names must be repeated. `"..."` covers the dims that
    /// are not mentioned.
    ///
    /// # Errors
    /// If a name would become another, there is not one per dim, or a name would occur twice.
    pub fn refine_names<'a>(&self, names: impl Into<Order<'a>>) -> Result<Self> {
        let names = rule::refine_names("refine_names", &self.names, &names.into().items());
        let names = names.map_err(|e| self.blame(e))?;
        Ok(Self::new(self.raw.clone(), names))
    }
}
