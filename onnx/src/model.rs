//! Models: opened from a file, run with named tensors.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use nomina::{Device, DynTensor};
use nomina_core::{Error, ErrorKind, Result};

use crate::call::Value;
use crate::draft::Draft;
use crate::fuse::{Counts, fuse, prepare};
use crate::graph::{Graph, ValueId};
use crate::names::user::{DimNames, names_toml};
use crate::names::{DimClass, Named, infer};
use crate::port::Port;
use crate::proto::{Limits, READ, tensor};
use crate::run::run;

/// The outputs of a run, by name.
#[derive(Clone, Debug)]
pub struct Outputs(Vec<(String, Value)>);

impl Outputs {
    /// Returns the output called `name`.
    ///
    /// # Errors
    /// If there is none, or it is a sequence.
    pub fn get(&self, name: &str) -> Result<&DynTensor> {
        let Some((_, value)) = self.0.iter().find(|output| output.0 == name) else {
            let what = format!("there is no output `{name}`");
            return Err(
                Error::new(ErrorKind::NameNotFound, READ, what).hint(format!(
                    "the outputs are {}",
                    list(self.0.iter().map(|o| &o.0[..]))
                )),
            );
        };
        value.tensor().ok_or_else(|| {
            Error::new(
                ErrorKind::Argument,
                READ,
                format!("the output `{name}` is no tensor"),
            )
        })
    }

    /// Returns the outputs with their names, in the model's order; those that are sequences are left out.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &DynTensor)> {
        self.0
            .iter()
            .filter_map(|(name, value)| Some((&name[..], value.tensor()?)))
    }
}

fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// A model that runs on [`DynTensor`]s.
#[derive(Debug)]
pub struct Model {
    graph: Graph,
    named: Named,
    names: DimNames,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    opset: i64,
    nodes: usize,
    metadata: BTreeMap<String, String>,
    /// The graph that runs, made at the first run, so that opening a model needs no second set of weights.
    fused: OnceLock<(Graph, Counts)>,
    is_fused: bool,
    device: Device,
}

impl Model {
    /// Opens a model; external data are read from its folder.
    ///
    /// # Errors
    /// If the file cannot be read or is broken, or needs an operator, opset or dtype that is not supported. The error
    /// names the operator, its opset, the node, and how many nodes need it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with_names(path, DimNames::default())
    }

    /// Like [`Model::open`], but with names for dims, by `value.position`: a [`DimNames`], or a map like `{"x.1": "Sample"}`.
    ///
    /// # Errors
    /// Like [`Model::open`]; also if the model has no such dim, or one class gets two names.
    pub fn open_with_names(path: impl AsRef<Path>, names: impl Into<DimNames>) -> Result<Self> {
        let path = path.as_ref();
        let model = Draft::open(path).and_then(|draft| Self::new(draft, names.into()));
        model.map_err(|e| e.within(path.display()))
    }

    /// Reads a model without external data.
    ///
    /// # Errors
    /// Like [`Model::open`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::from_bytes_with_names(bytes, DimNames::default())
    }

    /// Like [`Model::from_bytes`], but with names for dims, like [`Model::open_with_names`].
    ///
    /// # Errors
    /// Like [`Model::open_with_names`].
    pub fn from_bytes_with_names(bytes: &[u8], names: impl Into<DimNames>) -> Result<Self> {
        Self::new(Draft::read(bytes, None)?, names.into())
    }

    /// Names the dims of a graph.
    ///
    /// # Errors
    /// If `names` has a dim that is not there, or one class gets two names.
    pub(crate) fn new(draft: Draft, names: DimNames) -> Result<Self> {
        let Draft {
            graph,
            opset,
            nodes,
            metadata,
            ..
        } = draft;
        let named = infer(&graph, &names)?;
        let port = |&id: &ValueId| {
            let kind = graph.types.get(&id).cloned().unwrap_or_default();
            let names = named.values[id].clone();
            Port {
                name: graph.values[id].clone(),
                names,
                dtype: kind.dtype,
                sizes: kind.sizes,
                id,
            }
        };
        let inputs = graph.inputs.iter().map(port).collect();
        let outputs = graph.outputs.iter().map(port).collect();
        Ok(Self {
            graph,
            named,
            names,
            inputs,
            outputs,
            opset,
            nodes,
            metadata,
            fused: OnceLock::new(),
            is_fused: true,
            device: Device::Cpu,
        })
    }

    /// Returns the inputs: names, dims, dtypes and sizes.
    #[must_use]
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// Returns the outputs, like [`Model::inputs`].
    #[must_use]
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// Returns the graph, with constants folded.
    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the names of all values.
    pub(crate) fn named(&self) -> &Named {
        &self.named
    }

    /// Returns the classes of dims: each with its name, its sizes, and where it occurs.
    #[must_use]
    pub fn dims(&self) -> &[DimClass] {
        &self.named.classes
    }

    /// Returns the text of a `names.toml` to edit: each class of dims with its name, below a comment with its sizes, how it was named
    /// and where it occurs. [`DimNames::parse`] reads it.
    #[must_use]
    pub fn names_toml(&self) -> String {
        names_toml(&self.named.classes, &self.names.splits)
    }

    /// Returns the opset of ONNX's own operators.
    #[must_use]
    pub fn opset(&self) -> i64 {
        self.opset
    }

    /// Returns the texts that the exporter wrote into the file, by key: labels, a dictionary of characters, a version.
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Returns the number of nodes that the outputs need, before constants are folded.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Returns the graph that runs, and its fusions.
    fn running(&self) -> &(Graph, Counts) {
        self.fused.get_or_init(|| {
            if !self.is_fused {
                return (self.graph.clone(), Counts::new());
            }
            let (mut graph, counts) = fuse(&self.graph);
            if self.device == Device::Cpu {
                prepare(&mut graph);
            }
            (graph, counts)
        })
    }

    /// Moves the model to a device: weights now, and the inputs of each run, whose outputs are there. Sizes and indices that
    /// the model computes stay on the host, and an operator without a kernel for the device runs there, see
    /// [`Model::on_host`].
    ///
    /// ```no_run
    /// # use nomina_onnx::Model;
    /// use nomina::Device;
    ///
    /// let model = Model::open("digits.onnx")?.to_device(Device::cuda(0)?)?;
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the device cannot be used, or its memory runs out.
    pub fn to_device(mut self, device: Device) -> Result<Self> {
        // Weights are laid out anew from those of the file, which stay on the host.
        self.fused = OnceLock::new();
        self.device = device;
        let (mut graph, counts) = self.running().clone();
        for tensor in graph.constants.values_mut() {
            if tensor.dtype().is_float() {
                *tensor = tensor.to_device(device)?;
            }
        }
        self.fused = OnceLock::from((graph, counts));
        Ok(self)
    }

    /// Returns the device on which the model runs.
    #[must_use]
    pub fn device(&self) -> Device {
        self.device
    }

    /// Returns the nodes that ran on the host although the model is on a device, by operator and name: those without a kernel,
    /// whose operands are copied.
    #[must_use]
    pub fn on_host(&self) -> Vec<String> {
        let nodes = self.running().0.nodes.iter();
        let own = nodes.filter(|node| node.placement.is_host());
        own.map(|node| format!("{} ({node})", node.op)).collect()
    }

    /// Returns the number of nodes that run, after constants are folded and nodes are fused.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.running().0.nodes.len()
    }

    /// Returns how many fusions of each kind there are: several nodes that run as one.
    #[must_use]
    pub fn fusions(&self) -> BTreeMap<&'static str, usize> {
        self.running().1.clone()
    }

    /// Returns the model with every node run alone, to compare with.
    #[must_use]
    pub fn without_fusions(mut self) -> Self {
        self.is_fused = false;
        self.fused = OnceLock::new();
        self
    }

    /// Runs the model on inputs by name. A tensor whose dims have the right names in another order is aligned; dims without names
    /// count by position.
    ///
    /// # Errors
    /// If an input is missing, unknown, of another dtype or size, or has other names (the error has both lists); and the error of a
    /// node, which names the node.
    pub fn run<'a, S: AsRef<str>>(
        &self,
        inputs: impl IntoIterator<Item = (S, &'a DynTensor)>,
    ) -> Result<Outputs> {
        let mut given: Vec<(ValueId, Value)> = Vec::new();
        for (name, tensor) in inputs {
            let name = name.as_ref();
            let Some(port) = self.inputs.iter().find(|port| port.name == name) else {
                let hint = format!(
                    "the inputs are {}",
                    list(self.inputs.iter().map(|p| &p.name[..]))
                );
                return Err(Error::new(
                    ErrorKind::NameNotFound,
                    READ,
                    format!("there is no input `{name}`"),
                )
                .hint(hint));
            };
            if given.iter().any(|input| input.0 == port.id) {
                return Err(Error::new(
                    ErrorKind::Argument,
                    READ,
                    format!("the input `{name}` is given twice"),
                ));
            }
            let tensor = port.aligned(tensor)?.to_device(self.device)?;
            given.push((port.id, Value::Tensor(tensor)));
        }
        self.run_values(given)
    }

    fn run_values(&self, given: Vec<(ValueId, Value)>) -> Result<Outputs> {
        let missing = self
            .inputs
            .iter()
            .find(|port| !given.iter().any(|input| input.0 == port.id));
        if let Some(port) = missing {
            return Err(Error::new(
                ErrorKind::Argument,
                READ,
                format!("the input `{}` is missing", port.name),
            ));
        }
        let values = run(&self.running().0, given, &Vec::new())?;
        let mut all = Vec::with_capacity(values.len());
        for (port, value) in self.outputs.iter().zip(values) {
            let value = match (value, &port.names) {
                (Value::Tensor(tensor), Some(names)) if names.len() == tensor.rank() => {
                    Value::Tensor(tensor.rename(names)?)
                }
                (value, _) => value,
            };
            all.push((port.name.clone(), value));
        }
        Ok(Outputs(all))
    }
}

/// Reads a `TensorProto`, as in the `.pb` files of ONNX's tests: its name and its elements, without names of dims.
///
/// # Errors
/// If it is broken, or its dtype is not supported.
pub fn read_tensor(bytes: &[u8]) -> Result<(String, DynTensor)> {
    let limits = Limits::new(bytes.len(), None);
    let (name, tensor) = tensor::read(bytes, &limits)?;
    Ok((name.to_owned(), tensor))
}
