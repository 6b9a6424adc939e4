//! Every elementwise operator in every dtype on a device against the host: special values, all pairs of them, and all
//! operand layouts.
//!
//! Operators share a kernel whose code path depends on dtypes and layouts, not on the operator. So all layouts, and
//! numbers in place of tensors, run for one operator of each operand count in every dtype. For the other operators, a
//! sample of operators and dtypes runs the cases that need no module of their own; with `NOMINA_EVERY=1` everything
//! runs.
#![cfg(feature = "cuda")]

#[path = "cuda/here.rs"]
mod here;
#[path = "cuda_map/layouts.rs"]
mod layouts;
#[path = "cuda_map/near.rs"]
mod near;
#[path = "cuda/sample.rs"]
mod sample;
#[path = "cuda_map/values.rs"]
mod values;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use layouts::{ENOUGH, Layout};
use near::Near;
use nomina::{DType, Device, Scalar};
use nomina_core::Result;
use nomina_core::op::Op;
use nomina_runtime::call::{self, Arg};
use nomina_runtime::{Raw, cuda};
use sample::some;
use values::Tame;

/// One operator of each operand count, run in all layouts.
const THOROUGH: [Op; 5] = [Op::Neg, Op::Add, Op::Where, Op::Addcmul, Op::Isclose];

/// An operand of a call.
#[derive(Clone)]
enum Operand {
    Tensor(Raw),
    Number(Scalar),
}

impl Operand {
    fn arg(&self) -> Arg<'_> {
        match self {
            Self::Tensor(x) => x.into(),
            Self::Number(value) => (*value).into(),
        }
    }
}

fn compute(op: Op, operands: &[Operand]) -> Result<Raw> {
    let args: Vec<Arg<'_>> = operands.iter().map(Operand::arg).collect();
    call::pointwise(op, &args)
}

/// The operands of an operator on both devices, each [`ENOUGH`] elements or a number.
struct Call {
    op: Op,
    host: Vec<Operand>,
    device: Vec<Operand>,
}

impl Call {
    fn new(op: Op, dtype: DType, tame: Tame, device: Device) -> Result<Self> {
        let (row, (tensors, _)) = (op.row(), op.row().expression().unwrap_or_default());
        let mut host = Vec::new();
        for place in 0..tensors {
            let x = values::operand(dtype, place, ENOUGH, tame);
            let condition = matches!((op, place), (Op::Where, 0) | (Op::MaskedFill, 1));
            host.push(Operand::Tensor(if condition {
                values::condition(&x)
            } else {
                x
            }));
        }
        for number in row.numbers() {
            let given = number.default.and_then(|text| text.parse::<f64>().ok());
            host.push(Operand::Number(Scalar::Float(given.unwrap_or(0.5))));
        }
        let there = |one: &Operand| {
            Ok(match one {
                Operand::Tensor(x) => Operand::Tensor(call::to_device(x, device)?),
                Operand::Number(value) => Operand::Number(*value),
            })
        };
        let device = host.iter().map(there).collect::<Result<_>>()?;
        Ok(Self { op, host, device })
    }

    /// Returns the operands in a layout, with the operands at `numbers` replaced by numbers.
    fn views(
        &self,
        operands: &[Operand],
        layout: Layout,
        numbers: &[(usize, Scalar)],
    ) -> Result<Vec<Operand>> {
        let of = |(place, one): (usize, &Operand)| {
            if let Some((_, value)) = numbers.iter().find(|(at, _)| *at == place) {
                return Ok(Operand::Number(*value));
            }
            Ok(match one {
                Operand::Tensor(x) => Operand::Tensor(layout.view(x, place)?),
                number @ Operand::Number(_) => number.clone(),
            })
        };
        operands.iter().enumerate().map(of).collect()
    }

    /// Compares both devices. Returns `false` if both fail with the same kind of error.
    fn check(
        &self,
        layout: Layout,
        numbers: &[(usize, Scalar)],
        near: Near,
    ) -> Result<bool, String> {
        let said = |error: nomina::Error| error.to_string();
        let host = self.views(&self.host, layout, numbers).map_err(said)?;
        let device = self.views(&self.device, layout, numbers).map_err(said)?;
        let (want, got) = (compute(self.op, &host), compute(self.op, &device));
        let (want, got) = match (want, got) {
            (Ok(want), Ok(got)) => (want, got),
            (Err(want), Err(got)) if want.kind() == got.kind() => return Ok(false),
            (want, got) => return Err(format!("{:?}, not {:?}", got.err(), want.err())),
        };
        let got = call::to_device(&got, Device::Cpu).map_err(said)?;
        let tensors: Vec<Raw> = host
            .iter()
            .filter_map(|one| match one {
                Operand::Tensor(x) => Some(x.clone()),
                Operand::Number(_) => None,
            })
            .collect();
        let whole = Layout::whole(&tensors, &want).map_err(said)?;
        near::same(&got, &want, &whole, near)?;
        Ok(true)
    }
}

/// The results of all calls.
#[derive(Default)]
struct Seen {
    calls: AtomicUsize,
    refused: AtomicUsize,
    failures: Mutex<Vec<String>>,
}

impl Seen {
    fn fail(&self, what: String) {
        self.failures
            .lock()
            .expect("no panic while it is held")
            .push(what);
    }

    /// Runs one operator in one dtype.
    fn see(&self, op: Op, dtype: DType, device: Device) {
        let compute = op.row().dtype.resolve(dtype, DType::F32).compute;
        let near = Near::of(op, compute);
        let thorough = THOROUGH.contains(&op) || sample::every();
        let layouts: &[Layout] = if thorough {
            &Layout::ALL
        } else {
            &Layout::COMMON
        };
        let mut any = false;
        // Operators that refuse zeros or negative numbers run again without them.
        for tame in [Tame::No, Tame::Yes] {
            let call = match Call::new(op, dtype, tame, device) {
                Ok(call) => call,
                Err(error) => return self.fail(format!("{} {dtype}: {error}", op.name())),
            };
            let mut checked = |layout, numbers: &[(usize, Scalar)]| {
                self.calls.fetch_add(1, Ordering::Relaxed);
                match call.check(layout, numbers, near) {
                    Ok(true) => any |= layout == Layout::Contiguous,
                    Ok(false) => drop(self.refused.fetch_add(1, Ordering::Relaxed)),
                    Err(what) => self.fail(format!(
                        "{} {dtype} {layout:?} {numbers:?} {tame:?}: {what}",
                        op.name()
                    )),
                }
            };
            for &layout in layouts {
                checked(layout, &[]);
            }
            let (tensors, _) = op.row().expression().unwrap_or_default();
            if thorough && tensors > 1 {
                for place in 0..tensors {
                    let number = (place, values::number(dtype, place));
                    checked(Layout::Contiguous, &[number]);
                    checked(Layout::Steps, &[number]);
                }
            }
            if any {
                break;
            }
        }
        if !any {
            self.fail(format!("{} {dtype}: nothing was computed", op.name()));
        }
    }
}

/// Fails with some of the failures, or prints the number of cases.
fn report(what: &str, seen: &Seen) {
    let failures = seen.failures.lock().expect("no panic while it is held");
    println!(
        "{what}: {} calls, {} refused by both, {} failures",
        seen.calls.load(Ordering::Relaxed),
        seen.refused.load(Ordering::Relaxed),
        failures.len()
    );
    let some: Vec<&str> = failures.iter().take(60).map(String::as_str).collect();
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        some.join("\n")
    );
}

/// Shares work between threads, since each kernel is compiled by a separate process.
fn shared<T: Sync>(work: &[T], each: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(one) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    each(one);
                }
            });
        }
    });
}

#[test]
fn every_operator_in_every_dtype() {
    let _here = here::device!(&[&[("NOMINA_FAKE_ORDER", "7")]]);
    let only = std::env::var("NOMINA_ROW").ok();
    let asked = |op: &&Op| only.as_deref().is_none_or(|only| only == op.name());
    let elementwise = Op::ALL.iter().filter(|op| op.row().expression().is_some());
    let work: Vec<(Op, DType)> = elementwise
        .filter(asked)
        .flat_map(|&op| op.row().dtypes.iter().map(move |dtype| (op, dtype)))
        .collect();
    let work = if only.is_some() { work } else { some(work) };
    let seen = Seen::default();
    shared(&work, |&(op, dtype)| seen.see(op, dtype, here::DEVICE));
    here::cases(seen.calls.load(Ordering::Relaxed));
    report(&format!("{} operators and dtypes", work.len()), &seen);
    let by_host = cuda::by_host();
    assert!(!by_host.contains_key("pointwise"), "{by_host:?}");
}
