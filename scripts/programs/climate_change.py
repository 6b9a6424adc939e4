"""The xarray side of examples/climate_change.rs: two centuries of a climate model, and monthly sea temperatures.

usage: python3 scripts/programs/climate_change.py      (records examples/climate_change/xarray.json)
"""

import json
from pathlib import Path

import numpy as np
import xarray as xr

ROOT = Path(__file__).resolve().parents[2]


def analyse(folder):
    """Returns anomalies, trends and monthly means of both files."""
    air = xr.open_dataset(folder / "a1b_cut.nc").air_temperature.sel(latitude=slice(30, None)).load()
    years = air.groupby("time.year").mean()
    anomaly = years - years.sel(year=slice(1961, 1990)).mean("year")
    area = np.cos(np.deg2rad(air.latitude))
    region = anomaly.weighted(area).mean(("latitude", "longitude"))
    trend = anomaly.sel(year=slice(2000, None)).polyfit("year", 1).polyfit_coefficients

    sea = xr.open_dataset(folder / "ostia_cut.nc").surface_temperature.load()
    sea = sea.sel(longitude=slice(150, 270))
    months = sea.groupby("time.month")
    climate = months.mean()
    index = (months - climate).mean(("latitude", "longitude"))
    return dict(
        region=region,
        decades=region.groupby(region.year // 10 * 10).mean(),
        trend=trend.sel(degree=1) * 100,
        climate=climate,
        index=index,
        year2007=index.sel(time="2007"),
    )


if __name__ == "__main__":
    found = analyse(ROOT / "data/tests/data")
    out = ROOT / "examples/climate_change/xarray.json"
    values = {
        name: {"shape": list(x.shape), "data": [None if np.isnan(v) else float(f"{v:.8g}") for v in x.values.astype("f8").ravel()]}
        for name, x in found.items()
    }
    out.write_text(json.dumps({"xarray": xr.__version__, "values": values}, separators=(",", ":")) + "\n")
    for name, x in found.items():
        print(name, x.dims, x.shape, float(x.mean()), bool(x.isnull().any()))
