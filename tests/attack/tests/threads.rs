//! Per-thread state: a waiting kernel must not run other tasks, checkpoints must repeat their random numbers, and
//! destructors of thread-locals may use the library while their thread ends.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use nomina::dynamic;
use nomina::prelude::*;
use nomina::{DynSparse, Result, no_grad};

dims! { N }

fn pool(threads: usize) -> rayon::ThreadPool {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
    builder.build().unwrap()
}

/// Losses of other tasks are recorded, whatever operator waits on their thread.
#[test]
fn losses_beside_a_sort_without_gradients_are_recorded() {
    let big = Tensor::<(N,)>::rand([1 << 17]);
    let unrecorded = AtomicUsize::new(0);
    pool(4).scope(|scope| {
        for task in 0..4000 {
            let (big, unrecorded) = (&big, &unrecorded);
            scope.spawn(move |_| {
                if task % 250 == 0 {
                    drop(no_grad(|| big.sort(N)));
                }
                let x = tensor!([1., 2.]; N).with_grad();
                if !(&x * &x).sum(..).requires_grad() {
                    unrecorded.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(unrecorded.into_inner(), 0);
}

/// An operator on large operands, with its name.
type Large = (&'static str, Box<dyn Fn() -> Result<()> + Send + Sync>);

fn large() -> Vec<Large> {
    let line = DynTensor::rand(&[1 << 17], ["N"]).unwrap();
    let whole = line.mul(1000.0).unwrap().to_dtype(DType::I64).unwrap();
    let rows = whole.drop_names().reshape(&[1 << 16, 2]).unwrap();
    let rows = rows.rename(["N", "C"]).unwrap();
    let square = DynTensor::rand(&[520, 520], ["M", "N"]).unwrap();
    let tall = DynTensor::rand(&[4096, 64], ["M", "N"]).unwrap();
    let values = line.drop_names();
    let indices = whole.drop_names().unsqueeze(0, None::<&str>).unwrap();
    let sparse = DynSparse::from_coo(&indices, &values, &[1000], ["N"]).unwrap();
    let plain = square.drop_names();
    let symmetric = plain.add(&plain.transpose(0, 1).unwrap()).unwrap();
    let symmetric = symmetric.rename(["M", "N"]).unwrap();
    let (dims, half) = (["M", "N"], tall.drop_names());
    let mut all: Vec<Large> = Vec::new();
    macro_rules! add {
        ($name:literal, $x:ident, $($call:tt)*) => {{
            let $x = $x.clone();
            all.push(($name, Box::new(move || $($call)*.map(drop))));
        }};
    }
    add!("sort", line, line.sort("N"));
    add!("argsort", line, line.argsort("N"));
    add!("sort of integers", whole, whole.sort("N"));
    add!("topk", line, line.topk(100_000, "N"));
    add!("median", line, line.median("N"));
    add!("mode", whole, whole.mode("N"));
    add!("unique", whole, whole.unique_all());
    add!("unique_dim", rows, rows.unique_dim("N"));
    add!("coalesce", sparse, sparse.coalesce());
    add!("randperm", line, DynTensor::randperm(line.numel(), ["N"]));
    add!("rand", line, line.rand_like());
    add!("cumsum", line, line.cumsum("N"));
    add!("sum", line, line.sum(..));
    add!("exp", line, line.exp());
    add!("matmul", half, half.matmul(&half.transpose(0, 1)?));
    add!("inv", square, square.inv(dims));
    add!("det", square, square.det(dims));
    add!("qr", square, square.qr(dims, "Rank"));
    add!("svdvals", square, square.svdvals(dims, "Rank"));
    add!("eigvalsh", symmetric, symmetric.eigvalsh(dims, "Rank"));
    all
}

/// No operator waits in a way that lets its thread run other tasks of the pool.
#[test]
fn no_operator_runs_other_tasks_while_it_waits() {
    thread_local! {
        static WITHIN: Cell<Option<&'static str>> = const { Cell::new(None) };
    }
    let taken_up = Mutex::new(Vec::new());
    let operators = large();
    pool(4).scope(|scope| {
        for (name, call) in &operators {
            let taken_up = &taken_up;
            scope.spawn(move |scope| {
                for _ in 0..100 {
                    scope.spawn(move |_| {
                        if let Some(name) = WITHIN.get() {
                            taken_up.lock().unwrap().push(name);
                        }
                        // Long enough that tasks are left while the operator waits.
                        let x = DynTensor::rand(&[2000], ["N"]).unwrap();
                        drop(x.exp().unwrap());
                    });
                }
                let outer = WITHIN.replace(Some(*name));
                let result = call();
                WITHIN.set(outer);
                if let Err(error) = result {
                    panic!("{name}: {error}");
                }
            });
        }
    });
    let mut taken_up = taken_up.into_inner().unwrap();
    taken_up.sort_unstable();
    taken_up.dedup();
    assert!(taken_up.is_empty(), "ran other tasks: {taken_up:?}");
}

/// The lock of the default generator is not held while a kernel computes.
#[test]
fn permutations_on_a_pool_end() {
    for threads in [3, 4] {
        let count = AtomicUsize::new(0);
        pool(threads).scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|_| {
                    let order = DynTensor::randperm(1 << 17, ["N"]).unwrap();
                    assert_eq!(order.numel(), 1 << 17);
                    count.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(count.into_inner(), 16);
    }
    // A caller that holds the default generator can use it again.
    nomina_runtime::random::with_default_generator(|generator| {
        let own = DynTensor::rand(&[4], ["N"]).unwrap();
        let mut other = own.zeros_like().unwrap();
        other.uniform_from_(0.0, 1.0, generator).unwrap();
        assert!(!own.equal(&other).unwrap());
    });
}

fn values(x: &DynTensor) -> Vec<f32> {
    x.to_vec().unwrap()
}

fn gradient(x: &DynTensor) -> Vec<f32> {
    values(&x.grad().expect("a gradient"))
}

fn leaf(count: usize) -> DynTensor {
    let x = DynTensor::full(&[count], 2.0, ["N"]).unwrap();
    x.with_grad().unwrap()
}

/// The gradient of `x * mask` is the mask, so the forward and the backward pass must draw the same one.
#[test]
fn a_checkpoint_repeats_every_generator() {
    let own = Arc::new(Mutex::new(Generator::new(7)));
    let x = leaf(1000);
    let held = Arc::clone(&own);
    let masked = move |args: &[DynTensor]| {
        let mut mask = args[0].detach();
        mask.bernoulli_from_(0.5, &mut held.lock().unwrap())?;
        // A generator created in the closure, one whose position is read, and the default one.
        let mut inner = Generator::new(3);
        let mut noise = args[0].detach();
        noise.uniform_from_(0.0, 1.0, &mut inner)?;
        noise.uniform_from_(0.0, inner.get_offset() as f64, &mut inner)?;
        let more = args[0].detach().rand_like()?;
        args[0].mul(&mask)?.mul(&noise)?.mul(&more)
    };
    let y = dynamic::checkpoint(masked, &[&x]).unwrap();
    // Draw other numbers before the backward pass.
    let drawn = DynTensor::rand(&[10], ["N"]).unwrap();
    let before = own.lock().unwrap().clone();
    y.sum(..).unwrap().backward().unwrap();
    assert_eq!(*own.lock().unwrap(), before, "going back draws nothing");
    let next = DynTensor::rand(&[10], ["N"]).unwrap();
    assert!(!drawn.equal(&next).unwrap());
    let expected: Vec<f32> = values(&y.detach()).iter().map(|y| y / 2.0).collect();
    let found = gradient(&x);
    let differ = found.iter().zip(&expected);
    let differ = differ.filter(|(a, b)| (*a - *b).abs() > 1e-5).count();
    assert_eq!(differ, 0, "gradients belong to another mask");
    assert!(found.contains(&0.0) && expected.iter().any(|x| *x != 0.0));
}

/// Checkpoints in many concurrent tasks repeat the masks of their forward pass, in spite of permutations running next
/// to them.
#[test]
fn checkpoints_on_a_pool_keep_their_masks() {
    let wrong = AtomicUsize::new(0);
    pool(4).scope(|scope| {
        for task in 0..400 {
            let wrong = &wrong;
            scope.spawn(move |_| {
                let x = leaf(100);
                let f = move |args: &[DynTensor]| {
                    let order = if task % 40 == 0 { 1 << 17 } else { 100 };
                    let order = DynTensor::randperm(order, ["N"])?.narrow("N", 0, 100)?;
                    let mut mask = args[0].detach();
                    mask.bernoulli_(0.5)?;
                    args[0].mul(&mask)?.mul(&order.to_dtype(DType::F32)?)
                };
                let y = dynamic::checkpoint(f, &[&x]).unwrap();
                y.sum(..).unwrap().backward().unwrap();
                let expected: Vec<f32> = values(&y.detach()).iter().map(|y| y / 2.0).collect();
                if gradient(&x) != expected {
                    wrong.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(wrong.into_inner(), 0);
}

/// Computes `f` with and without a checkpoint, and compares the gradients of the argument and of captured tensors.
fn same_gradients(
    name: &str,
    f: impl Fn(&[DynTensor], &DynTensor) -> Result<DynTensor> + Clone + Send + Sync + 'static,
) {
    let of = |kept: bool| {
        let (x, w) = (leaf(3), leaf(3));
        let (held, f) = (w.mul(3.0).unwrap(), f.clone());
        let f = move |args: &[DynTensor]| f(args, &held);
        let y = if kept {
            f(std::slice::from_ref(&x)).unwrap()
        } else {
            dynamic::checkpoint(f, &[&x]).unwrap()
        };
        y.sum(..).unwrap().backward().unwrap();
        [x, w].map(|x| x.grad().map(|grad| values(&grad)))
    };
    assert_eq!(of(true), of(false), "{name}");
}

/// Operators that a closure runs on other threads are part of the checkpoint.
#[test]
fn a_checkpoint_repeats_what_other_threads_compute() {
    fn elsewhere(f: &(dyn Fn() -> Result<DynTensor> + Sync)) -> Result<DynTensor> {
        thread::scope(|scope| scope.spawn(f).join().unwrap())
    }
    same_gradients("the argument as it is", |args, _| Ok(args[0].clone()));
    same_gradients("what it holds as it is", |_, w| Ok(w.clone()));
    same_gradients("all on another thread", |args, w| {
        elsewhere(&|| args[0].mul(w)?.exp())
    });
    same_gradients("the last on another thread", |args, w| {
        let own = args[0].mul(w)?;
        elsewhere(&|| own.sin())
    });
    same_gradients("the first on another thread", |args, w| {
        elsewhere(&|| args[0].exp())?.mul(w)
    });
    same_gradients("what it holds on another thread", |args, w| {
        args[0].mul(&elsewhere(&|| w.exp()?.sin())?)
    });
    same_gradients("to and fro", |args, w| {
        let first = args[0].exp()?;
        let second = elsewhere(&|| first.mul(w)?.sin())?;
        let third = second.mul(&args[0])?;
        elsewhere(&|| third.mul(&first))
    });
    same_gradients("join", |args, w| {
        let (a, b) = rayon::join(|| args[0].exp()?.mul(w), || w.sin()?.mul(&args[0]));
        a?.mul(&b?)
    });
}

/// Random numbers drawn on other threads cannot be repeated, and are refused.
#[test]
fn a_checkpoint_refuses_what_other_threads_draw() {
    let x = leaf(100);
    let f = |args: &[DynTensor]| {
        thread::scope(|scope| {
            let other = scope.spawn(|| args[0].mul(&args[0].detach().rand_like()?));
            other.join().unwrap()
        })
    };
    let error = dynamic::checkpoint(f, &[&x]).unwrap_err();
    assert!(error.to_string().contains("drew random numbers"), "{error}");
}

/// A closure that computes something else when repeated gives an error, not the gradient of the other function.
#[test]
fn a_checkpoint_refuses_another_function() {
    let calls = Arc::new(AtomicUsize::new(0));
    let x = leaf(4);
    let count = Arc::clone(&calls);
    let f = move |args: &[DynTensor]| match count.fetch_add(1, Ordering::Relaxed) {
        0 => args[0].mul(&args[0].detach().rand_like()?),
        _ => args[0].exp(),
    };
    let y = dynamic::checkpoint(f, &[&x]).unwrap().sum(..).unwrap();
    let error = y.backward().unwrap_err();
    assert!(error.to_string().contains("random numbers"), "{error}");
    let other = leaf(4);
    let (held, count) = (other.clone(), Arc::new(AtomicUsize::new(0)));
    let f = move |args: &[DynTensor]| match count.fetch_add(1, Ordering::Relaxed) {
        0 => args[0].exp(),
        _ => args[0].mul(&held),
    };
    let y = dynamic::checkpoint(f, &[&x]).unwrap().sum(..).unwrap();
    let error = y.backward().unwrap_err();
    assert!(
        error.to_string().contains("other recorded tensors"),
        "{error}"
    );
    assert!(x.grad().is_none() && other.grad().is_none());
}

/// Node clocks are per thread: a weight made on another thread is not overlooked.
#[test]
fn gradients_of_gradients_by_a_leaf_of_another_thread() {
    let w = thread::spawn(|| {
        let mut w = leaf(3);
        for _ in 0..1000 {
            drop(w.exp().unwrap());
            w = leaf(3);
        }
        w
    });
    let w = w.join().unwrap();
    thread::spawn(move || {
        let x = DynTensor::full(&[3], 5.0, ["N"]).unwrap();
        let found = dynamic::grad(|x| x.mul(x)?.mul(&w)?.sum(..), &x).unwrap();
        assert!(found.requires_grad(), "the gradient holds a weight");
        found.sum(..).unwrap().backward().unwrap();
        assert_eq!(gradient(&w), [10.0; 3]);
        w.zero_grad();
        // A leaf created in the closure is not a captured tensor.
        let found = dynamic::grad(|x| x.mul(&leaf(3))?.sum(..), &x).unwrap();
        assert!(!found.requires_grad());
        // Within a checkpoint.
        let (held, own) = (w.clone(), leaf(3));
        let f =
            move |args: &[DynTensor]| dynamic::grad(|x| x.mul(x)?.mul(&held)?.sum(..), &args[0]);
        let y = dynamic::checkpoint(f, &[&own]).unwrap();
        y.sum(..).unwrap().backward().unwrap();
        assert_eq!((gradient(&own), gradient(&w)), (vec![4.0; 3], vec![4.0; 3]));
    })
    .join()
    .unwrap();
}

/// Uses the library in its destructor, which runs after those of the library's thread-locals.
struct Last(Option<DynTensor>, Arc<AtomicUsize>);

impl Drop for Last {
    fn drop(&mut self) {
        let x = self.0.take().unwrap();
        let y = x.mul(&x).unwrap().exp().unwrap();
        assert!(y.requires_grad());
        y.sum(..).unwrap().backward().unwrap();
        assert!(x.take_grad().is_some());
        assert!(!no_grad(|| x.exp()).unwrap().requires_grad());
        drop(DynTensor::rand(&[10], ["N"]).unwrap());
        let order = DynTensor::randperm(1 << 16, ["N"]).unwrap();
        drop(order.sort("N").unwrap());
        let f = |args: &[DynTensor]| args[0].mul(&args[0].detach().rand_like()?);
        let y = dynamic::checkpoint(f, &[&x]).unwrap();
        y.sum(..).unwrap().backward().unwrap();
        assert_eq!(gradient(&x).len(), 4);
        drop(dynamic::hessian(|x| x.mul(x)?.sum(..), &x.detach()).unwrap());
        nomina::with_default_dtype(DType::F64, || drop(tensor!([1.0]; N).to_dyn()));
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

thread_local! {
    static FIRST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

#[test]
fn a_thread_ends_with_tensors_that_compute() {
    let done = Arc::new(AtomicUsize::new(0));
    for use_before in [false, true] {
        let count = Arc::clone(&done);
        thread::spawn(move || {
            // Registered first, so dropped last.
            FIRST.with_borrow_mut(|first| assert!(first.is_none()));
            let x = leaf(4);
            if use_before {
                drop(Last(Some(leaf(4)), Arc::clone(&count)));
            }
            FIRST.set(Some(Last(Some(x), count)));
        })
        .join()
        .unwrap();
    }
    assert_eq!(done.load(Ordering::Relaxed), 3);
}
