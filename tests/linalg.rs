//! Linear algebra by its equations: solutions by their residual, factors by their product and their orthonormality, in
//! multiples of the precision of each dtype.

#[path = "linalg/equations.rs"]
mod equations;
#[path = "linalg/mistakes.rs"]
mod mistakes;
#[path = "linalg/names.rs"]
mod names;
#[path = "linalg/range.rs"]
mod range;
#[path = "linalg/values.rs"]
mod values;
