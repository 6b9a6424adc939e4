//! Writing of datasets as zarr, version 3.

use std::path::Path;

use nomina::{DynTensor, Error, ErrorKind, Names, Result};
use nomina_io::zarr::{self, Zarr};

use crate::attributes::Attributes;
use crate::calendar::{Calendar, CfTime, TimeUnit, TimeUnits};
use crate::column::Column;
use crate::dataset::{DynDataset, is_index};
use crate::variable::Variable;

/// The maximum number of elements of a chunk that is chosen for a variable: 4 MiB of `f32`.
const CHUNK: usize = 1 << 20;

impl DynDataset {
    /// Writes the dataset as a new group of zarr, version 3, which xarray opens with its coordinates.
    ///
    /// Variables in a file are read chunk by chunk. Times are written as integers of the coarsest exact unit, missing
    /// elements of floats as NaN, texts as `string`; packed integers of the file become floats. The metadata are
    /// consolidated.
    ///
    /// ```
    /// # use nomina_data::DynDataset;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ostia_cut.nc");
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = folder.path().join("sea.zarr");
    /// let sea = DynDataset::open_lazy(path)?;
    /// sea.sel("time", "2007")?.write_zarr(&store)?;            // xr.open_zarr("sea.zarr")
    /// assert_eq!(DynDataset::open(&store)?.labels("time")?.len(), 12);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::File`] if the group exists or cannot be written, and the errors of reading.
    pub fn write_zarr(&self, path: impl AsRef<Path>) -> Result<()> {
        let (op, path) = ("write_zarr", path.as_ref());
        let write = || {
            zarr::create_group(path)?;
            let mut attributes = self.attributes.clone();
            let mut named: Vec<&str> = Vec::new();
            for one in &self.variables {
                self.write_variable(&path.join(one.name()), one, &mut named)?;
            }
            // Coordinates that no variable names are those of the dataset.
            let rest: Vec<&str> = self
                .coordinates()
                .filter(|one| !is_index(one) && !named.contains(&one.name()))
                .map(Variable::name)
                .collect();
            if !rest.is_empty() {
                attributes.set("coordinates", rest.join(" "));
            }
            set_attributes(path, &attributes)?;
            zarr::consolidate(path)
        };
        write().map_err(|error: Error| error.in_op(op).within(path.display()))
    }

    fn write_variable<'a>(
        &'a self,
        path: &Path,
        one: &'a Variable,
        named: &mut Vec<&'a str>,
    ) -> Result<()> {
        let mut attributes = one.attributes().clone();
        if !self.is_coordinate(one) {
            let is_within = |other: &&Variable| {
                !is_index(other) && other.dims().iter().all(|dim| one.dims().contains(dim))
            };
            let own: Vec<&str> = self
                .coordinates()
                .filter(is_within)
                .map(Variable::name)
                .collect();
            if !own.is_empty() {
                attributes.set("coordinates", own.join(" "));
            }
            named.extend(own);
        }
        let dims: Vec<&str> = one.dims().iter().map(|dim| &dim[..]).collect();
        if one.dtype().is_none() {
            match &*one.column()? {
                Column::Text(texts) => zarr::write_text_array(path, &dims, one.shape(), texts)?,
                times => {
                    let (numbers, units) = encode(times)?;
                    attributes.set("units", units.to_string());
                    attributes.set("calendar", units.calendar().name());
                    let names = Names::unnamed(dims.len());
                    let tensor = DynTensor::from_vec(numbers, one.shape(), names)?;
                    write_tensor(path, one, &dims, &tensor)?;
                }
            }
        } else if one.is_lazy() && one.numel() > CHUNK {
            stream(path, one, &dims)?;
        } else {
            write_tensor(path, one, &dims, &one.tensor()?)?;
        }
        if one.dtype().is_some_and(nomina::DType::is_float)
            && attributes.get("_FillValue").is_none()
        {
            attributes.set("_FillValue", f64::NAN);
        }
        set_attributes(path, &attributes)
    }
}

fn set_attributes(path: &Path, attributes: &Attributes) -> Result<()> {
    zarr::set_attributes(
        path,
        attributes.iter().map(|(name, value)| (name, value.clone())),
    )
}

/// Chooses the sizes of chunks: whole inner dims, as far as they fit.
pub(crate) fn chunk_sizes(shape: &[usize], limit: usize) -> Vec<usize> {
    let mut left = limit.max(1);
    let mut sizes = vec![1; shape.len()];
    for (size, &full) in sizes.iter_mut().zip(shape).rev() {
        *size = full.clamp(1, left);
        left = (left / *size).max(1);
    }
    sizes
}

fn create(
    path: &Path,
    one: &Variable,
    dims: &[&str],
    dtype: nomina::DType,
) -> Result<Zarr<DynTensor>> {
    let chunks = chunk_sizes(one.shape(), CHUNK);
    let names = Names::unnamed(dims.len());
    Zarr::<DynTensor>::create(path, dtype, &names, one.shape(), &chunks)?;
    zarr::set_dimension_names(path, dims)?;
    Zarr::<DynTensor>::open_lenient(path)
}

fn write_tensor(path: &Path, one: &Variable, dims: &[&str], tensor: &DynTensor) -> Result<()> {
    create(path, one, dims, tensor.dtype())?.write(&tensor.drop_names())
}

/// Writes a variable of a file in blocks along its first dim.
fn stream(path: &Path, one: &Variable, dims: &[&str]) -> Result<()> {
    let dtype = one
        .dtype()
        .ok_or_else(|| Error::new(ErrorKind::DType, "write_zarr", "not numbers"))?;
    let array = create(path, one, dims, dtype)?;
    let rows = array.chunks()[0];
    let size = one.shape()[0];
    for start in (0..size).step_by(rows) {
        let range = start..(start + rows).min(size);
        let part = one
            .take(0, &crate::Positions::Range(range.clone()))?
            .tensor()?;
        let mut ranges: Vec<_> = one.shape().iter().map(|&size| 0..size).collect();
        ranges[0] = range;
        array.narrow_to(&ranges)?.write(&part.drop_names())?;
    }
    Ok(())
}

/// Converts times to integers of the coarsest unit that is exact.
fn encode(times: &Column) -> Result<(Vec<i64>, TimeUnits)> {
    let (calendar, nanos): (Calendar, Vec<i128>) = match times {
        Column::Time(times) => (
            Calendar::ProlepticGregorian,
            times
                .iter()
                .map(|at| i128::from(at.nanoseconds()))
                .collect(),
        ),
        Column::CfTime(times) => {
            let calendar = times.first().map_or(Calendar::Standard, CfTime::calendar);
            let epoch = CfTime::date(calendar, 1970, 1, 1)?;
            for at in times {
                if at.calendar() != calendar {
                    let what = format!(
                        "times are of the calendars `{calendar}` and `{}`",
                        at.calendar()
                    );
                    return Err(Error::new(ErrorKind::Argument, "write_zarr", what));
                }
            }
            (
                calendar,
                times.iter().map(|at| (*at - epoch).as_nanos()).collect(),
            )
        }
        _ => return Err(Error::new(ErrorKind::DType, "write_zarr", "not times")),
    };
    use TimeUnit::{Days, Hours, Microseconds, Milliseconds, Minutes, Nanoseconds, Seconds};
    let units = [
        (Days, 86_400_000_000_000),
        (Hours, 3_600_000_000_000),
        (Minutes, 60_000_000_000),
        (Seconds, 1_000_000_000),
        (Milliseconds, 1_000_000),
        (Microseconds, 1_000),
        (Nanoseconds, 1),
    ];
    let exact = units
        .iter()
        .find(|(_, len)| nanos.iter().all(|at| at % len == 0));
    let (unit, len) = *exact.unwrap_or(&units[6]);
    let out = || Error::new(ErrorKind::Argument, "write_zarr", "a time is out of range");
    let numbers = nanos
        .iter()
        .map(|at| i64::try_from(at / len).map_err(|_| out()));
    let since = CfTime::date(calendar, 1970, 1, 1)?;
    Ok((
        numbers.collect::<Result<_>>()?,
        TimeUnits::new(unit, since)?,
    ))
}
