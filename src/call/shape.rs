//! Moving, repeating, laying out anew.
