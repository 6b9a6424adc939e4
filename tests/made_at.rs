//! In builds with debug assertions, size errors say where each operand was made. The whole text of the panic is
//! compared, with each place replaced by the code there.

use std::panic::catch_unwind;

use nomina::grad::{grad, value_and_grad};
use nomina::prelude::*;

dims! { N, C, K, H, W, Out, Hidden, Seq }

/// Returns the text of a panic, with each place replaced by the code there, up to the end of the statement.
fn told(program: fn()) -> String {
    let panic = catch_unwind(program).expect_err("sizes that do not fit");
    let text = panic.downcast_ref::<String>().expect("a text");
    let mut out = String::new();
    for line in text.lines() {
        match line.split_once(" was made at ") {
            Some((dims, place)) => {
                let place = place.strip_prefix("tests/made_at.rs:").expect("this file");
                out += &format!("\n{} was made at `{}`", dims.trim_start(), code(place));
            }
            None => out += line,
        }
    }
    out
}

/// Returns the code from `line:column` on.
fn code(place: &str) -> &'static str {
    let (line, column) = place.split_once(':').expect("a line and a column");
    let (line, column): (usize, usize) = (line.parse().unwrap(), column.parse().unwrap());
    let all = include_str!("made_at.rs").lines().nth(line - 1);
    let from = &all.expect("a line of this file")[column - 1..];
    from.split_once(';').map_or(from, |(code, _)| code)
}

/// Checks the text of an error: `what`, and in builds that record it, the place where each operand was made.
#[track_caller]
fn check(program: fn(), what: &str, places: &[&str]) {
    let mut want = what.to_owned();
    for place in places.iter().filter(|_| cfg!(debug_assertions)) {
        want += &format!("\n{place}");
    }
    assert_eq!(told(program), want);
}

const BROADCAST: &str = "sizes broadcast when they are equal or one of them is 1";

struct Layer {
    weight: Tensor<(Out, C)>,
    bias: Tensor<(Out,)>,
}

impl Layer {
    fn new(inputs: usize, outputs: usize) -> Self {
        let weight = Tensor::randn([outputs, inputs]).with_grad();
        let bias = Tensor::zeros([outputs]).with_grad();
        Self { weight, bias }
    }

    fn forward(&self, x: &Tensor<(N, C)>) -> Tensor<(N, Out)> {
        x.linear(&self.weight, &self.bias)
    }
}

/// A parameter is used with data: the line that made it is far from the one that fails.
#[test]
fn a_layer_of_other_sizes() {
    check(
        || {
            let layer = Layer::new(4, 5);
            let x: Tensor<(N, C)> = Tensor::ones([2, 3]);
            layer.forward(&x);
        },
        "linear: dim `C` has size 3 in the first operand and 4 in the second; dims (N=2, C=3) and (Out=5, C=4); \
         a shared dim has one size in both operands",
        &[
            "(N=2, C=3) was made at `Tensor::ones([2, 3])`",
            "(Out=5, C=4) was made at `Tensor::randn([outputs, inputs]).with_grad()`",
        ],
    );
}

#[test]
fn broadcast_and_products() {
    check(
        || {
            let x: Tensor<(N, C)> = Tensor::ones([2, 3]);
            let bias = tensor!([1., 2., 3., 4.]; C);
            let _ = &x + &bias;
        },
        &format!(
            "add: dim `C` has size 3 in the first operand and 4 in the second; dims (N=2, C=3) and (C=4,); {BROADCAST}"
        ),
        &[
            "(N=2, C=3) was made at `Tensor::ones([2, 3])`",
            "(C=4,) was made at `tensor!([1., 2., 3., 4.]`",
        ],
    );
    check(
        || {
            let x = Tensor::<(N, C)>::ones([2, 3]).exp();
            let w: Tensor<(K, C)> = Tensor::ones([4, 2]);
            let _ = x.contract(&w, C);
        },
        "contract: dim `C` has size 3 in the first operand and 2 in the second; dims (N=2, C=3) and (K=4, C=2); \
         a shared dim has one size in both operands",
        &[
            "(N=2, C=3) was made at `exp()`",
            "(K=4, C=2) was made at `Tensor::ones([4, 2])`",
        ],
    );
    check(
        || {
            let x: Tensor<(N, C)> = Tensor::ones([2, 3]);
            let w = Tensor::<(C, K)>::from_fn([4, 3], |at| at[0] as f32);
            let _ = einsum!(x[N, C] * w[C, K] -> [N, K]);
        },
        "einsum: dim `C` has size 3 in the first operand and 4 in the second; dims (N=2, C=3) and (C=4, K=3); \
         dims of one letter are equal or 1",
        &[
            "(N=2, C=3) was made at `Tensor::ones([2, 3])`",
            "(C=4, K=3) was made at `Tensor::<(C, K)>::from_fn([4, 3], |at| at[0] as f32)`",
        ],
    );
    check(
        || {
            let x: Tensor<(N, C, H, W)> = Tensor::ones([2, 3, 5, 5]);
            let w = Tensor::<(Out, H, W, C)>::ones([4, 3, 3, 2]).align_to((Out, C, H, W));
            let _ = x.conv2d(C, (H, W), &w);
        },
        "conv2d: dim `C` has size 3 in the first operand and 2 in the second; dims (N=2, C=3, H=5, W=5) and \
         (Out=4, C=2, H=3, W=3); the channels must be equal",
        &[
            "(N=2, C=3, H=5, W=5) was made at `Tensor::ones([2, 3, 5, 5])`",
            "(Out=4, C=2, H=3, W=3) was made at `align_to((Out, C, H, W))`",
        ],
    );
}

#[test]
fn in_place_and_out() {
    check(
        || {
            let x: Tensor<(N, C)> = Tensor::ones([2, 3]);
            let mut sum: Tensor<(C,)> = Tensor::zeros([3]);
            sum += x.narrow(C, ..2).sum(N);
        },
        &format!(
            "add: dim `C` has size 3 in the first operand and 2 in the second; dims (C=3,) and (C=2,); {BROADCAST}"
        ),
        &[
            "(C=3,) was made at `Tensor::zeros([3])`",
            "(C=2,) was made at `sum(N)`",
        ],
    );
    check(
        || {
            let x: Tensor<(N, C)> = Tensor::ones([2, 3]);
            let mut out: Tensor<(N, C)> = Tensor::zeros([2, 4]);
            x.exp_out(&mut out);
        },
        "exp: dim `C` has size 4 in the out tensor and 3 in the result; dims (N=2, C=4) and (N=2, C=3); \
         a named out tensor keeps its sizes: give one of the result's",
        &["(N=2, C=4) was made at `Tensor::zeros([2, 4])`"],
    );
    check(
        || {
            let mut x: Tensor<(N, C)> = Tensor::ones([3, 3]);
            let y: Tensor<(C,)> = Tensor::zeros([4]);
            x.narrow_mut(N, ..2).copy_(&y);
        },
        &format!(
            "copy: dim `C` has size 3 in the first operand and 4 in the second; dims (N=2, C=3) and (C=4,); {BROADCAST}"
        ),
        &[
            "(N=2, C=3) was made at `Tensor::ones([3, 3])`",
            "(C=4,) was made at `Tensor::zeros([4])`",
        ],
    );
}

/// Within a fused expression, the error shows the operands of the failed step; of a long list, the ones that disagree.
#[test]
fn fused_and_joined() {
    check(
        || {
            let x: Tensor<(N, C)> = Tensor::ones([2, 3]);
            let b: Tensor<(C,)> = Tensor::ones([4]);
            let _ = fuse!(|x, b| (x + b).tanh());
        },
        &format!(
            "add: dim `C` has size 3 in the first operand and 4 in the second; dims (N=2, C=3) and (C=4,); {BROADCAST}"
        ),
        &[
            "(N=2, C=3) was made at `Tensor::ones([2, 3])`",
            "(C=4,) was made at `Tensor::ones([4])`",
        ],
    );
    check(
        || {
            let x: Tensor<(N, C)> = Tensor::ones([4, 3]);
            let pieces = x.split(N, 1);
            let other: Tensor<(N, C)> = Tensor::ones([1, 2]);
            let all = [&pieces[0], &pieces[1], &pieces[2], &pieces[3], &other];
            let _ = nomina::cat(&all[..], N);
        },
        "cat: dim `C` has size 3 in the first operand and 2 in the fifth; dims (N=1, C=3) and (N=1, C=2); \
         sizes match in every dim but the one the tensors are joined along",
        &[
            "(N=1, C=3) was made at `split(N, 1)`",
            "(N=1, C=2) was made at `Tensor::ones([1, 2])`",
        ],
    );
}

/// A closure is called from inside the library, yet errors show its lines.
#[test]
fn closures() {
    check(
        || {
            let parts: Vec<Tensor<(C,)>> = [3, 4].iter().map(|&n| Tensor::ones([n])).collect();
            let x: Tensor<(N, C)> = Tensor::zeros([2, 3]);
            parts.iter().fold(x, |x, part| x * part);
        },
        &format!(
            "mul: dim `C` has size 3 in the first operand and 4 in the second; dims (N=2, C=3) and (C=4,); {BROADCAST}"
        ),
        &[
            "(N=2, C=3) was made at `x * part)`",
            "(C=4,) was made at `Tensor::ones([n])).collect()`",
        ],
    );
    // The closure's argument was made where the given tensor was made.
    check(
        || {
            let x: Tensor<(N, C)> = Tensor::ones([2, 3]);
            let w: Tensor<(C, K)> = Tensor::zeros([4, 2]);
            let _ = grad(|w| x.matmul(w).sum(..), &w);
        },
        "matmul: dim `C` has size 3 in the first operand and 4 in the second; dims (N=2, C=3) and (C=4, K=2); \
         the left operand's last size must be the right one's second to last",
        &[
            "(N=2, C=3) was made at `Tensor::ones([2, 3])`",
            "(C=4, K=2) was made at `Tensor::zeros([4, 2])`",
        ],
    );
    // A function passed by name is called from the standard library, so its line is unknown.
    check(
        || {
            let x: Tensor<(N, C)> = Tensor::ones([2, 3]);
            let rows: Vec<_> = x.iter_dim(N).map(|row| row.exp()).collect();
            let y = Some(Tensor::<(C,)>::ones([4]))
                .as_ref()
                .map(Tensor::exp)
                .unwrap();
            let _ = &rows[0] - &y;
        },
        &format!(
            "sub: dim `C` has size 3 in the first operand and 4 in the second; dims (C=3,) and (C=4,); {BROADCAST}"
        ),
        &["(C=3,) was made at `exp()).collect()`"],
    );
}

#[test]
fn gradients() {
    check(
        || {
            let w = Tensor::<(C, K)>::ones([2, 3]).with_grad();
            let y = w.exp();
            y.backward_with(&Tensor::ones([3, 2]), default());
        },
        "backward: dim `C` has size 2 in the first operand and 3 in the second; dims (C=2, K=3) and (C=3, K=2); \
         a seed has its tensor's sizes",
        &[
            "(C=2, K=3) was made at `exp()`",
            "(C=3, K=2) was made at `Tensor::ones([3, 2]), default())`",
        ],
    );
    check(
        || {
            let (w, v) = (Tensor::<(C,)>::ones([2]), Tensor::<(C,)>::ones([3]));
            let (_, g) = value_and_grad(|w| w.square().sum(..), &w);
            let mut v = v;
            v -= &g;
        },
        &format!(
            "sub: dim `C` has size 3 in the first operand and 2 in the second; dims (C=3,) and (C=2,); {BROADCAST}"
        ),
        &[
            "(C=3,) was made at `Tensor::<(C,)>::ones([3]))`",
            "(C=2,) was made at `value_and_grad(|w| w.square().sum(..), &w)`",
        ],
    );
    check(
        || {
            let mut w = Tensor::<(C, K)>::ones([2, 3]).with_grad();
            w.square().sum(..).backward();
            let g = w.grad().unwrap().transpose(C, K);
            nomina::no_grad(|| w.sub_(g.rename((C, K), (K, C))));
        },
        &format!(
            "sub: dim `C` has size 2 in the first operand and 3 in the second; dims (C=2, K=3) and (C=3, K=2); {BROADCAST}"
        ),
        &[
            "(C=2, K=3) was made at `Tensor::<(C, K)>::ones([2, 3]).with_grad()`",
            "(C=3, K=2) was made at `rename((C, K), (K, C))))`",
        ],
    );
}

/// Text formatting, and the operands of a dynamic tensor.
#[test]
fn across_dynamic_tensors() {
    check(
        || {
            let x = Tensor::<(N, C)>::ones([2, 3]).into_dyn();
            let y = Tensor::<(C,)>::ones([4]).into_dyn();
            let _ = x.add(&y).unwrap_or_else(|error| panic!("{error}"));
        },
        &format!(
            "add: dim `C` has size 3 in the first operand and 4 in the second; dims (N=2, C=3) and (C=4,); {BROADCAST}"
        ),
        &[
            "(N=2, C=3) was made at `Tensor::<(N, C)>::ones([2, 3]).into_dyn()`",
            "(C=4,) was made at `Tensor::<(C,)>::ones([4]).into_dyn()`",
        ],
    );
    check(
        || {
            let x: Tensor<(N, C)> = DynTensor::zeros(&[2, 3], ["N", "C"])
                .unwrap()
                .typed()
                .unwrap();
            let y: Tensor<(C,)> = DynTensor::zeros(&[4], ["C"]).unwrap().try_into().unwrap();
            let _ = x + y;
        },
        &format!(
            "add: dim `C` has size 3 in the first operand and 4 in the second; dims (N=2, C=3) and (C=4,); {BROADCAST}"
        ),
        &["(N=2, C=3) was made at `typed()`"],
    );
}

/// Only debug builds record places; in release builds a tensor is no larger.
#[test]
fn nothing_is_kept_in_release() {
    let words = if cfg!(debug_assertions) { 17 } else { 16 };
    assert_eq!(size_of::<Tensor<(N, C)>>(), words * size_of::<usize>());
    let raw = Tensor::<(Hidden, Seq)>::ones([1, 1])
        .into_dyn()
        .into_parts()
        .0;
    assert_eq!(raw.created_at().is_some(), cfg!(debug_assertions));
}
