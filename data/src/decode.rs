//! Decoding of stored elements by the CF conventions.

use std::sync::Arc;

use nomina::{DType, DynTensor, Names, Result, Timestamp};
use nomina_io::zarr::CfPacking;

use crate::attributes::{Attribute, Attributes};
use crate::calendar::{Calendar, CfTime, TimeUnits};
use crate::column::Column;
use crate::source::{StoredType, StoredVariable};
use crate::variable::Data;

/// The decoding of a variable.
#[derive(Clone, Debug)]
pub(crate) struct Decode {
    kind: Kind,
    packing: Option<Arc<CfPacking>>,
    /// The sizes of the stored variable.
    pub(crate) full_shape: Vec<usize>,
}

#[derive(Clone, Debug)]
enum Kind {
    Number(DType),
    Text,
    Time(TimeUnits),
}

/// The attributes that describe the storage; they are applied, and are not attributes of a decoded variable.
const PACKING: [&str; 5] = [
    "_FillValue",
    "missing_value",
    "scale_factor",
    "add_offset",
    "_Unsigned",
];

impl Decode {
    /// Returns the decoding of a variable, and the attributes that remain. `inherited` has the units of the variable
    /// whose bounds this is.
    pub(crate) fn new(
        variable: &StoredVariable,
        inherited: Option<&Attributes>,
    ) -> Result<(Self, Attributes)> {
        let mut attributes = variable.attributes.clone();
        let full_shape = variable.shape.clone();
        let StoredType::Number(stored) = variable.stored else {
            for name in PACKING {
                attributes.remove(name);
            }
            return Ok((
                Self {
                    kind: Kind::Text,
                    packing: None,
                    full_shape,
                },
                attributes,
            ));
        };
        let map = attributes
            .iter()
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        let packing = CfPacking::from_attributes("open", stored, &map)
            .map_err(|error| error.within(format_args!("variable `{}`", variable.name)))?;
        let text = |name: &str| {
            attributes
                .text(name)
                .or_else(|| inherited?.text(name))
                .map(str::to_owned)
        };
        let units = text("units").filter(|units| TimeUnits::is_time(units));
        let kind = match units {
            Some(units) => {
                let calendar: Calendar =
                    text("calendar").map_or(Ok(Calendar::Standard), |name| name.parse())?;
                let units = TimeUnits::parse(&units, calendar)
                    .map_err(|error| error.within(format_args!("variable `{}`", variable.name)))?;
                attributes.remove("units");
                attributes.remove("calendar");
                Kind::Time(units)
            }
            None => Kind::Number(match &packing {
                Some(packing) => packing.dtype("open", None)?,
                None => stored,
            }),
        };
        if packing.is_some() {
            for name in PACKING {
                attributes.remove(name);
            }
        } else if matches!(
            attributes.get("_FillValue"),
            Some(Attribute::Text(_) | Attribute::Float(_))
        ) {
            // NaN, which needs no replacement.
            attributes.remove("_FillValue");
        }
        attributes.remove("coordinates");
        Ok((
            Self {
                kind,
                packing: packing.map(Arc::new),
                full_shape,
            },
            attributes,
        ))
    }

    /// Returns the dtype of the tensor; `None` for texts and times.
    pub(crate) const fn dtype(&self) -> Option<DType> {
        match self.kind {
            Kind::Number(dtype) => Some(dtype),
            Kind::Text | Kind::Time(_) => None,
        }
    }

    pub(crate) const fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text)
    }

    /// Returns the units of times.
    pub(crate) const fn units(&self) -> Option<&TimeUnits> {
        match &self.kind {
            Kind::Time(units) => Some(units),
            _ => None,
        }
    }

    /// Returns the name of the element type.
    pub(crate) fn type_name(&self) -> String {
        match &self.kind {
            Kind::Number(dtype) => dtype.to_string(),
            Kind::Text => "String".to_owned(),
            Kind::Time(units)
                if matches!(
                    units.calendar(),
                    Calendar::Standard | Calendar::ProlepticGregorian
                ) =>
            {
                "Timestamp".to_owned()
            }
            Kind::Time(_) => "CfTime".to_owned(),
        }
    }

    /// Decodes stored elements.
    pub(crate) fn decode(&self, stored: DynTensor, names: &Names) -> Result<Data> {
        let unpack = |dtype: DType| match &self.packing {
            Some(packing) => packing.unpack(&stored, dtype),
            None => Ok(stored.clone()),
        };
        match &self.kind {
            Kind::Number(dtype) => {
                let tensor = unpack(*dtype)?;
                DynTensor::from_parts(tensor.into_parts().0, names.clone()).map(Data::Tensor)
            }
            Kind::Time(units) => {
                if self.packing.is_none() && !stored.dtype().is_float() {
                    let values = stored.to_dtype(DType::I64)?.to_vec::<i64>()?;
                    let time = |value: &i64| units.decode_integer(*value);
                    let at = |value: &i64| units.decode_timestamp_integer(*value);
                    return decode_times(units, &values, time, at)
                        .map(|column| Data::Column(Arc::new(column)));
                }
                let numbers = unpack(DType::F64)?.to_dtype(DType::F64)?;
                let values = numbers.to_vec::<f64>()?;
                if values.iter().any(|value| value.is_nan()) {
                    return DynTensor::from_parts(numbers.into_parts().0, names.clone())
                        .map(Data::Tensor);
                }
                let time = |value: &f64| units.decode(*value);
                let at = |value: &f64| units.decode_timestamp(*value);
                decode_times(units, &values, time, at).map(|column| Data::Column(Arc::new(column)))
            }
            Kind::Text => unreachable!("texts are not decoded"),
        }
    }
}

/// Decodes times: timestamps in a calendar of real clocks, except dates of the calendar `standard` before its reform.
fn decode_times<T>(
    units: &TimeUnits,
    values: &[T],
    time: impl Fn(&T) -> Result<CfTime>,
    timestamp: impl Fn(&T) -> Result<Timestamp>,
) -> Result<Column> {
    let gregorian = match units.calendar() {
        Calendar::ProlepticGregorian => true,
        Calendar::Standard => {
            let reform = CfTime::date(Calendar::Standard, 1582, 10, 15)?;
            let mut all = values
                .iter()
                .map(|value| time(value).map(|at| at >= reform));
            all.try_fold(true, |all, is| is.map(|is| all && is))?
        }
        _ => false,
    };
    // Times that no timestamp holds stay in their calendar.
    if gregorian && let Ok(times) = values.iter().map(timestamp).collect::<Result<_>>() {
        return Ok(Column::Time(times));
    }
    values
        .iter()
        .map(time)
        .collect::<Result<_>>()
        .map(Column::CfTime)
}
