//! Layers of sequences: recurrent layers, Transformers, generation.

mod generation;
mod recurrent;
mod reference;
mod transformer;
