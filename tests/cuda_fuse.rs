//! `fuse!` on a device: one kernel gives the same elements, dtypes and layouts as the separate operators. Runs on a
//! CUDA device or on the emulated GPU.

#![cfg(all(feature = "cuda", target_os = "linux"))]

#[path = "cuda/here.rs"]
mod here;

use nomina::prelude::*;

use here::{DEVICE, cases, device};

dims! { N, C }

const SCHEDULES: [here::Schedule<'_>; 3] = [
    &[("NOMINA_FAKE_ORDER", "forward")],
    &[("NOMINA_FAKE_ORDER", "backward")],
    &[("NOMINA_FAKE_ORDER", "5")],
];

/// Asserts that the fused result has the elements, layout and device of the unfused one.
#[track_caller]
fn same<D: Dims, T: Element + PartialEq>(fused: &Tensor<D, T>, steps: &Tensor<D, T>) {
    cases(1);
    assert_eq!(fused.device(), steps.device());
    assert_eq!(fused.shape(), steps.shape());
    assert_eq!(fused.strides(), steps.strides());
    let (fused, steps) = (fused.cpu().to_vec(), steps.cpu().to_vec());
    if let Some(at) = (0..steps.len()).find(|&at| fused[at] != steps[at]) {
        panic!(
            "element {at}: {:?} fused, {:?} in steps",
            fused[at], steps[at]
        );
    }
}

fn ramp<T: Element>(rows: usize, columns: usize) -> Tensor<(N, C), T> {
    let ramp = Tensor::<(N, C), f64>::from_fn([rows, columns], |at| {
        (at[0] as f64 - 3.0) / 2.0 + (at[1] % 11) as f64 / 4.0
    });
    ramp.to::<T>()
}

#[test]
fn layouts() {
    let _here = device!(&SCHEDULES);
    for (rows, columns) in [(1, 1), (3, 5), (7, 64), (33, 128), (5, 1000)] {
        let x = ramp::<f32>(rows, columns).to_device(DEVICE);
        let row = x.select(N, 0);
        let column = x.select(C, 0);
        same(&fuse!(|x, row| (x + row).tanh()), &(&x + &row).tanh());
        let column = column.align_to((N, C));
        same(&fuse!(|x, column| x * column - 0.5), &(&x * &column - 0.5));
        let number = x.amax((N, C));
        same(&fuse!(|x, number| x / number), &(&x / &number));
        // All kinds of strides: a transpose, every second column, an offset.
        let turned = x.transpose(N, C).contiguous().transpose(N, C);
        same(&fuse!(|x, turned| x.exp() + turned), &(x.exp() + &turned));
        same(&fuse!(|turned, x| turned - x), &(&turned - &x));
        if columns > 2 {
            let part = x.narrow(C, 1..columns - 1);
            same(&fuse!(|part| part * part + 1.0), &(&part * &part + 1.0));
        }
    }
    let none = Tensor::<(N, C)>::zeros([0, 3]).to_device(DEVICE);
    same(&fuse!(|none| none.exp() + 1.0), &(none.exp() + 1.0));
}

#[test]
fn dtypes() {
    let _here = device!(&SCHEDULES);
    macro_rules! floats {
            ($($t:ty)*) => {$({
                let x = ramp::<$t>(6, 37).to_device(DEVICE);
                let b = x.select(N, 1);
                same(&fuse!(|x, b| (x + b).sigmoid() * x), &((&x + &b).sigmoid() * &x));
                same(&fuse!(|x, b| x.gt(b).where_cond(x, 0.25)), &x.gt(&b).where_cond(&x, 0.25));
                same(&fuse!(|x| x.clamp(-1.0, 1.0).erf()), &x.clamp(-1.0, 1.0).erf());
            })*};
        }
    floats!(f32 f64 f16 bf16);
    macro_rules! integers {
            ($($t:ty)*) => {$({
                let x = ramp::<$t>(6, 37).to_device(DEVICE);
                let b = x.select(N, 1);
                same(&fuse!(|x, b| x * b + 3), &(&x * &b + 3));
                same(&fuse!(|x, b| (x + b).maximum(x)), &(&x + &b).maximum(&x));
                let f = ramp::<f32>(6, 37).to_device(DEVICE);
                same(&fuse!(|x, f| x * 2 + f), &(&x * 2 + &f));
            })*};
        }
    integers!(u8 i8 i16 i32 i64);
    let z = ramp::<Complex<f32>>(4, 9).to_device(DEVICE);
    same(&fuse!(|z| z * z + z.exp()), &(&z * &z + z.exp()));
    let z = ramp::<Complex<f64>>(4, 9).to_device(DEVICE);
    same(&fuse!(|z| (z - 0.5) * z), &((&z - 0.5) * &z));
    let x = ramp::<f32>(4, 9).to_device(DEVICE);
    same(
        &fuse!(|x| !(x.lt(0.0).logical_or(x.gt(2.0)))),
        &!x.lt(0.0).logical_or(&x.gt(2.0)),
    );
    let half = x.to::<f16>();
    let wide: Tensor<(N, C), f64> = fuse!(|half, x| (half * 2.0 + x).to::<f64>() / x.exp());
    same(&wide, &((&half * 2.0 + &x).to::<f64>() / x.exp()));
}

#[test]
fn reductions_come_last() {
    let _here = device!(&SCHEDULES);
    // Short and long rows, packs that end within a row, chunks of one line.
    for (rows, columns) in [(9, 130), (4, 64), (300, 3), (1, 70_000), (2000, 8)] {
        let x = ramp::<f32>(rows, columns).to_device(DEVICE);
        let b = x.select(N, 0);
        same(&fuse!(|x, b| (x * b).sum(C)), &(&x * &b).sum(C));
        same(&fuse!(|x, b| (x - b).mean(N)), &(&x - &b).mean(N));
        same(
            &fuse!(|x| (x * 0.01).exp().amax((N, C))),
            &(&x * 0.01).exp().amax((N, C)),
        );
        same(&fuse!(|x, b| (x * 2.0 + b).var(C)), &(&x * 2.0 + &b).var(C));
        let (values, places) = fuse!(|x| x.abs().max(C));
        same(&values, &x.abs().max(C).0);
        same(&places, &x.abs().max(C).1);
    }
    let x = ramp::<f16>(9, 130).to_device(DEVICE);
    same(&fuse!(|x| (x * 0.5 + 1.0).sum(N)), &(&x * 0.5 + 1.0).sum(N));
    let x = ramp::<Complex<f64>>(9, 13).to_device(DEVICE);
    same(&fuse!(|x| (x * 0.5 + 1.0).sum(N)), &(&x * 0.5 + 1.0).sum(N));
    let x = ramp::<i32>(9, 130).to_device(DEVICE);
    same(&fuse!(|x| (x * 3).sum(C)), &(&x * 3).sum(C));
    same(&fuse!(|x| x.gt(1).any(C)), &x.gt(1).any(C));
    let turned = ramp::<f32>(40, 33).to_device(DEVICE).transpose(N, C);
    same(
        &fuse!(|turned| (turned * 2.0).sum(N)),
        &(&turned * 2.0).sum(N),
    );
    same(
        &fuse!(|turned| (turned * 2.0).sum(C)),
        &(&turned * 2.0).sum(C),
    );
}

/// One kernel serves all calls of an expression, for any numbers and sizes.
#[test]
fn numbers_are_no_part_of_a_kernel() {
    let _here = device!(&SCHEDULES);
    for k in 0..20 {
        let x = ramp::<f32>(4, 8 + 4 * k).to_device(DEVICE);
        let factor = k as f32 / 3.0;
        same(&fuse!(|x| x * { factor } + 1.0), &(&x * factor + 1.0));
    }
}
