//! In place, an operator writes to the buffer that is there: no copy of it is made, and no room for
//! the whole result.

#[path = "counting/mod.rs"]
mod counting;

use counting::counted;
use nomina_core::op::{Forms, Op};
use nomina_core::{DType, Scalar};
use nomina_runtime::call::{self, Arg};
use nomina_runtime::{Raw, memory};

/// So many that they are far more than any block that they pass through.
const COUNT: usize = 1 << 18;

fn ones(dtype: DType) -> Raw {
    let raw = Raw::from_vec(vec![1.0_f32; COUNT], &[COUNT / 512, 512]).unwrap();
    call::to_dtype(&raw, dtype).unwrap()
}

#[test]
fn every_elementwise_operator() {
    // Every tensor then has an allocation of its own, which is counted.
    memory::set_cap(0);
    let mut seen = 0;
    for &op in Op::ALL {
        let row = op.row();
        let Some((arity, _)) = row.expression() else {
            continue;
        };
        if !row.forms.contains(Forms::IN_PLACE) {
            continue;
        }
        let dtype = [DType::F32, DType::I32, DType::Bool]
            .into_iter()
            .find(|&dtype| row.dtypes.contains(dtype))
            .unwrap();
        let second = if op == Op::MaskedFill {
            DType::Bool
        } else {
            dtype
        };
        let others = [second, dtype].map(ones);
        let numbers = row.numbers().map(|_| Arg::Scalar(Scalar::Float(1.0)));
        let rest: Vec<Arg<'_>> = others[..arity - 1]
            .iter()
            .map(Arg::Tensor)
            .chain(numbers)
            .collect();
        // Shared with nobody, on its own; and with a gap between rows, so that no loop runs through.
        let mut whole = ones(dtype);
        let mut wider = Raw::zeros("zeros", &[COUNT / 512, 520], dtype, whole.device()).unwrap();
        wider = wider.narrow(1, 0, 512).unwrap();
        call::copy_into(wider.as_mut().unwrap(), &whole).unwrap();
        for own in [&mut whole, &mut wider] {
            let address = own.as_ptr();
            let (_, bytes, done) = counted(|| {
                let dest = own.as_mut()?;
                call::pointwise_in_place(op, dest, &rest)
            });
            done.unwrap_or_else(|error| panic!("{op:?}: {error}"));
            assert_eq!(own.as_ptr(), address, "{op:?}");
            assert!(bytes < COUNT / 8, "{op:?}: {bytes} bytes");
        }
        let same = whole.scalars().zip(wider.scalars()).take(600);
        assert!(
            same.into_iter()
                .all(|(a, b)| format!("{a}") == format!("{b}")),
            "{op:?}"
        );
        seen += 1;
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn what_somebody_else_sees_is_copied_first() {
    let mut own = ones(DType::F32);
    let seen = own.clone();
    call::pointwise_in_place(Op::Neg, own.as_mut().unwrap(), &[]).unwrap();
    assert_eq!(seen.to_vec::<f32>().unwrap()[7], 1.0);
    assert_eq!(own.to_vec::<f32>().unwrap()[7], -1.0);
}
