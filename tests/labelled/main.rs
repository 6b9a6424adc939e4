//! Labelled tensors: labels, selections, operators, and recorded calls of xarray.

mod labels;
mod operations;
mod operators;
mod select;
mod xarray;
