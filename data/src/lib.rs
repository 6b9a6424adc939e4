//! Datasets of named tensors: structs that open netCDF and zarr files with coordinates, attributes and calendars.
//!
//! A struct with [`#[derive(Dataset)]`](trait@Dataset) has the variables of a file as fields, whose names, dims, dtypes, units
//! and types of labels are checked when it is opened. Selection is by labels or positions, on every field that has the dim.
//!
//! ```
//! use nomina::{Labelled, Timestamp, prelude::*};
//! use nomina_data::Dataset;
//! dims! { Time("time"): Timestamp, Lat("latitude"): f64, Lon("longitude"): f64 }
//!
//! #[derive(Dataset)]
//! struct Sea {
//!     #[dataset(units = "K")]
//!     surface_temperature: Labelled<(Time, Lat, Lon)>,
//! }
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ostia_cut.nc");
//! let pacific = Sea::open(path)?.sel(Lon, 150.0..=210.0).sel(Time, "2007");
//! let mean: Labelled<(Lat, Lon)> = pacific.surface_temperature.nanmean(Time);
//! # assert_eq!(mean.shape(), [6, 13]);
//! # Ok::<(), Error>(())
//! ```
//!
//! A [`DynDataset`] has variables, coordinates and attributes by name, for files whose contents the program does not know.
//!
//! ```
//! use nomina_data::DynDataset;
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ostia_cut.nc");
//! let sea = DynDataset::open(path)?;
//! let pacific = sea.sel("longitude", 150.0..=210.0)?.sel("time", "2007")?;
//! let temperature = pacific.variable("surface_temperature")?.tensor()?;
//! assert_eq!(temperature.names().to_string(), "(time, latitude, longitude)");
//! # Ok::<(), nomina::Error>(())
//! ```
//!
//! # Features
//!
//! | feature | files |
//! |---|---|
//! | `netcdf` (default) | netCDF, classic and version 4, by `netcdf-reader` |
//! | `plot` | `plot::Plot`, pictures of tensors with labels, SVG and PNG, by `plotters` |
//! | `blosc` | chunks of zarr that blosc compressed, by `blusc` |
//!
//! zarr is always there: groups of version 2 and 3 are read, and those of version 3 written. All crates are pure Rust.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod attributes;
pub mod calendar;
mod cf_labels;
mod column;
mod dataset;
mod decode;
mod display;
mod grouping;
mod labelled;
#[cfg(feature = "plot")]
#[cfg_attr(docsrs, doc(cfg(feature = "plot")))]
pub mod plot;
mod reduce;
mod rename;
mod rust;
mod scan;
mod schema;
mod select;
mod source;
mod variable;
mod write;

pub use attributes::{Attribute, Attributes, IntoAttribute};
pub use calendar::{Calendar, CfTime, TimeUnit, TimeUnits};
pub use column::{Column, Label};
pub use dataset::{DynDataset, OpenOptions};
pub use grouping::DatasetGroups;
pub use nomina::Timestamp;
pub use nomina_data_macros::Dataset;
pub use scan::{Reduction, Scan};
pub use schema::{Coordinate, Dataset, DimOfSome, Field};
pub use select::{Index, Positions, Select, nearest};
pub use source::LeftOut;
pub use variable::Variable;

/// What `#[derive(Dataset)]` writes.
#[doc(hidden)]
pub mod __private {
    pub use crate::schema::{
        FieldTree, FieldValue, OneField, Reading, VariableSpec, dim_name, fields_agree,
    };
}

/// The guide to dataset files; its snippets run as doc tests.
#[cfg(all(doctest, feature = "netcdf", feature = "plot"))]
#[doc = include_str!("../../docs/dataset_files.md")]
pub struct DatasetFiles;

/// The guide to labelled tensors and datasets; its snippets run as doc tests.
#[cfg(all(doctest, feature = "netcdf"))]
#[doc = include_str!("../../docs/datasets.md")]
pub struct Datasets;

/// The example of the README, run as a test.
#[cfg(all(doctest, feature = "netcdf"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
