//! im2col and col2im: windows as columns, and back.

use nomina_core::DType;
use nomina_runtime::Raw;
use nomina_runtime::call::{Columns, fold, im2col};

use super::common::{NUMBERS, agree, apart, channels_last, numbers};
use crate::SCHEDULES;
use crate::here::{self, device};
use crate::sample::some;

fn check(x: &Raw, args: &Columns<'_>, folds: bool) -> usize {
    let what = format!("{:?} {:?} {args:?}", x.dtype(), x.shape());
    let cases = agree(&what, &[x], 0.0, |all| Ok(vec![im2col(&all[0], args)?]));
    if !folds {
        return cases;
    }
    let columns = numbers(im2col(x, args).unwrap().shape(), x.dtype(), 5);
    let each = [columns.clone(), apart(&columns)].map(|columns| {
        agree(&what, &[&columns], 0.0, |all| {
            Ok(vec![fold(&all[0], &x.shape()[2..], args)?])
        })
    });
    cases + each.iter().sum::<usize>()
}

#[test]
fn columns_and_back() {
    let _here = device!(&SCHEDULES);
    let mut cases = 0;
    let x = numbers(&[2, 3, 9, 12], DType::F32, 1);
    for kernel in [[3, 3], [1, 1], [2, 5], [9, 12]] {
        for dilation in [[1, 1], [2, 3], [3, 2]] {
            for (padding, stride) in [([0, 0], [1, 1]), ([1, 2], [2, 3]), ([2, 1], [6, 4])] {
                let spans = |dim: usize| {
                    dilation[dim] * (kernel[dim] - 1) < x.shape()[2 + dim] + 2 * padding[dim]
                };
                if !spans(0) || !spans(1) {
                    continue;
                }
                let args = Columns {
                    kernel: &kernel,
                    dilation: &dilation,
                    padding: &padding,
                    stride: &stride,
                };
                for x in [x.clone(), channels_last(&x), apart(&x)] {
                    cases += check(&x, &args, true);
                }
            }
        }
    }
    let args = Columns {
        kernel: &[3, 2],
        dilation: &[1, 2],
        padding: &[1, 1],
        stride: &[2, 1],
    };
    for dtype in some(NUMBERS) {
        cases += check(&numbers(&[2, 3, 7, 8], dtype, 1), &args, true);
    }
    cases += check(&numbers(&[2, 3, 7, 8], DType::Bool, 1), &args, false);
    cases += check(&numbers(&[0, 3, 7, 8], DType::F32, 1), &args, true);
    // One tap; the next one would be far away.
    let wide = Columns {
        kernel: &[1, 3],
        dilation: &[1 << 31, 2],
        ..args
    };
    for dtype in some([DType::U8, DType::BF16, DType::F32, DType::F64, DType::C128]) {
        cases += check(&numbers(&[2, 3, 7, 8], dtype, 1), &wide, true);
    }
    here::cases(cases);
}
