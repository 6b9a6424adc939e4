//! Binds arguments to a row's signature.

use nomina_core::op::{Op, Param, ParamKind};
use nomina_core::rule::{DimArg, DimRef, NameItem};
use nomina_core::{DType, Error, ErrorKind, MemoryFormat, Result, Scalar};
use nomina_runtime::Device;

use super::adapt;
use super::value::{Value, wrong};
use nomina_runtime::tensor::{DynSparse, DynTensor, Operand};

/// The arguments of a call, by parameter.
#[derive(Clone, Debug)]
pub struct Bound {
    op: Op,
    values: Vec<(&'static str, Value)>,
    /// Additional arguments of an overload that the row does not have.
    pub(super) extra: Vec<(String, Value)>,
    pub(super) out: Option<Value>,
}

/// PyTorch's keywords that are ignored.
const IGNORED: &[&str] = &[
    "requires_grad",
    "pin_memory",
    "layout",
    "copy",
    "inplace",
    "_stacklevel",
    "generator",
    "non_blocking",
    "check_invariants",
];

impl Bound {
    /// Binds arguments to the parameters of `op`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there are too many arguments, one is missing, or a keyword is
    /// unknown.
    pub fn new(
        op: Op,
        mut positional: Vec<Value>,
        mut keyword: Vec<(String, Value)>,
    ) -> Result<Self> {
        let mut bound = Self {
            op,
            values: Vec::new(),
            extra: Vec::new(),
            out: None,
        };
        let params: Vec<Param> = op.row().params().collect();
        let first = params.first().map_or("", |param| param.name);
        for (name, _) in &mut keyword {
            match name.as_str() {
                "input" if params.iter().any(|param| param.name == "self") => *name = "self".into(),
                "axis" if op != Op::Rename => *name = "dim".into(),
                _ => {}
            }
        }
        if let Some(at) = keyword
            .iter()
            .position(|(name, _)| name == "out" && op != Op::Rename)
        {
            let out = keyword.remove(at).1;
            bound.out = (!matches!(out, Value::None)).then_some(out);
        }
        adapt::arguments(op, &mut positional, &mut keyword, &mut bound.extra)?;
        bound.positional(&params, positional)?;
        for (name, value) in keyword {
            bound.keyword(&params, name, value)?;
        }
        match params
            .iter()
            .find(|p| p.default.is_none() && bound.get(p.name).is_none())
        {
            None => Ok(bound),
            Some(missing) => {
                let what = format!("argument `{}` is missing", missing.name);
                let given = bound
                    .values
                    .iter()
                    .map(|(name, _)| *name)
                    .collect::<Vec<_>>();
                Err(
                    Error::new(ErrorKind::Argument, op.name(), what).hint(format!(
                        "it takes ({}), given are {given:?}, first of all `{first}`",
                        op.row().signature
                    )),
                )
            }
        }
    }

    fn positional(&mut self, params: &[Param], values: Vec<Value>) -> Result<()> {
        let slots: Vec<&Param> = params.iter().filter(|param| !param.keyword).collect();
        let given = values.len();
        let mut values = values.into_iter().peekable();
        for (at, slot) in slots.iter().enumerate() {
            let Some(value) = values.next() else { break };
            let last = at + 1 == slots.len();
            let gathers = matches!(
                slot.kind,
                ParamKind::Sizes | ParamKind::Order | ParamKind::Dims | ParamKind::Names
            );
            if last && gathers && values.peek().is_some() {
                let list = std::iter::once(value).chain(values.by_ref()).collect();
                self.values.push((slot.name, Value::List(list)));
            } else {
                self.values.push((slot.name, value));
            }
        }
        if values.next().is_some() {
            let what = format!("{given} arguments are too many");
            return Err(Error::new(ErrorKind::Argument, self.op.name(), what)
                .hint(format!("it takes ({})", self.op.row().signature)));
        }
        Ok(())
    }

    fn keyword(&mut self, params: &[Param], name: String, value: Value) -> Result<()> {
        if let Some(param) = params.iter().find(|param| param.name == name) {
            if self.get(param.name).is_some() {
                let what = format!("argument `{name}` is given twice");
                return Err(Error::new(ErrorKind::Argument, self.op.name(), what)
                    .hint("give it by position or by keyword"));
            }
            self.values.push((param.name, value));
            return Ok(());
        }
        if IGNORED.contains(&name.as_str()) {
            return Ok(());
        }
        let what = format!("no argument is called `{name}`");
        Err(Error::new(ErrorKind::Argument, self.op.name(), what)
            .hint(format!("it takes ({})", self.op.row().signature)))
    }

    pub(super) fn op(&self) -> &'static str {
        self.op.name()
    }

    /// Returns whether there is an out tensor.
    #[must_use]
    pub fn has_out(&self) -> bool {
        self.out.is_some()
    }

    /// Returns an argument as it was given; `None` if it was omitted.
    #[must_use]
    pub fn get(&self, param: &str) -> Option<&Value> {
        self.values
            .iter()
            .find(|(name, _)| *name == param)
            .map(|(_, value)| value)
    }

    /// Like [`Self::get`], but treats an explicit `None` as omitted.
    pub(super) fn given(&self, param: &str) -> Option<&Value> {
        self.get(param)
            .filter(|value| !matches!(value, Value::None))
    }

    pub(super) fn extra(&self, name: &str) -> Option<&Value> {
        self.extra
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    fn must(&self, param: &str) -> Result<&Value> {
        self.get(param).ok_or_else(|| self.missing(param))
    }

    fn missing(&self, param: &str) -> Error {
        let what = format!("argument `{param}` is missing");
        Error::new(ErrorKind::Argument, self.op(), what).hint("give it")
    }

    pub(super) fn tensor(&self, param: &str) -> Result<&DynTensor> {
        match self.must(param)? {
            Value::Tensor(x) => Ok(x),
            other => Err(wrong(self.op(), param, "a tensor", other)),
        }
    }

    /// Returns a sparse tensor argument.
    pub(super) fn sparse(&self, param: &str) -> Result<&DynSparse> {
        match self.must(param)? {
            Value::Sparse(x) => Ok(x),
            Value::Tensor(x) => {
                let what = format!("argument `{param}` is dense");
                Err(Error::new(ErrorKind::Layout, self.op(), what)
                    .operand(x.names(), x.shape())
                    .hint("call `to_sparse()` first"))
            }
            other => Err(wrong(self.op(), param, "a sparse tensor", other)),
        }
    }

    /// Returns a sparse tensor among the arguments.
    pub(super) fn any_sparse(&self) -> Option<DynSparse> {
        fn of(value: &Value) -> Option<&DynSparse> {
            match value {
                Value::Sparse(x) => Some(x),
                Value::List(items) => items.iter().find_map(of),
                _ => None,
            }
        }
        let values = self.values.iter().map(|(_, value)| value);
        values.chain(&self.out).find_map(of).cloned()
    }

    /// Takes a tensor argument, so that writing to it needs no copy if it is unshared.
    pub(super) fn take_tensor(&mut self, param: &str) -> Result<DynTensor> {
        match self.values.iter().position(|(name, _)| *name == param) {
            Some(at) => match self.values.swap_remove(at).1 {
                Value::Tensor(x) => Ok(x),
                other => Err(wrong(self.op(), param, "a tensor", &other)),
            },
            None => self.tensor(param).cloned(),
        }
    }

    pub(super) fn take_out(&mut self) -> Result<DynTensor> {
        match self.out.take() {
            Some(Value::Tensor(x)) => Ok(x),
            Some(other) => Err(wrong(self.op(), "out", "a tensor", &other)),
            None => Err(
                Error::new(ErrorKind::Argument, self.op(), "argument `out` is missing")
                    .hint("give a tensor to write into"),
            ),
        }
    }

    pub(super) fn tensors(&self, param: &str) -> Result<Vec<&DynTensor>> {
        let wrong = |got: &Value| wrong(self.op(), param, "a list of tensors", got);
        match self.must(param)? {
            Value::List(items) => items
                .iter()
                .map(|item| match item {
                    Value::Tensor(x) => Ok(x),
                    other => Err(wrong(other)),
                })
                .collect(),
            other => Err(wrong(other)),
        }
    }

    pub(super) fn operand(&self, param: &str) -> Result<Operand<'_>> {
        let value = self.must(param)?;
        value
            .as_operand()
            .ok_or_else(|| wrong(self.op(), param, "a tensor or a number", value))
    }

    /// Returns the row's default of an omitted number or bool.
    fn default(&self, param: &str) -> Result<Scalar> {
        let text = self.op.row().params().find(|known| known.name == param);
        match text.and_then(|known| known.default) {
            Some("True") => Ok(Scalar::Bool(true)),
            Some("False") => Ok(Scalar::Bool(false)),
            text => {
                let number = text.and_then(|text| {
                    let int = text.parse().ok().map(Scalar::Int);
                    int.or_else(|| text.parse().ok().map(Scalar::Float))
                });
                number.ok_or_else(|| self.missing(param))
            }
        }
    }

    pub(super) fn scalar(&self, param: &str) -> Result<Scalar> {
        match self.given(param) {
            None => self.default(param),
            Some(Value::Tensor(x)) if x.numel() == 1 => x.item(),
            Some(value) => value
                .as_scalar()
                .ok_or_else(|| wrong(self.op(), param, "a number", value)),
        }
    }

    pub(super) fn float(&self, param: &str) -> Result<f64> {
        self.scalar(param).map(Scalar::to_f64)
    }

    pub(super) fn int(&self, param: &str) -> Result<i64> {
        match self.given(param) {
            None => Ok(self.default(param)?.to_i64()),
            Some(value) => value
                .as_int()
                .ok_or_else(|| wrong(self.op(), param, "an integer", value)),
        }
    }

    /// Returns an integer whose default depends on other arguments.
    pub(super) fn int_or(&self, param: &str, default: i64) -> Result<i64> {
        match self.given(param) {
            None => Ok(default),
            Some(_) => self.int(param),
        }
    }

    pub(super) fn flag(&self, param: &str) -> Result<bool> {
        match self.given(param) {
            // If the row has no default, or `None`, the flag is off.
            None => Ok(self.default(param).is_ok_and(Scalar::to_bool)),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::Int(flag)) => Ok(*flag != 0),
            Some(other) => Err(wrong(self.op(), param, "a bool", other)),
        }
    }

    /// Returns the index of a string argument among some words; `None` if omitted.
    pub(super) fn word(&self, param: &str, words: &[&str]) -> Result<Option<usize>> {
        let Some(value) = self.given(param) else {
            return Ok(None);
        };
        if let Value::Str(word) = value
            && let Some(at) = words.iter().position(|known| known == word)
        {
            return Ok(Some(at));
        }
        let what = format!("argument `{param}` is none of {words:?}");
        Err(Error::new(ErrorKind::Argument, self.op(), what).hint("give one of these words"))
    }

    pub(super) fn dtype(&self) -> Result<Option<DType>> {
        match self.given("dtype") {
            None => Ok(None),
            Some(Value::DType(dtype)) => Ok(Some(*dtype)),
            Some(Value::Str(text)) => text.parse().map(Some),
            Some(other) => Err(wrong(self.op(), "dtype", "a dtype", other)),
        }
    }

    pub(super) fn device(&self, param: &str) -> Result<Option<Device>> {
        match self.given(param) {
            None => Ok(None),
            Some(value) => match value.as_device() {
                Some(device) => device.map(Some),
                None => Err(wrong(self.op(), param, "a device", value)),
            },
        }
    }

    /// Parses a memory format in PyTorch's spelling.
    pub(super) fn format(&self) -> Result<Option<MemoryFormat>> {
        match self.given("memory_format") {
            None => Ok(None),
            Some(Value::Str(text)) => text.trim_start_matches("torch.").parse().map(Some),
            Some(other) => Err(wrong(self.op(), "memory_format", "a memory format", other)),
        }
    }

    pub(super) fn dim(&self, param: &str) -> Result<DimRef<'_>> {
        match self.get(param) {
            Some(value) => value
                .as_dim()
                .ok_or_else(|| wrong(self.op(), param, "a dim", value)),
            None => Ok(DimRef::Index(self.default_of(param)?)),
        }
    }

    /// Returns a numeric default of the row.
    fn default_of(&self, param: &str) -> Result<i64> {
        let row = self.op.row();
        let default = row
            .params()
            .find(|p| p.name == param)
            .and_then(|p| p.default);
        default.and_then(|text| text.parse().ok()).ok_or_else(|| {
            let what = format!("argument `{param}` is missing");
            Error::new(ErrorKind::Argument, self.op(), what).hint("give a dim")
        })
    }

    /// Returns the dims of a reduction. If omitted, all dims; an explicit `None` also means all
    /// dims if PyTorch takes a list, and the unnamed dim if PyTorch takes a single dim.
    pub(super) fn dims(&self, param: &str, none_is_all: bool) -> Result<DimArg<'_>> {
        match self.get(param) {
            None => Ok(DimArg::all()),
            Some(Value::None) if none_is_all => Ok(DimArg::all()),
            Some(value) => value
                .as_dims()
                .ok_or_else(|| wrong(self.op(), param, "dims", value)),
        }
    }

    pub(super) fn order(&self, param: &str) -> Result<Vec<NameItem<'_>>> {
        let value = self.must(param)?;
        value
            .as_order()
            .ok_or_else(|| wrong(self.op(), param, "names", value))
    }

    pub(super) fn sizes(&self, param: &str) -> Result<Vec<i64>> {
        let value = self.must(param)?;
        value
            .as_sizes()
            .ok_or_else(|| wrong(self.op(), param, "sizes", value))
    }

    /// Returns an optional name.
    pub(super) fn name(&self, param: &str) -> Result<Option<&str>> {
        match self.given(param) {
            None => Ok(None),
            Some(Value::Str(name)) => Ok(Some(name)),
            Some(other) => Err(wrong(self.op(), param, "a name", other)),
        }
    }
}
