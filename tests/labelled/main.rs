//! Labelled tensors: labels, selections, operators, and recorded calls of xarray.

mod labels;
mod operators;
mod select;
mod xarray;
