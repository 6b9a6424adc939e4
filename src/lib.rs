//! nomina
