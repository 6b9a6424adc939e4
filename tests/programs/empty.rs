//! Operators on empty tensors with large sizes, which must return quickly.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use nomina::{DType, DynTensor};
use nomina_by_name::call;
use nomina_core::op::Op;

use super::super::bytes::Bytes;
use super::{args, as_call};

const LARGE: usize = 1 << 40;
const SHAPES: [&[usize]; 5] = [
    &[LARGE, 0],
    &[0, LARGE],
    &[LARGE, 0, 3],
    &[2, LARGE, 0],
    &[0, LARGE, 2],
];

/// Runs an operator in a thread, which describes each call just before it begins.
fn calls(op: Op, rounds: u64) -> Receiver<String> {
    let (told, calls) = channel();
    std::thread::spawn(move || {
        for seed in 0..rounds {
            let mut bytes = Bytes::Random(seed);
            let dtype = bytes.pick(&DType::ALL);
            let empty = DynTensor::options().dtype(dtype);
            let empty = empty
                .zeros(bytes.pick(&SHAPES), ())
                .expect("no memory is needed");
            let turned = empty.transpose(-1, -2).expect("two dims");
            let given = args::given(op, &mut bytes, &[empty, turned]);
            let shown: Vec<String> = given
                .iter()
                .map(|(name, value)| format!("{name} = {}", args::shown(value)))
                .collect();
            if told
                .send(format!("{}: {}", op.name(), shown.join(", ")))
                .is_err()
            {
                return;
            }
            let (spelling, values, named) = as_call(op, false, given);
            // Panics are found by other tests.
            let _ = catch_unwind(AssertUnwindSafe(|| call(&spelling, values, named)));
        }
    });
    calls
}

/// Returns the calls that did not end within a generous time limit.
pub fn endless(rounds: u64) -> Vec<String> {
    let mut wrong = Vec::new();
    for &op in args::operators() {
        let calls = calls(op, rounds);
        let mut last = String::new();
        loop {
            match calls.recv_timeout(Duration::from_secs(20)) {
                Ok(next) => last = next,
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                Err(_) => {
                    wrong.push(last);
                    break;
                }
            }
        }
    }
    wrong
}
