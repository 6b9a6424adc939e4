//! Variables of a dataset.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use nomina::labelled::AnyLabels;
use nomina::{DType, DynTensor, Error, ErrorKind, Name, Names, Result};

use crate::attributes::Attributes;
use crate::column::Column;
use crate::decode::Decode;
use crate::select::Positions;
use crate::source::Source;

/// A variable of a dataset: dims, attributes, and elements, which are in memory or in a file.
///
/// A dim keeps the spelling of the file, such as `model name`. In tensors, a dim whose spelling is no identifier, and
/// the second of two equal dims, has no name.
#[derive(Clone, Debug)]
pub struct Variable {
    pub(crate) name: String,
    pub(crate) dims: Vec<String>,
    pub(crate) shape: Vec<usize>,
    pub(crate) attributes: Attributes,
    pub(crate) data: Data,
    /// The variables that the file names as its coordinates.
    pub(crate) coordinates: Vec<String>,
    /// The labels, when they have been asked for.
    column: OnceLock<Arc<Column>>,
    /// The labels in the form that tensors share.
    labels: OnceLock<Arc<dyn AnyLabels>>,
}

/// The elements of a variable.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    Tensor(DynTensor),
    /// Texts and times, in row-major order.
    Column(Arc<Column>),
    Lazy(Lazy),
}

/// Elements in a file.
#[derive(Clone, Debug)]
pub(crate) struct Lazy {
    pub(crate) source: Arc<dyn Source>,
    /// The name in the file.
    pub(crate) key: String,
    /// The selected positions along each dim of the file.
    pub(crate) positions: Vec<Positions>,
    pub(crate) decode: Decode,
    pub(crate) chunks: Option<Vec<usize>>,
}

impl Variable {
    /// Creates a variable from a tensor, whose dims all have names.
    ///
    /// # Errors
    /// Returns [`ErrorKind::UnnamedDim`] if one has none.
    pub fn new(name: &str, tensor: DynTensor) -> Result<Self> {
        let dims: Option<Vec<String>> = tensor
            .names()
            .iter()
            .map(|dim| Some(dim.as_ref()?.as_str().to_owned()))
            .collect();
        let unnamed = || {
            let what = format!("variable `{name}` has a dim without a name");
            Error::new(ErrorKind::UnnamedDim, "variable", what)
                .operand(tensor.names(), tensor.shape())
        };
        let dims = dims.ok_or_else(unnamed)?;
        Ok(Self::from_data(
            name,
            dims,
            tensor.shape().to_vec(),
            Data::Tensor(tensor),
        ))
    }

    /// Creates a coordinate: the labels along a dim.
    #[must_use]
    pub fn from_column(dim: &str, labels: Column) -> Self {
        let shape = [labels.len()];
        let name: Names = [Name::new(dim).ok()].into_iter().collect();
        let tensor = match &labels {
            Column::F64(values) => DynTensor::from_vec(values.clone(), &shape, name).ok(),
            Column::I64(values) => DynTensor::from_vec(values.clone(), &shape, name).ok(),
            _ => None,
        };
        let data = tensor.map_or_else(|| Data::Column(Arc::new(labels)), Data::Tensor);
        Self::from_data(dim, vec![dim.to_owned()], shape.to_vec(), data)
    }

    pub(crate) fn from_data(name: &str, dims: Vec<String>, shape: Vec<usize>, data: Data) -> Self {
        Self {
            name: name.to_owned(),
            dims,
            shape,
            attributes: Attributes::new(),
            data,
            coordinates: Vec::new(),
            column: OnceLock::new(),
            labels: OnceLock::new(),
        }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the dims, in the spelling of the file.
    #[must_use]
    pub fn dims(&self) -> &[String] {
        &self.dims
    }

    /// Returns the sizes of the dims.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn numel(&self) -> usize {
        self.shape.iter().product()
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

    /// Returns the dtype of the tensor; `None` for texts and times.
    #[must_use]
    pub fn dtype(&self) -> Option<DType> {
        match &self.data {
            Data::Tensor(tensor) => Some(tensor.dtype()),
            Data::Column(_) => None,
            Data::Lazy(lazy) => lazy.decode.dtype(),
        }
    }

    /// Returns the name of the element type: that of a dtype, `String`, `Timestamp` or `CfTime`.
    #[must_use]
    pub fn type_name(&self) -> String {
        match &self.data {
            Data::Tensor(tensor) => tensor.dtype().to_string(),
            Data::Column(column) => column.type_name().to_owned(),
            Data::Lazy(lazy) => lazy.decode.type_name(),
        }
    }

    /// Returns whether the elements are in a file.
    #[must_use]
    pub const fn is_lazy(&self) -> bool {
        matches!(self.data, Data::Lazy(_))
    }

    /// Returns the names that tensors get: `None` for a dim whose spelling is no identifier, and for the second of two
    /// equal dims.
    #[must_use]
    pub fn names(&self) -> Names {
        let mut seen = HashSet::new();
        let name = |dim: &String| Name::new(dim).ok().filter(|_| seen.insert(dim.clone()));
        self.dims.iter().map(name).collect()
    }

    /// Returns the position of a dim.
    pub(crate) fn position(&self, dim: &str) -> Option<usize> {
        self.dims.iter().position(|own| own == dim)
    }

    /// Reads the elements as a tensor, unless they are in memory.
    ///
    /// # Errors
    /// Returns [`ErrorKind::DType`] if the elements are texts or times, and the errors of the file.
    pub fn tensor(&self) -> Result<DynTensor> {
        let wrong = |kind: &str| {
            let what = format!(
                "variable `{}` has elements of {kind}, which no tensor has",
                self.name
            );
            Error::new(ErrorKind::DType, "tensor", what).hint("get its values: `column`")
        };
        match &self.data {
            Data::Tensor(tensor) => Ok(tensor.clone()),
            Data::Column(column) => Err(wrong(column.type_name())),
            Data::Lazy(lazy) if lazy.decode.dtype().is_none() => {
                Err(wrong(&lazy.decode.type_name()))
            }
            Data::Lazy(lazy) => match lazy
                .read(&self.names())
                .map_err(|error| self.about(error))?
            {
                Data::Tensor(tensor) => Ok(tensor),
                _ => Err(wrong("no number")),
            },
        }
    }

    /// Returns the elements as labels, in row-major order: floats as `f64`, integers as `i64`, texts or times.
    ///
    /// # Errors
    /// Returns the errors of the file.
    pub fn column(&self) -> Result<Arc<Column>> {
        if let Some(column) = self.column.get() {
            return Ok(column.clone());
        }
        let column = match &self.data {
            Data::Column(column) => column.clone(),
            Data::Tensor(tensor) => Arc::new(Column::from_tensor(tensor)?),
            Data::Lazy(lazy) => match lazy
                .read(&self.names())
                .map_err(|error| self.about(error))?
            {
                Data::Tensor(tensor) => Arc::new(Column::from_tensor(&tensor)?),
                Data::Column(column) => column,
                Data::Lazy(_) => unreachable!("elements were read"),
            },
        };
        Ok(self.column.get_or_init(|| column).clone())
    }

    /// Returns the labels that tensors of the dataset share.
    pub(crate) fn shared_labels(&self) -> Result<Arc<dyn AnyLabels>> {
        let column = self.column()?;
        Ok(self.labels.get_or_init(|| column.to_labels()).clone())
    }

    fn about(&self, error: Error) -> Error {
        error.within(format_args!("variable `{}`", self.name))
    }

    /// Reads the elements into memory.
    ///
    /// # Errors
    /// Returns the errors of the file.
    pub fn load(&self) -> Result<Self> {
        let Data::Lazy(lazy) = &self.data else {
            return Ok(self.clone());
        };
        let data = lazy
            .read(&self.names())
            .map_err(|error| self.about(error))?;
        let mut loaded = Self {
            data,
            ..self.clone()
        };
        if let (Data::Tensor(_), Some(units)) = (&loaded.data, lazy.decode.units()) {
            // A time is missing, so they stay numbers.
            loaded.attributes.set("units", units.to_string());
            loaded.attributes.set("calendar", units.calendar().name());
        }
        Ok(loaded)
    }

    /// Selects positions along a dim, without reading.
    pub(crate) fn take(&self, dim: usize, positions: &Positions) -> Result<Self> {
        let (mut dims, mut shape) = (self.dims.clone(), self.shape.clone());
        if let Positions::One(_) = positions {
            dims.remove(dim);
            shape.remove(dim);
        } else {
            shape[dim] = positions.len();
        }
        let data = match &self.data {
            Data::Tensor(tensor) => Data::Tensor(take_tensor(tensor, dim, positions)?),
            Data::Column(column) => {
                let inner: usize = self.shape[dim + 1..].iter().product();
                let outer: usize = self.shape[..dim].iter().product();
                let size = self.shape[dim];
                let all = (0..outer).flat_map(|at| {
                    positions.iter().flat_map(move |index| {
                        let start = (at * size + index) * inner;
                        start..start + inner
                    })
                });
                Data::Column(Arc::new(column.take(all)))
            }
            Data::Lazy(lazy) => Data::Lazy(lazy.take(dim, positions)),
        };
        let (attributes, coordinates) = (self.attributes.clone(), self.coordinates.clone());
        Ok(Self {
            attributes,
            coordinates,
            ..Self::from_data(&self.name, dims, shape, data)
        })
    }
}

/// Selects positions along a dim of a tensor.
fn take_tensor(tensor: &DynTensor, dim: usize, positions: &Positions) -> Result<DynTensor> {
    match positions {
        Positions::One(at) => tensor.select(dim as i64, *at as i64),
        Positions::Range(range) => tensor.narrow(dim as i64, range.start as i64, range.len()),
        Positions::List(list) => {
            let list: Vec<i64> = list.iter().map(|&at| at as i64).collect();
            let index = DynTensor::from_vec(list.clone(), &[list.len()], Names::unnamed(1))?;
            // An index without a name would take the dim's.
            let name = tensor.names()[dim].clone();
            let taken = tensor.index_select(dim as i64, &index)?;
            let mut names: Vec<Option<Name>> = taken.names().iter().cloned().collect();
            names[dim] = name;
            DynTensor::from_parts(taken.into_parts().0, Names::new(names)?)
        }
    }
}

impl Lazy {
    /// The dims of the file that remain.
    fn kept(&self) -> impl Iterator<Item = usize> + '_ {
        let all = self.positions.iter().enumerate();
        all.filter(|(_, positions)| !matches!(positions, Positions::One(_)))
            .map(|(at, _)| at)
    }

    /// Selects positions along a remaining dim.
    pub(crate) fn take(&self, dim: usize, positions: &Positions) -> Self {
        let mut taken = self.clone();
        let at = self.kept().nth(dim).unwrap_or_default();
        taken.positions[at] = self.positions[at].select(positions);
        taken
    }

    /// Returns the sizes of the file's chunks along the remaining dims.
    pub(crate) fn chunk_sizes(&self) -> Option<Vec<usize>> {
        let chunks = self.chunks.as_ref()?;
        Some(self.kept().map(|at| chunks[at]).collect())
    }

    /// Reads and decodes the elements.
    pub(crate) fn read(&self, names: &Names) -> Result<Data> {
        let ranges: Vec<Range<usize>> = self.positions.iter().map(hull).collect();
        if self.decode.is_text() {
            let shape = &self.decode.full_shape;
            let texts = Column::Text(self.source.read_text(&self.key)?);
            let strides = row_major(shape);
            let mut at = vec![0];
            for (positions, stride) in self.positions.iter().zip(strides) {
                at = at
                    .iter()
                    .flat_map(|base| positions.iter().map(move |index| base + index * stride))
                    .collect();
            }
            if at.iter().any(|&at| at >= texts.len()) {
                return Err(crate::source::broken(
                    "the file has fewer texts than its dims say",
                ));
            }
            return Ok(Data::Column(Arc::new(texts.take(at.into_iter()))));
        }
        let mut tensor = self.source.read(&self.key, &ranges)?;
        for (dim, positions) in self.positions.iter().enumerate().rev() {
            let inside = match positions {
                Positions::Range(_) => continue,
                Positions::One(_) => Positions::One(0),
                Positions::List(list) => {
                    Positions::List(list.iter().map(|at| at - ranges[dim].start).collect())
                }
            };
            tensor = take_tensor(&tensor, dim, &inside)?;
        }
        self.decode.decode(tensor, names)
    }
}

/// Returns the range from the first to the last of some positions.
fn hull(positions: &Positions) -> Range<usize> {
    match positions {
        Positions::One(at) => *at..at + 1,
        Positions::Range(range) => range.clone(),
        Positions::List(list) => {
            let start = list.iter().copied().min().unwrap_or(0);
            start..list.iter().max().map_or(0, |last| last + 1)
        }
    }
}

fn row_major(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for at in (1..shape.len()).rev() {
        strides[at - 1] = strides[at] * shape[at];
    }
    strides
}
