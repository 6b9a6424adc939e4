//! Tensors on a mesh, made of tensors, of numbers and of random numbers.

use std::panic::Location;

use nomina::dims::{Dims, Distinct, ShapeFor};
use nomina::dynamic::Index;
use nomina::{DType, DynTensor, Element, Float, Generator, Names, Numeric, Result, Tensor};
use nomina_core::mesh::{Own, Placement, Synced};
use nomina_runtime::Raw;

use crate::frame::{At, Frame};
use crate::mesh::Mesh;
use crate::origin::Origin;
use crate::sharded::{Sharded, places, typed};

/// The same mesh, synced along all axes.
pub type AllSynced<M> = <M as Placement>::Of<Synced, Synced, Synced, Synced>;

/// The same mesh, each rank's own along all axes.
pub type AllOwn<M> = <M as Placement>::Of<Own, Own, Own, Own>;

impl<M: Placement<Mesh = M>> Mesh<M> {
    fn placed<D: Dims, P: Placement<Mesh = M>, T: Element>(
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

    /// A tensor that each rank has all of, and that is the same on all ranks: that is the caller's word. Sends nothing.
    #[must_use]
    #[track_caller]
    pub fn whole<D: Dims, T: Element>(&self, tensor: Tensor<D, T>) -> Sharded<D, M, T> {
        self.placed(tensor, self.shared.origin(Location::caller()))
    }

    /// A parameter: a leaf that is the same on all ranks, whose gradient and updates are, too.
    ///
    /// # Errors
    /// When memory for a few words is short.
    #[track_caller]
    pub fn parameter<D: Dims, T: nomina::Inexact>(
        &self,
        tensor: Tensor<D, T>,
    ) -> Result<Sharded<D, AllSynced<M>, T>> {
        let origin = self.shared.origin(Location::caller());
        Ok(self.placed(tensor.detach().try_with_grad()?, origin))
    }

    /// What this rank has for itself.
    #[must_use]
    #[track_caller]
    pub fn own<D: Dims, T: Element>(&self, tensor: Tensor<D, T>) -> Sharded<D, AllOwn<M>, T> {
        self.placed(tensor, Origin::of_own(Location::caller()))
    }

    /// A tensor of global sizes, of which `fill` makes any box: it is called with the sizes of this rank's piece.
    fn filled<D: Dims + Distinct, P: Placement<Mesh = M>, T: Element>(
        &self,
        op: &'static str,
        origin: Origin,
        sizes: Vec<usize>,
        fill: impl FnOnce(&Frame) -> Result<Raw>,
    ) -> Result<Sharded<D, P, T>> {
        // Sizes whose product no tensor has are refused on all ranks alike, however small their pieces are.
        nomina_runtime::shape::numel(op, &sizes)?;
        let frame = Frame {
            names: Names::from_static(D::NAMES),
            sizes,
            places: places::<P>(),
            origin,
            shared: self.shared.clone(),
        };
        let local = typed(fill(&frame)?)?;
        Ok(Sharded {
            local,
            sizes: frame.sizes,
            origin,
            mesh: self.clone(),
        })
    }

    /// Zeros of these global sizes, in any placement.
    ///
    /// # Errors
    /// When memory is missing.
    #[track_caller]
    pub fn zeros<D: Dims + Distinct, P: Placement<Mesh = M>, T: Element>(
        &self,
        sizes: impl ShapeFor<D>,
    ) -> Result<Sharded<D, P, T>> {
        let origin = self.shared.origin(Location::caller());
        let sizes = sizes.sizes().to_vec();
        self.filled("zeros", origin, sizes, |frame| {
            Raw::zeros("zeros", &frame.shape(None), T::DTYPE, nomina::Device::Cpu)
        })
    }

    /// One number everywhere, of these global sizes; not where something is pending, as each rank would add it.
    ///
    /// # Errors
    /// When memory is missing.
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
        self.filled("full", origin, sizes, |frame| {
            let mut piece = DynTensor::options()
                .dtype(T::DTYPE)
                .empty(&frame.shape(None), ())?;
            piece.fill_(nomina::Scalar::from(value))?;
            Ok(piece.into_parts().0)
        })
    }

    /// Normal numbers, the same tensor whatever the mesh: each rank has its box of it. The generator of the mesh moves by the global
    /// size; where it was seeded alike on all ranks ([`manual_seed`](Self::manual_seed)), it stays alike.
    ///
    /// # Errors
    /// When memory is missing.
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
        self.drawn("randn", Location::caller(), sizes, |piece, generator| {
            piece.normal_from_(0.0, 1.0, generator).map(drop)
        })
    }

    /// Numbers that are uniform in [0, 1), the same tensor whatever the mesh, as [`randn`](Self::randn).
    ///
    /// # Errors
    /// As there.
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
        self.drawn("rand", Location::caller(), sizes, |piece, generator| {
            piece.uniform_from_(0.0, 1.0, generator).map(drop)
        })
    }

    fn drawn<D: Dims + Distinct, P: Placement<Mesh = M>, T: Element>(
        &self,
        op: &'static str,
        at: At,
        sizes: Vec<usize>,
        draw: impl Fn(&mut DynTensor, &mut Generator) -> Result<()>,
    ) -> Result<Sharded<D, P, T>> {
        nomina_runtime::shape::numel(op, &sizes)?;
        let mut own = self.shared.with_generator(|generator| {
            let own = generator.clone();
            // The generator moves on by the whole tensor, so that ranks stay in step.
            let numel = sizes.iter().map(|&size| size as u64);
            let all = numel.fold(1, u64::wrapping_mul);
            generator.set_offset(own.get_offset().wrapping_add(all));
            own
        });
        // Another seed or position makes another tensor.
        let origin = self.shared.origin(at);
        let origin = origin.mixed(own.seed()).mixed(own.get_offset());
        self.filled(op, origin, sizes, |frame| {
            boxed(frame, T::DTYPE, &mut own, draw)
        })
    }
}

/// As many elements are drawn in a row at the least, where there are more, and a box of them kept.
const SPAN: usize = 1 << 14;

/// An element is a function of the seed, of where the generator is, and of its place in the whole tensor; it comes in blocks, which
/// begin at multiples of this.
const BLOCK: usize = 4;

/// This rank's box of a tensor of random numbers, drawn row by row from `generator`, where the whole tensor begins.
fn boxed(
    frame: &Frame,
    dtype: DType,
    generator: &mut Generator,
    draw: impl Fn(&mut DynTensor, &mut Generator) -> Result<()>,
) -> Result<Raw> {
    let sizes = &frame.sizes;
    let ranges: Vec<(usize, usize)> = (0..sizes.len()).map(|dim| frame.range(dim, None)).collect();
    let shape: Vec<usize> = ranges.iter().map(|&(_, len)| len).collect();
    let mut out = DynTensor::options().dtype(dtype).empty(&shape, ())?;
    if shape.contains(&0) {
        return Ok(out.into_parts().0);
    }
    // Behind this dim the rank has all, or so few elements that the rest of them is drawn, too.
    let inner = |dim: usize| sizes[dim + 1..].iter().product::<usize>();
    let parted = (0..sizes.len()).rfind(|&dim| shape[dim] < sizes[dim]);
    let last = parted.unwrap_or(0);
    let dim = (0..last).find(|&dim| shape[dim].saturating_mul(inner(dim)) <= SPAN);
    let dim = dim.unwrap_or(last);
    let (rows, inner) = match sizes.is_empty() {
        true => (1, 1),
        false => (shape[dim], inner(dim)),
    };
    let start = generator.get_offset();
    // Of 16 and 32 bits there are four in a block of random words, of 64 there are two.
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
