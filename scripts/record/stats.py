"""Cases of norms, moments, running results."""

from common import *

r = Recorder("stats")
nan, inf = math.nan, math.inf


def holes(x):
    """Replaces every third element by NaN."""
    flat = x.tensor.clone().reshape(-1)
    flat[::3] = nan
    return T(flat.reshape(x.tensor.shape), " ".join(n or "_" for n in x.names))


def turned(x, names):
    """Returns the transposed view."""
    return T(x.tensor.t(), names)


# prod, any, all: over several dims by name, although PyTorch takes one; the numbers come from its prod.
for dtype in (f32, f64, i32, boolean, f16):
    r.case("torch.prod", r.rand([2, 3], "N C", dtype), D("C", 1), names="N")
r.case("torch.prod", r.rand([2, 3], "N C", i64), D(None, -2), names="C")
r.case("torch.prod", r.rand([2, 3], "N C"), D("N", 0), keepdim=True, names="N C")
r.case("torch.prod", r.rand([2, 2, 3], "N H C"), ["N", "C"], names="H",
       fn=lambda x, dims: x.prod(2).prod(0))
r.case("torch.prod", turned(r.rand([2, 3], "N C"), "C N"), D("C", 0), dtype=f64, names="N")
r.case("torch.prod", r.rand([0, 3], "N C"), D("N", 0), names="C")
r.error("torch.prod", "name_not_found", r.rand([2], "N"), "C")
for op in ("torch.any", "torch.all"):
    for dtype in (f32, boolean, i8, u8):
        r.case(op, r.rand([3, 2], "N C", dtype, -1, 1), D("N", 0), names="C",
               fn=lambda x, dim, op=op: found(op)(x, dim).bool())
    r.case(op, r.rand([2, 2, 2], "N H C", i64, 0, 1), ["N", "C"], names="H",
           fn=lambda x, dims, op=op: found(op)(x, dim=(0, 2)))
    r.case(op, r.rand([2, 3], "N C", c64), D(None, -1), keepdim=True, names="N C")
    r.case(op, turned(r.rand([2, 3], "N C", i32, 0, 1), "C N"), D("C", 0), names="N")
    r.case(op, r.rand([0, 3], "N C"), D("N", 0), names="C")
    r.case(op, r.rand([2, 3], "N C", boolean), names="")
    r.error(op, "name_not_found", r.rand([2], "N"), "C")

# nansum, nanmean
for op in ("torch.nansum", "torch.nanmean"):
    for dtype in (f32, f64, f16, bf16):
        r.case(op, holes(r.rand([2, 4], "N C", dtype)), D("C", 1), names="N")
    r.case(op, holes(r.rand([2, 2, 3], "N H C")), ["N", "C"], names="H",
           fn=lambda x, dims, op=op: found(op)(x, dim=(0, 2)))
    r.case(op, holes(r.rand([2, 3], "N C")), D(None, -2), keepdim=True, names="N C")
    r.case(op, holes(r.rand([2, 3], "N C")), names="")
    r.case(op, turned(holes(r.rand([2, 3], "N C")), "C N"), D("C", 0), dtype=f64, names="N")
    r.case(op, r.rand([0, 3], "N C"), D("N", 0), names="C")
    r.case(op, T(torch.full([2, 2], nan), "N C"), D("N", 0), names="C")
    r.case(op, T(torch.tensor([inf, nan, -inf]), "N"), D("N", 0), names="")
    r.error(op, "name_not_found", r.rand([2], "N"), "C")
r.case("torch.nansum", r.rand([2, 3], "N C", i32), D("C", 1), names="N")
r.case("torch.nansum", r.rand([2, 3], "N C", boolean), names="")

# count_nonzero
for dtype in (f32, boolean, i8, c64, bf16):
    r.case("torch.count_nonzero", r.rand([3, 3], "N C", dtype, -1, 1), D("C", 1), names="N")
r.case("torch.count_nonzero", r.rand([2, 2, 3], "N H C", i64, 0, 1), ["N", "C"], names="H",
       fn=lambda x, dims: torch.count_nonzero(x, dim=(0, 2)))
r.case("torch.count_nonzero", turned(r.rand([2, 3], "N C", i32, 0, 1), "C N"), D(None, -1), names="C")
r.case("torch.count_nonzero", T(torch.tensor([nan, 0.0, -0.0, 1.0]), "N"), names="")
r.case("torch.count_nonzero", r.rand([0, 3], "N C"), D("N", 0), names="C")
r.error("torch.count_nonzero", "name_not_found", r.rand([2], "N"), "C")

# norm
for dtype in (f32, f64, f16, bf16, c64, c128):
    r.case("torch.norm", r.rand([2, 3], "N C", dtype), 2, D("C", 1), names="N")
for p in (0, 1, 2, 3, 0.5, -1, inf, -inf, "fro"):
    r.case("torch.norm", r.rand([3, 2], "N C"), p, D("N", 0), names="C",
           fn=lambda x, p, dim: torch.linalg.vector_norm(x, 2 if p == "fro" else p, dim))
r.case("torch.norm", r.rand([2, 3], "N C"), names="")
r.case("torch.norm", r.rand([2, 2, 3], "N H C"), 2, ["N", "C"], names="H",
       fn=lambda x, p, dims: torch.norm(x, p, dim=(0, 2)))
r.case("torch.norm", turned(r.rand([2, 3], "N C"), "C N"), 1, D(None, -1), keepdim=True, names="C N")
r.case("torch.norm", r.rand([2, 3], "N C"), 2, D("C", 1), dtype=f64, names="N")
r.case("torch.norm", r.rand([0, 3], "N C"), 2, D("N", 0), names="C")
r.case("torch.norm", T(torch.tensor([1.0, nan, 2.0]), "N"), inf, D("N", 0), names="")
r.error("torch.norm", "name_not_found", r.rand([2], "N"), 2, "C")
r.error("torch.norm", "dtype", r.rand([2], "N", i32), 2, "N")

# dist
for dtype in (f32, f64, f16, c64):
    r.case("torch.dist", r.rand([2, 3], "N C", dtype), r.rand([2, 3], "N C", dtype), names="")
for p in (0, 1, 3, inf, -inf):
    r.case("torch.dist", r.rand([2, 3], "N C"), r.rand([3], "C"), p, names="")
r.case("torch.dist", turned(r.rand([2, 3], "N C"), "C N"), r.rand([3, 2], "_ N", f64), names="")
r.error("torch.dist", "name_mismatch", r.rand([2, 3], "N C"), r.rand([2, 3], "N D"))

# aminmax
for dtype in (f32, i8, boolean, bf16, u8):
    r.case("torch.aminmax", r.rand([2, 3], "N C", dtype), dim=D("C", 1), names="N")
r.case("torch.aminmax", r.rand([2, 3], "N C"), names="")
r.case("torch.aminmax", turned(r.rand([2, 3], "N C"), "C N"), dim=D(None, -2), keepdim=True, names="C N")
r.case("torch.aminmax", T(torch.tensor([[1.0, nan], [2.0, 3.0]]), "N C"), dim=D("N", 0), names="C")
r.error("torch.aminmax", "name_not_found", r.rand([2], "N"), dim="C")

# softmin, log_softmax, logcumsumexp, cumprod
F = "torch.nn.functional."
for dtype in (f32, f64):
    r.case(F + "softmin", r.rand([2, 3], "N C", dtype), D("C", 1), names="N C")
r.case(F + "softmin", r.rand([2, 3], "N C", f16), D("N", 0), names="N C",
       fn=lambda x, dim: torch.softmax(-x, dim))
r.case(F + "softmin", r.rand([2, 3], "N C", i32), D("N", 0), dtype=f32, names="N C")
r.case(F + "softmin", turned(r.rand([2, 3], "N C"), "C N"), D("C", 0), names="C N")
r.case(F + "softmin", r.rand([2, 0], "N C"), D("N", 0), names="N C")
r.case(F + "softmin", r.rand([3], "N"), D(None, -1), names="N")
r.case(F + "softmin", T(torch.tensor([1.0, inf, 2.0]), "N"), D("N", 0), names="N")
r.error(F + "softmin", "name_not_found", r.rand([2], "N"), "C")
for values in ([1.0, inf, 2.0], [-inf, -inf, 0.0], [nan, 1.0, 2.0], [1e4, 1e4, -1e4]):
    for op in ("torch.log_softmax", "torch.logcumsumexp", "torch.cumprod"):
        r.case(op, T(torch.tensor(values), "N"), D("N", 0), names="N")
for dtype in (c64, c128):
    r.case("torch.logcumsumexp", r.rand([2, 3], "N C", dtype), D("C", 1), names="N C")
    r.case("torch.cumprod", r.rand([2, 3], "N C", dtype), D("C", 1), names="N C")
r.case("torch.cumprod", r.rand([2, 3], "N C", boolean), D("C", 1), names="N C")
r.case("torch.cumprod", r.rand([2, 3], "N C", i32), D("N", 0), dtype=f32, names="N C")
for op in ("torch.std_mean", "torch.var_mean"):
    r.case(op, r.rand([2, 3], "N C", c64), D("C", 1), names=["N", "N"])
    r.case(op, r.rand([2, 3], "N C"), D("C", 1), correction=0, names=["N", "N"])
r.write()
