//! The cost of a small operator on a mesh, next to the same operator on plain typed tensors:
//! `cargo bench -p nomina-mesh --bench small`.

use std::hint::black_box;
use std::time::Instant;

use nomina_mesh::prelude::*;

dims! { N, C }
mesh! { Grid: Data, Model }

/// Returns the nanoseconds of a call: the best of several rounds.
fn time<V>(mut call: impl FnMut() -> V) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..15 {
        const CALLS: u32 = 20_000;
        let began = Instant::now();
        for _ in 0..CALLS {
            black_box(call());
        }
        best = best.min(began.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
    }
    best
}

fn main() {
    let mesh = Grid::alone();
    type X = Sharded<(N, C), Grid<Split<N>, Whole>>;
    let (plain, row): (Tensor<(N, C)>, Tensor<(C,)>) = (Tensor::ones([4, 4]), Tensor::ones([4]));
    let x: X = mesh.whole(plain.clone()).cut(Data, N);
    let b = mesh.whole(row.clone());
    println!("nanoseconds, 4 x 4 of f32, one split axis");
    println!("{:12} {:>8} {:>8} {:>6}", "", "plain", "sharded", "ratio");
    let row_of = |name: &str, plain: f64, sharded: f64| {
        println!(
            "{name:12} {plain:8.0} {sharded:8.0} {:6.2}",
            sharded / plain
        );
    };
    row_of("x + x", time(|| &plain + &plain), time(|| &x + &x));
    row_of("x * b", time(|| &plain * &row), time(|| &x * &b));
    row_of("x * 2.0", time(|| &plain * 2.0), time(|| &x * 2.0));
    row_of("exp", time(|| plain.exp()), time(|| x.exp()));
    row_of("sum", time(|| plain.sum(C)), time(|| x.sum(C)));
    row_of("across", time(|| plain.sum(N)), time(|| x.sum(across(N))));
}
