//! MPI from start to end, and the axes of meshes.

use std::fmt;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use mpi::environment::Universe;
use mpi::topology::Communicator;
use mpi::{Threading, ffi};
use nomina::{Error, ErrorKind, Result};
use nomina_mesh::{Alone, Engine, Job, Ranks, Ticket};

use crate::agree::{JobDescription, scratch_bytes};
use crate::axis_comm::AxisComm;
use crate::calls::{require_success, to_c_int};
use crate::driver::Driver;
use crate::request::{Comm, Span};
use crate::settings::max_message_bytes;
use crate::turn::{self, Turn};

/// Jobs of at most this many bytes are run by the thread that starts them, if possible immediately.
const SMALL: u64 = 64 << 10;

/// A handle to MPI, which is finalized when this and all axes created from it are dropped.
#[derive(Clone, Debug)]
pub struct Mpi {
    session: Arc<Session>,
}

/// The state that ends with the last handle.
struct Session {
    driver: &'static Driver,
    rank: usize,
    size: usize,
    /// The maximum bytes of a message.
    max_message: usize,
    universe: Mutex<Option<Universe>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("rank", &self.rank)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

fn mesh_error(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Mesh, "mesh", what)
}

impl Mpi {
    /// Starts MPI, on all ranks. A process can do so once.
    ///
    /// From then on, a panic in any thread ends the program on all ranks.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Mesh`] if MPI was already started in this process, or does not allow threads to call it in
    /// turn; [`ErrorKind::Argument`] if `NOMINA_MESH_MESSAGE` is not a number of bytes.
    pub fn start() -> Result<Self> {
        let max_message = max_message_bytes(std::env::var("NOMINA_MESH_MESSAGE").ok())?;
        let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Serialized)
        else {
            return Err(
                mesh_error("MPI was already started here").hint("start it once for all meshes")
            );
        };
        if threading < Threading::Serialized {
            return Err(
                mesh_error("this MPI does not support MPI_THREAD_SERIALIZED")
                    .hint("use one that does"),
            );
        }
        let world = universe.world();
        let (rank, size) = (world.rank() as usize, world.size() as usize);
        turn::install_hooks();
        turn::set_label(format!("rank {rank} of {size}"));
        let driver = Driver::start();
        let thread = std::thread::Builder::new()
            .name("nomina-mpi".to_owned())
            .spawn(|| driver.run())
            .map_err(|error| mesh_error(format!("cannot start a thread: {error}")));
        let session = Session {
            driver,
            rank,
            size,
            max_message,
            universe: Mutex::new(Some(universe)),
            thread: Mutex::new(Some(thread?)),
        };
        let session = Arc::new(session);
        Ok(Self { session })
    }

    /// Returns the rank of this process among all.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.session.rank
    }

    /// Returns the number of processes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.session.size
    }

    /// Returns the sizes, with a 0 replaced by the remaining factor.
    fn infer_sizes(&self, asked: &[usize]) -> Result<Vec<usize>> {
        let product = |sizes: &[usize]| {
            let mut known = sizes.iter().filter(|&&size| size > 0);
            known.try_fold(1_usize, |all, &size| all.checked_mul(size))
        };
        let mut sizes = asked.to_vec();
        if let Some(known) = product(&sizes)
            && let Some(open) = sizes.iter_mut().find(|size| **size == 0)
        {
            *open = self.size() / known;
        }
        if product(&sizes) == Some(self.size()) && !sizes.contains(&0) {
            return Ok(sizes);
        }
        let what = format!("a mesh of {asked:?} over {} ranks", self.size());
        Err(mesh_error(what)
            .hint("give sizes whose product is the number of ranks, one may be 0 for the rest"))
    }

    /// Creates an axis with its own communicator.
    fn axis(&self, _: &Turn, color: usize, rank: usize, size: usize) -> Axis {
        let driver = self.session.driver;
        let mut comm = MaybeUninit::uninit();
        // SAFETY: this thread holds the turn, and all ranks make the same calls.
        let comm = unsafe {
            let world = ffi::RSMPI_COMM_WORLD;
            let code =
                ffi::MPI_Comm_split(world, to_c_int(color), to_c_int(rank), comm.as_mut_ptr());
            require_success("MPI_Comm_split", code);
            let comm = comm.assume_init();
            let code = ffi::MPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN);
            require_success("MPI_Comm_set_errhandler", code);
            Comm(comm)
        };
        // Like the communicator, it lives until the program ends.
        let scratch = vec![0_u128; scratch_bytes(size).div_ceil(16)].leak();
        // SAFETY: the memory belongs to this axis alone, and is never freed.
        let scratch = unsafe { Span::new(scratch.as_mut_ptr().cast(), scratch.len() * 16) };
        let axis_comm = AxisComm {
            comm,
            rank,
            size,
            scratch,
            max_message: self.session.max_message,
        };
        Axis {
            queue: driver.add_axis(),
            axis_comm,
            sent: Arc::default(),
            session: self.session.clone(),
        }
    }
}

impl Engine for Mpi {
    /// Returns the axes of a mesh of all ranks; consecutive ranks are neighbours along the last axis. All ranks call
    /// this with the same sizes, in the same order. It waits for all jobs.
    fn axes(&self, sizes: &[usize]) -> Result<Vec<Arc<dyn Ranks>>> {
        let sizes = self.infer_sizes(sizes)?;
        let mut place = vec![0; sizes.len()];
        let mut left = self.rank();
        for (at, size) in place.iter_mut().zip(&sizes).rev() {
            (*at, left) = (left % size, left / size);
        }
        turn::set_label(format!(
            "rank {} of {} at {place:?} of {sizes:?}",
            self.rank(),
            self.size()
        ));
        let turn = Turn::take();
        self.session.driver.drain(&turn);
        let axis = |axis: usize| {
            // The index of the line of ranks along this axis.
            let others = (0..sizes.len()).filter(|&other| other != axis);
            let color = others.fold(0, |color, other| color * sizes[other] + place[other]);
            Arc::new(self.axis(&turn, color, place[axis], sizes[axis])) as Arc<dyn Ranks>
        };
        Ok((0..sizes.len()).map(axis).collect())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The panic hook ends the program, on all ranks.
            return;
        }
        self.driver.stop();
        let thread = self
            .thread
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // A panic of the thread has ended the program.
            drop(thread.join());
        }
        let turn = Turn::take();
        wait_for_all(&turn);
        turn::mark_finalizing();
        let universe = self
            .universe
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        drop(universe.take());
    }
}

/// Waits for all ranks before MPI is finalized. It polls, so that this rank is not inside an MPI call if another one
/// ends the program meanwhile: Open MPI 4.1's launcher may wait forever for a rank that was about to exit.
fn wait_for_all(_turn: &Turn) {
    // SAFETY: MPI is running, and this thread holds the turn.
    unsafe {
        let mut request = ffi::RSMPI_REQUEST_NULL;
        ffi::MPI_Ibarrier(ffi::RSMPI_COMM_WORLD, &raw mut request);
        let mut done = 0;
        loop {
            let code = ffi::MPI_Test(&raw mut request, &raw mut done, ffi::RSMPI_STATUS_IGNORE);
            if code != 0 || done != 0 {
                return;
            }
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

/// One axis of a mesh: the ranks along it, each a process.
#[derive(Debug)]
struct Axis {
    queue: usize,
    axis_comm: AxisComm,
    /// The bytes of elements sent.
    sent: Arc<AtomicU64>,
    session: Arc<Session>,
}

impl Ranks for Axis {
    fn rank(&self) -> usize {
        self.axis_comm.rank
    }

    fn size(&self) -> usize {
        self.axis_comm.size
    }

    fn start(&self, job: Job) -> Result<Ticket> {
        if self.axis_comm.size == 1 {
            return Alone.start(job);
        }
        let description = JobDescription::new(&job);
        let (axis_comm, sent) = (self.axis_comm.clone(), self.sent.clone());
        let bytes = nomina_mesh::sent(&job, axis_comm.size, axis_comm.rank);
        let work = async move {
            let done = match job {
                Job::AllReduce { piece, combine } => {
                    axis_comm.all_reduce(description, piece, combine).await
                }
                Job::ReduceScatter { pieces, combine } => {
                    axis_comm.reduce_scatter(description, pieces, combine).await
                }
                Job::AllGather { piece, shapes } => {
                    axis_comm.all_gather(description, piece, shapes).await
                }
                Job::AllToAll { pieces, shapes } => {
                    axis_comm.all_to_all(description, pieces, shapes).await
                }
                Job::Shift { piece, by, shape } => {
                    axis_comm.shift(description, piece, by, shape).await
                }
                Job::Broadcast { piece, root } => {
                    axis_comm.broadcast(description, piece, root).await
                }
                Job::Scan { piece, combine } => axis_comm.scan(description, piece, combine).await,
                Job::Barrier => axis_comm.barrier(description).await,
                job => Err(mesh_error(format!("MPI has no job `{}`", job.name()))),
            }?;
            sent.fetch_add(bytes, Relaxed);
            Ok(done)
        };
        let driver = self.session.driver;
        let slot = driver.submit(self.queue, description, description.bytes() <= SMALL, work);
        // A ticket keeps the session alive, so finalization waits for it.
        let session = self.session.clone();
        Ok(Ticket::new(move || session.driver.wait(&slot)))
    }

    fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }

    fn abort(&self, code: i32) -> ! {
        turn::print_line(&format!("ends the program on all ranks with code {code}"));
        turn::end(code)
    }
}
