//! Columns of tensors: the extension type `arrow.fixed_shape_tensor`.
//!
//! The metadata are written and parsed here, because `arrow-schema` 60 spells the key `permutation` of the
//! specification as `permutations`, which other readers ignore.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeListArray};
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType, Field};
use nomina::{DynTensor, Error, ErrorKind, Name, Names, Result};
use serde_json::{Map, Value, json};

use super::elements::{self, Nulls};
use super::{failed, unsupported};
use crate::variable::{Data, Variable};

/// The name of the extension type.
const EXTENSION: &str = "arrow.fixed_shape_tensor";

/// Converts a tensor to a column of a name: a row for each position along the first dim. A tensor of one dim is a column
/// of numbers; one of more dims is a column of the extension type `arrow.fixed_shape_tensor`, with the names of its other
/// dims. Elements are shared without a copy if they are contiguous for some order of these dims, which the column states.
///
/// # Errors
/// Returns [`ErrorKind::Rank`] for a tensor without dims; [`ErrorKind::DType`] for `bf16` and complex numbers;
/// [`ErrorKind::Shape`] if a row has no elements or more than 2³¹; [`ErrorKind::Device`] if the tensor is not on the
/// host.
pub fn tensor_to_array(name: &str, tensor: &DynTensor) -> Result<(Field, ArrayRef)> {
    to_array("tensor_to_array", name, tensor)
}

pub(super) fn to_array(
    op: &'static str,
    name: &str,
    tensor: &DynTensor,
) -> Result<(Field, ArrayRef)> {
    let refuse = |kind: ErrorKind, what: &str| {
        Error::new(kind, op, what).operand(tensor.names(), tensor.shape())
    };
    if tensor.rank() == 0 {
        let hint = "add a dim of rows: `unsqueeze`";
        return Err(refuse(ErrorKind::Rank, "a tensor without dims has no rows").hint(hint));
    }
    if !tensor.device().is_cpu() {
        return Err(
            refuse(ErrorKind::Device, "the tensor is not on the host").hint("move it: `cpu`")
        );
    }
    if tensor.rank() == 1 {
        let array = elements::to_array(op, &tensor.contiguous()?)?;
        return Ok((Field::new(name, array.data_type().clone(), false), array));
    }
    // The order in which the elements lie, if they have no gaps.
    let mut order: Vec<usize> = (1..tensor.rank()).collect();
    order.sort_by_key(|&dim| std::cmp::Reverse(tensor.strides()[dim]));
    let all: Vec<i64> = std::iter::once(0)
        .chain(order.iter().map(|&dim| dim as i64))
        .collect();
    let mut stored = tensor.permute(&all[..])?;
    if !stored.is_contiguous() {
        order = (1..tensor.rank()).collect();
        stored = tensor.contiguous()?;
    }
    let row = &stored.shape()[1..];
    let size: usize = row.iter().product();
    let Some(size) = i32::try_from(size).ok().filter(|&size| size > 0) else {
        let what = format!("rows of {size} elements");
        return Err(refuse(ErrorKind::Shape, &what).hint("Arrow's rows have 1 to 2147483647"));
    };
    let mut metadata = Map::new();
    metadata.insert("shape".to_owned(), json!(row));
    let names = stored.names().iter().skip(1);
    let names: Vec<&str> = names
        .map(|name| name.as_ref().map_or("", Name::as_str))
        .collect();
    if names.iter().any(|name| !name.is_empty()) {
        metadata.insert("dim_names".to_owned(), json!(names));
    }
    if !order.is_sorted() {
        // The position in `order` of each dim of the tensor.
        let places = (1..tensor.rank()).map(|dim| order.iter().position(|&own| own == dim));
        metadata.insert("permutation".to_owned(), json!(places.collect::<Vec<_>>()));
    }
    let values = elements::to_array(op, &stored)?;
    let item = Arc::new(Field::new("item", values.data_type().clone(), false));
    let rows = FixedSizeListArray::try_new(item, size, values, None);
    let rows = rows.map_err(|error| failed(op, &error))?;
    let metadata = [
        (EXTENSION_TYPE_NAME_KEY.to_owned(), EXTENSION.to_owned()),
        (
            EXTENSION_TYPE_METADATA_KEY.to_owned(),
            Value::Object(metadata).to_string(),
        ),
    ];
    let field = Field::new(name, rows.data_type().clone(), false).with_metadata(metadata);
    Ok((field, Arc::new(rows)))
}

/// Converts a column to a tensor whose first dim has the name `rows`. A column of numbers has no other dim; one of the
/// extension type `arrow.fixed_shape_tensor` has those of its tensors, with their names; any other column of lists of
/// one length has one dim without a name. Elements are shared without a copy, except truth values and unsigned integers.
///
/// # Errors
/// Returns [`ErrorKind::DType`] for elements that no tensor has; [`ErrorKind::Argument`] for a null that `nulls` refuses;
/// [`ErrorKind::Parse`] for metadata of the extension type that are broken; [`ErrorKind::DuplicateNames`] if a name is
/// there twice; [`ErrorKind::InvalidName`] if `rows` or a name of the column is no identifier.
pub fn tensor_from_array(
    field: &Field,
    array: &dyn Array,
    rows: &str,
    nulls: Nulls,
) -> Result<DynTensor> {
    let op = "tensor_from_array";
    let (tensor, dims) = read_tensors(op, field, array, nulls)?;
    let name = |dim: &Option<String>| dim.as_deref().map(Name::new).transpose();
    let mut names = vec![Some(Name::new(rows)?)];
    for dim in &dims {
        names.push(name(dim)?);
    }
    let names = Names::new(names).map_err(|error| error.in_op(op))?;
    DynTensor::from_parts(tensor.into_parts().0, names)
}

/// Converts a column to a variable.
pub(super) fn variable(
    op: &'static str,
    field: &Field,
    array: &dyn Array,
    rows: &str,
    nulls: Nulls,
) -> Result<Variable> {
    let (tensor, dims) = read_tensors(op, field, array, nulls)?;
    let name = field.name();
    let inner = dims.into_iter().enumerate();
    let inner = inner.map(|(at, dim)| dim.unwrap_or_else(|| format!("{name}_dim_{at}")));
    let dims: Vec<String> = std::iter::once(rows.to_owned()).chain(inner).collect();
    let shape = tensor.shape().to_vec();
    let placeholder = Data::Tensor(tensor.clone());
    let mut variable = Variable::from_data(name, dims, shape, placeholder);
    let names = variable.names();
    variable.data = Data::Tensor(DynTensor::from_parts(tensor.into_parts().0, names)?);
    Ok(variable)
}

/// Returns the elements of a column, and the names of all dims except the first.
fn read_tensors(
    op: &'static str,
    field: &Field,
    array: &dyn Array,
    nulls: Nulls,
) -> Result<(DynTensor, Vec<Option<String>>)> {
    let kind = array.data_type();
    let DataType::FixedSizeList(_, size) = kind else {
        let flat = elements::from_array(op, array, None, nulls)?;
        return Ok((flat.ok_or_else(|| unsupported(op, kind))?, Vec::new()));
    };
    let size = usize::try_from(*size).unwrap_or_default();
    let list = array.as_fixed_size_list();
    let layout = if field.extension_type_name() == Some(EXTENSION) {
        Layout::parse(op, field.extension_type_metadata().unwrap_or("{}"), size)?
    } else {
        Layout {
            shape: vec![size],
            names: vec![None],
            permutation: vec![0],
        }
    };
    let missing = list.nulls().filter(|own| own.null_count() > 0).map(|own| {
        let rows = own
            .iter()
            .flat_map(|is_valid| std::iter::repeat_n(!is_valid, size));
        rows.collect::<Vec<bool>>()
    });
    let flat = elements::from_array(op, list.values(), missing.as_deref(), nulls)?;
    let flat = flat.ok_or_else(|| unsupported(op, kind))?;
    let shape: Vec<i64> = std::iter::once(&list.len())
        .chain(&layout.shape)
        .map(|&size| size as i64)
        .collect();
    let stored = flat.reshape(&shape)?;
    let order: Vec<i64> = std::iter::once(0)
        .chain(layout.permutation.iter().map(|&dim| dim as i64 + 1))
        .collect();
    let names = layout
        .permutation
        .iter()
        .map(|&dim| layout.names[dim].clone());
    Ok((stored.permute(&order[..])?, names.collect()))
}

/// The metadata of the extension type.
struct Layout {
    /// The sizes in the order in which elements lie.
    shape: Vec<usize>,
    names: Vec<Option<String>>,
    /// The place in `shape` of each dim of a tensor.
    permutation: Vec<usize>,
}

impl Layout {
    fn parse(op: &'static str, text: &str, size: usize) -> Result<Self> {
        let broken = |what: String| {
            Error::new(
                ErrorKind::Parse,
                op,
                format!("metadata of {EXTENSION}: {what}"),
            )
        };
        let value: Value = serde_json::from_str(text).map_err(|error| broken(error.to_string()))?;
        let member = |key: &str| value.get(key).filter(|value| !value.is_null());
        let numbers = |value: &Value| -> Option<Vec<usize>> {
            let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
            value.as_array()?.iter().map(number).collect()
        };
        let shape = member("shape").and_then(&numbers);
        let shape = shape.ok_or_else(|| broken("there is no `shape`".to_owned()))?;
        let product = shape
            .iter()
            .try_fold(1_usize, |all, &size| all.checked_mul(size));
        if product != Some(size) {
            return Err(broken(format!(
                "shape {shape:?} in rows of {size} elements"
            )));
        }
        let rank = shape.len();
        let names = match member("dim_names") {
            None => vec![None; rank],
            Some(value) => {
                let text = |value: &Value| value.as_str().map(str::to_owned);
                let all = value
                    .as_array()
                    .and_then(|all| all.iter().map(text).collect());
                let all: Option<Vec<String>> = all;
                let all = all.filter(|all| all.len() == rank);
                let all =
                    all.ok_or_else(|| broken(format!("dim_names {value} for {rank} dims")))?;
                all.into_iter()
                    .map(|name| Some(name).filter(|name| !name.is_empty()))
                    .collect()
            }
        };
        // `arrow-schema` writes the second key.
        let permutation = match member("permutation").or_else(|| member("permutations")) {
            None => (0..rank).collect(),
            Some(value) => {
                let fits = |all: &Vec<usize>| {
                    let mut sorted = all.clone();
                    sorted.sort_unstable();
                    sorted.into_iter().eq(0..rank)
                };
                let all = numbers(value).filter(fits);
                all.ok_or_else(|| broken(format!("permutation {value} of {rank} dims")))?
            }
        };
        Ok(Self {
            shape,
            names,
            permutation,
        })
    }
}
