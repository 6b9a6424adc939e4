//! A mesh: axes with their ranks, and what all ranks must do alike.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nomina::{DType, DynTensor, Error, ErrorKind, Generator, Result};
use nomina_core::mesh::{AxisIndex, AxisOf, MeshAxis, Placement};
use nomina_runtime::Raw;

use crate::check::{Agreement, Check, What};
use crate::dynamic::DynSharded;
use crate::frame::At;
use crate::origin::{Origin, Origins};
use crate::owner::Owner;
use crate::plan::{Plan, Simulated};
use crate::queue::{CAP, Queue};
use crate::ranks::{Alone, Job, Ranks, Ticket};

/// What starts the processes of a mesh.
pub trait Engine {
    /// The ranks along each axis of a mesh of these sizes. A size of 0 is as many as are left.
    ///
    /// # Errors
    /// When the sizes do not multiply up to the number of processes.
    fn axes(&self, sizes: &[usize]) -> Result<Vec<Arc<dyn Ranks>>>;
}

/// One axis of a mesh, as this rank sees it.
pub(crate) struct Axis {
    pub(crate) name: &'static str,
    pub(crate) ranks: Arc<dyn Ranks>,
    check: Mutex<Check>,
    /// The comparison that belongs to the job started last.
    ahead: Mutex<Option<Arc<Agreement>>>,
    /// Gradients that are to be summed over the axis.
    pub(crate) queue: Mutex<Queue>,
}

/// What all handles of a rank's mesh share.
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
    pub(crate) fn same(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    #[cfg(any(feature = "safetensors", feature = "zarr"))]
    pub(crate) fn is_simulated(&self) -> bool {
        self.simulated.is_some()
    }

    /// The origin of a tensor that a call makes.
    pub(crate) fn origin(&self, at: At) -> Origin {
        self.origins.make(at)
    }

    /// Whether only one axis has more than one rank, so that all ranks take part in each collective.
    fn is_line(&self) -> bool {
        let axes = self.axes.iter();
        axes.filter(|axis| axis.ranks.size() > 1).count() == 1
    }

    /// Tells that all ranks of the mesh were here.
    pub(crate) fn all_met(&self) {
        self.origins.restart(true);
    }

    /// Starts a job, once the ranks have agreed that they all do it.
    pub(crate) fn start(&self, axis: usize, what: What<'_>, job: Job) -> Result<Ticket> {
        let one = &self.axes[axis];
        if one.ranks.size() == 1 {
            self.note(one, what.op, what.at, &job);
            return one.ranks.start(job);
        }
        let _running = self.owner.begin(what.op)?;
        self.wait_for_agreement()?;
        self.note(one, what.op, what.at, &job);
        if self.simulated.is_none() {
            let mut check = one.check.lock().unwrap_or_else(PoisonError::into_inner);
            check.start(&one.ranks, one.name, what, Some(&job), false)?()?;
        }
        self.origins.restart(self.is_line());
        one.ranks.start(job)
    }

    /// As [`start`](Self::start), without waiting for the others: that they all do it is looked at when the job is waited for.
    pub(crate) fn start_ahead(&self, axis: usize, what: What<'_>, job: Job) -> Result<Ticket> {
        let one = &self.axes[axis];
        if one.ranks.size() == 1 || self.simulated.is_some() {
            return self.start(axis, what, job);
        }
        let _running = self.owner.begin(what.op)?;
        self.wait_for_agreement()?;
        let mut check = one.check.lock().unwrap_or_else(PoisonError::into_inner);
        let agreed = check.start(&one.ranks, one.name, what, Some(&job), false)?;
        drop(check);
        let agreed = Arc::new(Agreement::new(agreed));
        *one.ahead.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&agreed));
        self.origins.restart(self.is_line());
        let ticket = one.ranks.start(job)?;
        Ok(Ticket::new(move || {
            agreed.wait()?;
            ticket.wait()
        }))
    }

    /// Waits until the ranks agree on what was started ahead. Where they do not, they find out what differs by further jobs, so
    /// that none may have started anything else before.
    fn wait_for_agreement(&self) -> Result<()> {
        self.axes.iter().try_for_each(|axis| {
            let mut ahead = axis.ahead.lock().unwrap_or_else(PoisonError::into_inner);
            ahead.take().map_or(Ok(()), |agreement| agreement.wait())
        })
    }

    /// Lets the ranks of an axis agree on what follows, by jobs that are started by [`start_agreed`](Self::start_agreed).
    pub(crate) fn agree(&self, axis: usize, what: What<'_>) -> Result<()> {
        let one = &self.axes[axis];
        if one.ranks.size() == 1 {
            return Ok(());
        }
        let _running = self.owner.begin(what.op)?;
        self.wait_for_agreement()?;
        self.origins.restart(self.is_line());
        if self.simulated.is_some() {
            return Ok(());
        }
        let mut check = one.check.lock().unwrap_or_else(PoisonError::into_inner);
        check.start(&one.ranks, one.name, what, None, true)?()
    }

    /// Starts a job that follows from what the ranks have agreed on.
    pub(crate) fn start_agreed(
        &self,
        axis: usize,
        op: &'static str,
        at: At,
        job: Job,
    ) -> Result<Ticket> {
        let one = &self.axes[axis];
        self.note(one, op, at, &job);
        one.ranks.start(job)
    }

    /// Refuses what exchanges something on another thread than the one that makes the collectives.
    #[cfg(feature = "nccl")]
    pub(crate) fn require_owner(&self, op: &'static str) -> Result<()> {
        let others = self.axes.iter().any(|axis| axis.ranks.size() > 1);
        if others {
            self.owner.begin(op)?;
        }
        Ok(())
    }

    /// Lists a job, where it is only planned.
    fn note(&self, axis: &Axis, op: &'static str, at: At, job: &Job) {
        if let Some(simulated) = &self.simulated {
            simulated.note(axis.name, (op, at), job, axis.ranks.size());
        }
    }

    pub(crate) fn bucket_cap(&self) -> usize {
        self.bucket_cap.load(Ordering::Relaxed)
    }

    /// Does a job that gives one tensor.
    pub(crate) fn one(&self, axis: usize, what: What<'_>, job: Job) -> Result<Raw> {
        self.start(axis, what, job)?.wait_for_one()
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

/// A mesh of processes or threads, as one of its ranks sees it: how many there are along each axis, and where this one stands.
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
    /// A mesh of an engine's ranks, one set of them for each axis.
    ///
    /// # Errors
    /// When there are more or fewer sets than axes.
    pub fn new(axes: Vec<Arc<dyn Ranks>>) -> Result<Self> {
        Self::with(axes, None, Arc::default())
    }

    /// A mesh of other ranks for the same processes, whose collectives the same thread makes.
    #[cfg(feature = "nccl")]
    pub(crate) fn beside(&self, axes: Vec<Arc<dyn Ranks>>) -> Result<Self> {
        Self::with(axes, None, Arc::clone(&self.shared.owner))
    }

    fn with(
        axes: Vec<Arc<dyn Ranks>>,
        simulated: Option<Arc<Simulated>>,
        owner: Arc<Owner>,
    ) -> Result<Self> {
        if axes.len() != M::AXES.len() {
            let what = format!(
                "ranks for {} axes, and the mesh has {}",
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
            ahead: Mutex::default(),
            queue: Mutex::default(),
        });
        let shared = Shared {
            axes: axes.collect(),
            generator: Mutex::new(Generator::new(0)),
            simulated,
            bucket_cap: AtomicUsize::new(CAP),
            owner,
            origins: Origins::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            mesh: PhantomData,
        })
    }

    /// The mesh of these sizes over the processes of an engine: what `Grid::start` calls.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn start(engine: &impl Engine, sizes: &[usize]) -> Result<Self> {
        Self::new(engine.axes(sizes)?)
    }

    /// The mesh of one rank: what `Grid::alone` calls.
    #[must_use]
    pub fn alone() -> Self {
        let ranks: Vec<Arc<dyn Ranks>> = M::AXES.iter().map(|_| Arc::new(Alone) as _).collect();
        match Self::new(ranks) {
            Ok(mesh) => mesh,
            Err(error) => unreachable!("one set for each axis: {error}"),
        }
    }

    /// The first rank of a mesh that is not there: what `Grid::simulate` calls. Its pieces are there, and take the memory that they
    /// take on the first rank; what comes from others is one zero each, in the sizes of a piece.
    ///
    /// # Errors
    /// When a size is 0, or there are more or fewer than axes.
    pub fn simulate(sizes: &[usize], latency: f64, bytes_per_second: f64) -> Result<Self> {
        let simulated = Arc::new(Simulated::new(latency, bytes_per_second));
        let axes = simulated.axes(sizes)?;
        Self::with(axes, Some(simulated), Arc::default())
    }

    /// Where this rank stands along an axis, from 0 on.
    #[must_use]
    pub fn rank<X: AxisOf<M>>(&self, axis: X) -> usize {
        self.ranks(axis).rank()
    }

    /// How many ranks an axis has.
    #[must_use]
    pub fn size<X: AxisOf<M>>(&self, axis: X) -> usize {
        self.ranks(axis).size()
    }

    /// The bytes of elements that this rank has sent so far along an axis; what is sent to compare hashes counts, too.
    #[must_use]
    pub fn sent<X: AxisOf<M>>(&self, axis: X) -> u64 {
        self.ranks(axis).sent()
    }

    fn ranks<X: MeshAxis>(&self, _: X) -> &dyn Ranks {
        &*self.shared.axes[X::Index::INDEX].ranks
    }

    /// Whether this is the first rank along all axes: for what one rank alone shall print or write.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.shared.axes.iter().all(|axis| axis.ranks.rank() == 0)
    }

    /// Waits until all ranks are here.
    ///
    /// # Errors
    /// When a rank is gone, or is about to do something else.
    #[track_caller]
    pub fn barrier(&self) -> Result<()> {
        let what = What::new("barrier", Location::caller());
        for axis in 0..self.shared.axes.len() {
            let ticket = self.shared.start(axis, what.clone(), Job::Barrier)?;
            ticket.wait()?;
        }
        self.shared.all_met();
        Ok(())
    }

    /// Gives the mesh to the calling thread, which makes its collectives from now on; clones of the handle and tensors of the mesh
    /// go along.
    ///
    /// A mesh belongs to the thread that makes its first collective, backward passes and steps of optimizers included. Ranks match
    /// collectives by their order, so that those of two threads would mix: on another thread they are an error. Call this on
    /// all ranks at the same place of the program, once the other thread makes no more of them.
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
    /// When another thread is in a collective at this moment.
    pub fn use_on_this_thread(&self) -> Result<()> {
        self.shared.owner.take_over()
    }

    /// Sets how many bytes of gradients are summed together, on all ranks alike: 25 MiB unless this says otherwise. Sums of
    /// [`whole`](crate::Sharded::whole) are started in blocks of that size as backward goes, and run beside it; a larger gradient
    /// goes alone. 0 starts the sum of each gradient at once.
    pub fn set_bucket_cap(&self, bytes: usize) {
        self.shared.bucket_cap.store(bytes, Ordering::Relaxed);
    }

    /// Seeds the generator of the mesh, from which [`randn`](Self::randn) and the like draw: with one seed on all ranks.
    pub fn manual_seed(&self, seed: u64) {
        self.shared
            .with_generator(|generator| generator.manual_seed(seed));
    }

    /// The state of the mesh's generator: its seed and how far it is, for [`set_rng_state`](Self::set_rng_state). Where it was seeded
    /// alike on all ranks, it is the same on all of them.
    ///
    /// # Errors
    /// When memory for two numbers is short.
    #[track_caller]
    pub fn get_rng_state(&self) -> Result<DynSharded> {
        let state = self
            .shared
            .with_generator(|generator| [generator.seed(), generator.get_offset()]);
        let numbers = state.map(u64::cast_signed).to_vec();
        let found = self.whole_dyn(DynTensor::from_vec(numbers, &[2], ())?);
        // States that differ are different tensors.
        Ok(state.into_iter().fold(found, DynSharded::mixed))
    }

    /// Lets the mesh's generator go on from a state, the same on all ranks. It need not be one of this mesh, or of one of these sizes.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] or [`ErrorKind::DType`] when it is none of [`get_rng_state`](Self::get_rng_state).
    pub fn set_rng_state(&self, state: &DynSharded) -> Result<()> {
        let op = "set_rng_state";
        let state = state.local();
        let refused = |kind, what| {
            Err(Error::new(kind, op, what)
                .operand(state.names(), state.shape())
                .hint("give what `get_rng_state` gave"))
        };
        if state.dtype() != DType::I64 {
            return refused(ErrorKind::DType, "a state has elements of i64");
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

    /// Runs a step, and lists what it sent: see [`Plan`]. Of a mesh that is there it lists nothing; `Grid::simulate` makes one
    /// that is not.
    ///
    /// # Errors
    /// Those of the step.
    pub fn plan<V>(&self, step: impl FnOnce() -> Result<V>) -> Result<Plan> {
        let Some(simulated) = &self.shared.simulated else {
            let what = "this mesh is there: its collectives are done, and not listed";
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
