//! Tensors on a mesh, made of tensors, of numbers and of random numbers.

use nomina::dims::{Dims, Distinct, ShapeFor};
use nomina::{DynTensor, Element, Float, Generator, Names, Numeric, Result, Tensor};
use nomina_core::mesh::value::Place;
use nomina_core::mesh::{Own, Placement, Synced};
use nomina_runtime::Raw;

use crate::frame::Frame;
use crate::mesh::Mesh;
use crate::sharded::{Sharded, places, typed};

/// The same mesh, synced along all axes.
pub type AllSynced<M> = <M as Placement>::Of<Synced, Synced, Synced, Synced>;

/// The same mesh, each rank's own along all axes.
pub type AllOwn<M> = <M as Placement>::Of<Own, Own, Own, Own>;

impl<M: Placement<Mesh = M>> Mesh<M> {
    fn placed<D: Dims, P: Placement<Mesh = M>, T: Element>(
        &self,
        local: Tensor<D, T>,
    ) -> Sharded<D, P, T> {
        Sharded {
            sizes: local.shape().to_vec(),
            local,
            mesh: self.clone(),
        }
    }

    /// A tensor that each rank has all of, and that is the same on all ranks: that is the caller's word. Sends nothing.
    #[must_use]
    pub fn whole<D: Dims, T: Element>(&self, tensor: Tensor<D, T>) -> Sharded<D, M, T> {
        self.placed(tensor)
    }

    /// A parameter: a leaf that is the same on all ranks, whose gradient and updates are, too.
    ///
    /// # Errors
    /// When memory for a few words is short.
    pub fn parameter<D: Dims, T: nomina::Inexact>(
        &self,
        tensor: Tensor<D, T>,
    ) -> Result<Sharded<D, AllSynced<M>, T>> {
        Ok(self.placed(tensor.detach().try_with_grad()?))
    }

    /// What this rank has for itself.
    #[must_use]
    pub fn own<D: Dims, T: Element>(&self, tensor: Tensor<D, T>) -> Sharded<D, AllOwn<M>, T> {
        self.placed(tensor)
    }

    /// A tensor of global sizes, of which `fill` makes any box: it is called with the sizes of this rank's piece.
    fn filled<D: Dims + Distinct, P: Placement<Mesh = M>, T: Element>(
        &self,
        op: &'static str,
        sizes: Vec<usize>,
        fill: impl FnOnce(&Frame) -> Result<Raw>,
    ) -> Result<Sharded<D, P, T>> {
        // Sizes whose product no tensor has are refused on all ranks alike, however small their pieces are.
        nomina_runtime::shape::numel(op, &sizes)?;
        let frame = Frame {
            names: Names::from_static(D::NAMES),
            sizes,
            places: places::<P>(),
            shared: self.shared.clone(),
        };
        let local = typed(fill(&frame)?)?;
        Ok(Sharded {
            local,
            sizes: frame.sizes,
            mesh: self.clone(),
        })
    }

    /// Zeros of these global sizes, in any placement.
    ///
    /// # Errors
    /// When memory is missing.
    pub fn zeros<D: Dims + Distinct, P: Placement<Mesh = M>, T: Element>(
        &self,
        sizes: impl ShapeFor<D>,
    ) -> Result<Sharded<D, P, T>> {
        let sizes = sizes.sizes().to_vec();
        self.filled("zeros", sizes, |frame| {
            Raw::zeros("zeros", &frame.shape(None), T::DTYPE, nomina::Device::Cpu)
        })
    }

    /// One number everywhere, of these global sizes; not where something is pending, as each rank would add it.
    ///
    /// # Errors
    /// When memory is missing.
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
        let sizes = sizes.sizes().to_vec();
        self.filled("full", sizes, |frame| {
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
    /// When memory is missing, of which all of the tensor is needed for a moment.
    pub fn randn<
        D: Dims + Distinct,
        P: Placement<Mesh = M> + nomina_core::mesh::AllFinished,
        T: Float,
    >(
        &self,
        sizes: impl ShapeFor<D>,
    ) -> Result<Sharded<D, P, T>> {
        let sizes = sizes.sizes().to_vec();
        self.drawn("randn", sizes, |piece, generator| {
            piece.normal_from_(0.0, 1.0, generator).map(drop)
        })
    }

    /// Numbers that are uniform in [0, 1), the same tensor whatever the mesh, as [`randn`](Self::randn).
    ///
    /// # Errors
    /// As there.
    pub fn rand<
        D: Dims + Distinct,
        P: Placement<Mesh = M> + nomina_core::mesh::AllFinished,
        T: Float,
    >(
        &self,
        sizes: impl ShapeFor<D>,
    ) -> Result<Sharded<D, P, T>> {
        let sizes = sizes.sizes().to_vec();
        self.drawn("rand", sizes, |piece, generator| {
            piece.uniform_from_(0.0, 1.0, generator).map(drop)
        })
    }

    fn drawn<D: Dims + Distinct, P: Placement<Mesh = M>, T: Element>(
        &self,
        op: &'static str,
        sizes: Vec<usize>,
        draw: impl FnOnce(&mut DynTensor, &mut Generator) -> Result<()>,
    ) -> Result<Sharded<D, P, T>> {
        self.filled(op, sizes, |frame| {
            // All of the tensor is drawn, and the box kept: an element is a function of the seed and its place in the whole.
            let mut all = DynTensor::options()
                .dtype(T::DTYPE)
                .empty(&frame.sizes, ())?;
            self.shared
                .with_generator(|generator| draw(&mut all, generator))?;
            let mut raw = all.into_parts().0;
            for dim in 0..frame.sizes.len() {
                let (start, len) = frame.range(dim, None);
                raw = raw.narrow(dim, start, len)?;
            }
            // A copy, so that the rest of the tensor is given back.
            match frame
                .places
                .iter()
                .any(|place| matches!(place, Place::Split(_)))
            {
                true => DynTensor::from_parts(raw, Names::unnamed(frame.sizes.len()))?
                    .contiguous()
                    .map(|x| x.into_parts().0),
                false => Ok(raw),
            }
        })
    }
}
