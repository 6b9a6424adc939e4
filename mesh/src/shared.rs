//! The state of a rank's mesh, and the checks that all ranks do the same.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nomina::{Generator, Result};
use nomina_runtime::Raw;

use crate::check::{Agreement, Check, Description};
use crate::origin::{CallSite, Origin, Origins};
use crate::owner::Owner;
use crate::plan::Simulated;
use crate::queue::{DEFAULT_BUCKET_CAP, Queue};
use crate::ranks::{Job, Ranks, Ticket};

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
    pub(crate) simulated: Option<Arc<Simulated>>,
    bucket_cap: AtomicUsize,
    /// The thread that makes the collectives; one for all meshes over the same ranks.
    pub(crate) owner: Arc<Owner>,
    origins: Origins,
}

impl Shared {
    /// Creates the state of a mesh with these ranks along its axes.
    pub(crate) fn new(
        axes: impl Iterator<Item = (Arc<dyn Ranks>, &'static str)>,
        simulated: Option<Arc<Simulated>>,
        owner: Arc<Owner>,
    ) -> Self {
        let axes = axes.map(|(ranks, name)| Axis {
            name,
            ranks,
            check: Mutex::default(),
            pending_agreement: Mutex::default(),
            queue: Mutex::default(),
        });
        Self {
            axes: axes.collect(),
            generator: Mutex::new(Generator::new(0)),
            simulated,
            bucket_cap: AtomicUsize::new(DEFAULT_BUCKET_CAP),
            owner,
            origins: Origins::default(),
        }
    }

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

    pub(crate) fn set_bucket_cap(&self, bytes: usize) {
        self.bucket_cap.store(bytes, Ordering::Relaxed);
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
