//! Attributes, conversions by name, and resizing.

use crate::op::Class::{Copy, Fill, Query, View};
use crate::op::Grad::{Constant, Lines, Never, Parts};
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
    query("element_size", "The size of an element in bytes.").aliases(&["itemsize"]).spread(Spread::Local),
    query("nbytes", "The size of all elements in bytes.").spread(Spread::Local),
    query("is_complex", "Whether the elements are complex.").forms(Forms::PURE).spread(Spread::Local),
    query("is_floating_point", "Whether the elements are floats.").forms(Forms::PURE).spread(Spread::Local),
    query(
        "is_signed",
        "Whether the dtype has numbers below zero; complex ones have.",
    )
    .forms(Forms::PURE).spread(Spread::Local),
    query("is_cuda", "Whether the elements are on a CUDA device.").spread(Spread::Local),
    query("is_cpu", "Whether the elements are on the host.").spread(Spread::Local),
    query("is_sparse", "Whether the layout is sparse COO.").spread(Spread::Local),
    query("is_sparse_csr", "Whether the layout is sparse CSR.")
        .differs("no tensor is: there is no such layout").spread(Spread::Local),
    query(
        "get_device",
        "The ordinal of the CUDA device; -1 on the host.",
    )
    .forms(Forms::PURE)
    .differs("in Rust, `device()` tells devices apart").spread(Spread::Local),
    query("is_same_size", "Whether the sizes are equal.")
        .signature("self, other")
        .forms(Forms::PURE).spread(Spread::Local),
    query(
        "is_nonzero",
        "Whether the one element is different from zero.",
    )
    .forms(Forms::PURE).spread(Spread::Whole),
    query(
        "type",
        "The name of the tensor's type, as PyTorch spells it; with a dtype, the elements converted.",
    )
    .signature("self, dtype: DType = None")
    .aliases(&["type_name"])
    .grad(Parts).differs("`type_name()`, since `type` is a word of Rust's; to convert, `to`").spread(Spread::Local),
    conversion("bool", "Converts to bool: whether elements are different from zero.").grad(Constant).spread(Spread::Elementwise),
    conversion("byte", "Converts to u8.").grad(Constant).spread(Spread::Elementwise),
    conversion("char", "Converts to i8.").grad(Constant).spread(Spread::Elementwise),
    conversion("short", "Converts to i16.").grad(Constant).spread(Spread::Elementwise),
    conversion("int", "Converts to i32.").grad(Constant).spread(Spread::Elementwise),
    conversion("long", "Converts to i64.").grad(Constant).spread(Spread::Elementwise),
    conversion("half", "Converts to f16.").grad(Lines(&[("self", "grad")])).spread(Spread::Elementwise),
    conversion("bfloat16", "Converts to bf16.").grad(Lines(&[("self", "grad")])).spread(Spread::Elementwise),
    conversion("float", "Converts to f32.").grad(Lines(&[("self", "grad")])).spread(Spread::Elementwise),
    conversion("double", "Converts to f64.").grad(Lines(&[("self", "grad")])).spread(Spread::Linear),
    conversion("cfloat", "Converts to `Complex<f32>`.").grad(Lines(&[("self", "grad")])).spread(Spread::Elementwise),
    conversion("cdouble", "Converts to `Complex<f64>`.").grad(Lines(&[("self", "grad")])).spread(Spread::Linear),
    conversion("type_as", "Converts to the dtype of another tensor, on its device.")
        .signature("self, other").grad(Lines(&[("self", "grad"), ("other", "zero")])).spread(Spread::Elementwise),
    Row::new("cpu", "self", Copy, Keeps, "The same elements on the host.")
        .forms(Forms::METHOD).grad(Lines(&[("self", "grad")])).spread(Spread::Linear),
    Row::new(
        "cuda",
        "self, device: Device = None",
        Copy,
        Keeps,
        "The same elements on a CUDA device, the current one if none is given.",
    )
    .forms(Forms::METHOD).grad(Lines(&[("self", "grad")])).spread(Spread::Linear),
    Row::new(
        "detach",
        "self",
        View,
        Keeps,
        "The same elements, cut off from gradients.",
    )
    .forms(Forms::PURE.and(Forms::IN_PLACE)).grad(Constant).spread(Spread::Linear),
    Row::new("zero", "self", Fill, InPlace, "Writes zeros everywhere.")
        .forms(Forms::IN_PLACE_ONLY).grad(Constant).spread(Spread::Create),
    Row::new(
        "resize",
        "self, size: Sizes, *, memory_format: Format = contiguous_format",
        View,
        SameShape,
        "Gives an unnamed tensor other sizes; its buffer grows where it must.",
    )
    .forms(Forms::IN_PLACE_ONLY)
    .grad(Never("what lies behind the old elements belongs to nobody: `reshape` has one")).differs("new elements are zero: no uninitialised memory can be read").spread(Spread::Whole),
    Row::new(
        "resize_as",
        "self, the_template",
        View,
        SameShape,
        "Gives an unnamed tensor the sizes and names of another.",
    )
    .forms(Forms::IN_PLACE_ONLY)
    .grad(Never("what lies behind the old elements belongs to nobody: `reshape` has one")).differs("new elements are zero: no uninitialised memory can be read").spread(Spread::Whole),
    query("grad", "The gradient that `backward` left at a leaf.").spread(Spread::Local),
    query("requires_grad", "Whether gradients are recorded; in place, says so.")
        .signature("self, requires_grad: Bool = True")
        .forms(Forms::METHOD.and(Forms::IN_PLACE)).spread(Spread::Local),
    query("is_leaf", "Whether no recorded operator made the tensor.").spread(Spread::Local),
    query("register_hook", "Calls a function with the gradient.")
        .signature("self, hook: Data").spread(Spread::Local),
    query(
        "register_post_accumulate_grad_hook",
        "Calls a function after the gradient was added up.",
    )
    .signature("self, hook: Data").spread(Spread::Local),
    query("data_ptr", "The address of the first element.")
        .status(PythonOnly("`as_ptr`, or `as_slice`, which borrows")).spread(Spread::Refused),
    query("is_shared", "Whether other processes see the buffer.").status(PythonOnly(
        "no buffer is shared between processes; threads share all tensors",
    )).spread(Spread::Refused),
    query("is_pinned", "Whether the buffer's pages are locked.")
        .status(PythonOnly("buffers on the host are ordinary memory")).spread(Spread::Refused),
    query("is_tensor", "Whether an object is a tensor.")
        .signature("obj: Data")
        .forms(Forms::FUNCTION)
        .status(PythonOnly("rustc knows: it is a `Tensor` or a `DynTensor`")).spread(Spread::Refused),
];
