//! The values of a pickle. They refer to each other by index, so that cycles and deep nesting need no care.

use nomina::{Error, ErrorKind, Result};

use super::global::Global;
use crate::foreign::Elements;

/// Consecutive bytes of the pickle, or values of the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    len: u32,
}

impl Span {
    pub(super) fn new(op: &'static str, start: usize, len: usize) -> Result<Self> {
        match (u32::try_from(start), u32::try_from(len)) {
            (Ok(start), Ok(len)) => Ok(Self { start, len }),
            _ => Err(Error::new(
                ErrorKind::Parse,
                op,
                "a pickle of more than 4 GiB",
            )),
        }
    }

    pub(super) fn within<T>(self, all: &[T]) -> &[T] {
        let start = self.start as usize;
        all.get(start..start + self.len as usize)
            .unwrap_or_default()
    }
}

/// A value of a pickle.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    None,
    Bool(bool),
    Int(i64),
    /// An integer of more than 64 bits.
    BigInt,
    Float(f64),
    Text(Span),
    Bytes,
    Tuple(Span),
    /// A list or a set.
    List(u32),
    Dict(u32),
    Global(Global),
    Device,
    Storage(u32),
    Tensor(u32),
}

/// A list, or the keys and values of a dict in turn.
#[derive(Debug, Default)]
pub(super) struct Container {
    pub(super) items: Vec<Node>,
    /// The attributes of a dict, such as `_metadata`.
    pub(super) attributes: Option<Node>,
}

/// A storage that tensors share.
#[derive(Clone, Copy, Debug)]
pub(super) struct StorageNode {
    /// The name of its file in the archive.
    pub(super) key: Span,
    /// None if it is untyped.
    pub(super) elements: Option<Elements>,
    pub(super) numel: usize,
}

/// A view of a storage.
#[derive(Clone, Copy, Debug)]
pub(super) struct TensorNode {
    pub(super) storage: u32,
    pub(super) elements: Elements,
    pub(super) offset: usize,
    pub(super) sizes: Span,
    pub(super) strides: Span,
    pub(super) conjugated: bool,
    pub(super) negated: bool,
}

/// All values of a pickle.
#[derive(Debug)]
pub(super) struct Arena {
    pub(super) bytes: Vec<u8>,
    pub(super) items: Vec<Node>,
    pub(super) containers: Vec<Container>,
    pub(super) storages: Vec<StorageNode>,
    pub(super) tensors: Vec<TensorNode>,
    /// The memory that values may still take.
    room: usize,
}

impl Arena {
    /// Creates an empty arena for a pickle whose values may take this memory.
    pub(super) fn new(bytes: Vec<u8>, room: usize) -> Self {
        Self {
            bytes,
            items: Vec::new(),
            containers: Vec::new(),
            storages: Vec::new(),
            tensors: Vec::new(),
            room,
        }
    }

    /// Takes memory for values, before they are allocated.
    pub(super) fn charge<T>(&mut self, op: &'static str, count: usize) -> Result<()> {
        let bytes = count.saturating_mul(size_of::<T>());
        self.room = self.room.checked_sub(bytes).ok_or_else(|| {
            let what = "its values would take several times the memory of the file";
            Error::new(ErrorKind::Parse, op, what)
        })?;
        Ok(())
    }

    pub(super) fn tuple(&mut self, op: &'static str, items: &[Node]) -> Result<Node> {
        self.charge::<Node>(op, items.len())?;
        let start = self.items.len();
        self.items.extend_from_slice(items);
        Ok(Node::Tuple(Span::new(op, start, items.len())?))
    }

    /// Creates an empty list or dict.
    pub(super) fn container(&mut self, op: &'static str) -> Result<u32> {
        self.charge::<Container>(op, 1)?;
        self.containers.push(Container::default());
        Ok((self.containers.len() - 1) as u32)
    }

    /// Appends items to a list or a dict.
    pub(super) fn extend(&mut self, op: &'static str, at: u32, items: &[Node]) -> Result<()> {
        self.charge::<Node>(op, items.len())?;
        self.containers[at as usize].items.extend_from_slice(items);
        Ok(())
    }

    /// Returns a text.
    pub(super) fn text(&self, span: Span) -> &str {
        // Checked when it was read.
        std::str::from_utf8(span.within(&self.bytes)).unwrap_or_default()
    }

    /// Returns the items of a list or a tuple, or the keys and values of a dict in turn.
    pub(super) fn items(&self, node: Node) -> Option<&[Node]> {
        match node {
            Node::Tuple(span) => Some(span.within(&self.items)),
            Node::List(at) | Node::Dict(at) => Some(&self.containers[at as usize].items),
            _ => None,
        }
    }

    /// Returns the value of a text key in a dict; the last one counts.
    pub(super) fn get(&self, dict: Node, key: &str) -> Option<Node> {
        let Node::Dict(at) = dict else { return None };
        let mut pairs = self.containers[at as usize].items.chunks_exact(2).rev();
        let found =
            pairs.find(|pair| matches!(pair[0], Node::Text(text) if self.text(text) == key));
        found.map(|pair| pair[1])
    }
}
