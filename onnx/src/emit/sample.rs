//! Sample runs of a graph: sizes of all values, and how they depend on the free sizes of its inputs.

use std::collections::BTreeMap;

use nomina::{DType, DynTensor};
use nomina_core::{Error, ErrorKind, Result};

use crate::call::{Value, Values, from_floats, ints};
use crate::graph::{Graph, StatedSize, ValueId};
use crate::port::Port;
use crate::proto::READ;
use crate::run::call;

/// The most integers of a value that are compared between runs.
const MOST_INTEGERS: usize = 64;

/// One value in the runs.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// The sizes in each run.
    shapes: Vec<Vec<usize>>,
    /// The elements in each run, of few integers.
    ints: Vec<Option<Vec<i64>>>,
    /// Whether all runs have the same elements.
    constant: bool,
}

/// The runs of a graph on sample inputs.
#[derive(Debug)]
pub struct Samples {
    /// All values of the first run.
    pub values: Values,
    seen: Vec<Seen>,
    /// Values that follow from sizes and constants alone.
    from_sizes: Vec<bool>,
}

/// A size that chose a branch: for another one, the model may compute something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Guard {
    /// The value.
    pub id: ValueId,
    /// The dim.
    pub axis: usize,
    /// Its size.
    pub size: usize,
}

impl Samples {
    /// Runs `graph` on random inputs of the given sizes, and again with each free size changed.
    ///
    /// # Errors
    /// The error of the first run.
    pub fn take(
        graph: &Graph,
        ports: &[Port],
        sizes: &BTreeMap<String, Vec<usize>>,
    ) -> Result<Self> {
        let shapes = ports
            .iter()
            .map(|port| first_shape(port, sizes))
            .collect::<Result<Vec<_>>>()?;
        let inputs = random_inputs(ports, &shapes)?;
        let values = run_all(graph, &inputs)?;
        let mut seen: Vec<Seen> = values.iter().map(Seen::new).collect();
        for symbol in free_sizes(ports) {
            let changed = [|n| n + 1, |n| 2 * n, |n| n + 32].into_iter().find_map(
                |change: fn(usize) -> usize| {
                    let mut shapes = shapes.clone();
                    for &(port, axis) in &symbol {
                        shapes[port][axis] = change(shapes[port][axis]);
                    }
                    let inputs = random_inputs(ports, &shapes).ok()?;
                    run_all(graph, &inputs)
                        .ok()
                        .filter(|other| has_ranks(other, &values))
                },
            );
            if let Some(other) = changed {
                for (seen, value) in seen.iter_mut().zip(&other) {
                    seen.add(value.as_ref());
                }
            }
        }
        let from_sizes = from_sizes(graph);
        for (id, seen) in seen.iter_mut().enumerate() {
            seen.constant &= from_sizes[id];
        }
        Ok(Self {
            values,
            seen,
            from_sizes,
        })
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.seen.first().map_or(1, |seen| seen.shapes.len())
    }

    /// Returns the sizes of a value in the first run.
    pub fn shape(&self, id: ValueId) -> &[usize] {
        self.seen[id].shapes.first().map_or(&[], |shape| &shape[..])
    }

    /// Returns the size of a dim in each run.
    pub fn extent(&self, id: ValueId, axis: usize) -> Vec<usize> {
        let sizes = self.seen[id].shapes.iter();
        sizes
            .map(|shape| shape.get(axis).copied().unwrap_or(0))
            .collect()
    }

    /// Returns the integers of a value in each run.
    pub fn integers(&self, id: ValueId) -> Option<Vec<Vec<i64>>> {
        let known = self.from_sizes[id].then(|| self.seen[id].ints.iter().cloned().collect());
        known?
    }

    /// Returns a value that no input changes.
    pub fn constant(&self, id: ValueId) -> Option<&DynTensor> {
        let value = self.values[id].as_ref().filter(|_| self.seen[id].constant);
        value?.tensor()
    }

    /// Returns the dtype of a value.
    pub fn dtype(&self, id: ValueId) -> Option<DType> {
        Some(self.values[id].as_ref()?.tensor()?.dtype())
    }

    /// Returns whether a value follows from sizes and constants alone.
    pub fn is_from_sizes(&self, id: ValueId) -> bool {
        self.from_sizes[id]
    }
}

impl Seen {
    fn new(value: &Option<Value>) -> Self {
        let mut seen = Self {
            constant: true,
            ..Self::default()
        };
        seen.add(value.as_ref());
        seen
    }

    fn add(&mut self, value: Option<&Value>) {
        let tensor = value.and_then(Value::tensor);
        let few = tensor.filter(|x| x.numel() <= MOST_INTEGERS && x.dtype().is_integral());
        self.shapes
            .push(tensor.map_or(Vec::new(), |x| x.shape().to_vec()));
        self.ints.push(few.and_then(|x| ints(x).ok()));
        self.constant &= self.shapes.first() == self.shapes.last();
        self.constant &= self.ints.first() == self.ints.last();
        // Long results of sizes are compared by their sizes alone.
        self.constant &= tensor.is_some();
    }
}

/// Whether all values have the same number of dims in two runs.
fn has_ranks(a: &Values, b: &Values) -> bool {
    let rank = |value: &Option<Value>| value.as_ref().and_then(Value::tensor).map(DynTensor::rank);
    a.iter().zip(b).all(|(a, b)| rank(a) == rank(b))
}

/// Marks the values that follow from sizes and constants alone.
fn from_sizes(graph: &Graph) -> Vec<bool> {
    let mut known = vec![false; graph.values.len()];
    graph.constants.keys().for_each(|&id| known[id] = true);
    for node in &graph.nodes {
        let is_known = matches!(&node.op[..], "Shape" | "Size")
            || node.row.is_some_and(|row| row.is_foldable())
                && node.graphs().next().is_none()
                && node.inputs.iter().flatten().all(|&id| known[id]);
        node.outputs
            .iter()
            .flatten()
            .for_each(|&id| known[id] = is_known);
    }
    known
}

fn run_all(graph: &Graph, inputs: &[DynTensor]) -> Result<Values> {
    let mut values: Values = vec![None; graph.values.len()];
    for (&id, tensor) in &graph.constants {
        values[id] = Some(Value::Tensor(tensor.clone()));
    }
    for (&id, tensor) in graph.inputs.iter().zip(inputs) {
        values[id] = Some(Value::Tensor(tensor.clone()));
    }
    for node in &graph.nodes {
        let results = call(node, &values)?;
        for (output, value) in node.outputs.iter().zip(results) {
            if let Some(id) = *output {
                values[id] = Some(value);
            }
        }
    }
    Ok(values)
}

fn first_shape(port: &Port, sizes: &BTreeMap<String, Vec<usize>>) -> Result<Vec<usize>> {
    let fail = |what: String| {
        let hint = format!("give its sizes: `--sizes {}=1x3x224x224`", port.name);
        Err(Error::new(ErrorKind::Argument, READ, what).hint(hint))
    };
    let given = sizes.get(&port.name);
    let Some(stated) = &port.sizes else {
        return match given {
            Some(sizes) => Ok(sizes.clone()),
            None => fail(format!(
                "the file does not state the rank of input `{}`",
                port.name
            )),
        };
    };
    let Some(given) = given else {
        let size = |stated: &StatedSize| match stated {
            StatedSize::Fixed(size) => *size,
            _ => 2,
        };
        return Ok(stated.iter().map(size).collect());
    };
    let fits = |(own, stated): (&usize, &StatedSize)| match stated {
        StatedSize::Fixed(size) => own == size,
        _ => *own > 0,
    };
    if given.len() != stated.len() || !given.iter().zip(stated).all(fits) {
        return fail(format!("the sizes {given:?} are not those of input {port}"));
    }
    Ok(given.clone())
}

/// The places of each free size: one list for a symbol, one for each dim without.
fn free_sizes(ports: &[Port]) -> Vec<Vec<(usize, usize)>> {
    let mut symbols = BTreeMap::<String, Vec<(usize, usize)>>::new();
    for (at, port) in ports.iter().enumerate() {
        for (axis, size) in port.sizes.iter().flatten().enumerate() {
            match size {
                StatedSize::Fixed(_) => {}
                StatedSize::Symbol(name) => {
                    symbols.entry(name.clone()).or_default().push((at, axis))
                }
                StatedSize::Unknown => {
                    symbols
                        .entry(format!("?{at}.{axis}"))
                        .or_default()
                        .push((at, axis));
                }
            }
        }
    }
    symbols.into_values().collect()
}

/// Numbers below 1; integers are 1 or 2, because they may be indices.
fn random_inputs(ports: &[Port], shapes: &[Vec<usize>]) -> Result<Vec<DynTensor>> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let inputs = ports.iter().zip(shapes).map(|(port, shape)| {
        let count: usize = shape.iter().product();
        let Some(dtype) = port.dtype else {
            let what = format!("input `{}` is no tensor of a known dtype", port.name);
            return Err(Error::new(ErrorKind::DType, READ, what));
        };
        let number = |_| {
            if dtype.is_float() {
                next()
            } else {
                (1.0 + 2.0 * next()).floor()
            }
        };
        let data: Vec<f64> = (0..count).map(number).collect();
        if dtype == DType::Bool {
            return from_floats(data.iter().map(|x| x - 1.0).collect(), shape, dtype);
        }
        from_floats(data, shape, dtype)
    });
    inputs.collect()
}
