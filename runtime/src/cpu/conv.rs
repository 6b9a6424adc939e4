//! Convolution and pooling.
