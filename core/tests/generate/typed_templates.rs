//! Templates of the typed methods, by family.

pub const UNARY: &str = "
/// {doc}{differs}
{alone}
#[twin(panicking = pointwise::unary_or_panic)]
pub fn try_{name}(&self) -> Result<Tensor<D, {dtype}>> where {takes} {
    Tensor::try_from_erased(pointwise::unary(Op::{op}, self.erased.erased(D::STATIC)))
}
";

pub const UNARY_: &str = "
/// Like [`{name}`](Tensor::{name}), but in place.
{alone_stays}
#[twin]
pub fn try_{name}_(&mut self) -> Result<&mut Self> where {takes} {stored} {
    pointwise::in_place(Op::{op}, self.dest(), &[])?;
    Ok(self)
}
";

pub const UNARY_OUT: &str = "
/// Like [`{name}`](Self::{name}), but writes the result to `out`.
{stays}
#[twin]
pub fn try_{name}_out<O: Dims + Holds<D>, U: Element>(&self, out: &mut Tensor<O, U>) -> Result<()> where {takes} {dtype}: StoreAs<U> {
    pointwise::into(Op::{op}, &[self.erased.as_operand(D::STATIC)], D::STATIC, &mut out.erased, O::STATIC)
}
";

pub const PARAMETRIC: &str = "
/// {doc}
///
/// {numbers}{differs}
{alone}
#[twin(with = \"but with the given numbers.\")]
pub fn try_{name}_with(&self, options: {op}Options) -> Result<Tensor<D, {dtype}>> where {takes} {
    Tensor::try_from_erased(pointwise::with(Op::{op}, self.erased.erased(D::STATIC), &options.numbers()))
}
";

pub const PARAMETRIC_: &str = "
/// Like [`{name}`](Tensor::{name}), but in place.
{alone_stays}
#[twin(with = \"but with the given numbers.\")]
pub fn try_{name}_with_(&mut self, options: {op}Options) -> Result<&mut Self> where {takes} {stored} {
    pointwise::with_in_place(Op::{op}, self.dest(), &options.numbers())?;
    Ok(self)
}
";

pub const BINARY: &str = "
/// {doc} Dims unify from the right; dtypes promote.{differs}
{tried}
#[twin(panicking = pointwise::new_or_panic)]
pub fn try_{name}<R: Operand>(&self, {other}: R) -> Result<Tensor<OutDims<R, D, T>, {dtype}>> where R::Kind: Combine<D, T>, {
    Tensor::try_from_erased(pointwise::new(Op::{op}, &[self.erased.as_operand(D::STATIC), {other}.as_operand()], <OutDims<R, D, T>>::STATIC))
}
";

pub const BINARY_: &str = "
/// Like [`{name}`](Tensor::{name}), but in place.
{stays}
#[twin]
pub fn try_{name}_<R: Operand>(&mut self, {other}: R) -> Result<&mut Self> where R::Kind: Absorb<D, T{kind}>, {
    pointwise::in_place(Op::{op}, self.dest(), &[{other}.as_operand()])?;
    Ok(self)
}
";

pub const BINARY_OUT: &str = "
/// Like [`{name}`](Self::{name}), but writes the result to `out`.
{stays}
#[twin]
pub fn try_{name}_out<R: Operand, O: Dims + Holds<OutDims<R, D, T>>, U: Element>(&self, {other}: R, out: &mut Tensor<O, U>) -> Result<()> where R::Kind: Combine<D, T>, {dtype}: StoreAs<U> {
    pointwise::into(Op::{op}, &[self.erased.as_operand(D::STATIC), {other}.as_operand()], <OutDims<R, D, T>>::STATIC, &mut out.erased, O::STATIC)
}
";

pub const REDUCE: &str = "
/// {doc}{differs}
{tried}
#[twin]
pub fn try_{name}<A: AxesOf<D>>(&self, dims: A) -> Result<Tensor<Without<D, A>, {dtype}>> where {takes} {
    let _ = dims;
    Tensor::try_from_erased(crate::erased::reduce::new(Op::{op}, self.erased.erased(D::STATIC), <A as Picking<D>>::PICKED, nomina_runtime::call::ReduceOptions::default(), <Without<D, A>>::STATIC))
}
";

pub const REDUCE_WITH: &str = "
/// Like [`{name}`](Self::{name}), but computes in and returns the dtype of `options`.
///
/// # Errors
/// If the operator does not support the dtype.
#[twin]
pub fn try_{name}_with<A: AxesOf<D>, U: Element>(&self, dims: A, options: ReduceOptions<U>) -> Result<Tensor<Without<D, A>, U>> {
    let _ = (dims, options);
    Tensor::try_from_erased(crate::erased::reduce::new(Op::{op}, self.erased.erased(D::STATIC), <A as Picking<D>>::PICKED, crate::erased::stat::in_dtype(U::DTYPE), <Without<D, A>>::STATIC))
}
";

pub const REDUCE_WITH_OUT: &str = "
/// Like [`{name}_with`](Self::{name}_with), but writes the result to `out`.
{stays}
#[twin]
pub fn try_{name}_with_out<A: AxesOf<D>, U: Element + StoreAs<V>, O: Dims + Holds<Without<D, A>>, V: Element>(&self, dims: A, options: ReduceOptions<U>, out: &mut Tensor<O, V>) -> Result<()> {
    Tensor::store(Op::{op}, self.try_{name}_with(dims, options), out)
}
";

pub const REDUCE_CORRECTED: &str = "
/// Like [`{name}`](Self::{name}), but subtracts `options.correction` from the number of elements instead of 1.
///
/// # Errors
/// If `options.keepdim` is set: the type determines it, so write `keep(..)`.
#[twin]
pub fn try_{name}_with<A: AxesOf<D>>(&self, dims: A, options: VarOptions) -> Result<Tensor<Without<D, A>, {dtype}>> where {takes} {
    let _ = dims;
    Tensor::try_from_erased(crate::erased::stat::corrected(Op::{op}, self.erased.erased(D::STATIC), <A as Picking<D>>::PICKED, options, <Without<D, A>>::STATIC))
}
";

pub const REDUCE_OUT: &str = "
/// Like [`{name}`](Self::{name}), but writes the result to `out`.
{stays}
#[twin]
pub fn try_{name}_out<A: AxesOf<D>, O: Dims + Holds<Without<D, A>>, U: Element>(&self, dims: A, out: &mut Tensor<O, U>) -> Result<()> where {takes} {dtype}: StoreAs<U> {
    self.try_{name}(dims).and_then(|found| crate::erased::reduce::store(Op::{op}, found.erased, <Without<D, A>>::STATIC, &mut out.erased, O::STATIC))
}
";

pub const ALONG: &str = "
/// {doc}{differs}
{alone}
#[twin]
pub fn try_{name}<X: DimOf<D>>(&self, dim: X) -> Result<Tensor<D, {dtype}>> where {takes} {
    Tensor::try_from_erased(crate::erased::reduce::{family}(Op::{op}, self.erased.erased(D::STATIC), at(&dim, self), None))
}
";

pub const ALONG_WITH: &str = "
/// Like [`{name}`](Self::{name}), but computes in and returns the dtype of `options`.
///
/// # Errors
/// If the operator does not support the dtype.
#[twin]
pub fn try_{name}_with<X: DimOf<D>, U: Element>(&self, dim: X, options: ReduceOptions<U>) -> Result<Tensor<D, U>> {
    let _ = options;
    Tensor::try_from_erased(crate::erased::reduce::{family}(Op::{op}, self.erased.erased(D::STATIC), at(&dim, self), Some(U::DTYPE)))
}
";

pub const ALONG_WITH_: &str = "
/// Like [`{name}_with`](Self::{name}_with), but in place.
{stays}
#[twin]
pub fn try_{name}_with_<X: DimOf<D>, U: Element + StoreAs<T>>(&mut self, dim: X, options: ReduceOptions<U>) -> Result<&mut Self> {
    let computed = self.try_{name}_with(dim, options);
    self.replace(Op::{op}, computed)?;
    Ok(self)
}
";

pub const ALONG_WITH_OUT: &str = "
/// Like [`{name}_with`](Self::{name}_with), but writes the result to `out`.
{stays}
#[twin]
pub fn try_{name}_with_out<X: DimOf<D>, U: Element + StoreAs<V>, O: Dims + Holds<D>, V: Element>(&self, dim: X, options: ReduceOptions<U>, out: &mut Tensor<O, V>) -> Result<()> {
    Tensor::store(Op::{op}, self.try_{name}_with(dim, options), out)
}
";

pub const ALONG_: &str = "
/// Like [`{name}`](Self::{name}), but in place.
{stays}
#[twin]
pub fn try_{name}_<X: DimOf<D>>(&mut self, dim: X) -> Result<&mut Self> where {takes} {stored} {
    self.try_{name}(dim).and_then(|found| crate::erased::reduce::store(Op::{op}, found.erased, D::STATIC, &mut self.erased, D::STATIC))?;
    Ok(self)
}
";

pub const ALONG_OUT: &str = "
/// Like [`{name}`](Self::{name}), but writes the result to `out`.
{stays}
#[twin]
pub fn try_{name}_out<X: DimOf<D>, O: Dims + Holds<D>, U: Element>(&self, dim: X, out: &mut Tensor<O, U>) -> Result<()> where {takes} {dtype}: StoreAs<U> {
    self.try_{name}(dim).and_then(|found| crate::erased::reduce::store(Op::{op}, found.erased, D::STATIC, &mut out.erased, O::STATIC))
}
";

pub const PRODUCT_OUT: &str = "
/// Like [`{name}`](Self::{name}), but writes the result to `out`.
{stays}
#[twin]
pub fn try_{name}_out<E: Factor<D>{its}, O: Dims + Holds<Product<D, E>>, U: Element>(&self, {other}: &Tensor<E, T>, out: &mut Tensor<O, U>) -> Result<()> {own}T: StoreAs<U> {
    Tensor::store(Op::{op}, self.try_{name}({other}), out)
}
";
