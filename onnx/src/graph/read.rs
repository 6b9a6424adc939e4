//! Graphs from `GraphProto`.

use std::collections::HashMap;

use nomina_core::{ErrorKind, Result};

use super::{Attribute, Graph, Node, Placement, StatedSize, ValueId, ValueType};
use crate::ops::operator;
use crate::proto::wire::{Fields, Wire, fixed, ints};
use crate::proto::{Limits, MAX_DEPTH, broken, tensor};

/// The context of reading a graph.
pub struct Reader<'a> {
    /// The limits of memory and folders.
    pub limits: Limits<'a>,
    /// The opset of each domain.
    pub opsets: Vec<(String, i64)>,
}

struct Scope<'a> {
    ids: HashMap<&'a str, ValueId>,
    graph: Graph,
}

impl<'a> Scope<'a> {
    fn id(&mut self, name: &'a str) -> ValueId {
        *self.ids.entry(name).or_insert_with(|| {
            self.graph.values.push(name.to_owned());
            self.graph.values.len() - 1
        })
    }
}

/// The approximate bytes of a value: its name twice, and its entry in a map.
const VALUE_BYTES: usize = 96;

impl Reader<'_> {
    /// Reads a `GraphProto`; `outer` knows the values of the graphs around it.
    ///
    /// # Errors
    /// If it is broken, or a node needs a value that no earlier one makes.
    pub fn graph<'a>(
        &self,
        message: &'a [u8],
        outer: &mut dyn FnMut(&'a str) -> Option<ValueId>,
        depth: usize,
    ) -> Result<Graph> {
        if depth > MAX_DEPTH {
            return Err(broken("graphs are nested too deep"));
        }
        let mut scope = Scope {
            ids: HashMap::new(),
            graph: Graph::default(),
        };
        let mut known: Vec<bool> = Vec::new();
        let mut mark = |id: ValueId| {
            if known.len() <= id {
                known.resize(id + 1, false);
            }
            std::mem::replace(&mut known[id], true)
        };
        for field in Fields::new(message) {
            match field? {
                (5, wire) => {
                    let (name, value) = tensor::read(wire.bytes()?, &self.limits)?;
                    let id = self.value(&mut scope, name)?;
                    if mark(id) {
                        return Err(broken(format!("the tensor `{name}` is given twice")));
                    }
                    scope.graph.constants.insert(id, value);
                }
                (15, _) => return Err(broken("sparse tensors are not supported")),
                _ => {}
            }
        }
        for field in Fields::new(message) {
            let (number, wire) = field?;
            if !matches!(number, 11..=13) {
                continue;
            }
            let (name, kind) = self.value_info(wire.bytes()?)?;
            let id = self.value(&mut scope, name)?;
            match number {
                // Older files list weights among the inputs, as defaults.
                11 if scope.graph.constants.contains_key(&id) => {}
                11 => {
                    if mark(id) {
                        return Err(broken(format!("the input `{name}` is given twice")));
                    }
                    scope.graph.inputs.push(id);
                }
                12 => scope.graph.outputs.push(id),
                _ => {}
            }
            if kind.dtype.is_some() || kind.sizes.is_some() || number != 13 {
                scope.graph.types.insert(id, kind);
            }
        }
        let mut captured = HashMap::new();
        let mut find = |scope: &mut Scope<'a>, name: &'a str, known: bool| -> Option<ValueId> {
            let id = scope.id(name);
            if known || captured.contains_key(&id) {
                return Some(id);
            }
            let outside = outer(name)?;
            captured.insert(id, outside);
            Some(id)
        };
        for field in Fields::new(message) {
            let (1, wire) = field? else { continue };
            let message = wire.bytes()?;
            let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
            for field in Fields::new(message) {
                match field? {
                    (1, wire) => inputs.push(wire.text()?),
                    (2, wire) => outputs.push(wire.text()?),
                    _ => {}
                }
            }
            self.limits.take(256 + 8 * (inputs.len() + outputs.len()))?;
            let mut ids = Vec::with_capacity(inputs.len());
            for name in inputs {
                if name.is_empty() {
                    ids.push(None);
                    continue;
                }
                let id = self.value(&mut scope, name)?;
                let made = known.get(id).copied().unwrap_or(false);
                let id = find(&mut scope, name, made);
                let id = id.ok_or_else(|| broken(format!("no earlier node makes `{name}`")))?;
                ids.push(Some(id));
            }
            let mut node = {
                let known = &known;
                let mut inner = |name: &'a str| {
                    let made = scope
                        .ids
                        .get(name)
                        .is_some_and(|&id| known.get(id).copied().unwrap_or(false));
                    find(&mut scope, name, made)
                };
                self.node(message, &mut inner, depth)?
            };
            node.inputs = ids;
            for name in outputs {
                if name.is_empty() {
                    node.outputs.push(None);
                    continue;
                }
                let id = self.value(&mut scope, name)?;
                if known.len() <= id {
                    known.resize(id + 1, false);
                }
                if std::mem::replace(&mut known[id], true) {
                    return Err(broken(format!("two nodes make `{name}`")));
                }
                node.outputs.push(Some(id));
            }
            scope.graph.nodes.push(node);
        }
        for at in 0..scope.graph.outputs.len() {
            let id = scope.graph.outputs[at];
            let name: &'a str = scope.ids.iter().find(|e| *e.1 == id).map_or("", |e| e.0);
            let made = known.get(id).copied().unwrap_or(false);
            if find(&mut scope, name, made).is_none() {
                return Err(broken(format!("no node makes the output `{name}`")));
            }
        }
        let mut graph = scope.graph;
        graph.captures = captured
            .into_iter()
            .map(|(inner, outer)| (outer, inner))
            .collect();
        graph.captures.sort_unstable();
        graph.remove_dead();
        Ok(graph)
    }

    fn value<'a>(&self, scope: &mut Scope<'a>, name: &'a str) -> Result<ValueId> {
        if !scope.ids.contains_key(name) {
            self.limits.take(VALUE_BYTES + 2 * name.len())?;
        }
        Ok(scope.id(name))
    }

    fn node<'a>(
        &self,
        message: &'a [u8],
        inner: &mut dyn FnMut(&'a str) -> Option<ValueId>,
        depth: usize,
    ) -> Result<Node> {
        let mut node = Node {
            name: String::new(),
            op: String::new(),
            domain: String::new(),
            row: None,
            opset: 0,
            inputs: Vec::new(),
            outputs: Vec::new(),
            attributes: Vec::new(),
            placement: Placement::default(),
            prepared: None,
        };
        for field in Fields::new(message) {
            match field? {
                (3, wire) => node.name = wire.text()?.to_owned(),
                (4, wire) => node.op = wire.text()?.to_owned(),
                (5, wire) => {
                    let attribute = self.attribute(wire.bytes()?, inner, depth)?;
                    node.attributes.push(attribute);
                }
                (7, wire) => node.domain = wire.text()?.to_owned(),
                _ => {}
            }
        }
        self.limits
            .take(node.name.len() + node.op.len() + node.domain.len())?;
        if node.domain == "ai.onnx" {
            node.domain.clear();
        }
        let opset = self.opsets.iter().find(|o| o.0 == node.domain);
        node.opset = opset.map_or(1, |o| o.1);
        node.row = operator(&node.domain, &node.op, node.opset);
        Ok(node)
    }

    fn attribute<'a>(
        &self,
        message: &'a [u8],
        inner: &mut dyn FnMut(&'a str) -> Option<ValueId>,
        depth: usize,
    ) -> Result<(String, Attribute)> {
        self.limits.take(64)?;
        let (mut name, mut kind, mut value) = ("", 0, None);
        let (mut all_ints, mut all_floats, mut all_texts) = (Vec::new(), Vec::new(), Vec::new());
        for field in Fields::new(message) {
            let (number, wire) = field?;
            match number {
                1 => name = wire.text()?,
                2 => value = Some(Attribute::Float(wire.float()?)),
                3 => value = Some(Attribute::Int(wire.int()?)),
                4 => value = Some(Attribute::Text(text(wire)?)),
                5 => {
                    value = Some(match tensor::read(wire.bytes()?, &self.limits) {
                        Ok((_, tensor)) => Attribute::Tensor(tensor),
                        Err(error) if error.kind() == ErrorKind::DType => {
                            Attribute::Unread(error.to_string())
                        }
                        Err(error) => return Err(error),
                    });
                }
                6 => {
                    let graph = self.graph(wire.bytes()?, inner, depth + 1)?;
                    value = Some(Attribute::Graph(Box::new(graph)));
                }
                7 => {
                    for chunk in fixed::<4>(&wire)?.chunks_exact(4) {
                        self.limits.take(4)?;
                        all_floats
                            .push(f32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]));
                    }
                }
                8 => {
                    for int in ints(wire) {
                        self.limits.take(8)?;
                        all_ints.push(int?);
                    }
                }
                9 => {
                    let text = text(wire)?;
                    self.limits.take(24 + text.len())?;
                    all_texts.push(text);
                }
                20 => kind = wire.int()?,
                10 | 11 | 14 | 15 | 22 | 23 | 21 => {
                    value = Some(Attribute::Unread(format!(
                        "its attribute `{name}` is not supported"
                    )));
                }
                _ => {}
            }
        }
        let value = match (kind, value) {
            (6, _) => Attribute::Floats(all_floats),
            (7, _) => Attribute::Ints(all_ints),
            (8, _) => Attribute::Texts(all_texts),
            (_, Some(value)) => value,
            // Fields that are zero may be left out.
            (1, None) => Attribute::Float(0.0),
            (2, None) => Attribute::Int(0),
            (3, None) => Attribute::Text(String::new()),
            (_, None) if !all_floats.is_empty() => Attribute::Floats(all_floats),
            (_, None) if !all_texts.is_empty() => Attribute::Texts(all_texts),
            (_, None) => Attribute::Ints(all_ints),
        };
        Ok((name.to_owned(), value))
    }

    /// Reads a `ValueInfoProto`: the name and the type of a value.
    fn value_info<'a>(&self, message: &'a [u8]) -> Result<(&'a str, ValueType)> {
        let (mut name, mut kind) = ("", ValueType::default());
        for field in Fields::new(message) {
            match field? {
                (1, wire) => name = wire.text()?,
                (2, wire) => kind = self.value_type(wire.bytes()?)?,
                _ => {}
            }
        }
        Ok((name, kind))
    }

    fn value_type(&self, message: &[u8]) -> Result<ValueType> {
        let mut kind = ValueType::default();
        for field in Fields::new(message) {
            let (number, wire) = field?;
            kind.spelling = match number {
                1 => String::new(),
                4 => "sequence".into(),
                5 => "map".into(),
                8 => "sparse tensor".into(),
                9 => "optional".into(),
                _ => continue,
            };
            if number != 1 {
                continue;
            }
            for field in Fields::new(wire.bytes()?) {
                match field? {
                    (1, wire) => {
                        let number = wire.int()?;
                        kind.dtype = tensor::dtype(number).ok();
                        kind.spelling = tensor::type_name(number);
                    }
                    (2, wire) => kind.sizes = Some(self.sizes(wire.bytes()?)?),
                    _ => {}
                }
            }
        }
        Ok(kind)
    }

    fn sizes(&self, message: &[u8]) -> Result<Vec<StatedSize>> {
        let mut sizes = Vec::new();
        for field in Fields::new(message) {
            let (1, wire) = field? else { continue };
            let mut size = StatedSize::Unknown;
            for field in Fields::new(wire.bytes()?) {
                match field? {
                    (1, wire) => {
                        size = usize::try_from(wire.int()?)
                            .map_or(StatedSize::Unknown, StatedSize::Fixed);
                    }
                    (2, wire) => {
                        let text = wire.text()?;
                        if !text.is_empty() {
                            size = StatedSize::Symbol(text.to_owned());
                        }
                    }
                    _ => {}
                }
            }
            self.limits.take(48)?;
            sizes.push(size);
        }
        Ok(sizes)
    }
}

fn text(wire: Wire<'_>) -> Result<String> {
    Ok(String::from_utf8_lossy(wire.bytes()?).into_owned())
}
