use crate::Device;
use nomina_core::{DType, ErrorKind, Scalar};

use super::distribution::rounded;
use super::philox::rounds;
use super::*;
use crate::call::{self, rand, randint, randn, random, randperm};
use crate::raw::Raw;

mod statistics;

#[test]
fn philox_gives_the_published_numbers() {
    // The known answers that the authors publish with Random123.
    let known = |counter: [u32; 4], key: u64| rounds(counter.map(|word| [word]), key).map(|[w]| w);
    let zeros = known([0; 4], 0);
    assert_eq!(zeros, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    let ones = known([u32::MAX; 4], u64::MAX);
    assert_eq!(ones, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    let pi = known(
        [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
        0x299f_31d0_a409_3822,
    );
    assert_eq!(pi, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
}

/// Every distribution, with a dtype for its numbers.
fn all() -> Vec<(Distribution, DType)> {
    let uniform = Distribution::Uniform {
        from: -2.0,
        to: 3.0,
    };
    let normal = Distribution::Normal {
        mean: 1.0,
        std: 2.0,
    };
    let log_normal = Distribution::LogNormal {
        mean: 0.5,
        std: 0.25,
    };
    let exponential = Distribution::Exponential { lambd: 2.0 };
    let cauchy = Distribution::Cauchy {
        median: 1.0,
        sigma: 0.5,
    };
    let mut all = Vec::new();
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        all.extend([uniform, normal, log_normal, exponential, cauchy].map(|what| (what, dtype)));
    }
    all.extend([(normal, DType::C64), (normal, DType::C128)]);
    for dtype in [DType::U8, DType::I64, DType::F32] {
        all.push((Distribution::Geometric { p: 0.3 }, dtype));
        all.push((Distribution::Bernoulli { p: 0.3 }, dtype));
        all.push((Distribution::Integers { low: 3, high: 99 }, dtype));
    }
    all
}

fn fill(shape: &[usize], (what, dtype): (Distribution, DType), seed: u64) -> Raw {
    let mut out = Raw::zeros("random", shape, dtype, Device::Cpu).unwrap();
    random(
        "random",
        out.as_mut().unwrap(),
        what,
        &mut Generator::new(seed),
    )
    .unwrap();
    out
}

fn scalars(x: &Raw) -> Vec<Scalar> {
    x.scalars().collect()
}

/// Enough elements for several threads.
const MANY: usize = if cfg!(miri) { 600 } else { 40_001 };

#[test]
fn a_fill_is_the_same_for_any_number_of_threads() {
    let fills = || -> Vec<Vec<Scalar>> {
        let mut made: Vec<Raw> = all()
            .into_iter()
            .map(|kind| fill(&[MANY], kind, 5))
            .collect();
        let g = &mut Generator::new(6);
        let rates = rand(&[MANY], DType::F32, Device::Cpu, g).unwrap();
        made.push(call::bernoulli(&rates, g).unwrap());
        made.push(call::poisson(&rates, g).unwrap());
        made.push(randperm(MANY, DType::I64, Device::Cpu, g).unwrap());
        let rows = rand(&[MANY / 20, 20], DType::F32, Device::Cpu, g).unwrap();
        made.push(call::multinomial(&rows, 1, 5, false, g).unwrap());
        made.push(call::multinomial(&rows, 1, 5, true, g).unwrap());
        made.iter().map(scalars).collect()
    };
    let here = fills();
    #[cfg(feature = "rayon")]
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        assert!(pool.install(fills) == here, "{threads} threads");
    }
    assert_eq!(here.len(), all().len() + 5);
}

#[test]
fn a_fill_is_the_same_for_any_strides_and_length() {
    for kind in all() {
        let plain = fill(&[30, 20], kind, 9);
        let mut turned = Raw::zeros("zeros", &[20, 30], kind.1, Device::Cpu)
            .unwrap()
            .transpose(0, 1)
            .unwrap();
        assert!(!turned.is_contiguous());
        let generator = &mut Generator::new(9);
        random("random", turned.as_mut().unwrap(), kind.0, generator).unwrap();
        assert!(!turned.is_contiguous());
        assert_eq!(scalars(&turned), scalars(&plain), "{kind:?}");
        // A shorter fill is the start of a longer one; the next fill differs.
        let short = fill(&[7], kind, 9);
        assert_eq!(scalars(&short), scalars(&plain)[..7], "{kind:?}");
        let mut next = plain.clone();
        random("random", next.as_mut().unwrap(), kind.0, generator).unwrap();
        assert_ne!(scalars(&next), scalars(&plain), "{kind:?}");
    }
}

#[test]
fn the_words_are_those_of_the_documented_positions() {
    // Other devices compute the same numbers from these words.
    let mut generator = Generator::new(0x1234_5678_9abc_def0);
    let (key, first) = (generator.seed(), 11);
    generator.stream(first);
    let uniform = rand(&[9], DType::F32, Device::Cpu, &mut generator).unwrap();
    for (i, value) in uniform.to_vec::<f32>().unwrap().into_iter().enumerate() {
        let word = philox::block((first + i / 4) as u64, 0, key)[i % 4];
        assert_eq!(value, (word >> 8) as f32 / (1 << 24) as f32);
    }
    let uniform = rand(&[5], DType::F64, Device::Cpu, &mut generator).unwrap();
    for (i, value) in uniform.to_vec::<f64>().unwrap().into_iter().enumerate() {
        let block = philox::block((first + 9 + i / 2) as u64, 0, key).map(u64::from);
        let bits = block[2 * (i % 2)] << 32 | block[2 * (i % 2) + 1];
        assert_eq!(value, (bits >> 11) as f64 / (1_u64 << 53) as f64);
    }
    let whole = randint(&[5], (-3, 6), DType::I64, Device::Cpu, &mut generator).unwrap();
    for (i, value) in whole.to_vec::<i64>().unwrap().into_iter().enumerate() {
        let block = philox::block((first + 14 + i / 2) as u64, 0, key).map(u128::from);
        let bits = block[2 * (i % 2)] << 32 | block[2 * (i % 2) + 1];
        assert_eq!(value, -3 + ((bits * 10) >> 64) as i64);
    }
}

#[test]
fn numbers_stay_in_their_bounds() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for (from, to) in [
            (0.0, 1.0),
            (0.9, 1.0),
            (-1.0, -0.99),
            (1.0, 1.001),
            (2.0, 2.0),
        ] {
            let what = Distribution::Uniform { from, to };
            let values = scalars(&fill(&[MANY / 4], (what, dtype), 1));
            let low = rounded(from, dtype);
            let inside = |x: f64| x >= low && (x < to || x == low);
            assert!(
                values.iter().all(|v| inside(v.to_f64())),
                "{dtype} {from} {to}"
            );
        }
        let what = Distribution::Exponential { lambd: 1e3 };
        let values = scalars(&fill(&[MANY / 4], (what, dtype), 2));
        assert!(values.iter().all(|v| v.to_f64() > 0.0), "{dtype}");
    }
    let tries = fill(&[500], (Distribution::Geometric { p: 1e-9 }, DType::I8), 3);
    assert!(scalars(&tries).iter().all(|v| v.to_i64() == 127));
    let all = fill(&[500], (Distribution::Bernoulli { p: 1.0 }, DType::Bool), 3);
    assert!(scalars(&all).iter().all(|v| v.to_bool()));
    let none = fill(&[500], (Distribution::Bernoulli { p: 0.0 }, DType::U8), 3);
    assert!(scalars(&none).iter().all(|v| !v.to_bool()));
    let (low, high) = (i64::MIN, i64::MAX);
    let whole = fill(
        &[500],
        (Distribution::Integers { low, high }, DType::I64),
        3,
    );
    assert!(scalars(&whole).iter().any(|v| v.to_i64() < i64::MIN / 2));
    assert!(scalars(&whole).iter().any(|v| v.to_i64() > i64::MAX / 2));
}

#[test]
fn what_is_no_distribution() {
    let refused = |what: Distribution, dtype| what.check("random", dtype).unwrap_err().kind();
    use ErrorKind::{Argument, DType as Dtype};
    let (low, high) = (0, 256);
    for (what, dtype, kind) in [
        (
            Distribution::Uniform { from: 1.0, to: 0.0 },
            DType::F32,
            Argument,
        ),
        (
            Distribution::Uniform {
                from: 0.0,
                to: f64::NAN,
            },
            DType::F32,
            Argument,
        ),
        (
            Distribution::Uniform {
                from: 0.0,
                to: 1e39,
            },
            DType::F32,
            Argument,
        ),
        (
            Distribution::Uniform { from: 0.0, to: 1.0 },
            DType::I64,
            Dtype,
        ),
        (
            Distribution::Normal {
                mean: 0.0,
                std: -1.0,
            },
            DType::F32,
            Argument,
        ),
        (
            Distribution::Normal {
                mean: 0.0,
                std: f64::NAN,
            },
            DType::F32,
            Argument,
        ),
        (
            Distribution::Normal {
                mean: 0.0,
                std: 1.0,
            },
            DType::Bool,
            Dtype,
        ),
        (
            Distribution::LogNormal {
                mean: 0.0,
                std: 0.0,
            },
            DType::F32,
            Argument,
        ),
        (
            Distribution::Exponential { lambd: 0.0 },
            DType::F32,
            Argument,
        ),
        (Distribution::Exponential { lambd: 1.0 }, DType::C64, Dtype),
        (
            Distribution::Cauchy {
                median: 0.0,
                sigma: 0.0,
            },
            DType::F32,
            Argument,
        ),
        (Distribution::Geometric { p: 0.0 }, DType::F32, Argument),
        (Distribution::Geometric { p: 1.0 }, DType::F32, Argument),
        (Distribution::Geometric { p: 0.5 }, DType::Bool, Dtype),
        (Distribution::Bernoulli { p: 1.5 }, DType::F32, Argument),
        (Distribution::Bernoulli { p: 0.5 }, DType::C64, Dtype),
        (Distribution::Integers { low, high }, DType::U8, Argument),
        (
            Distribution::Integers { low: -1, high: 1 },
            DType::Bool,
            Argument,
        ),
        (
            Distribution::Integers { low: 1, high: 0 },
            DType::I64,
            Argument,
        ),
    ] {
        assert_eq!(refused(what, dtype), kind, "{what:?} {dtype}");
    }
}

#[test]
fn samples_that_cannot_be_drawn() {
    let g = &mut Generator::new(0);
    let weights = |values: &[f32]| Raw::from_vec(values.to_vec(), &[1, values.len()]).unwrap();
    let kind = |values: &[f32], samples, replacement| {
        let drawn = call::multinomial(
            &weights(values),
            1,
            samples,
            replacement,
            &mut Generator::new(0),
        );
        drawn.unwrap_err().kind()
    };
    for (values, samples, replacement) in [
        (&[1.0, 1.0][..], 3, false),
        (&[1.0, 0.0], 2, false),
        (&[0.0, 0.0], 1, true),
        (&[1.0, -1.0], 1, true),
        (&[1.0, f32::NAN], 1, true),
        (&[1.0, f32::INFINITY], 1, false),
        (&[1.0], 0, true),
        (&[], 1, true),
    ] {
        assert_eq!(
            kind(values, samples, replacement),
            ErrorKind::Argument,
            "{values:?}"
        );
    }
    let ints = Raw::from_vec(vec![1_i64], &[1]).unwrap();
    assert_eq!(
        call::multinomial(&ints, 0, 1, true, g).unwrap_err().kind(),
        ErrorKind::DType
    );
    assert_eq!(
        call::poisson(&weights(&[-1.0]), g).unwrap_err().kind(),
        ErrorKind::Argument
    );
    assert_eq!(
        call::bernoulli(&weights(&[1.5]), g).unwrap_err().kind(),
        ErrorKind::Argument
    );
    assert_eq!(
        call::bernoulli(&ints, g).unwrap_err().kind(),
        ErrorKind::DType
    );
    assert!(randperm(300, DType::U8, Device::Cpu, g).is_err());
    assert!(randperm(usize::MAX, DType::I64, Device::Cpu, g).is_err());
    assert!(rand(&[2], DType::I64, Device::Cpu, g).is_err());
    assert!(randn(&[2], DType::I64, Device::Cpu, g).is_err());
    // An empty matrix is not an error.
    let none = Raw::zeros("zeros", &[0, 3], DType::F32, Device::Cpu).unwrap();
    assert_eq!(
        call::multinomial(&none, 1, 2, false, g).unwrap().shape(),
        [0, 2]
    );
    // An infinite rate must terminate.
    let many = call::poisson(&weights(&[f32::INFINITY, 1e30, 0.0]), g).unwrap();
    assert_eq!(many.to_vec::<f32>().unwrap()[2], 0.0);
}

#[test]
fn the_default_generator_can_be_seeded() {
    // No other test of this crate draws from it.
    let draw = || {
        manual_seed(3);
        with_default_generator(|g| rand(&[4], DType::F32, Device::Cpu, g)).unwrap()
    };
    assert_eq!(
        draw().to_vec::<f32>().unwrap(),
        draw().to_vec::<f32>().unwrap()
    );
    assert_eq!(initial_seed(), 3);
}

/// A default generator of one thread's own neither changes another one's nor is changed by it.
#[test]
fn a_thread_may_have_a_default_generator_of_its_own() {
    let draw = || {
        with_default_generator(|generator| {
            scalars(&rand(&[3], DType::F32, Device::Cpu, generator).unwrap())
        })
    };
    let wanted = with_seed(7, || [draw(), draw()]);
    let found = with_seed(7, || {
        let first = draw();
        std::thread::spawn(draw).join().unwrap();
        let within = with_seed(8, || {
            draw();
            with_seed(7, draw)
        });
        assert_eq!(within, first);
        let panics = std::panic::catch_unwind(|| with_seed(9, || panic!("{:?}", draw())));
        assert!(panics.is_err());
        assert_eq!(seed_and_offset(), (7, 3));
        [first, draw()]
    });
    assert_eq!(found, wanted);
    with_seed(1, || {
        manual_seed(7);
        assert_eq!([draw(), draw()], wanted);
    });
}

/// Returns the default generator's seed and offset.
fn seed_and_offset() -> (u64, u64) {
    with_default_generator(|generator| (generator.seed(), generator.get_offset()))
}
