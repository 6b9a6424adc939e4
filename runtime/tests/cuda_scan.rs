//! Prefix scans along rows that are long enough to be cut into tiles, compared with the host.
#![cfg(feature = "cuda")]

#[path = "../../tests/cuda/here.rs"]
mod here;

use here::{DEVICE, cases, device};
use nomina_core::DType;
use nomina_core::op::Op;
use nomina_runtime::call::{scan, to_device, to_dtype};
use nomina_runtime::{Device, Raw};

/// Several orders of blocks, on devices with few and with many processors.
const SCHEDULES: [here::Schedule<'_>; 3] = [
    &[],
    &[
        ("NOMINA_FAKE_ORDER", "backward"),
        ("NOMINA_FAKE_PROCESSORS", "132"),
    ],
    &[("NOMINA_FAKE_ORDER", "7"), ("NOMINA_FAKE_PROCESSORS", "1")],
];

/// Sizes around those of tiles, which are 1024, 2048 or 4096 elements.
const SIZES: [[usize; 2]; 5] = [
    [1, 16_384],
    [2, 32_768],
    [3, 33_001],
    [1, 65_537],
    [5, 40_960],
];

fn values(x: &Raw) -> Vec<f64> {
    let host = to_device(x, Device::Cpu).unwrap();
    to_dtype(&host, DType::F64).unwrap().to_vec().unwrap()
}

/// Creates rows of small integers of both signs, or of numbers close to one.
fn row(shape: [usize; 2], op: Op, dtype: DType) -> Raw {
    let count = shape[0] * shape[1];
    let data = (0..count).map(|i| match op {
        // Powers of two that cancel.
        Op::Cumprod => [1.0, 2.0, 1.0, 0.5, -1.0][i % 5],
        Op::Logcumsumexp => ((i * 37) % 101) as f64 / 16.0 - 3.0,
        _ => ((i * 7919) % 13) as f64 - 6.0,
    });
    to_dtype(&Raw::from_vec(data.collect(), &shape).unwrap(), dtype).unwrap()
}

#[test]
fn rows_in_tiles() {
    let _here = device!(&SCHEDULES);
    let all = [
        (Op::Cumsum, DType::F32, 0.0),
        (Op::Cumsum, DType::F64, 0.0),
        (Op::Cumsum, DType::BF16, 0.0),
        (Op::Cumsum, DType::I8, 0.0),
        (Op::Cumsum, DType::I64, 0.0),
        (Op::Cumsum, DType::C64, 0.0),
        (Op::Cumprod, DType::F32, 0.0),
        (Op::Logcumsumexp, DType::F32, 1e-5),
        (Op::Logcumsumexp, DType::F64, 1e-12),
    ];
    for (at, (op, dtype, near)) in all.into_iter().enumerate() {
        for shape in [SIZES[at % 5], SIZES[(at + 2) % 5]] {
            let whole = row(shape, op, dtype);
            // Also from an odd offset on, where elements cannot be read in packs.
            let from = usize::from(shape[1] % 2 == 1);
            let x = whole.narrow(1, from, shape[1] - from).unwrap();
            let want = values(&scan(op, &x, 1, None).unwrap());
            let there = to_device(&whole, DEVICE).unwrap();
            let there = there.narrow(1, from, shape[1] - from).unwrap();
            let got = values(&scan(op, &there, 1, None).unwrap());
            assert_eq!(got.len(), want.len());
            for (place, (a, b)) in got.iter().zip(&want).enumerate() {
                let close = (a - b).abs() <= near * (1.0 + b.abs());
                assert!(close, "{op:?} {dtype} {shape:?}, {place}: {a}, not {b}");
            }
            cases(1);
        }
    }
}

#[test]
#[ignore = "run by the test below, in several schedules"]
fn inside_bits() {
    let _here = device!(&[]);
    let data = (0..50_000_u64).map(|i| 1.0 / (1 + i * 2_654_435_761 % 1009) as f64);
    let x = Raw::from_vec(data.collect(), &[1, 50_000]).unwrap();
    let x = to_device(&x, DEVICE).unwrap();
    let found = values(&scan(Op::Cumsum, &x, 1, None).unwrap());
    let mix = |bits: u64, value: &f64| bits.rotate_left(7) ^ value.to_bits();
    println!("bits: {:016x}", found.iter().fold(0, mix));
    cases(1);
}

/// Aggregates are combined in order, however far the predecessors are.
#[test]
fn results_have_the_same_bits_each_time() {
    let said = |schedule: &here::Schedule<'_>| {
        let said = here::again("inside_bits", schedule)?;
        let line = said.lines().find(|line| line.starts_with("bits: "));
        Some(line.expect("it ran").to_owned())
    };
    let Some(first) = said(&SCHEDULES[0]) else {
        return;
    };
    for schedule in &SCHEDULES[1..] {
        assert_eq!(said(schedule), Some(first.clone()), "{schedule:?}");
    }
}
