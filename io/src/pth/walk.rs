//! The tensors and other values of a pickle, by their paths.

use std::collections::BTreeMap;

use nomina::{Error, ErrorKind, Result};

use super::arena::{Arena, Node};
use super::value::Value;

/// A limit on the depth of containers.
const DEEPEST: usize = 100;

/// A limit on the bytes of a path.
const LONGEST: usize = 1 << 16;

/// Collects the paths of values, in memory limited by `room`.
pub(super) struct Walk<'a> {
    op: &'static str,
    arena: &'a Arena,
    room: usize,
    /// The visits of containers that are left. Containers that refer to each other could be visited endlessly.
    visits: usize,
    path: String,
}

/// Receives the values of a pickle with their paths.
pub(super) trait Visit {
    /// Receives a value that is not a container.
    fn leaf(&mut self, walk: &mut Walk<'_>, node: Node) -> Result<()>;

    /// Receives the attributes of a dict.
    fn attributes(&mut self, walk: &mut Walk<'_>, node: Node) -> Result<()> {
        let _ = (walk, node);
        Ok(())
    }
}

impl<'a> Walk<'a> {
    pub(super) fn new(op: &'static str, arena: &'a Arena, room: usize) -> Self {
        let items: usize = arena.containers.iter().map(|all| all.items.len()).sum();
        Self {
            op,
            arena,
            room,
            visits: 4 * (items + arena.items.len()) + 64,
            path: String::new(),
        }
    }

    #[cold]
    fn broken(&self, what: impl Into<String>) -> Error {
        Error::new(ErrorKind::Parse, self.op, what.into())
    }

    /// Returns a copy of the path of the current value.
    pub(super) fn path(&mut self) -> Result<String> {
        let bytes = self.path.len() + size_of::<(String, Value)>();
        match self.room.checked_sub(bytes) {
            Some(room) => self.room = room,
            None => return Err(self.broken("its paths would take more memory than the file")),
        }
        Ok(self.path.clone())
    }

    /// Visits a value and those in it.
    pub(super) fn visit(&mut self, node: Node, depth: usize, to: &mut impl Visit) -> Result<()> {
        let Some(items) = self.arena.items(node) else {
            return to.leaf(self, node);
        };
        if depth > DEEPEST {
            return Err(self.broken(format!("containers more than {DEEPEST} deep")));
        }
        let is_dict = match node {
            Node::Dict(at) => {
                let attributes = self.arena.containers[at as usize].attributes;
                attributes.map_or(Ok(()), |node| to.attributes(self, node))?;
                true
            }
            _ => false,
        };
        for (at, item) in items.chunks_exact(if is_dict { 2 } else { 1 }).enumerate() {
            self.visits = self
                .visits
                .checked_sub(1)
                .ok_or_else(|| self.broken("containers that refer to each other"))?;
            let parent = self.path.len();
            if depth > 0 {
                self.path.push('.');
            }
            let named = match item {
                [_] => {
                    self.path += &at.to_string();
                    true
                }
                [key, ..] => self.push_key(*key)?,
                [] => false,
            };
            // A key without a text is no part of a path.
            if let (true, Some(&value)) = (named, item.last()) {
                self.visit(value, depth + 1, to)?;
            }
            self.path.truncate(parent);
        }
        Ok(())
    }

    /// Appends the text of a key to the path, if it has one.
    fn push_key(&mut self, key: Node) -> Result<bool> {
        match key {
            Node::Text(text) => {
                let text = self.arena.text(text);
                if self.path.len() + text.len() > LONGEST {
                    return Err(self.broken(format!("a path of more than {LONGEST} bytes")));
                }
                self.path += text;
            }
            Node::Int(number) => self.path += &number.to_string(),
            Node::Bool(truth) => self.path += if truth { "True" } else { "False" },
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The paths of tensors, and the versions of modules.
#[derive(Default)]
pub(super) struct Tensors {
    /// The path of each tensor, and its index in the arena.
    pub(super) found: BTreeMap<String, u32>,
    pub(super) versions: BTreeMap<String, i64>,
}

impl Visit for Tensors {
    fn leaf(&mut self, walk: &mut Walk<'_>, node: Node) -> Result<()> {
        let Node::Tensor(tensor) = node else {
            return Ok(());
        };
        let path = walk.path()?;
        match self.found.insert(path, tensor) {
            None => Ok(()),
            Some(_) => Err(walk.broken(format!("two tensors have the path `{}`", walk.path))),
        }
    }

    fn attributes(&mut self, walk: &mut Walk<'_>, node: Node) -> Result<()> {
        let arena = walk.arena;
        let metadata = arena.get(node, "_metadata");
        let modules = metadata.and_then(|metadata| arena.items(metadata));
        for module in modules.unwrap_or_default().chunks_exact(2) {
            let (Node::Text(name), Some(Node::Int(version))) =
                (module[0], arena.get(module[1], "version"))
            else {
                continue;
            };
            let parent = walk.path.len();
            let name = arena.text(name);
            if parent > 0 && !name.is_empty() {
                walk.path.push('.');
            }
            walk.path += name;
            let path = walk.path();
            walk.path.truncate(parent);
            self.versions.insert(path?, version);
        }
        Ok(())
    }
}

/// The paths of values that are not tensors.
#[derive(Default)]
pub(super) struct Values(pub(super) BTreeMap<String, Value>);

impl Visit for Values {
    fn leaf(&mut self, walk: &mut Walk<'_>, node: Node) -> Result<()> {
        let value = match node {
            Node::None => Value::None,
            Node::Bool(truth) => Value::Bool(truth),
            Node::Int(number) => Value::Int(number),
            Node::Float(number) => Value::Float(number),
            Node::Text(text) => {
                let text = walk.arena.text(text);
                walk.room = walk.room.saturating_sub(text.len());
                Value::Text(text.to_owned())
            }
            _ => return Ok(()),
        };
        let path = walk.path()?;
        self.0.insert(path, value);
        Ok(())
    }
}
