//! Linear algebra by its equations: solutions by what is left over, factors by their product and by being
//! orthonormal, in multiples of the precision of each dtype.

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
