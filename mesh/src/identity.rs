//! The identity elements of max and min, for ranks that hold no elements.

use nomina::{DType, DynTensor, Name, Names, Result, Scalar};
use nomina_core::mesh::Combine;

/// Returns the contribution of a rank without elements to a max or min over split dims: the least or the greatest
/// number of the dtype. `None` if the rank has elements, or if the combiner accepts an empty piece.
pub(crate) fn identity_if_empty(
    local: &DynTensor,
    dims: &Names,
    combine: Combine,
) -> Result<Option<DynTensor>> {
    let is_reduced = |name: &Option<Name>| dims.iter().any(|dim| dim == name);
    let each = || local.names().iter().zip(local.shape());
    let empty = each().any(|(name, &size)| size == 0 && is_reduced(name));
    let least = match combine {
        Combine::Max => true,
        Combine::Min => false,
        _ => return Ok(None),
    };
    if !empty {
        return Ok(None);
    }
    let stay = each().filter(|(name, _)| !is_reduced(name));
    let (names, shape): (Vec<Option<Name>>, Vec<usize>) =
        stay.map(|(name, &size)| (name.clone(), size)).unzip();
    let mut found = DynTensor::options()
        .dtype(local.dtype())
        .device(local.device())
        .empty(&shape, Names::new(names)?)?;
    found.fill_(extreme_number(local.dtype(), least))?;
    Ok(Some(found))
}

/// Returns zeros in the sizes of a tensor, but of size 1 along `dim`.
pub(crate) fn zero_row(x: &DynTensor, dim: usize) -> Result<DynTensor> {
    let mut shape = x.shape().to_vec();
    shape[dim] = 1;
    let options = DynTensor::options().dtype(x.dtype()).device(x.device());
    options.zeros(&shape, x.names().clone())
}

/// Like [`zero_row`], but filled with the identity of `combine`: the least number of the dtype for max, the greatest
/// for min.
pub(crate) fn extreme_row(x: &DynTensor, dim: usize, combine: Combine) -> Result<DynTensor> {
    let mut row = zero_row(x, dim)?;
    row.fill_(extreme_number(x.dtype(), combine == Combine::Max))?;
    Ok(row)
}

pub(crate) fn extreme_number(dtype: DType, least: bool) -> Scalar {
    let pick = |low: i64, high: i64| Scalar::Int(if least { low } else { high });
    match dtype {
        DType::Bool => Scalar::Bool(!least),
        DType::U8 => pick(0, u8::MAX.into()),
        DType::I8 => pick(i8::MIN.into(), i8::MAX.into()),
        DType::I16 => pick(i16::MIN.into(), i16::MAX.into()),
        DType::I32 => pick(i32::MIN.into(), i32::MAX.into()),
        DType::I64 => pick(i64::MIN, i64::MAX),
        _ => Scalar::Float(if least {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_no_numbers_is_less_than_all() {
        for dtype in [
            DType::U8,
            DType::I64,
            DType::F16,
            DType::BF16,
            DType::F64,
            DType::Bool,
        ] {
            let none = DynTensor::options()
                .dtype(dtype)
                .empty(&[0, 2], ["N", "C"])
                .unwrap();
            let dims = Names::new([Some(Name::new("N").unwrap())]).unwrap();
            let least = identity_if_empty(&none, &dims, Combine::Max)
                .unwrap()
                .unwrap();
            let most = identity_if_empty(&none, &dims, Combine::Min)
                .unwrap()
                .unwrap();
            assert_eq!(least.shape(), [2]);
            let all = least.le(&most).unwrap().all(..).unwrap();
            assert_eq!(all.to_vec::<bool>().unwrap(), [true]);
            assert!(
                identity_if_empty(&none, &dims, Combine::Add)
                    .unwrap()
                    .is_none()
            );
        }
    }
}
