//! Reads a pickle: Python's stack machine, which here calls nothing. The few functions that pickles of tensors name are
//! steps of the machine itself (`rebuild.rs`).

use nomina::{Error, ErrorKind, Result};

use super::arena::{Arena, Node, Span};
use super::global::Global;

/// The newest protocol of pickles.
const PROTOCOLS: std::ops::RangeInclusive<u8> = 2..=5;

/// The machine: a stack of values, marks in it, and the values that later parts refer to.
pub(super) struct Machine {
    pub(super) op: &'static str,
    pub(super) arena: Arena,
    at: usize,
    stack: Vec<Node>,
    marks: Vec<u32>,
    memo: Vec<Node>,
    /// The greatest number of values that were on the stack.
    highest: usize,
}

/// Reads a pickle whose values may take `room` bytes of memory. Returns the values, and the outermost one.
///
/// # Errors
/// If the pickle is corrupt, or names a global that is not one of tensors.
pub(super) fn read(op: &'static str, bytes: Vec<u8>, room: usize) -> Result<(Arena, Node)> {
    let mut machine = Machine {
        op,
        arena: Arena::new(bytes, room),
        at: 0,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: Vec::new(),
        highest: 0,
    };
    let root = machine.run();
    let at = machine.at;
    match root {
        Ok(root) => Ok((machine.arena, root)),
        Err(error) => Err(error.within(format_args!("byte {at} of the pickle"))),
    }
}

impl Machine {
    /// Returns an error about the contents of the pickle.
    #[cold]
    pub(super) fn broken(&self, what: impl Into<String>) -> Error {
        Error::new(ErrorKind::Parse, self.op, what.into())
    }

    fn run(&mut self) -> Result<Node> {
        let start = self.take(2)?.within(&self.arena.bytes).to_vec();
        match start[..] {
            [0x80, version] if PROTOCOLS.contains(&version) => {}
            [0x80, version] => {
                return Err(self.broken(format!("pickles of protocol {version} are not supported")));
            }
            _ => return Err(self.broken("not a pickle of protocol 2 to 5")),
        }
        loop {
            let code = self.byte()?;
            if code == b'.' {
                return self.pop();
            }
            self.step(code)?;
            if self.stack.len() > self.highest {
                self.arena.charge::<Node>(self.op, 1)?;
                self.highest = self.stack.len();
            }
        }
    }

    fn step(&mut self, code: u8) -> Result<()> {
        let value = match code {
            0x95 => return self.take(8).map(drop),
            b'N' => Node::None,
            0x88 => Node::Bool(true),
            0x89 => Node::Bool(false),
            b'K' => Node::Int(self.number::<1>()? as i64),
            b'M' => Node::Int(self.number::<2>()? as i64),
            b'J' => Node::Int(i64::from(self.number::<4>()? as i32)),
            0x8a => self.long::<1>()?,
            0x8b => self.long::<4>()?,
            b'G' => Node::Float(f64::from_bits(self.number::<8>()?.swap_bytes())),
            b'X' | b'T' => self.text::<4>()?,
            0x8c | b'U' => self.text::<1>()?,
            0x8d => self.text::<8>()?,
            b'C' => self.blob::<1>()?,
            b'B' => self.blob::<4>()?,
            0x8e | 0x96 => self.blob::<8>()?,
            b')' => Node::Tuple(Span::new(self.op, 0, 0)?),
            0x85..=0x87 => self.tuple(usize::from(code - 0x84))?,
            b't' => {
                let start = self.mark()?;
                self.tuple(self.stack.len() - start)?
            }
            b']' | 0x8f => Node::List(self.arena.container(self.op)?),
            b'}' => Node::Dict(self.arena.container(self.op)?),
            b'l' | 0x91 => {
                let list = self.arena.container(self.op)?;
                self.append_marked(Some(Node::List(list)))?;
                Node::List(list)
            }
            b'd' => {
                let dict = self.arena.container(self.op)?;
                self.append_marked(Some(Node::Dict(dict)))?;
                Node::Dict(dict)
            }
            b'a' => {
                let item = self.pop()?;
                return self.append(1, &[item]);
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                return self.append(2, &[key, value]);
            }
            b'e' | b'u' | 0x90 => return self.append_marked(None),
            b'(' => {
                self.arena.charge::<u32>(self.op, 1)?;
                self.marks.push(self.stack.len() as u32);
                return Ok(());
            }
            b'0' => {
                // The top of the stack may be a mark.
                if self.marks.last() == Some(&(self.stack.len() as u32)) {
                    self.marks.pop();
                    return Ok(());
                }
                return self.pop().map(drop);
            }
            b'1' => {
                let start = self.mark()?;
                self.stack.truncate(start);
                return Ok(());
            }
            b'2' => self.top()?,
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.global(module, name)?
            }
            0x93 => match (self.pop()?, self.pop()?) {
                (Node::Text(name), Node::Text(module)) => self.global(module, name)?,
                _ => return Err(self.broken("a global whose name is not a text")),
            },
            b'q' => return self.remember::<1>(),
            b'r' => return self.remember::<4>(),
            0x94 => return self.remember_at(self.memo.len()),
            b'h' => self.recall::<1>()?,
            b'j' => self.recall::<4>()?,
            b'Q' => {
                let id = self.pop()?;
                self.storage(id)?
            }
            b'R' | 0x81 => {
                let (arguments, function) = (self.pop()?, self.pop()?);
                self.call(function, arguments, 0)?
            }
            b'b' => {
                let state = self.pop()?;
                return self.set_state(state);
            }
            code => {
                let what = format!("instruction {code:#04x}, which pickles of tensors do not have");
                return Err(self.broken(what));
            }
        };
        self.stack.push(value);
        Ok(())
    }

    /// Takes bytes from the pickle.
    fn take(&mut self, len: usize) -> Result<Span> {
        let end = self.at.checked_add(len);
        match end.filter(|&end| end <= self.arena.bytes.len()) {
            Some(end) => {
                let span = Span::new(self.op, self.at, len)?;
                self.at = end;
                Ok(span)
            }
            None => Err(self.broken("it ends too early")),
        }
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.number::<1>()? as u8)
    }

    /// Takes an unsigned little-endian integer.
    fn number<const SIZE: usize>(&mut self) -> Result<u64> {
        let span = self.take(SIZE)?;
        let mut wide = [0; 8];
        wide[..SIZE].copy_from_slice(span.within(&self.arena.bytes));
        Ok(u64::from_le_bytes(wide))
    }

    /// Takes a length of `SIZE` bytes, and the bytes that follow.
    fn counted<const SIZE: usize>(&mut self) -> Result<Span> {
        let len = self.number::<SIZE>()?;
        self.take(usize::try_from(len).unwrap_or(usize::MAX))
    }

    fn text<const SIZE: usize>(&mut self) -> Result<Node> {
        let span = self.counted::<SIZE>()?;
        self.utf8(span).map(Node::Text)
    }

    fn utf8(&self, span: Span) -> Result<Span> {
        match std::str::from_utf8(span.within(&self.arena.bytes)) {
            Ok(_) => Ok(span),
            Err(_) => Err(self.broken("a text is not UTF-8")),
        }
    }

    fn blob<const SIZE: usize>(&mut self) -> Result<Node> {
        self.counted::<SIZE>().map(|_| Node::Bytes)
    }

    /// Takes a signed little-endian integer of any length.
    fn long<const SIZE: usize>(&mut self) -> Result<Node> {
        let span = self.counted::<SIZE>()?;
        let bytes = span.within(&self.arena.bytes);
        let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        match wide.get_mut(..bytes.len()) {
            Some(low) => low.copy_from_slice(bytes),
            None => return Ok(Node::BigInt),
        }
        Ok(Node::Int(i64::from_le_bytes(wide)))
    }

    /// Takes a text up to the next newline.
    fn line(&mut self) -> Result<Span> {
        let rest = self.arena.bytes.get(self.at..).unwrap_or_default();
        let Some(len) = rest.iter().position(|&byte| byte == b'\n') else {
            return Err(self.broken("a line does not end"));
        };
        let span = self.take(len)?;
        self.at += 1;
        self.utf8(span)
    }

    /// Returns the first index that an instruction may take from the stack.
    fn floor(&self) -> usize {
        self.marks.last().map_or(0, |&mark| mark as usize)
    }

    fn pop(&mut self) -> Result<Node> {
        if self.stack.len() <= self.floor() {
            return Err(self.broken("a value is missing on the stack"));
        }
        self.stack
            .pop()
            .ok_or_else(|| self.broken("the stack is empty"))
    }

    fn top(&self) -> Result<Node> {
        match self.stack.last() {
            Some(&node) if self.stack.len() > self.floor() => Ok(node),
            _ => Err(self.broken("a value is missing on the stack")),
        }
    }

    /// Removes the last mark and returns its place in the stack.
    fn mark(&mut self) -> Result<usize> {
        match self.marks.pop() {
            Some(mark) => Ok(mark as usize),
            None => Err(self.broken("a mark is missing on the stack")),
        }
    }

    fn tuple(&mut self, len: usize) -> Result<Node> {
        match self.stack.len().checked_sub(len) {
            Some(start) if start >= self.floor() => {
                let tuple = self.arena.tuple(self.op, &self.stack[start..])?;
                self.stack.truncate(start);
                Ok(tuple)
            }
            _ => Err(self.broken("a value is missing on the stack")),
        }
    }

    /// Appends items to the container on top of the stack: one by one to a list, by pairs to a dict.
    fn append(&mut self, each: usize, items: &[Node]) -> Result<()> {
        let into = self.top()?;
        self.extend(into, each, items)
    }

    /// Appends the values after the last mark to a container, by default the one below them.
    fn append_marked(&mut self, into: Option<Node>) -> Result<()> {
        let start = self.mark()?;
        let items = self.stack.split_off(start);
        let into = match into {
            Some(into) => into,
            None => self.top()?,
        };
        let each = if matches!(into, Node::Dict(_)) { 2 } else { 1 };
        self.extend(into, each, &items)
    }

    fn extend(&mut self, into: Node, each: usize, items: &[Node]) -> Result<()> {
        match (into, each) {
            (Node::List(at), 1) => self.arena.extend(self.op, at, items),
            (Node::Dict(at), 2) if items.len().is_multiple_of(2) => {
                self.arena.extend(self.op, at, items)
            }
            _ => Err(self.broken("items for a value that is not a container of them")),
        }
    }

    fn global(&self, module: Span, name: Span) -> Result<Node> {
        let (module, name) = (self.arena.text(module), self.arena.text(name));
        match Global::find(module, name) {
            Some(global) => Ok(Node::Global(global)),
            None => {
                let what =
                    format!("the pickle needs `{module}.{name}`, which is not a part of tensors");
                Err(Error::new(ErrorKind::Parse, self.op, what).hint(
                    "save only the tensors in PyTorch: `torch.save(model.state_dict(), path)`",
                ))
            }
        }
    }

    fn remember<const SIZE: usize>(&mut self) -> Result<()> {
        let at = self.number::<SIZE>()?;
        self.remember_at(usize::try_from(at).unwrap_or(usize::MAX))
    }

    /// Remembers the top of the stack. Picklers number what they remember in order.
    fn remember_at(&mut self, at: usize) -> Result<()> {
        let node = self.top()?;
        if let Some(old) = self.memo.get_mut(at) {
            *old = node;
            return Ok(());
        }
        if at != self.memo.len() {
            return Err(self.broken(format!("the number {at} of a value is too large")));
        }
        self.arena.charge::<Node>(self.op, 1)?;
        self.memo.push(node);
        Ok(())
    }

    fn recall<const SIZE: usize>(&mut self) -> Result<Node> {
        let at = self.number::<SIZE>()? as usize;
        match self.memo.get(at) {
            Some(&node) => Ok(node),
            None => Err(self.broken(format!("there is no value of number {at}"))),
        }
    }

    /// Sets the attributes of the dict on top of the stack. Those of other values are ignored.
    fn set_state(&mut self, state: Node) -> Result<()> {
        match self.top()? {
            Node::Dict(at) => self.arena.containers[at as usize].attributes = Some(state),
            Node::Tensor(_) => {}
            _ => return Err(self.broken("attributes of a value that has none")),
        }
        Ok(())
    }
}
