//! Arrow: record batches as datasets, and tensors as columns of `arrow.fixed_shape_tensor`, by `arrow-array`.
//!
//! A [`RecordBatch`] is a dataset of one dim, that of its rows: see [`DynDataset::from_record_batch`]. A column of tensors
//! keeps the names of their dims. Elements are shared with Arrow without a copy, except truth values, of which Arrow
//! packs eight in a byte, unsigned integers, texts and times.
//!
//! ```
//! use nomina::prelude::*;
//! use nomina_data::arrow::{Nulls, tensor_from_array, tensor_to_array};
//! let images = DynTensor::from_vec(vec![0_f32; 24], &[4, 2, 3], ["N", "H", "W"])?;
//! let (field, array) = tensor_to_array("image", &images)?;                 // 4 rows
//! assert_eq!(field.extension_type_name(), Some("arrow.fixed_shape_tensor"));
//! let back = tensor_from_array(&field, &array, "N", Nulls::Refuse)?;
//! assert_eq!(back.names(), &names!["N", "H", "W"]);
//! # assert!(back.equal(&images)?);
//! # Ok::<(), Error>(())
//! ```

mod columns;
mod elements;
mod tensors;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use nomina::{DynTensor, Error, ErrorKind, Result};

use crate::attributes::Attribute;
use crate::dataset::{DynDataset, is_index};
use crate::variable::{Data, Variable};

pub use elements::Nulls;
pub use tensors::{tensor_from_array, tensor_to_array};

/// Returns the error of a call to Arrow.
#[cold]
fn failed(op: &'static str, error: &ArrowError) -> Error {
    Error::new(ErrorKind::Argument, op, error.to_string())
}

/// Returns the error of a type that nothing here corresponds to.
#[cold]
fn unsupported(op: &'static str, kind: &DataType) -> Error {
    let what = format!("elements of {kind}, which no tensor and no label has");
    Error::new(ErrorKind::DType, op, what).hint("cast the column first, or leave it out")
}

impl DynDataset {
    /// Views a record batch as a dataset: `dim` is the dim of the rows, whose labels are the column of that name, if
    /// there is one. Each other column is a variable. A column of tensors has their dims after it; those without a name
    /// in the file are called `column_dim_0` and so on.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{Float64Array, RecordBatch, StringArray};
    /// use nomina::{Labelled, prelude::*};
    /// use nomina_data::{Dataset, DynDataset, arrow::Nulls};
    /// dims! { Station("station"): String }
    ///
    /// #[derive(Dataset)]
    /// struct Stations {
    ///     height: Labelled<(Station,), f64>,
    /// }
    ///
    /// let batch = RecordBatch::try_from_iter([
    ///     ("station", Arc::new(StringArray::from(vec!["a", "b"])) as _),
    ///     ("height", Arc::new(Float64Array::from(vec![Some(1.5), None])) as _),
    /// ]).unwrap();
    /// let all = DynDataset::from_record_batch(&batch, "station", Nulls::Nan)?;
    /// let stations = Stations::from_dyn(&all)?;
    /// assert_eq!(stations.height.sel(Station, "a").tensor().item(), 1.5);
    /// # assert!(stations.height.sel(Station, "b").tensor().item().is_nan());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::DType`] for a column of a type that neither tensors nor labels have;
    /// [`ErrorKind::Argument`] for a null that `nulls` refuses, and for a time outside of 1678 to 2262;
    /// [`ErrorKind::Parse`] for the metadata of a tensor that does not fit it.
    pub fn from_record_batch(batch: &RecordBatch, dim: &str, nulls: Nulls) -> Result<Self> {
        let op = "from_record_batch";
        let mut dataset = Self::new();
        for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            let name = field.name();
            let variable = || {
                if let Some(column) = columns::from_array(op, array)? {
                    if name == dim {
                        return Ok(Variable::from_column(dim, column));
                    }
                    let data = Data::Column(Arc::new(column));
                    let (dims, shape) = (vec![dim.to_owned()], vec![array.len()]);
                    return Ok(Variable::from_data(name, dims, shape, data));
                }
                tensors::variable(op, field, array, dim, nulls)
            };
            let variable = variable()
                .map_err(|error: Error| error.in_op(op).within(format_args!("column `{name}`")))?;
            let mut variable = variable;
            let texts = field.metadata().iter();
            for (key, text) in texts.filter(|(key, _)| !key.starts_with("ARROW:")) {
                variable.attributes.set(key, text.clone());
            }
            dataset.insert(variable)?;
        }
        Ok(dataset)
    }

    /// Converts to a record batch: a row for each position along `dim`, a column for each variable that has the dim,
    /// and for its labels. A variable with more dims becomes a column of tensors, which has their names; labels of these
    /// dims, and variables without the dim, are left out. Attributes that are texts become metadata of the column.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameNotFound`] if no variable has the dim; [`ErrorKind::DType`] for elements that Arrow does
    /// not have: `bf16`, complex numbers, times of other calendars; and the errors of the file.
    pub fn to_record_batch(&self, dim: &str) -> Result<RecordBatch> {
        let op = "to_record_batch";
        let rows = self.require_dim(op, dim)?;
        let (mut fields, mut arrays) = (Vec::<Field>::new(), Vec::<ArrayRef>::new());
        for one in &self.variables {
            let Some(at) = one.position(dim) else {
                continue;
            };
            let convert = || {
                if is_index(one) || one.dtype().is_none() {
                    let column = one.column()?;
                    if one.dims().len() == 1 {
                        let array = columns::to_array(op, &column)?;
                        return Ok((
                            Field::new(one.name(), array.data_type().clone(), false),
                            array,
                        ));
                    }
                    let what = format!("{} in more than one dim", column.type_name());
                    return Err(Error::new(ErrorKind::DType, op, what));
                }
                let mut order: Vec<i64> = (0..one.dims().len() as i64).collect();
                order.remove(at);
                order.insert(0, at as i64);
                let tensor: DynTensor = one.tensor()?.permute(&order[..])?;
                tensors::to_array(op, one.name(), &tensor)
            };
            let (field, array) = convert().map_err(|error: Error| {
                error
                    .in_op(op)
                    .within(format_args!("variable `{}`", one.name()))
            })?;
            let mut metadata = field.metadata().clone();
            for (key, value) in one.attributes().iter() {
                if let Attribute::Text(text) = value {
                    metadata.insert(key.to_owned(), text.clone());
                }
            }
            fields.push(field.with_metadata(metadata));
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
            .map_err(|error| failed(op, &error))
    }
}
