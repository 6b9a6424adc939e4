//! A call of an operator: its inputs and attributes.

use nomina::DynTensor;
use nomina_core::{DType, Error, ErrorKind, Result};

use crate::graph::{Attribute, Graph, Node};

pub use crate::value::{Value, Values};

/// A node with its inputs.
pub struct Call<'a> {
    /// The node.
    pub node: &'a Node,
    /// The operator's name.
    pub op: &'static str,
    /// The inputs; `None` for one that is left out.
    pub inputs: Vec<Option<&'a Value>>,
    /// All values of the graph, for graphs inside.
    pub values: &'a Values,
}

impl<'a> Call<'a> {
    /// Returns the opset of the operator's domain.
    pub fn opset(&self) -> i64 {
        self.node.opset
    }

    /// Creates an error about an argument.
    #[cold]
    pub fn fail(&self, what: impl Into<String>) -> Error {
        Error::new(ErrorKind::Argument, self.op, what)
    }

    /// Returns an input that must be there.
    pub fn value(&self, at: usize) -> Result<&'a Value> {
        let value = self.inputs.get(at).copied().flatten();
        value.ok_or_else(|| self.fail(format!("input {at} is missing")))
    }

    /// Returns an input tensor that must be there.
    pub fn x(&self, at: usize) -> Result<&'a DynTensor> {
        let value = self.value(at)?;
        value
            .tensor()
            .ok_or_else(|| self.fail(format!("input {at} is no tensor")))
    }

    /// Returns an input tensor, or `None` if it is left out.
    pub fn maybe(&self, at: usize) -> Result<Option<&'a DynTensor>> {
        match self.inputs.get(at).copied().flatten() {
            None => Ok(None),
            Some(Value::Tensor(tensor)) => Ok(Some(tensor)),
            Some(_) => Err(self.fail(format!("input {at} is no tensor"))),
        }
    }

    /// Returns all input tensors, without those that are left out.
    pub fn all(&self) -> Result<Vec<&'a DynTensor>> {
        (0..self.inputs.len())
            .filter_map(|at| self.maybe(at).transpose())
            .collect()
    }

    /// Returns an attribute of any kind.
    pub fn attribute(&self, name: &str) -> Result<Option<&'a Attribute>> {
        match self.node.attribute(name) {
            Some(Attribute::Unread(why)) => Err(self.fail(why.clone())),
            other => Ok(other),
        }
    }

    /// Returns an integer attribute.
    pub fn int(&self, name: &str, default: i64) -> Result<i64> {
        Ok(self.maybe_int(name)?.unwrap_or(default))
    }

    /// Returns an integer attribute, or `None` if it is left out.
    pub fn maybe_int(&self, name: &str) -> Result<Option<i64>> {
        match self.attribute(name)? {
            None => Ok(None),
            Some(Attribute::Int(value)) => Ok(Some(*value)),
            Some(_) => Err(self.fail(format!("attribute `{name}` is no integer"))),
        }
    }

    /// Returns a flag.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool> {
        Ok(self.int(name, i64::from(default))? != 0)
    }

    /// Returns a float attribute.
    pub fn float(&self, name: &str, default: f64) -> Result<f64> {
        Ok(self.maybe_float(name)?.unwrap_or(default))
    }

    /// Returns a float attribute, or `None` if it is left out.
    pub fn maybe_float(&self, name: &str) -> Result<Option<f64>> {
        match self.attribute(name)? {
            None => Ok(None),
            Some(Attribute::Float(value)) => Ok(Some(f64::from(*value))),
            Some(_) => Err(self.fail(format!("attribute `{name}` is no float"))),
        }
    }

    /// Returns a text attribute.
    pub fn text(&self, name: &str, default: &'static str) -> Result<&'a str> {
        match self.attribute(name)? {
            None => Ok(default),
            Some(Attribute::Text(value)) => Ok(value),
            Some(_) => Err(self.fail(format!("attribute `{name}` is no text"))),
        }
    }

    /// Returns the texts of an attribute.
    pub fn texts(&self, name: &str) -> Result<&'a [String]> {
        match self.attribute(name)? {
            None => Ok(&[]),
            Some(Attribute::Texts(value)) => Ok(value),
            Some(_) => Err(self.fail(format!("attribute `{name}` is no list of texts"))),
        }
    }

    /// Returns the integers of an attribute, or `None` if it is left out.
    pub fn ints(&self, name: &str) -> Result<Option<Vec<i64>>> {
        match self.attribute(name)? {
            None => Ok(None),
            Some(Attribute::Ints(value)) => Ok(Some(value.clone())),
            Some(_) => Err(self.fail(format!("attribute `{name}` is no list of integers"))),
        }
    }

    /// Returns the floats of an attribute.
    pub fn floats(&self, name: &str) -> Result<Vec<f64>> {
        match self.attribute(name)? {
            None => Ok(Vec::new()),
            Some(Attribute::Floats(value)) => Ok(value.iter().map(|&v| f64::from(v)).collect()),
            Some(_) => Err(self.fail(format!("attribute `{name}` is no list of floats"))),
        }
    }

    /// Returns a graph attribute.
    pub fn graph(&self, name: &str) -> Result<&'a Graph> {
        match self.attribute(name)? {
            Some(Attribute::Graph(graph)) => Ok(graph),
            _ => Err(self.fail(format!("attribute `{name}` is no graph"))),
        }
    }

    /// Returns the integers of an input tensor, or `None` if it is left out.
    pub fn ints_at(&self, at: usize) -> Result<Option<Vec<i64>>> {
        self.maybe(at)?.map(ints).transpose()
    }

    /// Returns integers that older opsets have in attribute `name` and newer ones in input `at`.
    pub fn ints_from(&self, name: &str, at: usize) -> Result<Option<Vec<i64>>> {
        match self.ints_at(at)? {
            Some(values) => Ok(Some(values)),
            None => self.ints(name),
        }
    }

    /// Returns the dim that `axis` counts, from the end if it is negative.
    pub fn axis(&self, axis: i64, rank: usize) -> Result<usize> {
        let n = i64::try_from(rank).unwrap_or(i64::MAX);
        let at = if axis < 0 {
            axis.checked_add(n)
        } else {
            Some(axis)
        };
        match at {
            Some(at) if (0..n).contains(&at) => Ok(at as usize),
            _ => Err(self.fail(format!("axis {axis} is not among {rank} dims"))),
        }
    }

    /// Returns the dims that `axes` count, in order, without repetitions.
    pub fn axes(&self, axes: &[i64], rank: usize) -> Result<Vec<usize>> {
        let mut dims = axes
            .iter()
            .map(|&axis| self.axis(axis, rank))
            .collect::<Result<Vec<_>>>()?;
        dims.sort_unstable();
        if dims.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(self.fail(format!("axes {axes:?} name a dim twice")));
        }
        Ok(dims)
    }

    /// Returns whether an output is asked for.
    pub fn wants(&self, output: usize) -> bool {
        self.node.outputs.get(output).is_some_and(Option::is_some)
    }

    /// Refuses what is not exact, or not there.
    pub fn require(&self, holds: bool, what: &str) -> Result<()> {
        if holds { Ok(()) } else { Err(self.fail(what)) }
    }
}

/// Returns the elements of a tensor as integers.
pub fn ints(x: &DynTensor) -> Result<Vec<i64>> {
    if !x.dtype().is_integral() {
        let what = format!("expected integers and not {}", x.dtype());
        return Err(Error::new(ErrorKind::DType, "onnx", what));
    }
    x.to_dtype(DType::I64)?.to_vec()
}

/// Returns the elements of a tensor as `f64`.
pub fn floats(x: &DynTensor) -> Result<Vec<f64>> {
    x.to_dtype(DType::F64)?.to_vec()
}

/// Creates a tensor of `dtype` from `f64`.
pub fn from_floats(data: Vec<f64>, shape: &[usize], dtype: DType) -> Result<DynTensor> {
    DynTensor::from_vec(data, shape, ())?.to_dtype(dtype)
}

/// Creates a tensor of indices.
pub fn from_ints(data: Vec<i64>, shape: &[usize]) -> Result<DynTensor> {
    DynTensor::from_vec(data, shape, ())
}

/// Returns the sizes as the integers that views take.
pub fn sizes(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&size| size as i64).collect()
}

/// Reshapes to sizes without -1.
pub fn reshape(x: &DynTensor, shape: &[usize]) -> Result<DynTensor> {
    x.reshape(&sizes(shape))
}

/// Picks elements of the flattened tensor.
pub fn pick(x: &DynTensor, at: Vec<i64>, shape: &[usize]) -> Result<DynTensor> {
    let n = at.len();
    let flat = reshape(x, &[x.numel()])?;
    reshape(&flat.index_select(0, &from_ints(at, &[n])?)?, shape)
}

/// Calls `each` with every index of `shape`, in row-major order.
pub fn for_each_index(shape: &[usize], mut each: impl FnMut(&[usize])) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0; shape.len()];
    loop {
        each(&index);
        let mut dim = shape.len();
        loop {
            if dim == 0 {
                return;
            }
            dim -= 1;
            index[dim] += 1;
            if index[dim] < shape[dim] {
                break;
            }
            index[dim] = 0;
        }
    }
}

/// Returns the strides of a contiguous tensor.
pub fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1usize; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim].saturating_mul(shape[dim]);
    }
    strides
}

/// Returns the shape that two shapes broadcast to.
pub fn broadcast(op: &'static str, a: &[usize], b: &[usize]) -> Result<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |shape: &[usize], dim: usize| {
        (dim + shape.len())
            .checked_sub(rank)
            .map_or(1, |dim| shape[dim])
    };
    (0..rank)
        .map(|dim| match (at(a, dim), at(b, dim)) {
            (x, y) if x == y || y == 1 => Ok(x),
            (1, y) => Ok(y),
            _ => Err(Error::new(
                ErrorKind::Shape,
                op,
                format!("sizes {a:?} and {b:?} do not broadcast"),
            )),
        })
        .collect()
}

/// Returns room for the elements of `shape`, and their number.
///
/// # Errors
/// If there are too many, or memory is missing.
pub fn room(op: &'static str, shape: &[usize]) -> Result<(Vec<f64>, usize)> {
    let count = shape
        .iter()
        .try_fold(1usize, |n, &size| n.checked_mul(size));
    let (mut data, count) = (
        Vec::new(),
        count.filter(|&n| n < 1 << 40).unwrap_or(usize::MAX),
    );
    match data.try_reserve_exact(count) {
        Ok(()) => Ok((data, count)),
        Err(_) => Err(Error::new(
            ErrorKind::Memory,
            op,
            format!("a result of sizes {shape:?} is too large"),
        )),
    }
}
