//! The peak memory of a backward pass, besides what is allocated when it begins: two buffers of the largest size. A
//! program with one test, since memory is counted per process.

#[path = "counting/mod.rs"]
mod counting;

use counting::peak_of_all;
use nomina::memory;
use nomina::prelude::*;

dims! { N, C, Hidden, Out }

const ROWS: usize = 1024;
const COLUMNS: usize = 1000;

/// The size of a full buffer of `f32`, in bytes.
const WHOLE: usize = ROWS * COLUMNS * 4;

/// An allowance for what is small compared with a full buffer: nodes, rows of parameters, scratch memory of threads.
const SMALL: usize = WHOLE / 8;

/// Runs backward, and compares its peak memory with a number of full buffers.
fn takes(what: &str, loss: Tensor<()>, buffers: usize) {
    let (peak, ()) = peak_of_all(|| loss.backward());
    println!("{what}: {:.2} buffers", peak as f64 / WHOLE as f64);
    assert!(peak <= buffers * WHOLE + SMALL, "{what}: {peak} bytes");
    // The gradient of a leaf is one full buffer: the measurement detects it.
    assert!(peak >= WHOLE, "{what}: {peak} bytes");
}

fn leaf() -> Tensor<(N, C)> {
    Tensor::randn([ROWS, COLUMNS]).with_grad()
}

#[test]
fn two_buffers_are_enough() {
    // Disable the cache of freed blocks, so that only memory in use is counted.
    memory::set_cap(0);
    let x = leaf();
    let chain = |each: &dyn Fn(&Tensor<(N, C)>)| {
        let mut y = &x * 0.5;
        for _ in 0..8 {
            y = ((&y * &x).tanh() + 0.1).exp() - &y;
            each(&y);
        }
        y.sum(..)
    };
    takes("a chain", chain(&|_| ()), 2);
    // A hook ends a chain of deferred computations.
    x.zero_grad();
    let hooked = |y: &Tensor<(N, C)>| drop(y.register_hook(|_| None));
    takes("a chain with hooks", chain(&hooked), 2);
    x.zero_grad();
    let straight = (0..12).fold(x.exp(), |y, _| (y * 0.9).sin());
    takes("a chain without branches", straight.sum(..), 2);
    let x = leaf();
    takes("gelu", x.gelu().square().sum(..), 2);
    let x = leaf();
    takes("softmax", x.softmax(C).square().sum(..), 2);
    let x = leaf();
    takes("log_softmax", x.log_softmax(C).square().sum(..), 2);
    let (x, weight) = (leaf(), Tensor::<(C,)>::ones([COLUMNS]).with_grad());
    takes("layer_norm alone", x.layer_norm(C).square().sum(..), 2);
    x.zero_grad();
    takes("a product with a row", (&x * &weight).square().sum(..), 2);
    x.zero_grad();
    takes(
        "layer_norm",
        (x.layer_norm(C) * &weight).square().sum(..),
        2,
    );
    let (x, target) = (leaf(), Tensor::<(N,), i64>::zeros([ROWS]));
    takes("cross_entropy", x.cross_entropy(&target, C), 2);

    // The largest buffers have the hidden dim; inputs are leaves, too.
    let x: Tensor<(N, C)> = Tensor::randn([ROWS, 64]).with_grad();
    let first: Tensor<(C, Hidden)> = Tensor::randn([64, COLUMNS]).with_grad();
    let bias: Tensor<(Hidden,)> = Tensor::zeros([COLUMNS]).with_grad();
    let second: Tensor<(Hidden, Out)> = Tensor::randn([COLUMNS, 10]).with_grad();
    let hidden = (x.matmul(&first) + &bias).relu();
    takes("an MLP", hidden.matmul(&second).square().mean(..), 2);
}
