//! Threads for `faer`, which waits inside rayon.
//!
//! A thread that waits inside rayon runs other tasks of its pool meanwhile. On a thread of the user these may be any
//! tasks of the user, which would run under the thread-local state of the call (`no_grad`, a checkpoint, a profile) and
//! with its locks held. `faer` therefore gets a separate pool without other tasks, and the calling thread blocks
//! without rayon.

use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread::{Builder, scope};

use faer::Par;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::cpu::parallel::threads;

/// The pool; `None` if the system cannot create its threads.
static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();

/// Calls `f` on the library's own pool, where `faer` may use several threads.
pub(super) fn with_threads(f: impl Fn(Par) + Sync) {
    if threads() == 1 {
        return f(Par::Seq);
    }
    let pool = POOL.get_or_init(|| {
        let builder = ThreadPoolBuilder::new();
        builder
            .thread_name(|at| format!("nomina-linalg-{at}"))
            .build()
            .ok()
    });
    let Some(pool) = pool else {
        return f(Par::Seq);
    };
    let par = Par::rayon(threads().min(pool.current_num_threads()));
    // A thread of another pool would run tasks of that pool while it waits in `install`; a new thread belongs to none.
    let done = scope(|scope| {
        let waits = Builder::new().spawn_scoped(scope, || pool.install(|| f(par)));
        waits.map(|thread| thread.join())
    });
    match done {
        Ok(Ok(())) => {}
        Ok(Err(panic)) => resume_unwind(panic),
        Err(_) => f(Par::Seq),
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn threads_of_its_own() {
        let user = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let names = Mutex::new(Vec::new());
        user.install(|| {
            with_threads(|par| {
                let name = std::thread::current().name().map(str::to_owned);
                names.lock().unwrap().push((name, par));
            });
        });
        let names = names.into_inner().unwrap();
        let [(Some(name), _)] = &names[..] else {
            panic!("called once, on a thread with a name: {names:?}")
        };
        assert!(name.starts_with("nomina-linalg-"), "{name}");
        let alone = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        alone.install(|| with_threads(|par| assert!(matches!(par, Par::Seq))));
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let user = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let panic = user.install(|| {
            catch_unwind(AssertUnwindSafe(|| {
                with_threads(|_| panic!("no such matrix"));
            }))
        });
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"no such matrix"));
    }
}
