//! Operators that move, repeat or rearrange elements.

use crate::op::Class::{Compose, Index, View};
use crate::op::Grad::Parts;
use crate::op::NameRule::{Keeps, Permutes, Special, Unifies};
use crate::op::{DTypeRule, DTypes, Forms, NameRule, Row, Spread};

const fn moves(
    name: &'static str,
    signature: &'static str,
    rule: NameRule,
    doc: &'static str,
) -> Row {
    Row::new(name, signature, Index, rule, doc).differs("names propagate")
}

/// An operator that joins tensors by position, with the rules of `cat`.
const fn joins(name: &'static str, doc: &'static str) -> Row {
    Row::new(name, "tensors: Tensors", Compose, Special, doc)
        .forms(Forms::FUNCTION.and(Forms::OUT))
        .differs("names unify; in types, `cat` says the dim by name")
        .grad(Parts)
}

pub(super) const ROWS: &[Row] = &[
    moves(
        "flip",
        "self, dims: Dims",
        Keeps,
        "Reverses the elements along dims.",
    )
    .spread(Spread::LinearAlong),
    moves(
        "fliplr",
        "self",
        Keeps,
        "Reverses the elements along the second dim.",
    )
    .spread(Spread::LinearAlong),
    moves(
        "flipud",
        "self",
        Keeps,
        "Reverses the elements along the first dim.",
    )
    .spread(Spread::LinearAlong),
    moves(
        "rot90",
        "self, k: Int = 1, dims: Dims = None",
        Permutes,
        "Rotates the plane of two dims by multiples of 90 degrees, from the first \
         towards the second.",
    )
    .differs("names rotate with their dims")
    .spread(Spread::LinearAlong),
    moves(
        "roll",
        "self, shifts: Sizes, dims: Dims = None",
        Keeps,
        "Shifts elements cyclically along dims; without dims, along all elements in \
         row-major order.",
    )
    .spread(Spread::LinearAlong),
    moves(
        "repeat",
        "self, repeats: Sizes",
        Special,
        "Repeats all elements along dims; new dims on the left are unnamed.",
    )
    .forms(Forms::METHOD)
    .spread(Spread::Part),
    moves(
        "tile",
        "self, dims: Sizes",
        Special,
        "Repeats all elements along the last dims; new dims on the left are unnamed.",
    )
    .spread(Spread::Part),
    moves(
        "repeat_interleave",
        "self, repeats: Operand, dim: Dims = None, *, output_size: Int = None",
        Special,
        "Repeats each element of a dim, by one count or by a tensor of counts.",
    )
    .spread(Spread::Part),
    moves(
        "diag",
        "self, diagonal: Int = 0, *, names: Names = None",
        Special,
        "Returns the diagonal of a matrix, or a matrix with a vector as its diagonal.",
    )
    .forms(Forms::WITH_OUT)
    .differs("the new dims may have names")
    .spread(Spread::Part),
    moves(
        "diagflat",
        "self, offset: Int = 0, *, names: Names = None",
        Special,
        "Returns a matrix with all elements as its diagonal.",
    )
    .differs("the new dims may have names")
    .spread(Spread::Part),
    moves(
        "diag_embed",
        "self, offset: Int = 0, dim1: Int = -2, dim2: Int = -1, *, names: Names = None",
        Special,
        "Returns planes with the elements of the last dim as their diagonals.",
    )
    .differs("names propagate; the two new dims may have names")
    .spread(Spread::Part),
    moves(
        "tril",
        "self, diagonal: Int = 0",
        Keeps,
        "Returns the elements on and below a diagonal of the last two dims, with zeros \
         above.",
    )
    .forms(Forms::ALL)
    .spread(Spread::LinearAlong),
    moves(
        "triu",
        "self, diagonal: Int = 0",
        Keeps,
        "Returns the elements on and above a diagonal of the last two dims, with zeros \
         below.",
    )
    .forms(Forms::ALL)
    .spread(Spread::LinearAlong),
    moves(
        "narrow_copy",
        "self, dim: Dim, start: Int, length: Int",
        Keeps,
        "Copies a range of a dim to a new tensor.",
    )
    .forms(Forms::WITH_OUT)
    .spread(Spread::Part),
    joins(
        "hstack",
        "Concatenates tensors along the second dim, vectors along their only dim.",
    )
    .spread(Spread::Part),
    joins(
        "vstack",
        "Concatenates tensors along the first dim; vectors are rows.",
    )
    .aliases(&["row_stack"])
    .spread(Spread::Part),
    joins("dstack", "Concatenates tensors along the third dim.").spread(Spread::Part),
    joins(
        "column_stack",
        "Concatenates matrices along the second dim; vectors are columns.",
    )
    .spread(Spread::Part),
    Row::new(
        "block_diag",
        "tensors: Tensors",
        Compose,
        Special,
        "Returns a matrix with the given matrices along its diagonal and zeros \
         elsewhere.",
    )
    .forms(Forms::FUNCTION)
    .grad(Parts)
    .differs("the names of rows unify, and those of columns")
    .spread(Spread::Part),
    Row::new(
        "cartesian_prod",
        "tensors: Tensors",
        Compose,
        Special,
        "Returns all combinations of one element of each vector, in two unnamed dims.",
    )
    .forms(Forms::FUNCTION)
    .grad(Parts)
    .spread(Spread::Whole),
    Row::new(
        "combinations",
        "self, r: Int = 2, with_replacement: Bool = False",
        Compose,
        Special,
        "Returns all combinations of `r` elements of a vector, in two unnamed dims.",
    )
    .grad(Parts)
    .spread(Spread::Whole),
    Row::new(
        "vander",
        "x, N: Int = None, increasing: Bool = False, *, outdim: Names = None",
        Compose,
        Special,
        "Computes the powers of the elements of a vector, along a new dim.",
    )
    .dtype(DTypeRule::Sum, DTypes::ALL)
    .forms(Forms::FUNCTION)
    .grad(Parts)
    .differs("names propagate; the new dim may have a name")
    .spread(Spread::Along),
    Row::new(
        "real",
        "self",
        View,
        Keeps,
        "Returns the real parts without copying; a real tensor is returned unchanged.",
    )
    .dtype(DTypeRule::Real, DTypes::ALL)
    .spread(Spread::Linear),
    Row::new(
        "imag",
        "self",
        View,
        Keeps,
        "Returns the imaginary parts without copying.",
    )
    .dtype(DTypeRule::Real, DTypes::COMPLEX)
    .spread(Spread::Linear),
    Row::new(
        "view_as_real",
        "self, *, outdim: Names = None",
        View,
        Special,
        "Views complex numbers as pairs in a new last dim.",
    )
    .dtype(DTypeRule::Real, DTypes::COMPLEX)
    .differs("names propagate; the new dim may have a name")
    .spread(Spread::Linear),
    Row::new(
        "view_as_complex",
        "self",
        View,
        Special,
        "Views pairs in the last dim as complex numbers.",
    )
    .dtype(DTypeRule::Argument, DTypes::SINGLES)
    .differs("names propagate")
    .spread(Spread::Linear),
    Row::new(
        "complex",
        "real, imag",
        Compose,
        Unifies,
        "Combines real and imaginary parts to complex numbers.",
    )
    .dtype(DTypeRule::Argument, DTypes::SINGLES)
    .forms(Forms::FUNCTION.and(Forms::OUT))
    .spread(Spread::Pointwise),
    Row::new(
        "polar",
        "abs, angle",
        Compose,
        Unifies,
        "Combines magnitudes and angles to complex numbers.",
    )
    .dtype(DTypeRule::Argument, DTypes::SINGLES)
    .forms(Forms::FUNCTION.and(Forms::OUT))
    .grad(Parts)
    .spread(Spread::Pointwise),
    Row::new(
        "conj_physical",
        "self",
        Compose,
        Keeps,
        "Computes the complex conjugates; for a real tensor, its numbers.",
    )
    .forms(Forms::ALL)
    .aliases(&["conj", "resolve_conj"])
    .differs("always computed: no tensor is lazily conjugated")
    .spread(Spread::Linear),
];
