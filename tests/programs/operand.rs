//! Tensors of all dtypes, names and layouts.

use nomina::{DType, DynTensor, Name, Names};

use super::super::bytes::Bytes;

const NAMES: [&str; 5] = ["A", "B", "C", "D", "E"];
const SIZES: [usize; 12] = [0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 7, 17];
const DTYPES: [DType; 16] = [
    DType::F32,
    DType::F32,
    DType::F64,
    DType::F64,
    DType::I64,
    DType::I64,
    DType::Bool,
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::F16,
    DType::BF16,
    DType::C64,
    DType::C128,
    DType::F32,
];

/// Returns a tensor that is often a view of a view.
pub fn any(bytes: &mut Bytes<'_>) -> DynTensor {
    let rank = bytes.pick(&[0, 1, 1, 2, 2, 2, 3, 3, 4]);
    let shape: Vec<usize> = (0..rank).map(|_| bytes.pick(&SIZES)).collect();
    let shape = if shape.iter().product::<usize>() > 600 {
        vec![2; rank]
    } else {
        shape
    };
    let mut tensor = of(bytes, &shape);
    for _ in 0..bytes.below(4) {
        if let Some(view) = viewed(bytes, &tensor) {
            tensor = view;
        }
    }
    named(bytes, tensor)
}

/// Returns a row-major tensor of these sizes, mostly of whole numbers, so that sums and products
/// are exact.
pub fn of(bytes: &mut Bytes<'_>, shape: &[usize]) -> DynTensor {
    let dtype = bytes.pick(&DTYPES);
    let special = dtype.is_float() && bytes.once_in(12);
    let count: usize = shape.iter().product();
    let data: Vec<f64> = (0..count)
        .map(|_| {
            if special {
                return bytes.pick(&[
                    0.0,
                    -0.0,
                    f64::NAN,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    1.0,
                    0.5,
                    -2.0,
                ]);
            }
            let number = bytes.below(9) as f64;
            if dtype == DType::U8 || dtype == DType::Bool {
                number
            } else {
                number - 3.0
            }
        })
        .collect();
    let tensor = DynTensor::from_vec(data, shape, ()).expect("sizes fit");
    tensor.to_dtype(dtype).expect("any dtype")
}

fn viewed(bytes: &mut Bytes<'_>, x: &DynTensor) -> Option<DynTensor> {
    let rank = x.rank();
    if rank == 0 {
        return x.expand(&[bytes.below(4) as i64]).ok();
    }
    let dim = bytes.below(rank);
    let at = dim as i64;
    let (shape, strides) = (x.shape().to_vec(), x.strides().to_vec());
    let size = shape[dim];
    match bytes.below(7) {
        0 => x.transpose(at, bytes.below(rank) as i64).ok(),
        1 => {
            let start = bytes.below(size + 1);
            let len = bytes.below(size - start + 1);
            x.narrow(at, start as i64, len).ok()
        }
        2 if size > 0 => x.select(at, bytes.below(size) as i64).ok(),
        3 => {
            let mut wanted: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
            wanted.insert(0, 1 + bytes.below(3) as i64);
            x.expand(&wanted).ok()
        }
        // Every second element, or all in reverse order.
        4 if size > 1 && x.numel() > 0 => {
            let (mut shape, mut strides) = (shape, strides);
            shape[dim] = size.div_ceil(2);
            strides[dim] *= 2;
            x.as_strided(&shape, &strides, x.raw().offset()).ok()
        }
        5 if size > 0 && x.numel() > 0 => {
            let mut strides = strides;
            let end = x.raw().offset() as isize + strides[dim] * (size as isize - 1);
            strides[dim] = -strides[dim];
            x.as_strided(&shape, &strides, end as usize).ok()
        }
        6 => {
            let mut wanted: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
            if size == 1 {
                wanted[dim] = 3;
            }
            x.expand(&wanted).ok()
        }
        _ => None,
    }
}

/// Adds names: none, some, or all, each at most once.
fn named(bytes: &mut Bytes<'_>, x: DynTensor) -> DynTensor {
    let style = bytes.below(4);
    if style < 2 || x.rank() > NAMES.len() {
        return x;
    }
    let from = bytes.below(NAMES.len());
    let mut names = Vec::new();
    for at in 0..x.rank() {
        let name = Name::new(NAMES[(from + at) % NAMES.len()]).expect("a name");
        names.push((style == 2 || bytes.below(3) > 0).then_some(name));
    }
    let names = Names::new(names).expect("names that differ");
    DynTensor::from_parts(x.into_parts().0, names).expect("a name for each dim")
}
