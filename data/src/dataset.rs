//! Datasets by name.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use nomina::{Error, ErrorKind, Result};

use crate::attributes::Attributes;
use crate::column::Column;
use crate::decode::Decode;
use crate::select::{Index, Positions, Select, refused};
use crate::source::{self, LeftOut, Stored};
use crate::variable::{Data, Lazy, Variable};

/// Variables that share dims and coordinates, by name.
///
/// A variable that is named as its only dim holds the labels of that dim. Others are coordinates if the file names them
/// in an attribute `coordinates`, and data otherwise.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_data::{Column, DynDataset, Variable};
/// let mut weather = DynDataset::new();
/// let t = DynTensor::from_vec(vec![280.0_f32, 281.5, 279.0], &[3], ["Lat"])?;
/// weather.insert(Variable::new("temperature", t)?)?;
/// weather.insert(Variable::from_column("Lat", Column::F64(vec![50.0, 52.5, 55.0])))?;
/// let north = weather.sel("Lat", 52.0..)?;
/// assert_eq!(north.variable("temperature")?.tensor()?.to_vec::<f32>()?, [281.5, 279.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct DynDataset {
    pub(crate) variables: Vec<Variable>,
    /// The names of variables that are coordinates, but not those of a dim.
    pub(crate) coordinates: Vec<String>,
    pub(crate) attributes: Attributes,
    left_out: Vec<LeftOut>,
}

/// Options for opening a dataset: a group of the file, other names for dims, by variable if need be.
///
/// ```no_run
/// use nomina_data::OpenOptions;
/// let dataset = OpenOptions::new()
///     .rename("model name", "Model")                          // a dim
///     .dims("covariance", ["Station", "Station2"])            // those of a variable, by position
///     .open("models.nc")?;
/// # Ok::<(), nomina::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    renamed: Vec<(String, String)>,
    dims: BTreeMap<String, Vec<String>>,
    group: Option<String>,
}

impl OpenOptions {
    /// Creates options that keep all names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a group below the root, such as `model/ocean`, with the variables in it. Those of the groups above it are
    /// not part of the dataset.
    #[must_use]
    pub fn group(mut self, path: &str) -> Self {
        self.group = Some(path.to_owned());
        self
    }

    /// Gives a dim, and the variable of its labels, another name.
    #[must_use]
    pub fn rename(mut self, dim: &str, name: &str) -> Self {
        self.renamed.push((dim.to_owned(), name.to_owned()));
        self
    }

    /// Gives the dims of a variable other names, by position.
    #[must_use]
    pub fn dims<'a>(mut self, variable: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.dims.insert(
            variable.to_owned(),
            names.into_iter().map(str::to_owned).collect(),
        );
        self
    }

    /// Opens a file like [`DynDataset::open`].
    ///
    /// # Errors
    /// Returns the errors of [`DynDataset::open`]; [`ErrorKind::NameNotFound`] if a dim or a variable does not exist;
    /// [`ErrorKind::NamesLen`] if a variable has another number of dims.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<DynDataset> {
        self.open_lazy(path)?.load()
    }

    /// Opens a file like [`DynDataset::open_lazy`].
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_lazy(&self, path: impl AsRef<Path>) -> Result<DynDataset> {
        let path = path.as_ref();
        let stored = source::open(path, self.group.as_deref())?;
        self.decode(stored)
            .map_err(|error| error.in_op("open").within(path.display()))
    }

    fn decode(&self, stored: Stored) -> Result<DynDataset> {
        let Stored {
            source,
            variables,
            left_out,
            mut attributes,
        } = stored;
        let missing = |what: String| Error::new(ErrorKind::NameNotFound, "open", what);
        for (dim, _) in &self.renamed {
            if !variables.iter().any(|variable| variable.dims.contains(dim)) {
                let mut all: Vec<&str> = variables
                    .iter()
                    .flat_map(|one| &one.dims)
                    .map(|dim| &dim[..])
                    .collect();
                all.sort_unstable();
                all.dedup();
                return Err(missing(format!("no variable has a dim `{dim}`"))
                    .hint(format!("dims are {}", all.join(", "))));
            }
        }
        if let Some(name) = self
            .dims
            .keys()
            .find(|name| !variables.iter().any(|one| one.name == **name))
        {
            return Err(missing(format!("no variable is named `{name}`")));
        }
        let new_name = |name: &str| match self.renamed.iter().find(|(old, _)| old == name) {
            Some((_, new)) => new.clone(),
            None => name.to_owned(),
        };
        let mut coordinates: Vec<String> = Vec::new();
        let listed = |text: Option<&str>| -> Vec<String> {
            let words = text.unwrap_or_default().split_whitespace();
            words.map(&new_name).collect()
        };
        coordinates.extend(listed(attributes.text("coordinates")));
        attributes.remove("coordinates");
        let mut decoded = Vec::new();
        for variable in &variables {
            let parent = variables
                .iter()
                .find(|one| one.attributes.text("bounds") == Some(&variable.name));
            let (decode, own) = Decode::new(variable, parent.map(|one| &one.attributes))?;
            let own_coordinates = listed(variable.attributes.text("coordinates"));
            coordinates.extend(own_coordinates.iter().cloned());
            let mut dims = variable.dims.clone();
            if let Some(names) = self.dims.get(&variable.name) {
                if names.len() != dims.len() {
                    let what = format!(
                        "{} names for the {} dims of `{}`",
                        names.len(),
                        dims.len(),
                        variable.name
                    );
                    return Err(Error::new(ErrorKind::NamesLen, "open", what));
                }
                dims.clone_from(names);
            } else {
                dims = dims.iter().map(|dim| new_name(dim)).collect();
            }
            // Only the labels of a dim are renamed with it.
            let name = if variable.dims.contains(&variable.name) {
                new_name(&variable.name)
            } else {
                variable.name.clone()
            };
            let data = Data::Lazy(Lazy {
                source: source.clone(),
                key: variable.name.clone(),
                positions: variable
                    .shape
                    .iter()
                    .map(|&size| Positions::Range(0..size))
                    .collect(),
                decode,
                chunks: variable.chunks.clone(),
            });
            let mut new = Variable::from_data(&name, dims, variable.shape.clone(), data);
            new.attributes = own;
            new.coordinates = own_coordinates;
            decoded.push(new);
        }
        coordinates.retain(|name| {
            decoded
                .iter()
                .any(|one| one.name == *name && one.dims != [name.clone()])
        });
        coordinates.sort_unstable();
        coordinates.dedup();
        let dataset = DynDataset {
            variables: decoded,
            coordinates,
            attributes,
            left_out,
        };
        dataset.check_sizes("open")?;
        Ok(dataset)
    }
}

impl DynDataset {
    /// Creates an empty dataset.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a file of netCDF or a folder of zarr, and reads all of it.
    ///
    /// The conventions of CF are applied: missing values, scale and offset, times, coordinates. Packed integers become
    /// `f64`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::File`] if the file cannot be read; [`ErrorKind::Parse`] if it is corrupt or of another
    /// format.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().open(path)
    }

    /// Opens a file like [`open`](Self::open), but reads only its metadata. [`Variable::tensor`] reads what is selected.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_lazy(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().open_lazy(path)
    }

    /// Reads all elements into memory.
    ///
    /// # Errors
    /// Returns the errors of the file.
    pub fn load(&self) -> Result<Self> {
        let variables: Result<_> = self.variables.iter().map(Variable::load).collect();
        Ok(Self {
            variables: variables?,
            ..self.clone()
        })
    }

    /// Returns the attributes.
    #[must_use]
    pub const fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Returns the attributes, to change them.
    pub const fn attributes_mut(&mut self) -> &mut Attributes {
        &mut self.attributes
    }

    /// Returns the variables of the file that are not in the dataset, because no tensor has their elements: compounds, for
    /// instance. The text of the dataset lists them too.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Returns the dims and their sizes, in the order of the variables.
    #[must_use]
    pub fn sizes(&self) -> Vec<(&str, usize)> {
        let mut all: Vec<(&str, usize)> = Vec::new();
        // Data first, as it orders the dims.
        let data = self.variables.iter().filter(|one| !self.is_coordinate(one));
        for one in data.chain(self.coordinates()) {
            for (dim, &size) in one.dims.iter().zip(&one.shape) {
                if all.iter().all(|(own, _)| own != dim) {
                    all.push((dim, size));
                }
            }
        }
        all
    }

    /// Returns whether a variable is a coordinate.
    pub(crate) fn is_coordinate(&self, variable: &Variable) -> bool {
        is_index(variable) || self.coordinates.contains(&variable.name)
    }

    /// Iterates over the variables that are data.
    pub fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.variables.iter().filter(|one| !self.is_coordinate(one))
    }

    /// Iterates over the coordinates.
    pub fn coordinates(&self) -> impl Iterator<Item = &Variable> {
        self.variables.iter().filter(|one| self.is_coordinate(one))
    }

    /// Returns a variable or a coordinate.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameNotFound`] if there is none of that name; [`ErrorKind::DType`] if it was
    /// [left out](Self::left_out).
    pub fn variable(&self, name: &str) -> Result<&Variable> {
        let found = self.variables.iter().find(|one| one.name == name);
        found.ok_or_else(|| {
            let all: Vec<&str> = self.variables.iter().map(Variable::name).collect();
            if let Some(LeftOut { why, .. }) = self.left_out.iter().find(|one| one.name == name) {
                let what = format!("variable `{name}` of the file was left out: {why}");
                return Error::new(ErrorKind::DType, "variable", what);
            }
            let what = format!("the dataset has no variable `{name}`");
            Error::new(ErrorKind::NameNotFound, "variable", what)
                .hint(format!("it has {}", all.join(", ")))
        })
    }

    /// Returns the labels of a dim.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameNotFound`] if the dim has none, and the errors of the file.
    pub fn labels(&self, dim: &str) -> Result<Arc<Column>> {
        self.require_dim("labels", dim)?;
        match self
            .variables
            .iter()
            .find(|one| one.name == dim && is_index(one))
        {
            Some(index) => index.column(),
            None => {
                let what = format!("dim `{dim}` has no labels");
                let error = Error::new(ErrorKind::NameNotFound, "labels", what);
                Err(error.hint("select by position: `isel`"))
            }
        }
    }

    /// Adds a variable; one of the same name is replaced.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Shape`] if a dim has another size in the dataset.
    pub fn insert(&mut self, variable: Variable) -> Result<()> {
        let mut with = self.clone();
        with.variables.retain(|one| one.name != variable.name);
        with.variables.push(variable);
        with.check_sizes("insert")?;
        *self = with;
        Ok(())
    }

    /// Makes variables coordinates.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameNotFound`] if one does not exist.
    pub fn set_coordinates<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) -> Result<()> {
        for name in names {
            let is_index = is_index(self.variable(name)?);
            if !is_index && !self.coordinates.iter().any(|own| own == name) {
                self.coordinates.push(name.to_owned());
            }
        }
        Ok(())
    }

    /// Removes a variable, and returns it.
    pub fn remove(&mut self, name: &str) -> Option<Variable> {
        let at = self.variables.iter().position(|one| one.name == name)?;
        self.coordinates.retain(|own| own != name);
        Some(self.variables.remove(at))
    }

    /// Checks that each dim has one size.
    fn check_sizes(&self, op: &'static str) -> Result<()> {
        let mut seen: Vec<(&str, usize, &str)> = Vec::new();
        let mut problems = Vec::new();
        for one in &self.variables {
            for (dim, &size) in one.dims.iter().zip(&one.shape) {
                match seen.iter().find(|(own, ..)| own == dim) {
                    None => seen.push((dim, size, &one.name)),
                    Some(&(_, old, first)) if old != size => problems.push(format!(
                        "dim `{dim}` has size {old} in `{first}` and {size} in `{}`",
                        one.name
                    )),
                    Some(_) => {}
                }
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Shape, op, problems.join("; ")))
    }

    pub(crate) fn require_dim(&self, op: &'static str, dim: &str) -> Result<usize> {
        let sizes = self.sizes();
        match sizes.iter().find(|(own, _)| *own == dim) {
            Some(&(_, size)) => Ok(size),
            None => {
                let all: Vec<&str> = sizes.iter().map(|(dim, _)| *dim).collect();
                let what = format!("no variable has a dim `{dim}`");
                Err(Error::new(ErrorKind::NameNotFound, op, what)
                    .hint(format!("dims are {}", all.join(", "))))
            }
        }
    }

    /// Selects positions along a dim, on every variable that has it. Nothing is read.
    ///
    /// ```
    /// # use nomina_data::DynDataset;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ostia_cut.nc");
    /// let sea = DynDataset::open_lazy(path)?;
    /// let last = sea.isel("time", -1)?;                    // the dim is removed
    /// let some = sea.isel("latitude", 2..5)?;
    /// let both = sea.isel("latitude", [0, -1])?;
    /// # assert!(last.sizes().iter().all(|size| size.0 != "time"));
    /// # assert_eq!((some.variable("latitude")?.numel(), both.variable("latitude")?.numel()), (3, 2));
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameNotFound`] if no variable has the dim; [`ErrorKind::Index`] if a position is out of
    /// range.
    pub fn isel(&self, dim: &str, index: impl Into<Index>) -> Result<Self> {
        let size = self.require_dim("isel", dim)?;
        self.take(dim, &index.into().resolve(dim, size)?)
    }

    /// Selects labels along a dim, on every variable that has it. Reads the labels of the dim, nothing else.
    ///
    /// A single label removes the dim. Ranges and lists keep it; a range goes from the low to the high label, also
    /// where labels fall. A text on a dim of times is a date that may be partial, and keeps the dim: `"2007-02"`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameNotFound`] if no variable has the dim, or it has no labels; [`ErrorKind::Argument`] if
    /// a label does not exist or is of another type; [`ErrorKind::Parse`] if a text is no date.
    pub fn sel(&self, dim: &str, labels: impl Into<Select>) -> Result<Self> {
        let column = self.labels(dim).map_err(|error| error.in_op("sel"))?;
        self.take(dim, &labels.into().find(dim, &column)?)
    }

    fn take(&self, dim: &str, positions: &Positions) -> Result<Self> {
        let mut taken = self.clone();
        for one in &mut taken.variables {
            while let Some(at) = one.position(dim) {
                let is_label = is_index(one);
                if one.dims.iter().filter(|own| *own == dim).count() > 1 {
                    return Err(
                        refused("sel", dim, format!("is there twice in `{}`", one.name))
                            .hint("open the file with other names: `OpenOptions::dims`"),
                    );
                }
                *one = one.take(at, positions)?;
                if is_label && matches!(positions, Positions::One(_)) {
                    // The label that was selected stays, as a coordinate without dims.
                    taken.coordinates.push(one.name.clone());
                }
                if one.position(dim).is_some() {
                    break;
                }
            }
        }
        Ok(taken)
    }
}

/// Returns whether a variable holds the labels of a dim.
pub(crate) fn is_index(variable: &Variable) -> bool {
    matches!(&variable.dims[..], [dim] if *dim == variable.name)
}
