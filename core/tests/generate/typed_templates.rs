//! What the typed methods of each family look like.

pub const UNARY: &str = "
/// {doc}{differs}
{panics}
#[track_caller]
#[must_use]
pub fn {name}(&self) -> Tensor<D, {dtype}> where {takes} {
    Tensor::wrap(pointwise::made_unary(Op::{op}, self.bare.look(D::STATIC)))
}

/// [`{name}`](Self::{name}) that returns the error.
{tried}
pub fn try_{name}(&self) -> Result<Tensor<D, {dtype}>> where {takes} {
    Tensor::give(pointwise::unary(Op::{op}, self.bare.look(D::STATIC)))
}
";

pub const UNARY_: &str = "
/// [`{name}`](Tensor::{name}), in place.
{panics}
#[track_caller]
pub fn {name}_(&mut self) -> &mut Self where {takes} {stored} {
    ok(pointwise::in_place(Op::{op}, self.dest(), &[]));
    self
}

/// [`{name}_`](Self::{name}_) that returns the error; then nothing has changed.
{tried}
pub fn try_{name}_(&mut self) -> Result<&mut Self> where {takes} {stored} {
    pointwise::in_place(Op::{op}, self.dest(), &[])?;
    Ok(self)
}
";

pub const UNARY_OUT: &str = "
/// [`{name}`](Self::{name}) into `out`.
{panics}
#[track_caller]
pub fn {name}_out<O: Dims + Holds<D>, U: Element>(&self, out: &mut Tensor<O, U>) where {takes} {dtype}: StoreAs<U> {
    ok(pointwise::into(Op::{op}, &[self.bare.side(D::STATIC)], D::STATIC, &mut out.bare, O::STATIC));
}

/// [`{name}_out`](Self::{name}_out) that returns the error; then nothing has changed.
{tried}
pub fn try_{name}_out<O: Dims + Holds<D>, U: Element>(&self, out: &mut Tensor<O, U>) -> Result<()> where {takes} {dtype}: StoreAs<U> {
    pointwise::into(Op::{op}, &[self.bare.side(D::STATIC)], D::STATIC, &mut out.bare, O::STATIC)
}
";

pub const PARAMETRIC: &str = "
/// {doc}{differs}
{panics}
#[track_caller]
#[must_use]
pub fn {name}(&self) -> Tensor<D, {dtype}> where {takes} {
    Tensor::wrap(done(pointwise::with(Op::{op}, self.bare.look(D::STATIC), &{op}Options::default().numbers())))
}

/// [`{name}`](Self::{name}) that returns the error.
{tried}
pub fn try_{name}(&self) -> Result<Tensor<D, {dtype}>> where {takes} {
    Tensor::give(pointwise::with(Op::{op}, self.bare.look(D::STATIC), &{op}Options::default().numbers()))
}

/// [`{name}`](Self::{name}) with numbers of choice.
{panics}
#[track_caller]
#[must_use]
pub fn {name}_with(&self, options: {op}Options) -> Tensor<D, {dtype}> where {takes} {
    Tensor::wrap(done(pointwise::with(Op::{op}, self.bare.look(D::STATIC), &options.numbers())))
}

/// [`{name}_with`](Self::{name}_with) that returns the error.
{tried}
pub fn try_{name}_with(&self, options: {op}Options) -> Result<Tensor<D, {dtype}>> where {takes} {
    Tensor::give(pointwise::with(Op::{op}, self.bare.look(D::STATIC), &options.numbers()))
}
";

pub const PARAMETRIC_: &str = "
/// [`{name}`](Tensor::{name}), in place.
{panics}
#[track_caller]
pub fn {name}_(&mut self) -> &mut Self where {takes} {stored} {
    self.{name}_with_({op}Options::default())
}

/// [`{name}_`](Self::{name}_) that returns the error; then nothing has changed.
{tried}
pub fn try_{name}_(&mut self) -> Result<&mut Self> where {takes} {stored} {
    self.try_{name}_with_({op}Options::default())
}

/// [`{name}_with`](Tensor::{name}_with), in place.
{panics}
#[track_caller]
pub fn {name}_with_(&mut self, options: {op}Options) -> &mut Self where {takes} {stored} {
    ok(pointwise::with_in_place(Op::{op}, self.dest(), &options.numbers()));
    self
}

/// [`{name}_with_`](Self::{name}_with_) that returns the error; then nothing has changed.
{tried}
pub fn try_{name}_with_(&mut self, options: {op}Options) -> Result<&mut Self> where {takes} {stored} {
    pointwise::with_in_place(Op::{op}, self.dest(), &options.numbers())?;
    Ok(self)
}
";

pub const BINARY: &str = "
/// {doc} Dims unify from the right, dtypes promote.{differs}
{panics}
#[track_caller]
#[must_use]
pub fn {name}<R: Operand>(&self, {other}: R) -> Tensor<OutDims<R, D, T>, {dtype}> where R::Kind: Combine<D, T>, {
    Tensor::wrap(pointwise::made(Op::{op}, &[self.bare.side(D::STATIC), {other}.side()], <OutDims<R, D, T>>::STATIC))
}

/// [`{name}`](Self::{name}) that returns the error.
{tried}
pub fn try_{name}<R: Operand>(&self, {other}: R) -> Result<Tensor<OutDims<R, D, T>, {dtype}>> where R::Kind: Combine<D, T>, {
    Tensor::give(pointwise::new(Op::{op}, &[self.bare.side(D::STATIC), {other}.side()], <OutDims<R, D, T>>::STATIC))
}
";

pub const BINARY_: &str = "
/// [`{name}`](Tensor::{name}), in place.
{panics}
#[track_caller]
pub fn {name}_<R: Operand>(&mut self, {other}: R) -> &mut Self where R::Kind: Absorb<D, T{kind}>, {
    ok(pointwise::in_place(Op::{op}, self.dest(), &[{other}.side()]));
    self
}

/// [`{name}_`](Self::{name}_) that returns the error; then nothing has changed.
{tried}
pub fn try_{name}_<R: Operand>(&mut self, {other}: R) -> Result<&mut Self> where R::Kind: Absorb<D, T{kind}>, {
    pointwise::in_place(Op::{op}, self.dest(), &[{other}.side()])?;
    Ok(self)
}
";

pub const BINARY_OUT: &str = "
/// [`{name}`](Self::{name}) into `out`.
{panics}
#[track_caller]
pub fn {name}_out<R: Operand, O: Dims + Holds<OutDims<R, D, T>>, U: Element>(&self, {other}: R, out: &mut Tensor<O, U>) where R::Kind: Combine<D, T>, {dtype}: StoreAs<U> {
    ok(pointwise::into(Op::{op}, &[self.bare.side(D::STATIC), {other}.side()], <OutDims<R, D, T>>::STATIC, &mut out.bare, O::STATIC));
}

/// [`{name}_out`](Self::{name}_out) that returns the error; then nothing has changed.
{tried}
pub fn try_{name}_out<R: Operand, O: Dims + Holds<OutDims<R, D, T>>, U: Element>(&self, {other}: R, out: &mut Tensor<O, U>) -> Result<()> where R::Kind: Combine<D, T>, {dtype}: StoreAs<U> {
    pointwise::into(Op::{op}, &[self.bare.side(D::STATIC), {other}.side()], <OutDims<R, D, T>>::STATIC, &mut out.bare, O::STATIC)
}
";

pub const REDUCE: &str = "
/// {doc}{differs}
{panics}
#[track_caller]
#[must_use]
pub fn {name}<A: AxesOf<D>>(&self, dims: A) -> Tensor<Without<D, A>, {dtype}> where {takes} {
    let _ = dims;
    Tensor::wrap(done(crate::call::reduce::new(Op::{op}, self.bare.look(D::STATIC), <A as Picking<D>>::PICKED, nomina_runtime::call::ReduceOptions::default(), <Without<D, A>>::STATIC)))
}

/// [`{name}`](Self::{name}) that returns the error.
{tried}
pub fn try_{name}<A: AxesOf<D>>(&self, dims: A) -> Result<Tensor<Without<D, A>, {dtype}>> where {takes} {
    let _ = dims;
    Tensor::give(crate::call::reduce::new(Op::{op}, self.bare.look(D::STATIC), <A as Picking<D>>::PICKED, nomina_runtime::call::ReduceOptions::default(), <Without<D, A>>::STATIC))
}
";

pub const REDUCE_OUT: &str = "
/// [`{name}`](Self::{name}) into `out`.
{panics}
#[track_caller]
pub fn {name}_out<A: AxesOf<D>, O: Dims + Holds<Without<D, A>>, U: Element>(&self, dims: A, out: &mut Tensor<O, U>) where {takes} {dtype}: StoreAs<U> {
    ok(self.try_{name}(dims).and_then(|found| crate::call::reduce::store(Op::{op}, found.bare, <Without<D, A>>::STATIC, &mut out.bare, O::STATIC)));
}

/// [`{name}_out`](Self::{name}_out) that returns the error; then nothing has changed.
{tried}
pub fn try_{name}_out<A: AxesOf<D>, O: Dims + Holds<Without<D, A>>, U: Element>(&self, dims: A, out: &mut Tensor<O, U>) -> Result<()> where {takes} {dtype}: StoreAs<U> {
    self.try_{name}(dims).and_then(|found| crate::call::reduce::store(Op::{op}, found.bare, <Without<D, A>>::STATIC, &mut out.bare, O::STATIC))
}
";

pub const ALONG: &str = "
/// {doc}{differs}
{panics}
#[track_caller]
#[must_use]
pub fn {name}<X: DimOf<D>>(&self, dim: X) -> Tensor<D, {dtype}> where {takes} {
    Tensor::wrap(done(crate::call::reduce::{family}(Op::{op}, self.bare.look(D::STATIC), at(&dim, self), None)))
}

/// [`{name}`](Self::{name}) that returns the error.
{tried}
pub fn try_{name}<X: DimOf<D>>(&self, dim: X) -> Result<Tensor<D, {dtype}>> where {takes} {
    Tensor::give(crate::call::reduce::{family}(Op::{op}, self.bare.look(D::STATIC), at(&dim, self), None))
}
";

pub const ALONG_: &str = "
/// [`{name}`](Self::{name}), in place.
{panics}
#[track_caller]
pub fn {name}_<X: DimOf<D>>(&mut self, dim: X) -> &mut Self where {takes} {stored} {
    ok(self.try_{name}(dim).and_then(|found| crate::call::reduce::store(Op::{op}, found.bare, D::STATIC, &mut self.bare, D::STATIC)));
    self
}

/// [`{name}_`](Self::{name}_) that returns the error; then nothing has changed.
{tried}
pub fn try_{name}_<X: DimOf<D>>(&mut self, dim: X) -> Result<&mut Self> where {takes} {stored} {
    self.try_{name}(dim).and_then(|found| crate::call::reduce::store(Op::{op}, found.bare, D::STATIC, &mut self.bare, D::STATIC))?;
    Ok(self)
}
";

pub const ALONG_OUT: &str = "
/// [`{name}`](Self::{name}) into `out`.
{panics}
#[track_caller]
pub fn {name}_out<X: DimOf<D>, O: Dims + Holds<D>, U: Element>(&self, dim: X, out: &mut Tensor<O, U>) where {takes} {dtype}: StoreAs<U> {
    ok(self.try_{name}(dim).and_then(|found| crate::call::reduce::store(Op::{op}, found.bare, D::STATIC, &mut out.bare, O::STATIC)));
}

/// [`{name}_out`](Self::{name}_out) that returns the error; then nothing has changed.
{tried}
pub fn try_{name}_out<X: DimOf<D>, O: Dims + Holds<D>, U: Element>(&self, dim: X, out: &mut Tensor<O, U>) -> Result<()> where {takes} {dtype}: StoreAs<U> {
    self.try_{name}(dim).and_then(|found| crate::call::reduce::store(Op::{op}, found.bare, D::STATIC, &mut out.bare, O::STATIC))
}
";

pub const PRODUCT_OUT: &str = "
/// [`{name}`](Self::{name}) into `out`.
{panics}
#[track_caller]
pub fn {name}_out<E: Factor<D>{its}, O: Dims + Holds<Product<D, E>>, U: Element>(&self, {other}: &Tensor<E, T>, out: &mut Tensor<O, U>) {own}T: StoreAs<U> {
    ok(self.try_{name}_out({other}, out));
}

/// [`{name}_out`](Self::{name}_out) that returns the error; then nothing has changed.
{tried}
pub fn try_{name}_out<E: Factor<D>{its}, O: Dims + Holds<Product<D, E>>, U: Element>(&self, {other}: &Tensor<E, T>, out: &mut Tensor<O, U>) -> Result<()> {own}T: StoreAs<U> {
    Tensor::store(Op::{op}, self.try_{name}({other}), out)
}
";
