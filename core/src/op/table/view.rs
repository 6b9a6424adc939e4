//! Views: other layouts of the same buffer.

use crate::op::Class::View;
use crate::op::NameRule::{Keeps, Permutes, Removes, SameShape, Special};
use crate::op::{Forms, Row, Spread};

const fn view(
    name: &'static str,
    signature: &'static str,
    rule: crate::op::NameRule,
    doc: &'static str,
) -> Row {
    Row::new(name, signature, View, rule, doc)
}

pub(super) const ROWS: &[Row] = &[
    view(
        "transpose",
        "self, dim0: Dim, dim1: Dim",
        Permutes,
        "Swaps two dims.",
    )
    .aliases(&["swapaxes", "swapdims"])
    .spread(Spread::Rearrange),
    view(
        "t",
        "self",
        Permutes,
        "Swaps the dims of a matrix; tensors of fewer dims stay unchanged.",
    )
    .spread(Spread::Rearrange),
    view(
        "permute",
        "self, dims: Dims",
        Permutes,
        "Reorders all dims.",
    )
    .differs("also takes dims by name; names propagate")
    .spread(Spread::Rearrange),
    view(
        "align_to",
        "self, names: Order",
        Permutes,
        "Permutes dims to an order of names, adds dims of size 1, and keeps the rest \
         in the place of one `..`.",
    )
    .forms(Forms::METHOD)
    .spread(Spread::Rearrange),
    view(
        "align_as",
        "self, other",
        Permutes,
        "Permutes dims to the order of another tensor's dims.",
    )
    .forms(Forms::METHOD)
    .spread(Spread::Rearrange),
    view(
        "flatten",
        "self, dims: Dims = None, out_dim: Names = None",
        Special,
        "Merges consecutive dims into one.",
    )
    .aliases(&["ravel"])
    .spread(Spread::Rearrange),
    view(
        "unflatten",
        "self, dim: Dim, sizes: Sizes",
        Special,
        "Splits one dim into several.",
    )
    .spread(Spread::Rearrange),
    view(
        "squeeze",
        "self, dim: Dims = None",
        Removes,
        "Removes dims of size 1.",
    )
    .spread(Spread::Rearrange),
    view(
        "unsqueeze",
        "self, dim: Int",
        Special,
        "Inserts a dim of size 1.",
    )
    .differs("names propagate; the new dim may have a name")
    .spread(Spread::Rearrange),
    view(
        "expand",
        "self, size: Sizes",
        Special,
        "Repeats dims of size 1 without copying; new dims on the left are unnamed.",
    )
    .forms(Forms::METHOD)
    .spread(Spread::Rearrange),
    view(
        "select",
        "self, dim: Dim, index: Int",
        Removes,
        "Returns the slice at one index of a dim.",
    )
    .spread(Spread::Part),
    view(
        "narrow",
        "self, dim: Dim, start: Int, length: Int",
        Keeps,
        "Returns a range of a dim.",
    )
    .spread(Spread::Part),
    view(
        "unbind",
        "self, dim: Dim = 0",
        Removes,
        "Returns all slices along a dim.",
    )
    .spread(Spread::Part),
    view(
        "split",
        "self, split_size: Sizes, dim: Dim = 0",
        Keeps,
        "Splits a dim into pieces of given sizes.",
    )
    .spread(Spread::Part),
    view(
        "chunk",
        "self, chunks: Int, dim: Dim = 0",
        Keeps,
        "Splits a dim into a number of chunks of equal size; the last may be smaller.",
    )
    .spread(Spread::Part),
    view(
        "split_with_sizes",
        "self, split_sizes: Sizes, dim: Dim = 0",
        Keeps,
        "Splits a dim into pieces of given sizes.",
    )
    .differs("in Rust, `split` with a list")
    .spread(Spread::Part),
    view(
        "tensor_split",
        "self, indices_or_sections: Sizes, dim: Dim = 0",
        Keeps,
        "Splits a dim into a number of pieces whose sizes differ by at most one, or at \
         given indices.",
    )
    .spread(Spread::Part),
    view(
        "hsplit",
        "self, indices_or_sections: Sizes",
        Keeps,
        "Splits the second dim, or the only dim of a vector, into equal pieces or at \
         indices.",
    )
    .spread(Spread::Part),
    view(
        "vsplit",
        "self, indices_or_sections: Sizes",
        Keeps,
        "Splits the first dim into equal pieces or at indices.",
    )
    .spread(Spread::Part),
    view(
        "dsplit",
        "self, indices_or_sections: Sizes",
        Keeps,
        "Splits the third dim into equal pieces or at indices.",
    )
    .spread(Spread::Part),
    view(
        "diagonal",
        "self, offset: Int = 0, dim1: Dim = 0, dim2: Dim = 1, *, outdim: Names = None",
        Special,
        "Returns the diagonal of two dims as a new last dim.",
    )
    .spread(Spread::LinearAlong),
    view(
        "movedim",
        "self, source: Dims, destination: Dims",
        Permutes,
        "Moves dims to other positions; the remaining dims keep their order.",
    )
    .aliases(&["moveaxis"])
    .differs("also takes dims by name, in both arguments; names propagate")
    .spread(Spread::Rearrange),
    view(
        "unfold",
        "self, dimension: Dim, size: Int, step: Int, *, outdim: Names = None",
        Special,
        "Returns windows that slide along a dim; the dim within a window is the last.",
    )
    .forms(Forms::METHOD)
    .differs("names propagate; the new dim may have a name")
    .spread(Spread::LinearAlong),
    view(
        "expand_as",
        "self, other",
        Special,
        "Repeats dims of size 1 to the sizes of another tensor, without copying; new \
         dims on the left are unnamed.",
    )
    .forms(Forms::METHOD)
    .spread(Spread::Rearrange),
    view(
        "reshape",
        "self, shape: Sizes",
        SameShape,
        "Returns the elements in other sizes; copies only if the strides require it.",
    )
    .differs(
        "a tensor with names keeps its shape: `flatten` and `unflatten` say where \
         names go",
    )
    .spread(Spread::Whole),
    view(
        "reshape_as",
        "self, other",
        SameShape,
        "Returns the elements in the sizes of another tensor.",
    )
    .forms(Forms::METHOD)
    .differs(
        "a tensor with names keeps its shape: `flatten` and `unflatten` say where \
         names go",
    )
    .spread(Spread::Whole),
    view(
        "view",
        "self, size: Sizes",
        SameShape,
        "Returns the elements in other sizes, never copying.",
    )
    .forms(Forms::METHOD)
    .differs(
        "a tensor with names keeps its shape: `flatten` and `unflatten` say where \
         names go",
    )
    .spread(Spread::Whole),
    view(
        "view_as",
        "self, other",
        SameShape,
        "Returns the elements in the sizes of another tensor, never copying.",
    )
    .forms(Forms::METHOD)
    .differs(
        "a tensor with names keeps its shape: `flatten` and `unflatten` say where \
         names go",
    )
    .spread(Spread::Whole),
    view(
        "as_strided",
        "self, size: Sizes, stride: Sizes, storage_offset: Int = None",
        Special,
        "Returns a view of the buffer with any sizes and strides, without names.",
    )
    .spread(Spread::Whole),
    view(
        "atleast_1d",
        "self",
        Special,
        "Returns a number as a vector of one element; any other tensor unchanged.",
    )
    .differs("new dims are unnamed; in types, `unsqueeze` names them")
    .spread(Spread::Rearrange),
    view(
        "atleast_2d",
        "self",
        Special,
        "Returns a vector as a row, a number as a matrix of one element; any other \
         tensor unchanged.",
    )
    .differs("new dims are unnamed; in types, `unsqueeze` names them")
    .spread(Spread::Rearrange),
    view(
        "atleast_3d",
        "self",
        Special,
        "Returns a tensor of at least three dims: a vector becomes the middle dim, a \
         matrix the first two.",
    )
    .differs("new dims are unnamed; in types, `unsqueeze` names them")
    .spread(Spread::Rearrange),
    view(
        "meshgrid",
        "tensors: Tensors, *, indexing: Text = None",
        Special,
        "Expands each vector over the grid of all of them; its dims are those of the \
         vectors.",
    )
    .forms(Forms::FUNCTION)
    .differs(
        "names propagate; the order of dims is that of the arguments unless `xy` is \
         given",
    )
    .spread(Spread::Whole),
];
