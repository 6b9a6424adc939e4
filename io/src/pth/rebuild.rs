//! The functions that a pickle of tensors calls: their results, computed from the arguments.

use nomina::Result;

use super::arena::{Node, Span, StorageNode, TensorNode};
use super::global::Global;
use super::machine::Machine;

/// A limit above the number of dims of any tensor.
const MOST_DIMS: usize = 64;

/// How deep calls may be in the arguments of calls.
const DEEPEST: usize = 4;

impl Machine {
    /// Returns the result of a function.
    pub(super) fn call(&mut self, function: Node, arguments: Node, depth: usize) -> Result<Node> {
        let Node::Global(global) = function else {
            return Err(self.broken("a call of a value that is not a function"));
        };
        let Node::Tuple(span) = arguments else {
            return Err(self.broken("a call without a tuple of arguments"));
        };
        let arguments = span.within(&self.arena.items);
        match (global, arguments) {
            (Global::Dict, []) => Ok(Node::Dict(self.arena.container(self.op)?)),
            (Global::Dict, &[items]) => self.dict(items),
            (Global::List, []) => Ok(Node::List(self.arena.container(self.op)?)),
            (Global::List, &[Node::List(at)]) => Ok(Node::List(at)),
            (Global::Size, &[Node::Tuple(sizes)]) => Ok(Node::Tuple(sizes)),
            (Global::Device, [..]) => Ok(Node::Device),
            (Global::Parameter, &[data @ Node::Tensor(_), ..]) => Ok(data),
            (Global::FromType, &[function, _, inner, ..]) if depth < DEEPEST => {
                self.call(function, inner, depth + 1)
            }
            (Global::Tensor, &[storage, offset, sizes, strides]) => {
                self.tensor(storage, offset, [sizes, strides], None, None)
            }
            (Global::Tensor, &[storage, offset, sizes, strides, _, _]) => {
                self.tensor(storage, offset, [sizes, strides], None, None)
            }
            (Global::Tensor, &[storage, offset, sizes, strides, _, _, metadata]) => {
                self.tensor(storage, offset, [sizes, strides], None, Some(metadata))
            }
            (Global::TypedTensor, &[storage, offset, sizes, strides, _, _, dtype]) => {
                self.tensor(storage, offset, [sizes, strides], Some(dtype), None)
            }
            (Global::TypedTensor, &[storage, offset, sizes, strides, _, _, dtype, metadata]) => {
                self.tensor(
                    storage,
                    offset,
                    [sizes, strides],
                    Some(dtype),
                    Some(metadata),
                )
            }
            (global, arguments) => {
                let what = format!("a call of {global:?} with {} arguments", arguments.len());
                Err(self.broken(what))
            }
        }
    }

    /// Returns a dict from another one, or from a list of pairs.
    fn dict(&mut self, items: Node) -> Result<Node> {
        let dict = self.arena.container(self.op)?;
        match items {
            Node::Dict(_) => {
                let items = self.arena.items(items).unwrap_or_default().to_vec();
                self.arena.extend(self.op, dict, &items)?;
            }
            Node::List(_) | Node::Tuple(_) => {
                for pair in self.arena.items(items).unwrap_or_default().to_vec() {
                    let pair = match self.arena.items(pair) {
                        Some(&[key, value]) => [key, value],
                        _ => return Err(self.broken("a dict of items that are not pairs")),
                    };
                    self.arena.extend(self.op, dict, &pair)?;
                }
            }
            _ => return Err(self.broken("a dict of a value that has no items")),
        }
        Ok(Node::Dict(dict))
    }

    /// Returns the storage of a persistent id: `("storage", class, key, device, number of elements)`.
    pub(super) fn storage(&mut self, id: Node) -> Result<Node> {
        let found = match self.arena.items(id) {
            Some(
                &[
                    Node::Text(kind),
                    Node::Global(Global::Storage(elements)),
                    Node::Text(key),
                    _,
                    Node::Int(numel),
                    ..,
                ],
            ) if self.arena.text(kind) == "storage" => Some((key, elements, numel)),
            _ => None,
        };
        let Some((key, elements, numel)) = found else {
            return Err(self.broken("a persistent id that is not one of a storage"));
        };
        let Ok(numel) = usize::try_from(numel) else {
            return Err(self.broken(format!("a storage of {numel} elements")));
        };
        let same = |old: &StorageNode| {
            old.elements == elements && self.arena.text(old.key) == self.arena.text(key)
        };
        // Consecutive tensors often share their storage. Others are merged by their key later.
        if let Some(last) = self.arena.storages.last().filter(|old| same(old))
            && last.numel == numel
        {
            return Ok(Node::Storage((self.arena.storages.len() - 1) as u32));
        }
        self.arena.charge::<StorageNode>(self.op, 1)?;
        self.arena.storages.push(StorageNode {
            key,
            elements,
            numel,
        });
        Ok(Node::Storage((self.arena.storages.len() - 1) as u32))
    }

    fn tensor(
        &mut self,
        storage: Node,
        offset: Node,
        layout: [Node; 2],
        dtype: Option<Node>,
        metadata: Option<Node>,
    ) -> Result<Node> {
        let (Node::Storage(storage), Node::Int(offset)) = (storage, offset) else {
            return Err(self.broken("a tensor without a storage and an offset"));
        };
        let own = self.arena.storages[storage as usize].elements;
        let elements = match (dtype, own) {
            (Some(Node::Global(Global::DType(elements))), _) => elements,
            (None, Some(elements)) => elements,
            _ => return Err(self.broken("a tensor without a dtype")),
        };
        let [sizes, strides] = [self.numbers(layout[0])?, self.numbers(layout[1])?];
        let (rank, other) = (self.count(sizes), self.count(strides));
        if rank != other || rank > MOST_DIMS {
            let what = format!("a tensor with {rank} sizes and {other} strides");
            return Err(self.broken(what));
        }
        let Ok(offset) = usize::try_from(offset) else {
            return Err(self.broken(format!("a tensor at offset {offset}")));
        };
        let flag = |name| {
            let value = metadata.and_then(|metadata| self.arena.get(metadata, name));
            matches!(value, Some(Node::Bool(true)))
        };
        let tensor = TensorNode {
            storage,
            elements,
            offset,
            sizes,
            strides,
            conjugated: flag("conj"),
            negated: flag("neg"),
        };
        self.arena.charge::<TensorNode>(self.op, 1)?;
        self.arena.tensors.push(tensor);
        Ok(Node::Tensor((self.arena.tensors.len() - 1) as u32))
    }

    fn count(&self, span: Span) -> usize {
        span.within(&self.arena.items).len()
    }

    /// Checks that a tuple consists of numbers that are not negative.
    fn numbers(&self, tuple: Node) -> Result<Span> {
        let Node::Tuple(span) = tuple else {
            return Err(self.broken("sizes or strides that are not a tuple"));
        };
        let fits = |node: &Node| matches!(node, Node::Int(number) if *number >= 0);
        if span.within(&self.arena.items).iter().all(fits) {
            Ok(span)
        } else {
            Err(self.broken("a size or a stride that is not a number from 0"))
        }
    }
}
