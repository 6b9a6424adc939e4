//! Losses and distances.
