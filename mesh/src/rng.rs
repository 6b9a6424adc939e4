//! The generator of a mesh: its seed and its state.

use nomina::{DType, DynTensor, Error, ErrorKind, Result};
use nomina_core::mesh::Placement;

use crate::dynamic::DynSharded;
use crate::mesh::Mesh;

impl<M: Placement<Mesh = M>> Mesh<M> {
    /// Seeds the generator of the mesh, from which [`randn`](Self::randn) and the other random constructors draw. Use
    /// the same seed on all ranks.
    pub fn manual_seed(&self, seed: u64) {
        self.shared
            .with_generator(|generator| generator.manual_seed(seed));
    }

    /// Returns the state of the mesh's generator, its seed and offset, for [`set_rng_state`](Self::set_rng_state). It
    /// is the same on all ranks if they were seeded alike.
    ///
    /// # Errors
    /// If memory for two numbers is missing.
    #[track_caller]
    pub fn get_rng_state(&self) -> Result<DynSharded> {
        let state = self
            .shared
            .with_generator(|generator| [generator.seed(), generator.get_offset()]);
        let numbers = state.map(u64::cast_signed).to_vec();
        let found = self.whole_dyn(DynTensor::from_vec(numbers, &[2], ())?);
        // Mixed into the origin, so that ranks with different states are detected.
        Ok(state.into_iter().fold(found, DynSharded::with_number))
    }

    /// Restores the state of the mesh's generator, the same on all ranks. The state may come from another mesh, of any
    /// sizes.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Shape`] or [`ErrorKind::DType`] if `state` is not a result of
    /// [`get_rng_state`](Self::get_rng_state).
    pub fn set_rng_state(&self, state: &DynSharded) -> Result<()> {
        let op = "set_rng_state";
        let state = state.local();
        let refused = |kind, what| {
            Err(Error::new(kind, op, what)
                .operand(state.names(), state.shape())
                .hint("use a state of `get_rng_state`"))
        };
        if state.dtype() != DType::I64 {
            return refused(ErrorKind::DType, "a state has i64 elements");
        }
        let &[seed, offset] = &state.to_vec::<i64>()?[..] else {
            return refused(ErrorKind::Shape, "a state has two elements");
        };
        self.shared.with_generator(|generator| {
            generator.manual_seed(seed.cast_unsigned());
            generator.set_offset(offset.cast_unsigned());
        });
        Ok(())
    }
}
