//! Names for dims that rustc does not know, `refine_names`, and other markers with the same names,
//! `to_dims`.

use super::align::{OneRestIn, OrderSpec, OrderState};
use super::broadcast::Holds;
use super::dims::Dims;
use super::distinct::Distinct;

/// The dims of `x.refine_names(O)`: `O`, with the dims of `D` in place of `..`.
pub type Refined<D, O> = <<O as OrderSpec>::Read as OrderState>::Refined<D>;

/// `x.refine_names(O)` is defined for dims `D`: `Wild` may become any name, a name stays. Write `O:
/// OrderSpec + Refine<D>`.
pub trait Refine<D> {}
impl<O: OrderSpec, D: Dims + RefineInto<Refined<D, O>>> Refine<D> for O where O::Read: OneRestIn<D> {}

/// Each `Wild` of `Self` may become the dim of `T` at its position; each name stays.
#[diagnostic::on_unimplemented(
    message = "dims {Self} cannot be refined to dims {T}",
    label = "names and the number of dims must stay",
    note = "to change a known name: `x.rename(N, M)`"
)]
pub trait RefineInto<T> {}
#[diagnostic::do_not_recommend]
impl<D: Dims + Holds<T>, T: Dims + Distinct> RefineInto<T> for D {}

/// The dims of `Self` and `E` are spelled alike, position by position, possibly with markers of
/// different crates. `Wild` matches only `Wild`.
///
/// Every list is spelled like itself, so this bound never restricts generic code.
#[diagnostic::on_unimplemented(
    message = "dims {Self} differ from dims {E}",
    label = "expected dims {E}, from any crate",
    note = "another order: `x.align_to((N, C))`; other names: `x.rename(N, M)`"
)]
pub trait SpelledAs<E> {}
#[diagnostic::do_not_recommend]
impl<D: Dims + Holds<E>, E: Dims + Holds<D>> SpelledAs<E> for D {}
