#!/usr/bin/env python3
"""Cases of rows that are neither on PyTorch's page of named tensors nor in another recorder.

    pip install torch==2.11.0 numpy && scripts/record/table.py
"""

import torch

from common import (
    D,
    Recorder,
    S,
    T,
    boolean,
    bf16,
    c64,
    c128,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    u8,
)

r = Recorder("table")

for op in ("amax", "amin"):
    spelled = f"torch.{op}"
    r.case(spelled, r.rand([2, 3], "N C"), D("C", 1), names="N")
    r.case(spelled, r.rand([2, 3], "N C", f64), D("N", 0), names="C")
    r.case(spelled, r.rand([2, 3, 2], "N C K", f16), [D("N", 0), D("K", 2)], names="C")
    r.case(spelled, r.rand([2, 3, 2], "N C K", i64), [D("N", 0), D("K", 2)], True, names="N C K")
    r.case(spelled, r.rand([4], "N", u8), names="")
    r.case(spelled, r.rand([2, 3], "N _", boolean), D(None, -1), names="N")
    r.case(spelled, r.rand([2, 3], "N C"), D("C", 1), keepdim=True, names="N C")
    r.case(spelled, T(r.rand([3, 2], "C N").tensor.t(), "N C"), D("C", 1), names="N")
    r.case(spelled, T(torch.tensor([[1.0, float("nan")], [2.0, 3.0]]), "N C"), D("C", 1), names="N")
    r.error(spelled, "name_not_found", r.rand([2, 3], "N C"), "K")

for op in ("argmax", "argmin"):
    spelled = f"torch.{op}"
    r.case(spelled, r.rand([2, 3], "N C"), D("C", 1), names="N")
    r.case(spelled, r.rand([2, 3, 2], "N C K", f64), D("N", 0), names="C K")
    r.case(spelled, r.rand([2, 3], "N C", i32), D("C", 1), keepdim=True, names="N C")
    r.case(spelled, r.rand([2, 3], "N C"), names="")

for op, low, high in (("exp2", -3, 3), ("square", -3, 3), ("sinc", -2, 2)):
    spelled = f"torch.{op}"
    for dtype in (f32, f64, f16, bf16, i64):
        r.case(spelled, r.rand([2, 3], "N C", dtype, low, high), names="N C")
    r.case(spelled, T(r.rand([3, 2], "C N", f32, low, high).tensor.t(), "N C"), names="N C")
    r.case(f"torch.Tensor.{op}_", r.rand([4], "N", f32, low, high), names="N")
    r.case(spelled, r.rand([2, 0], "N C", f32, low, high), names="N C")

for dtype in (f32, f64, i64, boolean):
    r.case("torch.full_like", r.rand([2, 3], "N C", dtype), 2, names="N C")
    r.case("torch.rand_like", r.rand([2, 3], "N C", f32), names="N C", random=True)
    r.case("torch.randn_like", r.rand([2, 3], "N C", f64), names="N C", random=True)
r.case("torch.full_like", r.rand([2, 3], "N _", f32), 0.5, dtype=f64, names="N _")

for args in ((0, 5, 1), (1, 2, 0.25), (5, 0, -2), (0.0, 1.0, 0.3), (3, 3, 1)):
    r.case("torch.arange", *args, names="_")
r.case("torch.arange", 4, names="_")
r.case("torch.arange", 1, 4, dtype=f64, names="_")

for op in ("cfloat", "cdouble"):
    for dtype in (f32, f64, i64, boolean, c64, c128, f16, i8):
        r.case(f"torch.Tensor.{op}", r.rand([2, 3], "N C", dtype), names="N C")

# Numbers as the left operand, and Python's operators.
for op in ("radd", "rsub", "rmul", "rtruediv", "rpow", "add", "sub", "mod", "floordiv"):
    for number in (2, 0.5):
        x = r.rand([2, 3], "N C", f32, 1, 3)
        r.case(f"torch.Tensor.__{op}__", x, number, names="N C")
for op in ("iadd", "isub", "imul", "itruediv"):
    r.case(f"torch.Tensor.__{op}__", r.rand([2, 3], "N C"), r.rand([3], "C"), names="N C")
r.case("torch.Tensor.__abs__", r.rand([2, 3], "N C"), names="N C")
r.case("torch.pow", 2, r.rand([2, 3], "N C"), names="N C")


def contract(x, w, dims):
    """Records a call by name in nomina and its formula in PyTorch."""
    return torch.einsum(dims, x, w)


for formula, dim, x, w, names in (
    ("nc,kc->nk", "C", ([2, 3], "N C"), ([4, 3], "K C"), "N K"),
    ("nc,ck->nk", "C", ([2, 3], "N C"), ([3, 4], "C K"), "N K"),
    ("cn,ck->nk", "C", ([3, 2], "C N"), ([3, 4], "C K"), "N K"),
    ("bnc,bkc->bnk", "C", ([2, 2, 3], "B N C"), ([2, 4, 3], "B K C"), "B N K"),
    ("nbc,bc->nb", "C", ([2, 2, 3], "N B C"), ([2, 3], "B C"), "N B"),
    ("c,c->", "C", ([3], "C"), ([3], "C"), ""),
    ("nchw,co->nhwo", "C", ([1, 3, 2, 2], "N C H W"), ([3, 4], "C O"), "N H W O"),
    ("nc,kc->nk", "C", ([2, 0], "N C"), ([4, 0], "K C"), "N K"),
):
    for dtype in (f32, f64):
        r.case(
            "torch.Tensor.contract",
            r.rand(x[0], x[1], dtype),
            r.rand(w[0], w[1], dtype),
            S(dim, formula),
            fn=contract,
            names=names,
        )

# where: names of all three unify, dtypes of the two values promote.
mask = r.rand([2, 3], "N C", boolean)
for a, b in ((f32, f32), (f32, i64), (i8, u8), (f16, bf16), (c64, f64), (boolean, i32)):
    r.case("torch.where", mask, r.rand([2, 3], "N C", a), r.rand([2, 3], "N C", b), names="N C")
r.case("torch.where", mask, r.rand([2, 3], "N C"), 0.5, names="N C")
r.case("torch.where", mask, 1, r.rand([2, 3], "N C", f64), names="N C")
r.case("torch.where", T(mask.tensor, "N _"), r.rand([3], "C"), r.rand([2, 1], "_ _"), names="N C")
r.case("torch.where", T(mask.tensor.t(), "C N"), r.rand([3, 2], "C N"), r.rand([2], "N"), names="C N")
r.case("torch.where", r.rand([0, 3], "N C", boolean), r.rand([3], "C"), r.rand([0, 3], "N C"),
       names="N C")
r.error("torch.where", "name_mismatch", mask, r.rand([2, 3], "N C"), r.rand([2, 3], "N K"))
r.error("torch.where", "misaligned", T(mask.tensor, "C _"), r.rand([2, 3], "_ C"), 0.0)

r.write()
