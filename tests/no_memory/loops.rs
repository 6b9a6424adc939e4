//! Loops along a dim, and their gradients.

use nomina::loops::{try_associative_scan, try_map_over, try_scan};
use nomina::prelude::*;
use nomina::{DType, Result, dynamic};

use crate::gradient_functions::{Call, each, inside, outside, without_backtraces};
use crate::gradients::{Counts, Leaves};

dims! { N, C }

pub fn all(counts: &mut Counts) {
    for (n, dtype) in [(3, DType::F64), (30, DType::F32), (4, DType::BF16)] {
        by_name(counts, n, dtype);
    }
    for n in [3, 30] {
        typed(counts, n);
    }
    many_slices(counts);
}

/// Loops of dynamic tensors, and the gradients of all that they return.
fn by_name(counts: &mut Counts, n: usize, dtype: DType) {
    let leaves = Leaves::new(n, dtype);
    let named = |x: &DynTensor, names: &[&str]| x.refine_names(names.to_vec()).expect("dims");
    let (x, w) = (named(&leaves.x, &["N", "C"]), named(&leaves.w, &["N", "C"]));
    let b = named(&leaves.b, &["C"]);
    let back = |y: &DynTensor| dynamic::gradients(&y.sum(..)?, &[&x, &w, &b]).map(drop);
    let calls: &[Call<'_>] = &[
        ("scan", &|| {
            let step = |sum: DynTensor, x: &[DynTensor]| {
                let sum = sum.mul(&x[0])?.add(&x[1])?.tanh()?;
                Ok((sum.clone(), vec![sum]))
            };
            let (last, all) = dynamic::scan("N", step, b.clone(), &[&x, &w])?;
            back(&all[0].mul(&last)?)
        }),
        ("associative_scan", &|| {
            let join = |a: &[DynTensor], b: &[DynTensor]| {
                Ok(vec![a[0].mul(&b[0])?, a[1].mul(&b[0])?.add(&b[1])?])
            };
            let all = dynamic::associative_scan("N", join, &[&x, &w])?;
            back(&all[1].mul(&b)?)
        }),
        ("map_over", &|| {
            let each = |x: &[DynTensor]| Ok(vec![x[0].softmax("C")?.mul(&b)?.mul(&x[1])?]);
            back(&dynamic::map_over("N", each, &[&x, &w])?[0])
        }),
    ];
    each(counts, &format!("loops of {n}, {dtype}"), &leaves, calls);
}

/// Typed loops, whose closures use operators that panic.
fn typed(counts: &mut Counts, n: usize) {
    let leaves = Leaves::new(n, DType::F32);
    let square = |x: &DynTensor| -> Tensor<(N, C)> {
        let named = x.refine_names(["N", "C"]).expect("two dims");
        named.typed().expect("two dims")
    };
    let (x, w) = (square(&leaves.x), square(&leaves.w));
    let start: Tensor<(C,)> = Tensor::zeros([n]);
    let calls: &[Call<'_>] = &[
        ("try_scan", &|| {
            outside(|| {
                let step = |sum: Tensor<(C,)>, (x, w): (Tensor<(C,)>, Tensor<(C,)>)| {
                    inside(|| {
                        let sum = (sum * x + w).tanh();
                        (sum.clone(), sum)
                    })
                };
                let (_, all) = try_scan(N, step, start.clone(), (&x, &w))?;
                let all: Tensor<(N, C)> = all;
                back(&all, &x)
            })
        }),
        ("try_associative_scan", &|| {
            outside(|| {
                let join = |a: Tensor<(N, C)>, b: Tensor<(N, C)>| inside(|| a * b);
                back(&try_associative_scan(N, join, &x)?, &x)
            })
        }),
        ("try_map_over", &|| {
            outside(|| {
                let each = |(x, w): (Tensor<(C,)>, Tensor<(C,)>)| inside(|| x.softmax(C) * w);
                let all: Tensor<(N, C)> = try_map_over(N, each, (&x, &w))?;
                back(&all, &x)
            })
        }),
    ];
    without_backtraces(|| each(counts, &format!("typed loops of {n}"), &leaves, calls));
}

/// More slices than a list of them, or of their descriptions in an error, has in a small allocation.
fn many_slices(counts: &mut Counts) {
    let leaves = Leaves::new(3, DType::F32);
    let x = Tensor::<(N, C)>::ones([600, 2]);
    let by_name = x.to_dyn();
    let start = DynTensor::zeros(&[2], ["C"]).expect("a short tensor");
    let calls: &[Call<'_>] = &[
        ("try_stack", &|| {
            let slices = x.try_unbind(N)?;
            nomina::try_stack(&slices[..], N).map(drop)
        }),
        ("try_cat", &|| {
            let slices = x.try_split(N, 1)?;
            nomina::try_cat(&slices[..], N).map(drop)
        }),
        ("try_map_over", &|| {
            try_map_over(N, |x: Tensor<(C,)>| x, &x).map(drop)
        }),
        ("scan by name", &|| {
            let step = |sum: DynTensor, x: &[DynTensor]| {
                let sum = sum.add(&x[0])?;
                Ok((sum.clone(), vec![sum]))
            };
            dynamic::scan("N", step, start.clone(), &[&by_name]).map(drop)
        }),
    ];
    each(counts, "600 slices", &leaves, calls);
}

fn back(y: &Tensor<(N, C)>, x: &Tensor<(N, C)>) -> Result<()> {
    nomina::grad::try_gradients(&y.try_sum(..)?, x).map(drop)
}
