//! Datasets of named tensors, as files have them: netCDF and zarr with coordinates, attributes and calendars.
//!
//! A [`DynDataset`] is opened from a file and has variables, coordinates and attributes by name. Selection is by labels
//! or positions, on every variable that has the dim.
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
//! | `plot` | [pictures](plot::Plot) of tensors with labels, SVG and PNG, by `plotters` |
//! | `blosc` | chunks of zarr that blosc compressed, by `blusc` |
//!
//! zarr is always there: groups of version 2 and 3 are read, and those of version 3 written. All crates are pure Rust.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod attributes;
pub mod calendar;
mod column;
mod dataset;
mod decode;
mod display;
mod grouping;
mod labelled;
#[cfg(feature = "plot")]
#[cfg_attr(docsrs, doc(cfg(feature = "plot")))]
pub mod plot;
mod rust;
mod scan;
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
pub use scan::{Reduction, Scan};
pub use select::{Index, Positions, Select, nearest};
pub use source::LeftOut;
pub use variable::Variable;

/// The guide to dataset files; its snippets run as doc tests.
#[cfg(all(doctest, feature = "netcdf", feature = "plot"))]
#[doc = include_str!("../../docs/dataset_files.md")]
pub struct DatasetFiles;

/// The example of the README, run as a test.
#[cfg(all(doctest, feature = "netcdf"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
