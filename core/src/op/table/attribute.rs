//! Attributes, conversions by name, and resizing.

use crate::op::Class::{Copy, Fill, Query, View};
use crate::op::Grad::{Constant, Never, Parts};
use crate::op::NameRule::{InPlace, Keeps, None, SameShape};
use crate::op::Status::PythonOnly;
use crate::op::{DTypeRule, DTypes, Forms, Row, Spread};

const fn query(name: &'static str, doc: &'static str) -> Row {
    Row::new(name, "self", Query, None, doc)
        .dtype(DTypeRule::None, DTypes::ALL)
        .forms(Forms::METHOD)
}

const fn conversion(name: &'static str, doc: &'static str) -> Row {
    let signature = "self, *, memory_format: Format = preserve_format";
    Row::new(name, signature, Copy, Keeps, doc)
        .dtype(DTypeRule::Argument, DTypes::ALL)
        .forms(Forms::METHOD)
}

pub(super) const ROWS: &[Row] = &[
    query("element_size", "Returns the size of an element in bytes.").aliases(&["itemsize"]),
    query("nbytes", "Returns the size of all elements in bytes."),
    query("is_complex", "Returns whether the elements are complex.").forms(Forms::PURE),
    query(
        "is_floating_point",
        "Returns whether the elements are floats.",
    )
    .forms(Forms::PURE),
    query(
        "is_signed",
        "Returns whether the dtype has numbers below zero; complex dtypes do.",
    )
    .forms(Forms::PURE),
    query(
        "is_cuda",
        "Returns whether the elements are on a CUDA device.",
    ),
    query("is_cpu", "Returns whether the elements are on the host."),
    query("is_sparse", "Returns whether the layout is sparse COO."),
    query("is_sparse_csr", "Returns whether the layout is sparse CSR.")
        .differs("always false: this layout does not exist"),
    query(
        "get_device",
        "Returns the ordinal of the CUDA device, or -1 on the host.",
    )
    .forms(Forms::PURE)
    .differs("in Rust, `device()` distinguishes devices"),
    query(
        "is_same_size",
        "Returns whether two tensors have equal sizes.",
    )
    .signature("self, other")
    .forms(Forms::PURE),
    query(
        "is_nonzero",
        "Returns whether the only element differs from zero.",
    )
    .forms(Forms::PURE)
    .spread(Spread::Whole),
    query(
        "type",
        "Returns the name of the tensor type as PyTorch spells it; with a dtype, \
         converts the elements.",
    )
    .signature("self, dtype: DType = None")
    .aliases(&["type_name"])
    .grad(Parts)
    .differs("`type_name()`, since `type` is a keyword in Rust; `to` converts"),
    conversion(
        "bool",
        "Converts to bool: true for elements that differ from zero.",
    )
    .grad(Constant),
    conversion("byte", "Converts to u8.").grad(Constant),
    conversion("char", "Converts to i8.").grad(Constant),
    conversion("short", "Converts to i16.").grad(Constant),
    conversion("int", "Converts to i32.").grad(Constant),
    conversion("long", "Converts to i64.").grad(Constant),
    conversion("half", "Converts to f16."),
    conversion("bfloat16", "Converts to bf16."),
    conversion("float", "Converts to f32."),
    conversion("double", "Converts to f64.").spread(Spread::Linear),
    conversion("cfloat", "Converts to `Complex<f32>`."),
    conversion("cdouble", "Converts to `Complex<f64>`.").spread(Spread::Linear),
    conversion(
        "type_as",
        "Converts to the dtype of another tensor and moves to its device.",
    )
    .signature("self, other"),
    Row::new(
        "cpu",
        "self",
        Copy,
        Keeps,
        "Returns the tensor on the host.",
    )
    .forms(Forms::METHOD)
    .spread(Spread::Linear),
    Row::new(
        "cuda",
        "self, device: Device = None",
        Copy,
        Keeps,
        "Returns the tensor on a CUDA device, by default the current one.",
    )
    .forms(Forms::METHOD)
    .spread(Spread::Linear),
    Row::new(
        "detach",
        "self",
        View,
        Keeps,
        "Returns the same elements, detached from the gradient graph.",
    )
    .forms(Forms::PURE.and(Forms::IN_PLACE))
    .grad(Constant)
    .spread(Spread::Linear),
    Row::new(
        "zero",
        "self",
        Fill,
        InPlace,
        "Fills the tensor with zeros.",
    )
    .forms(Forms::IN_PLACE_ONLY)
    .grad(Constant),
    Row::new(
        "resize",
        "self, size: Sizes, *, memory_format: Format = contiguous_format",
        View,
        SameShape,
        "Resizes an unnamed tensor; its buffer grows if necessary.",
    )
    .forms(Forms::IN_PLACE_ONLY)
    .grad(Never(
        "new elements belong to no operand; `reshape` has a gradient",
    ))
    .differs("new elements are zero: uninitialised memory cannot be read")
    .spread(Spread::Whole),
    Row::new(
        "resize_as",
        "self, the_template",
        View,
        SameShape,
        "Resizes an unnamed tensor to the sizes of another, and takes its names.",
    )
    .forms(Forms::IN_PLACE_ONLY)
    .grad(Never(
        "new elements belong to no operand; `reshape` has a gradient",
    ))
    .differs("new elements are zero: uninitialised memory cannot be read")
    .spread(Spread::Whole),
    query(
        "grad",
        "Returns the gradient that `backward` stored in a leaf.",
    ),
    query(
        "requires_grad",
        "Returns whether gradients are recorded; the in-place form sets this.",
    )
    .signature("self, requires_grad: Bool = True")
    .forms(Forms::METHOD.and(Forms::IN_PLACE)),
    query(
        "is_leaf",
        "Returns whether the tensor is a leaf: no recorded operator computed it.",
    ),
    query(
        "register_hook",
        "Registers a function that is called with the gradient.",
    )
    .signature("self, hook: Data"),
    query(
        "register_post_accumulate_grad_hook",
        "Registers a function that is called after the gradient was accumulated.",
    )
    .signature("self, hook: Data"),
    query("data_ptr", "Returns the address of the first element.")
        .status(PythonOnly("`as_ptr`, or `as_slice`, which borrows"))
        .spread(Spread::Refused),
    query(
        "is_shared",
        "Returns whether other processes share the buffer.",
    )
    .status(PythonOnly(
        "no buffer is shared between processes; threads share all tensors",
    ))
    .spread(Spread::Refused),
    query(
        "is_pinned",
        "Returns whether the buffer's pages are locked.",
    )
    .status(PythonOnly("buffers on the host are ordinary memory"))
    .spread(Spread::Refused),
    query("is_tensor", "Returns whether an object is a tensor.")
        .signature("obj: Data")
        .forms(Forms::FUNCTION)
        .status(PythonOnly("rustc knows: it is a `Tensor` or a `DynTensor`"))
        .spread(Spread::Refused),
];
