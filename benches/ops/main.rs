//! Speed of operators: `cargo bench --bench ops -- [--json] [--only SUBSTRING] [--threads N]`.
//!
//! The cases and their names are those of `scripts/bench/torch_ops.py`, which measures PyTorch;
//! `mlp_train_step` waits for gradients. They are written as a user writes them, on typed
//! tensors, and every result has a buffer of its own unless the case says otherwise. With
//! `--json` a line a case, `{"case": …, "seconds": …}`; with `--ask` for the cases that standard
//! input names. `scripts/compare.py` puts both sides next to each other.

mod elementwise;
mod fused;
#[path = "../harness/mod.rs"]
mod harness;
mod layout;
mod product;
mod reduce;

use harness::Options;
use nomina::prelude::*;

dims! { pub N, pub C, pub H, pub W, pub B, pub K }

/// Ten million elements: far beyond the caches.
const BIG: [usize; 2] = [4000, 2500];

/// One million elements.
const MILLION: [usize; 2] = [1000, 1000];

fn main() {
    let options = Options::read(&[]);
    rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .build_global()
        .expect("nothing has started threads before");
    manual_seed(0);
    let mut cases = elementwise::cases();
    cases.extend(fused::cases());
    cases.extend(reduce::cases());
    cases.extend(layout::cases());
    cases.extend(product::cases());
    harness::run(&cases, &options);
}

/// A matrix of samples.
fn randn([rows, columns]: [usize; 2]) -> Tensor<(N, C)> {
    Tensor::randn([rows, columns])
}
