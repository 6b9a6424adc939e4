//! Values of nomina.
