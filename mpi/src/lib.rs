//! MPI for meshes of named tensors: the ranks of an axis are processes.
//!
//! [`Mpi`] starts MPI and is the engine that a mesh's `Grid::start` takes; its axes are [`Ranks`] of the crate
//! `nomina-mesh`. Programs run by `mpiexec -n 4`, by Slurm's `srun`, or alone as one process.
//!
//! ```no_run
//! use nomina_mesh::prelude::*;
//! use nomina_mpi::Mpi;
//!
//! mesh! { Grid: Data, Model }
//!
//! let mpi = Mpi::start()?;
//! // Two axes over all ranks; consecutive ranks are neighbours along the second.
//! let mesh = Grid::start(&mpi, [2, 0])?;
//! println!("rank {} of {}", mesh.rank(Model), mesh.size(Model));
//! # Ok::<(), nomina::Error>(())
//! ```
//!
//! Building this crate needs an MPI with its compiler wrapper `mpicc`, a C compiler and libclang. A binary runs only with
//! the MPI that it was built with. The crate has no features.
//!
//! # Guarantees
//! - **Order.** Pieces are combined in rank order, one operator at a time, by the loops of the elementwise operators:
//!   16-bit floats are rounded at each step, integers wrap, and NaN propagates. The result of an all-reduce is bitwise
//!   equal on all ranks, and from run to run.
//! - **Agreement.** Before each job the ranks exchange descriptions of it, in one round that also carries small pieces.
//!   If they differ, or memory is missing on one, all ranks get the same error and no piece is sent.
//! - **Bytes.** [`Ranks::sent`] counts the bytes that [`nomina_mesh::sent`] gives for each finished job, whatever the
//!   MPI library sends. The descriptions exchanged before a job do not count.
//! - **Termination.** A panic in any thread prints its rank, and ends the program on all ranks with code 101. A job
//!   that takes longer than `NOMINA_MESH_TIMEOUT` seconds (600) writes the last jobs of its rank to stderr and ends the
//!   program with code 1. MPI is finalized when the last handle is dropped, which waits for the other ranks.
//!
//! # Threads
//! A thread of this crate drives jobs while their users compute; a thread that waits for a job drives it itself. MPI is
//! therefore started for threads that call it in turn (`MPI_THREAD_SERIALIZED`). Waiting threads poll: with more ranks
//! than cores, a job costs milliseconds.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod agree;
mod axis_comm;
mod calls;
mod driver;
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

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
