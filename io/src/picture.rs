//! Conversions between images and tensors of dims (row, column) or (row, column, channel).

use nomina::{DType, DynTensor, Error, ErrorKind, Result};

use crate::open::{OpenAs, open_refined};

/// Opens an image with three dims, or with two if the type has two and there is one channel.
pub(crate) fn opened<X: OpenAs>(op: &'static str, mut image: DynTensor) -> Result<X> {
    if let ([rows, columns, 1], 2) = (image.shape(), X::NAMES.len()) {
        image = image.reshape(&[*rows as i64, *columns as i64])?;
    }
    open_refined(op, image)
}

/// Returns the rows, columns and channels of an image; there are one to four channels.
pub(crate) fn sizes(op: &'static str, shape: &[usize]) -> Result<[usize; 3]> {
    let sizes = match *shape {
        [rows, columns] => [rows, columns, 1],
        [rows, columns, channels] => [rows, columns, channels],
        _ => {
            let what = "an image has dims (row, column) or (row, column, channel)";
            let error = Error::new(ErrorKind::Rank, op, what);
            return Err(error.hint("select along other dims first"));
        }
    };
    if (1..=4).contains(&sizes[2]) {
        return Ok(sizes);
    }
    let what = format!(
        "an image has 1 to 4 channels, its last dim, not {}",
        sizes[2]
    );
    let hint = "align it first, so that channels are its last dim";
    Err(Error::new(ErrorKind::Shape, op, what).hint(hint))
}

/// Converts each element to a byte.
pub(crate) fn samples(op: &'static str, tensor: DynTensor) -> Result<Vec<u8>> {
    let dtype = tensor.dtype();
    match dtype {
        DType::U8 => tensor.into_parts().0.detach().into_vec::<u8>(),
        DType::Bool => {
            let all = tensor.to_vec::<bool>()?.into_iter();
            Ok(all.map(|white| if white { 255 } else { 0 }).collect())
        }
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            let values = tensor.detach().to_dtype(DType::F32)?.to_vec::<f32>()?;
            if let Some(mut at) = values.iter().position(|value| value.is_nan()) {
                let mut place = Vec::new();
                for &size in tensor.shape().iter().rev() {
                    place.insert(0, at % size);
                    at /= size;
                }
                let what = format!("element {place:?} is NaN, not a pixel value");
                let hint = "replace them with `nan_to_num`";
                return Err(Error::new(ErrorKind::Argument, op, what).hint(hint));
            }
            let byte = |value: f32| (value.clamp(0.0, 1.0) * 255.0).round() as u8;
            Ok(values.into_iter().map(byte).collect())
        }
        _ => {
            let what = format!("pixels are `u8`, floats from 0 to 1 or bools, not {dtype}");
            let hint = "convert it with `to::<u8>()`";
            Err(Error::new(ErrorKind::DType, op, what).hint(hint))
        }
    }
}
