//! Activations of networks.
