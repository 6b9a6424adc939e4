//! `fuse!` allocates its result and no intermediates. A test program of one test, since memory is counted per process.

use nomina::memory;
use nomina::prelude::*;

dims! { N, C }

/// Returns the bytes that `f` allocated. Once freed, they are held by the cache of blocks.
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
    // The separate operators allocate at least two full buffers: the measurement detects them.
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
