//! Views: other layouts of the same elements.

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
    .aliases(&["swapaxes", "swapdims"]).spread(Spread::Rearrange),
    view(
        "t",
        "self",
        Permutes,
        "Swaps the dims of a matrix; shorter tensors stay as they are.",
    ).spread(Spread::Rearrange),
    view(
        "permute",
        "self, dims: Dims",
        Permutes,
        "Reorders all dims.",
    )
    .differs("by name too; names go through").spread(Spread::Rearrange),
    view(
        "align_to",
        "self, names: Order",
        Permutes,
        "Permutes dims to an order of names, with new dims of size 1 and one `..` for the rest.",
    )
    .forms(Forms::METHOD).spread(Spread::Rearrange),
    view(
        "align_as",
        "self, other",
        Permutes,
        "Permutes dims to the order of another tensor's.",
    )
    .forms(Forms::METHOD).spread(Spread::Rearrange),
    view(
        "flatten",
        "self, dims: Dims = None, out_dim: Names = None",
        Special,
        "Merges consecutive dims into one.",
    )
    .aliases(&["ravel"]).spread(Spread::Rearrange),
    view(
        "unflatten",
        "self, dim: Dim, sizes: Sizes",
        Special,
        "Splits one dim into several.",
    ).spread(Spread::Rearrange),
    view(
        "squeeze",
        "self, dim: Dims = None",
        Removes,
        "Drops dims of size 1.",
    ).spread(Spread::Rearrange),
    view(
        "unsqueeze",
        "self, dim: Int",
        Special,
        "Inserts a dim of size 1.",
    )
    .differs("names go through; the new dim may have one").spread(Spread::Rearrange),
    view(
        "expand",
        "self, size: Sizes",
        Special,
        "Repeats dims of size 1 without a copy; new dims on the left are unnamed.",
    )
    .forms(Forms::METHOD).spread(Spread::Rearrange),
    view(
        "select",
        "self, dim: Dim, index: Int",
        Removes,
        "The slice at one index of a dim.",
    ).spread(Spread::Part),
    view(
        "narrow",
        "self, dim: Dim, start: Int, length: Int",
        Keeps,
        "A range of a dim.",
    ).spread(Spread::Part),
    view(
        "unbind",
        "self, dim: Dim = 0",
        Removes,
        "All slices along a dim.",
    ).spread(Spread::Part),
    view(
        "split",
        "self, split_size: Sizes, dim: Dim = 0",
        Keeps,
        "Pieces of a dim of given sizes.",
    ).spread(Spread::Part),
    view(
        "chunk",
        "self, chunks: Int, dim: Dim = 0",
        Keeps,
        "A dim in a number of chunks of equal size, the last one smaller where it must be.",
    ).spread(Spread::Part),
    view(
        "split_with_sizes",
        "self, split_sizes: Sizes, dim: Dim = 0",
        Keeps,
        "Pieces of a dim of given sizes.",
    )
    .differs("in Rust, `split` with a list").spread(Spread::Part),
    view(
        "tensor_split",
        "self, indices_or_sections: Sizes, dim: Dim = 0",
        Keeps,
        "A dim in a number of pieces whose sizes differ by at most one, or cut at given indices.",
    ).spread(Spread::Part),
    view(
        "hsplit",
        "self, indices_or_sections: Sizes",
        Keeps,
        "Pieces of the second dim, of a vector of its only one, of equal size or cut at indices.",
    ).spread(Spread::Part),
    view(
        "vsplit",
        "self, indices_or_sections: Sizes",
        Keeps,
        "Pieces of the first dim, of equal size or cut at indices.",
    ).spread(Spread::Part),
    view(
        "dsplit",
        "self, indices_or_sections: Sizes",
        Keeps,
        "Pieces of the third dim, of equal size or cut at indices.",
    ).spread(Spread::Part),
    view(
        "diagonal",
        "self, offset: Int = 0, dim1: Dim = 0, dim2: Dim = 1, *, outdim: Names = None",
        Special,
        "The diagonal of two dims, as a new last dim.",
    ).spread(Spread::LinearAlong),
    view(
        "movedim",
        "self, source: Dims, destination: Dims",
        Permutes,
        "Moves dims to other positions; the others keep their order.",
    )
    .aliases(&["moveaxis"])
    .differs("by name too, in both arguments; names go through").spread(Spread::Rearrange),
    view(
        "unfold",
        "self, dimension: Dim, size: Int, step: Int, *, outdim: Names = None",
        Special,
        "Windows that slide along a dim; the dim within a window is the last.",
    )
    .forms(Forms::METHOD)
    .differs("names go through; the new dim may have one").spread(Spread::LinearAlong),
    view(
        "expand_as",
        "self, other",
        Special,
        "Repeats dims of size 1 to another tensor's sizes, without a copy; new dims on the left are unnamed.",
    )
    .forms(Forms::METHOD).spread(Spread::Rearrange),
    view(
        "reshape",
        "self, shape: Sizes",
        SameShape,
        "Other sizes for the same elements; a copy only where strides demand it.",
    )
    .differs("a tensor with names keeps its shape: `flatten` and `unflatten` say where names go").spread(Spread::Whole),
    view(
        "reshape_as",
        "self, other",
        SameShape,
        "The elements in another tensor's sizes.",
    )
    .forms(Forms::METHOD)
    .differs("a tensor with names keeps its shape: `flatten` and `unflatten` say where names go").spread(Spread::Whole),
    view(
        "view",
        "self, size: Sizes",
        SameShape,
        "Other sizes for the same elements, never a copy.",
    )
    .forms(Forms::METHOD)
    .differs("a tensor with names keeps its shape: `flatten` and `unflatten` say where names go").spread(Spread::Whole),
    view(
        "view_as",
        "self, other",
        SameShape,
        "The elements in another tensor's sizes, never a copy.",
    )
    .forms(Forms::METHOD)
    .differs("a tensor with names keeps its shape: `flatten` and `unflatten` say where names go").spread(Spread::Whole),
    view(
        "as_strided",
        "self, size: Sizes, stride: Sizes, storage_offset: Int = None",
        Special,
        "A view of the buffer with any sizes and strides, without names.",
    ).spread(Spread::Whole),
    view(
        "atleast_1d",
        "self",
        Special,
        "A number as a vector of one element; anything else as it is.",
    )
    .differs("new dims are unnamed; in types, `unsqueeze` names them").spread(Spread::Rearrange),
    view(
        "atleast_2d",
        "self",
        Special,
        "A vector as a row, a number as a matrix of one element; anything else as it is.",
    )
    .differs("new dims are unnamed; in types, `unsqueeze` names them").spread(Spread::Rearrange),
    view(
        "atleast_3d",
        "self",
        Special,
        "At least three dims: a vector in the middle, a matrix in front.",
    )
    .differs("new dims are unnamed; in types, `unsqueeze` names them").spread(Spread::Rearrange),
    view(
        "meshgrid",
        "tensors: Tensors, *, indexing: Text = None",
        Special,
        "Each vector spread over the grid of all of them, whose dims are the vectors'.",
    )
    .forms(Forms::FUNCTION)
    .differs("names go through; the order of dims is that of the arguments unless `xy` is asked for").spread(Spread::Whole),
];
