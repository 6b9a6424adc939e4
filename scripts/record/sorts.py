"""Cases of sorting, selection, unique elements and binary search."""

from common import *

r = Recorder("sorts")
nan, inf = math.nan, math.inf


def turned(x, names):
    """Returns the transposed view."""
    return T(x.tensor.t(), names)


def values(list, names, dtype=f32):
    return T(torch.tensor(list, dtype=dtype), names)


odd = [[1.0, nan, -inf, 2.0], [inf, 0.0, -0.0, nan]]

# sort, argsort, msort
for op, two in (("torch.sort", True), ("torch.argsort", False)):
    both = (lambda names: [names, names]) if two else (lambda names: names)
    for dtype in (f32, f64, f16, bf16, i8, u8, i64, boolean):
        r.case(op, r.rand([2, 5], "N C", dtype), dim=D("C", 1), stable=True, names=both("N C"))
    r.case(op, r.rand([3, 2, 2], "N H W", i32, 0, 2), dim=D("N", 0), descending=True, stable=True,
           names=both("N H W"))
    r.case(op, r.rand([2, 3], "N C"), names=both("N C"))
    r.case(op, turned(r.rand([2, 3], "N C"), "C N"), D(None, -2), names=both("C N"))
    r.case(op, r.rand([0, 3], "N C"), D("N", 0), names=both("N C"))
    r.case(op, r.rand([], ""), names=both(""))
    r.case(op, values(odd, "N C"), dim=D("C", 1), stable=True, names=both("N C"))
    r.case(op, values(odd, "N C"), dim=D("C", 1), descending=True, stable=True, names=both("N C"))
    r.error(op, "name_not_found", r.rand([2], "N"), "C")
    r.error(op, "dtype", r.rand([2], "N", c64), "N")
for dtype in (f32, i16, bf16, boolean):
    r.case("torch.msort", r.rand([4, 2], "N C", dtype), names="N C")
r.case("torch.msort", r.rand([3], "N"), names="N")
r.case("torch.msort", r.rand([0, 2], "N C"), names="N C")
r.case("torch.msort", turned(r.rand([2, 3], "N C"), "C N"), names="C N")
r.case("torch.msort", r.rand([2, 2, 2], "N _ C", f64), names="N _ C")
r.error("torch.msort", "dtype", r.rand([2], "N", c64))

# topk, kthvalue, median, nanmedian, mode: by name, other dtypes, NaN
for dtype in (f32, f64, f16, bf16, i64):
    x = T(torch.randperm(8, generator=r.generator).reshape(2, 4).to(dtype), "N C")
    r.case("torch.topk", x, 3, D("C", 1), names=["N C", "N C"])
    r.case("torch.topk", x, 1, D("N", 0), largest=False, names=["N C", "N C"])
    r.case("torch.kthvalue", x, 2, D("C", 1), names=["N", "N"])
    r.case("torch.median", x, D("C", 1), names=["N", "N"])
    r.case("torch.nanmedian", x, D("N", 0), keepdim=True, names=["N C", "N C"])
    r.case("torch.mode", r.rand([2, 6], "N C", dtype, 0, 2), D("C", 1), names=["N", "N"])
    r.case("torch.median", x, names="")
r.case("torch.mode", values([[True, False, True]], "N C", boolean), D("C", 1), names=["N", "N"])
r.case("torch.mode", values([3, 1, 1, 3, 2], "N", u8), D("N", 0), names=["", ""])
r.case("torch.topk", values([[5.0, nan, 7.0]], "N C"), 2, D("C", 1), names=["N C", "N C"])
r.case("torch.topk", r.rand([2, 3], "N C"), 0, D("C", 1), names=["N C", "N C"])
r.case("torch.median", values([[5.0, nan, 7.0], [1.0, 3.0, 2.0]], "N C"), D("C", 1), names=["N", "N"])
r.case("torch.nanmedian", values([[5.0, nan, 7.0], [nan, nan, nan]], "N C"), D("C", 1), names=["N", "N"])
r.case("torch.nanmedian", values([5.0, nan, 7.0], "N"), names="")
r.case("torch.median", r.rand([0], "N"), names="")
r.case("torch.kthvalue", r.rand([3, 0], "N C"), 1, D("N", 0), names=["C", "C"])
r.error("torch.topk", "index", r.rand([3], "N"), 4, "N")
r.error("torch.topk", "index", r.rand([3], "N"), -1, "N")
r.error("torch.kthvalue", "index", r.rand([3], "N"), 0, "N")
r.error("torch.kthvalue", "index", r.rand([3], "N"), 4, "N")
r.error("torch.median", "index", r.rand([0, 2], "N C"), "N")
r.error("torch.mode", "dtype", r.rand([2], "N", c64), "N")

# cummax, cummin
for op in ("torch.cummax", "torch.cummin"):
    for dtype in (f32, f64, bf16, i32, boolean):
        r.case(op, r.rand([2, 5], "N C", dtype, -2, 2), D("C", 1), names=["N C", "N C"])
    r.case(op, r.rand([4, 2], "N C"), D("N", 0), names=["N C", "N C"])
    r.case(op, turned(r.rand([2, 3], "N C"), "C N"), D(None, -1), names=["C N", "C N"])
    r.case(op, values(odd, "N C"), D("C", 1), names=["N C", "N C"])
    r.case(op, r.rand([2, 0], "N C"), D("C", 1), names=["N C", "N C"])
    r.case(op, r.rand([], ""), D(None, 0), names=["", ""])
    r.error(op, "name_not_found", r.rand([2], "N"), "C")

# unique, unique_consecutive
for dtype in (f32, f64, f16, i8, u8, i64, boolean):
    r.case("torch.unique", r.rand([2, 4], "N C", dtype, 0, 3), return_inverse=True,
           return_counts=True, names=["_", "N C", "_"])
r.case("torch.unique", r.rand([5], "N", i64, 0, 2), names="_")
r.case("torch.unique", values([nan, 1.0, nan, -0.0, 0.0], "N"), return_counts=True, names=["_", "_"])
r.case("torch.unique", values([[1, 2], [0, 3], [1, 2]], "N C", i32), return_inverse=True,
       return_counts=True, dim=D("N", 0), names=["N C", "N", "N"])
r.case("torch.unique", values([[1, 2, 1], [0, 3, 0]], "N C"), return_inverse=True, dim=D("C", 1),
       names=["N C", "C"])
r.case("torch.unique", turned(values([[1, 2, 1], [0, 3, 0]], "N C"), "C N"), dim=D(None, -2),
       names="C N")
r.case("torch.unique", turned(r.rand([2, 3], "N C", i32, 0, 1), "C N"), return_inverse=True,
       names=["_", "C N"])
r.case("torch.unique", r.rand([0], "N"), return_counts=True, names=["_", "_"])
r.case("torch.unique", r.rand([], "", i64), names="_")
r.error("torch.unique", "name_not_found", r.rand([2], "N"), dim="C")
r.error("torch.unique", "dtype", r.rand([2], "N", c64))
for dtype in (f32, bf16, i16, boolean):
    r.case("torch.unique_consecutive", r.rand([2, 4], "N C", dtype, 0, 1), return_inverse=True,
           return_counts=True, names=["_", "N C", "_"])
r.case("torch.unique_consecutive", values([1, 1, 2, 2, 1], "N", i64), names="_")
r.case("torch.unique_consecutive", values([[1, 2], [1, 2], [0, 3]], "N C", i32),
       return_inverse=True, return_counts=True, dim=D("N", 0), names=["N C", "N", "N"])
r.case("torch.unique_consecutive", values([nan, nan, 1.0], "N"), return_counts=True, names=["_", "_"])
r.case("torch.unique_consecutive", turned(r.rand([2, 3], "N C", i32, 0, 1), "C N"), names="_")
r.case("torch.unique_consecutive", r.rand([0], "N"), names="_")
r.error("torch.unique_consecutive", "name_not_found", r.rand([2], "N"), dim="C")

# searchsorted, bucketize
for dtype in (f32, f64, bf16, i32, u8):
    edges = values([0, 1, 1, 2], "E", dtype)
    r.case("torch.searchsorted", edges, r.rand([2, 3], "N C", dtype, 0, 3), names="N C")
    r.case("torch.bucketize", r.rand([2, 3], "N C", dtype, 0, 3), edges, names="N C")
    r.case("torch.searchsorted", edges, r.rand([3], "N", dtype, 0, 3), right=True, names="N")
    r.case("torch.bucketize", r.rand([3], "N", dtype, 0, 3), edges, right=True, names="N")
edges = values([[0, 2, 4], [1, 3, 5]], "N E")
r.case("torch.searchsorted", edges, r.rand([2, 2], "N C", low=0, high=5), names="N C")
r.case("torch.searchsorted", edges, r.rand([2, 2], "_ C", low=0, high=5), side="right", names="N C")
r.case("torch.searchsorted", values([4.0, 0.0, 2.0], "E"), r.rand([3], "N", low=0, high=5),
       sorter=T(torch.tensor([1, 2, 0]), "E"), names="N")
r.case("torch.searchsorted", values([0.0, 2.0], "E"), 1.5, names="")
r.case("torch.searchsorted", values([0.0, 2.0], "E"), r.rand([2], "N"), out_int32=True, names="N")
r.case("torch.searchsorted", r.rand([0], "E"), r.rand([2], "N"), names="N")
r.case("torch.searchsorted", values([0.0, 2.0], "E"), turned(r.rand([2, 3], "N C"), "C N"), names="C N")
r.case("torch.bucketize", turned(r.rand([2, 3], "N C"), "C N"), values([0.0, 2.0], "E"), names="C N")
r.case("torch.bucketize", r.rand([0], "N"), values([0.0, 2.0], "E"), out_int32=True, names="N")
r.error("torch.searchsorted", "name_mismatch", edges, r.rand([2, 2], "M C"))
r.error("torch.searchsorted", "shape", edges, r.rand([3, 2], "N C"))
r.error("torch.searchsorted", "dtype", edges, r.rand([2, 2], "N C", f64))
r.error("torch.bucketize", "rank", r.rand([2, 2], "N C"), edges)
r.write()
