//! What layers of networks need on each rank's piece: attention within a rank's batches, norms by root mean squares, joins.

use nomina::dims::{Attend, Attended, DimOf, Dims, Distinct, Has, Resizable, SizeOf, position};
use nomina::{AttentionOptions, DynTensor, Element, Error, ErrorKind, Float, GeluOptions, Result};
use nomina_core::dims::DimList;
use nomina_core::mesh::{
    AllFinished, AllLinear, HasWhole, InPointwise, Joined, PlacedWith, Placement,
};
use nomina_macros::twin;

use super::along::{Along, of};
use super::{Sharded, typed};

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// `gelu`, exact or by a formula with tanh.
    ///
    /// # Errors
    /// When memory is missing.
    #[twin]
    pub fn try_gelu_with(&self, options: GeluOptions) -> Result<Self>
    where
        T: Float,
        P: AllFinished,
    {
        self.mapped("gelu", self.local.try_gelu_with(options))
    }

    /// The elements divided by the root of their mean square along a dim (of all, plus `eps` in the root). `via` a mesh axis, the
    /// sum of squares of each row is exchanged. A weight follows by `*`.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { N, Hidden }
    /// mesh! { Line: Model }
    ///
    /// let scaled = Line::threads([2], |mesh| {
    ///     let x: Sharded<(N, Hidden), Line<Split<Hidden>>> =
    ///         mesh.whole(tensor!([[3., 4.]]; N, Hidden)).cut(Model, Hidden);
    ///     Ok(x.rms_norm(Hidden.via(Model), 0.0).local().item())
    /// })?;
    /// assert!((scaled[0] - 3.0 / 12.5_f32.sqrt()).abs() < 1e-6);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// When memory is missing, or a rank is gone.
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
        let parts = self.parts("rms_norm", position, axis, at);
        self.mapped("rms_norm", of(parts.rms_norm(&x, eps)?))
    }

    /// Attention of queries (this tensor) of dims batch, length, features to keys of batch, source, features. Batch dims may be
    /// split, heads among them; each rank has all of lengths, sources and features. Sends nothing.
    ///
    /// # Errors
    /// When sizes do not fit, an option is out of range, or memory is missing.
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
        self.fits(op, value)?;
        let local =
            self.local
                .try_scaled_dot_product_attention_with(&key.local, &value.local, options);
        self.combined(op, key, local)
    }

    /// Attention to keys and values whose sources are split, `via` the axis that splits them: they go round it, and each rank has
    /// two parts of them at a time. Queries may be split by their length over that axis or another; `is_causal` counts queries and
    /// keys over all ranks. There is no dropout, no grouping of heads, and no second derivative.
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
    /// When sizes do not fit, an option is not there, or memory is missing; when a rank is gone.
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
        self.one_mesh(op, key)?;
        self.one_mesh(op, value)?;
        let frame = self.frame();
        let first = match D::RANK {
            0 | 1 => 0,
            rank => frame.range(rank - 2, None).0,
        };
        let parts = crate::parts::Attention {
            frame: key.frame(),
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
        let found = parts.of(&q, &k, &v, options)?;
        let operands = [self.operand(), key.operand(), value.operand()];
        Sharded::of(op, of(found)?, self.mesh.clone(), &operands)
    }
}

/// Tensors of one placement, one behind the other along a dim that each rank has all of.
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
/// [`ErrorKind::Argument`] without any tensor; [`ErrorKind::Shape`] when sizes do not fit; when memory is missing.
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
        first.fits(op, other)?;
    }
    let locals: Vec<DynTensor> = tensors.iter().map(|one| one.local.to_dyn()).collect();
    let locals: Vec<&DynTensor> = locals.iter().collect();
    let joined = DynTensor::cat(&locals, position::<X, D>() as i64)?;
    let operands: Vec<_> = tensors.iter().map(|one| one.operand()).collect();
    Sharded::of(
        op,
        typed(joined.into_parts().0)?,
        first.mesh.clone(),
        &operands,
    )
}
