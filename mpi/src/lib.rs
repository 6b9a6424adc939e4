//! MPI for named tensors: the ranks of a mesh's axes are processes.
//!
//! [`Mpi`] starts MPI and is what `Grid::start` of a mesh asks for; its axes are [`Ranks`] of the crate `nomina-mesh`.
//! A program runs by `mpiexec -n 4`, by Slurm's `srun`, or alone as one process.
//!
//! ```no_run
//! use nomina_mesh::prelude::*;
//! use nomina_mpi::Mpi;
//!
//! mesh! { Grid: Data, Model }
//!
//! let mpi = Mpi::start()?;
//! // Two axes over all ranks; along the second one neighbours follow each other.
//! let mesh = Grid::start(&mpi, [2, 0])?;
//! println!("rank {} of {}", mesh.rank(Model), mesh.size(Model));
//! # Ok::<(), nomina::Error>(())
//! ```
//!
//! # What is promised
//! - **Order.** Pieces are combined in the order of ranks, an operator at a time, by the loops that compute
//!   elementwise operators: one rounding a step in 16 bits, integers that wrap, NaN where one is. The result
//!   of an all-reduce is equal to the bit on all ranks, and from run to run.
//! - **The same.** Before each job ranks tell each other what they are about to do, in one round that small pieces go
//!   along with. Where they differ, or memory is missing on one, all get the same error and nothing was sent.
//! - **Bytes.** [`Ranks::sent`] counts what [`nomina_mesh::sent`] says of each job that is done, whatever an MPI
//!   makes of it. What ranks tell each other before a job does not count.
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

pub use world::Mpi;
