//! Values that are not tensors.

/// A value of a file that is not a tensor, such as the number of an epoch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// `None`.
    None,
    /// A `bool`.
    Bool(bool),
    /// An `int` of at most 64 bits.
    Int(i64),
    /// A `float`.
    Float(f64),
    /// A `str`.
    Text(String),
}
