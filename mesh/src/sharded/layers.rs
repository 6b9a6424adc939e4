//! Network layers on each rank's piece: attention, RMS norm, GELU and concatenation.

use nomina::dims::{Attend, Attended, DimOf, Dims, Distinct, Has, Resizable, SizeOf, position};
use nomina::{AttentionOptions, DynTensor, Element, Error, ErrorKind, Float, GeluOptions, Result};
use nomina_core::dims::DimList;
use nomina_core::mesh::{
    AllFinished, AllLinear, HasWhole, InPointwise, Joined, PlacedWith, Placement,
};
use nomina_macros::twin;

use super::along::{Along, from_dyn};
use super::{Sharded, typed};

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// Applies GELU, exact or with the tanh approximation.
    ///
    /// # Errors
    /// If memory is missing.
    #[twin]
    pub fn try_gelu_with(&self, options: GeluOptions) -> Result<Self>
    where
        T: Float,
        P: AllFinished,
    {
        self.mapped("gelu", self.local.try_gelu_with(options))
    }

    /// Divides the elements by their root mean square along a dim (`eps` is added to the mean square). `via` a mesh
    /// axis, the sum of squares of each row is exchanged. To apply a weight, multiply with `*`.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { N, Hidden }
    /// mesh! { Line: Model }
    ///
    /// let scaled = Line::threads([2], |mesh| {
    ///     let x: Sharded<(N, Hidden), Line<Split<Hidden>>> =
    ///         mesh.whole(tensor!([[3., 4.]]; N, Hidden)).cut(Model, Hidden);
    ///     Ok(x.rms_norm(Hidden.via(Model), 0.0).local().to_vec()[0])
    /// })?;
    /// assert!((scaled[0] - 3.0 / 12.5_f32.sqrt()).abs() < 1e-6);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If memory is missing, or a rank is gone.
    #[twin]
    pub fn try_rms_norm<A: Along<P, D>>(&self, dim: A, eps: f64) -> Result<Self>
    where
        T: Float,
        P: AllFinished,
        D: Has<A::Dim> + Distinct,
    {
        let (_, at) = (dim, std::panic::Location::caller());
        let position = position::<A::Dim, D>();
        let x = self.local.to_dyn();
        let Some(axis) = A::VIA else {
            let options = nomina::dynamic::RmsNormOptions {
                weight: None,
                eps: Some(eps),
            };
            let found = x.rms_norm_with(position as i64, options)?;
            return self.mapped("rms_norm", typed(found.into_parts().0));
        };
        let split_dim = self.split_dim("rms_norm", position, axis, at);
        self.mapped("rms_norm", from_dyn(split_dim.rms_norm(&x, eps)?))
    }

    /// Attention of queries (this tensor), with dims batch, length and features, to keys with dims batch, source and
    /// features. Batch dims, including heads, may be split; each rank has all of the lengths, sources and features.
    /// Sends nothing.
    ///
    /// # Errors
    /// If sizes do not match, an option is out of range, or memory is missing.
    #[twin]
    pub fn try_scaled_dot_product_attention_with<E: Dims, F: Attend<D, E>, Q>(
        &self,
        key: &Sharded<E, Q, T>,
        value: &Sharded<F, Q, T>,
        options: AttentionOptions,
    ) -> Result<Sharded<Attended<D, E, F>, Joined<P, Q>, T>>
    where
        T: Float,
        P: AllFinished
            + HasWhole<<D as DimList>::Row>
            + HasWhole<<D as DimList>::Col>
            + PlacedWith<InPointwise, Q, D, E>
            + PlacedWith<InPointwise, Q, D, F>,
        Q: Placement<Mesh = P::Mesh>
            + HasWhole<<E as DimList>::Row>
            + HasWhole<<F as DimList>::Col>,
    {
        let op = "scaled_dot_product_attention";
        self.require_fit(op, value)?;
        let local =
            self.local
                .try_scaled_dot_product_attention_with(&key.local, &value.local, options);
        self.combined(op, key, local)
    }

    /// Ring attention: the source dim of the keys and values is split, and named `via` the axis that splits it. Their
    /// parts travel around this axis; each rank holds two parts at a time. The queries' length may be split over this
    /// or another axis; `is_causal` uses global positions. Dropout, grouped heads and second derivatives are not
    /// supported.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { Length, Source, Key, Value }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let q: Sharded<(Length, Key), Line<Split<Length>>> = mesh.randn([6, 4])?;
    ///     let k: Sharded<(Source, Key), Line<Split<Source>>> = mesh.randn([6, 4])?;
    ///     let v: Sharded<(Source, Value), Line<Split<Source>>> = mesh.randn([6, 3])?;
    ///     let options = AttentionOptions { is_causal: true, ..default() };
    ///     let mixed: Sharded<(Length, Value), Line<Split<Length>>> =
    ///         q.scaled_dot_product_attention_via(&k, &v, Source.via(Data), options);
    ///     // The first query sees the first key alone.
    ///     Ok((mixed.all_gather(Data) - v.all_gather(Data).rename(Source, Length)).select(Length, 0).abs().amax(..).item())
    /// })?;
    /// assert!(found[1] < 1e-6);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If sizes do not match, an option is not supported, memory is missing, or a rank is gone.
    #[twin]
    pub fn try_scaled_dot_product_attention_via<E, F: Attend<D, E>, Q, A>(
        &self,
        key: &Sharded<E, Q, T>,
        value: &Sharded<F, Q, T>,
        source: A,
        options: AttentionOptions,
    ) -> Result<Sharded<Attended<D, E, F>, Joined<P, A::Whole<Q>>, T>>
    where
        T: Float,
        A: Along<Q, E>,
        E: Dims + Has<A::Dim>,
        P: AllFinished
            + HasWhole<<D as DimList>::Col>
            + PlacedWith<InPointwise, A::Whole<Q>, D, E>
            + PlacedWith<InPointwise, A::Whole<Q>, D, F>,
        Q: Placement<Mesh = P::Mesh>
            + AllFinished
            + HasWhole<<E as DimList>::Col>
            + HasWhole<<F as DimList>::Col>,
        Attended<D, E, F>: Distinct,
    {
        let (_, at) = (source, std::panic::Location::caller());
        let op = "scaled_dot_product_attention";
        self.require_same_mesh(op, key)?;
        self.require_same_mesh(op, value)?;
        let metadata = self.metadata();
        let first = match D::RANK {
            0 | 1 => 0,
            rank => metadata.range(rank - 2, None).0,
        };
        let attention = crate::split_dim::Attention {
            metadata: key.metadata(),
            op,
            source: position::<A::Dim, E>(),
            via: A::VIA,
            at,
            first,
        };
        let [q, k, v] = [
            self.local.to_dyn(),
            key.local.to_dyn(),
            value.local.to_dyn(),
        ];
        let found = attention.compute(&q, &k, &v, options)?;
        let operands = [self.operand(), key.operand(), value.operand()];
        Sharded::from_result(op, from_dyn(found)?, self.mesh.clone(), &operands)
    }
}

/// Concatenates tensors of one placement along a dim that each rank has all of.
///
/// ```
/// use nomina_mesh::prelude::*;
/// dims! { N, C }
/// mesh! { Line: Data }
///
/// let mesh = Line::alone();
/// let x: Sharded<(N, C), Line<Split<N>>> = mesh.whole(Tensor::ones([2, 3])).cut(Data, N);
/// assert_eq!(nomina_mesh::cat(&[&x, &x], C).shape(), [2, 6]);
/// # Ok::<(), nomina::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Argument`] if there are no tensors; [`ErrorKind::Shape`] if sizes do not match; if memory is missing.
#[twin(free)]
pub fn try_cat<D, P, T: Element, X: DimOf<D>>(
    tensors: &[&Sharded<D, P, T>],
    dim: X,
) -> Result<Sharded<D, P, T>>
where
    P: Placement + AllLinear + HasWhole<(X,)>,
    D: Dims + Distinct,
    SizeOf<X>: Resizable<X>,
{
    let op = "cat";
    let _ = dim;
    let Some((first, others)) = tensors.split_first() else {
        return Err(Error::new(ErrorKind::Argument, op, "no tensors to join"));
    };
    for other in others {
        first.require_fit(op, other)?;
    }
    let locals: Vec<DynTensor> = tensors.iter().map(|one| one.local.to_dyn()).collect();
    let locals: Vec<&DynTensor> = locals.iter().collect();
    let joined = DynTensor::cat(&locals, position::<X, D>() as i64)?;
    let operands: Vec<_> = tensors.iter().map(|one| one.operand()).collect();
    Sharded::from_result(
        op,
        typed(joined.into_parts().0)?,
        first.mesh.clone(),
        &operands,
    )
}
