//! Every mistake, fixed as its last lines say, compiles and runs; and where rustc offers a bound,
//! the program with that bound compiles.

#![allow(
    clippy::all,
    unused,
    missing_docs,
    reason = "the programs are about one thing each"
)]

include!(concat!(env!("OUT_DIR"), "/fixed.rs"));
