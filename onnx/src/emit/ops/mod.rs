//! How operators are spelled, a file per family.

pub mod branch;
pub mod elementwise;
pub mod order;
pub mod pick;
pub mod product;
pub mod reduce;
pub mod rnn;
pub mod window;
