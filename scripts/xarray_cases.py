#!/usr/bin/env python3
"""Records calls of xarray for `tests/labelled/xarray.rs`: `python3 scripts/xarray_cases.py` writes
tests/labelled/recorded/xarray.json. Needs xarray, numpy and scipy."""
import itertools
import json
import pathlib

import numpy as np
import pandas as pd
import xarray as xr

rng = np.random.default_rng(44)


def data(*shape, nan=0.0):
    values = np.round(rng.normal(10, 5, shape), 1)
    values[rng.random(shape) < nan] = np.nan
    return values


months = pd.date_range("2019-03-01", periods=24, freq="MS")
days = pd.date_range("2020-01-28", periods=40, freq="D")
hours = pd.date_range("2020-02-27T05:00", periods=60, freq="5h")
gaps = pd.to_datetime(["2020-01-03", "2020-01-20", "2020-04-02", "2020-04-28", "2020-06-01"])
lat = [60.0, 45.5, 30.0, 0.0, -30.0]
INPUTS = {
    "monthly": xr.DataArray(data(24, 5), {"time": months, "lat": lat}, ["time", "lat"]),
    "missing": xr.DataArray(data(24, 5, nan=0.2), {"time": months, "lat": lat}, ["time", "lat"]),
    "daily": xr.DataArray(data(3, 40), {"station": ["a", "b", "c"], "time": days}, ["station", "time"]),
    "holes": xr.DataArray(data(3, 40, nan=0.3), {"station": ["a", "b", "c"], "time": days}, ["station", "time"]),
    "hourly": xr.DataArray(data(60), {"time": hours}, ["time"]),
    "gaps": xr.DataArray(data(5), {"time": gaps}, ["time"]),
    "falling": xr.DataArray(data(5, 3), {"lat": lat, "id": [7, 5, 9]}, ["lat", "id"]),
    "other": xr.DataArray(data(4, 3), {"lat": [45.5, 10.0, 60.0, 0.0], "id": [5, 9, 11]}, ["lat", "id"]),
    "unsorted": xr.DataArray(data(6), {"x": [0.3, 2.0, -1.0, 5.5, 4.0, 1.25]}, ["x"]),
    "weights": xr.DataArray(np.round(np.cos(np.radians(lat)), 3), {"lat": lat}, ["lat"]),
    "years": xr.DataArray(data(24), {"time": months}, ["time"]),
    "curve": xr.DataArray(np.array([0.0, 0.5, 2.0, 4.5, 9.5, 12.0, 20.0]), {"x": [0.0, 1.0, 2.0, 3.5, 4.0, 5.0, 7.5]}, ["x"]),
}
CASES = []


def labels_of(x, dim):
    if dim not in x.coords:
        return None
    values = x[dim].values
    if values.dtype.kind == "M":
        return {"type": "Timestamp", "values": [int(v) for v in values.astype("datetime64[ns]").astype(np.int64)]}
    if values.dtype.kind == "f":
        return {"type": "f64", "values": [float(v) for v in values]}
    if values.dtype.kind in "iu":
        return {"type": "i64", "values": [int(v) for v in values]}
    if values.dtype == object and len(values) and isinstance(values[0], pd.Interval):
        return {"type": "f64", "values": [float(v.mid) for v in values]}
    return {"type": "String", "values": [str(v) for v in values]}


def number(v):
    v = float(v)
    return None if np.isnan(v) else float(f"{v:.13g}")


def packed(x):
    values = np.asarray(x.values)
    if values.dtype.kind == "M":
        values = values.astype("datetime64[ns]").astype(np.int64)
        flat = [int(v) for v in values.ravel()]
    else:
        flat = [number(v) for v in values.ravel()]
    return {
        "dims": list(x.dims),
        "shape": list(x.shape),
        "data": flat,
        "labels": [labels_of(x, dim) for dim in x.dims],
    }


def case(op, x, out, **args):
    CASES.append({"op": op, "x": x, "args": args, "out": packed(out)})


I = INPUTS

# Selections.
for x, dim, labels in [
    ("falling", "lat", lat), ("falling", "id", [7, 5, 9]), ("unsorted", "x", [-1.0, 0.3, 5.5]), ("daily", "station", ["a", "c"]),
]:
    for label in labels:
        case("sel", x, I[x].sel({dim: label}), dim=dim, label=label)
    case("sel_list", x, I[x].sel({dim: labels[::-1]}), dim=dim, labels=labels[::-1])
for low, high in [(-100, 100), (0, 45.5), (1, 50), (-30, 0), (46, 59), (60, 70)]:
    case("sel_range", "falling", I["falling"].sel(lat=slice(high, low)), dim="lat", low=low, high=high)
for label in [59.0, 50.0, 38.0, 12.0, -20.0, 99.0]:
    case("sel_nearest", "falling", I["falling"].sel(lat=label, method="nearest"), dim="lat", label=label)
    case("sel_nearest", "unsorted", I["unsorted"].sortby("x").sel(x=label / 10, method="nearest"), dim="x", label=label / 10)
for part in ["2019", "2020", "2020-02", "2019-12", "2021-02"]:
    case("sel_date", "monthly", I["monthly"].sel(time=part), label=part)
for part in ["2020-02-28", "2020-03-01", "2020-03"]:
    case("sel_date", "hourly", I["hourly"].sel(time=part), label=part)
    case("sel_date_range", "hourly", I["hourly"].sel(time=slice(part, None)), low=part, high=None)
for low, high in [("2019-06", "2019-09"), ("2019-06-02", "2020-01"), (None, "2019-05"), ("2020", None)]:
    case("sel_date_range", "monthly", I["monthly"].sel(time=slice(low, high)), low=low, high=high)
for at in [0, 3, -1]:
    case("isel", "monthly", I["monthly"].isel(lat=at), dim="lat", at=at)
for start, end in [(0, 2), (1, 5), (3, 3), (2, 99)]:
    case("isel_range", "monthly", I["monthly"].isel(lat=slice(start, end)), dim="lat", start=start, end=end)

# Other labels.
for wanted in [[60.0, 0.0], [61.0, 45.5, 44.0, -31.0], lat[::-1], [29.0, 31.0]]:
    case("reindex", "falling", I["falling"].reindex(lat=wanted), dim="lat", labels=wanted, fill="missing")
    rising = I["falling"].sortby("lat")
    for method, fill in [("nearest", "nearest"), ("pad", "before"), ("backfill", "after")]:
        case("reindex", "falling", rising.reindex(lat=wanted, method=method), dim="lat", labels=wanted, fill=fill)
case("reindex_like", "falling", I["falling"].reindex_like(I["other"]), y="other")
case("reindex_like", "other", I["other"].reindex_like(I["falling"]), y="falling")
for join in ["inner", "outer"]:
    for a, b in [("falling", "other"), ("other", "falling"), ("monthly", "weights"), ("falling", "falling")]:
        x, y = xr.align(I[a], I[b], join=join)
        case(join, a, x, y=b, which=0)
        case(join, a, y, y=b, which=1)
        case(join + "_add", a, x + y, y=b)
case("concat", "monthly", xr.concat([I["monthly"], I["monthly"].isel(time=slice(0, 3))], "time"), dim="time", end=3)
for x, dim in [("falling", "lat"), ("unsorted", "x"), ("daily", "station"), ("falling", "id")]:
    case("sort_by", x, I[x].sortby(dim), dim=dim, descending=False)
    case("sort_by", x, I[x].sortby(dim, ascending=False), dim=dim, descending=True)
for by in [1, 2, -1, -3, 0, 30]:
    case("shift", "missing", I["missing"].shift(time=by), dim="time", by=by)
    case("shift", "falling", I["falling"].shift(lat=by), dim="lat", by=by)
for x, dim in [("missing", "time"), ("missing", "lat"), ("falling", "lat"), ("curve", "x")]:
    case("diff", x, I[x].diff(dim), dim=dim)
for x, dim in [("missing", "time"), ("missing", "lat"), ("holes", "time"), ("holes", "station")]:
    case("drop_missing", x, I[x].dropna(dim), dim=dim)
for value in [0.0, -5.5]:
    case("fill", "missing", I["missing"].fillna(value), value=value)

# Operators and reductions.
NAMES = ["sum", "mean", "max", "min", "std", "var"]
for x, dim in [("monthly", "lat"), ("missing", "lat"), ("missing", "time"), ("holes", "station"), ("holes", "time"), ("daily", None)]:
    for name in NAMES:
        for skipna in [False, True]:
            kwargs = {"ddof": 1} if name in ("std", "var") else {}
            case("reduce", x, getattr(I[x], name)(dim, skipna=skipna, **kwargs), dim=dim, name=name, nan=skipna)
for x, dim in [("monthly", "time"), ("falling", "lat")]:
    case("anomaly", x, I[x] - I[x].mean(dim), dim=dim)
    case("cumsum", x, I[x].cumsum(dim, skipna=False), dim=dim)
case("mul", "monthly", I["monthly"] * I["weights"], y="weights")
case("mul", "missing", I["missing"] * I["weights"], y="weights")

# Groups.
for part in ["month", "year", "season", "quarter", "dayofyear"]:
    for x in ["monthly", "missing"]:
        groups = I[x].groupby(f"time.{part}")
        for name in NAMES:
            for skipna in [False, True]:
                kwargs = {"ddof": 1} if name in ("std", "var") else {}
                if part == "dayofyear" and kwargs:
                    continue
                case("group_date", x, getattr(groups, name)(skipna=skipna, **kwargs), part=part, name=name, nan=skipna)
        case("group_date", x, groups.count(), part=part, name="count", nan=False)
    x = I["monthly"]
    groups = x.groupby(f"time.{part}")
    case("group_anomaly", "monthly", (groups - groups.mean()).drop_vars(part, errors="ignore"), part=part)
for part in ["weekday", "day", "month"]:
    for name in ["mean", "max", "sum"]:
        for x in ["daily", "holes"]:
            groups = I[x].groupby(f"time.{part}")
            case("group_date", x, getattr(groups, name)(), part=part, name=name, nan=True)
for edges in [[-40, 0, 60], [-10, 10, 40, 50], [0, 30, 60]]:
    for name in ["mean", "sum", "max"]:
        out = getattr(I["missing"].groupby_bins("lat", edges), name)()
        case("group_bins", "missing", out.transpose("time", "lat_bins"), dim="lat", edges=edges, name=name)
for freq, x in [("MS", "daily"), ("7D", "daily"), ("QS", "monthly"), ("YS", "monthly"), ("2MS", "monthly"), ("D", "hourly"),
                ("12h", "hourly"), ("6h", "hourly"), ("MS", "holes"), ("3D", "holes"), ("QS", "missing"), ("5D", "gaps")]:
    for name in ["mean", "max", "min", "count"]:
        out = getattr(I[x].resample(time=freq), name)()
        case("resample", x, out.transpose(*I[x].dims), step=freq, name=name)

# Windows and blocks.
for x, dim in [("daily", "time"), ("holes", "time"), ("falling", "lat")]:
    for size, centered in itertools.product([2, 3, 4], [False, True]):
        for name in ["mean", "sum", "max", "min", "std"]:
            kwargs = {"ddof": 1} if name == "std" else {}
            case("rolling", x, getattr(I[x].rolling({dim: size}, center=centered), name)(**kwargs),
                 dim=dim, size=size, centered=centered, min_count=None, name=name)
        out = I[x].rolling({dim: size}, center=centered, min_periods=1).mean()
        case("rolling", x, out, dim=dim, size=size, centered=centered, min_count=1, name="mean")
        out = I[x].rolling({dim: size}, center=centered, min_periods=2).max()
        case("rolling", x, out, dim=dim, size=size, centered=centered, min_count=2, name="max")
for x, dim, size in [("monthly", "time", 3), ("missing", "time", 4), ("falling", "lat", 2), ("holes", "time", 7), ("curve", "x", 3)]:
    for boundary in ["exact", "trim", "pad"]:
        if boundary == "exact" and I[x].sizes[dim] % size:
            continue
        for name in ["mean", "max", "min"]:
            out = getattr(I[x].coarsen({dim: size}, boundary=boundary), name)()
            case("coarsen", x, out, dim=dim, size=size, boundary=boundary, name=name)

# Along labels.
for x, dim, wanted in [("falling", "lat", [50.0, 0.0, 37.25, 70.0]), ("unsorted", "x", [0.0, 1.0, 3.3, 9.0]), ("curve", "x", [0.1, 2.75, 7.5]),
                       ("missing", "lat", [50.0, 15.0]), ("falling", "lat", lat)]:
    for method in ["linear", "nearest"]:
        case("interp", x, I[x].interp({dim: wanted}, method=method), dim=dim, labels=wanted, method=method)
times = pd.to_datetime(["2019-03-10", "2019-12-25T12:00", "2021-01-31"], format="ISO8601")
case("interp_time", "monthly", I["monthly"].interp(time=times), labels=[int(v) for v in times.as_unit("ns").astype(np.int64)])
for x, dim in [("falling", "lat"), ("missing", "lat"), ("curve", "x"), ("unsorted", "x")]:
    case("differentiate", x, I[x].differentiate(dim), dim=dim)
    case("integrate", x, I[x].integrate(dim), dim=dim)
case("differentiate", "monthly", I["monthly"].differentiate("time", datetime_unit="s"), dim="time")
case("integrate", "monthly", I["monthly"].integrate("time", datetime_unit="s"), dim="time")
for x, dim, degree in itertools.product(["falling"], ["lat"], [0, 1, 2, 3]):
    case("polyfit", x, I[x].polyfit(dim, degree).polyfit_coefficients, dim=dim, degree=degree)
for degree in [0, 1, 2, 4]:
    case("polyfit", "curve", I["curve"].polyfit("x", degree).polyfit_coefficients, dim="x", degree=degree)
for x, dim in [("monthly", "lat"), ("missing", "lat"), ("falling", "id"), ("unsorted", "x"), ("monthly", "time"), ("missing", "time")]:
    case("idxmax", x, I[x].idxmax(dim), dim=dim)
    case("idxmin", x, I[x].idxmin(dim), dim=dim)

# Two tensors, and quantiles.
for x, y in [("monthly", "years"), ("missing", "years")]:
    case("corr", x, xr.corr(I[x], I[y], "time"), y=y, dim="time")
    case("cov", x, xr.cov(I[x], I[y], "time"), y=y, dim="time")
for x in ["monthly", "missing"]:
    case("weighted", x, I[x].weighted(I["weights"]).mean("lat"), y="weights", dim="lat", nan=True)
    case("weighted", x, I[x].weighted(I["weights"]).mean("lat", skipna=False), y="weights", dim="lat", nan=False)
    for q in [0.0, 0.1, 0.5, 0.75, 1.0]:
        for dim in ["lat", "time"]:
            for skipna in [False, True]:
                out = I[x].quantile(q, dim, skipna=skipna).drop_vars("quantile")
                case("quantile", x, out, q=q, dim=dim, nan=skipna)

out = pathlib.Path(__file__).parents[1] / "tests/labelled/recorded/xarray.json"
text = json.dumps({"xarray": xr.__version__, "inputs": {k: packed(v) for k, v in INPUTS.items()}, "cases": CASES}, separators=(",", ":"))
out.write_text(text + "\n")
print(len(CASES), "cases,", len(text), "bytes")
