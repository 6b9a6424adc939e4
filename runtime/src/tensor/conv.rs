//! Convolution, pooling and padding.
