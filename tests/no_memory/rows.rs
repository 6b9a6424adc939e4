//! Every row of the table, with recorded calls on enlarged operands.

use nomina::{DType, DynTensor, Names, Result};
use nomina_by_name::{Bound, Form, Value, invoke};
use nomina_core::op::{Op, Status};

use crate::inputs::{Inputs, principal};
use crate::recorded::{self, Call};
use crate::{tell, until_it_succeeds};

/// The approximate number of elements of the largest operand.
const ELEMENTS: usize = 3000;

/// The maximum number of elements of a result. A larger one allocates enough blocks that refusing each in turn takes
/// minutes.
const MOST: usize = 4_000_000;

/// The number of recorded calls per row.
const CALLS: usize = 2;

fn bound(op: Op, inputs: &Inputs) -> Result<Bound> {
    Bound::new(op, inputs.args.clone(), inputs.kwargs.clone())
}

fn run(op: Op, form: Form, inputs: &Inputs) -> Result<Value> {
    invoke(op, form, bound(op, inputs)?)
}

/// Repeats the elements along every dim longer than one.
fn longer(x: &DynTensor, times: usize) -> Result<DynTensor> {
    if x.rank() == 0 {
        return Ok(x.clone());
    }
    let names = x.names().clone();
    let bare = DynTensor::from_parts(x.clone().into_parts().0, Names::unnamed(x.rank()))?;
    let count = |&size: &usize| if size > 1 { times as i64 } else { 1 };
    let counts: Vec<i64> = x.shape().iter().map(count).collect();
    DynTensor::from_parts(bare.repeat(&counts)?.into_parts().0, names)
}

/// Returns the factor that makes the largest operand large enough.
fn factor(inputs: &Inputs) -> usize {
    let tensors = inputs.tensors();
    let largest = tensors.iter().max_by_key(|x| x.numel());
    let Some(largest) = largest.filter(|x| x.numel() > 1) else {
        return 1;
    };
    let dims = largest.shape().iter().filter(|&&size| size > 1).count();
    let times = (ELEMENTS as f64 / largest.numel() as f64).powf(1.0 / dims as f64);
    (times.ceil() as usize).max(1)
}

/// Returns the call's inputs in a dtype, enlarged if the operator accepts that, and whether they are.
fn enlarged(op: Op, call: &Call, dtype: Option<DType>) -> Option<(Inputs, bool)> {
    let mut inputs = Inputs::of(call);
    if let Some(dtype) = dtype {
        inputs = inputs.in_dtype(principal(call)?, dtype).ok()?;
    }
    let times = factor(&inputs);
    let long = inputs.map(&mut |x| longer(x, times)).ok()?;
    let small = |result: Value| match result {
        Value::Tensor(x) => x.numel() <= MOST,
        _ => true,
    };
    if times > 1 && run(op, call.form, &long).is_ok_and(small) {
        return Some((long, true));
    }
    run(op, call.form, &inputs)
        .is_ok()
        .then_some((inputs, false))
}

pub fn all() {
    let only = std::env::var("NOMINA_ROW").ok();
    let calls = recorded::by_row();
    let (mut rows, mut long, mut missing) = (0, 0, 0);
    let mut wrong = Vec::new();
    for &op in Op::ALL {
        let name = op.name();
        let skipped = only.as_deref().is_some_and(|only| only != name);
        let Some(calls) = calls.get(name).filter(|_| !skipped) else {
            continue;
        };
        if op.row().status != Status::Built {
            continue;
        }
        rows += 1;
        let half = op.row().dtypes.contains(DType::BF16);
        let in_half = calls.iter().take(usize::from(half));
        let in_half = in_half.map(|call| (call, Some(DType::BF16)));
        let as_recorded = calls.iter().take(CALLS).map(|call| (call, None));
        for (call, dtype) in as_recorded.chain(in_half) {
            let Some((inputs, is_long)) = enlarged(op, call, dtype) else {
                continue;
            };
            tell(&format!("{} {}", call.id, dtype.map_or("", |_| "bf16")));
            long += usize::from(is_long);
            let bind = || bound(op, &inputs);
            match until_it_succeeds(bind, |args| invoke(op, call.form, args)) {
                Ok(times) => missing += times,
                Err(what) => wrong.push(format!("{name} ({}): {what}", call.id)),
            }
        }
    }
    println!("{rows} rows, {long} calls made longer, memory missed {missing} times");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(only.is_some() || (rows > 300 && long > 600 && missing > 2000));
}
