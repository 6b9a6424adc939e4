//! In place, an operator writes to the existing buffer: it makes no copy, and allocates no buffer
//! of the result's size.

#[path = "counting/mod.rs"]
mod counting;

use counting::counted;
use nomina_core::op::{Forms, Op};
use nomina_core::{DType, Scalar};
use nomina_runtime::call::{self, Arg};
use nomina_runtime::{Raw, memory};

/// Far more elements than any temporary block holds.
const COUNT: usize = 1 << 18;

fn numbers(dtype: DType) -> Raw {
    let data = (0..COUNT).map(|i| (i % 97 + 1) as f32 / 64.0).collect();
    let raw = Raw::from_vec(data, &[COUNT / 512, 512]).unwrap();
    call::to_dtype(&raw, dtype).unwrap()
}

/// Returns the bits of the elements, with all NaNs equal.
fn bits(raw: &Raw) -> Vec<u64> {
    let wide = call::contiguous(&call::to_dtype(raw, DType::F64).unwrap()).unwrap();
    let bits = |x: &f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    wide.as_slice::<f64>().unwrap().iter().map(bits).collect()
}

#[test]
fn every_elementwise_operator() {
    // Disable the cache, so that every tensor is a separate allocation and is counted.
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
        let others = [second, dtype].map(numbers);
        let extra = row.numbers().map(|_| Arg::Scalar(Scalar::Float(1.0)));
        let rest: Vec<Arg<'_>> = others[..arity - 1]
            .iter()
            .map(Arg::Tensor)
            .chain(extra)
            .collect();
        let x = numbers(dtype);
        let args: Vec<Arg<'_>> = std::iter::once(Arg::Tensor(&x))
            .chain(rest.iter().copied())
            .collect();
        let wanted = call::pointwise(op, &args).unwrap();
        let wanted = bits(&call::to_dtype(&wanted, dtype).unwrap());
        // Unshared: contiguous, and with a gap between rows, so that a single loop cannot cover it.
        let mut whole = numbers(dtype);
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
        for own in [&whole, &wider] {
            assert!(bits(own) == wanted, "{op:?}");
        }
        seen += 1;
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn what_somebody_else_sees_is_copied_first() {
    let mut own = numbers(DType::F32);
    let seen = own.clone();
    call::pointwise_in_place(Op::Neg, own.as_mut().unwrap(), &[]).unwrap();
    assert_eq!(seen.to_vec::<f32>().unwrap()[7], 0.125);
    assert_eq!(own.to_vec::<f32>().unwrap()[7], -0.125);
}
