//! Placements as types and as values: every pair of states gives the same answers.

use nomina_core::Names;
use nomina_core::dims::*;
use nomina_core::mesh::value::{self, Place};
use nomina_core::mesh::{
    At0, At1, ByMax, BySum, Combine, Fault, InPointwise, InProducts, InQuotients, InSums, MeshAxis,
    Mode, Own, Pending, Placement, Split, State, Synced, Verdict, Whole,
};

#[macro_use]
mod dims_support;
use dims_support::*;

#[derive(Clone, Copy, Debug, Default)]
struct Data;
#[derive(Clone, Copy, Debug, Default)]
struct Model;
struct Grid<A, B>(core::marker::PhantomData<(A, B)>);

impl MeshAxis for Data {
    type Mesh = Grid<Whole, Whole>;
    type Index = At0;
    const NAME: &'static str = "Data";
}
impl MeshAxis for Model {
    type Mesh = Grid<Whole, Whole>;
    type Index = At1;
    const NAME: &'static str = "Model";
}
impl<A: State, B: State> Placement for Grid<A, B> {
    type Mesh = Grid<Whole, Whole>;
    type X0 = Data;
    type X1 = Model;
    type X2 = nomina_core::mesh::NoAxis;
    type X3 = nomina_core::mesh::NoAxis;
    type S0 = A;
    type S1 = B;
    type S2 = Whole;
    type S3 = Whole;
    type Of<S0: State, S1: State, S2: State, S3: State> = Grid<S0, S1>;
    const AXES: &'static [&'static str] = &["Data", "Model"];
    const PLACES: &'static [value::StaticPlace] = &[A::PLACE, B::PLACE];
}

fn names<D: Dims>() -> Names {
    Names::from_static(D::NAMES)
}

/// Asserts that the verdicts of a type and of a value agree.
fn same<V: Verdict>(asked: &value::Verdict, what: &str) {
    let typed = V::FAULT.map(|(fault, _, dims)| {
        let dims: Vec<&str> = dims.into_iter().filter(|dim| !dim.is_empty()).collect();
        (fault, dims)
    });
    let value = asked.as_ref().err().map(|(fault, dims)| {
        (
            *fault,
            dims.iter().map(|dim| dim.as_str()).collect::<Vec<_>>(),
        )
    });
    assert_eq!(typed, value, "{what}");
}

fn pair<M: Mode, A: State, B: State, D: Dims, E: Dims>() {
    let (a, b) = (A::PLACE.place(), B::PLACE.place());
    let (d, e) = (names::<D>(), names::<E>());
    let what = format!("{:?}: {a:?} of {d:?} beside {b:?} of {e:?}", M::MODE);
    let asked = a.beside(M::MODE, &b, &d, &e);
    same::<A::Beside<M, B, Data, D, E>>(&asked, &what);
    // With the operands swapped, the verdict is the same.
    if M::MODE != value::Mode::QuotientOfTwo {
        let back = b.beside(M::MODE, &a, &e, &d);
        assert_eq!(asked.is_ok(), back.is_ok(), "{what}");
    }
    same::<M::WithNumber<A, Data>>(&a.with_number(M::MODE), &what);
    assert_eq!(<A::Join<B> as State>::PLACE.place(), a.join(&b), "{what}");
}

fn pairs<A: State, B: State>() {
    pair::<InSums, A, B, (N, C), (N, C)>();
    pair::<InSums, A, B, (N, C), (C,)>();
    pair::<InSums, A, B, (C,), (N,)>();
    pair::<InProducts, A, B, (N, C), (N, C)>();
    pair::<InProducts, A, B, (N,), (N, C)>();
    pair::<InProducts, A, B, (C,), (N,)>();
    pair::<InQuotients, A, B, (N, C), (N, C)>();
    pair::<InQuotients, A, B, (N,), (C,)>();
    pair::<InPointwise, A, B, (N, C), (N, C)>();
    pair::<InPointwise, A, B, (C,), (N, C)>();
}

fn alone<A: State>() {
    let a = A::PLACE.place();
    let what = format!("{a:?}");
    same::<A::Finished<Data>>(&a.finished(), &what);
    same::<A::Linear<Data>>(&a.linear(), &what);
    same::<A::HasAll<(N,), Data>>(&a.has_all(&names::<(N,)>()), &what);
    same::<A::HasAll<(H, C), Data>>(&a.has_all(&names::<(H, C)>()), &what);
    same::<A::HasEvery<(N, C), Data>>(&a.has_every(&names::<(N, C)>()), &what);
    let (both, first) = (names::<(N, C)>(), names::<(N,)>());
    same::<A::SplitsFirst<(N, C), (N,), Data>>(&a.splits_first(&both, &first), &what);
    same::<A::IsPending<Data>>(&a.pending(), &what);
    same::<A::IsSplit<Data>>(&a.split(), &what);
    same::<A::IsWhole<Data>>(&a.whole(), &what);
    same::<A::IsPlain<Data>>(&a.plain(), &what);
    same::<A::IsSynced<Data>>(&a.synced(), &what);
    same::<A::IsOwn<Data>>(&a.own(), &what);
    same::<A::IsLoss<Data>>(&a.loss(), &what);
    assert_eq!(<A::Dual as State>::PLACE.place(), a.dual());
    let across = a.across(&names::<(N,)>(), Combine::Max);
    assert_eq!(<A::Across<(N,), ByMax> as State>::PLACE.place(), across);
    assert_eq!(
        A::Dim::NAMES.first().copied().flatten(),
        a.dim().map(|dim| dim.as_str())
    );
}

macro_rules! all_pairs {
    ([$($a:ty),*] $all:tt) => { $(all_pairs!(@ $a, $all);)* };
    (@ $a:ty, [$($b:ty),*]) => { alone::<$a>(); $(pairs::<$a, $b>();)* };
}

#[test]
fn types_and_values_give_the_same_answers() {
    all_pairs!(
        [Whole, Synced, Split<N>, Split<C>, Pending<BySum>, Pending<ByMax>, Own]
        [Whole, Synced, Split<N>, Split<C>, Pending<BySum>, Pending<ByMax>, Own]
    );
}

#[test]
fn a_fault_says_along_which_axis_and_the_way_out() {
    let wrong = (
        Fault::IsSplit,
        vec![nomina_core::Name::new("Hidden").unwrap()],
    );
    assert_eq!(
        value::error("sum", "Model", &wrong).to_string(),
        "sum: dim `Hidden` is split over mesh axis `Model`; each rank has a part of `Hidden`; \
         `across(Hidden)` leaves a pending result where the operator has one; `.all_gather(Model)` makes the dim whole"
    );
}

#[test]
fn duals_of_duals_are_the_same_but_for_what_has_no_gradient() {
    for place in [
        Place::Whole,
        Place::Synced,
        Place::Pending(Combine::Add),
        Place::Own,
    ] {
        assert_eq!(place.dual().dual(), place);
    }
}
