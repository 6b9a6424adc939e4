//! How often operators went by way of the host.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

static USES: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());

/// How often the host computed what a device was asked for, by class of operators, since the program
/// began or [`reset_by_host`]. Results are right, and slow to come: operands are copied to the host and
/// results back.
#[must_use]
pub fn by_host() -> BTreeMap<&'static str, u64> {
    USES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Lets [`by_host`] count from zero again.
pub fn reset_by_host() {
    USES.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// Counts one more use by a class.
pub(crate) fn count(class: &'static str) {
    let mut uses = USES.lock().unwrap_or_else(PoisonError::into_inner);
    *uses.entry(class).or_default() += 1;
}
