use nomina_core::{DType, Device};

use super::philox::rounds;
use super::*;
use crate::call::{rand, randn};

#[test]
fn philox_gives_the_published_numbers() {
    // The known answers that the authors publish with Random123.
    let zeros = rounds([0; 4], [0; 2]);
    assert_eq!(zeros, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    let ones = rounds([u32::MAX; 4], [u32::MAX; 2]);
    assert_eq!(ones, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    let pi = rounds(
        [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
        [0xa409_3822, 0x299f_31d0],
    );
    assert_eq!(pi, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
}

const N: usize = if cfg!(miri) { 1000 } else { 200_000 };

#[test]
fn moments() {
    let mut generator = Generator::new(7);
    let margin = 5.0 / (N as f64).sqrt();
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let x = rand(&[N], dtype, Device::Cpu, &mut generator).unwrap();
        let values: Vec<f64> = x.scalars().map(|x| x.to_f64()).collect();
        assert!(values.iter().all(|&x| (0.0..1.0).contains(&x)), "{dtype}");
        let mean = values.iter().sum::<f64>() / N as f64;
        assert!((mean - 0.5).abs() < margin, "{dtype}: {mean}");
        let x = randn(&[N], dtype, Device::Cpu, &mut generator).unwrap();
        let values: Vec<f64> = x.scalars().map(|x| x.to_f64()).collect();
        let mean = values.iter().sum::<f64>() / N as f64;
        let square = values.iter().map(|x| x * x).sum::<f64>() / N as f64;
        assert!(
            mean.abs() < margin && (square - 1.0).abs() < 2.0 * margin,
            "{dtype}"
        );
    }
    for dtype in [DType::C64, DType::C128] {
        let x = randn(&[N], dtype, Device::Cpu, &mut generator).unwrap();
        let square = x.scalars().map(|x| x.to_complex().norm_sqr()).sum::<f64>() / N as f64;
        assert!((square - 1.0).abs() < 2.0 * margin, "{dtype}: {square}");
    }
}

#[test]
fn a_fill_depends_on_the_seed_alone() {
    let fill = || {
        let mut generator = Generator::new(1);
        let a = rand(&[N], DType::F32, Device::Cpu, &mut generator).unwrap();
        let b = randn(&[N + 1], DType::F64, Device::Cpu, &mut generator).unwrap();
        (a.to_vec::<f32>().unwrap(), b.to_vec::<f64>().unwrap())
    };
    let here = fill();
    #[cfg(feature = "rayon")]
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        assert!(pool.install(fill) == here, "{threads} threads");
    }
    // The start of a longer fill is a shorter one; the next fill is another.
    let mut generator = Generator::new(1);
    let short = rand(&[5], DType::F32, Device::Cpu, &mut generator).unwrap();
    assert_eq!(short.to_vec::<f32>().unwrap(), here.0[..5]);
    let next = rand(&[5], DType::F32, Device::Cpu, &mut generator).unwrap();
    assert_ne!(next.to_vec::<f32>().unwrap(), here.0[..5]);
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
    assert!(rand(&[2], DType::I64, Device::Cpu, &mut Generator::new(0)).is_err());
}
