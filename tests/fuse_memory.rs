//! What `fuse!` stores: the result, and nothing between. A program of its own, since what is counted is
//! the process's.

use nomina::memory;
use nomina::prelude::*;

dims! { N, C }

/// What `f` took and gave back, which is then kept for tensors to come.
fn taken<R>(f: impl FnOnce() -> R) -> usize {
    memory::trim();
    drop(f());
    memory::stats().held
}

#[test]
fn nothing_between_is_stored() {
    memory::set_cap(1 << 30);
    let x = Tensor::<(N, C)>::randn([1000, 1000]);
    let b = Tensor::<(C,)>::randn([1000]);
    let whole = 4_000_000;
    // The separate operators take two of that size, at least: the measure sees them.
    let separate = taken(|| (&x * &b + 1.0).tanh().sum(C));
    assert!(separate >= 2 * whole, "{separate}");
    let chain = taken(|| fuse!(|x, b| (x * b + 1.0).tanh()));
    assert!((whole..whole + whole / 4).contains(&chain), "{chain}");
    let last = taken(|| fuse!(|x, b| (x * b + 1.0).tanh().sum(C)));
    let first = taken(|| fuse!(|x, b| (x * b + 1.0).tanh().mean(N)));
    let all = taken(|| fuse!(|x, b| (x * b + 1.0).tanh().amax(..)));
    for reduced in [last, first, all] {
        assert!(reduced < whole / 4, "{reduced}");
    }
}
