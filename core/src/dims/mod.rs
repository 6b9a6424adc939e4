//! Names in types.
