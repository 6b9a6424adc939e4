//! Classification losses. Rows may be split, as may classes, `via` the axis that splits them. The loss is then pending:
//! each rank has a partial sum.

use std::panic::Location;

use nomina::dims::{Broadcast, Dim, Dims, Distinct, Has, Sum, position};
use nomina::prelude::default;
use nomina::reduction::{self, Reduce};
use nomina::{Element, Float, Integer, Result, Targets};
use nomina_core::mesh::{
    AllFinished, BySum, InPointwise, Joined, PendingOver, PlacedWith, Placement,
};
use nomina_macros::twin;
use nomina_runtime::tensor::CrossEntropyOptions as Plain;

use super::Sharded;
use super::along::{Along, AlongDim, from_dyn};
use crate::origin::CallSite;
use crate::split_dim::{EntropyArgs, entropy};

/// Options of `cross_entropy_with` and `nll_loss_with`, for classes along the dim of `A` of a tensor in placement `P`.
/// The weight is split like the classes, and whole along other axes.
pub struct CrossEntropyOptions<'a, A: AlongDim, P: Placement, T: Element> {
    /// A weight for each class.
    pub weight: Option<&'a Sharded<(A::Dim,), A::Classes<P>, T>>,
    /// The target value of rows to ignore.
    pub ignore_index: i64,
    /// The share of each target that is spread evenly over all classes.
    pub label_smoothing: f64,
}

// A derive would add bounds that are not needed.
impl<A: AlongDim, P: Placement, T: Element> Default for CrossEntropyOptions<'_, A, P, T> {
    fn default() -> Self {
        let Plain {
            ignore_index,
            label_smoothing,
            ..
        } = Plain::default();
        Self {
            weight: None,
            ignore_index,
            label_smoothing,
        }
    }
}

impl<A: AlongDim, P: Placement, T: Element> std::fmt::Debug for CrossEntropyOptions<'_, A, P, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CrossEntropyOptions")
            .field("weight", &self.weight.map(Sharded::shape))
            .field("ignore_index", &self.ignore_index)
            .field("label_smoothing", &self.label_smoothing)
            .finish()
    }
}

/// The dims that a reduction of losses sums over.
pub trait LossDims: Reduce {
    /// The summed dims of logits of dims `D` with classes along `X`.
    type Summed<D: Dims, X: Dim>: Dims;
}
impl LossDims for reduction::Mean {
    type Summed<D: Dims, X: Dim> = D;
}
impl LossDims for reduction::Sum {
    type Summed<D: Dims, X: Dim> = D;
}
impl LossDims for reduction::None {
    type Summed<D: Dims, X: Dim> = (X,);
}

/// The dims of the losses of single rows.
type Rows<U, D, E, X> = <U as Targets>::Rows<Sum<<U as Targets>::Beside<D, X>, E>, X>;

/// The loss of logits of dims `D` in placement `P` and targets of dims `E` in placement `Q`, with classes along `A`,
/// reduced by `R`.
pub type Loss<D, P, E, Q, U, A, R, T> = Sharded<
    <R as Reduce>::Of<Rows<U, D, E, <A as AlongDim>::Dim>>,
    PendingOver<Joined<P, Q>, <R as LossDims>::Summed<D, <A as AlongDim>::Dim>, BySum>,
    T,
>;

impl<D: Dims + Distinct, P: Placement, T: Float> Sharded<D, P, T> {
    /// Returns the mean cross entropy of rows of logits, against the index of each row's true class, or against
    /// probabilities. Rows may be split: then the loss is pending, the sum of the ranks' parts, and an ignored row is
    /// an error.
    ///
    /// Classes may be split, `via` their axis: then the maximum logit and the sum of exponentials of each row are
    /// exchanged, the loss is pending over the axis, and the backward pass sends nothing.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { N, Vocab }
    /// mesh! { Line: Model }
    ///
    /// let losses = Line::threads([2], |mesh| {
    ///     let logits = tensor!([[2., 0., 1.], [0., 0., 0.]]; N, Vocab);
    ///     let logits: Sharded<_, Line<Split<Vocab>>> = mesh.whole(logits).cut(Model, Vocab);
    ///     let targets = mesh.whole(tensor!([0, 2]; N));
    ///     let loss: Sharded<(), Line<Pending>> = logits.cross_entropy(&targets, Vocab.via(Model));
    ///     Ok(loss.all_reduce(Model).item())
    /// })?;
    /// assert!((losses[0] - 0.753).abs() < 1e-3);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Index`](nomina::ErrorKind::Index) if a class does not exist; if memory is missing, or a rank is
    /// gone.
    #[twin]
    pub fn try_cross_entropy<E: Dims, Q: Placement<Mesh = P::Mesh>, U: Targets, A: Along<P, D>>(
        &self,
        target: &Sharded<E, Q, U>,
        dim: A,
    ) -> Result<Loss<D, P, E, Q, U, A, reduction::Mean, T>>
    where
        U::Beside<D, A::Dim>: Broadcast<E>,
        P: AllFinished + PlacedWith<InPointwise, Q, D, E>,
        D: Has<A::Dim>,
    {
        let (_, at) = (dim, Location::caller());
        self.classes::<E, Q, U, A, reduction::Mean>("cross_entropy", target, &default(), true, at)
    }

    /// Like [`cross_entropy`](Self::cross_entropy), with a choice of reduction and class weights. The mean over split
    /// rows supports neither weights nor ignored rows, since no rank knows the divisor of the others: use
    /// `reduction::Sum`, and divide.
    ///
    /// # Errors
    /// Like [`cross_entropy`](Self::cross_entropy), and if a weight does not fit.
    #[twin]
    pub fn try_cross_entropy_with<
        E: Dims,
        Q: Placement<Mesh = P::Mesh>,
        U: Targets,
        A: Along<P, D>,
        R: LossDims,
    >(
        &self,
        target: &Sharded<E, Q, U>,
        dim: A,
        reduction: R,
        options: CrossEntropyOptions<'_, A, P, T>,
    ) -> Result<Loss<D, P, E, Q, U, A, R, T>>
    where
        U::Beside<D, A::Dim>: Broadcast<E>,
        P: AllFinished + PlacedWith<InPointwise, Q, D, E>,
        D: Has<A::Dim>,
        R::Of<Rows<U, D, E, A::Dim>>: Distinct,
    {
        let (_, at) = ((dim, reduction), Location::caller());
        self.classes::<E, Q, U, A, R>("cross_entropy", target, &options, true, at)
    }

    /// Returns the mean of the negated values at the targets along a dim: [`cross_entropy`](Self::cross_entropy) for
    /// log-probabilities. Sends nothing.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { N, Vocab }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let logs = mesh.whole(tensor!([[-1., -2., -3.], [-4., -5., -6.]]; N, Vocab)).cut(Data, Vocab);
    ///     let targets = mesh.whole(tensor!([0, 2]; N));
    ///     let loss: Sharded<(), Line<Pending>> = logs.nll_loss(&targets, Vocab.via(Data));
    ///     Ok(loss.all_reduce(Data).item())
    /// })?;
    /// assert_eq!(found, [3.5, 3.5]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// Like [`cross_entropy`](Self::cross_entropy).
    #[twin]
    pub fn try_nll_loss<
        E: Dims,
        Q: Placement<Mesh = P::Mesh>,
        U: Targets + Integer,
        A: Along<P, D>,
    >(
        &self,
        target: &Sharded<E, Q, U>,
        dim: A,
    ) -> Result<Loss<D, P, E, Q, U, A, reduction::Mean, T>>
    where
        U::Beside<D, A::Dim>: Broadcast<E>,
        P: AllFinished + PlacedWith<InPointwise, Q, D, E>,
        D: Has<A::Dim>,
    {
        let (_, at) = (dim, Location::caller());
        self.classes::<E, Q, U, A, reduction::Mean>("nll_loss", target, &default(), false, at)
    }

    /// Like [`nll_loss`](Self::nll_loss), with a choice of reduction and class weights. The weights of split classes
    /// are reduced for each row.
    ///
    /// # Errors
    /// Like [`cross_entropy_with`](Self::cross_entropy_with).
    #[twin]
    pub fn try_nll_loss_with<
        E: Dims,
        Q: Placement<Mesh = P::Mesh>,
        U: Targets + Integer,
        A: Along<P, D>,
        R: LossDims,
    >(
        &self,
        target: &Sharded<E, Q, U>,
        dim: A,
        reduction: R,
        options: CrossEntropyOptions<'_, A, P, T>,
    ) -> Result<Loss<D, P, E, Q, U, A, R, T>>
    where
        U::Beside<D, A::Dim>: Broadcast<E>,
        P: AllFinished + PlacedWith<InPointwise, Q, D, E>,
        D: Has<A::Dim>,
        R::Of<Rows<U, D, E, A::Dim>>: Distinct,
    {
        let (_, at) = ((dim, reduction), Location::caller());
        self.classes::<E, Q, U, A, R>("nll_loss", target, &options, false, at)
    }

    fn classes<E: Dims, Q: Placement<Mesh = P::Mesh>, U: Targets, A: Along<P, D>, R: LossDims>(
        &self,
        op: &'static str,
        target: &Sharded<E, Q, U>,
        options: &CrossEntropyOptions<'_, A, P, T>,
        logits: bool,
        at: CallSite,
    ) -> Result<Loss<D, P, E, Q, U, A, R, T>>
    where
        D: Has<A::Dim>,
        R::Of<Rows<U, D, E, A::Dim>>: Distinct,
    {
        self.require_fit(op, target)?;
        if let Some(weight) = options.weight {
            self.require_fit(op, weight)?;
        }
        let weight = options.weight.map(|weight| weight.local.to_dyn());
        let args = EntropyArgs {
            target: &target.local.to_dyn(),
            weight: weight.as_ref(),
            ignore_index: options.ignore_index,
            smoothing: options.label_smoothing,
            logits,
            reduction: R::REDUCTION,
        };
        let dim = position::<A::Dim, D>();
        let local = entropy(
            &self.local.to_dyn(),
            &args,
            self.metadata(),
            (op, dim, A::VIA, at),
        )?;
        self.combined(op, target, from_dyn(local))
    }
}
