//! What a small tensor costs: `cargo bench --bench small -- [--json] [--only SUBSTRING]`.
//!
//! Beside the time of a call, how often it asks the allocator and for how many bytes. This is a
//! program of its own, since an allocator that counts takes part in every time.

#[path = "../harness/mod.rs"]
mod harness;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::time::Instant;

use harness::Options;
use nomina::prelude::*;

dims! { N, C, K }

/// Counts what this thread asks for.
struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

fn count(bytes: usize) {
    CALLS.set(CALLS.get() + 1);
    BYTES.set(BYTES.get() + bytes as u64);
}

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller's promise is the same.
        unsafe { System.realloc(ptr, layout, size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Bench {
    options: Options,
}

impl Bench {
    fn case<R>(&self, name: &str, run: impl Fn() -> R) {
        if !name.contains(&self.options.only) {
            return;
        }
        let seconds = harness::measure(&mut |runs| {
            let start = Instant::now();
            for _ in 0..runs {
                drop(black_box(run()));
            }
            start.elapsed().as_secs_f64()
        });
        let before = (CALLS.get(), BYTES.get());
        let result = black_box(run());
        let (calls, bytes) = (CALLS.get() - before.0, BYTES.get() - before.1);
        drop(result);
        if self.options.json {
            println!(
                r#"{{"case": "{name}", "seconds": {seconds:e}, "allocations": {calls}, "bytes": {bytes}}}"#
            );
        } else {
            let time = harness::readable(seconds);
            println!("{name:<20} {time:>10} {calls:>4} allocations {bytes:>6} bytes");
        }
    }
}

fn main() {
    let bench = Bench {
        options: Options::read(&[]),
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(bench.options.threads)
        .build_global()
        .expect("nothing has started threads before");
    manual_seed(0);
    let a: Tensor<(N, C)> = Tensor::randn([4, 4]);
    let b: Tensor<(N, C)> = Tensor::randn([4, 4]);
    let row: Tensor<(C,)> = Tensor::randn([4]);
    let w: Tensor<(C, K)> = Tensor::randn([4, 4]);
    let (da, db) = (a.clone().into_dyn(), b.clone().into_dyn());
    // The bytes of a result and their place in memory: no call can be cheaper that makes one.
    bench.case("a Vec of 16 f32", || vec![1.0_f32; 16]);
    bench.case("clone", || a.clone());
    bench.case("add", || &a + &b);
    bench.case("add, broadcast", || &a + &row);
    bench.case("add, by name", || da.add(&db).expect("the names unify"));
    bench.case("add a number", || &a + 1.0);
    bench.case("exp", || a.exp());
    bench.case("chain", || (&a * &b + &row).exp() * &a);
    bench.case("sum of a dim", || a.sum(C));
    bench.case("sum of all", || a.sum(..));
    bench.case("matmul", || a.matmul(&w));
    bench.case("transpose", || a.transpose(N, C));
    bench.case("select", || a.select(N, 1));
}
