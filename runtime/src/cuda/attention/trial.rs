//! A comparison of attention by warpgroups with attention by warps, at the first use on a device. Without it, wrong
//! results of an untested driver or compiler would go unnoticed.

use std::sync::OnceLock;

use half::{bf16, f16};
use nomina_core::op::Op;
use nomina_core::{DType, Result};

use super::warpgroup::{Tiles, WarpgroupKernel};
use super::warps;
use crate::cuda::context::Cuda;
use crate::cuda::per_device::PerDevice;
use crate::job::{AttentionJob, AttentionPart, Matrix};
use crate::shape::{Shape, Strides};

/// The result of the trial of each kernel: an error says what was wrong.
type Verdicts = [OnceLock<Result<(), String>>; WarpgroupKernel::ALL.len()];

static VERDICTS: PerDevice<Verdicts> = PerDevice::new();

/// Several matrices of several tiles, of which the last is incomplete.
const BATCH: usize = 2;
const LENGTH: usize = 200;
const SOURCE: usize = 300;

/// Nanoseconds after which a thread that waits for a barrier gives up: a tenth of a second.
const PATIENCE: u64 = 100_000_000;

/// Returns whether a kernel is right on this device, after trying it at the first call. While a region is captured
/// nothing is tried.
///
/// # Errors
/// Returns an error if work that was started before the trial failed.
pub(super) fn passed(cuda: &'static Cuda, kind: WarpgroupKernel) -> Result<bool> {
    let verdicts = VERDICTS.get_or_init(cuda.ordinal, Verdicts::default);
    let place = WarpgroupKernel::ALL.iter().position(|&other| other == kind);
    let Some(place) = place.and_then(|at| verdicts.get(at)) else {
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

/// Checks that no kernel has failed its trial on this device.
pub(super) fn check(cuda: &Cuda) -> Result<(), String> {
    let verdicts = VERDICTS.get(cuda.ordinal).into_iter().flatten();
    verdicts
        .filter_map(OnceLock::get)
        .find(|verdict| verdict.is_err())
        .map_or(Ok(()), Clone::clone)
}

/// Returns the bits of random numbers in [-1, 1), or in [0, 1] if `positive`. With positive values, a key that must not
/// count makes results smaller.
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

/// Returns the largest difference of right results: weights and sums below one are rounded to the precision of the
/// dtype.
fn tolerance(dtype: DType) -> f32 {
    match dtype {
        DType::F16 => 4e-3,
        _ => 3e-2,
    }
}

/// Tries a kernel. The inner result is the verdict.
fn verdict(
    cuda: &'static Cuda,
    WarpgroupKernel { dtype, head }: WarpgroupKernel,
) -> Result<Result<(), String>> {
    let op = Op::ScaledDotProductAttention.name();
    let rows = [LENGTH, SOURCE, SOURCE, LENGTH, LENGTH];
    let [query, key, value, left, right] =
        rows.map(|rows| cuda.scratch(op, [BATCH, rows, head, 2]));
    let buffers = [query?, key?, value?, left?, right?];
    for (i, buffer) in buffers.iter().enumerate().take(3) {
        let from = numbers(dtype, buffer.len() / 2, i as u32, i == 2);
        // SAFETY: the buffer and the numbers have this length.
        unsafe { cuda.write(op, buffer.as_ptr(), from.as_ptr().cast(), buffer.len())? };
    }
    // NaN, so that results which no thread writes are noticed.
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
        // SAFETY: operands as the jobs describe them; the caller has checked the device.
        let ran = unsafe {
            tiles
                .launch(cuda, PATIENCE)
                .and(warps::execute(cuda, &job(4)))
        };
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
            .filter(|&apart| apart.is_nan() || apart > tolerance(dtype))
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
