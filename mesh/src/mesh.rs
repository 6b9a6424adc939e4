//! A mesh: its axes with their ranks, and the checks that all ranks do the same.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nomina::{DType, DynTensor, Error, ErrorKind, Generator, Result};
use nomina_core::mesh::{AxisIndex, AxisOf, MeshAxis, Placement};
use nomina_runtime::Raw;

use crate::check::{Agreement, Check, Description};
use crate::dynamic::DynSharded;
use crate::metadata::CallSite;
use crate::origin::{Origin, Origins};
use crate::owner::Owner;
use crate::plan::{Plan, Simulated};
use crate::queue::{DEFAULT_BUCKET_CAP, Queue};
use crate::ranks::{Alone, Job, Ranks, Ticket};

/// A launcher of a mesh's processes.
pub trait Engine {
    /// Returns the ranks along each axis of a mesh of these sizes. A size of 0 is inferred from the number of
    /// processes.
    ///
    /// # Errors
    /// If the sizes do not multiply to the number of processes.
    fn axes(&self, sizes: &[usize]) -> Result<Vec<Arc<dyn Ranks>>>;
}

/// One axis of a mesh, as this rank sees it.
pub(crate) struct Axis {
    pub(crate) name: &'static str,
    pub(crate) ranks: Arc<dyn Ranks>,
    check: Mutex<Check>,
    /// The pending comparison for the job started last.
    pending_agreement: Mutex<Option<Arc<Agreement>>>,
    /// Gradients waiting to be summed over the axis.
    pub(crate) queue: Mutex<Queue>,
}

/// State shared by all handles of a rank's mesh.
#[doc(hidden)]
pub struct Shared {
    pub(crate) axes: Vec<Axis>,
    generator: Mutex<Generator>,
    simulated: Option<Arc<Simulated>>,
    bucket_cap: AtomicUsize,
    /// The thread that makes the collectives; one for all meshes over the same ranks.
    owner: Arc<Owner>,
    origins: Origins,
}

impl Shared {
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    #[cfg(any(feature = "safetensors", feature = "zarr"))]
    pub(crate) fn is_simulated(&self) -> bool {
        self.simulated.is_some()
    }

    /// Returns the origin of a tensor that a call creates.
    pub(crate) fn origin(&self, at: CallSite) -> Origin {
        self.origins.create(at)
    }

    /// Returns whether exactly one axis has more than one rank, so that all ranks take part in each collective.
    fn has_single_axis(&self) -> bool {
        let axes = self.axes.iter();
        axes.filter(|axis| axis.ranks.size() > 1).count() == 1
    }

    /// Records that all ranks of the mesh have synchronized.
    pub(crate) fn mark_synchronized(&self) {
        self.origins.restart(true);
    }

    /// Starts a job after the ranks have agreed that they all do it.
    pub(crate) fn start(
        &self,
        axis: usize,
        description: Description<'_>,
        job: Job,
    ) -> Result<Ticket> {
        let one = &self.axes[axis];
        if one.ranks.size() == 1 {
            self.record(one, description.op, description.at, &job);
            return one.ranks.start(job);
        }
        let _running = self.owner.begin(description.op)?;
        self.wait_for_agreement()?;
        self.record(one, description.op, description.at, &job);
        if self.simulated.is_none() {
            let mut check = one.check.lock().unwrap_or_else(PoisonError::into_inner);
            check.start(&one.ranks, one.name, description, Some(&job), false)?()?;
        }
        self.origins.restart(self.has_single_axis());
        one.ranks.start(job)
    }

    /// Like [`start`](Self::start), but does not wait for the other ranks: the comparison is checked when the job is
    /// waited for.
    pub(crate) fn start_ahead(
        &self,
        axis: usize,
        description: Description<'_>,
        job: Job,
    ) -> Result<Ticket> {
        let one = &self.axes[axis];
        if one.ranks.size() == 1 || self.simulated.is_some() {
            return self.start(axis, description, job);
        }
        let _running = self.owner.begin(description.op)?;
        self.wait_for_agreement()?;
        let mut check = one.check.lock().unwrap_or_else(PoisonError::into_inner);
        let agreed = check.start(&one.ranks, one.name, description, Some(&job), false)?;
        drop(check);
        let agreed = Arc::new(Agreement::new(agreed));
        *one.pending_agreement
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&agreed));
        self.origins.restart(self.has_single_axis());
        let ticket = one.ranks.start(job)?;
        Ok(Ticket::new(move || {
            agreed.wait()?;
            ticket.wait()
        }))
    }

    /// Waits until the ranks agree on the job that was started ahead. If they disagree they run further jobs to find
    /// the difference, so no other job may be started before this returns.
    fn wait_for_agreement(&self) -> Result<()> {
        self.axes.iter().try_for_each(|axis| {
            let mut pending_agreement = axis
                .pending_agreement
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            pending_agreement
                .take()
                .map_or(Ok(()), |agreement| agreement.wait())
        })
    }

    /// Lets the ranks of an axis agree on a series of jobs, which are then started by
    /// [`start_agreed`](Self::start_agreed).
    pub(crate) fn agree(&self, axis: usize, description: Description<'_>) -> Result<()> {
        let one = &self.axes[axis];
        if one.ranks.size() == 1 {
            return Ok(());
        }
        let _running = self.owner.begin(description.op)?;
        self.wait_for_agreement()?;
        self.origins.restart(self.has_single_axis());
        if self.simulated.is_some() {
            return Ok(());
        }
        let mut check = one.check.lock().unwrap_or_else(PoisonError::into_inner);
        check.start(&one.ranks, one.name, description, None, true)?()
    }

    /// Starts a job that the ranks have agreed on.
    pub(crate) fn start_agreed(
        &self,
        axis: usize,
        op: &'static str,
        at: CallSite,
        job: Job,
    ) -> Result<Ticket> {
        let one = &self.axes[axis];
        self.record(one, op, at, &job);
        one.ranks.start(job)
    }

    /// Returns an error if the calling thread is not the one that makes the collectives.
    #[cfg(feature = "nccl")]
    pub(crate) fn require_owner(&self, op: &'static str) -> Result<()> {
        let others = self.axes.iter().any(|axis| axis.ranks.size() > 1);
        if others {
            self.owner.begin(op)?;
        }
        Ok(())
    }

    /// Records a job in the plan of a simulated mesh.
    fn record(&self, axis: &Axis, op: &'static str, at: CallSite, job: &Job) {
        if let Some(simulated) = &self.simulated {
            simulated.record(axis.name, (op, at), job, axis.ranks.size());
        }
    }

    pub(crate) fn bucket_cap(&self) -> usize {
        self.bucket_cap.load(Ordering::Relaxed)
    }

    /// Runs a job that returns one tensor.
    pub(crate) fn run_for_one(
        &self,
        axis: usize,
        description: Description<'_>,
        job: Job,
    ) -> Result<Raw> {
        self.start(axis, description, job)?.wait_for_one()
    }

    pub(crate) fn with_generator<V>(&self, draw: impl FnOnce(&mut Generator) -> V) -> V {
        draw(
            &mut self
                .generator
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
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
        let axes = axes.into_iter().zip(M::AXES);
        let axes = axes.map(|(ranks, name)| Axis {
            name,
            ranks,
            check: Mutex::default(),
            pending_agreement: Mutex::default(),
            queue: Mutex::default(),
        });
        let shared = Shared {
            axes: axes.collect(),
            generator: Mutex::new(Generator::new(0)),
            simulated,
            bucket_cap: AtomicUsize::new(DEFAULT_BUCKET_CAP),
            owner,
            origins: Origins::default(),
        };
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
        self.shared.bucket_cap.store(bytes, Ordering::Relaxed);
    }

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
