//! Normalisation and dropout.
