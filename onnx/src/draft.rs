//! A model as it was read: its graph, before dims have names.

use std::collections::BTreeMap;
use std::path::Path;

use nomina::DynTensor;
use nomina_core::{Error, ErrorKind, Result};

use crate::fold::fold;
use crate::graph::{Graph, Reader};
use crate::proto::wire::Fields;
use crate::proto::{Limits, READ, broken};
use crate::table::NEWEST_OPSET;

/// The graph of a file, with constants folded.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The graph.
    pub graph: Graph,
    /// The opset of ONNX's own operators.
    pub opset: i64,
    /// The number of nodes that the outputs need, before constants are folded.
    pub nodes: usize,
    /// Texts that the exporter wrote, by key.
    pub metadata: BTreeMap<String, String>,
    /// The size of the file.
    bytes: usize,
}

impl Draft {
    /// Opens a file; external data are read from its folder.
    ///
    /// # Errors
    /// If the file cannot be read or is broken, or needs an operator, opset or dtype that is not supported.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path)
            .map_err(|e| Error::new(ErrorKind::File, READ, format!("{}: {e}", path.display())))?;
        let folder = path.parent().map(|folder| {
            if folder.as_os_str().is_empty() {
                Path::new(".")
            } else {
                folder
            }
        });
        Self::read(&bytes, folder)
    }

    /// Reads a file; external data are read from `folder`.
    ///
    /// # Errors
    /// Like [`Draft::open`].
    pub fn read(bytes: &[u8], folder: Option<&Path>) -> Result<Self> {
        let limits = Limits::new(bytes.len(), folder);
        let (mut opsets, mut graph, mut metadata) = (Vec::new(), None, BTreeMap::new());
        for field in Fields::new(bytes) {
            match field? {
                (7, wire) => graph = Some(wire.bytes()?),
                (8, wire) => {
                    limits.take(64)?;
                    let (mut domain, mut version) = (String::new(), 0);
                    for field in Fields::new(wire.bytes()?) {
                        match field? {
                            (1, wire) => domain = wire.text()?.to_owned(),
                            (2, wire) => version = wire.int()?,
                            _ => {}
                        }
                    }
                    let domain = if domain == "ai.onnx" {
                        String::new()
                    } else {
                        domain
                    };
                    opsets.push((domain, version));
                }
                (14, wire) => {
                    let (mut key, mut text) = ("", "");
                    for field in Fields::new(wire.bytes()?) {
                        match field? {
                            (1, wire) => key = wire.text()?,
                            (2, wire) => text = wire.text()?,
                            _ => {}
                        }
                    }
                    limits.take(96 + key.len() + text.len())?;
                    metadata.insert(key.to_owned(), text.to_owned());
                }
                (25, _) => return Err(broken("functions of a model are not supported")),
                _ => {}
            }
        }
        let graph = graph.ok_or_else(|| broken("the file has no graph"))?;
        let opset = opsets.iter().find(|o| o.0.is_empty()).map_or(1, |o| o.1);
        if opset > NEWEST_OPSET {
            let what = format!("opset {opset} is newer than {NEWEST_OPSET}");
            return Err(Error::new(ErrorKind::File, READ, what)
                .hint("convert the model with `onnx.version_converter`"));
        }
        let reader = Reader { limits, opsets };
        let mut graph = reader.graph(graph, &mut |_| None, 0)?;
        let nodes = graph.nodes.len();
        graph.require_operators()?;
        fold(&mut graph, bytes.len());
        Ok(Self {
            graph,
            opset,
            nodes,
            metadata,
            bytes: bytes.len(),
        })
    }

    /// Makes an input a constant, and computes what then is constant.
    ///
    /// # Errors
    /// If there is no such input.
    pub fn set_input(&mut self, name: &str, tensor: DynTensor) -> Result<()> {
        let graph = &mut self.graph;
        let at = graph.inputs.iter().position(|&id| graph.values[id] == name);
        let Some(at) = at else {
            let inputs = graph
                .inputs
                .iter()
                .map(|&id| format!("`{}`", graph.values[id]));
            let hint = format!("the inputs are {}", inputs.collect::<Vec<_>>().join(", "));
            let what = format!("there is no input `{name}`");
            return Err(Error::new(ErrorKind::NameNotFound, READ, what).hint(hint));
        };
        let id = graph.inputs.remove(at);
        graph.constants.insert(id, tensor);
        self.fold();
        Ok(())
    }

    /// Computes what is constant, and removes what no output needs.
    pub fn fold(&mut self) {
        fold(&mut self.graph, self.bytes);
    }
}
