//! Operators that move, repeat or lay out elements anew.
