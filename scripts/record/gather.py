"""Indexing: index tensors, masks, replaced parts."""

import torch
from common import *

r = Recorder("gather")
FLOATS = [f32, f64, f16, bf16, c64]
ALL = [f32, f64, f16, bf16, i64, i32, u8, boolean, c64]


def ids(values, names, dtype=i64):
    return T(torch.tensor(values, dtype=dtype), names)


def flipped(x, names):
    return T(x.tensor.t(), names)


# index_select: the index's dims replace the dim
for n, dtype in enumerate(ALL):
    x = r.rand((2, 3), "N C", dtype)
    by = i32 if n % 2 else i64
    r.case("torch.index_select", x, D("C", 1), ids([2, 0, 0, 1], "K", by), names="N K")
    r.case("torch.Tensor.index_select", x, D("N", 0), ids([1, 1, 0], "_"), names="N C")
x = r.rand((2, 3, 4), "N C H")
r.case("torch.index_select", x, D("C", 1), ids([2, 1], "C"), names="N C H")
r.case("torch.index_select", x, D(None, -1), ids([3, 0, 1], "K"), names="N C K")
r.case("torch.index_select", x, D("N", 0), ids([], "K"), names="K C H")
r.case("torch.index_select", x, D("N", 0), ids(1, ""), names="N C H")
r.case("torch.index_select", flipped(r.rand((3, 2), "C N"), "N C"), D("N", 0), ids([1, 0, 1], "K"), names="K C")
r.case("torch.index_select", T(r.rand((4, 3), "N C").tensor[::2], "N C"), D("C", 1), ids([1, 0], "_"), names="N C")
r.case("torch.index_select", x, D("C", 1), S(ids([-1, -3], "K"), torch.tensor([2, 0])), names="N K H")
select2 = lambda x, d, i: x.index_select(d, i.flatten()).unflatten(d, i.shape)
r.case("torch.index_select", x, D("C", 1), ids([[2, 1], [0, 0]], "A B"), names="N A B H", fn=select2)
r.case("torch.index_select", r.rand((0, 3), "N C"), D("C", 1), ids([2, 1], "K"), names="N K")
r.case("torch.index_select", x, D("C", 1), ids([0, 2], "_"), names="N C H",
       out=T(torch.zeros(0), "_"))
r.error("torch.index_select", "duplicate_names", x, D("C", 1), ids([2, 1], "H"))
r.error("torch.index_select", "name_not_found", x, D("W", 1), ids([2, 1], "K"))
r.error("torch.index_select", "index", x, D("C", 1), ids([0, 3], "K"))
r.error("torch.index_select", "index", x, D("C", 1), ids([0, -4], "K"))
r.error("torch.index_select", "dtype", x, D("C", 1), r.rand((2,), "K"))

# gather: names unify by position
for n, dtype in enumerate(ALL):
    x = r.rand((2, 3), "N C", dtype)
    r.case("torch.gather", x, D("C", 1), ids([[2, 0, 0, 1], [1, 1, 0, 2]], "N C"), names="N C")
    r.case("torch.Tensor.gather", x, D(None, 0), ids([[1, 0, 1]], "_ C"), names="N C")
x = r.rand((2, 3, 4), "N C H")
r.case("torch.gather", x, D("C", 1), ids([[[0, 1], [2, 2]]], "N C _"), names="N C H")
r.case("torch.gather", x, D("H", -1), ids([[[3]], [[0]]], "_ _ _"), names="N C H")
r.case("torch.gather", flipped(r.rand((3, 2), ""  "C N"), "N C"), D("N", 0), ids([[1, 0, 1], [0, 0, 0]], "N C"), names="N C")
r.case("torch.gather", r.rand((2, 3), "N C"), D("C", 1),
       T(torch.tensor([[1, 0], [2, 1], [0, 0]]).t()[:, :2], "N _"), names="N C")
r.case("torch.gather", r.rand((2, 3), "N C"), D("C", 1), T(torch.tensor([[1], [2]]).expand(2, 3), "N C"), names="N C")
r.case("torch.gather", r.rand((2, 3), "_ C"), D("C", 1), T(torch.zeros(2, 0, dtype=i64), "N C"), names="N C")
r.case("torch.gather", r.rand((3,), "C"), D("C", 0), ids([2, 2, 0, 1], "C"), names="C")
r.case("torch.gather", r.rand((2, 3), "N C"), D("C", 1), S(ids([[-1], [-3]], "N C"), torch.tensor([[2], [0]])), names="N C")
r.case("torch.gather", r.rand((3,), "C"), D("C", 0), ids([2, 0], "C"), names="C", out=T(torch.zeros(2), "_"))
r.error("torch.gather", "name_mismatch", r.rand((2, 3), "N C"), D("C", 1), ids([[1], [2]], "N K"))
r.error("torch.gather", "rank", r.rand((2, 3), "N C"), D("C", 1), ids([1, 2], "N"))
r.error("torch.gather", "index", r.rand((2, 3), "N C"), D("C", 1), ids([[1], [3]], "N C"))
r.error("torch.gather", "shape", r.rand((2, 3), "N C"), D("C", 1), ids([[1], [2], [0]], "N C"))
r.error("torch.gather", "name_not_found", r.rand((2, 3), "N C"), D("H", 1), ids([[1], [2]], "N C"))

# scatter and similar operators
at = ids([[2, 0], [1, 2]], "N C")
twice = ids([[2, 2, 0], [1, 0, 1]], "N C")
for n, dtype in enumerate(ALL):
    x, src = r.rand((2, 3), "N C", dtype), r.rand((2, 3), "N C", dtype)
    r.case("torch.scatter", x, D("C", 1), at, src, names="N C")
    r.case("torch.Tensor.scatter_", x, D("C", 1), at, src, names="N C")
    r.case("torch.scatter", x, D("C", -1), at, value=1, names="N C")
    r.case("torch.scatter_add", x, D("C", 1), twice, src, names="N C")
    r.case("torch.Tensor.scatter_add_", x, D("N", 0), ids([[1, 1, 0], [1, 0, 0]], "_ _"), src, names="N C")
x, src = r.rand((2, 3), "N C"), r.rand((2, 3), "N C")
r.case("torch.scatter", x, D("C", 1), twice, src, reduce="add", names="N C")
r.case("torch.scatter", x, D("C", 1), twice, src, reduce="multiply", names="N C")
r.case("torch.Tensor.scatter_", x, D("C", 1), twice, 2.5, reduce="add", names="N C")
r.case("torch.Tensor.scatter_", x, D("C", 1), at, 2.5, names="N C")
r.case("torch.scatter", r.rand((2, 3), "_ C"), D("C", 1), at, r.rand((4, 5), "N _"), names="N C")
r.case("torch.scatter", flipped(r.rand((3, 2), "C N"), "N C"), D("N", 0), ids([[1, 0, 1]], "N C"), r.rand((1, 3), "_ _"), names="N C")
r.case("torch.scatter", x, D("C", 1), T(torch.zeros(2, 0, dtype=i64), "N C"), src, names="N C")
r.case("torch.scatter", r.rand((3,), "C"), D("C", 0), ids([2, 0], "_"), r.rand((2,), "C"), names="C")
r.case("torch.scatter", x, D("C", 1), at, 1.5, names="N C", out=T(torch.zeros(2, 3), "_ _"))
r.case("torch.scatter_add", flipped(r.rand((3, 2), "C N"), "N C"), D("N", 0), ids([[1, 1, 1], [1, 0, 1]], "N C"), flipped(r.rand((3, 2), "C N"), "N C"), names="N C")
r.case("torch.scatter_add", r.rand((4,), "C"), D("C", 0), ids([3, 3, 0, 3, 1, 0, 3], "C"), r.rand((7,), "C"), names="C")
r.case("torch.scatter_add", r.rand((2, 3, 2), "N C H"), D("C", 1), ids([[[0, 0], [0, 2]], [[1, 1], [2, 1]]], "N C H"), r.rand((2, 2, 2), "N C H"), names="N C H")
for op in ["torch.scatter", "torch.scatter_add", "torch.Tensor.scatter_", "torch.Tensor.scatter_add_"]:
    r.error(op, "name_mismatch", x, D("C", 1), ids([[2, 0], [1, 2]], "N K"), src)
    r.error(op, "name_mismatch", x, D("C", 1), at, r.rand((2, 3), "N K"))
    r.error(op, "index", x, D("C", 1), ids([[2, 0], [1, 3]], "N C"), src)
    r.error(op, "dtype", x, D("C", 1), at, r.rand((2, 3), "N C", f64))
    r.error(op, "shape", x, D("C", 1), at, r.rand((2, 1), "N C"))
    r.error(op, "name_not_found", x, D("K", 1), at, src)
r.error("torch.Tensor.scatter_", "name_mismatch_out", r.rand((2, 3), "N _"), D("N", 0), ids([[1, 0, 0]], "N C"), src)

for reduce in ["sum", "prod", "mean", "amax", "amin"]:
    for dtype in [f32, i64, bf16, i32]:
        x, src = r.rand((2, 3), "N C", dtype), r.rand((2, 3), "N C", dtype)
        for include in [True, False]:
            r.case("torch.scatter_reduce", x, D("C", 1), twice, src, reduce, include_self=include, names="N C")
    r.case("torch.Tensor.scatter_reduce_", r.rand((2, 3), "N C", f64), D("C", 1), twice, r.rand((2, 3), "_ _", f64), reduce, names="N C")
    if reduce != "sum":
        for dtype in [f32, i64, f64]:
            x, src = r.rand((3, 2), "N C", dtype), r.rand((4, 2), "K C", dtype)
            for include in [True, False]:
                r.case("torch.index_reduce", x, D("N", 0), ids([2, 0, 2, 2], "K"), src, reduce, include_self=include, names="N C")
        r.case("torch.Tensor.index_reduce_", r.rand((2, 3), "N C"), D("C", 1), ids([1, 1], "_"), r.rand((2, 2), "N C"), reduce, names="N C")
nan = torch.tensor([[1.0, float("nan")], [2.0, 3.0]])
r.case("torch.scatter_reduce", r.rand((2, 3), "N C"), D("C", 1), ids([[0, 0], [1, 1]], "N C"), T(nan, "N C"), "amax", names="N C")
r.case("torch.scatter_reduce", r.rand((2, 3), "N C"), D("C", 1), ids([[0, 0], [1, 1]], "N C"), T(nan, "N C"), "amin", include_self=False, names="N C")
r.error("torch.scatter_reduce", "name_mismatch", r.rand((2, 3), "N C"), D("C", 1), ids([[0], [1]], "N K"), r.rand((2, 3), "N C"), "sum")
r.error("torch.index_reduce", "name_mismatch", r.rand((2, 3), "N C"), D("C", 1), ids([0], "K"), r.rand((2, 1), "N C"), "prod")

# index_add, index_copy, index_fill
for n, dtype in enumerate(ALL):
    x = r.rand((3, 2), "N C", dtype)
    r.case("torch.index_add", x, D("N", 0), ids([2, 0, 2, 1], "K"), r.rand((4, 2), "K C", dtype), names="N C")
    r.case("torch.Tensor.index_add_", x, D("C", 1), ids([1, 1, 0], "_", i32), r.rand((3, 3), "N _", dtype), names="N C")
    r.case("torch.index_copy", x, D("N", 0), ids([2, 0], "K"), r.rand((2, 2), "K C", dtype), names="N C")
    r.case("torch.Tensor.index_copy_", x, D("C", 1), ids([0, 1], "C"), r.rand((3, 2), "N C", dtype), names="N C")
    r.case("torch.index_fill", x, D("N", 0), ids([2, 0], "K"), 1, names="N C")
    r.case("torch.Tensor.index_fill_", x, D("C", -1), ids([1], "_"), 1, names="N C")
x = r.rand((3, 2), "N C")
for alpha in [2, -0.5]:
    r.case("torch.index_add", x, D("N", 0), ids([2, 0, 2], "K"), r.rand((3, 2), "K C"), alpha=alpha, names="N C")
r.case("torch.index_add", flipped(r.rand((2, 3), "C N"), "N C"), D("N", 0), ids([2, 2], "K"), flipped(r.rand((2, 2), "C K"), "K C"), names="N C")
r.case("torch.index_add", r.rand((3,), "_"), D(None, 0), ids([2, 2, 0], "K"), r.rand((3,), "K"), names="_")
r.case("torch.index_add", r.rand((2, 3, 2), "N C H"), D("C", 1), ids([0, 2, 2], "K"), r.rand((2, 3, 2), "N K H"), names="N C H")
r.case("torch.index_add", x, D("N", 0), ids([], "K"), r.rand((0, 2), "K C"), names="N C")
r.case("torch.index_copy", r.rand((2, 3, 2), "N C H"), D("C", 1), ids([0, 2], "K"), r.rand((2, 2, 2), "N K H"), names="N C H")
r.case("torch.index_copy", x, D("N", 0), ids([2], "K"), r.rand((1, 2), "K C"), names="N C", out=T(torch.zeros(3, 2), "N C"))
r.case("torch.index_fill", x, D("N", 0), ids([0, 2], "_"), T(torch.tensor(4.5), ""), names="N C")
for op in ["torch.index_add", "torch.index_copy"]:
    r.error(op, "name_mismatch", x, D("N", 0), ids([2], "K"), r.rand((1, 2), "N C"))
    r.error(op, "index", x, D("N", 0), ids([3], "K"), r.rand((1, 2), "K C"))
    r.error(op, "shape", x, D("N", 0), ids([1], "K"), r.rand((2, 2), "K C"))
    r.error(op, "duplicate_names", x, D("N", 0), ids([1], "C"), r.rand((1, 2), "_ C"))
    r.error(op, "dtype", x, D("N", 0), ids([1], "K"), r.rand((1, 2), "K C", i64))
r.error("torch.index_fill", "name_not_found", x, D("H", 0), ids([1], "K"), 1.0)
r.error("torch.index_fill", "index", x, D("N", 0), ids([-4], "K"), 1.0)
r.error("torch.index_fill", "rank", x, D("N", 0), ids([1], "K"), r.rand((2,), "C"))

# index and index_put: several at once
pick = lambda x, i: x[tuple(slice(None) if a is None else a for a in i)]
x3 = r.rand((2, 3, 4), "N C H")
for dtype in ALL:
    x = r.rand((2, 3), "N C", dtype)
    r.case("torch.Tensor.index", x, [ids([1, 0, 1], "K"), ids([2, 2, 0], "K")], names="K", fn=pick)
a, b = ids([1, 0], "K"), ids([[2], [0]], "J _")
r.case("torch.Tensor.index", x3, [None, a], names="N K H", fn=pick)
r.case("torch.Tensor.index", x3, [a, b], names="J K H", fn=pick)
r.case("torch.Tensor.index", x3, [None, a, b], names="N J K", fn=pick)
r.case("torch.Tensor.index", x3, [a, None, b], names="J K C", fn=pick)
r.case("torch.Tensor.index", x3, [None, None, ids([-1, 0], "_")], names="N C H", fn=pick)
r.case("torch.Tensor.index", x3, [ids(1, "")], names="C H", fn=pick)
r.case("torch.Tensor.index", x3, [None, ids(1, ""), ids([3, 0], "_")], names="N _", fn=pick)
mask = T(torch.tensor([[True, False, True], [False, False, True]]), "N C")
r.case("torch.Tensor.index", x3, [mask], names="_ H", fn=pick)
r.case("torch.Tensor.index", x3, [None, T(torch.tensor([True, False, True]), "C")], names="N C H", fn=pick)
r.case("torch.Tensor.index", T(x3.tensor.transpose(0, 2), "H C N"), [ids([3, 1], "K"), ids([0, 2], "K")], names="K N", fn=pick)
r.case("torch.Tensor.index", x3, [T(torch.zeros(0, dtype=i64), "K"), ids([1], "_")], names="K H", fn=pick)
r.error("torch.Tensor.index", "name_mismatch", x3, [a, ids([1, 0], "J")])
r.error("torch.Tensor.index", "duplicate_names", x3, [None, ids([1, 0], "H")])
r.error("torch.Tensor.index", "index", x3, [None, ids([1, 3], "K")])
r.error("torch.Tensor.index", "shape", x3, [ids([1, 0, 1], "K"), a])
put = lambda x, i, v, accumulate=False: x.index_put([slice(None) if a is None else a for a in i], v, accumulate)
for dtype in ALL:
    x = r.rand((2, 3), "N C", dtype)
    where = [ids([1, 0, 1], "K"), ids([2, 2, 2], "K")]
    r.case("torch.index_put", x, [where[0]], r.rand((1, 3), "_ C", dtype), names="N C")
    r.case("torch.Tensor.index_put_", x, where, r.rand((3,), "K", dtype), True, names="N C")
r.case("torch.index_put", x3, [a, b], r.rand((4,), "H"), names="N C H")
r.case("torch.index_put", x3, [a, b], r.rand((2, 2, 4), "J K H"), True, names="N C H")
r.case("torch.index_put", T(x3.tensor.transpose(0, 2), "H C N"), [ids([3, 1], "K"), ids([0, 2], "K")], r.rand((2, 2), "K N"), names="H C N")
r.case("torch.index_put", x3, [mask], r.rand((1,), "_"), names="N C H")
r.error("torch.index_put", "name_mismatch", x3, [a], r.rand((2, 3, 4), "J C H"))
r.error("torch.index_put", "dtype", x3, [a], r.rand((2, 3, 4), "K C H", f64))
r.error("torch.index_put", "shape", x3, [a], r.rand((3, 3, 4), "K C H"))

# take, take_along_dim, put
for dtype in ALL:
    x = r.rand((2, 3), "N C", dtype)
    r.case("torch.take", x, ids([5, 0, 3], "K"), names="K")
    r.case("torch.take_along_dim", x, ids([[2], [0]], "N C"), D("C", 1), names="N C")
    r.case("torch.Tensor.put_", x, ids([5, 0], "K"), r.rand((2,), "K", dtype), names="N C")
r.case("torch.take", flipped(r.rand((3, 2), "C N"), "N C"), ids([[1, 2], [3, -1]], "A B"), names="A B")
r.case("torch.take", r.rand((2, 3), "N C"), T(torch.zeros(0, dtype=i64), "K"), names="K")
r.error("torch.take", "index", r.rand((2, 3), "N C"), ids([6], "K"))
r.case("torch.take_along_dim", r.rand((2, 3), "N C"), ids([[2, 0, 1, 1]], "_ C"), D("C", 1), names="N C")
r.case("torch.take_along_dim", r.rand((1, 3), "N C"), ids([[2], [0], [1]], "N C"), D("C", 1), names="N C")
r.case("torch.take_along_dim", r.rand((2, 3), "N C"), ids([5, 1], "_"), names="_")
r.case("torch.take_along_dim", r.rand((2, 3, 2), "N C H"), ids([[[0, 1]]], "_ _ H"), D("C", 1), names="N C H")
r.error("torch.take_along_dim", "name_mismatch", r.rand((2, 3), "N C"), ids([[2], [0]], "N K"), D("C", 1))
r.error("torch.take_along_dim", "rank", r.rand((2, 3), "N C"), ids([2, 0], "C"), D("C", 1))
x = r.rand((2, 3), "N C")
r.case("torch.Tensor.put", x, ids([5, 0, 5], "_"), r.rand((3,), "_"), True, names="N C")
r.case("torch.Tensor.put", flipped(r.rand((3, 2), "C N"), "N C"), ids([[1, 2]], "_ _"), r.rand((2, 1), "_ _"), names="N C")
r.error("torch.Tensor.put", "index", x, ids([6], "K"), r.rand((1,), "K"))
r.error("torch.Tensor.put_", "shape", x, ids([1, 2], "K"), r.rand((1,), "K"))

# masks
for dtype in ALL:
    x = r.rand((2, 3), "N C", dtype)
    r.case("torch.masked_scatter", x, mask, r.rand((4,), "_", dtype), names="N C")
    r.case("torch.Tensor.masked_scatter_", x, T(torch.tensor([True, False, True]), "C"), r.rand((2, 2), "_ _", dtype), names="N C")
    r.case("torch.nonzero", r.rand((2, 3), "N C", dtype, -1, 1), names="_ _")
    r.case("torch.argwhere", r.rand((2, 2, 2), "N C H", dtype, -1, 1), names="_ _")
r.case("torch.masked_scatter", r.rand((3,), "C"), mask, r.rand((6,), "_"), names="N C")
r.error("torch.masked_scatter", "shape", x3, T(torch.ones(2, 3, 4, dtype=boolean), "N C H"), r.rand((3,), "_"))
r.error("torch.masked_scatter", "name_mismatch", r.rand((2, 3), "N K"), mask, r.rand((6,), "_"))
r.case("torch.nonzero", flipped(r.rand((3, 2), "C N", i32, 0, 1), "N C"), names="_ _")
r.case("torch.nonzero", T(torch.tensor(3.0), ""), names="_ _")
r.case("torch.nonzero", T(torch.tensor(0.0), ""), names="_ _")
r.case("torch.nonzero", r.rand((0, 3), "N C"), names="_ _")
r.case("torch.nonzero", T(torch.tensor([0.0, float("nan"), 1.0]), "N"), names="_ _")
r.case("torch.Tensor.nonzero", r.rand((2, 3), "N C", i64, 0, 1), as_tuple=True, names=["_", "_"])

# embedding, one_hot, unravel_index
for dtype in FLOATS:
    w = r.rand((4, 3), "V E", dtype)
    r.case("torch.nn.functional.embedding", ids([3, 0, 3], "T"), w, names="T E")
    r.case("torch.nn.functional.embedding", ids([[3, 0], [1, 1]], "N T", i32), w, names="N T E")
r.case("torch.nn.functional.embedding", ids(2, ""), r.rand((4, 3), "V E"), names="E")
r.case("torch.nn.functional.embedding", ids([2, 0], "_"), flipped(r.rand((3, 4), "E V"), "V E"), names="_ E")
r.case("torch.nn.functional.embedding", ids([2, 0], "T"), r.rand((4, 3), "V E"), padding_idx=0, names="T E")
r.case("torch.nn.functional.embedding", T(torch.zeros(0, dtype=i64), "T"), r.rand((4, 3), "V E"), names="T E")
r.error("torch.nn.functional.embedding", "duplicate_names", ids([2, 0], "E"), r.rand((4, 3), "V E"))
r.error("torch.nn.functional.embedding", "index", ids([4, 0], "T"), r.rand((4, 3), "V E"))
r.error("torch.nn.functional.embedding", "dtype", r.rand((2,), "T"), r.rand((4, 3), "V E"))
for n in range(4):
    x = r.rand((2, 3)[:n % 3], ["", "N", "N C"][n % 3], i64, 0, 3)
    names = " ".join([*[w for w in ["", "N", "N C"][n % 3].split()], "_"])
    r.case("torch.nn.functional.one_hot", x, names=names)
    r.case("torch.nn.functional.one_hot", x, 5, names=names)
r.case("torch.nn.functional.one_hot", T(torch.zeros(0, dtype=i64), "N"), num_classes=3, names="N _")
r.case("torch.nn.functional.one_hot", flipped(r.rand((3, 2), "C N", i64, 0, 3), "N C"), num_classes=4, names="N C _")
r.error("torch.nn.functional.one_hot", "index", ids([1, 4], "N"), 3)
r.error("torch.nn.functional.one_hot", "index", ids([1, -1], "N"), 3)
for shape in [[2, 3], [7], [2, 2, 2]]:
    r.case("torch.unravel_index", ids([5, 0, 3], "K"), shape, names=["K"] * len(shape))
    r.case("torch.unravel_index", ids([[1, 2]], "A B", i32), S(shape, tuple(shape)), names=["A B"] * len(shape),
           fn=lambda i, s: [x.to(i64) for x in torch.unravel_index(i, s)])
r.case("torch.unravel_index", ids(4, ""), [2, 3], names=["", ""])
r.case("torch.unravel_index", T(torch.zeros(0, dtype=i64), "K"), [2, 3], names=["K", "K"])
r.error("torch.unravel_index", "index", ids([6], "K"), [2, 3])

# replaced parts
for dtype in ALL:
    x = r.rand((2, 3), "N C", dtype)
    r.case("torch.select_scatter", x, r.rand((3,), "C", dtype), D("N", 0), -1, names="N C")
    r.case("torch.slice_scatter", x, r.rand((2, 2), "N C", dtype), D("C", 1), 0, 3, 2, names="N C")
    r.case("torch.diagonal_scatter", x, r.rand((2,), "_", dtype), names="N C")
x = r.rand((2, 3), "N C")
r.case("torch.select_scatter", flipped(r.rand((3, 2), "C N"), "N C"), r.rand((2,), "_"), D("C", 1), 2, names="N C")
r.case("torch.slice_scatter", x, r.rand((2, 1), "_ C"), D("C", 1), start=-1, names="N C")
r.case("torch.slice_scatter", x, r.rand((2, 2), "N C"), D("C", 1), end=-1, names="N C")
r.case("torch.slice_scatter", x, r.rand((2, 0), "N C"), D("C", 1), 2, 1, names="N C")
r.case("torch.slice_scatter", x, r.rand((2, 2), "N C"), D("C", 1), 1, 100, names="N C")
r.case("torch.diagonal_scatter", x, r.rand((2,), "_"), 1, names="N C")
r.case("torch.diagonal_scatter", r.rand((2, 3, 2), "N C H"), r.rand((3, 2), "C _"), 0, D("N", 0), D("H", 2), names="N C H")
r.error("torch.select_scatter", "name_mismatch", x, r.rand((3,), "N"), D("N", 0), 1)
r.error("torch.select_scatter", "shape", x, r.rand((2,), "C"), D("N", 0), 1)
r.error("torch.select_scatter", "index", x, r.rand((3,), "C"), D("N", 0), 2)
r.error("torch.slice_scatter", "shape", x, r.rand((2, 2), "N C"), D("C", 1), 0, 1)
r.error("torch.diagonal_scatter", "shape", x, r.rand((3,), "_"))

# at: by name
def part(x, pairs):
    return x[tuple(pairs)]


A = lambda ours, theirs: S(ours, theirs)
for dtype in ALL:
    x = r.rand((2, 3), "N C", dtype)
    r.case("torch.Tensor.at", x, A([["C", [1, 3]], ["N", -1]], (-1, slice(1, 3))), names="C", fn=part)
x = r.rand((2, 3, 4), "N C H")
t = ids([2, 0], "K")
r.case("torch.Tensor.at", x, A([["H", [None, None, 3]]], (slice(None), slice(None), slice(None, None, 3))), names="N C H", fn=part)
r.case("torch.Tensor.at", x, A([["C", t]], (slice(None), t.tensor)), names="N K H", fn=part)
r.case("torch.Tensor.at", x, A([["H", [-3, -1]], ["C", t], ["N", 0]], (0, t.tensor, slice(1, 3))), names="K H", fn=part)
r.case("torch.Tensor.at", x, A([["H", ids([3, 1], "J")], ["C", t]], None), names="N K J", fn=lambda x, _: x[:, [2, 0]][:, :, [3, 1]])
r.case("torch.Tensor.at", x, A([["C", T(torch.tensor([True, False, True]), "_")]], (slice(None), [0, 2])), names="N C H", fn=part)
r.case("torch.Tensor.at", x, A([], ()), names="N C H", fn=part)
r.case("torch.Tensor.at", x, A([[-1, 0], [0, [1, 1]]], (slice(1, 1), slice(None), 0)), names="N C", fn=part)
r.error("torch.Tensor.at", "index", x, [["C", 3]])
r.error("torch.Tensor.at", "index", x, [["C", [0, 4]]])
r.error("torch.Tensor.at", "name_not_found", x, [["W", 0]])
r.error("torch.Tensor.at", "duplicate_names", x, [["C", ids([1], "H")]])
r.error("torch.Tensor.at", "index", x, [["C", ids([3], "K")]])

r.write()
