//! Pools, and their inverses.

use nomina_core::op::Op;
use nomina_core::{DType, ErrorKind};
use nomina_runtime::call::{
    AvgArgs, MaxArgs, adaptive_avg, adaptive_max, avg_pool, max_pool, max_unpool, to_device,
    to_dtype,
};
use nomina_runtime::{Device, Raw, cuda};

use super::common::{FLOATS, ORDERED, agree, apart, channels_last, numbers, unit};
use crate::SCHEDULES;
use crate::here::{self, device};
use crate::sample::some;

const MAX: [Op; 3] = [Op::MaxPool1d, Op::MaxPool2d, Op::MaxPool3d];
const AVG: [Op; 3] = [Op::AvgPool1d, Op::AvgPool2d, Op::AvgPool3d];

fn max(what: &str, x: &Raw, dims: &[usize], args: &MaxArgs<'_>) -> usize {
    let op = MAX[dims.len() - 1];
    let each = [false, true].map(|indices| {
        agree(&format!("{what} {args:?}"), &[x], 0.0, |all| {
            let (values, places) = max_pool(op, &all[0], dims, args, indices)?;
            Ok([values].into_iter().chain(places).collect())
        })
    });
    each.iter().sum()
}

fn mean(what: &str, x: &Raw, dims: &[usize], args: &AvgArgs<'_>) -> usize {
    let op = AVG[dims.len() - 1];
    agree(&format!("{what} {args:?}"), &[x], unit(x.dtype()), |all| {
        Ok(vec![avg_pool(op, &all[0], dims, args)?])
    })
}

/// Checks all windows over an operand of one to three dims after the first two.
fn windows(x: &Raw) -> usize {
    let dims: Vec<usize> = (2..x.rank()).collect();
    let same = |number: usize| vec![number; dims.len()];
    let what = format!("{:?} {:?}", x.dtype(), x.shape());
    let mut cases = 0;
    for (kernel, stride, padding, dilation) in [
        (2, 2, 0, 1),
        (3, 2, 1, 1),
        (3, 1, 1, 2),
        (2, 3, 1, 2),
        (1, 1, 0, 1),
    ] {
        for ceil_mode in [false, true] {
            let [kernel, stride, padding, dilation] = [kernel, stride, padding, dilation].map(same);
            let args = MaxArgs {
                kernel: &kernel,
                stride: &stride,
                padding: &padding,
                dilation: &dilation,
                ceil_mode,
            };
            cases += max(&what, x, &dims, &args);
            if dilation[0] > 1 {
                continue;
            }
            for (count_include_pad, divisor_override) in [
                (true, None),
                (false, None),
                (true, Some(-1)),
                (false, Some(5)),
            ] {
                let args = AvgArgs {
                    kernel: &kernel,
                    stride: &stride,
                    padding: &padding,
                    ceil_mode,
                    count_include_pad,
                    divisor_override,
                };
                cases += mean(&what, x, &dims, &args);
            }
        }
    }
    cases
}

#[test]
fn sliding_windows() {
    let _here = device!(&SCHEDULES);
    let mut cases = 0;
    for shape in [&[2, 3, 17][..], &[2, 3, 8, 9], &[1, 2, 5, 6, 7]] {
        let x = numbers(shape, DType::F32, 1);
        cases += windows(&x) + windows(&channels_last(&x)) + windows(&apart(&x));
    }
    for &dtype in ORDERED {
        cases += windows(&numbers(&[2, 2, 7, 8], dtype, 1));
    }
    cases += windows(&numbers(&[0, 3, 8, 9], DType::F32, 1));
    here::cases(cases);
}

#[test]
fn what_is_not_a_number_and_equals() {
    let _here = device!(&SCHEDULES);
    let mut cases = 0;
    let data = |i: usize| match i % 11 {
        0 | 7 => f32::NAN,
        1 | 5 => -0.0,
        2 | 9 => f32::NEG_INFINITY,
        3 => f32::INFINITY,
        4 | 8 => 0.0,
        _ => 1.0,
    };
    // With NaN nearly everywhere, nowhere, and with only the smallest number.
    for (len, of) in [(11, 0), (3, 8), (1, 2)] {
        let all = (0..2 * 3 * 9 * 40).map(|i| data(of + (i * 7 + i / 13) % len));
        let x = Raw::from_vec(all.collect(), &[2, 3, 9, 40]).unwrap();
        for &dtype in FLOATS {
            let x = to_dtype(&x, dtype).unwrap();
            for kernel in [[3, 2], [2, 35], [9, 40]] {
                let args = MaxArgs {
                    kernel: &kernel,
                    stride: &[1, 2],
                    padding: &[1, 1],
                    dilation: &[1, 1],
                    ceil_mode: true,
                };
                cases += max("special", &x, &[2, 3], &args);
            }
        }
    }
    here::cases(cases);
}

#[test]
fn equal_parts_and_whole_planes() {
    let _here = device!(&SCHEDULES);
    let mut cases = 0;
    let parts = |x: &Raw, sizes: &[usize]| {
        let dims: Vec<usize> = (2..x.rank()).collect();
        let what = format!("{:?} {:?} to {sizes:?}", x.dtype(), x.shape());
        let mut cases = 0;
        if x.dtype().is_float() {
            cases += agree(&what, &[x], unit(x.dtype()), |all| {
                let op = Op::AdaptiveAvgPool2d;
                Ok(vec![adaptive_avg(op, &all[0], &dims, sizes)?])
            });
        }
        for indices in [false, true] {
            cases += agree(&what, &[x], 0.0, |all| {
                let op = Op::AdaptiveMaxPool2d;
                let (values, places) = adaptive_max(op, &all[0], &dims, sizes, indices)?;
                Ok([values].into_iter().chain(places).collect())
            });
        }
        cases
    };
    for (shape, sizes) in [
        (&[2, 3, 17][..], &[&[1][..], &[5], &[17], &[23]][..]),
        (
            &[2, 3, 7, 7],
            &[&[1, 1], &[3, 2], &[7, 1], &[1, 7], &[9, 10]],
        ),
        (&[1, 2, 5, 6, 40], &[&[1, 1, 1], &[2, 3, 4], &[5, 1, 1]]),
        (&[3, 2, 50, 90], &[&[1, 1], &[2, 2], &[50, 1]]),
        (&[0, 2, 5, 9], &[&[1, 1], &[2, 2]]),
    ] {
        for sizes in sizes {
            cases += parts(&numbers(shape, DType::F32, 1), sizes);
        }
    }
    for &dtype in ORDERED {
        let x = numbers(&[2, 3, 6, 70], dtype, 1);
        cases += parts(&x, &[1, 1]) + parts(&x, &[4, 5]) + parts(&channels_last(&x), &[2, 2]);
    }
    here::cases(cases);
}

#[test]
fn numbers_of_64_bits() {
    let _here = device!(&SCHEDULES);
    let mut cases = 0;
    for dtype in some([DType::F32, DType::BF16, DType::I64, DType::U8]) {
        for size in [9, 80] {
            let x = numbers(&[2, 3, 5, size], dtype, 1);
            // One position along the first dim; the next one would be far away.
            let (kernel, stride) = ([5, size / 2], [1 << 31, 2]);
            let args = MaxArgs {
                kernel: &kernel,
                stride: &stride,
                padding: &[0, 1],
                dilation: &[1, 1],
                ceil_mode: false,
            };
            cases += max("wide", &x, &[2, 3], &args);
            let args = AvgArgs {
                kernel: &kernel,
                stride: &stride,
                padding: &[0, 1],
                ceil_mode: false,
                count_include_pad: true,
                divisor_override: None,
            };
            cases += mean("wide", &x, &[2, 3], &args);
        }
        // Parts whose boundaries are products beyond 32 bits.
        let x = numbers(&[1, 46_351], dtype, 1);
        cases += agree("wide parts", &[&x], 0.0, |all| {
            let op = Op::AdaptiveMaxPool1d;
            Ok(vec![adaptive_max(op, &all[0], &[1], &[46_352], false)?.0])
        });
    }
    here::cases(cases);
}

#[test]
fn back_to_their_places() {
    let _here = device!(&SCHEDULES);
    let mut cases = 0;
    for &dtype in FLOATS {
        let shape = [2, 3, 4, 5];
        let x = numbers(&shape, dtype, 1);
        // All different within a plane.
        let places = (0..120_i64).map(|i| (i % 20 * 7 + i / 20) % 72);
        let places = Raw::from_vec(places.collect(), &shape).unwrap();
        for (x, places) in [
            (x.clone(), places.clone()),
            (channels_last(&x), apart(&places)),
        ] {
            cases += agree(&format!("{dtype}"), &[&x, &places], 0.0, |all| {
                let op = Op::MaxUnpool2d;
                Ok(vec![max_unpool(op, &all[0], &all[1], &[2, 3], &[8, 9])?])
            });
        }
    }
    // An index out of range is reported at the next synchronization.
    let x = to_device(&numbers(&[2, 4], DType::F32, 1), Device::from(0)).unwrap();
    for wrong in [10, -1] {
        let places = Raw::from_vec(vec![0_i64, 1, 2, 3, 4, 5, 6, wrong], &[2, 4]).unwrap();
        let places = to_device(&places, Device::from(0)).unwrap();
        let out = max_unpool(Op::MaxUnpool1d, &x, &places, &[1], &[10]);
        assert!(out.is_ok());
        let error = cuda::synchronize(0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Index);
        let text = error.to_string();
        assert!(
            text.contains(&format!("index {wrong} is outside of 10")),
            "{text}"
        );
        assert!(text.contains("max_unpool1d"), "{text}");
        cuda::synchronize(0).unwrap();
        cases += 1;
    }
    here::cases(cases);
}
