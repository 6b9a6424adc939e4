//! The index of a mesh axis.

use super::placement::Placement;
use super::state::{State, Whole};
use crate::dims::{Axis, Bool, False, True};

/// One of the at most four axes of a mesh.
pub trait AxisIndex: 'static {
    /// The state along this axis.
    type Get<P: Placement>: State;
    /// `P` with another state along this axis.
    type Set<P: Placement, S: State>: Placement<Mesh = P::Mesh>;
    /// Whether an axis after this one splits dim `N`.
    type SplitInside<P: Placement, N: Axis>: Bool;
    /// Whether the axis exists.
    type Exists: Bool;
    /// The index, from 0.
    const INDEX: usize;
}

type Splits<S, N> = <S as State>::Splits<N>;
pub(super) type Or<A, B> = <A as Bool>::Or<B>;

/// The first axis.
#[derive(Clone, Copy, Debug)]
pub enum At0 {}
/// The second axis.
#[derive(Clone, Copy, Debug)]
pub enum At1 {}
/// The third axis.
#[derive(Clone, Copy, Debug)]
pub enum At2 {}
/// The fourth axis.
#[derive(Clone, Copy, Debug)]
pub enum At3 {}

impl AxisIndex for At0 {
    type Get<P: Placement> = P::S0;
    type Set<P: Placement, S: State> = P::Of<S, P::S1, P::S2, P::S3>;
    type SplitInside<P: Placement, N: Axis> =
        Or<Splits<P::S1, N>, Or<Splits<P::S2, N>, Splits<P::S3, N>>>;
    type Exists = True;
    const INDEX: usize = 0;
}

impl AxisIndex for At1 {
    type Get<P: Placement> = P::S1;
    type Set<P: Placement, S: State> = P::Of<P::S0, S, P::S2, P::S3>;
    type SplitInside<P: Placement, N: Axis> = Or<Splits<P::S2, N>, Splits<P::S3, N>>;
    type Exists = True;
    const INDEX: usize = 1;
}

impl AxisIndex for At2 {
    type Get<P: Placement> = P::S2;
    type Set<P: Placement, S: State> = P::Of<P::S0, P::S1, S, P::S3>;
    type SplitInside<P: Placement, N: Axis> = Splits<P::S3, N>;
    type Exists = True;
    const INDEX: usize = 2;
}

impl AxisIndex for At3 {
    type Get<P: Placement> = P::S3;
    type Set<P: Placement, S: State> = P::Of<P::S0, P::S1, P::S2, S>;
    type SplitInside<P: Placement, N: Axis> = False;
    type Exists = True;
    const INDEX: usize = 3;
}

/// The index of an axis that a mesh does not have.
#[derive(Clone, Copy, Debug)]
pub enum AtNone {}

impl AxisIndex for AtNone {
    type Get<P: Placement> = Whole;
    type Set<P: Placement, S: State> = P::Of<P::S0, P::S1, P::S2, P::S3>;
    type SplitInside<P: Placement, N: Axis> = False;
    type Exists = False;
    const INDEX: usize = usize::MAX;
}
