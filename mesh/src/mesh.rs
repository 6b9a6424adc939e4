//! A mesh: its axes with their ranks.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use nomina::{Error, ErrorKind, Result};
use nomina_core::mesh::{AxisIndex, AxisOf, MeshAxis, Placement};

use crate::check::Description;
use crate::owner::Owner;
use crate::plan::{Plan, Simulated};
use crate::ranks::{Alone, Job, Ranks};
use crate::shared::Shared;

/// A launcher of a mesh's processes.
pub trait Engine {
    /// Returns the ranks along each axis of a mesh of these sizes. A size of 0 is inferred from the number of
    /// processes.
    ///
    /// # Errors
    /// If the sizes do not multiply to the number of processes.
    fn axes(&self, sizes: &[usize]) -> Result<Vec<Arc<dyn Ranks>>>;
}

/// A mesh of processes or threads, as one of its ranks sees it: the number of ranks along each axis, and this rank's
/// position.
///
/// ```
/// use nomina_mesh::prelude::*;
/// mesh! { Grid: Data, Model }
///
/// let places = Grid::threads([2, 2], |mesh| Ok((mesh.rank(Data), mesh.rank(Model))))?;
/// assert_eq!(places, [(0, 0), (0, 1), (1, 0), (1, 1)]);
/// # Ok::<(), nomina::Error>(())
/// ```
pub struct Mesh<M> {
    pub(crate) shared: Arc<Shared>,
    mesh: PhantomData<fn() -> M>,
}

impl<M> Clone for Mesh<M> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            mesh: PhantomData,
        }
    }
}

impl<M: Placement<Mesh = M>> Mesh<M> {
    /// Creates a mesh from an engine's ranks, one set for each axis.
    ///
    /// # Errors
    /// If the number of sets is not the number of axes.
    pub fn new(axes: Vec<Arc<dyn Ranks>>) -> Result<Self> {
        Self::from_parts(axes, None, Arc::default())
    }

    /// Creates a mesh of other ranks for the same processes. Its collectives belong to the same thread.
    #[cfg(feature = "nccl")]
    pub(crate) fn with_ranks(&self, axes: Vec<Arc<dyn Ranks>>) -> Result<Self> {
        Self::from_parts(axes, None, Arc::clone(&self.shared.owner))
    }

    fn from_parts(
        axes: Vec<Arc<dyn Ranks>>,
        simulated: Option<Arc<Simulated>>,
        owner: Arc<Owner>,
    ) -> Result<Self> {
        if axes.len() != M::AXES.len() {
            let what = format!(
                "ranks for {} axes, but the mesh has {}",
                axes.len(),
                M::AXES.len()
            );
            return Err(Error::new(ErrorKind::Mesh, "mesh", what));
        }
        let axes = axes.into_iter().zip(M::AXES.iter().copied());
        let shared = Shared::new(axes, simulated, owner);
        Ok(Self {
            shared: Arc::new(shared),
            mesh: PhantomData,
        })
    }

    /// Creates the mesh of these sizes over the processes of an engine. `Grid::start` calls it.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn start(engine: &impl Engine, sizes: &[usize]) -> Result<Self> {
        Self::new(engine.axes(sizes)?)
    }

    /// Creates the mesh of one rank. `Grid::alone` calls it.
    #[must_use]
    pub fn alone() -> Self {
        let ranks: Vec<Arc<dyn Ranks>> = M::AXES.iter().map(|_| Arc::new(Alone) as _).collect();
        match Self::new(ranks) {
            Ok(mesh) => mesh,
            Err(error) => unreachable!("one set for each axis: {error}"),
        }
    }

    /// Creates the first rank of a simulated mesh. `Grid::simulate` calls it. This rank's pieces are real and take the
    /// memory that they would take on the first rank; each piece from another rank is a single zero, expanded to the
    /// sizes of the piece.
    ///
    /// # Errors
    /// If a size is 0, or the number of sizes is not the number of axes.
    pub fn simulate(sizes: &[usize], latency: f64, bytes_per_second: f64) -> Result<Self> {
        let simulated = Arc::new(Simulated::new(latency, bytes_per_second));
        let axes = simulated.axes(sizes)?;
        Self::from_parts(axes, Some(simulated), Arc::default())
    }

    /// Returns this rank's position along an axis, from 0 on.
    #[must_use]
    pub fn rank<X: AxisOf<M>>(&self, axis: X) -> usize {
        self.ranks(axis).rank()
    }

    /// Returns the number of ranks along an axis.
    #[must_use]
    pub fn size<X: AxisOf<M>>(&self, axis: X) -> usize {
        self.ranks(axis).size()
    }

    /// Returns the bytes of elements that this rank has sent along an axis, including the hashes that ranks exchange to
    /// compare calls.
    #[must_use]
    pub fn sent<X: AxisOf<M>>(&self, axis: X) -> u64 {
        self.ranks(axis).sent()
    }

    fn ranks<X: MeshAxis>(&self, _: X) -> &dyn Ranks {
        &*self.shared.axes[X::Index::INDEX].ranks
    }

    /// Returns whether this is the first rank along all axes: the one that prints or writes for all.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.shared.axes.iter().all(|axis| axis.ranks.rank() == 0)
    }

    /// Waits until all ranks have called it.
    ///
    /// # Errors
    /// If a rank is gone, or makes another call.
    #[track_caller]
    pub fn barrier(&self) -> Result<()> {
        let description = Description::new("barrier", Location::caller());
        for axis in 0..self.shared.axes.len() {
            let ticket = self.shared.start(axis, description.clone(), Job::Barrier)?;
            ticket.wait()?;
        }
        self.shared.mark_synchronized();
        Ok(())
    }

    /// Moves the mesh to the calling thread, which makes its collectives from now on, those of all clones of the handle
    /// and of all tensors of the mesh included.
    ///
    /// A mesh belongs to the thread that makes its first collective, backward passes and optimizer steps included.
    /// Ranks match collectives by their order, so collectives from two threads would mix; on another thread they are an
    /// error. Call this on all ranks at the same place of the program, after the other thread has made its last
    /// collective.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// mesh! { Line: Data }
    ///
    /// let refused = Line::threads([2], |mesh| {
    ///     mesh.barrier()?;
    ///     std::thread::scope(|scope| {
    ///         let job = scope.spawn(|| {
    ///             let error = mesh.barrier().map_err(|error| error.kind());
    ///             mesh.use_on_this_thread()?;
    ///             mesh.barrier().map(|()| error)
    ///         });
    ///         job.join().expect("no panic")
    ///     })
    /// })?;
    /// assert!(refused.iter().all(|error| *error == Err(ErrorKind::Mesh)));
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If another thread is in a collective at this moment.
    pub fn use_on_this_thread(&self) -> Result<()> {
        self.shared.owner.take_over()
    }

    /// Sets the bucket size: how many bytes of gradients are summed together. It must be the same on all ranks; the
    /// default is 25 MiB. The sums of [`whole`](crate::Sharded::whole) are started in buckets of this size during
    /// backward, and overlap with it; a larger gradient is sent alone. 0 starts the sum of each gradient at once.
    pub fn set_bucket_cap(&self, bytes: usize) {
        self.shared.set_bucket_cap(bytes);
    }

    /// Runs a step on a simulated mesh (`Grid::simulate`), and lists what it sends: see [`Plan`].
    ///
    /// # Errors
    /// If the mesh is not simulated, or the step fails.
    pub fn plan<V>(&self, step: impl FnOnce() -> Result<V>) -> Result<Plan> {
        let Some(simulated) = &self.shared.simulated else {
            let what = "this mesh is real: collectives are done, not listed";
            return Err(Error::new(ErrorKind::Mesh, "plan", what)
                .hint("plan a step on `Grid::simulate(sizes, latency, bytes_per_second)?`"));
        };
        simulated.clear();
        step()?;
        Ok(simulated.plan())
    }
}

impl<M: Placement> fmt::Debug for Mesh<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes = self.shared.axes.iter();
        let axes =
            axes.map(|axis| format!("{}={}/{}", axis.name, axis.ranks.rank(), axis.ranks.size()));
        write!(f, "Mesh({})", axes.collect::<Vec<_>>().join(", "))
    }
}
