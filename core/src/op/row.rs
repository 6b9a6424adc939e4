//! A row of the table.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::dtype_rule::{DTypeRule, DTypes};
use super::function::Function;
use super::grad::Grad;
use super::kernel_class::Class;
use super::signature::{Param, ParamKind, Signature};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::mesh::Combine;

/// The name rule of an operator (see [`crate::rule`] for the engine).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NameRule {
    /// The result has the input's names.
    Keeps,
    /// The reduced or selected dims are dropped, unless kept with size 1.
    Removes,
    /// The operands' names unify from the right.
    Unifies,
    /// The names are reordered.
    Permutes,
    /// A dim of each operand is contracted and dropped.
    Contracts,
    /// The names are an argument.
    Factory,
    /// Like a computed result that is written to self.
    InPlace,
    /// The result is not a tensor.
    None,
    /// Built from others: addmm is mm, then add.
    Compose,
    /// A named tensor may only keep its shape.
    SameShape,
    /// A rule of its own, named after the operator.
    Special,
}

/// The forms an operator has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Forms(u8);

impl Forms {
    /// `torch.add(a, b)`, a free function.
    pub const FUNCTION: Self = Self(1);
    /// `a.add(b)`
    pub const METHOD: Self = Self(2);
    /// `a.add_(b)`
    pub const IN_PLACE: Self = Self(4);
    /// `torch.add(a, b, out=c)`
    pub const OUT: Self = Self(8);
    /// `add_(…)` only, like `fill_`: the row's name has no trailing underscore.
    pub const IN_PLACE_ONLY: Self = Self(4 | 16);
    /// Function, method, in-place and out.
    pub const ALL: Self = Self(1 | 2 | 4 | 8);
    /// Function and method.
    pub const PURE: Self = Self(1 | 2);
    /// Function, method and out.
    pub const WITH_OUT: Self = Self(1 | 2 | 8);

    /// Returns whether every form of `other` is among these.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the union of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The inputs that the property tests draw for an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Samples {
    /// Any number.
    Any,
    /// Greater than zero.
    Positive,
    /// Between -1 and 1.
    Unit,
    /// Different from zero in the second operand.
    NonZero,
    /// The operator's tests generate the inputs.
    Own,
}

/// Whether and how an operator is implemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Implemented.
    Built,
    /// Exists in Python only; the text names the Rust equivalent.
    PythonOnly(&'static str),
    /// A kernel of another operator: has no public name.
    Part,
}

/// The sharding rule of an operator: the [`State`](crate::mesh::State)s its operands may have, and the result's. It
/// applies to each axis of a mesh separately; a state not mentioned is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Spread {
    /// One tensor, linear: any state is kept.
    Linear,
    /// One tensor, element by element: any state except pending.
    Elementwise,
    /// The sum of two: equal states, or whole with split; the sum of two pending sums is pending.
    SumOfTwo,
    /// The product of two: like the sum, but one operand may be a pending sum if the other is whole.
    ProductOfTwo,
    /// The quotient of two: the dividend may be a pending sum if the divisor is whole.
    QuotientOfTwo,
    /// Any other operator with two or more operands, element by element: like the sum, but nothing is pending.
    Pointwise,
    /// Over dims that each rank has all of, or across split ones; then the result is pending, with this combiner.
    Reduce(Combine),
    /// Along dims that each rank has all of; not linear.
    Along,
    /// Along dims that each rank has all of; linear: for a pending sum the result is pending.
    LinearAlong,
    /// Reorders or renames elements: any state is kept, and the split dim is renamed too.
    Rearrange,
    /// A subset or superset of the elements: like [`LinearAlong`](Self::LinearAlong).
    Part,
    /// A product summed over dims, which are whole in both operands, or split in both; then the result is pending. Like
    /// [`ProductOfTwo`](Self::ProductOfTwo) in the other dims.
    Contract,
    /// A look-up of rows in a table: the table is whole, or split by its rows, and then the result is pending.
    Lookup,
    /// Elements written at given indices, into dims that are not split: if the indices are split, the result is
    /// pending.
    Scatter,
    /// A window operation: batch and output channels may be split; input channels too, and then the result is pending.
    Window,
    /// A new tensor: whole, synced, or pieces of a tensor that is the same whatever the mesh.
    Create,
    /// Each rank needs all of the tensor.
    Whole,
    /// A query whose answer holds for a rank's piece.
    Local,
    /// No form on a mesh.
    Refused,
    /// Not declared by the row: the table does not compile.
    Unsaid,
}

impl Spread {
    /// Returns the default of a class, the strictest rule that its operators have in common; `Unsaid` for classes whose
    /// operators have none in common.
    const fn default_for(class: Class) -> Self {
        match class {
            Class::Unary(_) | Class::Copy => Self::Elementwise,
            Class::Binary(_) | Class::Ternary(_) => Self::Pointwise,
            Class::Reduce | Class::ArgReduce | Class::Softmax | Class::Scan => Self::Along,
            Class::Sort | Class::Linalg => Self::Along,
            Class::Gemm => Self::Contract,
            Class::Window => Self::Window,
            Class::Names => Self::Rearrange,
            Class::Fill | Class::Random => Self::Create,
            Class::Query => Self::Local,
            Class::Fft | Class::Analysis => Self::Whole,
            Class::View | Class::Index | Class::Compose => Self::Unsaid,
        }
    }
}

/// The accuracy of results and derivatives at the ends of a dtype's range, at zero and at infinity. Checked by
/// `tests/edges.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Edges {
    /// Each is accurate to a few units in its own last place.
    Exact,
    /// Some derivatives are only accurate to a few units in the last place of their largest term; the text is the
    /// reason.
    Terms(&'static str),
    /// Some derivatives of this order or a higher one are wrong; the text is the reason. Order 0 is the value. Lower
    /// orders are as in [`Edges::Terms`].
    Except(u8, &'static str),
    /// Some results are wrong if an operand is scaled to the ends of the range; the text is the reason.
    Scaled(&'static str),
}

/// Returns the names of the rows in `derivatives.txt`, each with the text of its lines.
pub fn derivatives() -> impl Iterator<Item = (&'static str, &'static str)> {
    let text = include_str!("derivatives.txt");
    text.split("\n\n")
        .skip(1)
        .map(|block| block.split_once('\n').unwrap_or((block, "")))
}

/// One operator.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// PyTorch's spelling, without the underscore of the in-place form; with it if that form takes other arguments than
    /// the function (`normal_`).
    pub name: &'static str,
    /// The parameters, as [`super::Signature`] parses them.
    pub signature: &'static str,
    /// The name rule.
    pub rule: NameRule,
    /// The dtype rule.
    pub dtype: DTypeRule,
    /// The accepted dtypes.
    pub dtypes: DTypes,
    /// The forms.
    pub forms: Forms,
    /// The kernel class.
    pub class: Class,
    /// The derivative.
    pub grad: Grad,
    /// An equivalent in PyTorch's operators if PyTorch lacks this one: `log10(add(x, 1))`.
    pub reference: &'static str,
    /// Inputs for tests.
    pub samples: Samples,
    /// One line of documentation, as a sentence.
    pub doc: &'static str,
    /// Differences between nomina and PyTorch; empty if there are none.
    pub differs: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// Whether it is implemented.
    pub status: Status,
    /// The sharding rule on a mesh.
    pub spread: Spread,
    /// The accuracy at the ends of a dtype's range.
    pub edges: Edges,
}

impl Row {
    /// Returns the scalar expression of an elementwise operator, with the number of its tensor operands.
    #[must_use]
    pub const fn expression(&self) -> Option<(usize, &'static str)> {
        match self.class {
            Class::Unary(text) => Some((1, text)),
            Class::Binary(text) => Some((2, text)),
            Class::Ternary(text) => Some((3, text)),
            _ => None,
        }
    }

    /// Returns the scalar functions of the expression of an elementwise operator, the outermost last.
    ///
    /// # Panics
    ///
    /// If the expression calls a function that the table of functions lacks.
    pub fn functions(&self) -> impl Iterator<Item = &'static Function> {
        let text = self.expression().map_or("", |(_, text)| text);
        text.rsplit('(').skip(1).map(|call| {
            let mut words = call.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = words.next().unwrap_or_default();
            Function::from_name(name).unwrap_or_else(|| panic!("`{name}` is not a scalar function"))
        })
    }

    /// Returns the lines of the derivative in `derivatives.txt`: parameters and the gradients with respect to them.
    #[must_use]
    pub fn derivative_lines(&self) -> Vec<(&'static str, String)> {
        let mut lines: Vec<(&str, String)> = Vec::new();
        let Some((_, block)) = derivatives().find(|(name, _)| *name == self.name) else {
            return lines;
        };
        for line in block.lines() {
            match (line.strip_prefix("        "), lines.last_mut()) {
                (Some(more), Some((_, gradient))) => *gradient = format!("{gradient} {more}"),
                _ => {
                    let (param, gradient) =
                        line.trim_start().split_once(": ").unwrap_or((line, ""));
                    lines.push((param, gradient.to_owned()));
                }
            }
        }
        lines
    }

    /// Returns whether calls of PyTorch are recorded for it. Not for decompositions, whose results are not unique (the
    /// signs of vectors are free), transforms, which have a definition, and analysis, which PyTorch lacks: they are
    /// tested by equations.
    #[must_use]
    pub const fn is_recorded(&self) -> bool {
        !matches!(self.class, Class::Linalg | Class::Fft | Class::Analysis)
    }

    /// Checks that the operator accepts a dtype.
    ///
    /// # Errors
    /// [`ErrorKind::DType`], with the accepted dtypes, if it does not.
    pub fn check_dtype(&self, dtype: DType) -> Result<()> {
        if self.dtypes.contains(dtype) {
            return Ok(());
        }
        let takes = self.dtypes.iter().map(|dtype| format!("{dtype}"));
        let takes = takes.collect::<Vec<_>>().join(", ");
        let what = format!("dtype {dtype} is not supported");
        Err(Error::new(ErrorKind::DType, self.name, what)
            .hint(format!("convert it with `to`; supported: {takes}")))
    }

    /// Returns the parameters of the operator.
    pub fn params(&self) -> impl Iterator<Item = Param> {
        Signature::new(self.signature).params()
    }

    /// Returns the parameters that are numbers of the scalar expression. They follow the tensors as operands, in this
    /// order, and take no part in promotion.
    pub fn numbers(&self) -> impl Iterator<Item = Param> {
        let text = self.expression().map_or("", |(_, text)| text);
        self.params().filter(move |param| {
            let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            param.kind == ParamKind::Scalar && words.any(|word| word == param.name)
        })
    }

    pub(super) const fn new(
        name: &'static str,
        signature: &'static str,
        class: Class,
        rule: NameRule,
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            signature,
            rule,
            dtype: DTypeRule::Same,
            dtypes: DTypes::ALL,
            forms: Forms::PURE,
            class,
            grad: Grad::default_for(class),
            reference: "",
            samples: Samples::Any,
            doc,
            differs: "",
            aliases: &[],
            status: Status::Built,
            spread: Spread::default_for(class),
            edges: Edges::Exact,
        }
    }

    pub(super) const fn edges(mut self, edges: Edges) -> Self {
        self.edges = edges;
        self
    }

    pub(super) const fn spread(mut self, spread: Spread) -> Self {
        self.spread = spread;
        self
    }

    pub(super) const fn dtype(mut self, rule: DTypeRule, takes: DTypes) -> Self {
        self.dtype = rule;
        self.dtypes = takes;
        self
    }

    pub(super) const fn signature(mut self, signature: &'static str) -> Self {
        self.signature = signature;
        self
    }

    pub(super) const fn class(mut self, class: Class) -> Self {
        self.class = class;
        self.grad = Grad::default_for(class);
        self.spread = Spread::default_for(class);
        self
    }

    pub(super) const fn forms(mut self, forms: Forms) -> Self {
        self.forms = forms;
        self
    }

    pub(super) const fn grad(mut self, grad: Grad) -> Self {
        self.grad = grad;
        self
    }

    #[allow(dead_code, reason = "for rows that PyTorch lacks")]
    pub(super) const fn reference(mut self, reference: &'static str) -> Self {
        self.reference = reference;
        self
    }

    pub(super) const fn samples(mut self, samples: Samples) -> Self {
        self.samples = samples;
        self
    }

    pub(super) const fn differs(mut self, differs: &'static str) -> Self {
        self.differs = differs;
        self
    }

    pub(super) const fn status(mut self, status: Status) -> Self {
        self.status = status;
        self
    }

    /// Marks a kernel of another operator, which calls it by its [`Op`](super::Op).
    pub(super) const fn part(mut self) -> Self {
        self.status = Status::Part;
        self
    }

    pub(super) const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }
}
