//! Counts of the operators that the host computed for a device.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

static FALLBACKS: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());

/// Returns, by class of operators, how often the host computed an operator for a device since the program began or
/// since [`reset_by_host`].
///
/// The results are right but slow, because operands are copied to the host and results back.
#[must_use]
pub fn by_host() -> BTreeMap<&'static str, u64> {
    FALLBACKS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

/// Resets the counts of [`by_host`].
pub fn reset_by_host() {
    FALLBACKS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
}

/// Counts one more fallback of a class.
pub(crate) fn count(class: &'static str) {
    let mut counts = FALLBACKS.lock().unwrap_or_else(PoisonError::into_inner);
    *counts.entry(class).or_default() += 1;
}
