//! Whether attention by warpgroups gives on a device what attention by warps does, found out at its first use: a driver
//! or a compiler that does otherwise than those it was tested with would not be noticed later.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use half::{bf16, f16};
use nomina_core::op::Op;
use nomina_core::{DType, Result};

use super::by_warps;
use super::warpgroup::{Kind, Tiles};
use crate::cuda::context::Cuda;
use crate::job::{AttentionJob, AttentionPart, Matrix};
use crate::shape::{Shape, Strides};

/// What was found out of each kernel on one device.
#[derive(Debug, Default)]
pub(crate) struct Trials {
    verdicts: [OnceLock<Result<(), String>>; Kind::ALL.len()],
    /// How many attentions warpgroups have made, and how many other kernels.
    pub(in crate::cuda) by_warpgroups: AtomicU64,
    pub(in crate::cuda) by_warps: AtomicU64,
}

/// Several matrices, of several tiles, which end in the middle of one.
const BATCH: usize = 2;
const LENGTH: usize = 200;
const SOURCE: usize = 300;

/// Threads that wait for what never comes give up after a tenth of a second.
const PATIENCE: u64 = 100_000_000;

impl Trials {
    /// Whether a kernel is right on this device; what went wrong there before is an error. While a region is captured nothing
    /// is tried.
    pub(super) fn passed(cuda: &'static Cuda, kind: Kind) -> Result<bool> {
        let place = Kind::ALL.iter().position(|&other| other == kind);
        let Some(place) = place.and_then(|at| cuda.trials.verdicts.get(at)) else {
            return Ok(false);
        };
        if place.get().is_none() {
            if cuda.in_region(|_| ()).is_some() {
                return Ok(false);
            }
            let _ = place.set(verdict(cuda, kind)?);
        }
        Ok(place.get().is_some_and(Result::is_ok))
    }

    /// Why one of the kernels is not used, of those that were tried.
    pub(super) fn failed(&self) -> Result<(), String> {
        let mut verdicts = self.verdicts.iter().filter_map(OnceLock::get);
        verdicts
            .find(|verdict| verdict.is_err())
            .map_or(Ok(()), Clone::clone)
    }
}

/// Numbers between minus one and one, or not below zero, as bits: keys that should not count then make results smaller.
fn numbers(dtype: DType, count: usize, seed: u32, positive: bool) -> Vec<u16> {
    let mut state = seed;
    let mut number = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let x = (state >> 8) as f32 / 8_388_608.0 - 1.0;
        let x = if positive { x.abs() } else { x };
        match dtype {
            DType::F16 => f16::from_f32(x).to_bits(),
            _ => bf16::from_f32(x).to_bits(),
        }
    };
    (0..count).map(|_| number()).collect()
}

fn widened(dtype: DType, bits: u16) -> f32 {
    match dtype {
        DType::F16 => f16::from_bits(bits).to_f32(),
        _ => bf16::from_bits(bits).to_f32(),
    }
}

/// How far results may lie apart: weights and sums below one are rounded to as many bits as the dtype has.
fn most(dtype: DType) -> f32 {
    match dtype {
        DType::F16 => 4e-3,
        _ => 3e-2,
    }
}

fn verdict(cuda: &'static Cuda, Kind { dtype, head }: Kind) -> Result<Result<(), String>> {
    let op = Op::ScaledDotProductAttention.name();
    let rows = [LENGTH, SOURCE, SOURCE, LENGTH, LENGTH];
    let [query, key, value, left, right] =
        rows.map(|rows| cuda.scratch(op, [BATCH, rows, head, 2]));
    let buffers = [query?, key?, value?, left?, right?];
    for (i, buffer) in buffers.iter().enumerate().take(3) {
        let from = numbers(dtype, buffer.len() / 2, i as u32, i == 2);
        // SAFETY: the buffer has as many bytes.
        unsafe { cuda.write(op, buffer.as_ptr(), from.as_ptr().cast(), buffer.len())? };
    }
    // Results that nothing wrote are no numbers.
    let none = vec![u16::MAX; BATCH * LENGTH * head];
    for causal in [false, true] {
        let part = |which: usize| AttentionPart {
            matrix: Matrix {
                ptr: buffers[which].as_ptr(),
                rows: head as isize,
                cols: 1,
            },
            dtype,
            batch: Strides::from_slice(&[(rows[which] * head) as isize]),
        };
        let job = |out| AttentionJob {
            dtype,
            batch: Shape::from_slice(&[BATCH]),
            length: LENGTH,
            source: SOURCE,
            features: head,
            width: head,
            query: part(0),
            key: part(1),
            value: part(2),
            mask: None,
            out: part(out),
            scale: 0.5,
            causal,
        };
        let mut found = [none.clone(), none.clone()];
        for (buffer, none) in buffers[3..].iter().zip(&found) {
            // SAFETY: as above.
            unsafe { cuda.write(op, buffer.as_ptr(), none.as_ptr().cast(), buffer.len())? };
        }
        let Some(tiles) = Tiles::new(&job(3)) else {
            return Ok(Err("the driver does not describe tensors".to_owned()));
        };
        // SAFETY: operands as the jobs say, on a device that was found to have what the kernel uses.
        let ran = unsafe { tiles.launch(cuda, PATIENCE).and(by_warps(cuda, &job(4))) };
        if let Err(error) = ran {
            return Ok(Err(error.to_string()));
        }
        for (buffer, found) in buffers[3..].iter().zip(&mut found) {
            // SAFETY: as above.
            unsafe { cuda.read(op, found.as_mut_ptr().cast(), buffer.as_ptr(), buffer.len())? };
        }
        let [left, right] = &found;
        let apart = left.iter().zip(right);
        let apart = apart.map(|(&x, &y)| (widened(dtype, x) - widened(dtype, y)).abs());
        let wrong = apart
            .filter(|&apart| apart.is_nan() || apart > most(dtype))
            .count();
        if wrong > 0 {
            let of = left.len();
            return Ok(Err(format!(
                "wrong on this device in a trial: {wrong} of {of} {dtype} results for {head} features"
            )));
        }
    }
    Ok(Ok(()))
}
