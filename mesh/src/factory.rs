//! Constructors of tensors on a mesh: from tensors, constants and random numbers.

use std::panic::Location;

use nomina::dims::{Dims, Distinct, ShapeFor};
use nomina::dynamic::Index;
use nomina::{DType, DynTensor, Element, Float, Generator, Names, Numeric, Result, Tensor};
use nomina_core::mesh::{Own, Placement, Synced};
use nomina_runtime::Raw;

use crate::mesh::Mesh;
use crate::metadata::Metadata;
use crate::origin::{CallSite, Origin};
use crate::sharded::{Sharded, places, typed};

/// The placement that is [`Synced`] along all axes of `M`.
pub type AllSynced<M> = <M as Placement>::Of<Synced, Synced, Synced, Synced>;

/// The placement that is [`Own`] along all axes of `M`.
pub type AllOwn<M> = <M as Placement>::Of<Own, Own, Own, Own>;

impl<M: Placement<Mesh = M>> Mesh<M> {
    fn wrap<D: Dims, P: Placement<Mesh = M>, T: Element>(
        &self,
        local: Tensor<D, T>,
        origin: Origin,
    ) -> Sharded<D, P, T> {
        Sharded {
            sizes: local.shape().to_vec(),
            local,
            origin,
            mesh: self.clone(),
        }
    }

    /// Declares a tensor replicated: each rank passes all of it, and the caller guarantees that all pass the same.
    /// Sends nothing.
    #[must_use]
    #[track_caller]
    pub fn whole<D: Dims, T: Element>(&self, tensor: Tensor<D, T>) -> Sharded<D, M, T> {
        self.wrap(tensor, self.shared.origin(Location::caller()))
    }

    /// Creates a parameter: a leaf that is the same on all ranks, as are its gradient and its updates.
    ///
    /// # Errors
    /// If memory for a few words is missing.
    #[track_caller]
    pub fn parameter<D: Dims, T: nomina::Inexact>(
        &self,
        tensor: Tensor<D, T>,
    ) -> Result<Sharded<D, AllSynced<M>, T>> {
        let origin = self.shared.origin(Location::caller());
        Ok(self.wrap(tensor.detach().try_with_grad()?, origin))
    }

    /// Wraps a tensor that is local to this rank.
    #[must_use]
    #[track_caller]
    pub fn own<D: Dims, T: Element>(&self, tensor: Tensor<D, T>) -> Sharded<D, AllOwn<M>, T> {
        self.wrap(tensor, Origin::of_local(Location::caller()))
    }

    /// Creates a tensor of global sizes. `fill` makes this rank's piece.
    fn create<D: Dims + Distinct, P: Placement<Mesh = M>, T: Element>(
        &self,
        op: &'static str,
        origin: Origin,
        sizes: Vec<usize>,
        fill: impl FnOnce(&Metadata) -> Result<Raw>,
    ) -> Result<Sharded<D, P, T>> {
        // Sizes whose product overflows are refused on all ranks, however small their pieces are.
        nomina_runtime::shape::numel(op, &sizes)?;
        let metadata = Metadata {
            names: Names::from_static(D::NAMES),
            sizes,
            places: places::<P>(),
            origin,
            shared: self.shared.clone(),
        };
        let local = typed(fill(&metadata)?)?;
        Ok(Sharded {
            local,
            sizes: metadata.sizes,
            origin,
            mesh: self.clone(),
        })
    }

    /// Creates zeros of these global sizes, in any placement.
    ///
    /// # Errors
    /// If memory is missing.
    #[track_caller]
    pub fn zeros<D: Dims + Distinct, P: Placement<Mesh = M>, T: Element>(
        &self,
        sizes: impl ShapeFor<D>,
    ) -> Result<Sharded<D, P, T>> {
        let origin = self.shared.origin(Location::caller());
        let sizes = sizes.sizes().to_vec();
        self.create("zeros", origin, sizes, |metadata| {
            Raw::zeros(
                "zeros",
                &metadata.shape(None),
                T::DTYPE,
                nomina::Device::Cpu,
            )
        })
    }

    /// Creates a tensor of these global sizes with one value everywhere. The placement must not be pending, since each
    /// rank would add the value.
    ///
    /// # Errors
    /// If memory is missing.
    #[track_caller]
    pub fn full<
        D: Dims + Distinct,
        P: Placement<Mesh = M> + nomina_core::mesh::AllFinished,
        T: Numeric,
    >(
        &self,
        sizes: impl ShapeFor<D>,
        value: T,
    ) -> Result<Sharded<D, P, T>>
    where
        nomina::Scalar: From<T>,
    {
        let origin = self.shared.origin(Location::caller());
        let sizes = sizes.sizes().to_vec();
        self.create("full", origin, sizes, |metadata| {
            let mut piece = DynTensor::options()
                .dtype(T::DTYPE)
                .empty(&metadata.shape(None), ())?;
            piece.fill_(nomina::Scalar::from(value))?;
            Ok(piece.into_parts().0)
        })
    }

    /// Draws from the standard normal distribution. The tensor does not depend on the mesh: each rank draws its box of
    /// it. The mesh's generator advances by the global number of elements, so ranks that were seeded alike
    /// ([`manual_seed`](Self::manual_seed)) stay in step.
    ///
    /// # Errors
    /// If memory is missing.
    #[track_caller]
    pub fn randn<
        D: Dims + Distinct,
        P: Placement<Mesh = M> + nomina_core::mesh::AllFinished,
        T: Float,
    >(
        &self,
        sizes: impl ShapeFor<D>,
    ) -> Result<Sharded<D, P, T>> {
        let sizes = sizes.sizes().to_vec();
        self.random("randn", Location::caller(), sizes, |piece, generator| {
            piece.normal_from_(0.0, 1.0, generator).map(drop)
        })
    }

    /// Draws from the uniform distribution over [0, 1). Like [`randn`](Self::randn), the tensor does not depend on the
    /// mesh.
    ///
    /// # Errors
    /// If memory is missing.
    #[track_caller]
    pub fn rand<
        D: Dims + Distinct,
        P: Placement<Mesh = M> + nomina_core::mesh::AllFinished,
        T: Float,
    >(
        &self,
        sizes: impl ShapeFor<D>,
    ) -> Result<Sharded<D, P, T>> {
        let sizes = sizes.sizes().to_vec();
        self.random("rand", Location::caller(), sizes, |piece, generator| {
            piece.uniform_from_(0.0, 1.0, generator).map(drop)
        })
    }

    fn random<D: Dims + Distinct, P: Placement<Mesh = M>, T: Element>(
        &self,
        op: &'static str,
        at: CallSite,
        sizes: Vec<usize>,
        draw: impl Fn(&mut DynTensor, &mut Generator) -> Result<()>,
    ) -> Result<Sharded<D, P, T>> {
        nomina_runtime::shape::numel(op, &sizes)?;
        let mut own = self.shared.with_generator(|generator| {
            let own = generator.clone();
            // The generator advances by the whole tensor, so that ranks stay in step.
            let numel = sizes.iter().map(|&size| size as u64);
            let all = numel.fold(1, u64::wrapping_mul);
            generator.set_offset(own.get_offset().wrapping_add(all));
            own
        });
        // Another seed or offset gives another tensor.
        let origin = self.shared.origin(at);
        let origin = origin.with_number(own.seed()).with_number(own.get_offset());
        self.create(op, origin, sizes, |metadata| {
            draw_piece(metadata, T::DTYPE, &mut own, draw)
        })
    }
}

/// The number of consecutive elements up to which a rank draws more than its box, and keeps only the box.
const MAX_ROW: usize = 1 << 14;

/// Elements per block of random numbers. An element is a function of the seed, of the generator's offset and of its
/// index in the whole tensor; blocks begin at multiples of this number.
const BLOCK: usize = 4;

/// Draws this rank's box of a random tensor, row by row. `generator` is at the start of the whole tensor.
fn draw_piece(
    metadata: &Metadata,
    dtype: DType,
    generator: &mut Generator,
    draw: impl Fn(&mut DynTensor, &mut Generator) -> Result<()>,
) -> Result<Raw> {
    let sizes = &metadata.sizes;
    let ranges: Vec<(usize, usize)> = (0..sizes.len())
        .map(|dim| metadata.range(dim, None))
        .collect();
    let shape: Vec<usize> = ranges.iter().map(|&(_, len)| len).collect();
    let mut out = DynTensor::options().dtype(dtype).empty(&shape, ())?;
    if shape.contains(&0) {
        return Ok(out.into_parts().0);
    }
    // Rows begin at this dim: in the dims after it the rank holds everything, or so little of the row that all of the
    // row is drawn.
    let inner = |dim: usize| sizes[dim + 1..].iter().product::<usize>();
    let last_split = (0..sizes.len()).rfind(|&dim| shape[dim] < sizes[dim]);
    let last = last_split.unwrap_or(0);
    let dim = (0..last).find(|&dim| shape[dim].saturating_mul(inner(dim)) <= MAX_ROW);
    let dim = dim.unwrap_or(last);
    let (rows, inner) = if sizes.is_empty() {
        (1, 1)
    } else {
        (shape[dim], inner(dim))
    };
    let start = generator.get_offset();
    // A block of random words gives four numbers of 16 or 32 bits, or two of 64 bits.
    let words = if dtype.size() == 8 { 2 } else { 4 };
    let outer: usize = shape[..dim].iter().product();
    for number in 0..outer {
        let mut at = vec![0; dim];
        let mut left = number;
        for (at, len) in at.iter_mut().zip(&shape).rev() {
            (*at, left) = (left % len, left / len);
        }
        let mut first = 0;
        for (dim, &(begins, _)) in ranges.iter().enumerate().take(dim + 1) {
            first = first * sizes[dim] + begins + at.get(dim).copied().unwrap_or(0);
        }
        let first = first * inner;
        let before = first % BLOCK;
        let numel = rows * inner;
        let mut drawn = DynTensor::options()
            .dtype(dtype)
            .empty(&[before + numel], ())?;
        generator.set_offset(start.wrapping_add(((first - before) / words) as u64));
        draw(&mut drawn, generator)?;
        let mut sides: Vec<usize> = shape.get(dim).copied().into_iter().collect();
        sides.extend(sizes.iter().skip(dim + 1));
        let mut piece = drawn
            .into_parts()
            .0
            .narrow(0, before, numel)?
            .reshape(&sides)?;
        for (side, &(begins, len)) in ranges.iter().skip(dim).enumerate().skip(1) {
            piece = piece.narrow(side, begins, len)?;
        }
        if outer == 1 && before == 0 && piece.is_contiguous() {
            return piece.reshape(&shape);
        }
        let piece = DynTensor::from_parts(piece, Names::unnamed(sides.len()))?;
        let at = at.into_iter().enumerate();
        let at = at.map(|(dim, at)| (dim as i64, Index::from(at)));
        out.at_mut(at)?.copy_(&piece)?;
    }
    Ok(out.into_parts().0)
}
