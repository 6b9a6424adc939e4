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
use nomina_mesh::{Alone, Engine as Processes, Job, Ranks, Ticket};

use crate::agree::{Word, room};
use crate::engine::Engine;
use crate::lane::Lane;
use crate::request::{Comm, Span, check, int};
use crate::settings::message;
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
    engine: &'static Engine,
    rank: usize,
    size: usize,
    /// The maximum bytes of a message.
    message: usize,
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

fn refuse(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Mesh, "mesh", what)
}

impl Mpi {
    /// Starts MPI, on all ranks. A process can do so once.
    ///
    /// From then on, a panic in any thread ends the program on all ranks.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Mesh`] if MPI was started before in this process, or does not allow threads to call it in
    /// turn; [`ErrorKind::Argument`] if `NOMINA_MESH_MESSAGE` is not a number of bytes.
    pub fn start() -> Result<Self> {
        let message = message(std::env::var("NOMINA_MESH_MESSAGE").ok())?;
        let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Serialized)
        else {
            return Err(refuse("MPI was started before in this process")
                .hint("start it once, and make all meshes of that"));
        };
        if threading < Threading::Serialized {
            return Err(refuse("this MPI does not allow threads to call it in turn")
                .hint("use one with MPI_THREAD_SERIALIZED"));
        }
        let world = universe.world();
        let (rank, size) = (world.rank() as usize, world.size() as usize);
        turn::begin();
        turn::stands(format!("rank {rank} of {size}"));
        let engine = Engine::start();
        let thread = std::thread::Builder::new()
            .name("nomina-mpi".to_owned())
            .spawn(|| engine.run())
            .map_err(|error| refuse(format!("no thread could be started: {error}")));
        let session = Session {
            engine,
            rank,
            size,
            message,
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
    fn filled(&self, asked: &[usize]) -> Result<Vec<usize>> {
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
        Err(refuse(what).hint(
            "give sizes whose product is the number of ranks, one of them 0 for what is left",
        ))
    }

    /// Creates an axis with its own communicator.
    fn axis(&self, _: &Turn, color: usize, rank: usize, size: usize) -> Axis {
        let engine = self.session.engine;
        let mut comm = MaybeUninit::uninit();
        // SAFETY: this thread holds the turn, and all ranks make the same calls.
        let comm = unsafe {
            let world = ffi::RSMPI_COMM_WORLD;
            let code = ffi::MPI_Comm_split(world, int(color), int(rank), comm.as_mut_ptr());
            check("MPI_Comm_split", code);
            let comm = comm.assume_init();
            let code = ffi::MPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN);
            check("MPI_Comm_set_errhandler", code);
            Comm(comm)
        };
        // Like the communicator, it lives until the program ends.
        let scratch = vec![0_u128; room(size).div_ceil(16)].leak();
        // SAFETY: the memory belongs to this axis alone, and is never freed.
        let scratch = unsafe { Span::new(scratch.as_mut_ptr().cast(), scratch.len() * 16) };
        let lane = Lane {
            comm,
            rank,
            size,
            scratch,
            message: self.session.message,
        };
        Axis {
            queue: engine.add_axis(),
            lane,
            sent: Arc::default(),
            session: self.session.clone(),
        }
    }
}

impl Processes for Mpi {
    /// Returns the axes of a mesh of all ranks; consecutive ranks are neighbours along the last axis. All ranks call
    /// this with the same sizes, in the same order. It waits for all jobs.
    fn axes(&self, sizes: &[usize]) -> Result<Vec<Arc<dyn Ranks>>> {
        let sizes = self.filled(sizes)?;
        let mut place = vec![0; sizes.len()];
        let mut left = self.rank();
        for (at, size) in place.iter_mut().zip(&sizes).rev() {
            (*at, left) = (left % size, left / size);
        }
        turn::stands(format!(
            "rank {} of {} at {place:?} of {sizes:?}",
            self.rank(),
            self.size()
        ));
        let turn = Turn::take();
        self.session.engine.drain(&turn);
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
        self.engine.stop();
        let thread = self
            .thread
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // A panic of the thread has ended the program.
            drop(thread.join());
        }
        let turn = Turn::take();
        meet(&turn);
        turn::finish();
        let universe = self
            .universe
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        drop(universe.take());
    }
}

/// Waits for all ranks before MPI is finalized. It polls, so that this rank is not inside an MPI call if another one
/// ends the program meanwhile: Open MPI 4.1's launcher may wait forever for a rank that was about to exit.
fn meet(_turn: &Turn) {
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
    lane: Lane,
    /// The bytes of elements sent.
    sent: Arc<AtomicU64>,
    session: Arc<Session>,
}

impl Ranks for Axis {
    fn rank(&self) -> usize {
        self.lane.rank
    }

    fn size(&self) -> usize {
        self.lane.size
    }

    fn start(&self, job: Job) -> Result<Ticket> {
        if self.lane.size == 1 {
            return Alone.start(job);
        }
        let word = Word::of(&job);
        let (lane, sent) = (self.lane.clone(), self.sent.clone());
        let bytes = nomina_mesh::sent(&job, lane.size, lane.rank);
        let work = async move {
            let done = match job {
                Job::AllReduce { piece, combine } => lane.all_reduce(word, piece, combine).await,
                Job::ReduceScatter { pieces, combine } => {
                    lane.reduce_scatter(word, pieces, combine).await
                }
                Job::AllGather { piece, shapes } => lane.all_gather(word, piece, shapes).await,
                Job::AllToAll { pieces, shapes } => lane.all_to_all(word, pieces, shapes).await,
                Job::Shift { piece, by, shape } => lane.shift(word, piece, by, shape).await,
                Job::Broadcast { piece, root } => lane.broadcast(word, piece, root).await,
                Job::Scan { piece, combine } => lane.scan(word, piece, combine).await,
                Job::Barrier => lane.barrier(word).await,
                job => Err(refuse(format!("MPI has no job `{}`", job.name()))),
            }?;
            sent.fetch_add(bytes, Relaxed);
            Ok(done)
        };
        let engine = self.session.engine;
        let slot = engine.submit(self.queue, word, word.bytes() <= SMALL, work);
        // A ticket keeps the session alive, so finalization waits for it.
        let session = self.session.clone();
        Ok(Ticket::new(move || session.engine.wait(&slot)))
    }

    fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }

    fn abort(&self, code: i32) -> ! {
        turn::say(&format!("ends the program on all ranks with code {code}"));
        turn::end(code)
    }
}
