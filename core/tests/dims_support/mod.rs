//! Markers as `dims!` generates them, a tensor without data, and a macro that tests a bound.

#![allow(dead_code, missing_docs)]

use core::marker::PhantomData;
use core::ops::{Add, AddAssign};

use nomina_core::dims::*;
use nomina_core::*;

/// Declares a dim: its name, its head, the symbols of its spelling, and its constant size with the
/// size's digits.
macro_rules! dim {
    ($name:ident $head:ident $($symbol:ident)*) => { dim!(@ $name, AnySize, $head, $($symbol)*); };
    ($name:ident = $size:literal $($digit:ident)* : $head:ident $($symbol:ident)*) => {
        dim!(@ $name, Fixed<$size, dim!(@list $($digit)*)>, $head, $($symbol)*);
    };
    (@ $name:ident, $size:ty, $head:ident, $($symbol:ident)*) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name;
        impl nomina_core::dims::Axis for $name {
            type Id = dim!(@list $($symbol)*);
            type Head = nomina_core::dims::head::$head;
            type Kind = nomina_core::dims::Named;
            type Size = $size;
            const NAME: Option<&'static str> = Some(stringify!($name));
        }
        impl nomina_core::dims::Dim for $name {}
    };
    (@list) => { nomina_core::dims::id::End };
    (@list $first:ident $($rest:ident)*) => {
        nomina_core::dims::id::$first<dim!(@list $($rest)*)>
    };
}

// Some share a head, so that the spelling decides.
dim!(N H1 S39);
dim!(C H1 S28);
dim!(H H2 S33);
dim!(W H3 S48);
dim!(K H4 S36);
dim!(M H5 S38);
dim!(A H6 S26);
dim!(B H7 S27);
dim!(E H8 S30);
dim!(T H9 S45);
dim!(NC H1 S39 S28);
dim!(Features H10 S31 S4 S0);
dim!(Rgb = 3 S55: H11 S43 S6 S1);
dim!(Classes = 10 S53 S52: H12 S28 S11);

/// Markers of another crate.
pub mod other {
    use nomina_core::dims::{AnySize, Fixed};
    dim!(N H1 S39);
    dim!(C H1 S28);
    dim!(Rgb = 4 S56: H11 S43 S6 S1);
}

/// Tests whether a bound holds, without a compile error: an inherent constant takes precedence over
/// a trait's.
#[allow(unused_macros)]
macro_rules! holds {
    ($t:ty: $($bound:tt)+) => {{
        struct Ask<T>(core::marker::PhantomData<T>);
        #[allow(dead_code)]
        trait Otherwise {
            const HOLDS: bool = false;
        }
        impl<T> Otherwise for Ask<T> {}
        #[allow(dead_code)]
        impl<T: $($bound)+> Ask<T> {
            const HOLDS: bool = true;
        }
        <Ask<$t>>::HOLDS
    }};
}

/// A tensor that consists only of its type.
pub struct Tensor<D: Dims, T: Element = f32>(PhantomData<fn() -> (D, T)>);

pub fn make<D: Dims, T: Element>() -> Tensor<D, T> {
    Tensor(PhantomData)
}

impl<D: Dims> Tensor<D> {
    pub fn zeros<S: ShapeFor<D>>(_: S) -> Self
    where
        D: Distinct,
    {
        make()
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    pub fn names(&self) -> &'static [Option<&'static str>] {
        D::NAMES
    }
    pub fn from_array<R: ArrayFor<D, Item = T>>(_: R) -> Self
    where
        D: Distinct,
    {
        make()
    }
    pub fn sum<A: Axes>(&self, _: A) -> Tensor<Without<D, A>, T::Sum>
    where
        A::Checked: In<D>,
    {
        make()
    }
    pub fn softmax<X: DimOf<D>>(&self, _: X) -> Tensor<D, T> {
        make()
    }
    pub fn select<X: DimOf<D>>(&self, _: X, _: usize) -> Tensor<Without<D, X>, T> {
        make()
    }
    pub fn align_to<O: OrderSpec + Order<D>>(&self, _: O) -> Tensor<Aligned<D, O>, T> {
        make()
    }
    pub fn align_as<F: Dims, U: Element>(&self, _: &Tensor<F, U>) -> Tensor<F, T>
    where
        D: AlignInto<F>,
    {
        make()
    }
    pub fn rename<F: RenameArg + Rename<D, X>, X: RenameArg>(
        &self,
        _: F,
        _: X,
    ) -> Tensor<Renamed<D, F, X>, T> {
        make()
    }
    pub fn refine_names<O: OrderSpec + Refine<D>>(&self, _: O) -> Tensor<Refined<D, O>, T> {
        make()
    }
    pub fn transpose<X: DimOf<D>, Y: DimOf<D>>(
        &self,
        _: X,
        _: Y,
    ) -> Tensor<Transposed<D, X, Y>, T> {
        make()
    }
    pub fn t(&self) -> Tensor<Flipped<D>, T>
    where
        D: Flat,
    {
        make()
    }
    pub fn flatten<F: FlattenArg + Flatten<D, X>, X: OneDim>(
        &self,
        _: F,
        _: X,
    ) -> Tensor<Flattened<D, F, X>, T> {
        make()
    }
    pub fn unflatten<X: OneDim + Unflatten<D, S>, S: Sizes>(
        &self,
        _: X,
        _: S,
    ) -> Tensor<Unflattened<D, X, S>, T> {
        make()
    }
    pub fn unsqueeze<X: OneDim + Insert<D>>(&self, _: X) -> Tensor<Inserted<D, X>, T> {
        make()
    }
    pub fn expand<S: Sizes>(&self, _: S) -> Tensor<S::Dims, T>
    where
        D: ExpandInto<S::Dims>,
    {
        make()
    }
    pub fn matmul<F: Dims>(&self, _: &Tensor<F, T>) -> Tensor<Product<D, F>, T>
    where
        D: MatMul<F>,
    {
        make()
    }
    pub fn contract<F: Dims, X: OneDim + Contract<D, F>>(
        &self,
        _: &Tensor<F, T>,
        _: X,
    ) -> Tensor<Contracted<D, F, X>, T> {
        make()
    }
}

impl<'a, D: Dims + BroadcastWith<F>, T, F: Dims, U: Element> Add<&'a Tensor<F, U>> for &Tensor<D, T>
where
    T: Promote<U, DtypeRule<D, F>>,
{
    type Output = Tensor<Sum<D, F>, Promoted<T, U, DtypeRule<D, F>>>;
    fn add(self, _: &'a Tensor<F, U>) -> Self::Output {
        make()
    }
}

impl<'a, D: Dims + BroadcastWith<F> + HoldsInPlace<Sum<D, F>>, T, F: Dims, U: Element>
    AddAssign<&'a Tensor<F, U>> for Tensor<D, T>
where
    T: Promote<U, DtypeRule<D, F>>,
    Promoted<T, U, DtypeRule<D, F>>: StoreAs<T>,
{
    fn add_assign(&mut self, _: &'a Tensor<F, U>) {}
}
