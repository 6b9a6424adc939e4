//! Whether this thread records.

use std::cell::Cell;

thread_local! {
    static RECORDS: Cell<bool> = const { Cell::new(true) };
}

/// Returns whether results of recorded operands are recorded on this thread: true, except within [`no_grad`].
#[must_use]
#[inline]
pub fn is_grad_enabled() -> bool {
    RECORDS.get()
}

/// Calls `f` without recording on this thread; the previous state returns afterwards, also if `f` panics.
///
/// This applies to everything that the thread runs meanwhile: if `f` itself waits inside rayon (`join`, `scope`, a
/// parallel iterator), that may be any other task of the pool. Operators of tensors do not wait that way.
pub fn no_grad<R>(f: impl FnOnce() -> R) -> R {
    switched(false, f)
}

/// Calls `f` with recording on this thread, within [`no_grad`]; the previous state returns afterwards, also if `f`
/// panics.
pub fn enable_grad<R>(f: impl FnOnce() -> R) -> R {
    switched(true, f)
}

pub(crate) fn switched<R>(records: bool, f: impl FnOnce() -> R) -> R {
    struct RestoreSwitch(bool);
    impl Drop for RestoreSwitch {
        fn drop(&mut self) {
            RECORDS.set(self.0);
        }
    }
    let _restore = RestoreSwitch(RECORDS.replace(records));
    f()
}
