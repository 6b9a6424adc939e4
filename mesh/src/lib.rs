//! Named tensors over a mesh of processes.
#![forbid(unsafe_code)]

mod ranks;

pub use ranks::{Alone, Combine, Job, Ranks, Ticket};
