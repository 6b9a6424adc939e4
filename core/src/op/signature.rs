//! Signatures of operators: PyTorch's schema, abbreviated.
//!
//! A signature reads `self, other: Operand, *, alpha: Scalar = 1`. A parameter without a kind is a
//! tensor; parameters after `*` are keyword-only; a parameter with `=` is optional.

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
    /// Dims of two tensors: a number of dims, dims of both, or a list for each.
    Pair,
    /// A choice that changes how a result is computed, but not the result.
    Mode,
    /// One of several words: how a result is reduced or rounded.
    Word,
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// The name, as PyTorch spells the keyword.
    pub name: &'static str,
    /// The kind.
    pub kind: ParamKind,
    /// The default, if the parameter is optional.
    pub default: Option<&'static str>,
    /// Whether it is keyword-only.
    pub keyword: bool,
}

/// A parsed signature.
#[derive(Clone, Copy, Debug)]
pub struct Signature(&'static str);

impl Signature {
    /// Creates a signature from its text.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self(text)
    }

    /// Parses the parameters, in order.
    ///
    /// # Panics
    /// On an unknown kind; a test parses every row's signature.
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
