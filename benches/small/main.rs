//! The cost of small tensors: `cargo bench --bench small -- [--json] [--only SUBSTRING]`.
//!
//! Reports the time of a call, its number of allocations and their bytes. This is a separate
//! program, since counting allocations affects every measured time.

#[path = "../harness/mod.rs"]
mod harness;

#[path = "../../tests/counting/mod.rs"]
mod counting;

use std::hint::black_box;
use std::time::Instant;

use counting::counted;
use harness::Options;
use nomina::prelude::*;

dims! { N, C, K }

struct Bench {
    options: Options,
}

impl Bench {
    fn case<R>(&self, name: &str, mut run: impl FnMut() -> R) {
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
        let (calls, bytes, result) = counted(|| black_box(run()));
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
    let column = a.amax(keep(C));
    let w: Tensor<(C, K)> = Tensor::randn([4, 4]);
    let (da, db) = (a.clone().into_dyn(), b.clone().into_dyn());
    // An allocation and the write of a result's bytes: the minimum cost of any call with a new
    // result.
    bench.case("a Vec of 16 f32", || vec![1.0_f32; 16]);
    bench.case("clone", || a.clone());
    bench.case("add", || &a + &b);
    bench.case("add, by name", || da.add(&db).expect("the names unify"));
    bench.case("add a number", || &a + 1.0);
    bench.case("add a row", || &a + &row);
    bench.case("add a column", || &a + &column);
    bench.case("a number less", || 1.0 - &a);
    bench.case("compare", || a.lt(&b));
    bench.case("exp", || a.exp());
    bench.case("leaky_relu", || a.leaky_relu());
    bench.case("clamp", || a.clamp(0.0, 1.0));
    bench.case("to f64", || a.double());
    bench.case("chain", || (&a * &b + &row).exp() * &a);
    bench.case("fused chain", || fuse!(|a, b, row| (a * b + row).exp() * a));
    let mut own = a.clone();
    bench.case("add in place", || {
        own += &b;
    });
    own = a.clone();
    bench.case("relu in place", || {
        own.relu_();
    });
    bench.case("sum of a dim", || a.sum(C));
    bench.case("sum of all", || a.sum(..));
    bench.case("mean of a dim", || a.mean(C));
    bench.case("softmax", || a.softmax(C));
    bench.case("matmul", || a.matmul(&w));
    bench.case("transpose", || a.transpose(N, C));
    bench.case("select", || a.select(N, 1));
    #[cfg(feature = "labels")]
    labelled(&bench);
}

/// The cases of tensors with labels, whose operators share them; the difference from the cases above is the cost of labels.
#[cfg(feature = "labels")]
fn labelled(bench: &Bench) {
    use nomina::Labelled;
    dims! { Lat: f64, Lon: f64 }
    let a: Tensor<(Lat, Lon)> = Tensor::randn([4, 4]);
    let b: Tensor<(Lat, Lon)> = Tensor::randn([4, 4]);
    let x = Labelled::new(a.clone())
        .with(Lat, [60.0, 45.0, 30.0, 15.0])
        .with(Lon, [0.0, 5.0, 10.0, 15.0]);
    // Labels of one origin are compared by their pointer.
    let y = &x + &b;
    bench.case("add of Lat, Lon", || &a + &b);
    bench.case("add with labels", || &x + &y);
    bench.case("exp with labels", || x.exp());
    bench.case("sum with labels", || x.sum(Lon));
}
