//! Sorted sequences in which rows of values are looked up: `searchsorted`.

use super::axis::Axis;
use super::broadcast::BroadcastWith;
use super::dims::Dims;

/// Sequences with these dims fit values of dims `E`: one sequence for all values, or one per row of
/// values, whose dims before the last are the same.
#[diagnostic::on_unimplemented(
    message = "sequences of dims {Self} do not match values of dims {E}",
    label = "expected one sequence, or one for each row of dims {E}",
    note = "give a sequence of one dim, or one with the leading dims of the values"
)]
pub trait Sequences<E> {}

#[diagnostic::do_not_recommend]
impl<K: Axis, E: Dims> Sequences<E> for (K,) {}

macro_rules! rows {
    ($(($($a:ident)*) ($($b:ident)*);)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<K: Axis, L: Axis, $($a: Axis, $b: Axis),*> Sequences<($($b,)* L)> for ($($a,)* K)
        where
            ($($a,)*): BroadcastWith<($($b,)*)>,
        {
        }
    )*};
}

rows! {
    (A0) (B0);
    (A0 A1) (B0 B1);
    (A0 A1 A2) (B0 B1 B2);
    (A0 A1 A2 A3) (B0 B1 B2 B3);
    (A0 A1 A2 A3 A4) (B0 B1 B2 B3 B4);
    (A0 A1 A2 A3 A4 A5) (B0 B1 B2 B3 B4 B5);
    (A0 A1 A2 A3 A4 A5 A6) (B0 B1 B2 B3 B4 B5 B6);
}
