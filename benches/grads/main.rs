//! Speed of gradients: `cargo bench --bench grads -- [--json] [--only SUBSTRING] [--threads N]`.
//!
//! The cases and their names are those of `scripts/bench/torch_grads.py`, which measures PyTorch. A case is forward and
//! backward unless its name says otherwise: the operators, `backward`, and dropping the graph. `--values` prints the
//! results of the models, so that `scripts/compare.py` can check that all libraries compute the same; `--memory` prints
//! the peak memory of a model instead.

mod gmm;
#[path = "../harness/mod.rs"]
mod harness;
mod inputs;
mod lstm;
mod memory;
mod models;
mod networks;

use harness::{Case, Options, case};
use nomina::dims::{Distinct, ShapeFor};
use nomina::no_grad;
use nomina::prelude::*;
use nomina_runtime::Raw;
use nomina_runtime::call::{AdamOptions, StepParam, StepRule};

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
    let words = || {
        let ids: Tensor<(N,), i64> = (Tensor::<(N,)>::rand([2048]) * 30522.0).to::<i64>();
        (leaf::<(K, C)>([30522, 384]), ids)
    };
    cases.push(case(
        "embedding/2048_of_30522x384",
        words,
        |(weight, ids)| {
            weight.embedding(K, &*ids).sum(..).backward();
            weight.zero_grad();
        },
    ));
}

/// Gradient descent steps of a perceptron, for several sizes.
fn steps(cases: &mut Vec<Case>) {
    let step = |[n, c, h, k]: [usize; 4]| {
        let target: Tensor<(N,), i64> = (Tensor::<(N,)>::rand([n]) * k as f32).to::<i64>();
        let (w1, w2) = (
            scaled::<(C, H)>([c, h], 0.03),
            scaled::<(H, K)>([h, k], 0.04),
        );
        let biases = (leaf::<(H,)>([h]), leaf::<(K,)>([k]));
        (Tensor::<(N, C)>::randn([n, c]), target, w1, w2, biases)
    };
    cases.push(case(
        "mlp_train_step/256x784x512x10",
        move || step([256, 784, 512, 10]),
        |(x, target, w1, w2, (b1, b2))| {
            let hidden = (x.matmul(&*w1) + &*b1).relu();
            (hidden.matmul(&*w2) + &*b2)
                .cross_entropy(&*target, K)
                .backward();
            no_grad(|| {
                descend(w1);
                descend(w2);
                descend(b1);
                descend(b2);
            });
        },
    ));
    let deep = move || {
        let (x, target, w1, w3, biases) = step([128, 64, 256, 10]);
        (
            x,
            target,
            (w1, scaled::<(H, Prime<H>)>([256, 256], 0.06), w3),
            biases,
            leaf::<(Prime<H>,)>([256]),
        )
    };
    cases.push(case(
        "mlp_train_step/128x64x256x256x10",
        deep,
        |(x, target, (w1, w2, w3), (b1, b3), b2)| {
            let hidden = (x.matmul(&*w1) + &*b1).relu();
            let hidden = (hidden.matmul(&*w2) + &*b2).relu().rename(Prime(H), H);
            (hidden.matmul(&*w3) + &*b3)
                .cross_entropy(&*target, K)
                .backward();
            no_grad(|| {
                descend(w1);
                descend(w2);
                descend(w3);
                descend(b1);
                descend(b2);
                descend(b3);
            });
        },
    ));
}

/// The parameter sizes of an encoder layer: projections and their biases, the inner layers, two norms.
const LAYER: [&[usize]; 16] = [
    &[384, 384],
    &[384, 384],
    &[384, 384],
    &[384, 384],
    &[384],
    &[384],
    &[384],
    &[384],
    &[384, 1536],
    &[1536],
    &[1536, 384],
    &[384],
    &[384],
    &[384],
    &[384],
    &[384],
];

/// AdamW steps for six layers.
fn optimizers(cases: &mut Vec<Case>) {
    const OPTIONS: AdamOptions = AdamOptions::adamw();
    let model = || {
        let raw = |sizes: &[usize]| {
            Raw::from_vec(vec![0.5_f32; sizes.iter().product()], sizes).expect("a tensor")
        };
        let params = (0..6)
            .flat_map(|_| LAYER)
            .map(|sizes| [raw(sizes), raw(sizes), raw(sizes), raw(sizes)]);
        (params.collect::<Vec<[Raw; 4]>>(), 0)
    };
    // Compared with PyTorch's fused step, and with its default.
    for name in ["adamw/10.6M", "adamw_default/10.6M"] {
        cases.push(case(name, model, |(params, step)| {
            *step += 1;
            let all = params.iter_mut();
            let all = all.map(|[param, grad, state @ ..]| StepParam {
                param: param.as_mut().expect("memory"),
                grad,
                state,
                step: *step,
                options: &OPTIONS,
            });
            let mut all: Vec<StepParam<'_, _>> = all.collect();
            StepRule::step("adamw", &mut all).expect("a step");
        }));
    }
}

fn scaled<D: Dims + Distinct>(sizes: impl ShapeFor<D>, by: f32) -> Tensor<D> {
    (Tensor::<D>::randn(sizes) * by).with_grad()
}

fn descend<D: Dims + Distinct>(weight: &mut Tensor<D>) {
    if let Some(grad) = weight.take_grad() {
        *weight -= grad * 0.1;
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let at = args.iter().position(|arg| arg == "--memory");
    if let Some(phase) = at.and_then(|at| args.get(at + 1)) {
        memory::print_peak(phase);
        return;
    }
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
    optimizers(&mut cases);
    models::cases(&mut cases);
    networks::cases(&mut cases);
    harness::run(&cases, &options);
}
