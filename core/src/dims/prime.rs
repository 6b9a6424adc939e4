//! A second axis of the same meaning: `Prime<N>`, printed `N'`.

use super::axes::{Has, HasOrLacks, NotBehindWild, Replaced};
use super::axis::{Axis, Dim, Named};
use super::dims::{DimList, Dims, MoreThan8Dims};
use super::distinct::FreshDim;
use super::head::H64;
use super::id::S64;

/// A second axis with the same meaning as `N`, which every operator treats as another dim: the columns of a covariance,
/// the positions that attention reads. Its name at run time is `N'`.
///
/// ```
/// # use nomina_core::dims::*;
/// # #[derive(Clone, Copy, Debug, Default)] struct N;
/// # impl Axis for N {
/// #     type Id = id::S39<id::End>;
/// #     type Head = head::H17;
/// #     type Kind = Named;
/// #     type Size = AnySize;
/// #     const NAME: Option<&'static str> = Some("N");
/// # }
/// # impl Dim for N {}
/// assert_eq!(<(N, Prime<N>) as DimTuple>::NAMES, [Some("N"), Some("N'")]);
/// assert_eq!(Prime(N).of(3).size, 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Prime<N>(
    /// The dim.
    pub N,
);

// No other spelling begins with this symbol, so no other dim has this identity.
#[diagnostic::do_not_recommend]
impl<N: Dim> Axis for Prime<N> {
    type Id = S64<N::Id>;
    type Head = H64;
    type Kind = Named;
    type Size = N::Size;
    const NAME: Option<&'static str> = Some(const { &Primed::new(N::NAME) }.as_str());
}

#[diagnostic::do_not_recommend]
impl<N: Dim> Dim for Prime<N> {}

/// The dims of `x.prime(N)`.
pub type PrimedDims<D, X> = Replaced<D, X, Prime<X>>;

/// The list with every dim primed: the dims of a Jacobian after those of the result.
pub type AllPrimes<D> = <D as PrimeEach>::Primes;

/// Every dim of the list has a name, and therefore a prime. [`AllPrimes`] is the result.
#[diagnostic::on_unimplemented(
    message = "dims {Self} have an unnamed dim, which has no prime",
    label = "name the dims first: `x.refine_names(..)`"
)]
pub trait PrimeEach: Dims {
    /// The primed dims.
    type Primes: Dims;
}

macro_rules! all_primes {
    ($($a:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<$($a: Dim,)*> PrimeEach for ($($a,)*) {
            type Primes = ($(Prime<$a>,)*);
        }
    };
}
each_rank!(all_primes);

/// This dim can be primed in `D`: it is there, and its prime is not. Write `X: OneDim + Primable<D>`.
#[diagnostic::on_unimplemented(
    message = "dim `{Self}` of dims {D} cannot be primed",
    label = "cannot prime `{Self}`"
)]
pub trait Primable<D> {}
impl<X: Dim, D: Dims + PrimeIn<X>> Primable<D> for X {}

/// Like [`Primable`], but as a bound on the list and implemented rank by rank, so that a list of unknown rank causes
/// a single error.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` of dims {Self} cannot be primed",
    label = "cannot prime `{X}`"
)]
pub trait PrimeIn<X> {}

macro_rules! primes {
    ($($a:ident)*) => {
        impl<$($a: Axis,)* X: Dim> PrimeIn<X> for ($($a,)*)
        where
            Self: HasOrLacks<X> + NotBehindWild<X> + Has<X>,
            Prime<X>: FreshDim<<Self as DimList>::Remove<X>, PrimedDims<Self, X>>,
        {
        }
    };
}
each_rank!(primes);
impl<X> PrimeIn<X> for MoreThan8Dims {}

/// A name followed by a quote.
struct Primed {
    bytes: [u8; 128],
    len: usize,
}

impl Primed {
    const fn new(name: Option<&str>) -> Self {
        let Some(name) = name else {
            panic!("only a named dim can be primed")
        };
        let name = name.as_bytes();
        let mut bytes = [0; 128];
        assert!(
            name.len() < bytes.len(),
            "the name of a primed dim has at most 127 letters"
        );
        let mut len = 0;
        while len < name.len() {
            bytes[len] = name[len];
            len += 1;
        }
        bytes[len] = b'\'';
        Self {
            bytes,
            len: len + 1,
        }
    }

    const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(name) => name,
            Err(_) => panic!("names are ASCII"),
        }
    }
}
