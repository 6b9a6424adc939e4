//! The functions of this module in a build without the CUDA backend: each returns an error.

use nomina_core::{Error, ErrorKind, Result};

use super::properties::{Properties, Stats};
use super::report::Report;

/// An uninhabited type, because nothing can be captured.
#[derive(Debug)]
pub(crate) enum Captured {}

impl Captured {
    pub(super) fn replay(&self) -> Result<()> {
        match *self {}
    }
}

pub(super) fn graph<R>(_: usize, _: impl FnOnce() -> Result<R>) -> Result<(Captured, R)> {
    Err(missing("cuda::graph"))
}

#[cold]
fn missing(op: &'static str) -> Error {
    let what = "this build has no CUDA backend";
    Error::new(ErrorKind::Device, op, what).hint("build with the feature `cuda`, or use `cpu`")
}

pub(super) fn count(op: &'static str) -> Result<usize> {
    Err(missing(op))
}

pub(super) fn check(op: &'static str, _: usize) -> Result<()> {
    Err(missing(op))
}

pub(super) fn synchronize(_: usize) -> Result<()> {
    Err(missing("synchronize"))
}

pub(super) fn properties(_: usize) -> Result<Properties> {
    Err(missing("properties"))
}

pub(super) unsafe fn across(
    op: &'static str,
    _: [usize; 2],
    _: [*mut u8; 2],
    _: usize,
) -> Result<()> {
    Err(missing(op))
}

pub(super) fn report(_: usize) -> Result<Report> {
    Err(missing("report"))
}

pub(super) fn stats(_: usize) -> Result<Stats> {
    Err(missing("stats"))
}

pub(super) fn trim(_: usize) -> Result<()> {
    Err(missing("trim"))
}
