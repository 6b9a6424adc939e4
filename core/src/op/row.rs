//! A row of the table.

use super::dtype_rule::{DTypeRule, DTypes};
use super::grad::Grad;
use crate::mesh::Combine;

/// How names go through an operator (see [`crate::rule`] for the engine).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NameRule {
    /// The result has the input's names.
    Keeps,
    /// The reduced or selected dims go, unless kept with size 1.
    Removes,
    /// The operands' names unify from the right.
    Unifies,
    /// The same names in another order.
    Permutes,
    /// Two dims meet and go.
    Contracts,
    /// The names are an argument.
    Factory,
    /// As a computed result that is written to self.
    InPlace,
    /// No tensor comes out.
    None,
    /// Built from others: addmm is mm, then add.
    Compose,
    /// A named tensor may only keep its shape.
    SameShape,
    /// A rule of its own, named after the operator.
    Special,
}

/// Which kernel computes an operator.
///
/// A scalar expression calls functions that Rust and CUDA kernels both define, on the operands
/// `x`, `y`, `z` in the compute dtype: `add(x, y)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Class {
    /// One operand, elementwise.
    Unary(&'static str),
    /// Two operands that broadcast, elementwise.
    Binary(&'static str),
    /// Three operands that broadcast, elementwise.
    Ternary(&'static str),
    /// Some dims become one number each: sum, amax, var.
    Reduce,
    /// A dim becomes the position of a number: argmax; with the number itself: max.
    ArgReduce,
    /// Numbers in order along a dim, and where they stand: sort, median.
    Sort,
    /// Running results along a dim: cumsum.
    Scan,
    /// Normalised along a dim: softmax.
    Softmax,
    /// Matrix products.
    Gemm,
    /// Another layout of the same elements; nothing is computed.
    View,
    /// Elements copied to other places: cat, masked_select.
    Index,
    /// Elements under a window that slides along dims: convolution, pooling, padding, resampling.
    Window,
    /// A new tensor from sizes and numbers.
    Fill,
    /// Random numbers.
    Random,
    /// Elements converted or copied.
    Copy,
    /// Decompositions, solvers and what follows from them, of matrices.
    Linalg,
    /// Fourier transforms.
    Fft,
    /// Parts of a dim reduced, and means with weights.
    Analysis,
    /// Names change, elements don't.
    Names,
    /// A question whose answer is no tensor: size, names, item.
    Query,
    /// A chain of other operators.
    Compose,
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
    /// `add_(…)` alone, as `fill_`: the row is spelled without the underscore's twin.
    pub const IN_PLACE_ONLY: Self = Self(4 | 16);
    /// Function, method, in-place and out.
    pub const ALL: Self = Self(1 | 2 | 4 | 8);
    /// Function and method.
    pub const PURE: Self = Self(1 | 2);
    /// Function, method and out.
    pub const WITH_OUT: Self = Self(1 | 2 | 8);

    /// Whether every form of `other` is among these.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The forms of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Which inputs the property tests draw for an operator.
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
    /// The operator's tests make their own.
    Own,
}

/// Whether an operator is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It is.
    Built,
    /// Python's alone; the text says what Rust has instead.
    PythonOnly(&'static str),
    /// A kernel of another operator: it has no name of its own that anyone could call.
    Part,
}

/// How an operator goes with pieces of tensors on a mesh: which [`State`](crate::mesh::State)s its operands may have, and what the
/// result's is. Each counts along one axis of a mesh; what it does not speak of is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Spread {
    /// Of one tensor, and linear: any state stays.
    Linear,
    /// Of one tensor, element by element: what is not pending.
    Elementwise,
    /// The sum of two: equal states, or whole beside split; of two pending sums the sum is pending.
    SumOfTwo,
    /// The product of two: as the sum, but one of them may be a pending sum beside what is whole.
    ProductOfTwo,
    /// The quotient of two: the dividend may be a pending sum beside what is whole.
    QuotientOfTwo,
    /// Anything else of two or more, element by element: as the sum, but nothing is pending.
    Pointwise,
    /// Over dims that each rank has all of, or across split ones: then the result is pending, to be combined thus.
    Reduce(Combine),
    /// Along dims that each rank has all of, and not linear.
    Along,
    /// Along dims that each rank has all of, and linear: of a pending sum the result is pending.
    LinearAlong,
    /// The same elements otherwise ordered or named: any state stays, and the split dim's name with it.
    Rearrange,
    /// Some of the elements, or more: as [`LinearAlong`](Self::LinearAlong).
    Part,
    /// A product summed over dims: as [`ProductOfTwo`](Self::ProductOfTwo) in all others; those are whole in both, or split in
    /// both, and then the result is pending.
    Contract,
    /// Rows of a table by number: the table whole, or split by its rows, and then the result is pending.
    Lookup,
    /// Elements put where numbers say, into dims that nobody splits: numbers split, the result is pending.
    Scatter,
    /// Under windows: batch and output channels may be split; input channels, and then the result is pending.
    Window,
    /// A new tensor: whole, synced, or pieces of one that is the same whatever the mesh.
    Create,
    /// All of the tensor on each rank.
    Whole,
    /// What it says is true of a piece.
    Local,
    /// Has no form on a mesh.
    Refused,
    /// The row does not say: then the table does not compile.
    Unsaid,
}

/// How exact results and derivatives are at the ends of the range of a dtype, at zero and at infinity. `tests/edges.rs` checks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Edges {
    /// Each is right to some units in its own last place.
    Exact,
    /// Some derivatives are only right to some units in the last place of their largest term, for a reason.
    Terms(&'static str),
    /// Some derivatives of this order or a higher one are wrong, for a reason; order 0 is the value. Lower ones are as in [`Edges::Terms`].
    Except(u8, &'static str),
    /// Some results are wrong where an operand is scaled to the ends of the range, for a reason.
    Scaled(&'static str),
}

/// One operator.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// PyTorch's spelling, without the underscore of the in-place form; with it where that takes
    /// other arguments than the function of its name (`normal_`).
    pub name: &'static str,
    /// What it takes, as [`super::Signature`] reads it.
    pub signature: &'static str,
    /// How names go through.
    pub rule: NameRule,
    /// How dtypes go through.
    pub dtype: DTypeRule,
    /// The dtypes it takes.
    pub dtypes: DTypes,
    /// Its forms.
    pub forms: Forms,
    /// What computes it.
    pub class: Class,
    /// What its derivative is.
    pub grad: Grad,
    /// What it equals, in operators that PyTorch has, where it lacks this one: `log10(add(x, 1))`.
    pub reference: &'static str,
    /// Inputs for tests.
    pub samples: Samples,
    /// One line of documentation, as a sentence.
    pub doc: &'static str,
    /// Where nomina differs from PyTorch; empty if nowhere.
    pub differs: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// Whether it is built.
    pub status: Status,
    /// How it goes with pieces of tensors on a mesh.
    pub spread: Spread,
    /// How exact it is at the ends of a dtype's range.
    pub edges: Edges,
}

impl Row {
    /// The scalar expression of an elementwise operator, and how many of its operands are tensors.
    #[must_use]
    pub const fn expression(&self) -> Option<(usize, &'static str)> {
        match self.class {
            Class::Unary(text) => Some((1, text)),
            Class::Binary(text) => Some((2, text)),
            Class::Ternary(text) => Some((3, text)),
            _ => None,
        }
    }

    /// Whether calls of PyTorch are recorded for it. Decompositions are none that have one result (the
    /// signs of vectors are free), transforms have their definition, analysis is not in PyTorch: they are tested
    /// by equations.
    #[must_use]
    pub const fn is_recorded(&self) -> bool {
        !matches!(self.class, Class::Linalg | Class::Fft | Class::Analysis)
    }

    /// The parameters that are numbers of the scalar expression: they follow the tensors as
    /// operands, in this order, and take no part in promotion.
    pub fn numbers(&self) -> impl Iterator<Item = super::Param> {
        let text = self.expression().map_or("", |(_, text)| text);
        self.params().filter(move |param| {
            let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            param.kind == super::ParamKind::Scalar && words.any(|word| word == param.name)
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
            grad: Grad::of(class),
            reference: "",
            samples: Samples::Any,
            doc,
            differs: "",
            aliases: &[],
            status: Status::Built,
            spread: Spread::Unsaid,
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
        self.grad = Grad::of(class);
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

    /// A kernel of another operator, which calls it by its [`Op`](super::Op).
    pub(super) const fn part(mut self) -> Self {
        self.status = Status::Part;
        self
    }

    pub(super) const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }
}
