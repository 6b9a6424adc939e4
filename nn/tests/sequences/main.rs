//! Layers of sequences: recurrent layers, Transformers, generation.

mod generation;
mod plain;
mod recurrent;
mod reference;
mod transformer;
