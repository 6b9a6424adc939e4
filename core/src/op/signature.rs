//! Signatures of operators: PyTorch's schema, in short.
//!
//! A signature reads `self, other: Operand, *, alpha: Scalar = 1`. What has no kind is a tensor;
//! what follows `*` is by keyword only; what has `=` may be left out.

/// The kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParamKind {
    /// A tensor.
    Tensor,
    /// A tensor or a number.
    Operand,
    /// Several tensors.
    Tensors,
    /// A number.
    Scalar,
    /// One dim, by name or position.
    Dim,
    /// Some dims, or all.
    Dims,
    /// Names for a result.
    Names,
    /// An order of dims, with one `..`.
    Order,
    /// An integer.
    Int,
    /// Sizes.
    Sizes,
    /// A truth value.
    Bool,
    /// A word, such as a mode.
    Str,
    /// A dtype.
    DType,
    /// A device.
    Device,
    /// An order of dims in memory.
    Format,
    /// Numbers in memory.
    Data,
    /// A text.
    Text,
    /// Dims of two tensors: how many, some of both, or a list for each.
    Pair,
    /// A choice that changes how something is computed and not what.
    Mode,
    /// One of some words: how a result is reduced or rounded.
    Word,
}

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name, as PyTorch spells the keyword.
    pub name: &'static str,
    /// What it is.
    pub kind: ParamKind,
    /// What it is when left out.
    pub default: Option<&'static str>,
    /// Whether it is given by keyword only.
    pub keyword: bool,
}

/// A parsed signature.
#[derive(Clone, Copy, Debug)]
pub struct Signature(&'static str);

impl Signature {
    /// Reads a signature.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self(text)
    }

    /// The parameters, in order.
    ///
    /// # Panics
    /// On a kind that does not exist; a test reads every row's signature.
    pub fn params(self) -> impl Iterator<Item = Param> {
        let mut keyword = false;
        self.0
            .split(',')
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .filter_map(move |text| {
                if text == "*" {
                    keyword = true;
                    return None;
                }
                let (text, default) = match text.split_once('=') {
                    Some((text, default)) => (text.trim(), Some(default.trim())),
                    None => (text, None),
                };
                let (name, kind) = match text.split_once(':') {
                    Some((name, kind)) => (name.trim(), kind_of(kind.trim())),
                    None => (text, ParamKind::Tensor),
                };
                Some(Param {
                    name,
                    kind,
                    default,
                    keyword,
                })
            })
    }
}

fn kind_of(text: &str) -> ParamKind {
    match text {
        "Tensor" => ParamKind::Tensor,
        "Operand" => ParamKind::Operand,
        "Tensors" => ParamKind::Tensors,
        "Scalar" => ParamKind::Scalar,
        "Dim" => ParamKind::Dim,
        "Dims" => ParamKind::Dims,
        "Names" => ParamKind::Names,
        "Order" => ParamKind::Order,
        "Int" => ParamKind::Int,
        "Sizes" => ParamKind::Sizes,
        "Bool" => ParamKind::Bool,
        "Str" => ParamKind::Str,
        "DType" => ParamKind::DType,
        "Device" => ParamKind::Device,
        "Format" => ParamKind::Format,
        "Data" => ParamKind::Data,
        "Text" => ParamKind::Text,
        "Pair" => ParamKind::Pair,
        "Mode" => ParamKind::Mode,
        "Word" => ParamKind::Word,
        other => panic!("no parameter kind is called {other}"),
    }
}

impl super::Row {
    /// What the operator takes.
    pub fn params(&self) -> impl Iterator<Item = Param> {
        Signature::new(self.signature).params()
    }
}
