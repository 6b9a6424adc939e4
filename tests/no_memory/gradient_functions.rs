//! Derivatives of functions, hooks of leaves, and steps of AdamW.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};

use nomina::grad::{
    try_checkpoint, try_grad, try_gradients, try_hessian, try_jacobian, try_jvp, try_per_sample,
    try_value_and_grad, try_vjp,
};
use nomina::prelude::*;
use nomina::{DType, Error, ErrorKind, Result, dynamic};
use nomina_runtime::Raw;
use nomina_runtime::call::{self, AdamOptions, StepParam, StepRule};

use crate::gradients::{Counts, Leaves, numbers};
use crate::in_place::held;
use crate::until_it_succeeds;

dims! { N, C }

pub type Call<'a> = (&'a str, &'a dyn Fn() -> Result<()>);

pub fn all(counts: &mut Counts) {
    for (n, dtype) in [(6, DType::F64), (12, DType::F32)] {
        of_any(counts, n, dtype);
    }
    for n in [3, 12] {
        typed(counts, n);
    }
    hooks_of_leaves(counts);
    for dtype in [DType::F32, DType::F64, DType::BF16] {
        for way in [Way::Dense, Way::Turned, Way::Shared] {
            steps(counts, dtype, way);
        }
    }
}

pub fn each(counts: &mut Counts, of: &str, leaves: &Leaves, calls: &[Call<'_>]) {
    for (name, call) in calls {
        let what = format!("{name} of {of}");
        counts.whole(&what, leaves, || {}, || Ok(()), |()| call());
    }
}

/// Runs the functions of dynamic tensors: they differentiate by `b`; the other leaves are constant
/// or recorded.
fn of_any(counts: &mut Counts, n: usize, dtype: DType) {
    let leaves = Leaves::new(n, dtype);
    for recorded in [false, true] {
        let look = |x: &DynTensor| if recorded { x.clone() } else { x.detach() };
        let (x, w, b) = (look(&leaves.x), look(&leaves.w), look(&leaves.b));
        let rows = |b: &DynTensor| x.matmul(&w)?.mul(b)?.tanh()?.sum(1);
        let number = |b: &DynTensor| rows(b)?.mul(b)?.sum(..);
        let (seed, many) = (b.detach(), numbers(&[40], dtype, 0));
        let calls: &[Call<'_>] = &[
            ("grad", &|| dynamic::grad(number, &b).map(drop)),
            ("value_and_grad", &|| {
                let f = |args: &[DynTensor]| args[0].matmul(&args[1])?.exp()?.mean(..);
                dynamic::value_and_grad(f, &[&x, &w]).map(drop)
            }),
            ("grad of grad", &|| {
                let first = |b: &DynTensor| dynamic::grad(number, b)?.mul(&w)?.sum(..);
                dynamic::grad(first, &b).map(drop)
            }),
            ("vjp", &|| dynamic::vjp(rows, &b, &seed).map(drop)),
            ("jvp", &|| dynamic::jvp(rows, &b, &seed).map(drop)),
            ("jacobian", &|| dynamic::jacobian(rows, &b).map(drop)),
            // A list of that many tensors is a large allocation.
            ("jacobian of many rows", &|| {
                dynamic::jacobian(|x| x.mul(2.0), &many).map(drop)
            }),
            ("hessian", &|| dynamic::hessian(number, &b).map(drop)),
            ("per_sample", &|| {
                let f = |b: &DynTensor| b.mul(&x)?.softmax(1)?.amax(1);
                dynamic::per_sample("S", n, f, &b).map(drop)
            }),
            ("gradients", &|| {
                let (x, w) = (leaves.x.exp()?, &leaves.w);
                dynamic::gradients(&x.matmul(w)?.sum(..)?, &[&x, w]).map(drop)
            }),
            ("grad of checkpoint", &|| {
                let held = w.clone();
                let f = move |b: &[DynTensor]| b[0].mul(&held)?.tanh()?.sum(..);
                dynamic::grad(|b| dynamic::checkpoint(f.clone(), &[b]), &b).map(drop)
            }),
            // More nodes than small allocations can hold.
            ("gradients of a long way", &|| {
                let mut y = leaves.b.mul(1.0)?;
                for _ in 0..300 {
                    y = y.add(1.0)?;
                }
                dynamic::gradients(&y.sum(..)?, &[&leaves.b]).map(drop)
            }),
        ];
        let of = format!(
            "{n}, {dtype}, {}",
            ["constant", "recorded"][usize::from(recorded)]
        );
        each(counts, &of, &leaves, calls);
    }
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Marks the code of closures that use panicking methods.
pub fn inside<R>(f: impl FnOnce() -> R) -> R {
    let before = INSIDE.replace(true);
    let result = f();
    INSIDE.set(before);
    result
}

/// Converts a panic to an error. Only code within a closure may panic, and the message must name
/// the missing memory.
pub fn outside<R>(f: impl FnOnce() -> Result<R>) -> Result<()> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(result) => result.map(drop),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            match text.filter(|text| INSIDE.replace(false) && text.contains("bytes of memory")) {
                Some(text) => Err(Error::new(ErrorKind::Memory, "a closure", text)),
                None => resume_unwind(panic),
            }
        }
    }
}

/// Runs the typed functions, whose closures use operators that panic.
fn typed(counts: &mut Counts, n: usize) {
    let leaves = Leaves::new(n, DType::F32);
    let square = |x: &DynTensor| -> Tensor<(N, C)> {
        let named = x.refine_names(["N", "C"]).expect("two dims");
        named.typed().expect("two dims")
    };
    let (x, w) = (square(&leaves.x), square(&leaves.w));
    let b: Tensor<(C,)> = {
        let named = leaves.b.refine_names(["C"]).expect("a dim");
        named.typed().expect("a dim")
    };
    let (held_b, seed): (_, Tensor<(N,)>) = (b.clone(), Tensor::ones([n]));
    let rows = |b: &Tensor<(C,)>| inside(|| (&x * b).tanh().sum(C));
    let number = |b: &Tensor<(C,)>| inside(|| ((&x + b).exp() * &w).mean(..));
    let calls: &[Call<'_>] = &[
        ("try_grad", &|| outside(|| try_grad(number, &b))),
        ("try_value_and_grad", &|| {
            outside(|| {
                let f = |(x, b): (&Tensor<(N, C)>, &Tensor<(C,)>)| inside(|| (x * b).sum(..));
                try_value_and_grad(f, (&x, &b))
            })
        }),
        ("try_gradients", &|| {
            outside(|| {
                let y = x.try_exp()?.try_mul(&w)?.try_sum(..)?;
                try_gradients(&y, (&x, &w))
            })
        }),
        ("try_vjp", &|| outside(|| try_vjp(rows, &b, &seed))),
        ("try_jvp", &|| outside(|| try_jvp(rows, &b, &b))),
        ("try_jacobian", &|| outside(|| try_jacobian(rows, &b))),
        ("try_hessian", &|| outside(|| try_hessian(number, &b))),
        ("try_per_sample", &|| {
            let each = |b: &Tensor<(N, C)>| inside(|| (b * &x).square().sum(C));
            outside(|| try_per_sample(N.of(n), each, &b))
        }),
        ("try_checkpoint", &|| {
            outside(|| {
                let held = held_b.clone();
                let f = move |x: &Tensor<(N, C)>| inside(|| (x * &held).tanh());
                try_checkpoint(f, &x)?.try_sum(..)?.try_backward()
            })?;
            leaves.zero_grad();
            Ok(())
        }),
    ];
    without_backtraces(|| each(counts, &format!("{n}, typed"), &leaves, calls));
}

/// Runs `f` without the default hook, which needs large allocations to print a backtrace.
pub fn without_backtraces(f: impl FnOnce()) {
    let tells = take_hook();
    set_hook(Box::new(|_| ()));
    f();
    set_hook(tells);
}

/// These hooks run once all gradients are written: either all are present, or none.
fn hooks_of_leaves(counts: &mut Counts) {
    let leaves = Leaves::new(96, DType::F32);
    let hook = |x: &DynTensor| {
        let hook = x.register_post_accumulate_grad_hook(|grad| grad.mul(2.0)?.exp().map(drop));
        hook.expect("a leaf")
    };
    let hooks = [hook(&leaves.x), hook(&leaves.b)];
    let record = || leaves.x.mul(&leaves.b)?.tanh()?.sum(..);
    let before = leaves.held();
    record().and_then(|y| y.backward()).expect("with memory");
    let after = leaves.held();
    leaves.zero_grad();
    let seen = RefCell::new([0; 2]);
    let make = || {
        let now = leaves.held();
        seen.borrow_mut()[usize::from(now == after)] += 1;
        assert!(now == before || now == after, "some gradients are written");
        leaves.zero_grad();
        record()
    };
    let found = until_it_succeeds(make, |y| y.backward());
    counts.add("hooks of leaves", found);
    // Both the backward pass and a hook were refused.
    assert!(seen.into_inner().iter().all(|&times| times > 1));
    hooks.into_iter().for_each(|hook| hook.remove());
}

/// The layout of the tensors of an optimizer step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Dense,
    /// The gradient is a transposed view.
    Turned,
    /// Other tensors share the buffers.
    Shared,
}

/// Updates three parameters at once, each with its gradient and its means.
fn steps(counts: &mut Counts, dtype: DType, way: Way) {
    let make = || -> Vec<[Raw; 4]> {
        let of = |size, shift| numbers(&[size, size], dtype, shift).into_parts().0;
        let all = [8, 96, 40].map(|size| {
            let (grad, square) = (of(size, 7), of(size, 9));
            let grad = match way {
                Way::Turned => grad.transpose(0, 1).expect("two dims"),
                _ => grad,
            };
            let square = call::pointwise(nomina_core::op::Op::Abs, &[(&square).into()]);
            let mut param = of(size, 1);
            param.requires_grad_().expect("a float");
            [param, grad, of(size, 3), square.expect("with memory")]
        });
        all.into()
    };
    let bits = |all: &[[Raw; 4]]| -> Vec<Vec<u64>> {
        let look = |raw: &Raw| {
            let unnamed = nomina::Names::unnamed(raw.rank());
            held(&DynTensor::from_parts(raw.clone(), unnamed).expect("two dims"))
        };
        all.iter().flatten().map(look).collect()
    };
    let before = bits(&make());
    let all = RefCell::new((make(), Vec::new()));
    let done = Cell::new(false);
    let arguments = || {
        let mut all = all.borrow_mut();
        if done.take() {
            *all = (make(), Vec::new());
        }
        assert!(
            bits(&all.0) == before,
            "a step of {dtype}, {way:?}: changed, and failed"
        );
        if way == Way::Shared {
            all.1 = all.0.clone();
        }
        Ok(())
    };
    let options = AdamOptions::adamw();
    let found = until_it_succeeds(arguments, |()| {
        let (all, _) = &mut *all.borrow_mut();
        let mut params: Vec<StepParam<'_, AdamOptions>> = Vec::new();
        // The list is allocated by the caller.
        let short = |_| Error::new(ErrorKind::Memory, "adam", "no memory for the list");
        params.try_reserve_exact(all.len()).map_err(short)?;
        for [param, grad, state @ ..] in all.iter_mut() {
            params.push(StepParam {
                param: param.as_mut()?,
                grad,
                state,
                step: 1,
                options: &options,
            });
        }
        StepRule::step("adam", &mut params)?;
        done.set(true);
        Ok(())
    });
    let (all, others) = all.into_inner();
    assert!(bits(&all) != before && all.iter().all(|[param, ..]| param.is_leaf()));
    assert!(
        others.is_empty() || bits(&others) == before,
        "what others see changed"
    );
    if way != Way::Dense || dtype == DType::BF16 {
        assert!(
            found != Ok(0),
            "a step of {dtype}, {way:?}: asks for nothing"
        );
    }
    counts.add(&format!("a step of {dtype}, {way:?}"), found);
}
