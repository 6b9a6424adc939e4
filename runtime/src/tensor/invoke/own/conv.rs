//! Convolution, pooling, padding.
