"""Sparse tensors: coordinates and values."""

import torch
from common import D, T, Recorder, bf16, boolean, c64, f16, f32, f64, i8, i16, i32, i64, u8

r = Recorder("sparse")
DTYPES = (f32, f64, f16, bf16, i64, i32, u8, c64)


def thin(shape, names, dtype=f32, keep=0.4):
    """Returns a dense tensor, mostly zeros."""
    x = r.rand(shape, names, dtype).tensor
    return T(x * (torch.rand(shape, generator=r.generator) < keep).to(dtype), names)


def coo(shape, names, dtype=f32, count=4, dense=0, coalesced=False):
    """Returns a sparse tensor with entries in any order, some of them duplicates."""
    sparse = len(shape) - dense
    indices = torch.stack(
        [torch.randint(0, max(s, 1), (count,), generator=r.generator) for s in shape[:sparse]]
    ) if sparse else torch.zeros((0, count), dtype=i64)
    values = r.rand((count, *shape[sparse:]), " ".join("_" * (1 + dense)), dtype).tensor
    x = torch.sparse_coo_tensor(indices, values, shape)
    return T(x.coalesce() if coalesced else x, names)


def some(dtype=f32):
    """Returns sparse tensors of several ranks, coalesced or not."""
    yield coo((2, 3), "N C", dtype)
    yield coo((2, 3), "N C", dtype, 6, coalesced=True)
    yield coo((2, 2, 3), "N C K", dtype, 5)
    yield coo((3, 2), "N _", dtype, 3, dense=1)
    yield coo((2, 2, 2), "N C K", dtype, 3, dense=2, coalesced=True)
    yield coo((4,), "N", dtype, 6)
    yield coo((2, 3), "N C", dtype, 0)


def maybe(op, *args, **kwargs):
    """Records a case, unless PyTorch does not support the dtype."""
    try:
        r.case(op, *args, **kwargs)
    except (NotImplementedError, RuntimeError) as error:
        print(f"left out: {op}: {str(error).splitlines()[0]}")


def joined(names):
    return " ".join("_" if name is None else name for name in names)


# Construction from parts.
for dtype in DTYPES:
    indices = T(torch.tensor([[0, 1, 1, 0], [2, 0, 2, 2]]), "_ _")
    values = r.rand((4,), "_", dtype)
    r.case("torch.sparse_coo_tensor", indices, values, [2, 3], names="_ _")
    r.case("torch.sparse_coo_tensor", indices, values, names="_ _")
blocks = r.rand((4, 2), "_ _")
r.case("torch.sparse_coo_tensor", indices, blocks, [2, 3, 2], names="_ _ _")
r.case("torch.sparse_coo_tensor", indices, values, [5, 4], dtype=f64, names="_ _")
r.case("torch.sparse_coo_tensor", [[0, 1], [1, 0]], [1.5, 2.5], [2, 2], names="_ _")
r.case("torch.sparse_coo_tensor", T(indices.tensor.to(i32), "_ _"), values, [2, 3], names="_ _")
for bad, kind in (([2, 2], "index"), ([1, 3], "index"), ([2], "rank"), ([2, 3, 1], "rank")):
    r.error("torch.sparse_coo_tensor", kind, indices, values, bad)
r.error("torch.sparse_coo_tensor", "shape", indices, r.rand((3,), "_"), [2, 3])
r.error("torch.sparse_coo_tensor", "rank", r.rand((3,), "_", i64), r.rand((3,), "_"), [2])
r.error("torch.sparse_coo_tensor", "dtype", r.rand((2, 3), "_ _"), r.rand((3,), "_"), [2, 3])
r.error("torch.sparse_coo_tensor", "names_len", indices, values, [2, 3], names=["N"])
r.error("torch.sparse_coo_tensor", "duplicate_names", indices, values, [2, 3], names=["N", "N"])

# Queries, and conversion to dense.
for dtype in DTYPES:
    for x in some(dtype):
        names = joined(x.names)
        r.case("torch.Tensor.coalesce", x, names=names)
        r.case("torch.Tensor.to_dense", x, names=names)
        r.case("torch.neg", x, names=names) if dtype != u8 else None
boolean_x = T(torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], [True, True, False], (2, 3)), "N C")
r.case("torch.Tensor.to_dense", boolean_x, names="N C")
for x in some():
    names = joined(x.names)
    c = T(x.tensor.coalesce(), names)
    dense = " ".join(["_"] + names.split()[c.tensor.sparse_dim():])
    r.case("torch.Tensor.indices", c, names="_ _")
    r.case("torch.Tensor.values", c, names=dense)
    r.case("torch.Tensor.is_coalesced", x, names=None)
    for op in ("_nnz", "sparse_dim", "dense_dim", "dim", "numel", "size"):
        r.case(f"torch.Tensor.{op}", x, names=None,
               **({"fn": lambda x: list(x.size())} if op == "size" else {}))
    r.case("torch.Tensor.is_sparse.__get__", x, names=None, fn=lambda x: x.is_sparse)
    r.case("torch.Tensor.dtype.__get__", x, names=None, fn=lambda x: x.dtype)
    r.case("torch.Tensor.to_dense", x, f64, names=names, fn=lambda x, dtype: x.to_dense().to(dtype))
    r.case("torch.Tensor.to_sparse", c, names=names)
    r.case("torch.clone", x, names=names)
    r.case("torch.Tensor.to", c, f64, names=names)
    r.case("torch.Tensor.to", c, i32, names=names)
for dtype in (*DTYPES, boolean):
    for shape, names in (((3, 4), "N C"), ((2, 3, 2), "N C K"), ((5,), "N")):
        x = thin(shape, names, dtype)
        r.case("torch.Tensor.to_sparse", x, names=names)
        r.case("torch.Tensor.to_sparse", x, 1, names=names)
    r.case("torch.Tensor.to_sparse", T(thin((3, 4), "N C", dtype).tensor.t(), "C N"), names="C N")
r.case("torch.Tensor.to_dense", thin((2, 3), "N C"), names="N C")

# Sums and products, entry by entry.
for dtype in DTYPES:
    for a, b in zip(some(dtype), some(dtype)):
        names = joined(a.names)
        maybe("torch.add", a, b, names=names)
        # For uncoalesced tensors PyTorch also stores zeros.
        both = lambda a, b: torch.mul(a.coalesce(), b.coalesce())
        maybe("torch.mul", a, b, names=names, fn=both)
        maybe("torch.add", a, b, alpha=2, names=names)
        maybe("torch.sub", a, b, names=names)
        d = r.rand(tuple(a.tensor.shape), names, dtype)
        maybe("torch.add", d, a, names=names)
        maybe("torch.mul", a, 2, names=names)
        maybe("torch.div", a, 4, names=names)
        maybe("torch.Tensor.add_", d, a, names=names)
a, b = coo((2, 3), "N C"), coo((2, 3), "N C", f64)
r.case("torch.add", a, b, names="N C")
r.case("torch.mul", a, 2.5, names="N C")
r.case("torch.mul", 2.5, a, names="N C")
r.case("torch.mul", coo((2, 3), "N C", i32), 2.5, names="N C")
r.case("torch.mul", a, T(torch.tensor(3.0), ""), names="N C")
unnamed = T(b.tensor, "_ C")
r.case("torch.add", a, unnamed, names="N C")
r.error("torch.add", "name_mismatch", a, T(a.tensor, "C K"))
r.error("torch.add", "misaligned", T(a.tensor, "C _"), T(a.tensor, "_ C"))
r.error("torch.add", "shape", a, coo((2, 2), "N C"))
r.error("torch.sub", "name_mismatch", a, T(a.tensor, "C K"))
r.error("torch.mul", "name_mismatch", a, T(a.tensor, "C K"))

# Functions that map zero to zero.
for op in ("abs", "sgn", "sign", "sqrt", "relu", "floor", "ceil", "round", "trunc", "frac", "sin",
           "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "expm1", "log1p", "erf",
           "erfinv", "deg2rad", "rad2deg", "isnan", "isinf", "neg"):
    x = coo((2, 3), "N C", f32)
    x = T((x.tensor.coalesce() * 0.2).abs(), "N C")
    r.case(f"torch.{op}", x, names="N C")

# Reductions over dims.
for dtype in (f32, f64):
    for x in some(dtype):
        names = joined(x.names).split()
        r.case("torch.sparse.sum", x, names="")
        for at, name in enumerate(names):
            left = " ".join(n for i, n in enumerate(names) if i != at)
            dim = D(None if name == "_" else name, at)
            r.case("torch.sparse.sum", x, dim, names=left)
            r.case("torch.sparse.sum", x, [D(None, at - len(names))], names=left)
            r.case("torch.sum", x, [D(None, at)], names=left)
        r.case("torch.sparse.sum", x, list(range(len(names))), names="")
r.case("torch.sparse.sum", coo((2, 3), "N C", i64), names="")
r.case("torch.sum", coo((2, 3), "N C", i32), names="")
x = coo((2, 3), "N C")
r.error("torch.sum", "name_not_found", x, "K")
r.error("torch.sum", "index", x, 2)
r.error("torch.sparse.sum", "name_not_found", x, ["N", "K"])

# Products with dense matrices and vectors.
for dtype in (f32, f64, c64, i64, i32):
    for coalesced in (False, True):
        a = coo((3, 4), "N K", dtype, 6, coalesced=coalesced)
        b = r.rand((4, 2), "K M", dtype)
        turned = T(r.rand((2, 4), "M K", dtype).tensor.t(), "K M")
        for right in (b, turned):
            r.case("torch.mm", a, right, names="N M")
            r.case("torch.matmul", a, right, names="N M")
            r.case("torch.sparse.mm", a, right, names="N M")
        r.case("torch.mv", a, r.rand((4,), "K", dtype), names="N")
        r.case("torch.matmul", a, r.rand((4,), "K", dtype), names="N")
for dtype in (f16, bf16):
    a, b = coo((3, 4), "N K", dtype, 6), r.rand((4, 2), "K M", dtype)
    wide = lambda a, b: (a.float().to_dense() @ b.float()).to(b.dtype)
    r.case("torch.mm", a, b, names="N M", fn=wide)
    r.case("torch.mm", r.rand((2, 3), "M N", dtype), a, names="M K",
           fn=lambda a, b: (a.float() @ b.float().to_dense()).to(a.dtype))
a = coo((3, 4), "N K", f32, 6)
r.case("torch.mm", r.rand((2, 3), "M N"), a, names="M K", fn=lambda a, b: a @ b.to_dense())
r.case("torch.mm", coo((0, 4), "N K", f32, 0), r.rand((4, 2), "K M"), names="N M")
r.case("torch.mm", a, r.rand((4, 0), "K M"), names="N M")
r.error("torch.mm", "duplicate_names", a, r.rand((4, 2), "K N"))
r.error("torch.mm", "shape", a, r.rand((3, 2), "K M"))
r.error("torch.mm", "rank", a, r.rand((4,), "K"))
r.error("torch.mm", "dtype", a, r.rand((4, 2), "K M", f64))

# Other memory orders and names.
for x in some():
    names = joined(x.names).split()
    if x.tensor.sparse_dim() >= 2:
        other = [names[1], names[0], *names[2:]]
        swapped = " ".join(other)
        first, second = (D(None if n == "_" else n, i) for i, n in enumerate(names[:2]))
        r.case("torch.transpose", x, first, second, names=swapped)
        order = [1, 0, *range(2, len(names))]
        r.case("torch.permute", x, order, names=swapped)
    if len(names) <= 2 and x.tensor.dense_dim() == 0:
        r.case("torch.t", x, names=" ".join(reversed(names)))
x = coo((2, 3), "N C")
same = lambda x, *args: x
r.case("torch.Tensor.rename", x, "A", "B", names="A B", fn=same)
r.case("torch.Tensor.rename", x, None, names="_ _", fn=same)
r.case("torch.Tensor.refine_names", T(x.tensor, "_ C"), "N", ..., names="N C", fn=same)
r.case("torch.Tensor.align_to", x, "C", "N", names="C N", fn=lambda x, *args: x.t())
r.error("torch.Tensor.rename", "duplicate_names", x, "A", "A")
r.error("torch.Tensor.refine_names", "refine", x, "A", "C")
r.error("torch.transpose", "name_not_found", x, "N", "K")
r.case("torch.Tensor.sparse_mask", r.rand((2, 3), "N C"), T(x.tensor.coalesce(), "_ C"), names="N C")
for dtype in (f32, f64, i64, c64):
    mask = coo((2, 3), "N C", f32, 4, coalesced=True)
    r.case("torch.Tensor.sparse_mask", r.rand((2, 3), "N C", dtype), mask, names="N C")
    hybrid = coo((2, 3), "N C", f32, 2, dense=1, coalesced=True)
    r.case("torch.Tensor.sparse_mask", r.rand((2, 3), "N C", dtype), hybrid, names="N C")
r.error("torch.Tensor.sparse_mask", "name_mismatch", r.rand((2, 3), "N K"), mask)

# Operators that sparse tensors do not support.
for op, args in (("torch.exp", ()), ("torch.cumsum", (0,)), ("torch.softmax", (0,)),
                 ("torch.amax", (0,)), ("torch.Tensor.flatten", ()), ("torch.cos", ()),
                 ("torch.Tensor.masked_fill", (T(torch.ones(2, 3, dtype=boolean), "N C"), 1.0)),
                 ("torch.Tensor.stride", ()), ("torch.Tensor.expand", (2, 3))):
    r.error(op, "layout", x, *args)
r.error("torch.cat", "layout", [x, x])
r.error("torch.add", "layout", r.rand((2, 3), "N C"), 1.0, out=x)
r.error("torch.Tensor.add_", "layout", x, x)
r.error("torch.Tensor.coalesce", "layout", r.rand((2, 3), "N C"))
r.error("torch.Tensor.indices", "layout", coo((2, 3), "N C"))
r.error("torch.Tensor.values", "layout", coo((2, 3), "N C"))
r.write()
