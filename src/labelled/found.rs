//! The result of a search among labels.

/// The result of a look-up; the error continues a sentence that begins with the dim's name.
pub type Found<V> = Result<V, String>;
