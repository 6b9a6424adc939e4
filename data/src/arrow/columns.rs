//! Texts and times as arrays.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{
    Array, ArrayRef, Float64Array, Int64Array, StringArray, TimestampNanosecondArray,
};
use arrow_schema::{DataType, TimeUnit};
use nomina::{Error, ErrorKind, Result, Timestamp};

use super::elements::refuse_nulls;
use crate::column::Column;

/// Converts labels to an array: times to nanoseconds in UTC.
pub(super) fn to_array(op: &'static str, column: &Column) -> Result<ArrayRef> {
    Ok(match column {
        Column::F64(values) => Arc::new(Float64Array::from(values.clone())),
        Column::I64(values) => Arc::new(Int64Array::from(values.clone())),
        Column::Text(texts) => Arc::new(StringArray::from_iter_values(texts)),
        Column::Time(times) => {
            let numbers = times.iter().map(|time| time.nanoseconds());
            Arc::new(TimestampNanosecondArray::from_iter_values(numbers).with_timezone("UTC"))
        }
        Column::CfTime(_) => {
            let what = "Arrow has no times of other calendars";
            return Err(Error::new(ErrorKind::DType, op, what)
                .hint("convert them to texts, or leave the variable out"));
        }
    })
}

/// Converts texts and times; `None` for other arrays. A time without a zone is taken as UTC.
pub(super) fn from_array(op: &'static str, array: &dyn Array) -> Result<Option<Column>> {
    fn numbers<T: ArrowPrimitiveType<Native = i64>>(array: &dyn Array) -> Vec<i64> {
        array.as_primitive::<T>().values().to_vec()
    }
    fn texts<'a>(all: impl Iterator<Item = Option<&'a str>>) -> Column {
        Column::Text(
            all.map(|text| text.unwrap_or_default().to_owned())
                .collect(),
        )
    }
    const DAY: i64 = 86_400_000_000_000;
    let (numbers, unit) = match array.data_type() {
        DataType::Utf8 => return refused(op, array, texts(array.as_string::<i32>().iter())),
        DataType::LargeUtf8 => return refused(op, array, texts(array.as_string::<i64>().iter())),
        DataType::Utf8View => return refused(op, array, texts(array.as_string_view().iter())),
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().values().iter();
            (days.map(|&days| days.into()).collect(), DAY)
        }
        DataType::Date64 => (numbers::<Date64Type>(array), 1_000_000),
        DataType::Timestamp(TimeUnit::Second, _) => {
            (numbers::<TimestampSecondType>(array), 1_000_000_000)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            (numbers::<TimestampMillisecondType>(array), 1_000_000)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            (numbers::<TimestampMicrosecondType>(array), 1000)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            (numbers::<TimestampNanosecondType>(array), 1)
        }
        _ => return Ok(None),
    };
    let time = |number: i64| number.checked_mul(unit).map(Timestamp::from_nanoseconds);
    // The number of a null is arbitrary.
    let all = numbers.iter().enumerate().map(|(at, &number)| {
        if array.is_null(at) {
            Some(Timestamp::from_nanoseconds(0))
        } else {
            time(number)
        }
    });
    let outside = || {
        let what = "a time is outside of the years 1678 to 2262";
        Error::new(ErrorKind::Argument, op, what)
    };
    let times: Vec<Timestamp> = all.collect::<Option<_>>().ok_or_else(outside)?;
    refused(op, array, Column::Time(times))
}

/// Refuses nulls: no text and no time means that it is missing.
fn refused(op: &'static str, array: &dyn Array, column: Column) -> Result<Option<Column>> {
    let Some(nulls) = array.logical_nulls().filter(|nulls| nulls.null_count() > 0) else {
        return Ok(Some(column));
    };
    let missing: Vec<bool> = nulls.iter().map(|is_valid| !is_valid).collect();
    Err(refuse_nulls(op, &missing, array.data_type()))
}
