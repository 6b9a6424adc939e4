"""Cases of counting, quantiles, differences, integrals, covariance."""

from common import *

r = Recorder("counts")
nan, inf = math.nan, math.inf


def turned(x, names):
    """Returns the transposed view."""
    return T(x.tensor.t(), names)


def values(list, names, dtype=f32):
    return T(torch.tensor(list, dtype=dtype), names)


# bincount
for dtype in (u8, i8, i16, i32, i64):
    r.case("torch.bincount", r.rand([6], "N", dtype, 0, 4), names="_")
for dtype in (f32, f64, f16, i32):
    r.case("torch.bincount", r.rand([5], "N", i64, 0, 3), weights=r.rand([5], "N", dtype), names="_")
r.case("torch.bincount", r.rand([3], "N", i64, 0, 2), minlength=5, names="_")
r.case("torch.bincount", T(torch.arange(6)[::2], "_"), names="_")
r.case("torch.bincount", r.rand([0], "N", i64), names="_")
r.case("torch.bincount", r.rand([0], "N", i64), minlength=2, names="_")
r.error("torch.bincount", "name_mismatch", r.rand([3], "N", i64, 0, 2), r.rand([3], "C"))
r.error("torch.bincount", "rank", r.rand([2, 2], "N C", i64, 0, 2))
r.error("torch.bincount", "shape", r.rand([3], "N", i64, 0, 2), r.rand([2], "N"))
r.error("torch.bincount", "dtype", r.rand([3], "N"))

# histc
for dtype in (f32, f64, f16, bf16):
    r.case("torch.histc", values([0.0, 1.0, 1.5, 2.0, 3.0, 4.0], "N", dtype), 4, 0, 4, names="_")
r.case("torch.histc", r.rand([3, 4], "N C"), 5, names="_")
r.case("torch.histc", r.rand([3, 4], "N C"), bins=3, min=-1, max=1, names="_")
r.case("torch.histc", turned(r.rand([2, 4], "N C"), "C N"), 3, -2, 2.5, names="_")
r.case("torch.histc", values([2.0, 2.0], "N"), 3, names="_")
r.case("torch.histc", values([1.0, nan, 2.0, inf], "N"), 3, 0, 3, names="_")
r.case("torch.histc", r.rand([0], "N"), 3, names="_")
r.error("torch.histc", "dtype", r.rand([3], "N", i64), 3)

# isin
for dtype in (f32, i64, u8, bf16, f64):
    r.case("torch.isin", r.rand([2, 4], "N C", dtype, 0, 5),
           T(torch.tensor([0, 2, 4]).to(dtype), "S"), names="N C")
r.case("torch.isin", r.rand([4], "N", i64, 0, 3), 2, names="N")
r.case("torch.isin", r.rand([4], "N", i64, 0, 3), values([1.0, 2.0], "S"), invert=True, names="N")
r.case("torch.isin", 2, r.rand([4], "N", i64, 0, 3), names="")
r.case("torch.isin", values([1.0, nan], "N"), values([nan, 1.0], "S"), names="N")
r.case("torch.isin", values([1.0, nan], "N"), values([nan, 1.0], "S"), invert=True, names="N")
r.case("torch.isin", r.rand([2], "N", i64), r.rand([0], "S", i64), names="N")
r.case("torch.isin", turned(r.rand([2, 3], "N C", i64, 0, 3), "C N"), values([1], "S", i64), names="C N")
r.error("torch.isin", "dtype", r.rand([2], "N", c64), r.rand([2], "N", c64))

# quantile, nanquantile
for op in ("torch.quantile", "torch.nanquantile"):
    for dtype in (f32, f64):
        r.case(op, r.rand([2, 5], "N C", dtype), 0.3, D("C", 1), names="N")
        r.case(op, r.rand([2, 5], "N C", dtype), values([0.1, 0.5, 1.0], "Q", dtype), D("C", 1), names="Q N")
    for by in ("linear", "lower", "higher", "midpoint", "nearest"):
        r.case(op, r.rand([4, 2], "N C"), values([0.2, 0.5], "_"), D("N", 0), interpolation=by, names="_ C")
    r.case(op, r.rand([2, 3], "N C"), 0.7, names="")
    r.case(op, r.rand([2, 3], "N C"), 0.7, keepdim=True, names="N C")
    r.case(op, r.rand([2, 3], "N C"), values([0.7, 0.1], "Q"), D(None, -1), keepdim=True, names="Q N C")
    r.case(op, turned(r.rand([2, 3], "N C"), "C N"), 0.5, D("C", 0), names="N")
    r.case(op, values([[1.0, nan, 3.0], [2.0, 5.0, 1.0]], "N C"), 0.4, D("C", 1), names="N")
    r.case(op, values([nan, nan], "N"), 0.4, D("N", 0), names="")
    r.case(op, r.rand([], ""), 0.4, D(None, 0), names="")
    r.error(op, "duplicate_names", r.rand([2, 3], "N C"), values([0.2], "N"), "C")
    r.error(op, "name_not_found", r.rand([2], "N"), 0.5, "C")
    r.error(op, "dtype", r.rand([2], "N", i64), 0.5, "N")
    r.error(op, "index", r.rand([0], "N"), 0.5, "N")
    r.error(op, "dtype", r.rand([2], "N"), values([0.2], "Q", f64), "N")

# diff
for dtype in (f32, f64, bf16, i32, u8, boolean, c64):
    r.case("torch.diff", r.rand([2, 4], "N C", dtype), dim=D("C", 1), names="N C")
r.case("torch.diff", r.rand([4, 2], "N C", i64), 2, D("N", 0), names="N C")
r.case("torch.diff", r.rand([3], "N"), 5, names="N")
r.case("torch.diff", r.rand([3], "N"), 0, names="N")
r.case("torch.diff", turned(r.rand([2, 3], "N C"), "C N"), dim=D(None, -2), names="C N")
r.case("torch.diff", r.rand([2, 2], "N C"), dim=D("C", 1), prepend=r.rand([2, 1], "N C"),
       append=r.rand([2, 2], "_ C"), names="N C")
r.case("torch.diff", r.rand([3], "N", i64), prepend=r.rand([1], "N"), names="N")
r.case("torch.diff", r.rand([0, 2], "N C"), dim=D("N", 0), names="N C")
r.error("torch.diff", "name_not_found", r.rand([2], "N"), dim="C")
r.error("torch.diff", "name_mismatch", r.rand([2, 2], "N C"), dim="C", prepend=r.rand([2, 1], "M C"))

# trapezoid, cumulative_trapezoid
for op, gone in (("torch.trapezoid", True), ("torch.cumulative_trapezoid", False)):
    for dtype in (f32, f64, f16, i64, c64):
        r.case(op, r.rand([2, 4], "N C", dtype), dim=D("C", 1), names="N" if gone else "N C")
    r.case(op, r.rand([4], "N"), dx=0.5, names="" if gone else "N")
    r.case(op, r.rand([3, 2], "N C"), values([0.0, 1.0, 3.0], "N"), dim=D("N", 0), names="C" if gone else "N C")
    r.case(op, r.rand([2, 3], "N C", i64), values([0, 1, 3], "_", i64), names="N" if gone else "N C")
    r.case(op, r.rand([2, 3], "N C"), r.rand([2, 3], "_ C"), dim=D("C", 1), names="N" if gone else "N C")
    r.case(op, turned(r.rand([2, 3], "N C"), "C N"), dim=D(None, -2), names="N" if gone else "C N")
    r.case(op, r.rand([2, 1], "N C"), dim=D("C", 1), names="N" if gone else "N C")
    r.case(op, r.rand([2, 0], "N C"), dim=D("C", 1), names="N" if gone else "N C")
    r.error(op, "name_mismatch", r.rand([2, 3], "N C"), r.rand([3], "D"))
    r.error(op, "shape", r.rand([2, 3], "N C"), r.rand([2], "C"))
    r.error(op, "dtype", r.rand([2], "N", boolean))

# cov, corrcoef
for op in ("torch.cov", "torch.corrcoef"):
    for dtype in (f32, f64, i32):
        r.case(op, r.rand([2, 4], "N T", dtype), names="N N'")
    r.case(op, r.rand([5], "T"), names="")
    r.case(op, r.rand([3, 3], "_ T"), names="_ _")
    r.case(op, turned(r.rand([4, 2], "T N"), "N T"), names="N N'")
    r.case(op, r.rand([], ""), names="")
    r.case(op, r.rand([2, 0], "N T"), names="N N'")
    r.error(op, "rank", r.rand([2, 2, 2], "A B C"))
r.case("torch.cov", r.rand([2, 4], "N T"), correction=0, names="N N'")
r.case("torch.cov", r.rand([2, 3], "N T"), fweights=values([1, 2, 1], "T", i64), names="N N'")
r.case("torch.cov", r.rand([2, 3], "N T"), aweights=values([0.5, 1.0, 2.0], "T"), names="N N'")
r.case("torch.cov", r.rand([2, 3], "N T"), fweights=values([1, 2, 1], "_", i64),
       aweights=values([0.5, 1.0, 2.0], "T"), correction=0, names="N N'")
r.error("torch.cov", "name_mismatch", r.rand([2, 3], "N T"), fweights=values([1, 2, 1], "S", i64))

# renorm
for dtype in (f32, f64, f16, c64):
    r.case("torch.renorm", r.rand([3, 2], "N C", dtype), 2, D("N", 0), 1.5, names="N C")
for p in (1, 3, inf):
    r.case("torch.renorm", r.rand([2, 3], "N C"), p, D("C", 1), 1.0, names="N C")
r.case("torch.renorm", r.rand([2, 2, 2], "N H C"), 2, D(None, -2), 0.5, names="N H C")
r.case("torch.renorm", turned(r.rand([2, 3], "N C"), "C N"), 2, D("C", 0), 0.5, names="C N")
r.case("torch.renorm", r.rand([0, 2], "N C"), 2, D("N", 0), 0.5, names="N C")
r.case("torch.Tensor.renorm_", r.rand([2, 2], "N C"), 2, D("N", 0), 0.5, names="N C")
r.error("torch.renorm", "rank", r.rand([2], "N"), 2, "N", 1.0)
r.error("torch.renorm", "name_not_found", r.rand([2, 2], "N C"), 2, "H", 1.0)
r.write()
