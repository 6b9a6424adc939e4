//! Activations.
