//! Resampling.

use nomina_core::DType;
use nomina_runtime::Raw;
use nomina_runtime::call::{InterpolateMode, Resize, interpolate};

use super::common::{FLOATS, agree, apart, channels_last, numbers, unit};
use crate::SCHEDULES;
use crate::here::{self, device};

const MODES: [InterpolateMode; 5] = [
    InterpolateMode::Nearest,
    InterpolateMode::NearestExact,
    InterpolateMode::Linear,
    InterpolateMode::Cubic,
    InterpolateMode::Area,
];

fn check(x: &Raw, sizes: &[usize], mode: InterpolateMode, factor: Option<f64>) -> usize {
    let resizes: Vec<Resize> = (sizes.iter().enumerate())
        .map(|(at, &size)| Resize {
            dim: 2 + at,
            size,
            factor,
        })
        .collect();
    let each = [false, true].map(|corners| {
        let what = format!(
            "{:?} {:?} {mode:?} {sizes:?} {factor:?} {corners}",
            x.dtype(),
            x.shape()
        );
        // Cubic weights lose some digits of `f64` to cancellation.
        let near = unit(x.dtype()).max(4e-14);
        agree(&what, &[x], near, |all| {
            Ok(vec![interpolate(&all[0], &resizes, mode, corners)?])
        })
    });
    each.iter().sum()
}

#[test]
fn every_mode() {
    let _here = device!(&SCHEDULES);
    let mut cases = 0;
    for mode in MODES {
        for (shape, sizes) in [
            (&[2, 3, 7][..], &[&[7][..], &[1], &[13], &[3]][..]),
            (&[2, 3, 5, 7], &[&[10, 14], &[3, 2], &[5, 9], &[1, 1]]),
            (&[1, 2, 3, 4, 5], &[&[6, 8, 10], &[2, 9, 1]]),
            (&[0, 2, 5, 7], &[&[3, 3]]),
            (&[2, 1, 1, 1], &[&[3, 4]]),
        ] {
            let x = numbers(shape, DType::F32, 1);
            for sizes in sizes {
                cases += check(&x, sizes, mode, None);
                cases += check(&channels_last(&x), sizes, mode, Some(1.7));
                cases += check(&apart(&x), sizes, mode, Some(1e-12));
            }
        }
        for &dtype in FLOATS {
            for shape in [&[2, 3, 9][..], &[2, 3, 5, 7], &[1, 2, 3, 4, 5]] {
                let x = numbers(shape, dtype, 1);
                cases += check(&x, &[11, 6, 7][..shape.len() - 2], mode, None);
            }
        }
    }
    here::cases(cases);
}
