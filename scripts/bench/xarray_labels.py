"""Times xarray with NumPy and dask, for comparison with `cargo bench -p nomina-data --bench labels`.

usage: python scripts/bench/xarray_labels.py [--threads 2] [--only SUBSTRING] [--ask] [--list] [--values]
needs: pip install xarray numpy dask zarr scipy

Cases have the names, operands and results of data/benches/labels.rs; NOMINA_ELEMENTS sets the number of elements. Reductions skip NaN.
"""

import argparse
import functools
import json
import os
import sys
import tempfile
import time
import warnings

LATITUDES, LONGITUDES = 50, 100
CASES = {}


@functools.cache
def data():
    import numpy as np
    import pandas as pd
    import xarray as xr

    days = max(int(os.environ.get("NOMINA_ELEMENTS", 10_000_000)) // LATITUDES // LONGITUDES, 400)

    def field(seed):
        at = np.arange(days * LATITUDES * LONGITUDES, dtype="u8")
        mixed = ((at + seed) % 2**32 * 2_654_435_761) % 2**32
        values = (mixed / 4_294_967_296.0 * 40.0 - 10.0).astype("f4")
        values[::97] = np.nan
        return values.reshape(days, LATITUDES, LONGITUDES)

    lat = 88.2 - 3.6 * np.arange(LATITUDES)
    coords = {"time": pd.date_range("1970-01-01", periods=days), "lat": lat, "lon": 3.6 * np.arange(LONGITUDES)}
    x, y = (xr.DataArray(field(seed), coords, ["time", "lat", "lon"], name="x") for seed in (0, 7))
    area = xr.DataArray(np.cos(np.radians(lat)).astype("f4"), {"lat": lat}, ["lat"])
    folder = tempfile.mkdtemp(prefix="xarray-labels-")
    # Chunks of 4 MiB, compressed as those of the other side.
    chunk = max(1, (1 << 20) // (LATITUDES * LONGITUDES))
    from zarr.codecs import GzipCodec

    encoding = {"x": {"chunks": (chunk, LATITUDES, LONGITUDES), "compressors": GzipCodec(level=1)}}
    x.to_dataset().to_zarr(folder, mode="w", encoding=encoding)
    return x, y, area, xr.open_zarr(folder).x


def define():
    import numpy as np
    import xarray as xr

    x, y, area, lazy = data()
    between = 87.0 - 1.8 * np.arange(2 * LATITUDES - 2)
    month, season = "time.month", "time.season"
    CASES.update(
        sel_range=lambda: x.sel(lat=slice(30, -30)).sel(time=slice("1970-03", None)),
        sel_list=lambda: x.sel(lat=[x.lat.values[0], x.lat.values[12], x.lat.values[24]]),
        sel_nearest=lambda: x.sel(lat=51.0, lon=13.0, method="nearest"),
        sel_date=lambda: x.sel(time="1970"),
        isel=lambda: x.isel(time=slice(100, 300)),
        mean_time=lambda: x.mean("time"),
        mean_space=lambda: x.mean(["lat", "lon"]),
        std_time=lambda: x.std("time", ddof=1),
        max_time=lambda: x.max("time"),
        add=lambda: x + y,
        anomaly_mean=lambda: x - x.mean("time"),
        group_month_mean=lambda: x.groupby(month).mean(),
        group_season_max=lambda: x.groupby(season).max(),
        group_bins_mean=lambda: x.groupby_bins("lat", [-90, -30, 30, 90]).mean(),
        anomaly_month=lambda: x.groupby(month) - x.groupby(month).mean(),
        resample_month_mean=lambda: x.resample(time="MS").mean(),
        resample_week_max=lambda: x.resample(time="7D").max(),
        rolling_mean=lambda: x.rolling(time=7).mean(),
        rolling_max=lambda: x.rolling(time=7).max(),
        coarsen_mean=lambda: x.coarsen(time=7, boundary="trim").mean(),
        weighted_mean=lambda: x.weighted(area).mean("lat"),
        interp=lambda: x.interp(lat=between),
        reindex_nearest=lambda: x.reindex(lat=between, method="nearest", tolerance=5.0),
        quantile=lambda: x.quantile(0.9, "time"),
        differentiate=lambda: x.differentiate("lat"),
        integrate=lambda: y.fillna(0).integrate("lat"),
        corr=lambda: xr.corr(x, y, "time"),
        scan_mean=lambda: lazy.mean("time").compute(),
        scan_month_mean=lambda: lazy.groupby(month).mean().compute(),
    )


def measure(f, budget=0.25):
    for _ in range(3):
        f()
    n = 1
    while True:
        s = time.perf_counter()
        for _ in range(n):
            f()
        if time.perf_counter() - s > budget / 5:
            break
        n *= 2
    best = []
    for _ in range(5):
        s = time.perf_counter()
        for _ in range(n):
            f()
        best.append((time.perf_counter() - s) / n)
    return sorted(best)[2]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--only", default="")
    for flag in ("--ask", "--list", "--values", "--json"):
        p.add_argument(flag, action="store_true")
    args = p.parse_args()
    for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
        os.environ[f"{name}_NUM_THREADS"] = str(args.threads)
    warnings.simplefilter("ignore")
    import dask
    import numpy as np

    dask.config.set(scheduler="threads", num_workers=args.threads)
    define()
    for name in (line.strip() for line in sys.stdin) if args.ask else [name for name in CASES if args.only in name]:
        if args.list:
            print(name)
        elif args.values:
            print(json.dumps({"case": name, "values": [float(np.nansum(CASES[name]().values.astype("f8")))]}), flush=True)
        else:
            print(json.dumps({"case": name, "seconds": measure(CASES[name])}), flush=True)


if __name__ == "__main__":
    main()
