//! MPI for named tensors: the ranks of a mesh's axes are processes.
//!
//! [`Mpi`] starts MPI and makes an [`Axis`] for each axis of a mesh, which is [`Ranks`] of the crate `nomina-mesh`.
//! A program runs by `mpiexec -n 4`, by Slurm's `srun`, or alone as one process.
//!
//! ```no_run
//! use nomina_mesh::{Combine, Job, Ranks};
//! use nomina_mpi::Mpi;
//! use nomina_runtime::Raw;
//!
//! # fn main() -> nomina::Result<()> {
//! let mpi = Mpi::start()?;
//! // Two axes over all ranks; along the second one neighbours follow each other.
//! let [data, model] = mpi.axes([2, 0])?;
//! let piece = Raw::from_vec(vec![data.rank() as f32, 1.0], &[2])?;
//! let combine = Combine::Add;
//! let sum = data.start(Job::AllReduce { piece, combine })?.wait_for_one()?;
//! assert_eq!(sum.as_slice(), Some(&[1.0_f32, 2.0][..]));
//! # Ok(())
//! # }
//! ```
//!
//! # What is promised
//! - **Order.** Pieces are combined in the order of ranks, an operator at a time, by the loops that compute
//!   elementwise operators: one rounding a step in 16 bits, integers that wrap, NaN where one is. The result
//!   of an all-reduce is equal to the bit on all ranks, and from run to run.
//! - **The same.** Before each job ranks tell each other what they are about to do, in one round that small pieces go
//!   along with. Where they differ, or memory is missing on one, all get the same error and nothing was sent.
//! - **Bytes.** [`Ranks::sent`] counts bytes of elements that a rank has to send, whatever an MPI makes of them: of
//!   an all-reduce what the others combine and, to each of them, what this one did, so that p ranks send 2n(p - 1)
//!   of n bytes in all; of a gather its piece, to each other rank; of a reduce-scatter, an exchange or a shift
//!   what goes to others; of a broadcast the piece, once, on the root; of a scan the piece, but on the
//!   last rank. What ranks tell each other does not count.
//! - **An end.** A panic in any thread says which rank it was, and ends the program on all ranks with code 101. A job
//!   that takes longer than `NOMINA_MESH_TIMEOUT` seconds (600) writes the last jobs of its rank to stderr and ends the
//!   program with code 1. MPI is finalized when the last handle goes, which waits for the other ranks.
//!
//! # Threads
//! A thread of this crate's own drives jobs while their users compute; who waits for a job drives it himself. So
//! MPI is started for threads that call it in turn (`MPI_THREAD_SERIALIZED`). Who waits asks again and again: more
//! ranks than cores cost milliseconds a job.

mod agree;
mod engine;
mod lane;
mod moves;
mod record;
mod reduce;
mod request;
mod settings;
mod strided;
mod turn;
mod world;

#[cfg(doc)]
use nomina_mesh::Ranks;

pub use world::{Axis, Mpi};
