//! Attributes, conversions and resizing.
