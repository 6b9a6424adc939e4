//! Speed of gradients: `cargo bench --bench grads -- [--json] [--only SUBSTRING] [--threads N]`.
//!
//! The cases and their names are those of `scripts/bench/torch_grads.py`, which measures PyTorch. A case is both ways
//! unless its name says otherwise: the operators, `backward`, and the drop of the graph.

#[path = "../harness/mod.rs"]
mod harness;

use harness::{Case, Options, case};
use nomina::dims::{Distinct, ShapeFor};
use nomina::no_grad;
use nomina::prelude::*;

dims! { N, C, H, K }

const MILLION: [usize; 2] = [1000, 1000];
const BIG: [usize; 2] = [4000, 2500];

fn leaf<D: Dims + Distinct>(sizes: impl ShapeFor<D>) -> Tensor<D> {
    Tensor::<D>::randn(sizes).with_grad()
}

fn chains(cases: &mut Vec<Case>) {
    let small = || (leaf::<(N, C)>([4, 4]), leaf::<(N, C)>([4, 4]));
    cases.push(case("add_4x4/recorded", small, |(a, b)| &*a + &*b));
    let plain = || {
        (
            Tensor::<(N, C)>::randn([4, 4]),
            Tensor::<(N, C)>::randn([4, 4]),
        )
    };
    cases.push(case("add_4x4/plain", plain, |(a, b)| &*a + &*b));
    cases.push(case("chain_100k", small, |(a, b)| {
        let mut x = &*a + &*b;
        for _ in 1..100_000 {
            x = &x + &*b;
        }
        x.sum(..).backward();
        (a.zero_grad(), b.zero_grad())
    }));
    for (name, sizes) in [("1M", MILLION), ("10M", BIG)] {
        let operands = move || (leaf::<(N, C)>(sizes), leaf::<(C,)>([sizes[1]]));
        cases.push(case(format!("exp_tanh/{name}"), operands, |(x, b)| {
            ((&*x + &*b).tanh() * 2.0).exp().sum(..).backward();
            (x.zero_grad(), b.zero_grad())
        }));
        cases.push(case(
            format!("fused/exp_tanh/{name}"),
            operands,
            |(x, b)| {
                let (x, b) = (&*x, &*b);
                fuse!(|x, b| ((x + b).tanh() * 2.0).exp())
                    .sum(..)
                    .backward();
                (x.zero_grad(), b.zero_grad())
            },
        ));
    }
}

fn rows(cases: &mut Vec<Case>) {
    let big = || leaf::<(N, C)>(BIG);
    cases.push(case("gelu/10M", big, |x| {
        x.gelu().sum(..).backward();
        x.zero_grad();
    }));
    let weighted = || (leaf::<(N, C)>(BIG), Tensor::<(N, C)>::randn(BIG));
    cases.push(case("softmax/10M", weighted, |(x, w)| {
        (x.softmax(C) * &*w).sum(..).backward();
        x.zero_grad();
    }));
    cases.push(case("layer_norm/10M", weighted, |(x, w)| {
        (x.layer_norm(C) * &*w).sum(..).backward();
        x.zero_grad();
    }));
    let classes = || {
        let target: Tensor<(N,), i64> = (Tensor::<(N,)>::rand([4096]) * 1000.0).to::<i64>();
        (leaf::<(N, C)>([4096, 1000]), target)
    };
    cases.push(case("cross_entropy/4096x1000", classes, |(x, target)| {
        x.cross_entropy(&*target, C).backward();
        x.zero_grad();
    }));
}

fn steps(cases: &mut Vec<Case>) {
    let deep = || {
        (
            Tensor::<(N, C)>::randn([128, 64]),
            leaf::<(H, C)>([256, 64]),
            leaf::<(K, H)>([10, 256]),
        )
    };
    cases.push(case("mlp_gradients/128x64-256-10", deep, |(x, w1, w2)| {
        let hidden = x.contract(&*w1, C).relu();
        hidden.contract(&*w2, H).square().mean(..).backward();
        let (g1, g2) = (w1.take_grad(), w2.take_grad());
        no_grad(|| {
            *w1 -= g1.expect("a gradient") * 1e-3;
            *w2 -= g2.expect("a gradient") * 1e-3;
        });
    }));
}

fn main() {
    let options = Options::read(&[]);
    rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .build_global()
        .expect("nothing has started threads before");
    manual_seed(0);
    let mut cases = Vec::new();
    chains(&mut cases);
    rows(&mut cases);
    steps(&mut cases);
    harness::run(&cases, &options);
}
