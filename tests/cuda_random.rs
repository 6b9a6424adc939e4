//! Random numbers on a CUDA device, which must equal the host's bit for bit.

#[path = "cuda/here.rs"]
mod here;

use here::{DEVICE, cases, device};
use nomina::{DType, Device, ErrorKind, Generator, Scalar};
use nomina_runtime::random::Distribution;
use nomina_runtime::{Raw, call, cuda};

/// Element counts up to a few blocks of words, and up to a few thread blocks.
const COUNTS: [usize; 7] = [0, 1, 3, 4, 9, 1026, 4099];

const SCHEDULES: [here::Schedule<'_>; 3] = [
    &[("NOMINA_FAKE_ORDER", "forward")],
    &[("NOMINA_FAKE_ORDER", "backward"), ("NOMINA_FAKE_LAZY", "1")],
    &[("NOMINA_FAKE_ORDER", "7"), ("NOMINA_FAKE_LAZY", "1")],
];

fn on_host(x: &Raw) -> Vec<Scalar> {
    call::to_device(x, Device::Cpu).unwrap().scalars().collect()
}

/// Asserts that the same call on both devices, with generators of the same seed and position, gives the same elements
/// and leaves the generators at the same position.
fn agree(what: &str, run: impl Fn(Device, &mut Generator) -> Raw) {
    let run = |device| {
        let mut generator = Generator::new(0x9e37_79b9_7f4a_7c15);
        // Skip ahead, so that the generator is not at its start.
        call::rand(&[11], DType::F32, Device::Cpu, &mut generator).unwrap();
        let made = run(device, &mut generator);
        assert_eq!(made.device(), device, "{what}");
        (on_host(&made), generator)
    };
    let (want, got) = (run(Device::Cpu), run(DEVICE));
    assert_eq!(got.0.len(), want.0.len(), "{what}");
    let differs = got.0.iter().zip(&want.0).position(|(a, b)| a != b);
    if let Some(i) = differs {
        panic!(
            "{what}: element {i} is {:?}, on the host {:?}",
            got.0[i], want.0[i]
        );
    }
    assert_eq!(got.1, want.1, "{what}");
    cases(1);
}

const REAL: [DType; 10] = [
    DType::Bool,
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

fn fill(op: &'static str, dtype: DType, what: Distribution) {
    for n in COUNTS {
        // Also from the second element, which has no more than element alignment.
        for start in [0, 1] {
            agree(
                &format!("{n} of {what:?} as {dtype} from {start}"),
                |device, generator| {
                    let mut out = Raw::zeros(op, &[n + start], dtype, device).unwrap();
                    let dest = out.as_mut().unwrap().narrow(0, start, n).unwrap();
                    call::random(op, dest, what, generator).unwrap();
                    out
                },
            );
        }
    }
}

#[test]
fn floats_of_every_distribution() {
    let _here = device!(&SCHEDULES);
    let distributions = [
        Distribution::Uniform {
            from: -2.0,
            to: 3.5,
        },
        Distribution::Uniform { from: 1.0, to: 1.0 },
        Distribution::Normal {
            mean: 1.0,
            std: 2.0,
        },
        Distribution::LogNormal {
            mean: 0.5,
            std: 3.0,
        },
        Distribution::Exponential { lambd: 0.7 },
        Distribution::Cauchy {
            median: 1.0,
            sigma: 0.3,
        },
    ];
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for what in distributions {
            fill("random", dtype, what);
        }
    }
    for dtype in [DType::C64, DType::C128] {
        fill("randn", dtype, distributions[2]);
    }
}

#[test]
fn whole_numbers_of_every_dtype() {
    let _here = device!(&SCHEDULES);
    for dtype in REAL {
        fill("bernoulli_", dtype, Distribution::Bernoulli { p: 0.3 });
        fill("random_", dtype, Distribution::Integers { low: 0, high: 1 });
        if dtype != DType::Bool {
            fill(
                "random_",
                dtype,
                Distribution::Integers { low: 3, high: 99 },
            );
            fill("geometric_", dtype, Distribution::Geometric { p: 0.02 });
        }
    }
    for (low, high) in [(i64::MIN, i64::MAX), (-7, i64::MAX), (5, 5)] {
        fill("random_", DType::I64, Distribution::Integers { low, high });
    }
    fill("bernoulli_", DType::F32, Distribution::Bernoulli { p: 1.0 });
}

/// Returns a tensor of parameters on a device.
fn parameters(values: Vec<f64>, dtype: DType, device: Device) -> Raw {
    let size = [values.len()];
    let x = Raw::from_vec(values, &size).unwrap();
    call::to_device(&call::to_dtype(&x, dtype).unwrap(), device).unwrap()
}

#[test]
fn a_parameter_for_each_element() {
    let _here = device!(&SCHEDULES);
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for n in COUNTS {
            let p = |i: usize| [0.0, 0.25, 1.0, 0.7, 0.5][i % 5];
            agree(&format!("bernoulli of {n} {dtype}"), |device, generator| {
                let p = parameters((0..n).map(p).collect(), dtype, device);
                call::bernoulli(&p, generator).unwrap()
            });
            // Covers all three sampling algorithms.
            let rate = |i: usize| [0.0, 0.3, 6.0, 10.0, 37.5, 2000.0, 3e9][i % 7];
            agree(&format!("poisson of {n} {dtype}"), |device, generator| {
                let rates = (0..n)
                    .map(rate)
                    .map(|r| if dtype == DType::F16 { r % 1e4 } else { r });
                call::poisson(&parameters(rates.collect(), dtype, device), generator).unwrap()
            });
        }
    }
    for dtype in REAL {
        agree(&format!("bernoulli into {dtype}"), |device, generator| {
            let p = parameters(
                (0..50).map(|i| f64::from(i) / 49.0).collect(),
                DType::F32,
                device,
            );
            let mut out = Raw::zeros("bernoulli_", &[3, 50], dtype, device).unwrap();
            call::bernoulli_into(out.as_mut().unwrap(), &p, generator).unwrap();
            out
        });
    }
}

#[test]
fn permutations() {
    let _here = device!(&SCHEDULES);
    // Up to several tiles, and powers of two with their neighbours.
    for n in [0, 1, 2, 3, 31, 100, 1023, 1024, 1025, 2048, 5000, 9001] {
        for dtype in [DType::I64, DType::F64, DType::I32, DType::F32] {
            agree(&format!("{n} numbers of {dtype}"), |device, generator| {
                call::randperm(n, dtype, device, generator).unwrap()
            });
        }
    }
    for dtype in [DType::U8, DType::I8, DType::I16, DType::F16, DType::BF16] {
        agree(&format!("100 numbers of {dtype}"), |device, generator| {
            call::randperm(100, dtype, device, generator).unwrap()
        });
    }
}

#[test]
fn places_by_weight() {
    let _here = device!(&SCHEDULES);
    for (rows, places) in [(1, 1), (3, 7), (40, 33), (2, 300), (1, 2500)] {
        for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            let weights = |device| {
                // Some indices have weight zero and are never drawn; sums of the weights round.
                let weight = |i: usize| {
                    if i % 5 == 3 {
                        0.0
                    } else {
                        0.1 + (i % 11) as f64
                    }
                };
                let all = parameters((0..rows * places).map(weight).collect(), dtype, device);
                all.reshape(&[rows, places]).unwrap()
            };
            for samples in [1, 2, places / 2, 2 * places] {
                let samples = samples.max(1);
                let named = format!("{samples} of {rows} x {places} {dtype}");
                agree(&format!("{named}, again and again"), |device, generator| {
                    call::multinomial(&weights(device), 1, samples, true, generator).unwrap()
                });
                if samples <= places / 2 || places == 1 && samples == 1 {
                    agree(&format!("{named}, once each"), |device, generator| {
                        call::multinomial(&weights(device), 1, samples, false, generator).unwrap()
                    });
                }
            }
        }
    }
}

#[test]
fn wrong_parameters_are_told_at_the_next_wait() {
    let _here = device!(&SCHEDULES);
    let generator = &mut Generator::new(1);
    let wrong = |run: &mut dyn FnMut() -> nomina::Result<Raw>, op: &str, words: &str| {
        let error = match run() {
            Ok(made) => call::to_device(&made, Device::Cpu).unwrap_err(),
            Err(error) => error,
        };
        cases(1);
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        let text = error.to_string();
        assert!(text.contains(op) && text.contains(words), "{text}");
        // The error is reported once; after that the device works again.
        cuda::synchronize(None).unwrap();
    };
    let p = parameters(vec![0.5, 1.5, 0.0], DType::F32, DEVICE);
    wrong(
        &mut || call::bernoulli(&p, generator),
        "bernoulli",
        "element 1 is no probability",
    );
    let rates = parameters(vec![0.5, 1.5, -1.0], DType::F64, DEVICE);
    wrong(
        &mut || call::poisson(&rates, generator),
        "poisson",
        "element 2 is no rate",
    );
    let weights = parameters(vec![1.0, 1.0, 0.0, 0.0], DType::F32, DEVICE);
    let weights = weights.reshape(&[2, 2]).unwrap();
    for again in [false, true] {
        let run = &mut || call::multinomial(&weights, 1, 1, again, generator);
        wrong(run, "multinomial", "row 1 has no weights to draw 1 from");
    }
    let weights = parameters(vec![1.0, f64::NAN], DType::F64, DEVICE);
    for again in [false, true] {
        let run = &mut || call::multinomial(&weights, 0, 1, again, generator);
        wrong(run, "multinomial", "row 0");
    }
}
