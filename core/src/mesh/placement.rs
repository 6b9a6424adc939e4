//! Placements: one state per axis of a mesh.

use super::index::{AtNone, AxisIndex};
use super::state::{Split, State, Whole};
use super::value::StaticPlace;
use crate::dims::{Bool, DimList, Dims};

/// A mesh with one state per axis: `Grid<Split<Batch>, Whole>`. `mesh!` writes the impl. A mesh has at most 4 axes;
/// along the missing ones every tensor is [`Whole`].
///
/// A placement rebuilt from its own states is itself, so generic code needs no bound for `x + x`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a placement",
    label = "expected a mesh with one state for each axis",
    note = "declare a mesh with `mesh! {{ Grid: Data, Model }}`, and write `Grid<Split<Batch>, Whole>`"
)]
pub trait Placement: Sized + Send + Sync + 'static {
    /// The mesh, whole along all axes.
    type Mesh: Placement<Mesh = Self::Mesh>;
    /// The first axis.
    type X0: MeshAxis;
    /// The second axis, or [`NoAxis`].
    type X1: MeshAxis;
    /// The third axis, or [`NoAxis`].
    type X2: MeshAxis;
    /// The fourth axis, or [`NoAxis`].
    type X3: MeshAxis;
    /// The state along the first axis.
    type S0: State;
    /// The state along the second axis.
    type S1: State;
    /// The state along the third axis.
    type S2: State;
    /// The state along the fourth axis.
    type S3: State;
    /// This mesh with other states.
    type Of<S0: State, S1: State, S2: State, S3: State>: Placement<Mesh = Self::Mesh>;
    /// The names of the axes.
    const AXES: &'static [&'static str];
    /// The states as values, by axis.
    const PLACES: &'static [StaticPlace];
}

/// An axis of a mesh: a type and a value that `mesh!` declares.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an axis of a mesh",
    label = "expected an axis that `mesh!` declares"
)]
pub trait MeshAxis: Copy + Default + Send + Sync + 'static {
    /// The mesh, whole along all axes.
    type Mesh: Placement<Mesh = Self::Mesh>;
    /// The index of the axis.
    type Index: AxisIndex;
    /// The name of the axis.
    const NAME: &'static str;
}

/// The axis belongs to the mesh of placement `P`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an axis of the mesh of `{P}`",
    label = "an axis of another mesh"
)]
pub trait AxisOf<P>: MeshAxis {}
#[diagnostic::do_not_recommend]
impl<P: Placement, X: MeshAxis<Mesh = P::Mesh>> AxisOf<P> for X {}

/// The state of `P` along axis `X`.
pub type StateAt<P, X> = <<X as MeshAxis>::Index as AxisIndex>::Get<P>;

/// `P` with state `S` along axis `X`.
pub type Set<P, X, S> = <<X as MeshAxis>::Index as AxisIndex>::Set<P, S>;

/// The placement of the gradient of a tensor in placement `P`.
pub type Dual<P> = <P as Placement>::Of<
    <<P as Placement>::S0 as State>::Dual,
    <<P as Placement>::S1 as State>::Dual,
    <<P as Placement>::S2 as State>::Dual,
    <<P as Placement>::S3 as State>::Dual,
>;

/// An axis that a mesh does not have.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAxis;

/// The mesh without axes.
#[derive(Clone, Copy, Debug)]
pub enum NoMesh {}

#[diagnostic::do_not_recommend]
impl MeshAxis for NoAxis {
    type Mesh = NoMesh;
    type Index = AtNone;
    const NAME: &'static str = "";
}

#[diagnostic::do_not_recommend]
impl Placement for NoMesh {
    type Mesh = Self;
    type X0 = NoAxis;
    type X1 = NoAxis;
    type X2 = NoAxis;
    type X3 = NoAxis;
    type S0 = Whole;
    type S1 = Whole;
    type S2 = Whole;
    type S3 = Whole;
    type Of<S0: State, S1: State, S2: State, S3: State> = Self;
    const AXES: &'static [&'static str] = &[];
    const PLACES: &'static [StaticPlace] = &[];
}

/// An assignment of mesh axes to the dims they split. `layout!` writes it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layout",
    label = "expected a layout that `layout!` declares"
)]
pub trait Layout: 'static {
    /// The placement of a tensor of dims `D`: each axis splits the first of its dims that `D` has.
    type Place<D: Dims>: Placement;
}

/// The placement that layout `L` gives a tensor of dims `D`.
pub type Place<L, D> = <L as Layout>::Place<D>;

/// `Split<N>` if `D` has dim `N`, else `S`.
pub type SplitIf<D, N, S> = <<D as DimList>::Contains<N> as Bool>::State<Split<N>, S>;
