//! Random numbers from the generators.
