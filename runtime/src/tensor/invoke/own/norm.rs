//! Normalisation layers and dropout.
