//! Operators that write into an unshared tensor.

use nomina::{DType, DynTensor, Result};
use nomina_runtime::tensor::Operand;

use crate::{tell, until_it_succeeds};

const N: usize = 96;

fn numbers(dtype: DType) -> DynTensor {
    let values: Vec<f64> = (0..N * N)
        .map(|i| (i * 7 % 31) as f64 / 2.0 - 7.0)
        .collect();
    let x = DynTensor::from_vec(values, &[N, N], ()).expect("as many as sizes say");
    x.to_dtype(dtype).expect("a dtype")
}

fn index() -> DynTensor {
    let values: Vec<i64> = (0..N as i64).map(|i| i * 5 % N as i64).collect();
    DynTensor::from_vec(values, &[N], ()).expect("as many as sizes say")
}

type Call<'a> = (&'a str, &'a dyn Fn(&mut DynTensor) -> Result<()>);

/// Returns the bits of the elements.
pub fn held(x: &DynTensor) -> Vec<u64> {
    let wide = x.to_dtype(DType::F64).expect("a dtype");
    let wide = wide.to_vec::<f64>().expect("elements of f64");
    wide.into_iter().map(f64::to_bits).collect()
}

pub fn all() {
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::I32] {
        let (other, at) = (numbers(dtype), index());
        let flipped = other.transpose(0, 1).expect("two dims");
        let mask = other.gt(3).expect("numbers in order");
        let along = at
            .unsqueeze(1, None)
            .expect("a dim")
            .expand(&[N as i64, N as i64]);
        let along = along.expect("sizes that fit");
        let zeros = other.mul(0).expect("numbers");
        let calls: &[Call<'_>] = &[
            ("add", &|x| x.add_(&other).map(drop)),
            ("mul", &|x| x.mul_(&flipped).map(drop)),
            ("sub", &|x| x.sub_(2).map(drop)),
            ("clamp", &|x| {
                x.clamp_(Operand::from(1), Operand::from(3)).map(drop)
            }),
            ("abs", &|x| x.abs_().map(drop)),
            ("cumsum", &|x| x.cumsum_(0).map(drop)),
            ("cumprod", &|x| x.cumprod_(1).map(drop)),
            ("copy", &|x| x.copy_(&zeros).map(drop)),
            ("masked_fill", &|x| x.masked_fill_(&mask, 2).map(drop)),
            ("masked_scatter", &|x| {
                x.masked_scatter_(&mask, &zeros).map(drop)
            }),
            ("index_add", &|x| x.index_add_(0, &at, &other).map(drop)),
            ("index_copy", &|x| x.index_copy_(1, &at, &zeros).map(drop)),
            ("index_fill", &|x| x.index_fill_(1, &at, 9).map(drop)),
            ("scatter_add", &|x| {
                x.scatter_add_(1, &along, &other).map(drop)
            }),
            ("addmm", &|x| {
                x.addmm_(&other, &other, Default::default()).map(drop)
            }),
            ("tril", &|x| x.tril_().map(drop)),
        ];
        for (op, call) in calls {
            tell(&format!("{op}_ {dtype}"));
            let before = held(&numbers(dtype));
            // Whether a call fails is only known afterwards, so each gets a new tensor.
            let mut refused = 0;
            loop {
                let mut x = numbers(dtype);
                let granted = refused;
                let (result, missed) = crate::allocator::with_only(granted, || call(&mut x));
                match result {
                    Ok(()) if !missed => break,
                    Ok(()) => {}
                    Err(error) => {
                        assert_eq!(error.kind(), nomina::ErrorKind::Memory, "{op}: {error}");
                        assert!(held(&x) == before, "{op}_ of {dtype}: changed, and failed");
                    }
                }
                refused += 1;
            }
            let mut x = numbers(dtype);
            call(&mut x).expect("with memory");
            assert!(held(&x) != before, "{op}_ of {dtype} does nothing");
        }
    }
    // The opposite case, once: a shared tensor has to be copied.
    let kept = numbers(DType::F32);
    let arguments = || Ok(kept.clone());
    let missing = until_it_succeeds(arguments, |mut x| x.neg_().map(drop));
    assert!(missing > Ok(0) && held(&kept) == held(&numbers(DType::F32)));
}
