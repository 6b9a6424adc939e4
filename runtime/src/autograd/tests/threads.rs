//! Leaves that several threads share, and graphs that go from one to another.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use super::*;
use crate::Raw;
use crate::call::{self, Arg};
use nomina_core::op::Op;

const THREADS: usize = 4;
const ROUNDS: usize = if cfg!(miri) { 3 } else { 50 };

fn whole(len: usize, value: f64) -> Raw {
    let mut raw = Raw::from_vec(vec![value; len], &[len]).unwrap();
    raw.requires_grad_().unwrap();
    raw
}

fn apply(op: Op, operands: &[&Raw]) -> Raw {
    let operands: Vec<Arg<'_>> = operands.iter().map(|&raw| Arg::Tensor(raw)).collect();
    call::pointwise(op, &operands).unwrap()
}

fn ones(like: &Raw) -> Raw {
    call::full(like.shape(), 1.0.into(), like.dtype(), like.device()).unwrap()
}

fn back(y: &Raw, options: BackwardOptions) {
    backward(y, ones(y), options).unwrap();
}

/// All elements, which are to be equal.
fn every(raw: &Raw) -> f64 {
    let values = raw.to_vec::<f64>().unwrap();
    assert!(values.iter().all(|&x| x == values[0]), "{values:?}");
    values[0]
}

fn together(f: impl Fn(usize) + Sync) {
    let f = &f;
    thread::scope(|scope| {
        let all: Vec<_> = (0..THREADS).map(|at| scope.spawn(move || f(at))).collect();
        for one in all {
            one.join().unwrap();
        }
    });
}

#[test]
fn gradients_of_all_threads_are_added() {
    // Small tensors, and some whose kernels share work.
    for (len, rounds) in [(3, ROUNDS), (40_000, ROUNDS.div_ceil(10))] {
        let (a, b) = (whole(len, 2.0), whole(len, 3.0));
        together(|at| {
            let (a, b) = (a.clone(), b.clone());
            for _ in 0..rounds {
                // By either order of the two: slots are locked in one.
                let y = match at % 2 {
                    0 => apply(Op::Mul, &[&a, &b]),
                    _ => apply(Op::Mul, &[&b, &a]),
                };
                back(&apply(Op::Add, &[&y, &a]), BackwardOptions::default());
            }
        });
        let times = (THREADS * rounds) as f64;
        assert_eq!(every(&a.grad().unwrap()), 4.0 * times);
        assert_eq!(every(&b.grad().unwrap()), 2.0 * times);
    }
}

#[test]
fn a_gradient_is_read_while_others_add() {
    let leaf = whole(64, 1.0);
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = || {
            let mut last = 0.0;
            while !ends.load(Ordering::Relaxed) {
                // Whole, of whole runs, and never less than before.
                let now = leaf.grad().map_or(0.0, |grad| every(&grad));
                assert!(now >= last && now % 2.0 == 0.0, "{last}, then {now}");
                last = now;
            }
        };
        let readers = [scope.spawn(reader), scope.spawn(reader)];
        together(|_| {
            for _ in 0..ROUNDS {
                let y = apply(Op::Add, &[&leaf, &leaf]);
                back(&y, BackwardOptions::default());
            }
        });
        ends.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
    let wanted = (2 * THREADS * ROUNDS) as f64;
    assert_eq!(every(&leaf.grad().unwrap()), wanted);
}

#[test]
fn what_is_taken_and_what_stays_is_everything() {
    let leaf = whole(16, 1.0);
    let (sender, taken) = mpsc::channel();
    thread::scope(|scope| {
        let leaf = &leaf;
        let taker = scope.spawn(move || {
            for _ in 0..4 * ROUNDS {
                sender
                    .send(leaf.take_grad().map_or(0.0, |grad| every(&grad)))
                    .unwrap();
            }
        });
        together(|_| {
            for _ in 0..ROUNDS {
                back(&apply(Op::Neg, &[leaf]), BackwardOptions::default());
            }
        });
        taker.join().unwrap();
    });
    let rest = leaf.take_grad().map_or(0.0, |grad| every(&grad));
    let taken: f64 = taken.iter().sum();
    assert_eq!(taken + rest, -((THREADS * ROUNDS) as f64));
}

#[test]
fn a_graph_goes_to_another_thread() {
    let leaf = whole(5, 3.0);
    let (sender, receiver) = mpsc::channel::<Raw>();
    thread::scope(|scope| {
        let there = scope.spawn(move || {
            for y in receiver {
                // A part of the graph was made here.
                let y = apply(Op::Mul, &[&y, &y]);
                back(&y, BackwardOptions::default());
            }
        });
        for _ in 0..ROUNDS {
            sender.send(apply(Op::Mul, &[&leaf, &leaf])).unwrap();
        }
        drop(sender);
        there.join().unwrap();
    });
    // The derivatives of x^4.
    assert_eq!(every(&leaf.grad().unwrap()), 4.0 * 27.0 * ROUNDS as f64);
}

#[test]
fn one_graph_is_gone_through_by_several() {
    let leaf = whole(5, 0.5);
    let y = apply(Op::Mul, &[&apply(Op::Exp, &[&leaf]), &leaf]);
    let keep = BackwardOptions {
        retain_graph: true,
        ..BackwardOptions::default()
    };
    back(&y, keep);
    let once = every(&leaf.take_grad().unwrap());
    together(|_| (0..4).for_each(|_| back(&y, keep)));
    let found = every(&leaf.take_grad().unwrap());
    assert!((found - 4.0 * THREADS as f64 * once).abs() < 1e-12);
    // The first thread consumes the graph; all others get an error.
    let (sender, ends) = mpsc::channel();
    together(|_| {
        let found = backward(&y, ones(&y), BackwardOptions::default());
        sender
            .send(found.map_err(|error| error.to_string()))
            .unwrap();
    });
    drop(sender);
    let ends: Vec<_> = ends.iter().collect();
    let (well, told): (Vec<_>, Vec<_>) = ends.iter().partition(|end| end.is_ok());
    assert_eq!(well.len(), 1, "who used it up");
    for text in told.into_iter().filter_map(|end| end.as_ref().err()) {
        assert!(text.contains("used up the graph"), "{text}");
    }
    assert_eq!(every(&leaf.grad().unwrap()), once);
}

#[cfg(feature = "rayon")]
#[test]
fn one_graph_is_gone_through_by_tasks_that_wait_for_each_other() {
    if cfg!(miri) {
        return;
    }
    // Kernels share their work with the pool that the tasks are of: who waits for one takes up another task, which comes by the
    // nodes that the waiting one is at.
    let leaf = whole(200_000, 0.5);
    let y = apply(Op::Mul, &[&apply(Op::Exp, &[&leaf]), &leaf]);
    let keep = BackwardOptions {
        retain_graph: true,
        ..BackwardOptions::default()
    };
    back(&y, keep);
    let once = every(&leaf.take_grad().unwrap());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build();
    pool.unwrap().scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|_| back(&y, keep));
        }
    });
    let found = every(&leaf.take_grad().unwrap());
    assert!((found - 64.0 * once).abs() < 1e-9 * found);
}

#[test]
fn a_graph_is_dropped_elsewhere() {
    let leaf = whole(5, 1.0);
    let depth = 40 * ROUNDS;
    let chain = |from: &Raw| (0..depth).fold(from.clone(), |y, _| apply(Op::Add, &[&y, &leaf]));
    let shared = chain(&leaf);
    thread::scope(|scope| {
        for at in 0..THREADS {
            let own = chain(&shared);
            let thread = thread::Builder::new().stack_size(256 << 10);
            let drops = move || match at % 2 {
                0 => drop(own),
                _ => back(
                    &own,
                    BackwardOptions {
                        retain_graph: true,
                        ..BackwardOptions::default()
                    },
                ),
            };
            thread.spawn_scoped(scope, drops).unwrap();
        }
        // Meanwhile, and last or not.
        drop(shared);
    });
    let each = (2 * depth + 1) as f64;
    assert_eq!(every(&leaf.grad().unwrap()), 2.0 * each);
}

#[test]
fn hooks_come_and_go_while_others_go_back() {
    let leaf = whole(5, 1.0);
    together(|at| {
        for _ in 0..ROUNDS {
            match at {
                0 => leaf.register_hook(|_| Ok(None)).unwrap().remove(),
                1 => leaf
                    .register_post_accumulate_grad_hook(|_| Ok(()))
                    .unwrap()
                    .remove(),
                _ => back(&apply(Op::Neg, &[&leaf]), BackwardOptions::default()),
            }
        }
    });
    let wanted = -(((THREADS - 2) * ROUNDS) as f64);
    assert_eq!(every(&leaf.grad().unwrap()), wanted);
}
