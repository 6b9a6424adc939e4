//! Writing into a part of a tensor.

use std::fmt;

use nomina_core::op::Op;
use nomina_core::rule::{self, DimRef};
use nomina_core::{DType, Error, ErrorKind, Names, Result};
use nomina_macros::forms;
use smallvec::SmallVec;

use super::masked::FillValue;
use super::{DiagonalOptions, DynTensor, Operand, about};
use crate::call::{self, Arg};
use crate::raw::RawMut;
use crate::shape::Shape;

/// A part of a tensor for writing: the result of [`DynTensor::select_mut`] and similar.
///
/// A view behaves as a value, so writing to `x.select(..)` never changes `x`; this type changes a
/// part in place.
///
/// ```
/// # use nomina_runtime::DynTensor;
/// let mut x = DynTensor::zeros(&[2, 2], ["N", "C"])?;
/// x.select_mut("C", -1)?.fill_(1.0)?;
/// x.diagonal_mut("N", "C", None)?.add_(10.0)?;
/// assert_eq!(x.to_vec::<f32>()?, [10.0, 1.0, 0.0, 11.0]);
/// # Ok::<(), nomina_core::Error>(())
/// ```
#[must_use = "a part is only written to"]
pub struct DynTensorMut<'a> {
    raw: RawMut<'a>,
    names: Names,
}

impl fmt::Debug for DynTensorMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DynTensorMut{} {:?}", self.names, self.shape())
    }
}

impl<'a> DynTensorMut<'a> {
    pub(super) fn new(raw: RawMut<'a>, names: Names) -> Self {
        Self { raw, names }
    }

    /// Creates a part from a writable region and the names of its dims.
    ///
    /// # Errors
    /// [`ErrorKind::NamesLen`] if there is not one name per dim.
    pub fn from_parts(raw: RawMut<'a>, names: Names) -> Result<Self> {
        if raw.rank() == names.len() {
            return Ok(Self { raw, names });
        }
        let what = format!("{} names for {} dims", names.len(), raw.rank());
        Err(Error::new(ErrorKind::NamesLen, "from_parts", what)
            .operand(&Names::default(), raw.shape())
            .hint("give one name per dim, `None` for a dim without one"))
    }

    /// Splits the part into region and names.
    #[must_use]
    pub fn into_parts(self) -> (RawMut<'a>, Names) {
        (self.raw, self.names)
    }

    /// Returns the diagonal of two dims of this part; see [`DynTensor::diagonal_mut`].
    ///
    /// # Errors
    /// Like [`DynTensor::diagonal_mut`].
    pub fn diagonal<'b, 'c>(
        self,
        dim1: impl Into<DimRef<'b>>,
        dim2: impl Into<DimRef<'b>>,
        outdim: impl Into<Option<&'c str>>,
        options: DiagonalOptions,
    ) -> Result<Self> {
        let Self { raw, names } = self;
        let shape = Shape::from(raw.shape());
        let fail = |e: Error| e.with_names([&names]).with_shapes([&shape[..]]);
        let (dim1, dim2) = (dim1.into(), dim2.into());
        let plan = rule::diagonal("diagonal", &names, dim1, dim2, outdim.into()).map_err(fail)?;
        let offset = isize::try_from(options.offset).unwrap_or(isize::MAX);
        let raw = raw.diagonal(plan.dim1, plan.dim2, offset).map_err(fail)?;
        Ok(Self::new(raw, plan.names))
    }

    /// Returns the names of the dims.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the sizes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.raw.shape()
    }

    /// Returns the dtype.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.raw.dtype()
    }

    fn about(&self, error: Error, others: &[&DynTensor]) -> Error {
        if error.operands().is_empty() {
            let error = error.operand(&self.names, self.shape());
            return others
                .iter()
                .fold(error, |e, x| e.operand(x.names(), x.shape()));
        }
        let own = (&self.names, self.shape(), self.raw.created_at());
        let others = others
            .iter()
            .map(|x| (x.names(), x.shape(), x.raw.created_at()));
        let all = std::iter::once(own).chain(others);
        error
            .with_names(all.clone().map(|x| x.0))
            .with_shapes(all.clone().map(|x| x.1))
            .made_at(all)
    }

    /// Fills with one number, or the number in a zero-dim tensor.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] if `value` has dims.
    pub fn fill_<'b>(&mut self, value: impl Into<Operand<'b>>) -> Result<&mut Self> {
        let (dtype, device) = (self.raw.dtype(), self.raw.device());
        let value = FillValue::new(Op::Fill, value.into(), dtype, device)?;
        value.fill(self.raw.reborrow())?;
        Ok(self)
    }

    /// Copies the elements of `src`, broadcast and converted.
    ///
    /// # Errors
    /// Like [`DynTensor::copy_`].
    pub fn copy_(&mut self, src: &DynTensor) -> Result<&mut Self> {
        self.fits("copy", src)?;
        call::copy_across(self.raw.reborrow(), src.raw()).map_err(|e| self.about(e, &[src]))?;
        Ok(self)
    }

    /// Checks that an operand does not change the names and sizes of the part.
    fn fits(&self, op: &'static str, other: &DynTensor) -> Result<()> {
        let fail = |e| self.about(e, &[other]);
        let names = rule::unify(op, &self.names, other.names()).map_err(fail)?;
        rule::broadcast_into(op, self.shape(), other.shape()).map_err(fail)?;
        // A part cannot take names: they are those of its tensor.
        if self.names.has_names() {
            rule::in_place(op, &self.names, &names)
                .map(drop)
                .map_err(fail)
        } else {
            Ok(())
        }
    }

    /// Computes an elementwise operator with one more operand, in place.
    fn apply(&mut self, op: Op, other: Operand<'_>) -> Result<&mut Self> {
        let others: SmallVec<[&DynTensor; 1]> = other.tensor().into_iter().collect();
        for other in &others {
            self.fits(op.name(), other)?;
        }
        let args = [match other {
            Operand::Tensor(x) => Arg::Tensor(x.raw()),
            Operand::Scalar(value) => Arg::Scalar(value),
        }];
        call::pointwise_in_place(op, self.raw.reborrow(), &args)
            .map_err(|e| self.about(e, &others))?;
        Ok(self)
    }

    /// Adds a tensor or a number.
    ///
    /// # Errors
    /// Like [`DynTensor::add_`].
    pub fn add_<'b>(&mut self, other: impl Into<Operand<'b>>) -> Result<&mut Self> {
        self.apply(Op::Add, other.into())
    }

    /// Subtracts a tensor or a number.
    ///
    /// # Errors
    /// Like [`DynTensor::sub_`].
    pub fn sub_<'b>(&mut self, other: impl Into<Operand<'b>>) -> Result<&mut Self> {
        self.apply(Op::Sub, other.into())
    }

    /// Multiplies by a tensor or a number.
    ///
    /// # Errors
    /// Like [`DynTensor::mul_`].
    pub fn mul_<'b>(&mut self, other: impl Into<Operand<'b>>) -> Result<&mut Self> {
        self.apply(Op::Mul, other.into())
    }

    /// Divides by a tensor or a number.
    ///
    /// # Errors
    /// Like [`DynTensor::div_`].
    pub fn div_<'b>(&mut self, other: impl Into<Operand<'b>>) -> Result<&mut Self> {
        self.apply(Op::Div, other.into())
    }
}

impl DynTensor {
    /// Returns a part with the dims `names`.
    fn part(
        &mut self,
        names: Names,
        view: impl for<'a> FnOnce(RawMut<'a>) -> Result<RawMut<'a>>,
    ) -> Result<DynTensorMut<'_>> {
        let (own, shape) = (self.names.clone(), Shape::from(self.shape()));
        let raw = self.raw.as_mut().and_then(view);
        let raw = raw.map_err(|e| e.with_names([&own]).with_shapes([&shape[..]]))?;
        Ok(DynTensorMut::new(raw, names))
    }

    /// Returns the slice at one index of a dim, for writing; a negative index counts from the end.
    ///
    /// # Errors
    /// Like [`DynTensor::select`].
    pub fn select_mut<'a>(
        &mut self,
        dim: impl Into<DimRef<'a>>,
        index: i64,
    ) -> Result<DynTensorMut<'_>> {
        let fail = |e| about(e, &[self]);
        let dim = dim.into().position("select", &self.names).map_err(fail)?;
        let at = rule::index_in("select", &self.names, self.shape(), dim, index).map_err(fail)?;
        let names = rule::remove(&self.names, &[dim]);
        self.part(names, |raw| raw.select(dim, at))
    }

    /// Returns `length` elements of a dim from `start` on, for writing.
    ///
    /// # Errors
    /// If the dim does not exist or the range does not lie within it.
    pub fn narrow_mut<'a>(
        &mut self,
        dim: impl Into<DimRef<'a>>,
        start: usize,
        length: usize,
    ) -> Result<DynTensorMut<'_>> {
        let dim = dim
            .into()
            .position("narrow", &self.names)
            .map_err(|e| about(e, &[self]))?;
        let names = self.names.clone();
        self.part(names, |raw| raw.narrow(dim, start, length))
    }

    /// Returns the tensor with two dims swapped, for writing.
    ///
    /// # Errors
    /// If a dim does not exist.
    pub fn transpose_mut<'a, 'b>(
        &mut self,
        dim0: impl Into<DimRef<'a>>,
        dim1: impl Into<DimRef<'b>>,
    ) -> Result<DynTensorMut<'_>> {
        let order = rule::transpose("transpose", &self.names, dim0.into(), dim1.into())
            .map_err(|e| about(e, &[self]))?;
        let names = rule::kept(&self.names, &order);
        self.part(names, |raw| raw.permute(&order))
    }

    /// Returns the diagonal of two dims, for writing: the other dims, then a new one, with or
    /// without a name.
    ///
    /// # Errors
    /// Like [`DynTensor::diagonal`].
    #[forms(with = "but `options.offset` above, or below if negative, the main diagonal.")]
    pub fn diagonal_mut_with<'a, 'b>(
        &mut self,
        dim1: impl Into<DimRef<'a>>,
        dim2: impl Into<DimRef<'a>>,
        outdim: impl Into<Option<&'b str>>,
        options: DiagonalOptions,
    ) -> Result<DynTensorMut<'_>> {
        let names = self.names.clone();
        DynTensorMut::new(self.raw.as_mut()?, names).diagonal(dim1, dim2, outdim, options)
    }
}
