//! Copies between all pairs of dtypes and layouts, and new elements, on a device against the host.
//! Operators without a kernel copy to the host and back.
#![cfg(feature = "cuda")]

#[path = "cuda/here.rs"]
mod here;
#[allow(dead_code, reason = "tolerances are of operators that round")]
#[path = "cuda_map/near.rs"]
mod near;
#[path = "cuda/sample.rs"]
mod sample;
#[allow(dead_code, reason = "operands of operators")]
#[path = "cuda_map/values.rs"]
mod values;

use here::{DEVICE, cases, device};
use near::{Near, same};
use nomina::{DType, Device, Scalar};
use nomina_core::Result;
use nomina_runtime::{Raw, call, cuda};
use num_complex::Complex;
use sample::some;
use values::{Tame, operand};

const SCHEDULES: [here::Schedule<'_>; 2] = [
    &[("NOMINA_FAKE_ORDER", "forward")],
    &[("NOMINA_FAKE_ORDER", "7")],
];

/// The number of elements that every view fits in.
const ENOUGH: usize = 12_000;

/// A view of [`ENOUGH`] elements.
type View = fn(&Raw) -> Result<Raw>;

/// The views that are copied from and to.
const VIEWS: [(&str, View); 10] = [
    ("contiguous", |x| x.narrow(0, 0, 4099)),
    ("offset", |x| x.narrow(0, 1, 4099)),
    ("rows", |x| {
        x.narrow(0, 0, 37 * 64)?
            .reshape(&[37, 64])?
            .narrow(1, 0, 48)
    }),
    ("transposed", |x| {
        x.narrow(0, 0, 70 * 45)?.reshape(&[70, 45])?.transpose(0, 1)
    }),
    ("planes", |x| {
        let planes = x.narrow(0, 0, 3 * 2 * 33 * 40)?.reshape(&[3, 2, 33, 40])?;
        planes.permute(&[1, 0, 3, 2])
    }),
    // Sides are whole words in every dtype, and one tile plus a remainder.
    ("words", |x| {
        let planes = x.narrow(0, 0, 2 * 36 * 140)?.reshape(&[2, 36, 140])?;
        planes.transpose(1, 2)
    }),
    ("thin", |x| {
        x.narrow(0, 0, 900 * 3)?.reshape(&[900, 3])?.transpose(0, 1)
    }),
    ("repeated", |x| {
        x.narrow(0, 0, 19)?.reshape(&[19, 1])?.expand(&[19, 33])
    }),
    ("backwards", |x| x.slice(0, 11_000, 3000, -3)),
    ("empty", |x| x.narrow(0, 0, 0)),
];

fn bits(got: &Raw, want: &Raw) -> Result<(), String> {
    same(got, want, &[], Near::EXACT)
}

/// Returns `x` on the host and on the device.
fn both(x: Raw, device: Device) -> Result<[Raw; 2]> {
    let there = call::to_device(&x, device)?;
    Ok([x, there])
}

/// Copies `x` to tensors with the same layout, a row-major layout and a transposed layout.
fn copies(x: &Raw, to: DType) -> Result<Vec<Raw>> {
    let mut row_major = Raw::zeros("zeros", x.shape(), to, x.device())?;
    call::copy_into(row_major.as_mut()?, x)?;
    let reversed: Vec<usize> = x.shape().iter().rev().copied().collect();
    let order: Vec<usize> = (0..x.rank()).rev().collect();
    let mut turned = Raw::zeros("zeros", &reversed, to, x.device())?;
    call::copy_into(turned.as_mut()?.permute(&order)?, x)?;
    let alike = if to == x.dtype() {
        call::duplicate(x)?
    } else {
        call::to_dtype(x, to)?
    };
    Ok(vec![alike, call::contiguous(x)?, row_major, turned])
}

#[test]
fn every_pair_of_dtypes() {
    let _here = device!(&SCHEDULES);
    let (mut count, mut failures) = (0, Vec::new());
    for from in some(DType::ALL) {
        let [here, there] = both(operand(from, 0, ENOUGH, Tame::No), DEVICE).expect("a copy");
        for to in DType::ALL {
            for (name, view) in VIEWS {
                let made = |x: &Raw| view(x).and_then(|x| copies(&x, to)).expect("copies");
                for (got, want) in made(&there).iter().zip(&made(&here)) {
                    count += 1;
                    let got = call::to_device(got, Device::Cpu).expect("a copy");
                    if let Err(what) = bits(&got, want) {
                        failures.push(format!("{from} to {to}, {name}: {what}"));
                    }
                }
            }
        }
    }
    cases(count);
    println!("{count} copies, {} failures", failures.len());
    assert!(
        failures.is_empty(),
        "{:#?}",
        &failures[..failures.len().min(40)]
    );
    let by_host = cuda::by_host();
    assert!(!by_host.contains_key("copy"), "{by_host:?}");
}

#[test]
fn new_elements() {
    let _here = device!(&SCHEDULES);
    let (mut count, mut failures) = (0, Vec::new());
    for dtype in DType::ALL {
        let number = match dtype {
            _ if dtype.is_complex() => Scalar::Complex(Complex::new(1.5, -0.0)),
            _ if dtype.is_integral() => Scalar::Int(1),
            _ => Scalar::Float(f64::NEG_INFINITY),
        };
        let on = |device: Device| -> Result<Vec<(String, Raw)>> {
            let mut all = Vec::new();
            for shape in [&[][..], &[1], &[0, 3], &[4099], &[5, 7, 11]] {
                all.push((
                    format!("full {shape:?}"),
                    call::full(shape, number, dtype, device)?,
                ));
            }
            // Writes to part of a tensor: from an offset too unaligned for wide accesses, and with
            // gaps.
            for (name, dim, start, len, step) in [("offset", 0, 1, 35, 1), ("columns", 1, 2, 20, 2)]
            {
                let mut x = Raw::zeros("zeros", &[37, 48], dtype, device)?;
                call::fill(x.as_mut()?.slice(dim, start, len, step)?, number)?;
                all.push((format!("filled {name}"), x));
            }
            if dtype != DType::Bool && !dtype.is_complex() {
                let (start, step) = match dtype {
                    DType::U8 => (Scalar::Int(3), Scalar::Int(2)),
                    _ if dtype.is_integral() => (Scalar::Int(-50), Scalar::Int(1)),
                    _ => (Scalar::Float(-50.3), Scalar::Float(0.7)),
                };
                for end in [70, 77] {
                    let made = call::arange(start, Scalar::Int(end), step, dtype, device)?;
                    all.push((format!("arange to {end}"), made));
                }
            }
            let x = call::to_device(&operand(dtype, 0, 3 * 17 * 23, Tame::Yes), device)?;
            let x = x.reshape(&[3, 17, 23])?;
            for diagonal in [0, 3, -4, 100, i64::MIN, i64::MAX] {
                for (op, upper) in [("triu", true), ("tril", false)] {
                    for x in [
                        x.clone(),
                        x.transpose(1, 2)?,
                        x.transpose(0, 2)?.narrow(1, 2, 9)?,
                    ] {
                        let made = call::triangle(op, &x, diagonal, upper)?;
                        all.push((format!("{op} {diagonal} {:?}", x.strides()), made));
                    }
                }
            }
            let mut alone = call::contiguous(&x.transpose(1, 2)?)?;
            let lines = alone.as_mut()?.transpose(0, 2)?;
            call::triangle_in_place("triu", lines, 1, true)?;
            all.push(("triu of another order".into(), alone));
            Ok(all)
        };
        let (there, here) = (
            on(DEVICE).expect("elements"),
            on(Device::Cpu).expect("elements"),
        );
        for ((name, got), (_, want)) in there.iter().zip(&here) {
            count += 1;
            let got = call::to_device(got, Device::Cpu).expect("a copy");
            if let Err(what) = bits(&got, want) {
                failures.push(format!("{dtype} {name}: {what}"));
            }
        }
    }
    cases(count);
    println!(
        "{count} tensors of new elements, {} failures",
        failures.len()
    );
    assert!(
        failures.is_empty(),
        "{:#?}",
        &failures[..failures.len().min(40)]
    );
    let by_host = cuda::by_host();
    for class in ["fill", "triangle", "arange"] {
        assert!(!by_host.contains_key(class), "{by_host:?}");
    }
}

/// Decompositions and transforms have no kernel on the device: the host computes them, and each
/// call is counted.
#[cfg(all(feature = "fft", feature = "linalg"))]
#[test]
fn matrices_and_transforms_by_way_of_the_host() {
    use nomina::prelude::*;
    dims! { Row, Col }
    let _here = device!(&SCHEDULES[..1]);
    let a = tensor!([[4f32, 1.], [1., 3.]]; Row, Col);
    let there = a.to_device(DEVICE);
    let inverse = there.inv((Row, Col));
    assert_eq!(inverse.device(), DEVICE);
    assert!(inverse.cpu().equal(&a.inv((Row, Col))));
    let solution = there.solve(&there.mean(Col), (Row, Col));
    assert!(solution.cpu().allclose(&a.solve(&a.mean(Col), (Row, Col))));
    let waves = there.fft(Row);
    assert_eq!(waves.device(), DEVICE);
    assert!(waves.cpu().equal(&a.fft(Row)));
    let by_host = cuda::by_host();
    assert!(
        by_host.contains_key("linalg") && by_host.contains_key("fft"),
        "{by_host:?}"
    );
    cases(1);
}
