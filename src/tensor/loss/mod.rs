//! Losses.

pub mod elementwise;
pub mod embedding;
pub mod entropy;
pub mod reduction;

pub use entropy::{
    BinaryCrossEntropyOptions, ClassIndices, CrossEntropyOptions, KindOfTargets, Probabilities,
    TargetDims, Targets,
};
