//! What a program with networks uses: `use nomina_nn::prelude::*;`, beside nomina's own prelude.

pub use crate::layers::*;
pub use crate::{Module, Param};
